/* searching.h - an idle worker that still looks for work, and who relies on that instead of waking a sleeper.
 *
 * A producer makes an item visible and then trusts a worker that looks: it makes no system call. A worker that ends its
 * look learns whether somebody has trusted it since it began; if so it looks at everything once more, and wakes another
 * one for what it does not take itself. Both change one word by a read-modify-write, so one of them comes later and
 * sees the other.
 *
 * Where the item was made visible by a read-modify-write that is seq_cst, and the owner reads it so after its end, a
 * trust need not write what it finds already ([C]): either it comes before the end ([B], seq_cst) in their one order,
 * and so does the item, or it sees the end.
 *
 *               begin   end   trust   trust_seen
 *      begin      X      X      -         -          (owner only)
 *      end        X      X      -         -          (owner only)
 *      trust      -      -      -         -
 *
 * Progress: wait-free. Ordering: what a producer wrote before a trust that succeeded is visible to the owner after the
 * end: [B] acquire pairs with [A] release.
 * Mutation list: [A] relaxed; [B] relaxed; [C] relaxed; end that does not tell; trust that only looks. */
#ifndef CLO_SYNC_SLEEP_SEARCHING_H
#define CLO_SYNC_SLEEP_SEARCHING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { CLO_SEARCHING_NONE, CLO_SEARCHING_LOOKS, CLO_SEARCHING_TRUSTED };

typedef struct clo_searching {
    _Atomic uint32_t state;
} clo_searching;

/* Owner: looks from now on. */
static inline void clo_searching_begin(clo_searching *searching)
{
    atomic_store_explicit(&searching->state, CLO_SEARCHING_LOOKS, memory_order_relaxed);
}

/* Owner: looks no longer. True: somebody has relied on it. */
static inline bool clo_searching_end(clo_searching *searching)
{
    return atomic_exchange_explicit(&searching->state, CLO_SEARCHING_NONE, memory_order_seq_cst) == /* [B] */
           CLO_SEARCHING_TRUSTED;
}

/* Hint. */
static inline bool clo_searching_looks(const clo_searching *searching)
{
    return atomic_load_explicit(&searching->state, memory_order_relaxed) != CLO_SEARCHING_NONE;
}

/* After an item was made visible. True: the owner will find it, or see to it that another worker does. */
static inline bool clo_searching_trust(clo_searching *searching)
{
    uint32_t state = atomic_load_explicit(&searching->state, memory_order_relaxed);

    while (state != CLO_SEARCHING_NONE) /* another turn only if it was trusted meanwhile, or has begun or ended */
        if (atomic_compare_exchange_strong_explicit(&searching->state, &state, CLO_SEARCHING_TRUSTED,
                                                    memory_order_release, /* [A] */
                                                    memory_order_relaxed))
            return true;
    return false;
}

/* The same after a seq_cst read-modify-write that made the item visible. */
static inline bool clo_searching_trust_seen(clo_searching *searching)
{
    return atomic_load_explicit(&searching->state, memory_order_seq_cst) == CLO_SEARCHING_TRUSTED || /* [C] */
           clo_searching_trust(searching);
}

#endif
