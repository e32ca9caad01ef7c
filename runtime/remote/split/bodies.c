/* bodies.c - see bodies.h. */
#include "remote/split/bodies.h"

#include "base/clock.h"

static void put_ready(const clo_local_task *task)
{
    clo_local *local = task->local;

    for (uint32_t s = 0; s < task->sends_count; s++) {
        uint32_t transfer = local->sends[task->first_send + s];
        clo_stack_push(&local->ready, transfer, &local->links[transfer]);
    }
    if (task->sends_count > 0)
        clo_eventcount_ring(local->eventcount);
}

int clo_local_execute(const clo_call *call)
{
    clo_local_task *task = call->argument;
    clo_local *local = task->local;
    const clo_placement *placement = &local->split->placements[task->placement];
    clo_call original = *call;
    const void **inputs = &local->inputs[task->first_input];

    for (uint32_t i = 0; i < task->inputs_count; i++)
        if (local->input_source[task->first_input + i] != CLO_NONE)
            inputs[i] = i < call->inputs_count ? call->inputs[i] : NULL;
    original.argument = task->argument;
    original.task = placement->task;
    original.instance = placement->instance;
    original.instances = task->instances;
    original.executor = placement->executor;
    original.is_replica = placement->is_replica;
    original.expected_ns = task->expected_ns;
    original.inputs_count = task->inputs_count;
    original.inputs = inputs;
    original.inputs_bytes = &local->inputs_bytes[task->first_input];
    task->output = call->output;
    task->start_ns = clo_clock_ns();
    int code = task->body != NULL ? task->body(&original) : 0;
    task->finish_ns = clo_clock_ns();
    if (code == 0)
        put_ready(task);
    return code;
}

int clo_local_await(const clo_call *call)
{
    clo_receive *receive = call->argument;

    if (clo_token_take(call, NULL, NULL, &receive->token) != CLO_OK)
        return -1;
    return clo_countdown_hit(&receive->both) ? 0 : CLO_PENDING;
}

void clo_local_arrived(clo_receive *receive, int64_t now_ns)
{
    receive->arrived_ns = now_ns;
    if (clo_countdown_hit(&receive->both) && clo_token_complete(receive->token, 0) != CLO_OK)
        return; /* the run was cut short */
}
