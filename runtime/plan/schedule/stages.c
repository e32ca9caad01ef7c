#include "plan/schedule/stages.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/status.h"

#include <string.h>

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Sizes of what follows. */
typedef struct sizes {
    uint32_t stages, instances_max;
    size_t groups;
} sizes;

static sizes measure(const clo_graph *graph, uint32_t classes)
{
    sizes found = {0};

    for (uint32_t t = 0; t < graph->tasks; t++) {
        uint32_t instances = clo_graph_instances_of(graph, t);
        if (instances == 1)
            continue;
        found.stages++;
        found.groups += least(instances, classes);
        found.instances_max = instances > found.instances_max ? instances : found.instances_max;
    }
    return found;
}

static void number_stages(clo_stages *stages, const clo_graph *graph, uint32_t classes)
{
    uint32_t first = 0;

    for (uint32_t t = 0; t < graph->tasks; t++) {
        uint32_t instances = clo_graph_instances_of(graph, t);
        stages->of[t] = CLO_NONE;
        if (instances == 1)
            continue;
        stages->of[t] = stages->count;
        stages->list[stages->count++].first = first;
        first += least(instances, classes);
    }
}

static clo_status fill(clo_stages *stages, const clo_graph *graph, uint32_t executors, uint32_t classes)
{
    sizes size = measure(graph, classes);
    int64_t *longs = NULL;
    uint32_t *ids = NULL;
    clo_block block = {0};

    clo_carve(&block, &stages->of, graph->tasks);
    clo_carve(&block, &stages->changed_at, graph->tasks);
    clo_carve(&block, &stages->list, size.stages);
    clo_carve(&block, &stages->groups, size.groups);
    stages->groups_count = size.groups;
    clo_carve(&block, &stages->next, graph->instances);
    clo_carve(&block, &stages->next_again, graph->instances);
    clo_carve(&block, &stages->items, size.instances_max);
    clo_carve(&block, &stages->row_ns, executors);
    clo_carve(&block, &longs, 2 * (size_t)CLO_STAGE_ROWS * executors);
    clo_carve(&block, &ids, (size_t)CLO_STAGE_ROWS * executors);
    stages->block = clo_block_allocate(&block);
    if (stages->block == NULL)
        return clo_fail_memory("a plan");
    for (size_t i = 0; i < CLO_STAGE_ROWS; i++)
        stages->rows[i] = (clo_stage_row){.task = CLO_NONE,
                                          .ready_ns = longs + 2 * i * executors,
                                          .second_ns = longs + (2 * i + 1) * executors,
                                          .critical = ids + i * executors};
    number_stages(stages, graph, classes);
    return CLO_OK;
}

clo_status clo_stages_open(clo_stages **out, const clo_graph *graph, const clo_platform *platform)
{
    *out = NULL;
    if (graph->instances == graph->tasks)
        return CLO_OK;
    clo_stages *stages = clo_allocate(1, sizeof *stages);
    if (stages == NULL)
        return clo_fail_memory("a plan");
    stages->class_of = clo_allocate(platform->executors_count, sizeof *stages->class_of);
    clo_status status = CLO_ERR_MEMORY;
    for (uint32_t e = 0; e < platform->executors_count && stages->class_of != NULL; e++)
        stages->class_of[e] = platform->source_first[platform->source_of[e]];
    if (stages->class_of != NULL)
        status = fill(stages, graph, platform->executors_count, platform->sources_count);
    else
        (void)clo_fail_memory("a plan");
    if (status == CLO_OK)
        *out = stages;
    else
        clo_stages_close(stages);
    return status;
}

void clo_stages_close(clo_stages *stages)
{
    if (stages == NULL)
        return;
    clo_free(stages->class_of);
    clo_free(stages->block);
    clo_free(stages);
}

void clo_stages_clear(clo_stages *stages, const clo_graph *graph)
{
    for (uint32_t i = 0; i < stages->count; i++) {
        stages->list[i].is_sorted = false;
        stages->list[i].last = CLO_NONE;
    }
    for (uint32_t i = 0; i < CLO_STAGE_ROWS; i++)
        stages->rows[i].task = CLO_NONE;
    memset(stages->changed_at, 0, graph->tasks * sizeof *stages->changed_at);
}
