/* measured.c - a cost with the times of a snapshot: location, and some spread on top of it. */
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "cost/cost.h"
#include "profile/times.h"

#include <string.h>

__extension__ typedef __int128 wide;

typedef struct source {
    clo_profile_times times;
    uint32_t spreads_q16;
} source;

static const clo_profile_time *time_at(const source *s, uint32_t task, uint32_t kind)
{
    return &s->times.of[(size_t)task * clo_platform_kinds(s->times.platform) + kind];
}

static int64_t time_ns(const void *of, uint32_t task, uint32_t kind)
{
    const source *s = of;
    const clo_profile_time *time = time_at(s, task, kind);

    if (time->basis == CLO_TIME_TYPED)
        return -1;
    wide above = ((wide)time->spread_ns * s->spreads_q16 + 32768) >> 16;
    int64_t ns = clo_time_add(time->location_ns, above > INT64_MAX / 4 ? INT64_MAX / 4 : (int64_t)above);
    return ns > 0 ? ns : 1;
}

/* The worst basis of a task, over the kinds on which the cost lets it run. */
static clo_time_basis worst_of(const source *s, const clo_cost *cost, uint32_t task)
{
    clo_time_basis worst = CLO_TIME_MEASURED;

    for (uint32_t c = 0; c < cost->columns; c++) {
        uint32_t kind = cost->platform->executors[cost->column_first[c]].kind;
        clo_time_basis basis = time_at(s, task, kind)->basis;
        if (cost->time_ns[(size_t)task * cost->columns + c] != CLO_TIME_NEVER && basis > worst)
            worst = basis;
    }
    return worst;
}

clo_status clo_cost_create_measured(const clo_graph *graph, const clo_platform *platform, const clo_profile *profile,
                                    clo_measured *measured, clo_cost **out)
{
    if (graph == NULL || platform == NULL || profile == NULL || out == NULL)
        return clo_fail_null("clo_cost_create_measured", "graph, platform, profile or out");
    clo_measured mine = CLO_MEASURED_INIT;
    source s;
    const clo_cost_times times = {&s, time_ns};
    clo_status status = clo_config_read(&mine, sizeof mine, measured, "clo_measured");

    if (status != CLO_OK || !graph->sealed)
        return status != CLO_OK ? status : clo_cost_create(graph, platform, out); /* which says why */
    s.spreads_q16 = mine.spreads_q16;
    status = clo_profile_times_open(&s.times, graph, platform, profile);
    if (status != CLO_OK)
        return status;
    memset(mine.tasks_by, 0, sizeof mine.tasks_by);
    mine.snapshot = s.times.snapshot;
    status = clo_cost_create_from(graph, platform, &times, out);
    if (status == CLO_OK)
        (*out)->snapshot = mine.snapshot;
    for (uint32_t t = 0; status == CLO_OK && t < graph->tasks; t++)
        mine.tasks_by[worst_of(&s, *out, t)]++;
    if (status == CLO_OK)
        clo_result_write(measured, &mine, sizeof mine);
    clo_profile_times_close(&s.times);
    return status;
}
