#include "plan/schedule/schedule.h"

#include "base/carve.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/order/sort_keys.h"
#include "base/status.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Which resources some task demands: the others need no occupancy. */
static void find_demanded(const clo_graph *graph, bool *is_demanded)
{
    for (uint32_t t = 0; t < graph->tasks; t++)
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX && clo_graph_has_demand(graph, t); r++)
            is_demanded[r] |= clo_graph_demand(graph, t)[r] > 0;
}

/* How long a task with a demand takes at least and at most; both 0: none takes time. */
static void find_range(const clo_cost *cost, int64_t *shortest_ns, int64_t *longest_ns)
{
    for (uint32_t t = 0; t < cost->graph->tasks; t++)
        for (uint32_t c = 0; c < cost->columns && clo_graph_has_demand(cost->graph, t); c++) {
            int64_t time_ns = cost->time_ns[(size_t)t * cost->columns + c];
            if (time_ns <= 0 || time_ns == CLO_TIME_NEVER)
                continue;
            *shortest_ns = *shortest_ns == 0 || time_ns < *shortest_ns ? time_ns : *shortest_ns;
            *longest_ns = time_ns > *longest_ns ? time_ns : *longest_ns;
        }
}

static clo_status open_profiles(clo_schedule *schedule)
{
    uint32_t machines = schedule->platform->machines_count;
    bool is_demanded[CLO_RESOURCES_MAX] = {false};
    int64_t shortest_ns = 0, longest_ns = 0;

    if (!schedule->graph->has_demands)
        return CLO_OK;
    schedule->occupancies = clo_allocate(machines, sizeof schedule->occupancies[0]);
    schedule->memos = clo_allocate(machines, sizeof schedule->memos[0]);
    if (schedule->occupancies == NULL || schedule->memos == NULL)
        return clo_fail_memory("a plan");
    find_demanded(schedule->graph, is_demanded);
    find_range(schedule->cost, &shortest_ns, &longest_ns);
    for (uint32_t m = 0; m < machines; m++) {
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
            schedule->occupancies[m].limits[r] = is_demanded[r] ? clo_cost_capacity(schedule->cost, m, r) : -1;
        schedule->occupancies[m].shortest_ns = shortest_ns;
        schedule->occupancies[m].longest_ns = longest_ns;
        clo_occupancy_open(&schedule->occupancies[m]);
    }
    return CLO_OK;
}

/* All arrays of fixed size in one block. */
static clo_status open_arrays(clo_schedule *schedule)
{
    size_t n = schedule->graph->instances, p = schedule->executors;
    clo_block block = {0};

    clo_carve(&block, &schedule->executions, schedule->capacity);
    clo_carve(&block, &schedule->first_execution, n);
    clo_carve(&block, &schedule->order, n);
    clo_carve(&block, &schedule->memory, p);
    clo_carve(&block, &schedule->critical, p);
    clo_carve(&block, &schedule->ready_ns, p);
    clo_carve(&block, &schedule->second_ns, p);
    clo_carve(&block, &schedule->row_ns, p);
    clo_carve(&block, &schedule->times_ns, p);
    clo_carve(&block, &schedule->timelines, p);
    schedule->block = clo_block_allocate(&block);
    if (schedule->block == NULL)
        return clo_fail_memory("a plan");
    return CLO_OK;
}

clo_status clo_schedule_open(clo_schedule *schedule, const clo_cost *cost, uint32_t executions_each)
{
    memset(schedule, 0, sizeof *schedule);
    schedule->cost = cost;
    schedule->graph = cost->graph;
    schedule->platform = cost->platform;
    schedule->executors = schedule->platform->executors_count;
    schedule->may_duplicate = true;
    schedule->stop_ns = INT64_MAX;
    uint64_t capacity = (uint64_t)schedule->graph->instances * executions_each;

    if (capacity >= CLO_NONE) /* more than 100 GiB of executions */
        return clo_fail_memory("a plan");
    schedule->capacity = (uint32_t)capacity;
    clo_status status = open_arrays(schedule);
    if (status == CLO_OK)
        status = open_profiles(schedule);
    if (status == CLO_OK)
        status = clo_stages_open(&schedule->stages, schedule->graph, schedule->platform);
    if (status != CLO_OK) {
        clo_schedule_close(schedule);
        return status;
    }
    for (uint32_t e = 0; e < schedule->executors; e++)
        schedule->memory[e] = schedule->platform->executors[e].memory;
    clo_schedule_clear(schedule);
    return CLO_OK;
}

