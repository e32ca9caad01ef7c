/* first_wins.h - two runners of the same task: the first that ends well wins, and the last that has a part in it cleans
 * up.
 *
 * The first runner runs already. A starter holds the task out to the second one (mailbox.h) and posts that it has done
 * so; the second one begins some time later, unless the first has won by then. So three have a part in the race: the
 * two runners, and the starter until it has posted. All is in one word, so of each two operations one is first and the
 * other sees it: of two ends at once one wins; a second runner that begins beside the end of the first is either seen
 * by that, or told not to begin; and either the end of the first sees the post, and can take back what was held out, or
 * the starter sees the end before it posts, and can. After its own end or post nobody may touch the race, unless it was
 * the last, or holds up by other means what would be done after the last.
 *
 *               arm   post   begin   end
 *      arm       X     X       X      X    (nobody runs)
 *      post      X     X       -      -    (the starter)
 *      begin     X     -       X      -    (the second runner)
 *      end       X     -       -      -    (each runner once; of a second one that will not begin whoever took it back)
 *
 * Progress: wait-free; an end tries again at most for each other operation on the race, of which there are three.
 * Ordering: what one wrote before its post, begin or end happens before what another one does after an operation that
 * sees it: [A] [B] [D] [E] acq_rel, [C] acquire.
 * Mutation list: [A] relaxed; [B] relaxed; [C] relaxed; [D] relaxed; [E] relaxed; an end that wins although the other
 * one has won. */
#ifndef CLO_SYNC_PROTOCOL_FIRST_WINS_H
#define CLO_SYNC_PROTOCOL_FIRST_WINS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The bits of both, those of the second one bit higher. */
enum { CLO_FIRST_WINS_BEGUN = 1, CLO_FIRST_WINS_OVER = 2, CLO_FIRST_WINS_WON = 8, CLO_FIRST_WINS_POSTED = 32 };

typedef struct clo_first_wins {
    _Atomic uint32_t word;
} clo_first_wins;

/* What a runner learns at its end. */
typedef struct clo_first_wins_end {
    bool has_won;
    /* The other one is over, too. */
    bool is_second;
    /* And the starter has posted: nobody has a part in the race any more. */
    bool is_last;
    /* The other one has begun. */
    bool has_rival;
    /* One of the two has won. */
    bool is_decided;
    /* The starter has posted. */
    bool is_posted;
} clo_first_wins_end;

static inline void clo_first_wins_arm(clo_first_wins *first_wins)
{
    atomic_store_explicit(&first_wins->word, 0, memory_order_relaxed);
}

/* Of the starter, whose part in the race this ends. True: both runners are over. */
static inline bool clo_first_wins_post(clo_first_wins *first_wins)
{
    const uint32_t both = CLO_FIRST_WINS_OVER * 3;

    return (atomic_fetch_or_explicit(&first_wins->word, CLO_FIRST_WINS_POSTED, memory_order_acq_rel) & both) ==
           both; /* [D] */
}

/* The same, with *is_last; but false, and nothing is done, if the first one has won and the second one has not begun:
 * then what was held out can be taken back before the post. */
static inline bool clo_first_wins_post_in_time(clo_first_wins *first_wins, bool *is_last)
{
    const uint32_t both = CLO_FIRST_WINS_OVER * 3;
    uint32_t before = atomic_load_explicit(&first_wins->word, memory_order_relaxed);

    do { /* at most three others */
        if ((before & CLO_FIRST_WINS_WON) != 0 && (before & CLO_FIRST_WINS_BEGUN) == 0)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&first_wins->word, &before, before | CLO_FIRST_WINS_POSTED,
                                                    memory_order_acq_rel, memory_order_relaxed)); /* [E] */
    *is_last = (before & both) == both;
    return true;
}

/* The starter has posted, and the second runner has not begun. */
static inline bool clo_first_wins_is_held_out(const clo_first_wins *first_wins)
{
    uint32_t word = atomic_load_explicit(&first_wins->word, memory_order_acquire); /* [C] */

    return (word & CLO_FIRST_WINS_POSTED) != 0 && (word & CLO_FIRST_WINS_BEGUN) == 0;
}

/* Of the second runner. False: the first one has won. */
static inline bool clo_first_wins_begin(clo_first_wins *first_wins)
{
    return (atomic_fetch_or_explicit(&first_wins->word, CLO_FIRST_WINS_BEGUN, memory_order_acq_rel) &
            CLO_FIRST_WINS_WON) == 0; /* [A] */
}

/* The other one has won. who: 0 or 1. */
static inline bool clo_first_wins_is_lost(const clo_first_wins *first_wins, uint32_t who)
{
    uint32_t other = 1 - who;

    return (atomic_load_explicit(&first_wins->word, memory_order_acquire) & (uint32_t)CLO_FIRST_WINS_WON << other) !=
           0; /* [C] */
}

/* is_good: it may win. */
static inline clo_first_wins_end clo_first_wins_finish(clo_first_wins *first_wins, uint32_t who, bool is_good)
{
    const uint32_t any = CLO_FIRST_WINS_WON * 3, mine = (uint32_t)CLO_FIRST_WINS_WON << who;
    uint32_t before = atomic_load_explicit(&first_wins->word, memory_order_relaxed), after;

    do /* at most three others */
        after = before | (uint32_t)CLO_FIRST_WINS_OVER << who | (is_good && (before & any) == 0 ? mine : 0);
    while (!atomic_compare_exchange_weak_explicit(&first_wins->word, &before, after, memory_order_acq_rel, /* [B] */
                                                  memory_order_relaxed));
    bool is_posted = (before & CLO_FIRST_WINS_POSTED) != 0;
    bool is_second = (before & (uint32_t)CLO_FIRST_WINS_OVER << (1 - who)) != 0;
    return (clo_first_wins_end){.has_won = (after & mine) != 0,
                                .is_second = is_second,
                                .is_last = is_second && is_posted,
                                .has_rival = who == 1 || (before & CLO_FIRST_WINS_BEGUN) != 0,
                                .is_decided = (after & any) != 0,
                                .is_posted = is_posted};
}

#endif
