/* buffers.c - outputs of releases in flight: of each execution a ring of `depth` buffers, and of each of these a
 * copy in any memory where a consumer wants one. Release k has buffer k % depth. A copy is made once in a release, by
 * whoever needs it first; it may be made anew when its original may, since all consumers have ended by then. */
#include "engine/releases/buffers.h"

#include "base/carve.h"
#include "base/status.h"
#include "engine/execution/body.h"

#include <assert.h>
#include <string.h>

#define BUFFER_ALIGN 64u
#define BYTES_MAX (1ull << 46)

static uint64_t buffer_bytes(const clo_program *program, uint32_t execution)
{
    uint64_t bytes = clo_graph_output(program->graph, program->graph->task_of[execution]);

    return (bytes + BUFFER_ALIGN - 1) / BUFFER_ALIGN * BUFFER_ALIGN;
}

static clo_status number_memories(clo_releases_data *data, clo_arena *arena)
{
    const clo_program *program = data->program;
    uint32_t memories = program->platform->memories_count;

    data->slot_of = clo_arena_take(arena, memories, sizeof *data->slot_of);
    if (data->slot_of == NULL)
        return clo_fail_memory("the memories of a job");
    memset(data->slot_of, 0xff, memories * sizeof *data->slot_of);
    uint32_t count = data->ran_on != NULL ? program->platform->executors_count : program->executions;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t memory = program->platform->executors[data->ran_on != NULL ? i : program->executor[i]].memory;
        if (data->slot_of[memory] == CLO_NONE)
            data->slot_of[memory] = data->memories++;
    }
    return CLO_OK;
}

/* Of all buffers of one memory; checks that they can be had. */
static clo_status lay_out(clo_releases_data *data)
{
    uint64_t at = 0;

    for (uint32_t i = 0; i < data->program->executions; i++) {
        uint64_t bytes = buffer_bytes(data->program, i);
        data->at[i] = at;
        if (bytes > BYTES_MAX / data->depth[i] || at > BYTES_MAX)
            return clo_fail(CLO_ERR_LIMIT,
                            "the outputs of %u releases in flight need more than 2^46 bytes; allow fewer", data->slots);
        at += bytes * data->depth[i];
    }
    data->at[data->program->executions] = at;
    data->copy_bytes = at;
    if ((uint64_t)data->memories + 1 > SIZE_MAX / 4 / (at + BUFFER_ALIGN))
        return clo_fail_memory("the tasks' outputs");
    return CLO_OK;
}

static clo_status make_copies(clo_releases_data *data, clo_arena *arena)
{
    uint64_t count = 0;

    data->once_at = clo_arena_take(arena, data->program->executions, sizeof *data->once_at);
    if (data->once_at == NULL)
        return clo_fail_memory("the copies of outputs");
    for (uint32_t i = 0; i < data->program->executions; i++) {
        data->once_at[i] = count;
        count += (uint64_t)data->depth[i] * data->memories;
    }
    data->copied = clo_arena_take(arena, (size_t)count, sizeof *data->copied);
    return data->copied != NULL ? CLO_OK : clo_fail_memory("the copies of outputs");
}

/* Where an execution that has ended put its output. */
static uint32_t memory_of(const clo_releases_data *data, uint32_t execution, uint64_t release)
{
    const clo_program *program = data->program;
    uint32_t executor = data->ran_on != NULL
                            ? data->ran_on[(size_t)(release % data->slots) * program->executions + execution]
                            : program->executor[execution];

    return program->platform->executors[executor].memory;
}

/* Inputs of the execution from other memories than `memory`. With a plan any release will do. */
static void count_crossing(const clo_releases_data *data, uint32_t execution, uint64_t release, uint32_t memory,
                           uint64_t *transfers, uint64_t *bytes)
{
    clo_inputs inputs = clo_inputs_of(data->program, execution);

    while (clo_inputs_next(&inputs))
        for (uint32_t i = 0; i < inputs.count; i++) {
            if (memory_of(data, clo_inputs_source(&inputs, i), release) == memory)
                continue;
            ++*transfers;
            *bytes += inputs.bytes;
        }
}

