/* data.c - all outputs in one block, all lists in another. */
#include "engine/execution/data.h"

#include "base/carve.h"
#include "base/status.h"

#include <assert.h>
#include <string.h>

#define BUFFER_ALIGN 64u

static uint64_t output_bytes(const clo_program *program, uint32_t execution)
{
    return clo_graph_output(program->graph, clo_program_task(program, execution));
}

/* Numbers the memories where executions may run: the only ones that copies can be wanted in. */
static clo_status number_memories(clo_data *data, clo_arena *arena)
{
    const clo_program *program = data->program;
    const clo_platform *platform = program->platform;
    bool is_placed = program->is_replay && program->twin == NULL; /* a hedge may run anywhere */
    uint32_t count = is_placed ? program->executions : platform->executors_count;

    data->slot_of = clo_arena_take(arena, platform->memories_count, sizeof *data->slot_of);
    if (data->slot_of == NULL)
        return clo_fail_memory("the memories of a job");
    memset(data->slot_of, 0xff, platform->memories_count * sizeof *data->slot_of);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t memory = platform->executors[is_placed ? program->executor[i] : i].memory;
        if (data->slot_of[memory] == CLO_NONE)
            data->slot_of[memory] = data->slots++;
    }
    return CLO_OK;
}

/* Sizes are known here, once; pages of copies that nobody makes are never touched. */
static clo_status allocate_buffers(clo_data *data, clo_arena *arena)
{
    const clo_program *program = data->program;
    uint64_t at = 0, memories = data->slots;

    for (uint32_t execution = 0; execution < program->executions; execution++) {
        uint64_t bytes = output_bytes(program, execution);
        data->output_at[execution] = at;
        if (bytes > (1ull << 46) || at > (1ull << 46))
            return clo_fail(CLO_ERR_LIMIT, "the tasks' outputs need more than 2^46 bytes; lower output_bytes");
        at += (bytes + BUFFER_ALIGN - 1) / BUFFER_ALIGN * BUFFER_ALIGN;
    }
    data->output_at[program->executions] = at;
    data->copy_bytes = data->output_at[data->copies];
    if (memories + 1 > SIZE_MAX / 4 / (at + BUFFER_ALIGN))
        return clo_fail_memory("the tasks' outputs");
    data->home = clo_arena_take_lazy(arena, (size_t)(at + data->copy_bytes * memories), (size_t)at);
    if (data->home == NULL)
        return clo_fail(CLO_ERR_MEMORY, "out of memory for %llu bytes of task outputs in %llu memories",
                        (unsigned long long)at, (unsigned long long)memories + 1);
    data->remote = data->home + at;
    return CLO_OK;
}

/* The lists for one task, one for each memory that data may be read in. */
static clo_status make_lists(clo_data *data, clo_shared_inputs *shared, uint32_t task, clo_arena *arena)
{
    const clo_graph *graph = data->program->graph;
    size_t lists = data->slots > 0 ? data->slots : 1;
    uint32_t at = 0;

    shared->count = clo_program_inputs(data->program, task);
    shared->bytes = clo_arena_take(arena, shared->count, sizeof *shared->bytes);
    shared->is_gathered = clo_arena_take(arena, lists, sizeof *shared->is_gathered);
    shared->lists = clo_arena_take_lazy(arena, lists * shared->count * sizeof *shared->lists, 0);
    if (shared->bytes == NULL || shared->is_gathered == NULL || shared->lists == NULL)
        return clo_fail_memory("the inputs of a job");
    for (uint32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++)
        for (uint32_t i = 0; i < graph->rows[clo_graph_source(graph, k)].instances; i++)
            shared->bytes[at++] = (size_t)clo_graph_output_bytes(graph, clo_graph_source(graph, k), i);
    return CLO_OK;
}

static clo_status make_shared(clo_data *data, clo_arena *arena)
{
    const clo_program *program = data->program;
    const clo_graph *graph = program->graph;
    uint32_t count = 0;
    clo_block block = {0};
    clo_status status = CLO_OK;

    for (uint32_t t = 0; t < graph->tasks; t++)
        count += clo_program_shares_inputs(program, t);
    if (count == 0)
        return CLO_OK;
    clo_carve(&block, &data->shared_of, graph->tasks);
    clo_carve(&block, &data->shared, count);
    if (!clo_block_take(&block, arena))
        return clo_fail_memory("the inputs of a job");
    memset(data->shared_of, 0xff, graph->tasks * sizeof *data->shared_of);
    for (uint32_t t = 0; t < graph->tasks && status == CLO_OK; t++)
        if (clo_program_shares_inputs(program, t)) {
            data->shared_of[t] = data->shared_count++;
            status = make_lists(data, &data->shared[data->shared_of[t]], t, arena);
        }
    return status;
}

