/* countdown.h - how many predecessors an execution still waits for.
 *
 * Whoever finishes a predecessor calls clo_countdown_hit; exactly one caller, the last, gets true and owns the
 * execution from then on. That caller has put the counter back for the next run: a graph that runs again needs no
 * reset pass.
 *
 *              arm   hit   hit_alone   reach
 *      arm      X     X        X         X     (arm only while nobody hits: when the job is made)
 *      hit      X     -        X         -     (hits of the next run only after the end of this one)
 *      reach    X     -        -         -
 *
 * hit_alone is for a thread that has the whole run to itself: others may hit once it has made something of the run
 * visible to them.
 *
 * Progress: wait-free. Ordering: everything that any predecessor's worker wrote before its hit happens before
 * whatever the last hitter does next: [A] acq_rel, or [B] acquire for the last hitter, reads from the others' [A].
 * The counter put back at [C] is published by the end of the run and the start of the next. Mutation list: [A]
 * relaxed; [A] release only; [B] relaxed; [C] left out. */
#ifndef CLO_SYNC_PROTOCOL_COUNTDOWN_H
#define CLO_SYNC_PROTOCOL_COUNTDOWN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct clo_countdown {
    _Atomic uint32_t left;
    _Atomic uint32_t needs; /* what `left` starts from; constant after arm */
} clo_countdown;

static inline void clo_countdown_arm(clo_countdown *countdown, uint32_t needs)
{
    atomic_store_explicit(&countdown->needs, needs, memory_order_relaxed);
    atomic_store_explicit(&countdown->left, needs, memory_order_relaxed); /* published by the submit */
}

static inline uint32_t clo_countdown_needs(const clo_countdown *countdown)
{
    return atomic_load_explicit(&countdown->needs, memory_order_relaxed);
}

/* Asks for the counter's line, to be hit later: a store that changes nothing (`needs` as in arm) and that nobody waits
 * for. A prefetch is a hint: with it 28 % of the tasks of a pipeline still waited for a line, with the store 7 %. */
static inline void clo_countdown_reach(clo_countdown *countdown, uint32_t needs)
{
    atomic_store_explicit(&countdown->needs, needs, memory_order_relaxed);
}

/* `hits` predecessors at once, 1 <= hits <= left. */
static inline bool clo_countdown_hit_many(clo_countdown *countdown, uint32_t hits)
{
    /* A counter that stands at our number belongs to us alone: all others have hit. The load saves the locked
     * instruction where a task has one predecessor. */
    if (atomic_load_explicit(&countdown->left, memory_order_acquire) != hits &&          /* [B] */
        atomic_fetch_sub_explicit(&countdown->left, hits, memory_order_acq_rel) != hits) /* [A] */
        return false;
    atomic_store_explicit(&countdown->left, clo_countdown_needs(countdown), memory_order_relaxed); /* [C] */
    return true;
}

static inline bool clo_countdown_hit(clo_countdown *countdown)
{
    return clo_countdown_hit_many(countdown, 1);
}

/* The same, without an atomic read-modify-write, while nobody else hits any counter of the run. */
static inline bool clo_countdown_hit_alone(clo_countdown *countdown)
{
    uint32_t left = atomic_load_explicit(&countdown->left, memory_order_relaxed) - 1;

    if (left != 0) {
        atomic_store_explicit(&countdown->left, left, memory_order_relaxed);
        return false;
    }
    atomic_store_explicit(&countdown->left, clo_countdown_needs(countdown), memory_order_relaxed);
    return true;
}

#endif
