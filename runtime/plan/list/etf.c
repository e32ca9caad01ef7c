/* plan/list/etf.c - the best pair of ready instance and executor: ETF and DLS.
 *
 *   etf  earliest task first: Hwang, Chow, Anger, Lee, "Scheduling Precedence Graphs in Systems with Interprocessor
 *        Communication Times", SIAM J. Computing 18(2), 1989. The pair with the earliest start; ties: the highest
 *        static level, then the lowest id, then the lowest executor. The paper moves a clock from one completion to the
 *        next; always to take the earliest start of all pairs gives the same starts without one.
 *   dls  dynamic level scheduling: Sih, Lee, "A Compile-Time Scheduling Heuristic for Interconnection-Constrained
 *        Heterogeneous Processor Architectures", IEEE TPDS 4(2), 1993. The pair with the highest static level - start +
 *        (mean time - time there); ties: the lowest id, then the lowest executor. Mean times instead of the
 *        paper's medians; of its generalised level neither the descendants' nor the resources' term.
 *
 * The static level is the longest path to an exit in mean times, without transfers. Both append, fill no gaps. Beyond
 * the papers: placement masks, capacities of machines, instances (of a task they look alike: one stands for all).
 *
 * A start only moves back while executors fill, so a key found once (lower is better) is a lower bound for ever, and
 * so is the time when the first executor is idle + the least of the task. Tasks known by the second bound only lie in
 * one heap, whose order does not change with time, those with a key that was above it in another. The first of both is
 * looked at again, and is the best of all if its bound was right. O(ready * executors * inputs) a placement in the
 * worst case, executors * inputs in a good one. With demands a look begins its searches of the capacities where the
 * last one of the task has ended, and asks for those executors only that may still be the best. There all tasks want to
 * begin where something becomes free, so bounds are passed over and over: in a graph of more than a few tasks those are
 * asked for that fit (pick/fit_pick.h). */

#include "plan/schedule/planner.h"
#include "base/memory.h"
#include "base/order/sort.h"
#include "base/status.h"
#include "plan/pick/fit_pick.h"

#include <assert.h>

enum { FIT_FEW = 256 }; /* the heaps are cheaper for graphs of so many tasks */

typedef struct pairs {
    clo_ready ready;    /* its heap: tasks whose key was above the bound of the other heap, by key */
    clo_heap idle;      /* the others, by least_ns: the key is at least idle_ns + least_ns */
    int64_t idle_ns;    /* when the first executor is idle */
    int64_t *level_ns;  /* [tasks] static level                                */
    int64_t *least_ns;  /* [tasks] DLS: fastest time - level - mean; ETF: 0      */
    int64_t *known_ns;  /* [tasks] the finish (ETF: the start) that was found last; it only rises */
    int64_t *offset_ns; /* [tasks] DLS: from the finish to the key */
    uint32_t *place;    /* [tasks] in the order that breaks ties of keys */
    bool is_dls;
} pairs;

typedef struct level_key {
    int64_t level_ns;
    uint32_t task;
} level_key;

/* In reverse topological order: successors are complete. */
static void find_levels(const clo_cost *cost, int64_t *level_ns)
{
    const clo_graph *graph = cost->graph;

    for (uint32_t i = graph->tasks; i-- > 0;) {
        uint32_t task = graph->task_order[i];
        level_ns[task] += cost->mean_ns[task];
        for (uint32_t edge = graph->in_first[task]; edge < graph->in_first[task + 1]; edge++) {
            int64_t *above = &level_ns[clo_graph_source(graph, edge)];
            *above = level_ns[task] > *above ? level_ns[task] : *above;
        }
    }
}

static int by_falling_level(const void *left, const void *right)
{
    const level_key *a = left, *b = right;

    if (a->level_ns != b->level_ns)
        return a->level_ns > b->level_ns ? -1 : 1;
    return a->task < b->task ? -1 : a->task > b->task;
}

/* place and least_ns. */
static clo_status find_places(pairs *p, const clo_cost *cost)
{
    uint32_t tasks = cost->graph->tasks;
    level_key *keys = clo_allocate(tasks, sizeof *keys);

    if (keys == NULL)
        return clo_fail_memory("the levels of a plan");
    for (uint32_t t = 0; t < tasks; t++) {
        keys[t] = (level_key){p->level_ns[t], t};
        p->offset_ns[t] = -p->level_ns[t] - cost->mean_ns[t];
        p->least_ns[t] = p->is_dls ? clo_cost_fastest(cost, t) + p->offset_ns[t] : 0;
    }
    clo_sort(keys, tasks, sizeof *keys, by_falling_level);
    for (uint32_t t = 0; t < tasks; t++)
        p->place[keys[t].task] = p->is_dls ? keys[t].task : t;
    clo_free(keys);
    return CLO_OK;
}

/* Of equal keys the first by place, then by id, leaves a heap first. */
static uint64_t id_of(const pairs *p, uint32_t instance)
{
    return (uint64_t)p->place[p->ready.schedule->graph->task_of[instance]] << 32 | instance;
}

static void push_idle(pairs *p, uint32_t instance)
{
    clo_heap_push(&p->idle, p->least_ns[p->ready.schedule->graph->task_of[instance]], id_of(p, instance));
}

