/* program.c - what the parts of a program mean. */
#include "engine/program/program.h"

#include "base/numbers/saturate.h"

#include <string.h>

uint32_t clo_program_inputs(const clo_program *program, uint32_t task)
{
    const clo_graph *graph = program->graph;
    uint32_t inputs = 0;

    if (graph->instances == graph->tasks) /* without a look at the sources, which lie anywhere */
        return graph->in_first[task + 1] - graph->in_first[task];
    for (uint32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++)
        inputs += graph->rows[clo_graph_source(graph, k)].instances;
    return inputs;
}

bool clo_program_shares_inputs(const clo_program *program, uint32_t task)
{
    const clo_graph *graph = program->graph;
    uint64_t instances = graph->rows[task].instances;

    if (instances == 1 || graph->control_flow != NULL)
        return false; /* which edges are dead differs from run to run */
    for (uint32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++)
        if (program->is_replay && clo_program_has_replica(program, clo_graph_source(graph, k)))
            return false; /* under a policy any source will do for all in a memory */
    uint64_t inputs = clo_program_inputs(program, task);
    return instances * inputs > instances + inputs;
}

void clo_program_demand(const clo_program *program, uint32_t task, int64_t *demand)
{
    const int64_t *own = clo_graph_demand(program->graph, task);

    memset(demand, 0, CLO_RESOURCES_MAX * sizeof *demand);
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        if (program->cost->resource_of[r] != CLO_NONE) {
            int64_t *held = &demand[program->cost->resource_of[r]];
            *held = clo_time_add(*held, own[r]);
        }
}

clo_task_fn clo_program_body(const clo_program *program, uint32_t task, uint32_t executor, void **argument)
{
    const clo_graph_task_row *row = &program->graph->rows[task];
    *argument = row->argument;
    if (!row->has_kind_body)
        return row->body;

    uint32_t kind = program->platform->executors[executor].kind;
    for (uint32_t k = 0; k < program->graph->kinds; k++) {
        if (program->kind_of[k] != kind)
            continue;
        const clo_graph_special *special = clo_graph_special_find(program->graph, task, k);
        if (special != NULL && special->body != NULL) {
            *argument = special->argument;
            return special->body;
        }
    }
    return row->body;
}
