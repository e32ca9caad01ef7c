/* measured.c - the public calls for the measured times of a graph's tasks. */
#include <clotho/waves.h>

#include "base/status.h"
#include "graph/graph.h"

static clo_status check(const clo_graph *graph, uint32_t task, clo_wave wave, uint32_t level, const int64_t *times_ns,
                        size_t count)
{
    clo_status status = clo_graph_check_task(graph, task, "add measured times");

    if (status != CLO_OK)
        return status;
    if ((unsigned)wave > CLO_WAVE_REST || level == 0 || (times_ns == NULL && count > 0))
        return clo_fail(CLO_ERR_ARGUMENT, "task %u: wave %d at level %u; give a clo_wave, a level >= 1 and the times",
                        task, (int)wave, level);
    if (clo_graph_grain_of(graph, task).size > 1)
        return clo_fail(CLO_ERR_ARGUMENT, "task %u: it has a grain, but times are measured of single instances", task);
    for (size_t i = 0; i < count; i++)
        if (times_ns[i] < 0)
            return clo_fail(CLO_ERR_ARGUMENT, "task %u: measured time %zu is %lld; give a number >= 0", task, i,
                            (long long)times_ns[i]);
    return CLO_OK;
}

clo_status clo_graph_add_wave(clo_graph *graph, uint32_t task, clo_wave wave, uint32_t level, const int64_t *times_ns,
                              size_t count)
{
    if (graph == NULL)
        return clo_fail_null("clo_graph_add_wave", "graph");
    clo_status status = check(graph, task, wave, level, times_ns, count);
    if (status != CLO_OK)
        return status;
    if (graph->waves == NULL && (graph->waves = clo_graph_waves_create()) == NULL)
        return clo_fail_memory("measured times");
    return clo_graph_waves_add(graph->waves, task, wave, level, times_ns, count);
}

/* The graph has some, and is sealed; and the task exists. */
static bool has_waves(const clo_graph *graph, uint32_t task)
{
    return graph != NULL && graph->sealed && graph->waves != NULL && task < graph->tasks;
}

uint32_t clo_graph_wave_levels(const clo_graph *graph, uint32_t task)
{
    return has_waves(graph, task) ? clo_graph_waves_levels(graph->waves, task) : 0;
}

uint32_t clo_graph_wave_level(const clo_graph *graph, uint32_t task, uint32_t k)
{
    return has_waves(graph, task) ? clo_graph_waves_level(graph->waves, task, k) : 0;
}

const int64_t *clo_graph_wave_times(const clo_graph *graph, uint32_t task, uint32_t k, clo_wave wave, uint32_t *count)
{
    uint32_t found = 0;
    const int64_t *times_ns =
        has_waves(graph, task) ? clo_graph_waves_times(graph->waves, task, k, wave, &found) : NULL;

    if (count != NULL)
        *count = found;
    return times_ns;
}
