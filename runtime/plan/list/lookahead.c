/* plan/list/lookahead.c - HEFT with lookahead: Bittencourt, Sakellariou, Madeira, "DAG Scheduling Using a Lookahead
 * Variant of the Heterogeneous Earliest Finish Time Algorithm", PDP 2010.
 *
 * Instances in order of falling rank_u (ties: earlier in topological order). For each executor the instance is put
 * there on trial, and then its children, in order of falling rank_u, where they end first; the executor with the least
 * latest end of a child wins (ties: the earlier own end, then the lowest). Gaps are filled.
 *
 * Where the paper is vague: only children whose other parents are placed are looked at (the arrival of the others is
 * unknown), without any the instance ends first as in HEFT; and no more than CHILDREN_MAX, those of the highest rank_u,
 * because the cost grows with their square. On trial an execution takes its executor but no capacity of the machine.
 *
 * O(executors^2 * children) an instance, times the searches in the timelines. */
#include "plan/schedule/planner.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/status.h"
#include "plan/schedule/ready.h"

#include <assert.h>
#include <string.h>

enum { CHILDREN_MAX = 16 };

typedef struct child {
    uint32_t instance, position; /* in the order of rank_u */
    uint64_t bytes;              /* from the instance on trial */
    int64_t *others_ns;          /* [executors] when the data of its other parents are there */
} child;

typedef struct lookahead {
    clo_ready ready;
    uint32_t *position; /* [instances] in the order of rank_u */
    child children[CHILDREN_MAX];
    uint32_t count;
    clo_slot trial[CHILDREN_MAX + 1]; /* the instance, then its children */
    void *block;
} lookahead;

static clo_status open_lookahead(lookahead *l, clo_schedule *schedule)
{
    clo_block block = {0};
    int64_t *rows;
    clo_status status = clo_ready_open(&l->ready, schedule);
    if (status != CLO_OK)
        return status;

    clo_carve(&block, &l->position, schedule->graph->instances);
    clo_carve(&block, &rows, (size_t)schedule->executors * CHILDREN_MAX);
    l->block = clo_block_allocate(&block);
    status = l->block == NULL ? clo_fail_memory("a plan") : clo_schedule_order(schedule);
    if (status != CLO_OK) {
        clo_free(l->block);
        clo_ready_close(&l->ready);
        return status;
    }
    for (uint32_t i = 0; i < CHILDREN_MAX; i++)
        l->children[i].others_ns = rows + (size_t)i * schedule->executors;
    for (uint32_t i = 0; i < schedule->graph->instances; i++)
        l->position[schedule->order[i]] = i;
    return CLO_OK;
}

/* Keeps the CHILDREN_MAX first by position, sorted. Rows of others_ns stay where they are. */
static void insert_child(lookahead *l, uint32_t instance, uint64_t bytes)
{
    uint32_t position = l->position[instance], at = l->count < CHILDREN_MAX ? l->count++ : CHILDREN_MAX - 1;

    if (at == CHILDREN_MAX - 1 && l->children[at].instance != CLO_NONE && l->children[at].position < position)
        return;
    for (; at > 0 && l->children[at - 1].position > position; at--) {
        l->children[at].instance = l->children[at - 1].instance;
        l->children[at].position = l->children[at - 1].position;
        l->children[at].bytes = l->children[at - 1].bytes;
    }
    l->children[at].instance = instance;
    l->children[at].position = position;
    l->children[at].bytes = bytes;
}

/* When the data of the placed parents of a child are on each executor. */
static void find_others(child *c, clo_schedule *schedule)
{
    const clo_graph *graph = schedule->graph;
    uint32_t task = graph->task_of[c->instance];

    for (uint32_t e = 0; e < schedule->executors; e++)
        c->others_ns[e] = 0;
    for (uint32_t edge = graph->in_first[task]; edge < graph->in_first[task + 1]; edge++) {
        uint32_t source = clo_graph_source(graph, edge);
        if (clo_graph_instances_of(graph, source) == 1 &&
            schedule->first_execution[graph->first_instance[source]] == CLO_NONE)
            continue; /* the instance on trial */
        clo_schedule_arrivals(schedule, edge);
        for (uint32_t e = 0; e < schedule->executors; e++)
            c->others_ns[e] = schedule->row_ns[e] > c->others_ns[e] ? schedule->row_ns[e] : c->others_ns[e];
    }
}