void clo_schedule_close(clo_schedule *schedule)
{
    for (uint32_t e = 0; schedule->timelines != NULL && e < schedule->executors; e++)
        clo_timeline_free(&schedule->timelines[e]);
    for (uint32_t m = 0; schedule->occupancies != NULL && m < schedule->platform->machines_count; m++)
        clo_occupancy_free(&schedule->occupancies[m]);
    clo_stages_close(schedule->stages);
    clo_free(schedule->occupancies);
    clo_free(schedule->memos);
    clo_free(schedule->block);
    memset(schedule, 0, sizeof *schedule);
}

static void forget_machine(clo_schedule *schedule, uint32_t machine)
{
    clo_occupancy_clear(&schedule->occupancies[machine]);
    schedule->memos[machine].task = CLO_NONE;
}

void clo_schedule_clear(clo_schedule *schedule)
{
    for (uint32_t e = 0; e < schedule->executors; e++)
        clo_timeline_clear(&schedule->timelines[e]);
    for (uint32_t m = 0; schedule->occupancies != NULL && m < schedule->platform->machines_count; m++)
        forget_machine(schedule, m);
    if (schedule->stages != NULL)
        clo_stages_clear(schedule->stages, schedule->graph);
    memset(schedule->first_execution, 0xff,
           schedule->graph->instances * sizeof schedule->first_execution[0]); /* CLO_NONE */
    schedule->count = 0;
}

int64_t clo_schedule_makespan_ns(const clo_schedule *schedule)
{
    int64_t latest = 0;

    for (uint32_t c = 0; c < schedule->count; c++)
        if (schedule->executions[c].finish_ns > latest)
            latest = schedule->executions[c].finish_ns;
    return latest;
}

clo_status clo_snapshot_open(clo_snapshot *snapshot, const clo_schedule *schedule)
{
    *snapshot = (clo_snapshot){.makespan_ns = INT64_MAX};
    snapshot->executions = clo_allocate(schedule->capacity, sizeof *snapshot->executions);
    return snapshot->executions == NULL ? clo_fail_memory("a plan") : CLO_OK;
}

void clo_snapshot_close(clo_snapshot *snapshot)
{
    clo_free(snapshot->executions);
    *snapshot = (clo_snapshot){0};
}

bool clo_snapshot_keep(clo_snapshot *snapshot, const clo_schedule *schedule)
{
    int64_t makespan = clo_schedule_makespan_ns(schedule);

    if (makespan >= snapshot->makespan_ns)
        return false;
    memcpy(snapshot->executions, schedule->executions, schedule->count * sizeof *snapshot->executions);
    snapshot->count = schedule->count;
    snapshot->makespan_ns = makespan;
    return true;
}

void clo_snapshot_copy(clo_snapshot *to, const clo_snapshot *from)
{
    memcpy(to->executions, from->executions, from->count * sizeof *to->executions);
    to->count = from->count;
    to->makespan_ns = from->makespan_ns;
}

/* In the order they were placed, so originals come before their replicas. */
clo_status clo_snapshot_restore(const clo_snapshot *snapshot, clo_schedule *schedule)
{
    clo_status status = CLO_OK;

    clo_schedule_clear(schedule);
    for (uint32_t c = 0; c < snapshot->count && status == CLO_OK; c++)
        status = clo_schedule_place(schedule, snapshot->executions[c].instance, snapshot->executions[c].executor,
                                    snapshot->executions[c].start_ns);
    return status;
}

clo_status clo_schedule_order(clo_schedule *schedule)
{
    const clo_graph *graph = schedule->graph;
    clo_sort_key *keys = NULL, *other = NULL;
    int64_t *ranks = NULL;
    clo_block block = {0};

    clo_carve(&block, &keys, graph->instances);
    clo_carve(&block, &other, graph->instances);
    clo_carve(&block, &ranks, graph->tasks);
    void *memory = clo_block_allocate(&block);
    if (memory == NULL)
        return clo_fail_memory("the ranks of a plan");
    clo_cost_rank_u(schedule->cost, ranks);
    for (uint32_t i = 0; i < graph->instances; i++) { /* by falling rank; the sort keeps the order of equal ones */
        uint32_t instance = graph->order[i];
        keys[i] = (clo_sort_key){~clo_sort_key_of(ranks[graph->task_of[instance]]), instance};
    }
    const clo_sort_key *sorted = clo_sort_keys(keys, other, graph->instances);
    for (uint32_t i = 0; i < graph->instances; i++)
        schedule->order[i] = sorted[i].index;
    clo_free(memory);
    return CLO_OK;
}