/* The executions of a task in one memory have equal inputs: each memory is counted once for a task. */
static clo_status count_transfers(clo_releases_data *data, clo_arena *arena)
{
    const clo_program *program = data->program;
    const clo_graph *graph = program->graph;
    uint32_t *known; /* [memories] 1 + an execution of the task in that memory */
    clo_block block = {0};

    clo_carve(&block, &data->transfers, data->program->executions);
    clo_carve(&block, &data->transferred_bytes, data->program->executions);
    clo_carve(&block, &known, program->platform->memories_count);
    if (!clo_block_take(&block, arena))
        return clo_fail_memory("releases in flight");
    for (uint32_t t = 0; t < graph->tasks; t++) {
        memset(known, 0, program->platform->memories_count * sizeof *known);
        for (uint32_t i = graph->first_instance[t]; i < graph->first_instance[t + 1]; i++) {
            uint32_t memory = program->platform->executors[program->executor[i]].memory;
            if (known[memory] == 0)
                count_crossing(data, i, 0, memory, &data->transfers[i], &data->transferred_bytes[i]);
            else {
                data->transfers[i] = data->transfers[known[memory] - 1];
                data->transferred_bytes[i] = data->transferred_bytes[known[memory] - 1];
            }
            known[memory] = i + 1;
        }
    }
    return CLO_OK;
}

clo_status clo_releases_data_create(clo_releases_data *data, bool has_data, bool copies, clo_arena *arena)
{
    const clo_program *program = data->program;
    bool is_known = program->crosses_memories && data->ran_on == NULL;
    clo_status status = is_known ? count_transfers(data, arena) : CLO_OK;

    if (status != CLO_OK || !has_data || !program->graph->has_outputs)
        return status;
    if (copies && program->crosses_memories)
        status = number_memories(data, arena);
    data->at = clo_arena_take(arena, (size_t)data->program->executions + 1, sizeof *data->at);
    if (status == CLO_OK && data->at == NULL)
        return clo_fail_memory("the outputs of a job");
    if (status == CLO_OK)
        status = lay_out(data);
    if (status == CLO_OK && data->slot_of != NULL)
        status = make_copies(data, arena);
    if (status != CLO_OK)
        return status;
    uint64_t bytes = data->copy_bytes;
    data->home = clo_arena_take_lazy(arena, (size_t)(bytes + bytes * data->memories), (size_t)bytes);
    if (data->home == NULL)
        return clo_fail(CLO_ERR_MEMORY, "out of memory for %llu bytes of outputs of %u releases in flight",
                        (unsigned long long)bytes, data->slots);
    data->remote = data->home + bytes;
    return CLO_OK;
}

static uint64_t offset_of(const clo_releases_data *data, uint32_t execution, uint64_t release)
{
    return data->at[execution] + release % data->depth[execution] * buffer_bytes(data->program, execution);
}

void *clo_releases_output(const clo_releases_data *data, uint32_t execution, uint64_t release)
{
    if (data->at == NULL || buffer_bytes(data->program, execution) == 0)
        return NULL;
    return data->home + offset_of(data, execution, release);
}

/* Where a consumer in `memory` reads what `source` has put out in that release. */
static const void *fetch(clo_releases_data *data, uint32_t source, uint64_t release, uint32_t memory, size_t bytes,
                         uint64_t *copied_bytes)
{
    uint64_t offset = offset_of(data, source, release);

    if (data->slot_of == NULL || memory_of(data, source, release) == memory)
        return data->home + offset;
    uint32_t slot = data->slot_of[memory], depth = data->depth[source];
    assert(slot < data->memories);
    unsigned char *copy = data->remote + slot * data->copy_bytes + offset;
    clo_once *once = &data->copied[data->once_at[source] + release % depth * data->memories + slot];
    uint64_t round = data->rounds + release / depth + 1;
    if (clo_once_begin(once, round)) {
        memcpy(copy, data->home + offset, bytes);
        clo_once_end(once, round);
        *copied_bytes += bytes;
    }
    return copy;
}