/* The children of `instance` that wait for nothing else that is not placed. */
static void find_children(lookahead *l, uint32_t instance)
{
    clo_schedule *schedule = l->ready.schedule;
    const clo_graph *graph = schedule->graph;
    uint32_t task = graph->task_of[instance];

    l->count = 0;
    for (uint32_t i = 0; i < CHILDREN_MAX; i++)
        l->children[i].instance = CLO_NONE;
    for (uint32_t at = graph->out_first[task]; l->ready.left[task] == 1 && at < graph->out_first[task + 1]; at++) {
        uint32_t first = graph->first_instance[graph->out[at]], count = clo_graph_instances_of(graph, graph->out[at]);
        if (l->ready.waiting[graph->out[at]] > 1)
            continue;
        for (uint32_t i = 0; i < count && i < CHILDREN_MAX; i++) /* in the order of rank_u they rise by id */
            insert_child(l, first + i, clo_graph_out_bytes(graph, at));
    }
    for (uint32_t i = 0; i < l->count; i++)
        if (i > 0 && graph->task_of[l->children[i].instance] == graph->task_of[l->children[i - 1].instance])
            memcpy(l->children[i].others_ns, l->children[i - 1].others_ns,
                   schedule->executors * sizeof *l->children[i].others_ns);
        else
            find_others(&l->children[i], schedule);
}

/* As clo_schedule_slot_ns, around the first `tried` executions on trial. Ends: each of them is passed at most once. */
static int64_t trial_slot(const lookahead *l, uint32_t task, clo_slot wish, uint32_t tried)
{
    int64_t duration = wish.finish_ns - wish.start_ns, from = wish.start_ns;

    for (uint32_t i = 0; i < tried;) {
        int64_t start = clo_schedule_slot_ns(l->ready.schedule, task, wish.executor, from, duration);
        for (i = 0; i < tried; i++)
            if (l->trial[i].executor == wish.executor && start < l->trial[i].finish_ns &&
                start + duration > l->trial[i].start_ns)
                break;
        from = i < tried ? l->trial[i].finish_ns : start;
    }
    return from;
}

/* Where child `index` ends first, the instance and the children before it being on trial. */
static clo_slot place_child(const lookahead *l, uint32_t index)
{
    const clo_schedule *schedule = l->ready.schedule;
    const child *c = &l->children[index];
    const clo_slot *parent = &l->trial[0];
    uint32_t task = schedule->graph->task_of[c->instance];
    clo_slot best = {0, INT64_MAX, CLO_NONE};

    for (uint32_t e = 0; e < schedule->executors; e++) {
        int64_t duration = clo_cost_time(schedule->cost, task, e), from = c->others_ns[e];
        if (duration == CLO_TIME_NEVER || from + duration >= best.finish_ns)
            continue;
        int64_t arrival =
            parent->finish_ns + clo_platform_transfer_ns(schedule->platform, c->bytes, parent->executor, e);
        from = arrival > from ? arrival : from;
        if (from + duration >= best.finish_ns)
            continue;
        int64_t start = trial_slot(l, task, (clo_slot){from, from + duration, e}, index + 1);
        if (start + duration < best.finish_ns)
            best = (clo_slot){start, start + duration, e};
    }
    assert(best.executor != CLO_NONE);
    return best;
}

/* The latest end of a child if the instance goes to `slot`; its own end without children. `enough`: what does not
 * matter any more. */
static int64_t look_ahead(lookahead *l, clo_slot slot, int64_t enough)
{
    int64_t latest = slot.finish_ns;

    l->trial[0] = slot;
    for (uint32_t i = 0; i < l->count && latest <= enough; i++) {
        l->trial[i + 1] = place_child(l, i);
        latest = l->trial[i + 1].finish_ns > latest ? l->trial[i + 1].finish_ns : latest;
    }
    return latest;
}

static clo_status place(lookahead *l, uint32_t instance)
{
    clo_schedule *schedule = l->ready.schedule;
    uint32_t task = schedule->graph->task_of[instance];
    clo_slot best = {0, INT64_MAX, CLO_NONE};
    int64_t best_ahead = INT64_MAX;

    find_children(l, instance);
    clo_schedule_find_ready(schedule, instance);
    for (uint32_t e = 0; e < schedule->executors; e++) {
        int64_t duration = clo_cost_time(schedule->cost, task, e);
        if (duration == CLO_TIME_NEVER)
            continue;
        int64_t start = clo_schedule_slot_ns(schedule, task, e, schedule->ready_ns[e], duration);
        clo_slot slot = {start, start + duration, e};
        int64_t ahead = look_ahead(l, slot, best_ahead);
        if (ahead < best_ahead || (ahead == best_ahead && slot.finish_ns < best.finish_ns)) {
            best = slot;
            best_ahead = ahead;
        }
    }
    assert(best.executor != CLO_NONE);
    return clo_ready_place(&l->ready, instance, best);
}

static clo_status fill(clo_schedule *schedule, const clo_plan_config *config)
{
    lookahead l = {.count = 0};
    clo_status status = open_lookahead(&l, schedule);
    (void)config;
    if (status != CLO_OK)
        return status;

    for (uint32_t i = 0; status == CLO_OK && i < schedule->graph->instances; i++)
        status = place(&l, schedule->order[i]);
    clo_free(l.block);
    clo_ready_close(&l.ready);
    return status;
}

const clo_planner clo_planner_lookahead = {
    .name = "lookahead",
    .summary = "HEFT that looks where the children would end (Bittencourt, Sakellariou, Madeira 2010)",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = fill,
};
