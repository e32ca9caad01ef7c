/* engine.c - one run's state in one block, its data buffers in another. */
#include "engine/engine.h"

#include "base/carve.h"
#include "base/saturate.h"
#include "base/status.h"

#include <string.h>

#define BUFFER_ALIGN 64u

static uint64_t buffer_bytes(const clo_program *program, uint32_t execution)
{
    uint64_t bytes = program->graph->rows[clo_program_task(program, execution)].output_bytes;
    return (bytes + BUFFER_ALIGN - 1) / BUFFER_ALIGN * BUFFER_ALIGN;
}

/* Sizes are known here, once; pages of copies that nobody makes are never touched. */
static clo_status allocate_buffers(clo_engine *engine, clo_arena *arena)
{
    const clo_program *program = engine->program;
    uint64_t at = 0, memories = engine->slots;

    for (uint32_t execution = 0; execution < program->executions; execution++) {
        uint64_t bytes = program->graph->rows[clo_program_task(program, execution)].output_bytes;
        engine->output_at[execution] = at;
        if (bytes > (1ull << 46) || at > (1ull << 46))
            return clo_fail(CLO_ERR_LIMIT, "the tasks' outputs need more than 2^46 bytes; lower output_bytes");
        at += buffer_bytes(program, execution);
    }
    engine->output_at[program->executions] = at;
    engine->home_bytes = at;
    if (memories + 1 > SIZE_MAX / 4 / (at + BUFFER_ALIGN))
        return clo_fail_memory("the tasks' outputs");
    engine->home = clo_arena_take_lazy(arena, (size_t)(at * (memories + 1)), (size_t)at);
    if (engine->home == NULL)
        return clo_fail(CLO_ERR_MEMORY, "out of memory for %llu bytes of task outputs in %llu memories",
                        (unsigned long long)at, (unsigned long long)memories + 1);
    engine->remote = engine->home + at;
    return CLO_OK;
}

/* Numbers the memories where executions may run: the only ones that copies can be wanted in. */
static clo_status number_memories(clo_engine *engine, clo_arena *arena)
{
    const clo_program *program = engine->program;
    const clo_platform *platform = program->platform;
    uint32_t count = program->is_replay ? program->executions : platform->executors_count;

    if (!engine->copies || !program->graph->has_outputs)
        return CLO_OK;
    engine->slot_of = clo_arena_take(arena, platform->memories_count, sizeof *engine->slot_of);
    if (engine->slot_of == NULL)
        return clo_fail_memory("the memories of a job");
    memset(engine->slot_of, 0xff, platform->memories_count * sizeof *engine->slot_of);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t memory = platform->executors[program->is_replay ? program->executor[i] : i].memory;
        if (engine->slot_of[memory] == CLO_NONE)
            engine->slot_of[memory] = engine->slots++;
    }
    return CLO_OK;
}

static clo_status allocate_state(clo_engine *engine, clo_arena *arena)
{
    const clo_program *program = engine->program;
    size_t executions = program->executions;
    bool has_outputs = program->graph->has_outputs;
    size_t copies = executions * engine->slots;
    clo_block block = {0};

    clo_carve(&block, &engine->pending, executions);
    clo_carve(&block, &engine->ran_on, executions);
    if (engine->is_timed)
        clo_carve(&block, &engine->finish_ns, executions);
    if (has_outputs)
        clo_carve(&block, &engine->output_at, executions + 1);
    if (copies > 0)
        clo_carve(&block, &engine->copied, copies);
    if (!clo_block_take(&block, arena))
        return clo_fail_memory("the state of a job");
    return has_outputs ? allocate_buffers(engine, arena) : CLO_OK;
}

static void arm(clo_engine *engine)
{
    for (uint32_t execution = 0; execution < engine->program->executions; execution++)
        clo_countdown_arm(&engine->pending[execution], clo_program_needs(engine->program, execution));
}

clo_status clo_engine_create(const clo_program *program, bool copies, bool is_timed, clo_arena *arena, clo_engine **out)
{
    clo_engine *engine = clo_arena_take(arena, 1, sizeof *engine);
    if (engine == NULL)
        return clo_fail_memory("a job");
    engine->program = program;
    engine->copies = copies && program->crosses_memories;
    engine->is_timed = is_timed;

    clo_status status = number_memories(engine, arena);
    if (status == CLO_OK)
        status = allocate_state(engine, arena);
    if (status != CLO_OK)
        return status;
    arm(engine);
    if (program->is_replay)
        memcpy(engine->ran_on, program->executor, program->executions * sizeof(uint32_t));
    engine->run = 1;
    *out = engine;
    return CLO_OK;
}

void clo_engine_begin(clo_engine *engine, bool was_cut)
{
    engine->run++;
    if (was_cut)
        arm(engine);
}