clo_status clo_data_create(clo_data *data, const clo_program *program, bool copies, clo_arena *arena)
{
    clo_block block = {0};

    *data = (clo_data){.program = program, .copies = program->is_replay ? program->executions : program->instances};
    if (program->twin != NULL)
        data->winner = clo_arena_take(arena, program->executions, sizeof *data->winner);
    if (program->twin != NULL && data->winner == NULL)
        return clo_fail_memory("the hedges of a job");
    for (uint32_t execution = 0; execution < program->executions && data->winner != NULL; execution++)
        data->winner[execution] = execution;
    if (!program->graph->has_outputs && program->graph->data == NULL)
        return CLO_OK;
    clo_status status = copies && program->crosses_memories ? number_memories(data, arena) : CLO_OK;
    if (status == CLO_OK)
        status = clo_handles_create(&data->handles, program, data->slot_of, data->slots, arena);
    if (status != CLO_OK || !program->graph->has_outputs)
        return status;
    clo_carve(&block, &data->output_at, (size_t)program->executions + 1);
    if (data->slots > 0)
        clo_carve(&block, &data->copied, (size_t)data->copies * data->slots);
    if (!clo_block_take(&block, arena))
        return clo_fail_memory("the outputs of a job");
    status = allocate_buffers(data, arena);
    return status == CLO_OK ? make_shared(data, arena) : status;
}

void clo_data_begin(clo_data *data)
{
    const clo_program *program = data->program;

    for (uint32_t hedge = program->first_hedge; hedge < program->executions; hedge++)
        data->winner[program->twin[hedge]] = program->twin[hedge];
}

void *clo_data_output(const clo_data *data, uint32_t execution)
{
    if (data->output_at == NULL || output_bytes(data->program, execution) == 0)
        return NULL;
    return data->home + data->output_at[execution];
}

uint64_t clo_data_output_bytes(const clo_data *data, uint32_t execution)
{
    const clo_program *program = data->program;
    uint32_t instance = clo_program_instance(program, execution), task = program->graph->task_of[instance];

    return clo_graph_output_bytes(program->graph, task, instance - program->graph->first_instance[task]);
}

/* Where a consumer in `memory` reads the output of `source`. */
static const void *fetch(clo_data *data, const clo_data_run *run, uint32_t source, uint32_t memory, size_t bytes,
                         uint64_t *copied_bytes)
{
    unsigned char *original = data->home + data->output_at[source];
    const clo_platform *platform = data->program->platform;

    if (data->slot_of == NULL || platform->executors[run->ran_on[source]].memory == memory)
        return original;
    uint32_t slot = data->slot_of[memory], shared = source;
    assert(slot < data->slots);
    if (!data->program->is_replay)
        shared = clo_program_instance(data->program, source);
    unsigned char *copy = data->remote + slot * data->copy_bytes + data->output_at[shared];
    clo_once *once = &data->copied[(size_t)shared * data->slots + slot];
    if (clo_once_begin(once, run->number)) {
        memcpy(copy, original, bytes);
        clo_once_end(once, run->number);
        *copied_bytes += bytes;
    }
    return copy;
}

/* Fills the list, and the bytes unless they are NULL; returns how many inputs there are. */
static uint32_t fill(clo_data *data, const clo_data_run *run, uint32_t execution, uint32_t memory,
                     const clo_engine_scratch *to, uint64_t *copied_bytes)
{
    clo_inputs inputs = clo_inputs_of(data->program, execution);
    const uint32_t *winner = data->winner;
    uint32_t count = 0;

    while (clo_inputs_next(&inputs)) {
        bool is_dead = clo_control_flow_is_dead(data->control_flow, inputs.edge - 1);
        for (uint32_t i = 0; i < inputs.count; i++, count++) {
            size_t bytes = is_dead ? 0 : (size_t)clo_graph_output_bytes(data->program->graph, inputs.task, i);
            uint32_t source = clo_inputs_source(&inputs, i);
            if (winner != NULL)
                source = winner[source];
            to->inputs[count] = bytes == 0 ? NULL : fetch(data, run, source, memory, bytes, copied_bytes);
            if (to->bytes != NULL)
                to->bytes[count] = bytes;
        }
    }
    return count;
}

clo_gathered clo_data_gather(clo_data *data, const clo_data_run *run, uint32_t execution, uint32_t executor,
                             const clo_engine_scratch *scratch, uint64_t *copied_bytes)
{
    uint32_t memory = data->program->platform->executors[executor].memory;

    if (data->output_at == NULL)
        return (clo_gathered){0};
    uint32_t task = clo_program_task(data->program, execution);
    if (data->shared_of == NULL || data->shared_of[task] == CLO_NONE) {
        uint32_t count = fill(data, run, execution, memory, scratch, copied_bytes);
        if (count == 0)
            return (clo_gathered){0};
        return (clo_gathered){count, scratch->inputs, scratch->bytes};
    }
    clo_shared_inputs *shared = &data->shared[data->shared_of[task]];
    uint32_t slot = data->slot_of == NULL ? 0 : data->slot_of[memory];
    const void **list = shared->lists + (size_t)slot * shared->count;
    assert(data->slot_of == NULL || slot < data->slots);
    if (clo_once_begin(&shared->is_gathered[slot], run->number)) {
        (void)fill(data, run, execution, memory, &(clo_engine_scratch){list, NULL}, copied_bytes);
        clo_once_end(&shared->is_gathered[slot], run->number);
    }
    return (clo_gathered){shared->count, list, shared->bytes};
}
