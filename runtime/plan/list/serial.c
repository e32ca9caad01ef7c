/* plan/list/serial.c - one task after another, on few executors: the baseline of speedup.
 *
 * Where one executor can run everything, it is the one with the least total time. Else executors are added by the
 * greedy rule of set cover: the one that can run the most of what is left (ties: least time, then lowest). That can be
 * more of them than needed. */
#include "plan/schedule/planner.h"

#include "plan/schedule/arrivals.h"

#include "base/memory.h"
#include "base/status.h"

#include <assert.h>

/* The best executor for the tasks that have no owner yet. The sums cannot overflow: clo_cost_create checks the sum of
 * the longest times. */
static uint32_t best_executor(const clo_schedule *schedule, const uint32_t *owner)
{
    uint32_t best = CLO_NONE, best_tasks = 0;
    int64_t best_time = 0;

    for (uint32_t e = 0; e < schedule->executors; e++) {
        uint32_t tasks = 0;
        int64_t time = 0;
        for (uint32_t t = 0; t < schedule->graph->tasks; t++) {
            int64_t each = owner[t] == CLO_NONE ? clo_cost_time(schedule->cost, t, e) : CLO_TIME_NEVER;
            if (each == CLO_TIME_NEVER)
                continue;
            tasks++;
            time += each * schedule->graph->rows[t].instances;
        }
        if (tasks > best_tasks || (tasks == best_tasks && tasks > 0 && time < best_time)) {
            best = e;
            best_tasks = tasks;
            best_time = time;
        }
    }
    return best;
}

/* Gives every task an owner. Ends: a cost exists only if every task has an executor, so each round serves one. */
static void choose_owners(const clo_schedule *schedule, uint32_t *owner)
{
    uint32_t left = schedule->graph->tasks;

    for (uint32_t t = 0; t < schedule->graph->tasks; t++)
        owner[t] = CLO_NONE;
    while (left > 0) {
        uint32_t chosen = best_executor(schedule, owner);
        assert(chosen != CLO_NONE);
        for (uint32_t t = 0; t < schedule->graph->tasks; t++) {
            if (owner[t] != CLO_NONE || clo_cost_time(schedule->cost, t, chosen) == CLO_TIME_NEVER)
                continue;
            owner[t] = chosen;
            left--;
        }
    }
}

static clo_status fill(clo_schedule *schedule, const clo_plan_config *config)
{
    (void)config;
    assert(schedule->count == 0);
    const clo_graph *graph = schedule->graph;
    uint32_t *owner = clo_allocate(graph->tasks, sizeof *owner);
    int64_t clock = 0;

    if (owner == NULL)
        return clo_fail_memory("a plan");
    clo_status status = CLO_OK;
    choose_owners(schedule, owner);
    for (uint32_t i = 0; status == CLO_OK && i < graph->instances; i++) {
        uint32_t instance = graph->order[i], executor = owner[graph->task_of[instance]];
        int64_t ready = clo_schedule_inputs_ns(schedule, instance, executor), start = ready > clock ? ready : clock;
        status = clo_schedule_place(schedule, instance, executor, start);
        clock = status == CLO_OK ? schedule->executions[schedule->count - 1].finish_ns : clock;
    }
    clo_free(owner);
    return status;
}

const clo_planner clo_planner_serial = {
    .name = "serial",
    .summary = "one task after another on the best single executor: the baseline of speedup",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = fill,
};
