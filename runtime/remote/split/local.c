/* local.c - see local.h. */
#include "remote/split/local.h"

#include "base/memory.h"
#include "base/status.h"
#include "graph/graph.h"
#include "io/cluster/cluster.h"
#include "platform/model/platform.h"
#include "remote/split/bodies.h"

#include <stdlib.h>
#include <string.h>

#define BUFFER_STEP 64 /* bytes that buffers are aligned to */

static bool is_mine(const clo_local *local, uint32_t placement)
{
    return clo_split_machine(local->split, placement) == local->machine;
}

static const clo_graph *whole_graph(const clo_local *local)
{
    return clo_cost_graph(local->split->cost);
}

/* The body of the task on executors of this kind, and its argument. */
static clo_task_fn body_of(const clo_graph *graph, uint32_t task, const char *kind_name, void **argument)
{
    *argument = graph->rows[task].argument;
    for (uint32_t k = 0; k < graph->kinds && graph->rows[task].has_kind_body; k++) {
        const clo_graph_special *special = clo_graph_special_find(graph, task, k);
        if (special != NULL && special->body != NULL && strcmp(graph->kind_names[k], kind_name) == 0) {
            *argument = special->argument;
            return special->body;
        }
    }
    return graph->rows[task].body;
}

/* Numbers the machine's tasks; counts their inputs and sends. */
static clo_status number_tasks(clo_local *local, size_t *inputs)
{
    const clo_split *split = local->split;
    const clo_graph *graph = whole_graph(local);

    local->task_of = clo_allocate(split->placements_count, sizeof *local->task_of);
    if (local->task_of == NULL)
        return clo_fail_memory("a machine's part of a plan");
    *inputs = 0;
    for (uint32_t p = 0; p < split->placements_count; p++) {
        uint32_t task = split->placements[p].task;
        local->task_of[p] = is_mine(local, p) ? local->tasks_count++ : CLO_NONE;
        if (graph->rows[task].may_pend)
            return clo_fail(CLO_ERR_UNSUPPORTED,
                            "task %u has may_pend; bodies that finish later run on one machine only", task);
        for (uint32_t k = graph->in_first[task]; k < graph->in_first[task + 1] && is_mine(local, p); k++)
            *inputs += clo_graph_instances_of(graph, clo_graph_source(graph, k));
    }
    return CLO_OK;
}

static clo_status take_memory(clo_local *local, size_t inputs)
{
    const clo_split *split = local->split;
    uint64_t bytes = 0;

    local->receive_of = clo_allocate(split->transfers_count, sizeof *local->receive_of);
    if (local->receive_of == NULL)
        return clo_fail_memory("a machine's part of a plan");
    for (uint32_t t = 0; t < split->transfers_count; t++) {
        local->receive_of[t] = CLO_NONE;
        local->receives_count += split->transfers[t].to == local->machine;
        local->sends_count += split->transfers[t].from == local->machine;
        if (split->transfers[t].to == local->machine)
            bytes += split->transfers[t].bytes / BUFFER_STEP * BUFFER_STEP + BUFFER_STEP;
    }
    size_t limit = clo_memory_limit_default();
    if (bytes > SIZE_MAX / 2 || (limit > 0 && bytes > limit))
        return clo_fail(CLO_ERR_LIMIT, "the inputs from other machines take %llu bytes; this machine has too few",
                        (unsigned long long)bytes);
    local->tasks = clo_allocate(local->tasks_count, sizeof *local->tasks);
    local->receives = clo_allocate(local->receives_count, sizeof *local->receives);
    local->inputs = clo_allocate(inputs, sizeof *local->inputs);
    local->inputs_bytes = clo_allocate(inputs, sizeof *local->inputs_bytes);
    local->input_source = clo_allocate(inputs, sizeof *local->input_source);
    local->input_receive = clo_allocate(inputs, sizeof *local->input_receive);
    local->inputs_count = inputs;
    local->sends = clo_allocate(local->sends_count, sizeof *local->sends);
    local->links = clo_allocate(split->transfers_count, sizeof *local->links);
    local->buffers = clo_allocate_lazy(bytes + 1);
    if (local->tasks == NULL || local->receives == NULL || local->inputs == NULL || local->inputs_bytes == NULL ||
        local->input_source == NULL || local->input_receive == NULL || local->sends == NULL || local->links == NULL ||
        local->buffers == NULL)
        return clo_fail_memory("a machine's part of a plan");
    return CLO_OK;
}

