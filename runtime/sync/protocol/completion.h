/* completion.h - the result of something that ends elsewhere: opened by its owner again and again, settled by anybody.
 *
 * Each opening has a number, and a settler must know it. The word holds the low half of the number and the result,
 * which is CLO_COMPLETION_OPEN as long as there is none. So one exchange settles a completion, and can do so only
 * once: later ones, and those with an old number, find another word. The low half alone would come back after 2^32
 * openings; therefore the whole number is looked at first, and an old one gets no further.
 *
 *               open   settle   read
 *      open      X       -       X    (the owner)
 *      settle    -       -       -
 *      read      X       -       X    (the owner)
 *
 * Progress: all wait-free.
 * Ordering: what a settler wrote before settle happens before what the owner does after it has read the result: [B]
 * acquire pairs with [A] release. The number reaches a settler by the way that the application takes.
 * Mutation list: [A] relaxed; [B] relaxed; settle without a look at the number. */
#ifndef CLO_SYNC_PROTOCOL_COMPLETION_H
#define CLO_SYNC_PROTOCOL_COMPLETION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define CLO_COMPLETION_OPEN INT32_MIN

/* Zeros: settled, never opened. */
typedef struct clo_completion {
    /* Of the newest opening. */
    _Atomic uint64_t number;
    /* Its low half << 32 | result. */
    _Atomic uint64_t word;
} clo_completion;

static inline uint64_t clo_completion_word(uint64_t number, int32_t result)
{
    return number << 32 | (uint32_t)result;
}

/* Of a completion that is settled. Returns the number of this opening, from 1. */
static inline uint64_t clo_completion_open(clo_completion *completion)
{
    uint64_t number = atomic_load_explicit(&completion->number, memory_order_relaxed) + 1;

    atomic_store_explicit(&completion->number, number, memory_order_relaxed);
    atomic_store_explicit(&completion->word, clo_completion_word(number, CLO_COMPLETION_OPEN), memory_order_relaxed);
    return number;
}

/* False: that opening is settled already. result: not CLO_COMPLETION_OPEN. */
static inline bool clo_completion_settle(clo_completion *completion, uint64_t number, int32_t result)
{
    uint64_t open = clo_completion_word(number, CLO_COMPLETION_OPEN);

    if (atomic_load_explicit(&completion->number, memory_order_relaxed) != number)
        return false;
    return atomic_compare_exchange_strong_explicit(&completion->word, &open, clo_completion_word(number, result),
                                                   memory_order_release, memory_order_relaxed); /* [A] */
}

/* True: it is settled, with *result. */
static inline bool clo_completion_read(const clo_completion *completion, int32_t *result)
{
    uint64_t word = atomic_load_explicit(&completion->word, memory_order_acquire); /* [B] */

    *result = (int32_t)(uint32_t)word;
    return *result != CLO_COMPLETION_OPEN;
}

#endif
