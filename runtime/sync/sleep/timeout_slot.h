/* timeout_slot.h - a worker asks another thread to do something at a moment, unless what it runs now has ended by then.
 *
 * Each worker has one timeout, as it runs one thing at a time. The word is (number of the arming << 2 | state). Either
 * the worker ends the arming, or the other thread claims it: the exchange of the word decides, so both know which of
 * them was first. Between its looks the other thread sleeps until the earliest moment that it has seen (`next_ns`);
 * whoever arms an earlier one writes that down and wakes it, and others with later ones need not. As long as timeouts
 * are armed it looks each `least_ns`, so that none is earlier than its next look, and workers wake it only when they
 * begin to arm, or in the middle of a look.
 *
 *               arm   end   see   claim   look
 *      arm       X     X     -      -      -    (the worker)
 *      end       X     X     -      -      -    (the worker)
 *      see       -     -     X      X      X    (the other thread)
 *      claim     -     -     X      X      X    (the other thread)
 *      look      -     -     X      X      X    (the other thread)
 *
 * Progress: wait-free, but for arm, which tries again only if somebody else has changed `next_ns`. A claim has no such
 * bound: between writing a moment down and waking the other thread a worker may lose its CPU, and timeouts that were
 * armed meanwhile, for that moment or later ones, are late by as long. Each of them could wake too, which would be a
 * system call for every arming until the look.
 * Ordering: item, moment and all that the worker wrote before travel with the word ([A], [B]), and are believed only if
 * the claim succeeds. arm and look race on two locations (`word` and `next_ns`): each writes one and then reads the
 * other, seq_cst ([A] [D], [C] [B]), so either the look sees the timeout, or its worker sees that somebody must be
 * woken. A moment that another worker has written down is one that it wakes for: a look follows, and sees this timeout
 * too. Mutation list: [A] release with [D] relaxed; [C] left out; an end without an exchange. */
#ifndef CLO_SYNC_SLEEP_TIMEOUT_SLOT_H
#define CLO_SYNC_SLEEP_TIMEOUT_SLOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { CLO_TIMEOUT_IDLE, CLO_TIMEOUT_ARMED, CLO_TIMEOUT_CLAIMED };

/* Zeros: idle. */
typedef struct clo_timeout {
    _Atomic uint64_t word;
    _Atomic uint64_t item;
    _Atomic int64_t at_ns;
} clo_timeout;

/* What the thread that claims sleeps for; INT64_MAX to begin with. */
typedef struct clo_timeouts {
    /* The earliest moment that it has seen; INT64_MAX: none, or it looks just now. */
    _Atomic int64_t next_ns;
    /* The shortest time from an arming to its moment, of all that there may be; INT64_MAX to begin with. */
    _Atomic int64_t least_ns;
    /* The other thread's: armings that it has seen. */
    uint64_t seen;
} clo_timeouts;

static inline uint64_t clo_timeout_word(uint64_t number, uint64_t state)
{
    return number << 2 | state;
}

/* at_ns: below INT64_MAX. True: the caller must wake the other thread. */
static inline bool clo_timeout_arm(clo_timeout *timeout, clo_timeouts *timeouts, uint64_t item, int64_t at_ns)
{
    uint64_t number = (atomic_load_explicit(&timeout->word, memory_order_relaxed) >> 2) + 1;

    atomic_store_explicit(&timeout->item, item, memory_order_relaxed);
    atomic_store_explicit(&timeout->at_ns, at_ns, memory_order_relaxed);
    atomic_store_explicit(&timeout->word, clo_timeout_word(number, CLO_TIMEOUT_ARMED), memory_order_seq_cst); /* [A] */
    int64_t next_ns = atomic_load_explicit(&timeouts->next_ns, memory_order_seq_cst);                         /* [D] */
    while (at_ns < next_ns) /* another turn: it was changed meanwhile */
        if (atomic_compare_exchange_weak_explicit(&timeouts->next_ns, &next_ns, at_ns, memory_order_seq_cst,
                                                  memory_order_seq_cst))
            return true;
    return false;
}

/* True: it was claimed. Also of a timeout that is not armed. */
static inline bool clo_timeout_end(clo_timeout *timeout)
{
    uint64_t word = atomic_load_explicit(&timeout->word, memory_order_relaxed);

    if ((word & 3) == CLO_TIMEOUT_IDLE)
        return false;
    /* acq_rel: what is armed next may not be seen under this number. */
    word =
        atomic_exchange_explicit(&timeout->word, clo_timeout_word(word >> 2, CLO_TIMEOUT_IDLE), memory_order_acq_rel);
    return (word & 3) == CLO_TIMEOUT_CLAIMED;
}

/* Timeouts with moments so soon after their arming will come. Any thread, before they do. */
static inline void clo_timeouts_expect(clo_timeouts *timeouts, int64_t after_ns)
{
    int64_t least_ns = atomic_load_explicit(&timeouts->least_ns, memory_order_relaxed);

    while (after_ns < least_ns && /* another turn: it was lowered meanwhile */
           !atomic_compare_exchange_weak_explicit(&timeouts->least_ns, &least_ns, after_ns, memory_order_relaxed,
                                                  memory_order_relaxed))
        ;
}

/* How often the timeout was armed so far. */
static inline uint64_t clo_timeout_armings(const clo_timeout *timeout)
{
    return atomic_load_explicit(&timeout->word, memory_order_relaxed) >> 2;
}

/* Before a look at all timeouts, and after it with the earliest moment that was not yet due. */
static inline void clo_timeouts_look(clo_timeouts *timeouts)
{
    atomic_store_explicit(&timeouts->next_ns, INT64_MAX, memory_order_seq_cst); /* [C] */
}

static inline void clo_timeouts_looked(clo_timeouts *timeouts, int64_t next_ns)
{
    atomic_store_explicit(&timeouts->next_ns, next_ns, memory_order_relaxed);
}

/* When the timeout is due, and its word for clo_timeout_claim; INT64_MAX: it is not armed. */
static inline int64_t clo_timeout_see(const clo_timeout *timeout, uint64_t *word)
{
    *word = atomic_load_explicit(&timeout->word, memory_order_seq_cst); /* [B] */
    if ((*word & 3) != CLO_TIMEOUT_ARMED)
        return INT64_MAX;
    return atomic_load_explicit(&timeout->at_ns, memory_order_relaxed);
}

/* Claimed and not yet ended; a hint. */
static inline bool clo_timeout_is_claimed(const clo_timeout *timeout)
{
    return (atomic_load_explicit(&timeout->word, memory_order_relaxed) & 3) == CLO_TIMEOUT_CLAIMED;
}

/* True: its worker has not ended it and will learn of the claim; *item is what it was armed with. */
static inline bool clo_timeout_claim(clo_timeout *timeout, uint64_t word, uint64_t *item)
{
    *item = atomic_load_explicit(&timeout->item, memory_order_relaxed);
    return atomic_compare_exchange_strong_explicit(&timeout->word, &word,
                                                   clo_timeout_word(word >> 2, CLO_TIMEOUT_CLAIMED),
                                                   memory_order_acq_rel, memory_order_relaxed);
}

#endif