int64_t clo_engine_arrival_ns(const clo_engine *engine, uint32_t execution, uint32_t executor, int64_t now_ns)
{
    const clo_program *program = engine->program;
    int64_t latest_ns = now_ns;

    if (!program->crosses_memories && !program->is_replay)
        return now_ns;
    for (uint32_t k = program->input_first[execution]; k < program->input_first[execution + 1]; k++) {
        uint32_t source = program->input_source[k];
        int64_t arrival_ns = clo_platform_transfer_ns(program->platform, clo_program_input_bytes(program, execution, k),
                                                      engine->ran_on[source], executor);
        arrival_ns = clo_time_add(arrival_ns, program->is_replay ? engine->finish_ns[source] : now_ns);
        if (arrival_ns > latest_ns)
            latest_ns = arrival_ns;
    }
    return latest_ns;
}

void *clo_engine_output(const clo_engine *engine, uint32_t execution)
{
    if (engine->output_at == NULL ||
        engine->program->graph->rows[clo_program_task(engine->program, execution)].output_bytes == 0)
        return NULL;
    return engine->home + engine->output_at[execution];
}

/* Where a consumer in `memory` reads the output of `source`. */
static const void *fetch(clo_engine *engine, uint32_t source, uint32_t memory, size_t bytes, clo_engine_stats *stats)
{
    unsigned char *original = engine->home + engine->output_at[source];
    const clo_platform *platform = engine->program->platform;

    if (!engine->copies || platform->executors[engine->ran_on[source]].memory == memory)
        return original;
    uint32_t slot = engine->slot_of[memory];
    unsigned char *copy = engine->remote + slot * engine->home_bytes + engine->output_at[source];
    clo_once *once = &engine->copied[(size_t)source * engine->slots + slot];
    if (clo_once_begin(once, engine->run)) {
        memcpy(copy, original, bytes);
        clo_once_end(once, engine->run);
        stats->copied_bytes += bytes;
    }
    return copy;
}

/* Counts the inputs that cross memories and finds the buffers; returns the number of inputs to show. */
static uint32_t gather(clo_engine *engine, uint32_t execution, uint32_t executor, const clo_engine_scratch *scratch,
                       clo_engine_stats *stats)
{
    const clo_program *program = engine->program;
    const clo_executor *executors = program->platform->executors;
    uint32_t first = program->input_first[execution], count = program->input_first[execution + 1] - first;

    for (uint32_t k = first; k < first + count && program->crosses_memories; k++)
        if (executors[engine->ran_on[program->input_source[k]]].memory != executors[executor].memory) {
            stats->transfers++;
            stats->transferred_bytes += clo_program_input_bytes(program, execution, k);
        }
    if (engine->output_at == NULL)
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t source = program->input_source[first + i];
        scratch->bytes[i] = (size_t)program->graph->rows[clo_program_task(program, source)].output_bytes;
        scratch->inputs[i] =
            scratch->bytes[i] == 0 ? NULL : fetch(engine, source, executors[executor].memory, scratch->bytes[i], stats);
    }
    return count;
}

int clo_engine_call(clo_engine *engine, uint32_t execution, uint32_t executor, int64_t expected_ns,
                    const clo_engine_scratch *scratch, clo_engine_stats *stats)
{
    const clo_program *program = engine->program;
    uint32_t instance = clo_program_instance(program, execution), task = program->graph->task_of[instance];
    const clo_graph_task_row *row = &program->graph->rows[task];
    bool is_replica = execution >= program->instances;

    if (!program->is_replay)
        engine->ran_on[execution] = executor;
    uint32_t inputs = program->crosses_memories || engine->output_at != NULL
                          ? gather(engine, execution, executor, scratch, stats)
                          : 0;
    stats->executed++;
    stats->duplicates += is_replica;
    clo_task_fn body = clo_program_body(program, task, executor);
    if (body == NULL)
        return 0;

    clo_call call = {
        .argument = row->argument,
        .task = task,
        .instance = instance - program->graph->first_instance[task],
        .instances = row->instances,
        .executor = executor,
        .inputs_count = inputs,
        .inputs = inputs > 0 ? scratch->inputs : NULL,
        .inputs_bytes = inputs > 0 ? scratch->bytes : NULL,
        .output = clo_engine_output(engine, execution),
        .output_bytes = (size_t)row->output_bytes,
        .expected_ns = expected_ns,
        .is_replica = is_replica,
    };
    return body(&call);
}

uint64_t clo_engine_output_hash(const clo_engine *engine)
{
    uint64_t hash = 0xcbf29ce484222325u;

    if (engine->output_at == NULL)
        return hash;
    for (uint32_t execution = 0; execution < engine->program->instances; execution++) {
        const unsigned char *output = clo_engine_output(engine, execution);
        uint64_t bytes = engine->program->graph->rows[clo_program_task(engine->program, execution)].output_bytes;
        for (uint64_t i = 0; output != NULL && i < bytes; i++)
            hash = (hash ^ output[i]) * 0x100000001b3u;
    }
    return hash;
}