/* What is known about the machine for `task`. */
static clo_capacity_memo *memo_of(const clo_schedule *schedule, uint32_t task, uint32_t machine)
{
    clo_capacity_memo *memo = &schedule->memos[machine];

    if (memo->task != task)
        memo->task = task, memo->count = memo->next = 0;
    return memo;
}

/* The first start from start_ns on that is not known to be none. */
static int64_t pass_known(const clo_capacity_memo *memo, int64_t start_ns, int64_t duration_ns)
{
    for (uint32_t i = 0; i < memo->count;) { /* ends: start_ns rises, past one more each time */
        const clo_no_start *found = &memo->found[i++];
        if (found->from_ns <= start_ns && start_ns < found->to_ns && found->duration_ns <= duration_ns) {
            start_ns = found->to_ns;
            i = 0;
        }
    }
    return start_ns;
}

/* clo_occupancy_earliest_ns for a task on a machine. A planner asks for one executor after another, and mostly they would
 * all pass the same steps: so what is passed is written down. */
static int64_t earliest_ns(const clo_schedule *schedule, uint32_t task, uint32_t machine, int64_t start_ns,
                           int64_t duration_ns, int64_t latest_ns)
{
    clo_capacity_memo *memo = memo_of(schedule, task, machine);
    int64_t from_ns = pass_known(memo, start_ns, duration_ns);

    if (from_ns >= latest_ns)
        return from_ns;
    int64_t found_ns = clo_occupancy_earliest_ns(&schedule->occupancies[machine], from_ns, duration_ns, latest_ns,
                                                 clo_graph_demand(schedule->graph, task));
    int64_t to_ns = found_ns < latest_ns ? found_ns : latest_ns;
    if (to_ns > from_ns) {
        memo->found[memo->next] = (clo_no_start){from_ns, to_ns, duration_ns};
        memo->next = (memo->next + 1) % CLO_NO_STARTS;
        memo->count += memo->count < CLO_NO_STARTS;
    }
    return found_ns;
}

/* For one machine: see the header. */
static void raise_starts_on(clo_schedule *schedule, uint32_t task, uint32_t machine, int64_t *from_ns)
{
    const clo_executor *executors = schedule->platform->executors;
    int64_t least_ns = INT64_MAX, shortest_ns = INT64_MAX;

    for (uint32_t e = 0; e < schedule->executors; e++) {
        if (executors[e].machine != machine || from_ns[e] == INT64_MAX)
            continue;
        int64_t duration_ns = clo_cost_time(schedule->cost, task, e);
        least_ns = from_ns[e] < least_ns ? from_ns[e] : least_ns;
        shortest_ns = duration_ns < shortest_ns ? duration_ns : shortest_ns;
    }
    if (least_ns == INT64_MAX)
        return;
    least_ns = earliest_ns(schedule, task, machine, least_ns, shortest_ns, INT64_MAX);
    for (uint32_t e = 0; e < schedule->executors; e++)
        if (executors[e].machine == machine && from_ns[e] < least_ns)
            from_ns[e] = least_ns;
}

void clo_schedule_raise_starts(clo_schedule *schedule, uint32_t task, int64_t *from_ns)
{
    for (uint32_t m = 0; m < schedule->platform->machines_count; m++)
        raise_starts_on(schedule, task, m, from_ns);
}

int64_t clo_schedule_capacity_ns(const clo_schedule *schedule, uint32_t task, uint32_t machine, int64_t ready_ns,
                                 int64_t duration_ns)
{
    if (!clo_schedule_has_demand(schedule, task))
        return ready_ns;
    return earliest_ns(schedule, task, machine, ready_ns, duration_ns, INT64_MAX);
}

