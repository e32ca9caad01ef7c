/* plan/rcpsp/problem.h - packing: tasks with precedence that hold shares of machines over time (RCPSP, Tetris,
 * Graphene), where the executors of a machine are alike to every task and data are everywhere at once. Only times and
 * machines matter then; which executor is settled afterwards (clo_rcpsp_realise).
 *
 * Shares are packed: each resource that can be scarce is a lane of 16 or 32 bits in `words` 64-bit words, with the
 * top bit of every lane of the free amount set. (free - demand) keeps all these guards exactly where the demand
 * fits, so a test of up to four resources is one subtraction. The number of executors is a resource like the others.
 *
 * A schedule can be built from either end: backward means that time runs from the end of the graph, and a start
 * counts from there. */
#ifndef CLO_PLAN_RCPSP_PROBLEM_H
#define CLO_PLAN_RCPSP_PROBLEM_H

#include "base/numbers/rng.h"
#include "base/order/heap.h"
#include "cost/cost.h"
#include "plan/rcpsp/steps.h"
#include "plan/schedule/schedule.h"

#define CLO_RCPSP_WORDS_MAX CLO_STEPS_WORDS_MAX

typedef struct clo_rcpsp {
    const clo_cost *cost;
    const clo_graph *graph;
    uint32_t tasks, machines, words; /* tasks: instances of the graph                                    */
    bool is_rounded;                 /* shares are larger than they are, capacities smaller              */
    uint64_t guards;                 /* the top bits of a word's lanes                                   */
    int64_t *time_ns;                /* [machines * tasks]; CLO_TIME_NEVER: not on this machine          */
    uint64_t *demand;                /* [tasks * words] without guards                                   */
    uint64_t *capacity;              /* [machines * words] with guards                                   */
    uint32_t *weight;                /* [tasks] sum of the shares, 1024: a whole machine; at least 1     */
    uint32_t *first_of;              /* [machines] the first executor of each                            */
    int64_t *tail_ns;                /* [2 * tasks] longest path to the end, own time included; then the same
                                        to the beginning: for schedules built backward                   */
    /* 0, then about the quartiles of the times: powers of two. */
    int64_t windows_ns[CLO_STEPS_WINDOWS];
    void *block;
} clo_rcpsp;

/* CLO_OK, CLO_ERR_UNSUPPORTED (this cost is no packing problem) without a message, or CLO_ERR_MEMORY. */
clo_status clo_rcpsp_open(clo_rcpsp *problem, const clo_cost *cost);
void clo_rcpsp_close(clo_rcpsp *problem);

/* Shortest time of an instance on any machine that holds it. */
int64_t clo_rcpsp_fastest_ns(const clo_rcpsp *problem, uint32_t v);

/* What building schedules needs; one a thread. */
typedef struct clo_rcpsp_builder {
    const clo_rcpsp *problem;
    clo_rcpsp_steps *steps; /* [machines] each with room for 2 * tasks + 2                      */
    /* By task of the graph: tasks before it in this direction of which some instance has no place; the latest finish of
     * those that all have; instances without a place, and the latest finish of the others. The last two are NULL where
     * every task has one instance. */
    uint32_t *waits_for;
    int64_t *ready_ns;
    uint32_t *left;
    int64_t *end_ns;
    clo_heap heap;
    /* Of parallel generation: what is ready and was never looked at; list[0] .. list[passed - 1]: what was and did not
     * fit, the first last. */
    clo_heap fresh;
    uint32_t *list; /* [tasks] */
    uint32_t passed;
    uint64_t looks;                      /* at instances, by the last parallel generation */
    uint64_t least[CLO_RCPSP_WORDS_MAX]; /* where this does not fit, no instance does     */
    int64_t stop_ns; /* a schedule that is not built by then (clo_clock_ns) is given up; INT64_MAX: no limit */
    void *block;
} clo_rcpsp_builder;

clo_status clo_rcpsp_builder_open(clo_rcpsp_builder *builder, const clo_rcpsp *problem);
void clo_rcpsp_builder_close(clo_rcpsp_builder *builder);

typedef struct clo_packing {
    int64_t makespan_ns;
    int64_t *start_ns; /* [tasks] in the direction's time */
    uint32_t *machine; /* [tasks]                         */
    void *memory;      /* of both, where clo_packing_open took it */
} clo_packing;

clo_status clo_packing_open(clo_packing *packing, const clo_rcpsp *problem);
void clo_packing_close(clo_packing *packing);
void clo_packing_copy(const clo_rcpsp *problem, clo_packing *to, const clo_packing *from);

enum { CLO_RCPSP_FORWARD = 0, CLO_RCPSP_BACKWARD = 1 };

/* Serial schedule generation (Kolisch 1996): in order of rising key among those whose predecessors have a place, each
 * at its earliest time on the machine where it ends first. Gives active schedules. One that is given up has a makespan
 * of INT64_MAX; so it is below. */
void clo_rcpsp_serial(clo_rcpsp_builder *builder, int direction, const int64_t *keys, clo_packing *out);

/* Parallel schedule generation: time by time, what is ready and fits starts, by rising key. Gives non-delay
 * schedules. */
void clo_rcpsp_parallel(clo_rcpsp_builder *builder, int direction, const int64_t *keys, clo_packing *out);

/* When `task` ends, in the direction's time. */
static inline int64_t clo_rcpsp_finish_ns(const clo_rcpsp *problem, const clo_packing *packing, uint32_t task)
{
    return packing->start_ns[task] + problem->time_ns[(size_t)packing->machine[task] * problem->tasks + task];
}

/* Keys with which the schedule is built again from the other end: double justification. keys: [tasks]. */
void clo_rcpsp_turn(const clo_rcpsp *problem, const clo_packing *packing, int64_t *keys);

/* Keys of a rule: 0 .. CLO_RCPSP_RULES - 1, the most useful first: critical path, demand, volume and mixtures of them.
 * keys: [tasks]. */
#define CLO_RCPSP_RULES 20
void clo_rcpsp_rule(const clo_rcpsp *problem, uint32_t rule, int64_t *keys);

/* The critical path with Gumbel noise of noise_q16 of the longest path: softmax sampling. */
void clo_rcpsp_sample(const clo_rcpsp *problem, int direction, uint32_t noise_q16, clo_rng *rng, int64_t *keys);

/* Fills an empty schedule: in order of (forward) start, each on the executor of its machine that ends it first. No
 * later than the packing, but where a task of length 0 finds all executors in the midst of others. */
clo_status clo_rcpsp_realise(const clo_rcpsp *problem, const clo_packing *packing, int direction,
                             clo_schedule *schedule);

#endif
