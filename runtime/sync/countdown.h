/* countdown.h - how many predecessors an execution still waits for.
 *
 * Whoever finishes a predecessor calls clo_countdown_hit; exactly one caller, the last, gets true
 * and owns the execution from then on.
 *
 *              arm   hit
 *      arm      X     X     (arm only while nobody hits: before the job starts)
 *      hit      X     -
 *
 * Progress: wait-free. Ordering: everything that any predecessor's worker wrote before its hit happens before
 * whatever the last hitter does next. Mutation list (the stress test must catch each): [A] relaxed; [A]
 * release only. */
#ifndef CLO_SYNC_COUNTDOWN_H
#define CLO_SYNC_COUNTDOWN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct clo_countdown {
    _Atomic uint32_t left;
} clo_countdown;

static inline void clo_countdown_arm(clo_countdown *countdown, uint32_t count)
{
    atomic_store_explicit(&countdown->left, count, memory_order_relaxed); /* published by the submit */
}

static inline bool clo_countdown_hit(clo_countdown *countdown)
{
    /* A counter that stands at 1 belongs to us alone: all others have hit. The load saves the locked
     * instruction on chains; [A] acquire there and acq_rel in the RMW carry the other predecessors'
     * outputs to the last hitter, which publishes them onwards. */
    if (atomic_load_explicit(&countdown->left, memory_order_acquire) == 1) {
        atomic_store_explicit(&countdown->left, 0, memory_order_relaxed);
        return true;
    }
    return atomic_fetch_sub_explicit(&countdown->left, 1, memory_order_acq_rel) == 1; /* [A] */
}

#endif
