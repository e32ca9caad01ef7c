/* visit.h - has anybody ever looked at what is about to be freed? Until then no grace period (rcu.h) is waited for.
 *
 * A visitor says so before it reads a pointer that may be taken away. Who takes one away publishes that first, then
 * asks. The first visit and every question are steps of the same word, so they have an order: either the visit came
 * before, and who asks waits for it, or it comes later, and sees what was published before the question ([B] reads from
 * [A]). A later visit by another thread sees it too, because it reads what the first has written ([C]), which carries
 * on what it has read (a release sequence).
 *
 *              note   ask
 *      note     -      -
 *      ask      -      -
 *
 * Progress: wait-free. Ordering: what was published before an ask that said false is visible after every note that
 * comes later: [B] and [C] acquire pair with [A] release. Mutation list: [A] relaxed, acquire; [B] relaxed; [C]
 * relaxed; an ask that only looks. */
#ifndef CLO_SYNC_PROTOCOL_VISIT_H
#define CLO_SYNC_PROTOCOL_VISIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct clo_visits {
    _Atomic uint32_t were; /* 0: there was none; never 0 again */
} clo_visits;

/* A visitor, before it reads any pointer. */
static inline void clo_visits_note(clo_visits *visits)
{
    if (atomic_load_explicit(&visits->were, memory_order_acquire) == 0)         /* [C] */
        (void)atomic_exchange_explicit(&visits->were, 1, memory_order_acq_rel); /* [B] */
}

/* Who has taken a pointer away: false: nobody has seen it, nor will. */
static inline bool clo_visits_ask(clo_visits *visits)
{
    return atomic_fetch_or_explicit(&visits->were, 0, memory_order_acq_rel) != 0; /* [A] */
}

#endif
