/* compile.c - what every program has, and rows for stages where no plan is given. */
#include "engine/program/compile.h"

#include "base/carve.h"
#include "base/status.h"
#include "engine/program/barrier.h"
#include "engine/program/hedges.h"
#include "engine/program/replay.h"
#include "engine/program/replicas.h"

#include <string.h>

static bool is_single(const clo_graph *graph)
{
    return graph->instances == graph->tasks;
}

/* Entries of all rows, those of the barriers included. */
static uint64_t count_entries(const clo_program *program)
{
    const clo_graph *graph = program->graph;
    uint64_t entries = 0;

    for (uint32_t t = 0; t < graph->tasks && entries < UINT32_MAX; t++) {
        uint64_t instances = graph->rows[t].instances, consumers = 0;
        for (uint32_t k = graph->out_first[t]; k < graph->out_first[t + 1]; k++)
            consumers += graph->rows[graph->out[k]].instances;
        entries += clo_program_barrier(program, t) == CLO_NONE ? instances * consumers : instances + consumers;
    }
    return entries;
}

/* All instances of all consumers of `task`, by number. Returns where the row ends. */
static uint32_t add_consumers(const clo_graph *graph, uint32_t task, uint32_t *succ, uint32_t at)
{
    for (uint32_t k = graph->out_first[task]; k < graph->out_first[task + 1]; k++) {
        uint32_t consumer = graph->out[k];
        for (uint32_t i = graph->first_instance[consumer]; i < graph->first_instance[consumer + 1]; i++)
            succ[at++] = i;
    }
    return at;
}

static void fill_rows(const clo_program *program, uint32_t *succ_first, uint32_t *succ)
{
    const clo_graph *graph = program->graph;
    uint32_t at = 0;

    for (uint32_t t = 0; t < graph->tasks; t++) {
        uint32_t barrier = clo_program_barrier(program, t);
        for (uint32_t i = graph->first_instance[t]; i < graph->first_instance[t + 1]; i++) {
            succ_first[i] = at;
            if (barrier == CLO_NONE)
                at = add_consumers(graph, t, succ, at);
            else
                succ[at++] = program->executions + barrier;
        }
    }
    for (uint32_t replica = program->instances; replica < program->executions; replica++)
        succ_first[replica] = at; /* a scheduler counts whom they release; hedges release nobody */
    for (uint32_t b = 0; b < program->barriers; b++) {
        succ_first[program->executions + b] = at;
        at = add_consumers(graph, program->barrier_task[b], succ, at);
    }
    succ_first[program->executions + program->barriers] = at;
}

static void fill_needs(clo_program *program)
{
    const clo_graph *graph = program->graph;

    for (uint32_t t = 0; t < graph->tasks; t++) {
        uint32_t needs = 0;
        for (uint32_t k = graph->in_first[t]; k < graph->in_first[t + 1]; k++)
            needs += clo_program_barrier(program, clo_graph_source(graph, k)) != CLO_NONE
                         ? 1
                         : graph->rows[clo_graph_source(graph, k)].instances;
        for (uint32_t i = graph->first_instance[t]; i < graph->first_instance[t + 1]; i++)
            program->needs[i] = needs;
    }
    for (uint32_t replica = program->instances; replica < program->executions; replica++)
        program->needs[replica] = 1; /* never hit: they are no roots */
    for (uint32_t b = 0; b < program->barriers; b++)
        program->needs[program->executions + b] = graph->rows[program->barrier_task[b]].instances;
}

static clo_status make_rows(clo_program *program, clo_arena *arena)
{
    uint32_t *succ_first = NULL, *succ = NULL;
    clo_block block = {0};
    clo_status status = clo_barriers_choose(program, arena);
    if (status != CLO_OK)
        return status;
    uint64_t entries = count_entries(program), counters = (uint64_t)program->executions + program->barriers;
    if (entries >= UINT32_MAX || counters >= CLO_NONE)
        return clo_fail(CLO_ERR_LIMIT, "the graph has more than 2^32 instances and edges between them");

    clo_carve(&block, &program->needs, (size_t)counters);
    clo_carve(&block, &succ_first, (size_t)counters + 1);
    clo_carve(&block, &succ, (size_t)entries);
    if (!clo_block_take(&block, arena))
        return clo_fail_memory("the edges of a job");
    fill_rows(program, succ_first, succ);
    fill_needs(program);
    program->succ_first = succ_first;
    program->succ = succ;
    return CLO_OK;
}

/* Room for the hedges of all originals. */
static clo_status reserve_hedges(clo_program *program, const int64_t *after_ns, clo_arena *arena)
{
    uint64_t hedges = 0;

    for (uint32_t t = 0; t < program->graph->tasks && after_ns != NULL; t++)
        hedges += clo_hedges_want(program, after_ns, t) ? program->graph->rows[t].instances : 0;
    clo_status status = clo_hedges_reserve(program, hedges, arena);
    if (status == CLO_OK)
        clo_hedges_pair(program, after_ns);
    return status;
}

