/* plan/search/exact_model.h - the parts of the exact planner: the problem in tables and its lower bound
 * (exact_bound.c), partial plans that were searched already (exact_seen.c), the search (exact.c).
 *
 * Instances go by *position*: a topological order in which twins, which nothing can tell apart, stand one behind the
 * other. A set of positions is a word of 64 bits. A time on an executor that cannot run the task is CLO_EXACT_NEVER,
 * which is above every sum of times and can still be added to one. */
#ifndef CLO_PLAN_SEARCH_EXACT_MODEL_H
#define CLO_PLAN_SEARCH_EXACT_MODEL_H

#include "plan/schedule/schedule.h"

#define CLO_EXACT_MAX 64u /* instances, and executors */
#define CLO_EXACT_NEVER (INT64_MAX / 4)

typedef struct clo_exact_model {
    uint32_t count, executors, arcs, shift;
    uint64_t twins;           /* positions whose twin stands right before them */
    uint32_t *instance;       /* [count]                                                          */
    uint32_t *first;          /* [count + 1] of the arcs to each position                         */
    uint32_t *from;           /* [arcs] position of the producer                                  */
    uint32_t *class_of;       /* [executors] the first one that nothing can tell apart from it    */
    uint32_t *by_behind;      /* [count] positions by falling least_behind_ns                     */
    uint64_t *needs;          /* [count] positions that come before: producers, the twin before   */
    uint64_t *feeds;          /* [count] consumers                                                */
    uint64_t *weight;         /* [count] least price of its time, Q<-shift>                       */
    uint64_t *price;          /* [executors] of their time, at most 1024                          */
    int64_t *time_ns;         /* [count * executors]                                              */
    int64_t *behind_ns;       /* [count * executors] shortest path from its end there to the end of all */
    int64_t *least_behind_ns; /* [count] the least of these                                      */
    int64_t *transfer_ns;     /* [arcs * executors * executors] transfer, by arc, to, from        */
    void *block;
} clo_exact_model;

/* A partial plan: placed in order of start, finish, position. */
typedef struct clo_exact_state {
    const clo_exact_model *model;
    uint64_t placed;
    uint32_t depth;
    clo_u128 sum_ns;       /* of the starts                                             */
    uint32_t *order;       /* [count] positions as placed                               */
    uint32_t *executor;    /* [count] by position                                       */
    int64_t *start_ns;     /* [count] by position                                       */
    int64_t *finish_ns;    /* [count] by position                                       */
    int64_t *available_ns; /* [executors] the end of the last one there                 */
    uint64_t *on;          /* [executors] positions there                               */
    int64_t *before_ns;    /* [count] by depth: available_ns before it was placed           */
    int64_t *reach_ns;     /* [count + 1] by depth: the latest way from what is placed to the end of all */
    int64_t *end_ns;       /* [count * executors] scratch: earliest ends of what is not placed */
} clo_exact_state;

/* Start of the last one placed: nothing starts before it any more. */
static inline int64_t clo_exact_now_ns(const clo_exact_state *state)
{
    return state->depth > 0 ? state->start_ns[state->order[state->depth - 1]] : 0;
}

/* When the data of `arc` from a producer on `from` are on `to`, behind its end. */
static inline int64_t clo_exact_transfer_ns(const clo_exact_model *model, uint32_t arc, uint32_t from, uint32_t to)
{
    return model->transfer_ns[((size_t)arc * model->executors + to) * model->executors + from];
}

/* Pairs of instances that the edges stand for: the arcs of the model. CLO_NONE: as many or more. */
uint64_t clo_exact_arcs(const clo_graph *graph);

/* The cost has no demands, and not too many instances, executors and arcs times pairs of executors. */
bool clo_exact_fits(const clo_schedule *schedule);
/* longest_ns: of a plan that is known; only shorter ones will be asked for. Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_exact_model_open(clo_exact_model *model, const clo_schedule *schedule, int64_t longest_ns);
void clo_exact_model_close(clo_exact_model *model);

/* No plan that goes on from here ends earlier. Stops counting at limit_ns, at most the model's longest_ns. */
int64_t clo_exact_bound_ns(clo_exact_state *state, int64_t limit_ns);

/* Partial plans that were searched, in fixed memory. */
typedef struct clo_exact_seen {
    char *entries;
    size_t entry_bytes;
    uint64_t sets; /* each with a few entries; a power of two */
    uint64_t writes;
} clo_exact_seen;

clo_status clo_exact_seen_open(clo_exact_seen *seen, const clo_exact_model *model);
void clo_exact_seen_close(clo_exact_seen *seen);
/* True if one of them makes it needless to go on from here: whatever follows could follow it as well. Else keeps the
 * state. */
bool clo_exact_seen_check(clo_exact_seen *seen, const clo_exact_state *state);

#endif
