/* cost/bound/bound.h - shared by the files of the lower bound. */
#ifndef CLO_COST_BOUND_H
#define CLO_COST_BOUND_H

#include "cost/cost.h"

/* How much each executor's time counts: Q62, the sum over executors is at most one. So fine, because a plan is proved
 * optimal by a bound that is equal to the last ns; times are below 2^61, products fit 128 bits. */
#define CLO_PRICE_BITS 62
typedef struct clo_prices {
    uint64_t *of_executor; /* [executors]                        */
    uint64_t *of_column;   /* [columns] the smallest in the column */
} clo_prices;

/* The work of the bound: arrays that live during one call. */
typedef struct clo_bound_work {
    const clo_cost *cost;
    uint32_t shift;   /* weights are ns in Q<shift>                               */
    int64_t *fastest; /* [tasks]                                                  */
    int64_t *span;    /* [tasks] what all instances of it take at least: waves of the fastest time */
    int64_t *head;    /* [tasks] no execution starts before it                    */
    int64_t *tail;    /* [tasks] the first one ends so long before all is done    */
    int64_t *rest;    /* [tasks] fastest + tail                                   */
    uint64_t *weight; /* [tasks] what all instances of a task add to the area     */
    uint64_t *load;   /* [columns] for the ascent                                 */
    uint64_t *use;    /* [tasks] what an instance of a task holds of the measure at hand while it runs */
    clo_prices best, trial;
} clo_bound_work;

static inline void clo_bound_raise(int64_t *to, int64_t value)
{
    if (value > *to)
        *to = value;
}

/* A sum of weights in whole ns. */
static inline int64_t clo_bound_round_up(const clo_bound_work *work, uint64_t sum)
{
    return (int64_t)((sum >> work->shift) + ((sum & ((1ull << work->shift) - 1)) != 0));
}

/* True for the instance that stands for its task where all are alike. */
static inline bool clo_bound_is_first(const clo_graph *graph, uint32_t instance)
{
    return graph->first_instance[graph->task_of[instance]] == instance;
}

/* Fills work->weight for prices; returns their sum. */
uint64_t clo_bound_price(clo_bound_work *work, const clo_prices *prices);

/* Finds good prices: work->best. Returns the area in Q<shift>; weights are left undefined. */
uint64_t clo_bound_best_prices(clo_bound_work *work);

/* Graphene's NewLB (stages.c): the longest chain where each stage counts with its own area, and the sum over what lies
 * between barriers. */
typedef struct clo_bound_stages {
    int64_t *stage_ns;            /* [tasks] no platform runs all instances of the task in less           */
    int64_t *chain_ns;            /* [tasks] longest chain of stage_ns in the task's part, its own included */
    int64_t *part_ns;             /* [tasks] by part: the bound of each                                   */
    uint64_t *area;               /* [tasks] by part: of the measure at hand, in Q<shift>                 */
    uint32_t *part_of;            /* [tasks]                                                              */
    uint32_t *depth, *next_depth; /* [tasks] scratch                                           */
    uint32_t parts;
} clo_bound_stages;

/* Cuts the graph at its barriers: fills part_of, depth, next_depth and parts and needs nothing else; all zeroed before.
 * ends: [tasks + 2] zeroed scratch. */
void clo_bound_cut(const clo_graph *graph, clo_bound_stages *stages, int64_t *ends);

/* At least so long from the start of the first instance of `task` to the end of the last. Needs work->fastest. */
int64_t clo_bound_span(const clo_bound_work *work, uint32_t task);

/* Takes in the weights as they are: once for each measure. */
void clo_bound_take_stages(const clo_bound_work *work, clo_bound_stages *stages);

/* The bound of all that was taken in; 0 if that was nothing. */
int64_t clo_bound_of_stages(const clo_bound_work *work, clo_bound_stages *stages);

/* One of several inputs of a task, or of several that read from it. */
typedef struct clo_bound_input {
    int64_t arrival_ns; /* from afar                    */
    int64_t at_ns;      /* head or tail of its task     */
    int64_t time_ns;    /* fastest                      */
} clo_bound_input;

/* The most arcs into or out of an instance. */
size_t clo_bound_inputs_max(const clo_graph *graph);

/* Raises work->head and tail by what transfers add where inputs join (joins.c). inputs: [clo_bound_inputs_max]. */
void clo_bound_join(const clo_bound_work *work, clo_bound_input *inputs);

/* Scratch of window.c, and what it is to look at. */
typedef struct clo_bound_sets {
    uint64_t *before; /* [tasks * words] a bit for each ancestor, or descendant */
    uint32_t *list;   /* [tasks]                                                */
    uint32_t words;
    uint64_t capacity; /* of what work->use is about; above 0                    */
    int64_t grid_ns;
} clo_bound_sets;

/* Raises work->head and tail by what ancestors and descendants need together (window.c): for work->use. */
void clo_bound_tighten(const clo_bound_work *work, const clo_bound_sets *sets);

/* Tasks in an order. */
typedef struct clo_bound_item {
    uint64_t key;
    uint32_t task;
} clo_bound_item;

typedef struct clo_bound_ramp {
    int64_t time_ns;
    uint64_t use;
} clo_bound_ramp;

/* Scratch of energy.c. */
typedef struct clo_bound_orders {
    const clo_bound_item *by_head;   /* [tasks] largest head first             */
    const clo_bound_item *by_latest; /* [tasks] largest rest first          */
    clo_bound_ramp *ramps;           /* [2 * tasks]                            */
} clo_bound_orders;

/* lower_ns, or more where energy shows that (energy.c): for work->use out of `capacity`. lower_ns is a multiple of the
 * grid, all makespans that matter are (clo_cost_grid_ns). */
int64_t clo_bound_energy(const clo_bound_work *work, const clo_bound_orders *orders, uint64_t capacity, int64_t grid_ns,
                         int64_t lower_ns);

/* Every executor costs the same. */
void clo_bound_equal_prices(const clo_bound_work *work, clo_prices *prices);

#endif
