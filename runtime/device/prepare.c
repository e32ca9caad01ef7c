/* prepare.c - what the kernels of a graph need on a device, reserved and tried before the first run. */
#define _POSIX_C_SOURCE 200809L
#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "device/kernel.h"
#include "device/places.h"
#include "device/queue.h"
#include "device/thread.h"
#include "graph/graph.h"

#include <string.h>
#include <time.h>

#define TURN_NS 50000 /* between looks at the driver in a trial */

/* The most that an execution needs. */
typedef struct need {
    uint64_t bytes;
    uint32_t inputs, data;
} need;

/* The next kernel of a task on this device, from row *at of its special rows on, which moves behind it; NULL: none. */
static const clo_kernel *next_kernel(const clo_device *device, const clo_graph *graph, uint32_t *at)
{
    while (*at != CLO_NONE) { /* at most the kinds of the graph */
        const clo_graph_special *special = &graph->specials[*at];
        *at = special->next;
        if (special->body == clo_kernel_body && ((const clo_kernel *)special->argument)->device == device)
            return special->argument;
    }
    return NULL;
}

static uint32_t first_special(const clo_graph *graph, uint32_t task)
{
    return graph->rows[task].has_kind_body ? clo_graph_special_first(graph, task) : CLO_NONE;
}

/* What the executions of a task are given. */
typedef struct given {
    const clo_graph *graph;
    uint32_t task;
    uint64_t inputs;
    uint32_t data;
    const clo_graph_access_row *accesses;
} given;

static given given_to(const clo_graph *graph, uint32_t task)
{
    given to = {.graph = graph, .task = task};

    for (uint32_t k = graph->in_first[task]; k < graph->in_first[task + 1] && graph->has_outputs; k++)
        to.inputs += clo_graph_instances_of(graph, clo_graph_source(graph, k));
    if (graph->data != NULL && graph->data->first != NULL) {
        to.data = graph->data->first[task + 1] - graph->data->first[task];
        to.accesses = graph->data->accesses + graph->data->first[task];
    }
    return to;
}

/* Bytes of input `index`. */
static uint64_t input_bytes(const given *to, uint32_t index)
{
    const clo_graph *graph = to->graph;

    for (uint32_t k = graph->in_first[to->task]; k < graph->in_first[to->task + 1]; k++) {
        uint32_t from = clo_graph_source(graph, k), instances = clo_graph_instances_of(graph, from);
        if (index < instances)
            return clo_graph_output_bytes(graph, from, index);
        index -= instances;
    }
    return 0;
}

/* The bytes and the mode of an operand. False: there is no such input or handle. */
static bool view_of(const given *to, clo_operand operand, clo_operand_view *out)
{
    if (operand.source == CLO_OPERAND_INPUT) {
        *out = (clo_operand_view){NULL, (size_t)input_bytes(to, operand.index), CLO_ACCESS_READ};
        return operand.index < to->inputs;
    }
    if (operand.source == CLO_OPERAND_HANDLE) {
        if (operand.index >= to->data)
            return false;
        const clo_graph_access_row *access = &to->accesses[operand.index];
        *out = (clo_operand_view){NULL, (size_t)to->graph->data->handles[access->handle].bytes,
                                  access->mode & CLO_ACCESS_UPDATE};
        return true;
    }
    if (operand.source == CLO_OPERAND_OUTPUT)
        *out = (clo_operand_view){NULL, (size_t)clo_graph_output(to->graph, to->task), CLO_ACCESS_WRITE};
    else
        *out = (clo_operand_view){NULL, operand.bytes, operand.mode};
    return true;
}

/* Lays the operands out in a place, without addresses; adds to what is needed at most. */
static clo_status lay_out(const clo_graph *graph, uint32_t task, const clo_kernel *kernel, clo_place *place, need *most)
{
    given to = given_to(graph, task);
    uint64_t bytes = 0, count = kernel->operands_count;

    if (graph->control_flow != NULL && graph->control_flow->branch_of[task] != CLO_NONE)
        return clo_fail(CLO_ERR_ARGUMENT, "task %u chooses an arm, which a kernel cannot", task);
    if (kernel->operands == NULL)
        count = to.inputs + to.data + (clo_graph_output(graph, task) > 0);
    if (count > CLO_KERNEL_OPERANDS_MAX || to.inputs > UINT16_MAX || to.data > UINT16_MAX)
        return clo_fail(CLO_ERR_LIMIT,
                        "task %u gives its kernel %llu operands; at most %d, of at most %d inputs: name them", task,
                        (unsigned long long)count, CLO_KERNEL_OPERANDS_MAX, UINT16_MAX);
    place->operands = (uint32_t)count;
    for (uint32_t i = 0; i < place->operands; i++) {
        clo_operand operand = clo_kernel_operand_at(kernel, (uint32_t)to.inputs, to.data, i);
        if (!view_of(&to, operand, &place->views[i]))
            return clo_fail(CLO_ERR_ARGUMENT, "task %u, operand %u: there is no %s %u", task, i,
                            operand.source == CLO_OPERAND_INPUT ? "input" : "handle", operand.index);
        if (place->views[i].bytes > 1ull << 46)
            return clo_fail(CLO_ERR_LIMIT, "task %u, operand %u has more than 2^46 bytes", task, i);
        place->offsets[i] = (size_t)bytes;
        bytes += clo_operand_room(place->views[i].bytes);
    }
    most->bytes = bytes > most->bytes ? bytes : most->bytes;
    most->inputs = to.inputs > most->inputs ? (uint32_t)to.inputs : most->inputs;
    most->data = to.data > most->data ? to.data : most->data;
    return CLO_OK;
}

