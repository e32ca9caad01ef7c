/* plan/list/fcp.c - FCP, fast critical path: Radulescu, van Gemund, "On the Complexity of List Scheduling Algorithms
 * for Distributed-Memory Systems", ICS 1999.
 *
 * Only the first `executors` ready instances are sorted, by falling rank_u; what becomes ready while these places are
 * taken waits first come first served (ties: the lowest id). The instance goes to one of two executors: the one that is
 * idle first, or its enabling executor, from which its last input would come over a mean link; the earlier
 * start wins (ties: the idle one, the lowest). Appended, no gaps are filled.
 *
 * Written for equal executors. As in SAGA, mean times and transfers stand in for them, and the enabling executor is
 * that of the producer which ends last. Beyond the papers: executors that cannot run the task are no candidates, and
 * if neither may the idle one is sought among the others; capacities of machines; instances.
 *
 * O(edges * instances + tasks * (executors + log executors)); the paper keeps executors in a heap too, which masks
 * forbid here. */
#include "plan/schedule/planner.h"

#include "base/memory.h"
#include "base/status.h"
#include "plan/schedule/ready.h"

typedef struct fcp {
    clo_ready ready;
    int64_t *rank_ns; /* [tasks] */
} fcp;

/* The executor of the producer that ends last (ties: the first of them); CLO_NONE for an entry. */
static uint32_t enabling(const clo_schedule *schedule, uint32_t task)
{
    const clo_graph *graph = schedule->graph;
    uint32_t executor = CLO_NONE;
    int64_t latest = -1;

    for (uint32_t edge = graph->in_first[task]; edge < graph->in_first[task + 1]; edge++) {
        uint32_t last = clo_schedule_last_of(schedule, clo_graph_source(graph, edge));
        const clo_execution *execution = &schedule->executions[schedule->first_execution[last]];
        if (execution->finish_ns > latest) {
            latest = execution->finish_ns;
            executor = execution->executor;
        }
    }
    return executor;
}

static clo_slot choose(const clo_ready *ready, uint32_t instance)
{
    const clo_schedule *schedule = ready->schedule;
    uint32_t task = schedule->graph->task_of[instance], other = enabling(schedule, task);
    clo_slot idle = clo_ready_append_on(ready, instance, clo_ready_idle_first(ready, task));

    if (other == CLO_NONE || clo_cost_time(schedule->cost, task, other) == CLO_TIME_NEVER)
        return idle;
    clo_slot enabled = clo_ready_append_on(ready, instance, other);
    return idle.start_ns <= enabled.start_ns ? idle : enabled;
}

/* Fills the sorted places from the queue of what was released. */
static void fill_places(fcp *f)
{
    const clo_schedule *schedule = f->ready.schedule;
    uint32_t instance;

    while (f->ready.heap.count < schedule->executors && clo_ready_next(&f->ready, &instance))
        clo_heap_push(&f->ready.heap, -f->rank_ns[schedule->graph->task_of[instance]], instance);
}

static clo_status fill(clo_schedule *schedule, const clo_plan_config *config)
{
    fcp f;
    clo_status status = clo_ready_open(&f.ready, schedule);
    (void)config;
    if (status != CLO_OK)
        return status;
    f.rank_ns = clo_allocate(schedule->graph->tasks, sizeof *f.rank_ns);
    if (f.rank_ns == NULL)
        status = clo_fail_memory("a plan");
    else
        clo_cost_rank_u(schedule->cost, f.rank_ns);

    while (status == CLO_OK && schedule->count < schedule->graph->instances) { /* ends: some instance is always ready */
        fill_places(&f);
        uint32_t instance = (uint32_t)clo_heap_pop(&f.ready.heap).id;
        status = clo_ready_place(&f.ready, instance, choose(&f.ready, instance));
    }
    clo_free(f.rank_ns);
    clo_ready_close(&f.ready);
    return status;
}

const clo_planner clo_planner_fcp = {
    .name = "fcp",
    .summary = "fast critical path: a bounded sorted queue, two executors to choose from (Radulescu 1999)",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = fill,
};