/* To sort by. */
typedef struct due {
    uint32_t first_use, transfer;
    int64_t arrival_ns;
} due;

static int compare_due(const void *a, const void *b)
{
    const due *x = a, *y = b;

    if (x->first_use != y->first_use)
        return x->first_use < y->first_use ? -1 : 1;
    if (x->arrival_ns != y->arrival_ns)
        return x->arrival_ns < y->arrival_ns ? -1 : 1;
    return x->transfer < y->transfer ? -1 : x->transfer > y->transfer;
}

static clo_status order_receives(clo_local *local)
{
    const clo_split *split = local->split;
    uint32_t count = 0;
    size_t at = 0;
    due *list = clo_allocate(local->receives_count, sizeof *list);

    if (list == NULL)
        return clo_fail_memory("a machine's part of a plan");
    for (uint32_t t = 0; t < split->transfers_count; t++)
        if (split->transfers[t].to == local->machine)
            list[count++] = (due){split->transfers[t].first_use, t, split->transfers[t].arrival_ns};
    qsort(list, count, sizeof *list, compare_due);
    for (uint32_t r = 0; r < count; r++) {
        uint64_t bytes = split->transfers[list[r].transfer].bytes;
        local->receives[r] = (clo_receive){
            .local = local, .transfer = list[r].transfer, .buffer = bytes > 0 ? local->buffers + at : NULL};
        clo_countdown_arm(&local->receives[r].both, 2);
        local->receive_of[list[r].transfer] = r;
        at += (size_t)(bytes / BUFFER_STEP * BUFFER_STEP + BUFFER_STEP);
    }
    clo_free(list);
    return CLO_OK;
}

