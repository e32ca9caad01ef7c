/* plan/list/lachesis_baselines.c - the baselines of LACHESIS ("Learning to Optimize DAG Scheduling in Heterogeneous
 * Environment"):
 * a rule chooses the next task, EFT or DEFT its executor.
 *
 *   fifo      the task that became executable first
 *   sjf       shortest job first: the least mean time
 *   hrrn      highest response ratio next: the largest (wait + mean time) / mean time
 *   highrank  the highest rank_u
 *
 * A clock moves from event to event, as in the paper's section IV-C: a task is executable when all its parents have
 * finished (the first execution of each), and while an executable one is there and some executor has nothing more to
 * do, one is chosen and placed where it ends first; it may be told to wait for a busy executor. Without the clock
 * highrank would be HEFT and nobody would ever have waited. As this is a plan and not a run, a gap before the clock may
 * be filled where the inputs are there in time. Ties: the lowest id, then as in HEFT or DEFT.
 *
 * Beyond the paper: placement masks, capacities of machines, instances (of a task they become executable together:
 * one stands for all). O(executors * inputs + log tasks) an instance; hrrn adds what changes its order (response.h). */
#include "plan/heft/deft.h"
#include "plan/list/response.h"
#include "plan/schedule/compact.h"
#include "plan/schedule/planner.h"

#include "base/memory.h"
#include "base/status.h"
#include "plan/schedule/ready.h"

#include <assert.h>

typedef enum rule { FIFO, SJF, HRRN, HIGHRANK } rule;

typedef struct dispatch {
    clo_ready ready;      /* its heap: what will be executable, by the time */
    clo_heap now;         /* what is executable; but for HRRN               */
    clo_response waiting; /* the same for HRRN */
    uint32_t *first;      /* [tasks] HRRN only: the first instance that is not placed */
    int64_t *rank_ns;     /* [tasks] HIGHRANK only                          */
    int64_t clock_ns;
    rule by;
    bool with_deft;
} dispatch;

/* When all parents have finished. */
static int64_t executable_ns(const clo_schedule *schedule, uint32_t task)
{
    const clo_graph *graph = schedule->graph;
    int64_t latest = 0;

    for (uint32_t edge = graph->in_first[task]; edge < graph->in_first[task + 1]; edge++) {
        uint32_t source = clo_graph_source(graph, edge);
        for (uint32_t v = graph->first_instance[source]; v < graph->first_instance[source + 1]; v++) {
            int64_t first = INT64_MAX;
            for (uint32_t c = schedule->first_execution[v]; c != CLO_NONE; c = schedule->executions[c].next)
                first = schedule->executions[c].finish_ns < first ? schedule->executions[c].finish_ns : first;
            latest = first > latest ? first : latest;
        }
    }
    return latest;
}

static void take_released(dispatch *d)
{
    const clo_schedule *schedule = d->ready.schedule;
    uint32_t instance;

    while (clo_ready_next(&d->ready, &instance)) {
        uint32_t task = schedule->graph->task_of[instance];
        if (schedule->graph->first_instance[task] == instance)
            clo_heap_push(&d->ready.heap, executable_ns(schedule, task), instance);
    }
}

/* What is executable by now. */
static void take_executable(dispatch *d)
{
    while (d->ready.heap.count > 0 && d->ready.heap.items[0].key <= d->clock_ns) {
        clo_heap_item item = clo_heap_pop(&d->ready.heap);
        uint32_t task = d->ready.schedule->graph->task_of[item.id];
        if (d->by == SJF)
            item.key = d->ready.schedule->cost->mean_ns[task];
        else if (d->by == HIGHRANK)
            item.key = -d->rank_ns[task];
        if (d->by == HRRN) {
            d->first[task] = (uint32_t)item.id;
            clo_response_add(&d->waiting, task, item.key, d->clock_ns);
        } else {
            clo_heap_push(&d->now, item.key, item.id);
        }
    }
}

static bool is_any_executable(dispatch *d)
{
    return d->by == HRRN ? clo_response_first(&d->waiting, d->clock_ns) != CLO_NONE : d->now.count > 0;
}

static uint32_t choose_by_response(dispatch *d)
{
    uint32_t task = clo_response_first(&d->waiting, d->clock_ns), instance = d->first[task]++;

    if (d->first[task] == d->ready.schedule->graph->first_instance[task + 1])
        clo_response_remove(&d->waiting, task, d->clock_ns);
    return instance;
}

/* The next instance; if its task has more of them, the one behind it stays. */
static uint32_t choose(dispatch *d)
{
    const clo_graph *graph = d->ready.schedule->graph;

    if (d->by == HRRN)
        return choose_by_response(d);
    uint32_t instance = (uint32_t)d->now.items[0].id;
    if (instance + 1 < graph->first_instance[graph->task_of[instance] + 1])
        d->now.items[0].id++; /* still before all others of its key: ids of a task lie together */
    else
        (void)clo_heap_pop(&d->now);
    return instance;
}

