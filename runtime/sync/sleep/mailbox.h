/* mailbox.h - one item, held out to one worker.
 *
 * A worker that has an item to spare puts it straight into the mailbox of one that asked lately. Cheaper than a stack:
 * no link word, so a hand-over moves two cache lines' worth of ownership, once for the give and once for the take.
 *
 *               give   take   retract
 *      give      -      -       -
 *      take      -      -       -
 *      retract   -      -       -
 *
 * Progress: all are wait-free. Ordering: what the giver wrote before give happens before what the taker does with the
 * item: [B] acquire pairs with [A] release. Whoever finds it may take it: the giver takes it back when the mailbox's
 * owner is busy elsewhere. Mutation list: [A] relaxed; [B] relaxed. */
#ifndef CLO_SYNC_SLEEP_MAILBOX_H
#define CLO_SYNC_SLEEP_MAILBOX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct clo_mailbox {
    _Atomic uint64_t item; /* CLO_MAILBOX_EMPTY: none */
} clo_mailbox;

#define CLO_MAILBOX_EMPTY UINT64_MAX

static inline void clo_mailbox_init(clo_mailbox *mailbox)
{
    atomic_init(&mailbox->item, CLO_MAILBOX_EMPTY);
}

static inline bool clo_mailbox_is_empty(const clo_mailbox *mailbox)
{
    return atomic_load_explicit(&mailbox->item, memory_order_relaxed) == CLO_MAILBOX_EMPTY;
}

/* False: another item is in it. */
static inline bool clo_mailbox_send(clo_mailbox *mailbox, uint64_t item)
{
    uint64_t empty = CLO_MAILBOX_EMPTY;

    return atomic_compare_exchange_strong_explicit(&mailbox->item, &empty, item, memory_order_release, /* [A] */
                                                   memory_order_relaxed);
}

/* CLO_MAILBOX_EMPTY: nothing was in it. It does not write the line for nothing. */
static inline uint64_t clo_mailbox_take(clo_mailbox *mailbox)
{
    return clo_mailbox_is_empty(mailbox)
               ? CLO_MAILBOX_EMPTY
               : atomic_exchange_explicit(&mailbox->item, CLO_MAILBOX_EMPTY, memory_order_acquire); /* [B] */
}

/* Takes back what was given; false: somebody has taken it. Nobody may give an equal item meanwhile. */
static inline bool clo_mailbox_retract(clo_mailbox *mailbox, uint64_t item)
{
    return atomic_compare_exchange_strong_explicit(&mailbox->item, &item, CLO_MAILBOX_EMPTY,
                                                   memory_order_acquire, /* [B] */
                                                   memory_order_relaxed);
}

#endif