static int compare_sources(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* Each task's transfers, by their index. */
static clo_status list_sends(clo_local *local)
{
    const clo_split *split = local->split;
    uint64_t *pairs = clo_allocate(local->sends_count, sizeof *pairs); /* task << 32 | transfer */
    uint32_t count = 0;

    if (pairs == NULL)
        return clo_fail_memory("a machine's part of a plan");
    for (uint32_t t = 0; t < split->transfers_count; t++)
        if (split->transfers[t].from == local->machine)
            pairs[count++] = (uint64_t)local->task_of[split->transfers[t].source] << 32 | t;
    qsort(pairs, count, sizeof *pairs, compare_sources);
    for (uint32_t s = 0; s < count; s++) {
        clo_local_task *task = &local->tasks[pairs[s] >> 32];
        if (task->sends_count++ == 0)
            task->first_send = s;
        local->sends[s] = (uint32_t)pairs[s];
    }
    clo_free(pairs);
    return CLO_OK;
}

/* One input: an edge from a task of this machine, or from the receive. */
static clo_status add_input(clo_local *local, uint32_t placement, uint32_t instance, uint64_t bytes, size_t at)
{
    const clo_graph *graph = whole_graph(local);
    uint32_t source = clo_split_source(local->split, placement, instance, bytes), from = local->task_of[source];

    local->inputs_bytes[at] = (size_t)clo_graph_output(graph, graph->task_of[instance]);
    local->input_source[at] = from;
    if (from == CLO_NONE) {
        uint32_t r = local->receive_of[clo_split_transfer(local->split, instance, local->machine)];
        local->inputs[at] = local->receives[r].buffer;
        local->input_receive[at] = r;
        from = local->tasks_count + r;
    }
    return clo_graph_add_edge(local->graph, from, local->task_of[placement], 0);
}

static clo_status add_inputs(clo_local *local)
{
    const clo_graph *graph = whole_graph(local);
    clo_status status = CLO_OK;
    size_t at = 0;

    for (uint32_t p = 0; p < local->split->placements_count; p++) {
        if (!is_mine(local, p))
            continue;
        clo_local_task *task = &local->tasks[local->task_of[p]];
        uint32_t id = local->split->placements[p].task;
        task->first_input = at;
        for (uint32_t k = graph->in_first[id]; k < graph->in_first[id + 1]; k++)
            for (uint32_t i = graph->first_instance[clo_graph_source(graph, k)];
                 i < graph->first_instance[clo_graph_source(graph, k) + 1] && status == CLO_OK; i++)
                status = add_input(local, p, i, clo_graph_in_bytes(graph, k), at++);
        if (status != CLO_OK)
            return status;
        task->inputs_count = local->has_outputs ? (uint32_t)(at - task->first_input) : 0;
    }
    return status;
}

static clo_status add_task(clo_local *local, uint32_t placement)
{
    const clo_graph *graph = whole_graph(local);
    const clo_placement *p = &local->split->placements[placement];
    const clo_platform *whole = clo_cluster_platform(local->split->cluster);
    clo_local_task *mine = &local->tasks[local->task_of[placement]];
    clo_task task;
    clo_status status = clo_graph_task(graph, p->task, &task);
    uint32_t executor = p->executor - local->first_executor;

    if (status != CLO_OK)
        return status;
    const char *kind = whole->kind_names[whole->executors[p->executor].kind];
    void *argument;
    clo_task_fn body = body_of(graph, p->task, kind, &argument);
    *mine = (clo_local_task){.local = local,
                             .placement = placement,
                             .body = body,
                             .argument = argument,
                             .expected_ns = clo_cost_execution_ns(local->split->cost, p->task, p->executor),
                             .instances = task.instances};
    task.instances = 1;
    task.work_ns = 0; /* the body is given what it is expected to take */
    task.body = clo_local_execute;
    task.argument = mine;
    task.duplicable = 0;
    task.executors_mask = 0;
    status = clo_graph_add_task(local->graph, &task, NULL);
    return status == CLO_OK ? clo_graph_set_executors(local->graph, local->task_of[placement], &executor, 1) : status;
}

static clo_status fill_graph(clo_local *local, uint32_t slots)
{
    const clo_graph *graph = whole_graph(local);
    uint32_t own = clo_platform_executors(local->platform) - slots;
    clo_status status = clo_graph_create(graph->name, &local->graph);

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX && status == CLO_OK; r++)
        if (graph->resource_names[r] != NULL)
            status = clo_graph_set_resource(local->graph, r, graph->resource_names[r]);
    for (uint32_t p = 0; p < local->split->placements_count && status == CLO_OK; p++)
        if (is_mine(local, p))
            status = add_task(local, p);
    for (uint32_t r = 0; r < local->receives_count && status == CLO_OK; r++) {
        const clo_task task = {.body = clo_local_await, .argument = &local->receives[r], .may_pend = 1};
        uint32_t id, slot = own + r % slots;
        status = clo_graph_add_task(local->graph, &task, &id);
        if (status == CLO_OK)
            status = clo_graph_set_executors(local->graph, id, &slot, 1);
    }
    if (status == CLO_OK && local->tasks_count + local->receives_count == 0) { /* a graph has tasks */
        const clo_task nothing = CLO_TASK_INIT;
        status = clo_graph_add_task(local->graph, &nothing, NULL);
    }
    if (status == CLO_OK)
        status = list_sends(local);
    if (status == CLO_OK)
        status = add_inputs(local);
    return status == CLO_OK ? clo_graph_seal(local->graph) : status;
}

/* The machine's own executors, and slots. Data are read in place, so links do not count. */
static clo_status make_platform(clo_local *local, uint32_t slots)
{
    const clo_platform *own = local->split->cluster->own[local->machine];
    uint32_t count = own->executors_count + slots;
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_executor *executors = clo_allocate(count, sizeof *executors);
    const char **kinds = clo_allocate((size_t)own->kinds_count + 1, sizeof *kinds);

    if (executors == NULL || kinds == NULL)
        return clo_free(executors), clo_free(kinds), clo_fail_memory("a machine's platform");
    memcpy(executors, own->executors, own->executors_count * sizeof *executors);
    memcpy(kinds, own->kind_names, own->kinds_count * sizeof *kinds);
    kinds[own->kinds_count] = "slot of a transfer";
    for (uint32_t s = own->executors_count; s < count; s++)
        executors[s] = (clo_executor){.kind = own->kinds_count,
                                      .os_index = CLO_OS_SLOT,
                                      .speed_q16 = {CLO_SPEED_ONE, CLO_SPEED_ONE, CLO_SPEED_ONE, CLO_SPEED_ONE}};
    desc.name = own->name;
    desc.executors_count = count;
    desc.executors = executors;
    desc.kinds_count = own->kinds_count + 1;
    desc.kind_names = kinds;
    desc.machines_count = own->machines_count;
    desc.capacities = own->capacities;
    desc.resource_names = (const char *const *)own->resource_names;
    desc.coherent = 1;
    clo_status status = clo_platform_create(&desc, &local->platform);
    clo_free(executors);
    clo_free(kinds);
    return status;
}