static clo_status place(dispatch *d, uint32_t instance)
{
    clo_schedule *schedule = d->ready.schedule;
    uint32_t first_execution = schedule->count;

    if (!d->with_deft)
        return clo_ready_place(&d->ready, instance, clo_ready_earliest(&d->ready, instance, true));
    clo_status status = clo_deft_place(schedule, instance);
    if (status == CLO_OK)
        clo_ready_placed(&d->ready, instance, first_execution);
    return status;
}

/* Ends: each round places an instance, or moves the clock to where something becomes executable or an executor idle. */
static clo_status run(dispatch *d)
{
    const clo_graph *graph = d->ready.schedule->graph;
    clo_status status = CLO_OK;

    for (uint32_t placed = 0; status == CLO_OK && placed < graph->instances;) {
        take_released(d);
        take_executable(d);
        int64_t idle_ns = clo_ready_first_idle_ns(&d->ready);
        bool is_any = is_any_executable(d);
        if (is_any && idle_ns <= d->clock_ns) {
            status = place(d, choose(d));
            placed++;
            continue;
        }
        int64_t next_ns = is_any ? idle_ns : INT64_MAX;
        if (d->ready.heap.count > 0 && d->ready.heap.items[0].key < next_ns)
            next_ns = d->ready.heap.items[0].key;
        assert(next_ns > d->clock_ns);
        assert(next_ns < INT64_MAX); /* an acyclic graph always has an instance whose parents are placed */
        d->clock_ns = next_ns;
    }
    return status;
}

static clo_status fill(clo_schedule *schedule, rule by, bool with_deft)
{
    dispatch d = {.by = by, .with_deft = with_deft};
    uint32_t tasks = schedule->graph->tasks;
    clo_status status = clo_ready_open(&d.ready, schedule);
    if (status != CLO_OK)
        return status;

    d.now.items = clo_allocate(tasks, sizeof *d.now.items);
    d.now.capacity = tasks;
    d.rank_ns = clo_allocate(by == HIGHRANK ? tasks : 0, sizeof *d.rank_ns);
    d.first = clo_allocate(by == HRRN ? tasks : 0, sizeof *d.first);
    if (d.now.items == NULL || d.rank_ns == NULL || d.first == NULL)
        status = clo_fail_memory("a plan");
    else if (by == HRRN)
        status = clo_response_open(&d.waiting, schedule->cost);
    if (status == CLO_OK) {
        if (by == HIGHRANK)
            clo_cost_rank_u(schedule->cost, d.rank_ns);
        status = run(&d);
    }
    clo_free(d.now.items);
    clo_free(d.rank_ns);
    clo_free(d.first);
    clo_response_close(&d.waiting);
    clo_ready_close(&d.ready);
    return status == CLO_OK && with_deft ? clo_schedule_compact(schedule) : status;
}

static clo_status fifo_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    (void)config;
    return fill(schedule, FIFO, false);
}

static clo_status fifo_deft_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    (void)config;
    return fill(schedule, FIFO, true);
}

static clo_status sjf_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    (void)config;
    return fill(schedule, SJF, false);
}

static clo_status sjf_deft_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    (void)config;
    return fill(schedule, SJF, true);
}

static clo_status hrrn_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    (void)config;
    return fill(schedule, HRRN, false);
}

static clo_status hrrn_deft_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    (void)config;
    return fill(schedule, HRRN, true);
}

static clo_status highrank_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    (void)config;
    return fill(schedule, HIGHRANK, false);
}

static clo_status highrank_deft_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    (void)config;
    return fill(schedule, HIGHRANK, true);
}

const clo_planner clo_planner_fifo = {
    .name = "fifo",
    .summary = "first executable, first placed, where it ends first",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = fifo_fill,
};

const clo_planner clo_planner_sjf = {
    .name = "sjf",
    .summary = "of the executable tasks the shortest, where it ends first",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = sjf_fill,
};

const clo_planner clo_planner_hrrn = {
    .name = "hrrn",
    .summary = "of the executable tasks the one with the highest response ratio, where it ends first",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = hrrn_fill,
};

const clo_planner clo_planner_highrank = {
    .name = "highrank",
    .summary = "of the executable tasks the one with the highest rank_u, where it ends first",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = highrank_fill,
};

const clo_planner clo_planner_fifo_deft = {
    .name = "fifo-deft",
    .summary = "fifo with the allocation of deft",
    .size = sizeof(clo_planner),
    .executions_each = 2,
    .fill = fifo_deft_fill,
};

const clo_planner clo_planner_sjf_deft = {
    .name = "sjf-deft",
    .summary = "sjf with the allocation of deft",
    .size = sizeof(clo_planner),
    .executions_each = 2,
    .fill = sjf_deft_fill,
};

const clo_planner clo_planner_hrrn_deft = {
    .name = "hrrn-deft",
    .summary = "hrrn with the allocation of deft",
    .size = sizeof(clo_planner),
    .executions_each = 2,
    .fill = hrrn_deft_fill,
};

const clo_planner clo_planner_highrank_deft = {
    .name = "highrank-deft",
    .summary = "highrank with the allocation of deft",
    .size = sizeof(clo_planner),
    .executions_each = 2,
    .fill = highrank_deft_fill,
};
