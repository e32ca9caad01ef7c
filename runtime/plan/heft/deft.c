/* plan/heft/deft.c - DEFT: earliest finish time with duplication of one parent; LACHESIS ("Learning to Optimize
 * DAG Scheduling in Heterogeneous Environment"), equations (9) to (11), in the order of rank_u.
 *
 * Where the paper is vague:
 *   - The duplicate needs its own inputs: it starts when the nearest executions of its parents have reached the
 *     executor. One level only, at most one parent for each placement.
 *   - Only the critical parent (latest arrival) is tried. Duplicating another one leaves the latest arrival where
 *     it is and takes time on the executor, so it cannot help; a test compares with all parents.
 *   - No tentative reservation: the task starts no earlier than its duplicate ends, so a search from
 *     there never looks at the duplicate's time.
 *   - Ties: without a duplicate first, then the lowest executor.
 * Only tasks declared duplicable are duplicated. The clean-up of the end is schedule/compact.c.
 *
 * deft-append fills no gaps: an execution goes behind the last one on its executor. Only the clean-up may move it
 * before.
 *
 * O(executors * parents) a placement, plus the searches in the timelines. */
#include "plan/heft/deft.h"
#include "plan/heft/chain.h"
#include "plan/schedule/compact.h"
#include "plan/schedule/planner.h"

#include "plan/schedule/ready.h"

#include <assert.h>

/* available_ns: NULL: gaps are filled; else when the last execution on each executor ends, and nothing goes before
 * that. */
typedef struct site {
    clo_schedule *schedule;
    const int64_t *available_ns;
} site;

typedef struct candidate {
    int64_t start_ns, finish_ns;
    uint32_t executor;
    uint32_t duplicate; /* instance to execute once more before; CLO_NONE: none */
    int64_t duplicate_start_ns;
} candidate;

static int64_t slot_ns(const site *s, uint32_t task, uint32_t executor, int64_t ready, int64_t duration)
{
    if (s->available_ns != NULL && s->available_ns[executor] > ready)
        ready = s->available_ns[executor];
    return clo_schedule_slot_ns(s->schedule, task, executor, ready, duration);
}

static bool is_better(const candidate *a, const candidate *b)
{
    if (a->finish_ns != b->finish_ns)
        return a->finish_ns < b->finish_ns;
    return a->duplicate == CLO_NONE && b->duplicate != CLO_NONE;
}

static void try_plain(const site *s, uint32_t task, uint32_t executor, candidate *best)
{
    const clo_schedule *schedule = s->schedule;
    int64_t duration = clo_cost_time(schedule->cost, task, executor), ready = schedule->ready_ns[executor];

    if (duration == CLO_TIME_NEVER || ready + duration > best->finish_ns)
        return;
    int64_t start = slot_ns(s, task, executor, ready, duration);
    candidate found = {start, start + duration, executor, CLO_NONE, 0};
    if (is_better(&found, best))
        *best = found;
}

static void try_duplicate(const site *s, uint32_t task, uint32_t executor, candidate *best)
{
    const clo_schedule *schedule = s->schedule;
    uint32_t parent = schedule->critical[executor]; /* none can help on a tie of ready_ns and second_ns */
    int64_t duration = clo_cost_time(schedule->cost, task, executor), second = schedule->second_ns[executor];

    if (parent == CLO_NONE || duration == CLO_TIME_NEVER || second >= schedule->ready_ns[executor] ||
        second + duration >= best->finish_ns)
        return;
    uint32_t parent_task = schedule->graph->task_of[parent];
    int64_t parent_duration = clo_cost_time(schedule->cost, parent_task, executor);
    if (!schedule->may_duplicate || !schedule->graph->rows[parent_task].duplicable ||
        parent_duration == CLO_TIME_NEVER || clo_schedule_has_execution(schedule, parent, executor))
        return;

    int64_t parent_start =
        slot_ns(s, parent_task, executor, clo_schedule_inputs_ns(schedule, parent, executor), parent_duration);
    int64_t ready = parent_start + parent_duration;
    if (ready >= schedule->ready_ns[executor])
        return; /* no earlier than the data that travel */
    if (second > ready)
        ready = second;
    int64_t start = slot_ns(s, task, executor, ready, duration);
    candidate found = {start, start + duration, executor, parent, parent_start};
    if (is_better(&found, best))
        *best = found;
}

