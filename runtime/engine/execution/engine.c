/* engine.c - one run's state. */
#include "engine/execution/engine.h"

#include "base/carve.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "engine/execution/body.h"

#include <string.h>

static clo_status allocate_state(clo_engine *engine, clo_arena *arena)
{
    const clo_program *program = engine->program;
    size_t executions = program->executions;
    clo_block block = {0};

    clo_carve(&block, &engine->pending, executions + program->barriers);
    clo_carve(&block, &engine->ran_on, executions);
    if (engine->is_timed)
        clo_carve(&block, &engine->finish_ns, executions);
    return clo_block_take(&block, arena) ? CLO_OK : clo_fail_memory("the state of a job");
}

static void arm(clo_engine *engine)
{
    const clo_program *program = engine->program;

    for (uint32_t i = 0; i < program->executions + program->barriers; i++)
        clo_countdown_arm(&engine->pending[i], clo_program_needs(program, i));
}

clo_status clo_engine_create(const clo_program *program, bool copies, bool is_timed, clo_arena *arena, clo_engine **out)
{
    clo_engine *engine = clo_arena_take(arena, 1, sizeof *engine);
    if (engine == NULL)
        return clo_fail_memory("a job");
    engine->program = program;
    engine->is_timed = is_timed;

    bool asks_for_stages = program->crosses_memories || (program->is_replay && is_timed);
    clo_status status = allocate_state(engine, arena);
    if (status == CLO_OK && program->barriers > 0 && asks_for_stages)
        status = clo_stages_create(&engine->stages, program, arena);
    if (status == CLO_OK)
        status = clo_replicas_create(&engine->replicas, program, arena);
    if (status == CLO_OK)
        status = clo_data_create(&engine->data, program, copies, arena);
    if (status == CLO_OK)
        status = clo_control_flow_create(&engine->control_flow, program->graph, 0, arena);
    engine->data.control_flow = &engine->control_flow;
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
    engine->replicas.run = engine->run;
    engine->control_flow.seed++;
    if (engine->data.winner != NULL)
        clo_data_begin(&engine->data);
    if (was_cut)
        arm(engine);
}

/* The parts of the stage that an edge comes from; NULL: it does not go through a barrier. */
static const clo_stage_part *parts_of(const clo_engine *engine, const clo_inputs *inputs, uint32_t *count)
{
    uint32_t barrier = clo_program_barrier(engine->program, inputs->task);

    if (barrier == CLO_NONE)
        return NULL;
    *count = engine->stages.parts_count[barrier];
    return engine->stages.parts + engine->stages.parts_first[barrier];
}

/* When data from an executor that were ready at ready_ns, or are sent then, are where `executor` reads them. Over an
 * empty edge nothing comes: it does not take the latency of a link either. */
static int64_t arrival_ns(const clo_engine *engine, const uint64_t *bytes, uint32_t from, uint32_t executor,
                          int64_t ready_ns)
{
    if (bytes == NULL)
        return ready_ns;
    return clo_time_add(clo_platform_transfer_ns(engine->program->platform, *bytes, from, executor), ready_ns);
}

int64_t clo_engine_arrival_ns(const clo_engine *engine, uint32_t execution, uint32_t executor, int64_t now_ns)
{
    const clo_program *program = engine->program;
    bool is_replay = program->is_replay;
    int64_t latest_ns = now_ns, ns;

    if (!program->crosses_memories && !is_replay)
        return now_ns;
    clo_inputs inputs = clo_inputs_of(program, execution);
    bool is_skipped = clo_control_flow_skips(&engine->control_flow, clo_program_task(program, execution));
    while (clo_inputs_next(&inputs)) {
        uint32_t count = inputs.count;
        const clo_stage_part *parts = parts_of(engine, &inputs, &count);
        bool is_empty = is_skipped || clo_control_flow_is_dead(&engine->control_flow, inputs.edge - 1);
        const uint64_t *bytes = is_empty ? NULL : &inputs.bytes;
        for (uint32_t i = 0; i<count; i++, latest_ns = ns> latest_ns ? ns : latest_ns)
            if (parts != NULL) {
                ns = arrival_ns(engine, bytes, parts[i].executor, executor, is_replay ? parts[i].finish_ns : now_ns);
            } else {
                uint32_t source = clo_inputs_source(&inputs, i);
                ns = arrival_ns(engine, bytes, engine->ran_on[source], executor,
                                is_replay ? engine->finish_ns[source] : now_ns);
            }
    }
    return latest_ns;
}

