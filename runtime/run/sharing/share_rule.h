/* run/sharing/share_rule.h - the rule of the hand-over: what a worker lets others have of the items that wait in its
 * deque.
 *
 * Nothing but decisions, on plain values: share.c carries them out, and bench/hand_over runs the same functions in a
 * model of up to 8 workers, from which the limits below were chosen. Times in ns; 0: not known.
 *
 * A hand-over moves cache lines, and a wake is a system call, so either must be worth it. Long bodies share all they
 * have. Short ones give half to who asked, if more than a few items wait; else, in narrow graphs, one item at a time
 * goes to the mailbox of who asked lately, as long as it takes them. */
#ifndef CLO_RUN_SHARING_SHARE_RULE_H
#define CLO_RUN_SHARING_SHARE_RULE_H

#include "base/numbers/saturate.h"

#include <stdbool.h>
#include <stdint.h>

/* Shorter bodies are not worth a hand-over of their own. */
#define CLO_SHORT_NS 2000
/* Work that makes up for the lines that move when it changes hands. */
#define CLO_MAILBOX_OVER_NS 50
/* And for waking a sleeper. */
#define CLO_WAKE_NS 10000
/* With more of them, whoever asks gets enough for a while. */
#define CLO_NARROW_ITEMS 4u
/* Items that found the other's mailbox full before it is fed no longer. */
#define CLO_FEEDS 16u
/* A body that is worth a hand-over of its own where somebody must be woken for it. */
#define CLO_WORTH_NS 60
/* So many items tell whether they change hands too often. A pipeline that begins in the wrong order stays in it so
 * long; fewer say too little. */
#define CLO_JUDGED_ITEMS 128u

/* What a worker knows before its next body. */
typedef struct clo_share_view {
    /* An item has taken so long lately. */
    int64_t task_time_ns;
    /* What was declared for the next one. */
    int64_t next_ns;
    /* Items in the deque; not 0. */
    uint32_t count;
    /* Some worker found nothing to do. */
    bool is_asked;
    /* Time that items have waited while nobody was woken for them; in and out. */
    int64_t declined_ns;
} clo_share_view;

typedef struct clo_share_choice {
    /* Of the oldest items, on the shared pool. */
    uint32_t publish;
    /* Somebody who sleeps shall come. */
    bool wakes;
    /* The one that asked is answered, and to be asked again by. */
    bool answers;
    /* The one that asked is fed from now on. */
    bool feeds;
    /* An item goes to its mailbox at once; publish is 0. */
    bool holds_out;
    /* Nobody is fed any longer. */
    bool stops_feeding;
    /* The graph is narrow: successors are chosen by clo_share_prefers until the next choice. */
    bool has_affinity;
} clo_share_choice;

/* True if others would wait too long for what is in the deque while a body runs that was declared to take next_ns, or
 * is no worse than those before it. */
static inline bool clo_share_is_slow(int64_t task_time_ns, int64_t next_ns)
{
    return next_ns > CLO_SHORT_NS || task_time_ns > CLO_SHORT_NS || (next_ns | task_time_ns) == 0;
}

/* In a narrow graph no more than an item or two wait at any moment, never enough to wake somebody for; but while the
 * next body runs they wait all the same. That time is summed up since somebody was woken, for bodies that are worth a
 * hand-over each. */
static inline int64_t clo_share_decline(const clo_share_view *view, int64_t queued_ns)
{
    if (view->task_time_ns < CLO_WORTH_NS)
        return view->declined_ns;
    return view->declined_ns + (queued_ns < view->task_time_ns ? queued_ns : view->task_time_ns);
}

/* Somebody asked, or sleeps, or the next body is slow. */
static inline clo_share_choice clo_share_choose(clo_share_view *view)
{
    clo_share_choice choice = {0};
    bool is_slow = clo_share_is_slow(view->task_time_ns, view->next_ns);
    int64_t queued_ns = clo_time_mul(view->count, view->task_time_ns > 0 ? view->task_time_ns : view->next_ns);
    bool is_wanted = view->is_asked && queued_ns >= CLO_MAILBOX_OVER_NS;

    choice.has_affinity = view->count <= CLO_NARROW_ITEMS && view->task_time_ns >= CLO_WORTH_NS;
    choice.wakes = is_slow || queued_ns >= CLO_WAKE_NS;
    if (!choice.wakes) {
        view->declined_ns = clo_share_decline(view, queued_ns);
        choice.wakes = view->declined_ns >= CLO_WAKE_NS;
    }
    if (!choice.wakes && !is_wanted)
        return choice;
    choice.answers = view->is_asked;
    choice.feeds = is_wanted && view->task_time_ns >= CLO_WORTH_NS;
    choice.has_affinity = choice.has_affinity || choice.feeds;
    choice.holds_out = choice.feeds && !choice.wakes && view->count <= CLO_NARROW_ITEMS;
    if (choice.holds_out)
        return choice;
    choice.publish = is_slow ? view->count : (view->count + 1) / 2;
    choice.stops_feeding = is_slow;
    if (choice.wakes)
        view->declined_ns = 0;
    return choice;
}

/* Whoever is fed gets the oldest item, if its mailbox is empty. */
static inline bool clo_share_holds_out(uint32_t feeds, uint32_t count)
{
    return feeds > 0 && count <= CLO_NARROW_ITEMS;
}

/* Nothing that is fetched from another CPU comes before the end of such a body. */
static inline bool clo_share_is_tiny(int64_t task_time_ns)
{
    return task_time_ns < CLO_WORTH_NS;
}

/* Bodies became too short for it, or the one that was fed sleeps. */
static inline bool clo_share_stops_feeding(int64_t task_time_ns, bool is_asleep)
{
    return task_time_ns < CLO_WORTH_NS || is_asleep;
}

/* Which of two released successors to run next while the other is given away. In an unrolled loop the one at the same
 * distance as before is the same stage of the next token, so each worker stays with its stage and the next item need
 * not change hands; if items change hands all the same, the other order is tried (clo_share_is_restless). */
static inline bool clo_share_prefers(uint32_t affinity_stride, bool keeps_last, uint32_t execution, uint32_t kept,
                                     uint32_t successor)
{
    if (kept - execution == affinity_stride)
        return false;
    return successor - execution == affinity_stride || keeps_last;
}

/* An item has taken `item_ns` lately: quick to see that items are long, slow to believe that they are short. */
static inline int64_t clo_share_pace(int64_t task_time_ns, int64_t item_ns)
{
    return item_ns > task_time_ns ? item_ns : (3 * task_time_ns + item_ns) / 4;
}

/* Of two items run one has come from another worker or goes there: the other one of two released successors is to be
 * kept. */
static inline bool clo_share_is_restless(uint32_t exchanges, uint32_t judged)
{
    return 2 * exchanges > judged;
}

#endif