static uint32_t gather(clo_releases_data *data, uint32_t execution, uint64_t release, uint32_t memory,
                       const clo_engine_scratch *to, uint64_t *copied_bytes)
{
    const clo_program *program = data->program;
    clo_inputs inputs = clo_inputs_of(program, execution);
    uint32_t count = 0;

    while (clo_inputs_next(&inputs)) {
        for (uint32_t i = 0; i < inputs.count; i++, count++) {
            size_t bytes = (size_t)clo_graph_output_bytes(program->graph, inputs.task, i);
            uint32_t source = clo_inputs_source(&inputs, i);
            to->inputs[count] = bytes == 0 ? NULL : fetch(data, source, release, memory, bytes, copied_bytes);
            to->bytes[count] = bytes;
        }
    }
    return count;
}

/* What crosses memories without a plan; and where the output will be. */
static void settle(clo_releases_data *data, uint32_t execution, uint64_t release, uint32_t executor,
                   clo_engine_stats *stats)
{
    const clo_program *program = data->program;

    if (program->crosses_memories)
        count_crossing(data, execution, release, program->platform->executors[executor].memory, &stats->transfers,
                       &stats->transferred_bytes);
    data->ran_on[(size_t)(release % data->slots) * program->executions + execution] = executor;
}

int clo_releases_data_call(clo_releases_data *data, uint32_t execution, uint64_t release, uint32_t executor,
                           int64_t expected_ns, const clo_engine_scratch *scratch, clo_engine_stats *stats)
{
    const clo_program *program = data->program;
    uint32_t task = program->graph->task_of[execution];
    uint32_t range = execution - program->graph->first_instance[task];
    clo_call call = {
        .task = task, .executor = executor, .expected_ns = expected_ns, .release = release};
    clo_task_fn body = clo_program_body(program, task, executor, &call.argument);

    clo_releases_data_count(data, execution, stats);
    if (data->ran_on != NULL)
        settle(data, execution, release, executor, stats);
    if (data->at != NULL) {
        call.inputs_count = gather(data, execution, release, program->platform->executors[executor].memory, scratch,
                                   &stats->copied_bytes);
        call.inputs = call.inputs_count > 0 ? scratch->inputs : NULL;
        call.inputs_bytes = call.inputs_count > 0 ? scratch->bytes : NULL;
        call.output = clo_releases_output(data, execution, call.release);
    }
    clo_graph_serve(program->graph, task, range, &call);
    call.output_bytes = (size_t)clo_graph_output_bytes(program->graph, task, range);
    int code = body != NULL ? clo_body_call(body, &call) : 0;
    if (code != CLO_PENDING) /* else it has not ended yet */
        clo_counter_add(&stats->executed, 1);
    return code;
}

uint32_t clo_releases_inputs_max(const clo_program *program)
{
    uint32_t most = 0;

    for (uint32_t t = 0; t < program->graph->tasks && program->graph->has_outputs; t++)
        if (clo_program_inputs(program, t) > most)
            most = clo_program_inputs(program, t);
    return most;
}

uint64_t clo_releases_output_hash(const clo_releases_data *data, uint64_t release)
{
    const clo_graph *graph = data->program->graph;
    uint64_t hash = 0xcbf29ce484222325u;

    for (uint32_t i = 0; i < data->program->executions; i++) {
        uint32_t task = graph->task_of[i];
        const unsigned char *output = clo_releases_output(data, i, release);
        uint64_t bytes = clo_graph_output_bytes(graph, task, i - graph->first_instance[task]);
        for (uint64_t b = 0; output != NULL && b < bytes; b++)
            hash = (hash ^ output[b]) * 0x100000001b3u;
    }
    return hash;
}