static clo_status commit(clo_schedule *schedule, uint32_t instance, const candidate *chosen)
{
    clo_status status = CLO_OK;

    if (chosen->duplicate != CLO_NONE)
        status = clo_schedule_place(schedule, chosen->duplicate, chosen->executor, chosen->duplicate_start_ns);
    return status == CLO_OK ? clo_schedule_place(schedule, instance, chosen->executor, chosen->start_ns) : status;
}

clo_status clo_deft_place_behind(clo_schedule *schedule, uint32_t instance, const int64_t *available_ns)
{
    const site s = {schedule, available_ns};
    uint32_t task = schedule->graph->task_of[instance];
    candidate best = {0, INT64_MAX, CLO_NONE, CLO_NONE, 0};

    clo_schedule_find_critical(schedule, instance);
    for (uint32_t e = 0; e < schedule->executors; e++) {
        try_plain(&s, task, e, &best);
        try_duplicate(&s, task, e, &best);
    }
    assert(best.executor != CLO_NONE); /* a cost exists only if every task has an executor */
    return commit(schedule, instance, &best);
}

clo_status clo_deft_place_on(clo_schedule *schedule, uint32_t instance, uint32_t executor)
{
    const site s = {schedule, NULL};
    uint32_t task = schedule->graph->task_of[instance];
    candidate best = {0, INT64_MAX, CLO_NONE, CLO_NONE, 0};
    clo_inputs inputs = clo_schedule_inputs(schedule, instance, executor);

    schedule->ready_ns[executor] = inputs.latest_ns;
    schedule->second_ns[executor] = inputs.second_ns;
    schedule->critical[executor] = inputs.producer;
    try_plain(&s, task, executor, &best);
    if (schedule->may_duplicate)
        try_duplicate(&s, task, executor, &best);
    assert(best.executor == executor);
    return commit(schedule, instance, &best);
}

clo_status clo_deft_place(clo_schedule *schedule, uint32_t instance)
{
    return clo_deft_place_behind(schedule, instance, NULL);
}

clo_status clo_deft_place_ordered(clo_schedule *schedule)
{
    clo_status status = CLO_OK;

    assert(schedule->count == 0);
    for (uint32_t i = 0; status == CLO_OK && i < schedule->graph->instances; i++)
        status = clo_deft_place(schedule, schedule->order[i]);
    return status;
}

clo_status clo_deft_place_all(clo_schedule *schedule)
{
    clo_status status = clo_schedule_order(schedule);

    return status == CLO_OK ? clo_deft_place_ordered(schedule) : status;
}

static clo_status deft_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    clo_status status = config->argument != NULL ? clo_schedule_order_by_keys(schedule, config->argument)
                                                 : clo_schedule_order(schedule);

    if (status == CLO_OK)
        status = clo_deft_place_ordered(schedule);
    return status == CLO_OK ? clo_schedule_compact(schedule) : status;
}

static clo_status deft_append_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    clo_ready ready;
    clo_status status = clo_ready_open(&ready, schedule);
    (void)config;
    if (status != CLO_OK)
        return status;

    status = clo_schedule_order(schedule);
    for (uint32_t i = 0; status == CLO_OK && i < schedule->graph->instances; i++) {
        uint32_t instance = schedule->order[i], first_execution = schedule->count;
        status = clo_deft_place_behind(schedule, instance, ready.available_ns);
        if (status == CLO_OK)
            clo_ready_placed(&ready, instance, first_execution);
    }
    clo_ready_close(&ready);
    return status == CLO_OK ? clo_schedule_compact(schedule) : status;
}

const clo_planner clo_planner_deft = {
    .name = "deft",
    .summary = "HEFT that duplicates the critical parent where that helps (LACHESIS)",
    .size = sizeof(clo_planner),
    .executions_each = 2,
    .fill = deft_fill,
    .takes = CLO_PLANNER_KEYS,
};

const clo_planner clo_planner_deft_append = {
    .name = "deft-append",
    .summary = "DEFT that fills no gaps",
    .size = sizeof(clo_planner),
    .executions_each = 2,
    .fill = deft_append_fill,
};
