/* devices.c - kernels in place of bodies. One device of the driver null serves all models of an epoch; it may be lost at
 * any time, and graphs are prepared at any time, or never: outputs are the same in each case. */
#include "fuzz_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DATA_MAX = 8 };

/* What the kernel of a task needs to know to do what the body does. */
typedef struct fuzz_kernel {
    clo_kernel kernel;
    clo_scalar scalar; /* the address of this */
    const struct fuzz_kernel *self;
    const body_trait *trait;
    uint32_t task, data_count, data_modes[DATA_MAX];
    bool has_output;
} fuzz_kernel;

static clo_device *device;
static uint32_t function;

bool draw_kernel(thread *t, graph_shape shape)
{
    return with(WITH_kernels) && shape != SHAPE_LOOP && chance(t, 12);
}

/* The body's computation, on the device's memory. */
static void run(void *const *operands, const size_t *bytes, uint32_t count, const clo_scalar *scalars)
{
    const void *inputs[CLO_KERNEL_OPERANDS_MAX];
    fuzz_kernel *k;

    memcpy(&k, scalars[0].value, sizeof k);
    uint32_t inputs_count = count - k->data_count - k->has_output;
    for (uint32_t i = 0; i < inputs_count; i++)
        inputs[i] = bytes[i] > 0 ? operands[i] : NULL;
    const clo_call call = {.task = k->task,
                           .instances = 1,
                           .count = 1,
                           .inputs_count = inputs_count,
                           .inputs = inputs,
                           .inputs_bytes = bytes,
                           .data_count = k->data_count,
                           .data = operands + inputs_count,
                           .data_bytes = bytes + inputs_count,
                           .data_modes = k->data_modes,
                           .output = k->has_output ? operands[count - 1] : NULL,
                           .output_bytes = k->has_output ? bytes[count - 1] : 0};
    fuzz_compute(&call, k->trait);
}

static const clo_host_kernel host_kernel = {.name = "fuzz", .run = run};

static clo_status open_device(thread *t, clo_device **out)
{
    static const char *const faults[] = {"", "", "fail", "refuse", "lose", "hang", "late"};
    const char *fault = faults[below(t, sizeof faults / sizeof faults[0])];
    clo_device_config config = CLO_DEVICE_CONFIG_INIT;
    char selector[120];

    snprintf(selector, sizeof selector, "launch_ns=%u,copy_ns=%u,depth=%u%s%s%s", below(t, 20000), below(t, 3000),
             1 + below(t, 4), fault[0] != '\0' ? "," : "", fault, fault[0] != '\0' ? "=" : "");
    if (fault[0] != '\0')
        snprintf(selector + strlen(selector), 20, "%u", 1 + below(t, 300));
    config.host_kernels = &host_kernel;
    config.host_kernels_count = 1;
    config.limit_ns = 1000000 + below(t, 20000000);
    config.requests_max = 1 + below(t, 6);
    config.spin_ns = below(t, 30000);
    config.no_trial = chance(t, 50);
    return clo_device_open(clo_driver_find("null"), selector, &config, out);
}

void device_start(thread *t)
{
    if (open_device(t, &device) != CLO_OK || clo_device_find(device, "fuzz", &function) != CLO_OK)
        broken("no device: %s", clo_last_error());
}

void device_stop(void)
{
    clo_device_close(device);
    device = NULL;
}

void kernels_make(thread *t, model_slot *model, uint32_t tasks)
{
    static const char *const kinds[] = {"slot", "slot", "k0", "cortex-a55"};
    uint32_t kind;

    model->kernels = calloc(tasks, sizeof *model->kernels);
    if (model->kernels == NULL)
        broken("no memory");
    for (uint32_t i = 0; i < tasks; i++) {
        fuzz_kernel *k = &model->kernels[i];
        if (!model->traits[i].has_kernel)
            continue;
        k->self = k;
        k->scalar = (clo_scalar){&k->self, sizeof k->self};
        k->trait = &model->traits[i];
        k->task = i;
        k->kernel = (clo_kernel){.size = sizeof k->kernel,
                                 .device = device,
                                 .function = function,
                                 .scalars = &k->scalar,
                                 .scalars_count = 1,
                                 .fallback = fuzz_body,
                                 .argument = &model->traits[i]};
        if (clo_graph_kind(model->graph, kinds[below(t, 4)], &kind) != CLO_OK ||
            clo_graph_set_kernel(model->graph, i, kind, &k->kernel) != CLO_OK)
            broken("clo_graph_set_kernel: %s", clo_last_error());
    }
}

void kernels_complete(model_slot *model, uint32_t tasks)
{
    clo_access access;
    clo_task task;

    for (uint32_t i = 0; i < tasks; i++) {
        if (clo_graph_task(model->graph, i, &task) != CLO_OK)
            broken("clo_graph_task: %s", clo_last_error());
        model->kernels[i].has_output = task.output_bytes > 0;
    }
    for (uint32_t a = 0; a < clo_graph_accesses(model->graph); a++) {
        if (clo_graph_access(model->graph, a, &access) != CLO_OK)
            broken("clo_graph_access: %s", clo_last_error());
        if (access.task < tasks) {
            fuzz_kernel *k = &model->kernels[access.task];
            k->data_modes[k->data_count++ % DATA_MAX] = access.mode;
        }
    }
}

/* A device of its own, whose life is one call. */
static void open_and_close(thread *t)
{
    clo_device *own;

    if (expect(open_device(t, &own), CLO_OK) == CLO_OK)
        clo_device_close(own);
}

void call_device(thread *t)
{
    model_slot *model = &w.models[below(t, MODELS)];
    clo_device_stats stats = CLO_DEVICE_STATS_INIT;
    uint32_t found;

    log_begin(t, "calls on devices", 0);
    switch (below(t, 4)) {
    case 0:
        (void)expect(clo_device_get_stats(device, &stats), CLO_OK);
        break;
    case 1:
        (void)expect(clo_device_find(device, chance(t, 80) ? "fuzz" : "other", &found), CLO_OK, CLO_ERR_STATE,
                     CLO_ERR_ARGUMENT);
        break;
    case 2:
        open_and_close(t);
        break;
    default:
        if (use_begin(&model->object, USE_SHARED)) {
            (void)expect(clo_device_prepare(device, model->graph), CLO_OK, CLO_ERR_STATE, CLO_ERR_LIMIT, CLO_ERR_SYSTEM,
                         CLO_ERR_TIMEOUT);
            use_end(&model->object, USE_SHARED);
        }
    }
    log_end(t, 0);
}
