/* play.h - a model of workers that share ready tasks by the rule of run/sharing/share_rule.h, in virtual time: the same
 * run twice gives the same figures, on any machine, with any number of workers.
 *
 * What is modelled: a worker's deque, hand and shared pool, who asked whom, feeding, the pace, the order of successors,
 * looking, sleeping and waking, and what each step costs. Counters lie eight in a cache line, and a line costs more
 * when another worker wrote it last. Not modelled: inboxes, several jobs, capacities, threads that help. The decisions
 * are the functions of share_rule.h; the order in which a worker looks for items follows run/threads/worker_loop.c. */
#ifndef CLO_BENCH_HAND_OVER_PLAY_H
#define CLO_BENCH_HAND_OVER_PLAY_H

#include "common/graphs.h"

enum { PLAY_WORKERS_MAX = 8 };

/* A part of the rule that the model leaves out, to see what it is worth: the sum of what has waited (clo_share_decline),
 * judging the order (clo_share_is_restless), feeding who asked, or the same stage again (clo_share_prefers). */
typedef enum play_part { PLAY_WHOLE, PLAY_SUM, PLAY_ORDER, PLAY_FEEDING, PLAY_STAGE } play_part;

/* ns each. */
typedef struct play_costs {
    int64_t task;  /* of a task beside its body and its hits: rows, the call */
    int64_t hit;   /* a counter in a line that is ours */
    int64_t line;  /* a line that another worker wrote last comes here */
    int64_t give;  /* an item into another's hand */
    int64_t take;  /* an item out of a mailbox */
    int64_t push;  /* items onto the shared pool */
    int64_t steal; /* all items off a shared pool */
    int64_t look;  /* one look at another worker's mailbox and list */
    int64_t pause; /* one pause between looks */
    int64_t call;  /* for the waker: the system call */
    int64_t wake;  /* from the call until the sleeper runs */
    int64_t spin;  /* until an idle worker sleeps */
    play_part without;
} play_costs;

/* What bench-hand_over --default takes; README.md lists them. */
extern const play_costs play_costs_default;

typedef struct play_result {
    int64_t makespan_ns;
    int64_t work_ns, critical_ns; /* bodies only */
    int64_t greedy_ns;            /* greedy list scheduling that costs nothing, first come first served */
    int64_t lost_ns;              /* worker time: idle while something was ready */
    int64_t waited_ns;            /* the longest that a task was ready while some worker was idle */
    uint32_t ran;                 /* tasks */
    uint32_t hand_overs, steals, wakes;
    bool is_ordered; /* no task began before its predecessors had ended */
} play_result;

/* Runs `graph` with bodies of body_ns[task] on that many workers, 1 .. PLAY_WORKERS_MAX. False: no memory. */
bool play(const bench_graph *graph, const int64_t *body_ns, uint32_t workers, const play_costs *costs,
          play_result *out);

/* A length from 100 ns to 51.2 us; each doubling is as likely as any other. */
int64_t play_mixed_ns(uint64_t *random);

/* max(work / workers, critical path). */
int64_t play_lower_ns(const play_result *result, uint32_t workers);

#endif