/* Places in the order of the whole plan serve as times; a receive comes just before its first use. */
static clo_status make_plan(clo_local *local, uint32_t slots)
{
    const clo_split *split = local->split;
    uint32_t own = clo_platform_executors(local->platform) - slots;
    size_t count = (size_t)local->tasks_count + local->receives_count;
    clo_placement *list = clo_allocate(count + 1, sizeof *list);

    if (list == NULL)
        return clo_fail_memory("a machine's plan");
    for (uint32_t t = 0; t < local->tasks_count; t++) {
        uint32_t p = local->tasks[t].placement;
        int64_t at = 2 * (int64_t)split->place[p] + 1;
        list[t] = (clo_placement){.task = t,
                                  .executor = split->placements[p].executor - local->first_executor,
                                  .start_ns = at,
                                  .finish_ns = at + 1};
    }
    for (uint32_t r = 0; r < local->receives_count; r++) {
        int64_t at = 2 * (int64_t)split->transfers[local->receives[r].transfer].first_use;
        list[local->tasks_count + r] = (clo_placement){
            .task = local->tasks_count + r, .executor = own + r % slots, .start_ns = at, .finish_ns = at + 1};
    }
    if (count == 0)
        list[count++] = (clo_placement){.finish_ns = 1};
    clo_status status = clo_plan_from_placements(local->cost, "part", list, count, &local->plan);
    clo_free(list);
    return status;
}

static clo_status fill(clo_local *local, uint32_t slots_max)
{
    size_t inputs = 0;
    clo_status status = number_tasks(local, &inputs);

    if (status == CLO_OK)
        status = take_memory(local, inputs);
    if (status == CLO_OK)
        status = order_receives(local);
    uint32_t slots = local->receives_count < slots_max ? local->receives_count : slots_max;
    if (status == CLO_OK)
        status = make_platform(local, slots);
    if (status == CLO_OK)
        status = fill_graph(local, slots);
    if (status == CLO_OK)
        status = clo_cost_create(local->graph, local->platform, &local->cost);
    return status == CLO_OK ? make_plan(local, slots) : status;
}

clo_status clo_local_open(const clo_split *split, uint32_t machine, uint32_t slots_max, clo_eventcount *eventcount,
                          clo_local **out)
{
    const clo_platform *own = split->cluster->own[machine];

    if (!own->coherent)
        return clo_fail(CLO_ERR_UNSUPPORTED,
                        "machine '%s' is not coherent: what other machines send lies in one memory; leave out what "
                        "cannot read it in place",
                        clo_cluster_machine_name(split->cluster, machine));
    clo_local *local = clo_allocate(1, sizeof *local);
    if (local == NULL)
        return clo_fail_memory("a machine's part of a plan");
    local->split = split;
    local->machine = machine;
    local->first_executor = split->cluster->first_executor[machine];
    local->eventcount = eventcount;
    local->has_outputs = whole_graph(local)->has_outputs;
    clo_stack_init(&local->ready);
    clo_status status = fill(local, slots_max);
    if (status != CLO_OK)
        return clo_local_close(local), status;
    *out = local;
    return CLO_OK;
}

void clo_local_close(clo_local *local)
{
    if (local == NULL)
        return;
    clo_plan_destroy(local->plan);
    clo_cost_destroy(local->cost);
    clo_graph_destroy(local->graph);
    clo_platform_destroy(local->platform);
    clo_free(local->tasks);
    clo_free(local->receives);
    clo_free(local->receive_of);
    clo_free(local->task_of);
    clo_free(local->inputs);
    clo_free(local->inputs_bytes);
    clo_free(local->input_source);
    clo_free(local->input_receive);
    clo_free(local->sends);
    clo_free(local->links);
    clo_free(local->buffers);
    clo_free(local);
}
