/* plan/list/immediate.c - immediate mode: each instance, in topological order, goes where one simple rule says.
 *
 * Maheswaran, Ali, Siegel, Hensgen, Freund, "Dynamic Mapping of a Class of Independent Tasks onto Heterogeneous
 * Computing Systems", JPDC 59(2), 1999, and Braun et al., JPDC 61(6), 2001:
 *
 *   mct          minimum completion time: the executor on which it ends first
 *   met          minimum execution time: the executor on which it takes least, however busy
 *   olb          opportunistic load balancing: the executor that is idle first, however slow
 *   fastestnode  the executor that can run most instances, of these the one on which they take
 *                least together (SAGA's FastestNode)
 *
 * Written for independent tasks; as in SAGA, dependent ones are taken in topological order, start when their inputs are
 * there, and are appended: no gaps are filled. Ties: the lowest executor. Beyond the papers: an executor that cannot
 * run the task is passed over, and a start must fit the machine's capacities. What the fastest executor
 * cannot run goes where it takes least, and `fastestnode`, other than `serial`, does not wait for it. */
#include "plan/schedule/planner.h"

#include "plan/schedule/ready.h"

#include <assert.h>

typedef clo_slot (*rule)(clo_ready *ready, uint32_t instance, uint32_t favourite);

static clo_slot by_completion(clo_ready *ready, uint32_t instance, uint32_t favourite)
{
    (void)favourite;
    return clo_ready_earliest(ready, instance, false);
}

static clo_slot by_execution(clo_ready *ready, uint32_t instance, uint32_t favourite)
{
    const clo_schedule *schedule = ready->schedule;
    uint32_t task = schedule->graph->task_of[instance], best = CLO_NONE;
    int64_t least = INT64_MAX;

    (void)favourite;
    for (uint32_t e = 0; e < schedule->executors; e++) {
        int64_t duration = clo_cost_time(schedule->cost, task, e);
        if (duration == CLO_TIME_NEVER || duration >= least)
            continue;
        least = duration;
        best = e;
    }
    return clo_ready_append_on(ready, instance, best);
}

static clo_slot by_idleness(clo_ready *ready, uint32_t instance, uint32_t favourite)
{
    (void)favourite;
    return clo_ready_append_on(ready, instance, clo_ready_idle_first(ready, ready->schedule->graph->task_of[instance]));
}

static clo_slot on_favourite(clo_ready *ready, uint32_t instance, uint32_t favourite)
{
    const clo_schedule *schedule = ready->schedule;

    if (clo_cost_time(schedule->cost, schedule->graph->task_of[instance], favourite) == CLO_TIME_NEVER)
        return by_execution(ready, instance, favourite);
    return clo_ready_append_on(ready, instance, favourite);
}

static clo_status place_all(clo_schedule *schedule, rule choose, uint32_t favourite)
{
    clo_ready ready;
    clo_status status = clo_ready_open(&ready, schedule);
    if (status != CLO_OK)
        return status;

    for (uint32_t i = 0; status == CLO_OK && i < schedule->graph->instances; i++) {
        uint32_t instance = schedule->graph->order[i];
        clo_slot slot = choose(&ready, instance, favourite);
        assert(slot.executor != CLO_NONE);
        status = clo_ready_place(&ready, instance, slot);
    }
    clo_ready_close(&ready);
    return status;
}

static clo_status mct_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    (void)config;
    return place_all(schedule, by_completion, CLO_NONE);
}

static clo_status met_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    (void)config;
    return place_all(schedule, by_execution, CLO_NONE);
}

static clo_status olb_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    (void)config;
    return place_all(schedule, by_idleness, CLO_NONE);
}

/* The executor that can run the most instances (ties: in the least time, then the lowest). The sums fit: see
 * clo_cost_create. */
static uint32_t find_fastest(const clo_schedule *schedule)
{
    uint32_t best = 0, most = 0;
    int64_t least = 0;

    for (uint32_t e = 0; e < schedule->executors; e++) {
        uint32_t count = 0;
        int64_t time = 0;
        for (uint32_t t = 0; t < schedule->graph->tasks; t++) {
            int64_t each = clo_cost_time(schedule->cost, t, e);
            if (each == CLO_TIME_NEVER)
                continue;
            count += schedule->graph->rows[t].instances;
            time += each * schedule->graph->rows[t].instances;
        }
        if (count > most || (count == most && time < least)) {
            best = e;
            most = count;
            least = time;
        }
    }
    return best;
}

static clo_status fastestnode_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    (void)config;
    return place_all(schedule, on_favourite, find_fastest(schedule));
}

const clo_planner clo_planner_mct = {
    .name = "mct",
    .summary = "in topological order, where each task ends first (Maheswaran 1999)",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = mct_fill,
};

const clo_planner clo_planner_met = {
    .name = "met",
    .summary = "in topological order, where each task takes least, however busy (Maheswaran 1999)",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = met_fill,
};

const clo_planner clo_planner_olb = {
    .name = "olb",
    .summary = "in topological order, where an executor is idle first, however slow (Maheswaran 1999)",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = olb_fill,
};

const clo_planner clo_planner_fastestnode = {
    .name = "fastestnode",
    .summary = "everything on the fastest executor",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = fastestnode_fill,
};
