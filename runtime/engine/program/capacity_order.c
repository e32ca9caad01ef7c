/* capacity_order.c - see capacity_order.h. */
#include "engine/program/capacity_order.h"

#include "base/carve.h"
#include "base/status.h"

#include <string.h>

uint32_t clo_capacity_order_demanded(const clo_program *program, uint32_t task, uint32_t executor)
{
    const clo_platform *platform = program->platform;
    uint32_t machine = platform->executors[executor].machine, bits = 0;
    int64_t demand[CLO_RESOURCES_MAX];

    clo_program_demand(program, task, demand);
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        if (demand[r] > 0 && platform->capacities[(size_t)machine * CLO_RESOURCES_MAX + r] >= 0)
            bits |= 1u << r;
    return bits;
}

static bool is_deep(const clo_program *program, uint32_t executor)
{
    return program->is_deep && clo_slot_depth(&program->platform->executors[executor]) > 1;
}

clo_status clo_capacity_order_create(clo_program *program, const clo_placement *placements, clo_arena *arena)
{
    size_t entries = 0;
    clo_block block = {0};

    if (!program->graph->has_demands && !program->is_deep)
        return CLO_OK;
    for (uint32_t i = 0; i < program->first_hedge; i++)
        entries += (size_t)__builtin_popcount(
                       clo_capacity_order_demanded(program, placements[i].task, placements[i].executor)) +
                   is_deep(program, placements[i].executor);
    if (entries == 0)
        return CLO_OK;
    clo_carve(&block, &program->taken_first, (size_t)program->executions + 1);
    clo_carve(&block, &program->taken, entries);
    return clo_block_take(&block, arena) ? CLO_OK : clo_fail_memory("the compiled plan");
}

/* Enters an execution in the row of the one before it in a queue. */
static void enter(clo_program *program, uint32_t *queue, uint32_t execution, bool fills)
{
    if (*queue != CLO_NONE && fills) {
        program->taken[program->taken_first[*queue + 1]++] = execution;
        program->needs[execution]++;
    } else if (*queue != CLO_NONE) {
        program->taken_first[*queue + 1]++;
    }
    *queue = execution;
}

/* The last ones in all queues: [machines][resources], then [executors]. */
static size_t queues_count(const clo_program *program)
{
    return (size_t)program->platform->machines_count * CLO_RESOURCES_MAX + program->platform->executors_count;
}

/* Enters each execution in the rows of those before it in its queues: counts the entries of row e in
 * taken_first[e + 1], or writes them from there on. last: [queues_count] */
static void go_through(clo_program *program, uint32_t *last, bool fills)
{
    uint32_t *slots = last + (size_t)program->platform->machines_count * CLO_RESOURCES_MAX;

    memset(last, 0xff, queues_count(program) * sizeof *last);
    for (uint32_t i = 0; i < program->first_hedge; i++) {
        uint32_t execution = program->order[i], executor = program->executor[execution];
        uint32_t bits = clo_capacity_order_demanded(program, clo_program_task(program, execution), executor);
        uint32_t *queues = last + (size_t)program->platform->executors[executor].machine * CLO_RESOURCES_MAX;
        for (; bits != 0; bits &= bits - 1)
            enter(program, &queues[__builtin_ctz(bits)], execution, fills);
        if (is_deep(program, executor))
            enter(program, &slots[executor], execution, fills);
    }
}

clo_status clo_capacity_order_link(clo_program *program, clo_arena *arena)
{
    uint32_t *first = program->taken_first, at = 0;

    if (first == NULL)
        return CLO_OK;
    uint32_t *last = clo_arena_take(arena, queues_count(program), sizeof *last);
    if (last == NULL)
        return clo_fail_memory("compiling the plan");
    go_through(program, last, false);
    for (uint32_t execution = 0; execution < program->executions; execution++) { /* to where each row begins */
        uint32_t count = first[execution + 1];
        first[execution + 1] = at;
        at += count;
    }
    go_through(program, last, true); /* which moves each to where its row ends */
    return CLO_OK;
}