int64_t clo_schedule_slot_before_ns(const clo_schedule *schedule, uint32_t task, uint32_t executor, int64_t ready_ns,
                                    int64_t duration_ns, int64_t latest_ns)
{
    const clo_timeline *timeline = &schedule->timelines[executor];
    int64_t from_ns = ready_ns;

    if (!clo_schedule_has_demand(schedule, task))
        return clo_timeline_find(timeline, ready_ns, duration_ns);
    for (;;) { /* ends: each round moves on, and behind all else both are free */
        int64_t start_ns = clo_timeline_find(timeline, from_ns, duration_ns);
        if (start_ns >= latest_ns)
            return start_ns;
        from_ns = earliest_ns(schedule, task, schedule->platform->executors[executor].machine, start_ns, duration_ns,
                              latest_ns);
        if (from_ns == start_ns || from_ns >= latest_ns)
            return from_ns;
    }
}

int64_t clo_schedule_slot_ns(const clo_schedule *schedule, uint32_t task, uint32_t executor, int64_t ready_ns,
                             int64_t duration_ns)
{
    return clo_schedule_slot_before_ns(schedule, task, executor, ready_ns, duration_ns, INT64_MAX);
}

/* Execution `index` of an instance of `task` was placed, the second one of it or not. */
static void note_in_stage(clo_schedule *schedule, uint32_t task, uint32_t index, bool is_second)
{
    clo_stages *stages = schedule->stages;
    uint32_t instance = schedule->executions[index].instance;

    stages->changed_at[task] = schedule->count;
    if (stages->of[task] == CLO_NONE)
        return;
    clo_stage *stage = &stages->list[stages->of[task]];
    int64_t finish_ns = schedule->executions[index].finish_ns;
    if (schedule->first_execution[instance] == index) {
        int64_t last_ns =
            stage->last == CLO_NONE ? -1 : schedule->executions[schedule->first_execution[stage->last]].finish_ns;
        if (finish_ns > last_ns || (finish_ns == last_ns && instance < stage->last))
            stage->last = instance;
    } else if (is_second && stage->is_sorted) {
        stages->next_again[instance] = stage->again;
        stage->again = instance;
    }
}

clo_status clo_schedule_place(clo_schedule *schedule, uint32_t instance, uint32_t executor, int64_t start_ns)
{
    const clo_graph *graph = schedule->graph;
    uint32_t task = graph->task_of[instance], *first = &schedule->first_execution[instance], at = schedule->count;
    int64_t duration = clo_cost_time(schedule->cost, task, executor), finish = start_ns + duration;

    assert(at < schedule->capacity);
    assert(schedule->may_duplicate || *first == CLO_NONE);
    assert(duration != CLO_TIME_NEVER);
    assert(start_ns >= 0 && finish >= start_ns);
    if (schedule->stop_ns != INT64_MAX && at % CLO_STOP_EVERY == CLO_STOP_EVERY - 1 &&
        clo_clock_ns() >= schedule->stop_ns)
        return CLO_ERR_TIMEOUT;
    if (clo_timeline_reserve(&schedule->timelines[executor], start_ns, finish) != 0)
        return clo_fail_memory("a plan");
    if (clo_schedule_has_demand(schedule, task)) {
        uint32_t machine = schedule->platform->executors[executor].machine;
        if (clo_occupancy_take(&schedule->occupancies[machine], start_ns, finish, clo_graph_demand(graph, task)) != 0)
            return clo_fail_memory("a plan");
    }

    bool is_second = *first != CLO_NONE && schedule->executions[*first].next == CLO_NONE;
    schedule->executions[at] = (clo_execution){start_ns, finish, instance, executor, CLO_NONE};
    schedule->count++;
    if (*first == CLO_NONE) {
        *first = at;
    } else { /* behind the original, which stays first */
        schedule->executions[at].next = schedule->executions[*first].next;
        schedule->executions[*first].next = at;
    }
    if (schedule->stages != NULL)
        note_in_stage(schedule, task, at, is_second);
    return CLO_OK;
}

bool clo_schedule_has_execution(const clo_schedule *schedule, uint32_t instance, uint32_t executor)
{
    for (uint32_t c = schedule->first_execution[instance]; c != CLO_NONE; c = schedule->executions[c].next)
        if (schedule->executions[c].executor == executor)
            return true;
    return false;
}
