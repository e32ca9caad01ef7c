/* gantt_cycle.c - unrolls a plan with an interval: as many releases as are in flight, and two more. */
#include "report/gantt_cycle.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "plan/plan.h"

#include <clotho/pipeline.h>

#include <stdlib.h>

enum { EXECUTIONS_MAX = 1 << 18 }; /* of a picture; the first release is always shown */

typedef struct unrolled {
    clo_placement placement;
    uint32_t release;
} unrolled;

static int by_start(const void *left, const void *right)
{
    const unrolled *a = left, *b = right;

    if (a->placement.start_ns != b->placement.start_ns)
        return a->placement.start_ns < b->placement.start_ns ? -1 : 1;
    if (a->placement.finish_ns != b->placement.finish_ns)
        return a->placement.finish_ns < b->placement.finish_ns ? -1 : 1;
    return a->release < b->release ? -1 : a->release > b->release;
}

static uint32_t releases_shown(const clo_plan *plan)
{
    size_t room = plan->count > 0 ? EXECUTIONS_MAX / plan->count : 1;
    uint32_t wanted = clo_plan_in_flight(plan);

    wanted = wanted < 62 ? wanted + 2 : 64;
    if (plan->interval_ns > INT64_MAX / 256 || room == 0)
        return 1;
    return wanted < room ? wanted : (uint32_t)room;
}

clo_status clo_gantt_cycle_open(const clo_plan *plan, const clo_cost *cost, clo_gantt *chart, void **kept)
{
    uint32_t releases = releases_shown(plan), *release;
    size_t count = plan->count * releases;
    clo_interval_bound bound = CLO_INTERVAL_BOUND_INIT;
    clo_gantt_cycle *cycle;
    clo_placement *placements;
    clo_block block = {0};
    unrolled *rows = clo_allocate(count, sizeof *rows);

    clo_carve(&block, &cycle, 1);
    clo_carve(&block, &placements, count);
    clo_carve(&block, &release, count);
    *kept = rows != NULL ? clo_block_allocate(&block) : NULL;
    clo_status status = *kept != NULL ? clo_cost_interval_bound(cost, &bound) : clo_fail_memory("a Gantt chart");
    for (size_t i = 0; i < count && status == CLO_OK; i++) {
        uint32_t r = (uint32_t)(i / plan->count);
        rows[i] = (unrolled){plan->placements[i % plan->count], r};
        rows[i].placement.start_ns = clo_time_add(rows[i].placement.start_ns, r * plan->interval_ns);
        rows[i].placement.finish_ns = clo_time_add(rows[i].placement.finish_ns, r * plan->interval_ns);
    }
    if (status == CLO_OK) {
        qsort(rows, count, sizeof *rows, by_start);
        *cycle = (clo_gantt_cycle){plan->interval_ns,        bound.best_ns, plan->makespan_ns,
                                   clo_plan_in_flight(plan), releases,      release};
        chart->cycle = cycle;
        chart->placements = placements;
        chart->count = count;
        chart->makespan_ns = clo_time_add(plan->makespan_ns, (releases - 1) * plan->interval_ns);
        chart->bound_ns = 0; /* of one release alone; the interval has one of its own */
    }
    for (size_t i = 0; i < count && status == CLO_OK; i++) {
        placements[i] = rows[i].placement;
        release[i] = rows[i].release;
    }
    clo_free(rows);
    return status;
}
