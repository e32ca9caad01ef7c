/* plan/rcpsp/schedule.c - schedules of packings as objects, and the way from one to a plan. */
#include "plan/rcpsp/problem.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/order/sort.h"
#include "base/status.h"
#include "plan/schedule/arrivals.h"

#include <string.h>

clo_status clo_packing_open(clo_packing *packing, const clo_rcpsp *problem)
{
    clo_packing opened = {.makespan_ns = INT64_MAX};
    clo_block block = {0};

    clo_carve(&block, &opened.start_ns, problem->tasks);
    clo_carve(&block, &opened.machine, problem->tasks);
    opened.memory = clo_block_allocate(&block);
    if (opened.memory == NULL)
        return clo_fail_memory("a plan");
    *packing = opened;
    return CLO_OK;
}

void clo_packing_close(clo_packing *packing)
{
    clo_free(packing->memory);
    *packing = (clo_packing){0};
}

void clo_packing_copy(const clo_rcpsp *problem, clo_packing *to, const clo_packing *from)
{
    to->makespan_ns = from->makespan_ns;
    memcpy(to->start_ns, from->start_ns, problem->tasks * sizeof *to->start_ns);
    memcpy(to->machine, from->machine, problem->tasks * sizeof *to->machine);
}

typedef struct start_row {
    int64_t start_ns;
    uint32_t position, instance;
} start_row;

static int by_start(const void *left, const void *right)
{
    const start_row *a = left, *b = right;

    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return a->position < b->position ? -1 : a->position > b->position;
}

/* On the executor of `machine` where it ends first; the lowest on a tie. All of them take the same time. */
static clo_status place(const clo_rcpsp *problem, clo_schedule *schedule, uint32_t instance, uint32_t machine)
{
    uint32_t task = schedule->graph->task_of[instance], best = CLO_NONE;
    int64_t ready = clo_schedule_producers_ns(schedule, instance), best_start = INT64_MAX;
    int64_t duration = problem->time_ns[(size_t)machine * problem->tasks + instance];
    ready = clo_schedule_capacity_ns(schedule, task, machine, ready, duration); /* no executor can do better */
    for (uint32_t e = 0; e < schedule->executors && best_start > ready; e++) {
        if (schedule->platform->executors[e].machine != machine)
            continue;
        int64_t start = clo_schedule_slot_ns(schedule, task, e, ready, duration);
        if (start < best_start) {
            best_start = start;
            best = e;
        }
    }
    return clo_schedule_place(schedule, instance, best, best_start);
}

clo_status clo_rcpsp_realise(const clo_rcpsp *problem, const clo_packing *packing, int direction,
                             clo_schedule *schedule)
{
    start_row *rows = clo_allocate(problem->tasks, sizeof *rows);
    clo_status status = CLO_OK;

    if (rows == NULL)
        return clo_fail_memory("a plan");
    for (uint32_t i = 0; i < problem->tasks; i++) {
        uint32_t v = problem->graph->order[i];
        int64_t start = direction == CLO_RCPSP_FORWARD
                            ? packing->start_ns[v]
                            : packing->makespan_ns - clo_rcpsp_finish_ns(problem, packing, v);
        rows[i] = (start_row){start, i, v};
    }
    clo_sort(rows, problem->tasks, sizeof *rows, by_start);
    for (uint32_t i = 0; status == CLO_OK && i < problem->tasks; i++)
        status = place(problem, schedule, rows[i].instance, packing->machine[rows[i].instance]);
    clo_free(rows);
    return status;
}