/* True if the best bound is that of the heap `idle`. */
static bool is_idle_first(const pairs *p)
{
    if (p->idle.count == 0 || p->ready.heap.count == 0)
        return p->idle.count > 0;
    clo_heap_item a = p->idle.items[0], b = p->ready.heap.items[0];
    a.key += p->idle_ns;
    return clo_heap_before(a, b);
}

/* The best executor for an instance; returns the key of that pair, lower is better. */
static int64_t look(pairs *p, uint32_t instance, clo_slot *slot)
{
    const clo_schedule *schedule = p->ready.schedule;
    uint32_t task = schedule->graph->task_of[instance];

    *slot = p->is_dls ? clo_ready_first_finish(&p->ready, instance, p->known_ns[task])
                      : clo_ready_first_start(&p->ready, instance, p->known_ns[task]);
    assert(slot->executor != CLO_NONE);
    p->known_ns[task] = p->is_dls ? slot->finish_ns : slot->start_ns;
    /* DLS: start - level - (mean - time) = finish - level - mean. */
    return p->is_dls ? slot->finish_ns - p->level_ns[task] - schedule->cost->mean_ns[task] : slot->start_ns;
}

static clo_status place_next(pairs *p)
{
    const clo_graph *graph = p->ready.schedule->graph;

    p->idle_ns = clo_ready_first_idle_ns(&p->ready);
    for (;;) { /* ends: each round places one, finds a higher key, or drops one that the other bound is above */
        bool is_idle = is_idle_first(p);
        clo_heap_item item = clo_heap_pop(is_idle ? &p->idle : &p->ready.heap);
        uint32_t instance = (uint32_t)item.id;
        int64_t bound = p->idle_ns + p->least_ns[graph->task_of[instance]];
        if (!is_idle && item.key < bound) {
            push_idle(p, instance);
            continue;
        }
        clo_slot slot;
        int64_t key = look(p, instance, &slot);
        if (key > (is_idle ? bound : item.key)) {
            clo_heap_push(&p->ready.heap, key, item.id);
            continue;
        }
        clo_status status = clo_ready_place(&p->ready, instance, slot);
        if (instance + 1 < graph->first_instance[graph->task_of[instance] + 1])
            push_idle(p, instance + 1);
        return status;
    }
}

static clo_status open_pairs(pairs *p, clo_schedule *schedule)
{
    uint32_t tasks = schedule->graph->tasks;

    p->level_ns = clo_allocate(tasks, sizeof *p->level_ns);
    p->least_ns = clo_allocate(tasks, sizeof *p->least_ns);
    p->known_ns = clo_allocate(tasks, sizeof *p->known_ns);
    p->offset_ns = clo_allocate(tasks, sizeof *p->offset_ns);
    p->place = clo_allocate(tasks, sizeof *p->place);
    p->idle = (clo_heap){.items = clo_allocate(tasks, sizeof *p->idle.items), .capacity = tasks};
    if (p->level_ns == NULL || p->least_ns == NULL || p->known_ns == NULL || p->offset_ns == NULL || p->place == NULL ||
        p->idle.items == NULL)
        return clo_fail_memory("a plan");
    find_levels(schedule->cost, p->level_ns);
    return find_places(p, schedule->cost);
}

static clo_status place_by_fit(pairs *p)
{
    const clo_schedule *schedule = p->ready.schedule;
    const clo_graph *graph = schedule->graph;
    clo_fit_pick pick = {0};
    uint32_t instance;
    clo_status status = clo_fit_pick_open(&pick, &p->ready, p->is_dls ? p->offset_ns : NULL, p->place);

    while (status == CLO_OK && schedule->count < graph->instances) { /* ends: some instance is always ready */
        while (clo_ready_next(&p->ready, &instance))
            if (graph->first_instance[graph->task_of[instance]] == instance)
                clo_fit_pick_add(&pick, graph->task_of[instance]);
        status = clo_fit_pick_place(&pick);
    }
    clo_fit_pick_close(&pick);
    return status;
}

static clo_status fill(clo_schedule *schedule, bool is_dls)
{
    pairs p = {.is_dls = is_dls};
    uint32_t instance;
    clo_status status = clo_ready_open(&p.ready, schedule);
    if (status != CLO_OK)
        return status;

    status = open_pairs(&p, schedule);
    if (status == CLO_OK && schedule->profiles != NULL && schedule->graph->tasks > FIT_FEW)
        status = place_by_fit(&p);
    while (status == CLO_OK && schedule->count < schedule->graph->instances) { /* ends: some instance is always ready */
        while (clo_ready_next(&p.ready, &instance))
            if (schedule->graph->first_instance[schedule->graph->task_of[instance]] == instance)
                push_idle(&p, instance);
        status = place_next(&p);
    }
    clo_free(p.level_ns);
    clo_free(p.least_ns);
    clo_free(p.known_ns);
    clo_free(p.offset_ns);
    clo_free(p.place);
    clo_free(p.idle.items);
    clo_ready_close(&p.ready);
    return status;
}

static clo_status etf_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    (void)config;
    return fill(schedule, false);
}

static clo_status dls_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    (void)config;
    return fill(schedule, true);
}

const clo_planner clo_planner_etf = {
    .name = "etf",
    .summary = "of all ready tasks and executors the pair with the earliest start (Hwang et al. 1989)",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = etf_fill,
};

const clo_planner clo_planner_dls = {
    .name = "dls",
    .summary = "of all ready tasks and executors the pair with the highest dynamic level (Sih, Lee 1993)",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = dls_fill,
};