void clo_engine_complete(clo_engine *engine, uint32_t execution)
{
    clo_release release = clo_engine_release(engine, execution); /* of a replica: empty */

    while (clo_engine_released(engine, &release) != CLO_NONE) { /* as many as it has successors */
    }
}

uint32_t clo_engine_ordered(clo_engine *engine, const clo_order *order, int64_t origin_ns)
{
    const clo_program *program = engine->program;
    uint32_t execution = order->is_replica ? clo_program_replica(program, order->stage, order->executor)
                                           : program->graph->first_instance[order->stage] + order->instance;

    clo_replicas_choose(&engine->replicas, execution, order->executor, engine->ran_on, engine->finish_ns,
                        clo_time_sub(order->decided_ns, origin_ns));
    return execution;
}

/* Where the output of what `source` was to make lies. */
static uint32_t ran_on(const clo_engine *engine, uint32_t source)
{
    return engine->ran_on[clo_data_winner(&engine->data, source)];
}

void clo_engine_count_transfers(const clo_engine *engine, uint32_t execution, uint32_t executor,
                                clo_engine_stats *stats)
{
    const clo_executor *executors = engine->program->platform->executors;
    uint32_t here = executors[executor].memory;

    if (!engine->program->crosses_memories)
        return;
    clo_inputs inputs = clo_inputs_of(engine->program, execution);
    while (clo_inputs_next(&inputs)) {
        uint64_t moved = 0;
        uint32_t count = inputs.count;
        if (clo_control_flow_is_dead(&engine->control_flow, inputs.edge - 1))
            continue;
        const clo_stage_part *parts = parts_of(engine, &inputs, &count);
        for (uint32_t i = 0; i < count; i++)
            if (parts != NULL)
                moved += executors[parts[i].executor].memory != here ? parts[i].count : 0;
            else
                moved += executors[ran_on(engine, clo_inputs_source(&inputs, i))].memory != here;
        stats->transfers += moved;
        stats->transferred_bytes += moved * inputs.bytes;
    }
}

/* Runs the body, if there is one, and notes which arm a branch chose. */
static int run_body(clo_engine *engine, clo_task_fn body, clo_call *call, clo_engine_stats *stats)
{
    bool is_branch = clo_control_flow_has_branch(&engine->control_flow, call->task);
    uint32_t arm = CLO_NONE;

    if (is_branch)
        engine->control_flow.arm[call->task] = CLO_NONE; /* it may fail */
    call->arm = is_branch ? &arm : NULL;
    int code = body != NULL ? clo_body_call(body, call) : 0;
    call->arm = NULL; /* it was ours */
    if (code == 0 && is_branch)
        code = clo_control_flow_choose(&engine->control_flow, call->task, arm);
    if (code != CLO_PENDING) /* else it has not ended yet */
        clo_counter_add(&stats->executed, 1);
    return code;
}

