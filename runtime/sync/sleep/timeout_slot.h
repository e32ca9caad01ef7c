/* timeout_slot.h - a worker asks another thread to do something at a moment, unless what it runs now has ended by then.
 *
 * Each worker has one alarm, as it runs one thing at a time. The word is (number of the arming << 2 | state). Either
 * the worker ends the arming, or the other thread claims it: the exchange of the word decides, so both know which of
 * them was first. Between its looks the other thread sleeps until the earliest moment that it has seen (`next_ns`);
 * whoever arms an earlier one writes that down and wakes it, and others with later ones need not. As long as alarms are
 * armed it looks each `least_ns`, so that none is earlier than its next look, and workers wake it only when they begin
 * to arm, or in the middle of a look.
 *
 *               arm   end   see   claim   look
 *      arm       X     X     -      -      -    (the worker)
 *      end       X     X     -      -      -    (the worker)
 *      see       -     -     X      X      X    (the other thread)
 *      claim     -     -     X      X      X    (the other thread)
 *      look      -     -     X      X      X    (the other thread)
 *
 * Progress: wait-free, but for arm, which tries again only if somebody else has changed `next_ns`. A claim has no such
 * bound: between writing a moment down and waking the other thread a worker may lose its CPU, and alarms that were
 * armed meanwhile, for that moment or later ones, are late by as long. Each of them could wake too, which would be a
 * system call for every arming until the look.
 * Ordering: item, moment and all that the worker wrote before travel with the word ([A], [B]), and are believed only if
 * the claim succeeds. arm and look race on two locations (`word` and `next_ns`): each writes one and then reads the
 * other, seq_cst ([A] [D], [C] [B]), so either the look sees the alarm, or its worker sees that somebody must be woken.
 * A moment that another worker has written down is one that it wakes for: a look follows, and sees this alarm too.
 * Mutation list: [A] release with [D] relaxed; [C] left out; an end without an exchange. */
#ifndef CLO_SYNC_SLEEP_TIMEOUT_SLOT_H
#define CLO_SYNC_SLEEP_TIMEOUT_SLOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { CLO_ALARM_IDLE, CLO_ALARM_ARMED, CLO_ALARM_CLAIMED };

/* Zeros: idle. */
typedef struct clo_alarm {
    _Atomic uint64_t word;
    _Atomic uint64_t item;
    _Atomic int64_t at_ns;
} clo_alarm;

/* What the thread that claims sleeps for; INT64_MAX to begin with. */
typedef struct clo_alarms {
    /* The earliest moment that it has seen; INT64_MAX: none, or it looks just now. */
    _Atomic int64_t next_ns;
    /* The shortest time from an arming to its moment, of all that there may be; INT64_MAX to begin with. */
    _Atomic int64_t least_ns;
    /* The other thread's: armings that it has seen. */
    uint64_t seen;
} clo_alarms;

static inline uint64_t clo_alarm_word(uint64_t number, uint64_t state)
{
    return number << 2 | state;
}

/* at_ns: below INT64_MAX. True: the caller must wake the other thread. */
static inline bool clo_alarm_arm(clo_alarm *alarm, clo_alarms *alarms, uint64_t item, int64_t at_ns)
{
    uint64_t number = (atomic_load_explicit(&alarm->word, memory_order_relaxed) >> 2) + 1;

    atomic_store_explicit(&alarm->item, item, memory_order_relaxed);
    atomic_store_explicit(&alarm->at_ns, at_ns, memory_order_relaxed);
    atomic_store_explicit(&alarm->word, clo_alarm_word(number, CLO_ALARM_ARMED), memory_order_seq_cst); /* [A] */
    int64_t next_ns = atomic_load_explicit(&alarms->next_ns, memory_order_seq_cst);                     /* [D] */
    while (at_ns < next_ns) /* another turn: it was changed meanwhile */
        if (atomic_compare_exchange_weak_explicit(&alarms->next_ns, &next_ns, at_ns, memory_order_seq_cst,
                                                  memory_order_seq_cst))
            return true;
    return false;
}

/* True: it was claimed. Also of an alarm that is not armed. */
static inline bool clo_alarm_end(clo_alarm *alarm)
{
    uint64_t word = atomic_load_explicit(&alarm->word, memory_order_relaxed);

    if ((word & 3) == CLO_ALARM_IDLE)
        return false;
    /* acq_rel: what is armed next may not be seen under this number. */
    word = atomic_exchange_explicit(&alarm->word, clo_alarm_word(word >> 2, CLO_ALARM_IDLE), memory_order_acq_rel);
    return (word & 3) == CLO_ALARM_CLAIMED;
}

/* Alarms with moments so soon after their arming will come. Any thread, before they do. */
static inline void clo_alarms_expect(clo_alarms *alarms, int64_t after_ns)
{
    int64_t least_ns = atomic_load_explicit(&alarms->least_ns, memory_order_relaxed);

    while (after_ns < least_ns && /* another turn: it was lowered meanwhile */
           !atomic_compare_exchange_weak_explicit(&alarms->least_ns, &least_ns, after_ns, memory_order_relaxed,
                                                  memory_order_relaxed))
        ;
}

/* How often the alarm was armed so far. */
static inline uint64_t clo_alarm_armings(const clo_alarm *alarm)
{
    return atomic_load_explicit(&alarm->word, memory_order_relaxed) >> 2;
}

/* Before a look at all alarms, and after it with the earliest moment that was not yet due. */
static inline void clo_alarms_look(clo_alarms *alarms)
{
    atomic_store_explicit(&alarms->next_ns, INT64_MAX, memory_order_seq_cst); /* [C] */
}

static inline void clo_alarms_looked(clo_alarms *alarms, int64_t next_ns)
{
    atomic_store_explicit(&alarms->next_ns, next_ns, memory_order_relaxed);
}

/* When the alarm is due, and its word for clo_alarm_claim; INT64_MAX: it is not armed. */
static inline int64_t clo_alarm_see(const clo_alarm *alarm, uint64_t *word)
{
    *word = atomic_load_explicit(&alarm->word, memory_order_seq_cst); /* [B] */
    if ((*word & 3) != CLO_ALARM_ARMED)
        return INT64_MAX;
    return atomic_load_explicit(&alarm->at_ns, memory_order_relaxed);
}

/* Claimed and not yet ended; a hint. */
static inline bool clo_alarm_is_claimed(const clo_alarm *alarm)
{
    return (atomic_load_explicit(&alarm->word, memory_order_relaxed) & 3) == CLO_ALARM_CLAIMED;
}

/* True: its worker has not ended it and will learn of the claim; *item is what it was armed with. */
static inline bool clo_alarm_claim(clo_alarm *alarm, uint64_t word, uint64_t *item)
{
    *item = atomic_load_explicit(&alarm->item, memory_order_relaxed);
    return atomic_compare_exchange_strong_explicit(&alarm->word, &word, clo_alarm_word(word >> 2, CLO_ALARM_CLAIMED),
                                                   memory_order_acq_rel, memory_order_relaxed);
}

#endif