static clo_status adopt_graph(clo_program *program, bool has_policy, const int64_t *hedge_after_ns, clo_arena *arena)
{
    const clo_graph *graph = program->graph;
    clo_status status = CLO_OK;

    program->executions = graph->instances;
    if (has_policy)
        status = clo_replicas_reserve(program, arena);
    if (status == CLO_OK)
        status = reserve_hedges(program, hedge_after_ns, arena);
    if (status != CLO_OK)
        return status;
    if (is_single(graph) && program->executions == program->instances) {
        program->succ_first = graph->out_first;
        program->succ = graph->out;
    } else {
        status = make_rows(program, arena);
    }
    if (status == CLO_OK)
        status = clo_replicas_table(program, arena);
    if (status != CLO_OK)
        return status;
    for (uint32_t i = 0; i < program->instances; i++)
        program->exits += program->succ_first[i] == program->succ_first[i + 1];
    program->is_restricted = program->cost->is_restricted;
    return CLO_OK;
}

static void find_inputs_max(clo_program *program)
{
    const clo_graph *graph = program->graph;

    for (uint32_t t = 0; t < graph->tasks && is_single(graph); t++) {
        uint32_t inputs = graph->in_first[t + 1] - graph->in_first[t];
        program->inputs_max = inputs > program->inputs_max ? inputs : program->inputs_max;
    }
    for (uint32_t t = 0; t < graph->tasks && !is_single(graph); t++) {
        uint32_t inputs = clo_program_inputs(program, t);
        if (inputs > program->inputs_max && !clo_program_shares_inputs(program, t))
            program->inputs_max = inputs;
    }
}

/* Kinds are matched by name. */
static void match_kinds(clo_program *program)
{
    const clo_graph *graph = program->graph;
    const clo_platform *platform = program->platform;

    for (uint32_t k = 0; k < CLO_GRAPH_KINDS_MAX; k++)
        program->kind_of[k] = CLO_NONE;
    for (uint32_t k = 0; k < graph->kinds; k++)
        for (uint32_t p = 0; p < platform->kinds_count; p++)
            if (strcmp(graph->kind_names[k], platform->kind_names[p]) == 0)
                program->kind_of[k] = p;
}

static clo_status list_roots(clo_program *program, clo_arena *arena)
{
    uint32_t end = 0;

    for (uint32_t execution = 0; execution < program->executions; execution++)
        if (clo_program_needs(program, execution) == 0) {
            program->roots_count++;
            end = execution + 1;
        }
    if (program->roots_count == end && is_single(program->graph) && end <= program->instances) {
        program->roots = program->graph->first_instance; /* 0, 1, 2 ... */
        return CLO_OK;
    }
    uint32_t *roots = clo_arena_take(arena, program->roots_count, sizeof *roots);
    if (roots == NULL)
        return clo_fail_memory("the first tasks");
    for (uint32_t execution = 0, count = 0; execution < program->executions; execution++)
        if (clo_program_needs(program, execution) == 0)
            roots[count++] = execution;
    program->roots = roots;
    return CLO_OK;
}

typedef enum use { PLANNED, REAL, POLICY } use;

static clo_status create(const clo_cost *cost, const clo_placement *placements, size_t count, use of,
                         const int64_t *hedge_after_ns, clo_arena *arena, clo_program **out)
{
    clo_program *program = clo_arena_take(arena, 1, sizeof *program);
    if (program == NULL)
        return clo_fail_memory("a program");

    program->cost = cost;
    program->graph = clo_cost_graph(cost);
    program->platform = clo_cost_platform(cost);
    program->instances = program->graph->instances;
    program->in_first = program->graph->in_first;
    program->is_deep = of == REAL && program->graph->may_pend;
    program->crosses_memories = program->platform->memories_count > 1;
    match_kinds(program);

    clo_status status = placements != NULL ? clo_program_replay(program, placements, count, hedge_after_ns, arena)
                                           : adopt_graph(program, of == POLICY, hedge_after_ns, arena);
    if (status == CLO_OK)
        status = list_roots(program, arena);
    if (status != CLO_OK)
        return status;
    find_inputs_max(program);
    *out = program;
    return CLO_OK;
}

clo_status clo_program_create(const clo_cost *cost, const clo_placement *placements, size_t count,
                              const int64_t *hedge_after_ns, clo_arena *arena, clo_program **out)
{
    return create(cost, placements, count, PLANNED, hedge_after_ns, arena, out);
}

clo_status clo_program_create_real(const clo_cost *cost, const clo_placement *placements, size_t count,
                                   const int64_t *hedge_after_ns, clo_arena *arena, clo_program **out)
{
    return create(cost, placements, count, REAL, hedge_after_ns, arena, out);
}

clo_status clo_program_create_policy(const clo_cost *cost, clo_arena *arena, clo_program **out)
{
    return create(cost, NULL, 0, POLICY, NULL, arena, out);
}