int clo_engine_call(clo_engine *engine, uint32_t execution, uint32_t executor, int64_t expected_ns,
                    const clo_engine_scratch *scratch, clo_engine_stats *stats)
{
    const clo_program *program = engine->program;
    uint32_t instance = clo_program_instance(program, execution), task = program->graph->task_of[instance];
    bool is_replica = execution >= program->instances;

    if (!program->is_replay && engine->ran_on[execution] != executor) /* of a pair it was written before (hedge.h) */
        engine->ran_on[execution] = executor;
    clo_engine_count_transfers(engine, execution, executor, stats);
    clo_data_run run = {.ran_on = engine->ran_on, .number = engine->run};
    clo_gathered inputs = clo_data_gather(&engine->data, &run, execution, executor, scratch, &stats->copied_bytes);
    if (engine->data.handles.data != NULL)
        clo_handles_fetch(&engine->data.handles, &run, instance, executor, &stats->copied_bytes);
    stats->duplicates += is_replica;
    clo_call call = {.task = task, .executor = executor};
    void *argument;
    clo_task_fn body = clo_program_body(program, task, executor, &argument);
    if (body == NULL)
        return run_body(engine, NULL, &call, stats);

    call = (clo_call){
        .argument = argument,
        .task = task,
        .executor = executor,
        .inputs_count = inputs.count,
        .inputs = inputs.inputs,
        .inputs_bytes = inputs.bytes,
        .output = clo_data_output(&engine->data, execution),
        .expected_ns = expected_ns,
        .is_replica = is_replica,
    };
    uint32_t range = instance - program->graph->first_instance[task];
    clo_graph_serve(program->graph, task, range, &call);
    if (engine->data.handles.data != NULL)
        clo_handles_show(&engine->data.handles, task, executor, &call);
    call.output_bytes = (size_t)clo_graph_output_bytes(program->graph, task, range);
    return run_body(engine, body, &call, stats);
}

clo_trace_event clo_engine_event(const clo_engine *engine, uint32_t execution, int64_t start_ns, int64_t finish_ns)
{
    const clo_program *program = engine->program;
    const clo_control_flow *control_flow = &engine->control_flow;
    uint32_t instance = clo_program_instance(program, execution), task = program->graph->task_of[instance];
    bool is_skipped = clo_control_flow_skips(control_flow, task);
    bool chose = !is_skipped && clo_control_flow_has_branch(control_flow, task) && control_flow->arm[task] != CLO_NONE;

    return (clo_trace_event){
        .task = task,
        .instance = instance - program->graph->first_instance[task],
        .executor = engine->ran_on[execution],
        .is_replica = execution >= program->instances,
        .start_ns = start_ns,
        .finish_ns = finish_ns,
        .is_skipped = is_skipped,
        .arm = chose ? control_flow->arm[task] : 0,
    };
}

const void *clo_engine_content(const clo_engine *engine, uint32_t handle)
{
    clo_data_run run = {.ran_on = engine->ran_on, .number = engine->run};

    return clo_handles_content(&engine->data.handles, &run, handle);
}

static uint64_t hash_handle(const clo_engine *engine, uint32_t handle, uint64_t hash)
{
    const clo_handle *row = &engine->program->graph->data->handles[handle];
    const unsigned char *content = row->address == NULL ? clo_engine_content(engine, handle) : NULL;

    for (uint64_t i = 0; content != NULL && i < row->bytes; i++)
        hash = (hash ^ content[i]) * 0x100000001b3u;
    return hash;
}

uint64_t clo_engine_output_hash(const clo_engine *engine)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (uint32_t h = 0; h < clo_graph_handles(engine->program->graph); h++)
        hash = hash_handle(engine, h, hash);
    if (engine->data.output_at == NULL)
        return hash;
    for (uint32_t execution = 0; execution < engine->program->instances; execution++) {
        if (clo_control_flow_skips(&engine->control_flow, engine->program->graph->task_of[execution]))
            continue; /* what lies there is of another run */
        const unsigned char *output = clo_data_output(&engine->data, clo_data_winner(&engine->data, execution));
        uint64_t bytes = clo_data_output_bytes(&engine->data, execution);
        for (uint64_t i = 0; output != NULL && i < bytes; i++)
            hash = (hash ^ output[i]) * 0x100000001b3u;
    }
    return hash;
}
