/* kernel.c - see kernel.h. The body runs on the thread of a slot: it hands the call to the device's thread, and the
 * execution ends when that completes its token. */
#include "device/kernel.h"

#include "base/status.h"
#include "device/queue.h"
#include "engine/execution/body.h"
#include "graph/graph.h"

#include <string.h>

/* With it the token stays good until it is completed, also in a run that is cut short: the device may be using the
 * memory of the call. */
static void let_it_end(void *argument)
{
    (void)argument;
}

int clo_kernel_fallback(const clo_kernel *kernel, const clo_call *call)
{
    clo_call copy = *call;

    if (kernel->fallback == NULL)
        return CLO_FAILED_DEVICE;
    copy.argument = kernel->argument;
    return clo_body_call_apart(kernel->fallback, &copy);
}

uint32_t clo_kernel_operands(const clo_kernel *kernel, const clo_call *call)
{
    if (kernel->operands != NULL)
        return kernel->operands_count;
    return call->inputs_count + call->data_count + (call->output_bytes > 0);
}

static clo_operand_view input_of(const clo_call *call, uint32_t index)
{
    union { /* it is only read: the mode says so */
        const void *from;
        void *to;
    } at = {.from = call->inputs[index]};

    return (clo_operand_view){at.to, call->inputs_bytes[index], CLO_ACCESS_READ};
}

clo_operand clo_kernel_operand_at(const clo_kernel *kernel, uint32_t inputs, uint32_t data, uint32_t index)
{
    if (kernel->operands != NULL)
        return kernel->operands[index];
    if (index < inputs)
        return (clo_operand){.source = CLO_OPERAND_INPUT, .index = index};
    if (index - inputs < data)
        return (clo_operand){.source = CLO_OPERAND_HANDLE, .index = index - inputs};
    return (clo_operand){.source = CLO_OPERAND_OUTPUT};
}

bool clo_kernel_operand(const clo_kernel *kernel, const clo_call *call, uint32_t index, clo_operand_view *out)
{
    clo_operand operand = clo_kernel_operand_at(kernel, call->inputs_count, call->data_count, index);

    if (operand.source == CLO_OPERAND_INPUT && operand.index < call->inputs_count)
        *out = input_of(call, operand.index);
    else if (operand.source == CLO_OPERAND_HANDLE && operand.index < call->data_count)
        *out = (clo_operand_view){call->data[operand.index], call->data_bytes[operand.index],
                                  call->data_modes[operand.index] & CLO_ACCESS_UPDATE};
    else if (operand.source == CLO_OPERAND_OUTPUT)
        *out = (clo_operand_view){call->output, call->output_bytes, CLO_ACCESS_WRITE};
    else if (operand.source == CLO_OPERAND_MEMORY)
        *out = (clo_operand_view){operand.address, operand.bytes, operand.mode};
    else
        return false;
    return true;
}

int clo_kernel_body(const clo_call *call)
{
    const clo_kernel *kernel = call->argument;
    clo_device *device = kernel->device;
    clo_fail_text kept;
    clo_token token;

    clo_fail_keep(&kept);
    if (clo_device_is_forked(device) || clo_token_take(call, let_it_end, NULL, &token) != CLO_OK) {
        clo_fail_put_back(&kept); /* a simulator, which has no workers */
        return clo_kernel_fallback(kernel, call);
    }
    clo_request *request = clo_device_take_request(device, call);
    if (request == NULL) /* counted; the token is stale */
        return clo_kernel_fallback(kernel, call);
    request->kernel = kernel;
    request->token = token;
    clo_device_enqueue(device, request);
    return CLO_PENDING;
}

static clo_status check_operand(uint32_t task, uint32_t index, const clo_operand *operand)
{
    bool is_memory = operand->source == CLO_OPERAND_MEMORY;

    if (operand->source < CLO_OPERAND_INPUT || operand->source > CLO_OPERAND_MEMORY)
        return clo_fail(CLO_ERR_ARGUMENT, "task %u, operand %u: source is %u; use CLO_OPERAND_...", task, index,
                        operand->source);
    if (is_memory && (operand->address == NULL || operand->bytes == 0 || operand->mode < CLO_ACCESS_READ ||
                      operand->mode > CLO_ACCESS_UPDATE))
        return clo_fail(CLO_ERR_ARGUMENT,
                        "task %u, operand %u: memory needs an address, bytes, and CLO_ACCESS_READ, _WRITE or _UPDATE",
                        task, index);
    if (!is_memory && (operand->address != NULL || operand->bytes > 0 || operand->mode != 0))
        return clo_fail(CLO_ERR_ARGUMENT, "task %u, operand %u: address, bytes and mode are for CLO_OPERAND_MEMORY",
                        task, index);
    return CLO_OK;
}

static clo_status check_kernel(const clo_graph *graph, uint32_t task, const clo_kernel *kernel)
{
    clo_status status = CLO_OK;
    clo_task of_task;

    if (kernel->size != sizeof *kernel)
        return clo_fail(CLO_ERR_ARGUMENT, "task %u: kernel.size is %zu: use CLO_KERNEL_INIT", task, kernel->size);
    if (kernel->device == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "task %u: its kernel has no device; set clo_kernel.device", task);
    if (kernel->operands_count > CLO_KERNEL_OPERANDS_MAX || kernel->scalars_count > CLO_KERNEL_SCALARS_MAX)
        return clo_fail(CLO_ERR_LIMIT, "task %u: %u operands and %u scalars; at most %d and %d", task,
                        kernel->operands_count, kernel->scalars_count, CLO_KERNEL_OPERANDS_MAX, CLO_KERNEL_SCALARS_MAX);
    if ((kernel->operands_count > 0) != (kernel->operands != NULL) ||
        (kernel->scalars_count > 0) != (kernel->scalars != NULL))
        return clo_fail(CLO_ERR_ARGUMENT, "task %u: an array of its kernel and its count do not go together", task);
    for (uint32_t i = 0; i < kernel->scalars_count; i++)
        if (kernel->scalars[i].value == NULL || kernel->scalars[i].bytes == 0)
            return clo_fail(CLO_ERR_ARGUMENT, "task %u, scalar %u has no value", task, i);
    for (uint32_t i = 0; i < kernel->operands_count && status == CLO_OK; i++)
        status = check_operand(task, i, &kernel->operands[i]);
    if (status == CLO_OK)
        status = clo_graph_task(graph, task, &of_task);
    if (status == CLO_OK && (!of_task.may_pend || of_task.instances > 1))
        status = clo_fail(CLO_ERR_ARGUMENT, "task %u: %s", task,
                          of_task.may_pend ? "a kernel has one instance; give each a task of its own"
                                           : "a kernel finishes later; set clo_task.may_pend");
    return status;
}

clo_status clo_graph_set_kernel(clo_graph *graph, uint32_t task, uint32_t kind, const clo_kernel *kernel)
{
    if (graph == NULL || kernel == NULL)
        return clo_fail_null("clo_graph_set_kernel", "graph or kernel");
    clo_status status = check_kernel(graph, task, kernel);
    union { /* the body only reads it */
        const clo_kernel *kernel;
        void *argument;
    } as = {.kernel = kernel};

    return status == CLO_OK ? clo_graph_set_body_argument(graph, task, kind, clo_kernel_body, as.argument) : status;
}