/* Launches the kernel once, with zeros as its operands. */
static clo_status try_kernel(clo_device *device, const clo_graph *graph, uint32_t task, const clo_kernel *kernel)
{
    const struct timespec turn = {.tv_nsec = TURN_NS};
    int64_t patience_ns = device->config.limit_ns < INT64_MAX / 2 ? device->config.limit_ns : INT64_MAX / 2;
    clo_device_completion done = {.status = CLO_ERR_TIMEOUT};
    need ignored = {0};
    clo_status status = lay_out(graph, task, kernel, &device->places[0], &ignored);

    if (status != CLO_OK)
        return status;
    device->places[0].is_full = false;
    memset(device->places[0].is_kept, 0, sizeof device->places[0].is_kept);
    status = clo_device_give(device, 0, kernel);
    int64_t until_ns = clo_clock_ns() + patience_ns;
    while (status == CLO_OK && device->driver->poll(device->opened, &done, 1) == 0 && clo_clock_ns() < until_ns)
        nanosleep(&turn, NULL);
    if (status == CLO_OK && done.status != CLO_OK)
        status = clo_fail(done.status, "a trial of the kernel of task %u on device '%s': %s", task, device->facts.name,
                          clo_status_text(done.status));
    if (status != CLO_OK)
        clo_device_give_up(device, clo_last_error()); /* it leaves commands behind that nobody waits for */
    return status;
}

/* The functions that were tried. */
typedef struct tried {
    uint32_t *functions;
    size_t capacity, count;
} tried;

/* Once for each function. */
static clo_status try_once(clo_device *device, const clo_graph *graph, uint32_t task, const clo_kernel *kernel,
                           tried *t)
{
    void *grown = t->functions;
    size_t at = 0;

    while (at < t->count && t->functions[at] != kernel->function)
        at++;
    if (at < t->count)
        return CLO_OK;
    if (clo_grow(&grown, &t->capacity, t->count + 1, sizeof *t->functions) != 0)
        return clo_fail_memory("the kernels of a graph");
    t->functions = grown;
    t->functions[t->count++] = kernel->function;
    return try_kernel(device, graph, task, kernel);
}

static clo_status try_kernels(clo_device *device, const clo_graph *graph)
{
    tried t = {0};
    clo_status status = CLO_OK;

    for (uint32_t task = 0; task < graph->tasks; task++) {
        const clo_kernel *kernel;
        uint32_t at = first_special(graph, task);
        while (status == CLO_OK && (kernel = next_kernel(device, graph, &at)) != NULL)
            status = try_once(device, graph, task, kernel, &t);
    }
    clo_free(t.functions);
    return status;
}

/* What the kernels of the graph need on this device, if it has any. */
static clo_status find_need(const clo_device *device, const clo_graph *graph, need *most, bool *has_kernels)
{
    clo_status status = CLO_OK;
    clo_place place; /* where it is asked for */

    for (uint32_t task = 0; task < graph->tasks; task++) {
        const clo_kernel *kernel;
        uint32_t at = first_special(graph, task);
        while (status == CLO_OK && (kernel = next_kernel(device, graph, &at)) != NULL) {
            status = lay_out(graph, task, kernel, &place, most);
            *has_kernels = true;
        }
    }
    return status;
}

clo_status clo_device_prepare(clo_device *device, const clo_graph *graph)
{
    need most = {0};
    bool has_kernels = false;

    if (device == NULL || graph == NULL)
        return clo_fail_null("clo_device_prepare", "device or graph");
    if (!graph->sealed)
        return clo_fail(CLO_ERR_STATE, "clo_device_prepare: seal the graph first");
    clo_status status = clo_device_hold(device, "clo_device_prepare");
    if (status != CLO_OK)
        return status;
    status = find_need(device, graph, &most, &has_kernels);
    if (status == CLO_OK && (most.inputs > device->inputs_max || most.data > device->data_max))
        status = clo_device_make_requests(device, most.inputs > device->inputs_max ? most.inputs : device->inputs_max,
                                          most.data > device->data_max ? most.data : device->data_max);
    if (status == CLO_OK && has_kernels)
        status = clo_places_make(device, most.bytes > 0 ? most.bytes : CLO_OPERAND_ALIGN);
    if (status == CLO_OK && !device->config.no_trial)
        status = try_kernels(device, graph);
    clo_device_let_go(device);
    return status;
}
