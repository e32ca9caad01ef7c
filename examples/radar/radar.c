/* radar.c - pulse-Doppler radar as a task graph: from the samples of known targets in noise to detections.
 *
 *   batches of pulses   matched filter ---.
 *                                          X   every block of ranges needs every pulse: the corner turn
 *   blocks of ranges    corner turn -> Doppler -> CFAR (also reads the neighbours' Doppler) -> merge
 *
 * All steps are pure functions of their inputs and write nothing but their output, so every task but the last is
 * declared duplicable, and the runtime owns all data in between. The last one also leaves the list in the application's
 * own memory, where the check finds it. The detections must be the cells of the targets, all and no other. */
#include "radar.h"

#include "chain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILTER, TURN, DOPPLER, CFAR, MERGE, KERNELS };
enum { OPTION_PULSES, OPTION_RANGES, OPTION_BATCH, OPTION_BLOCK };

typedef struct radar radar;

/* A step on a device: its operands, then the length of its transforms. */
typedef struct device_step {
    clo_kernel kernel;
    clo_operand operands[6];
    clo_scalar scalar;
    uint32_t length;
} device_step;

/* Argument of a task: which batch or block. */
typedef struct part {
    radar *radar;
    uint32_t index;
    device_step filter, doppler;
} part;

struct radar {
    scene scene;
    chain chain;
    uint32_t batches, blocks;
    part *parts;   /* [max(batches, blocks)], index = position */
    uint32_t *ids; /* [batches + 3 * blocks] tasks             */
    detections found;
    char compiler[48]; /* options for chain_program */
};

static int run_filter(const clo_call *call)
{
    const part *p = call->argument;

    chain_matched_filter(&p->radar->chain, p->index, call->output);
    return 0;
}

static int run_turn(const clo_call *call)
{
    const part *p = call->argument;

    chain_corner_turn(&p->radar->chain, p->index, call->inputs, call->output);
    return 0;
}

static int run_doppler(const clo_call *call)
{
    const part *p = call->argument;

    chain_doppler(&p->radar->chain, call->inputs[0], call->output);
    return 0;
}

/* Inputs: this block, then the one below (if there is one), then the one above (likewise). */
static int run_cfar(const clo_call *call)
{
    const part *p = call->argument;
    const bool has_below = p->index > 0, has_above = p->index + 1 < p->radar->blocks;
    const float *below = has_below ? call->inputs[1] : NULL, *above = has_above ? call->inputs[1 + has_below] : NULL;

    chain_cfar(&p->radar->chain, p->index, below, call->inputs[0], above, call->output);
    return 0;
}

static int run_merge(const clo_call *call)
{
    const part *p = call->argument;

    chain_merge(call->inputs, call->inputs_count, call->output);
    memcpy(&p->radar->found, call->output, sizeof p->radar->found);
    return 0;
}

static bool is_power_of_two(int64_t x)
{
    return (x & (x - 1)) == 0;
}

static const char *radar_open(application *app)
{
    radar *r = calloc(1, sizeof *r);
    const int64_t pulses = app->options[OPTION_PULSES].value, ranges = app->options[OPTION_RANGES].value;
    const int64_t batch = app->options[OPTION_BATCH].value, block = app->options[OPTION_BLOCK].value;

    app->data = r;
    if (r == NULL)
        return "out of memory; use fewer --pulses";
    if (!is_power_of_two(pulses) || !is_power_of_two(ranges) || pulses % batch != 0 || ranges % block != 0)
        return "--pulses and --ranges must be powers of two, --batch must divide the first and --block the second";
    r->batches = (uint32_t)(pulses / batch);
    r->blocks = (uint32_t)(ranges / block);
    uint32_t parts = r->batches > r->blocks ? r->batches : r->blocks;
    r->parts = calloc(parts, sizeof *r->parts);
    r->ids = calloc(r->batches + (size_t)3 * r->blocks, sizeof *r->ids);
    if (!r->parts || !r->ids || !scene_open(&r->scene, (uint32_t)pulses, (uint32_t)ranges, app->seed) ||
        !chain_open(&r->chain, &r->scene, (uint32_t)batch, (uint32_t)block))
        return "out of memory; use fewer --pulses";
    for (uint32_t i = 0; i < parts; i++)
        r->parts[i] = (part){.radar = r, .index = i};
    snprintf(r->compiler, sizeof r->compiler, "-DLENGTH=%lld", (long long)(pulses > ranges ? pulses : ranges));
    app->program_options = r->compiler;
    return NULL;
}

static void radar_close(application *app)
{
    radar *r = app->data;

    if (r != NULL) {
        chain_close(&r->chain);
        scene_close(&r->scene);
        free(r->parts);
        free(r->ids);
    }
    free(r);
    app->data = NULL;
}

/* Constant, and read only. */
static clo_operand constant(const float *numbers, size_t count)
{
    union { /* the mode says that nothing writes there */
        const float *from;
        void *to;
    } at = {numbers};

    return (clo_operand){
        .source = CLO_OPERAND_MEMORY, .mode = CLO_ACCESS_READ, .address = at.to, .bytes = count * sizeof *numbers};
}

/* The operands stand in the order of chain_opencl.c; one work item for each of `count` transforms. */
static clo_kernel *describe(device_step *step, const fft *transform, uint32_t operands, uint32_t count,
                            clo_task_fn body, part *argument)
{
    step->length = transform->length;
    step->operands[1] = constant(transform->cosine, transform->length);
    step->operands[2] = constant(transform->sine, transform->length);
    step->operands[operands - 1] = (clo_operand){.source = CLO_OPERAND_OUTPUT};
    step->scalar = (clo_scalar){&step->length, sizeof step->length};
    step->kernel = (clo_kernel){.size = sizeof step->kernel,
                                .operands = step->operands,
                                .operands_count = operands,
                                .scalars = &step->scalar,
                                .scalars_count = 1,
                                .global = {count},
                                .local = {1},
                                .fallback = body,
                                .argument = argument};
    return &step->kernel;
}

/* NULL: the step has no kernel. */
static clo_kernel *on_device(part *p, uint32_t kernel)
{
    const chain *c = &p->radar->chain;
    const uint32_t ranges = c->scene->ranges;

    if (kernel == FILTER) {
        p->filter.operands[0] = constant(scene_pulse(c->scene, p->index * c->batch).re, (size_t)2 * ranges * c->batch);
        p->filter.operands[3] = constant(c->filter_re, ranges);
        p->filter.operands[4] = constant(c->filter_im, ranges);
        return describe(&p->filter, &c->fast, 6, c->batch, run_filter, p);
    }
    if (kernel != DOPPLER)
        return NULL;
    p->doppler.operands[0] = (clo_operand){.source = CLO_OPERAND_INPUT};
    p->doppler.operands[3] = constant(c->window, c->scene->pulses);
    return describe(&p->doppler, &c->slow, 5, c->block, run_doppler, p);
}

static uint32_t add(application_graph *graph, uint32_t kernel, part *argument, uint64_t output_bytes)
{
    static const clo_task_fn bodies[KERNELS] = {run_filter, run_turn, run_doppler, run_cfar, run_merge};
    static const char *const names[KERNELS] = {"filter", "turn", "doppler", "cfar", "merge"};
    char name[32];

    snprintf(name, sizeof name, "%s(%u)", names[kernel], argument->index);
    clo_task task = {.name = name,
                     .body = bodies[kernel],
                     .argument = argument,
                     .output_bytes = output_bytes,
                     .task_class = kernel == TURN ? CLO_CLASS_MEMORY : CLO_CLASS_FLOAT,
                     .duplicable = kernel != MERGE};
    const uint32_t id = application_add_task(graph, kernel, &task);
    application_set_kernel(graph, kernel, on_device(argument, kernel));
    return id;
}

static void radar_build(application *app, application_graph *graph)
{
    radar *r = app->data;
    const uint64_t pulses = r->scene.pulses, ranges = r->scene.ranges, block = r->chain.block;
    const uint64_t compressed_bytes = r->chain.batch * ranges * 2 * sizeof(float);
    const uint64_t turned_bytes = block * pulses * 2 * sizeof(float), power_bytes = block * pulses * sizeof(float);
    uint32_t *filters = r->ids, *turns = filters + r->batches, *dopplers = turns + r->blocks;
    uint32_t *cfars = dopplers + r->blocks;

    for (uint32_t i = 0; i < r->batches; i++)
        filters[i] = add(graph, FILTER, &r->parts[i], compressed_bytes);
    for (uint32_t b = 0; b < r->blocks; b++) {
        turns[b] = add(graph, TURN, &r->parts[b], turned_bytes);
        dopplers[b] = add(graph, DOPPLER, &r->parts[b], power_bytes);
        for (uint32_t i = 0; i < r->batches; i++) /* of each batch, this block's share */
            application_add_edge(graph, filters[i], turns[b], turned_bytes / r->batches);
        application_add_edge(graph, turns[b], dopplers[b], turned_bytes);
    }
    for (uint32_t b = 0; b < r->blocks; b++) {
        cfars[b] = add(graph, CFAR, &r->parts[b], sizeof(detections));
        application_add_edge(graph, dopplers[b], cfars[b], power_bytes);
        if (b > 0)
            application_add_edge(graph, dopplers[b - 1], cfars[b], power_bytes);
        if (b + 1 < r->blocks)
            application_add_edge(graph, dopplers[b + 1], cfars[b], power_bytes);
    }
    uint32_t merge = add(graph, MERGE, &r->parts[0], sizeof(detections));
    for (uint32_t b = 0; b < r->blocks; b++)
        application_add_edge(graph, cfars[b], merge, sizeof(detections));
}

static void radar_prepare(application *app)
{
    radar *r = app->data;

    memset(&r->found, 0, sizeof r->found);
}

static bool radar_check(application *app, char *line, char *json, size_t bytes)
{
    const radar *r = app->data;
    const detections *found = &r->found;
    uint32_t matched = 0;

    for (uint32_t t = 0; t < TARGETS && t < found->count; t++)
        matched +=
            found->cells[t].range == r->scene.cells[t].range && found->cells[t].doppler == r->scene.cells[t].doppler;
    bool is_right = matched == TARGETS && found->count == TARGETS;
    snprintf(line, bytes, "%u detections, %u of %d targets found where they are: %s", found->count, matched, TARGETS,
             is_right ? "right" : "WRONG");
    snprintf(json, bytes, "\"detections\": %u, \"targets\": %d, \"matched\": %u", found->count, TARGETS, matched);
    return is_right;
}

void radar_describe(application *app, application_option *options)
{
    static const char *const kernels[KERNELS] = {"filter", "turn", "doppler", "cfar", "merge"};
    static const application_option defaults[RADAR_OPTIONS] = {
        [OPTION_PULSES] = {.name = "pulses",
                           .help = "pulses, a power of two",
                           .value = 256,
                           .quick_value = 64,
                           .low = 64,
                           .high = PULSES_MAX},
        [OPTION_RANGES] = {.name = "ranges",
                           .help = "samples a pulse, a power of two",
                           .value = 4096,
                           .quick_value = 2048,
                           .low = 2048,
                           .high = FFT_LENGTH_MAX},
        [OPTION_BATCH] =
            {.name = "batch", .help = "pulses a task", .value = 8, .quick_value = 8, .low = 1, .high = 4096},
        [OPTION_BLOCK] = {.name = "block",
                          .help = "range cells a task",
                          .value = 256,
                          .quick_value = 128,
                          .low = 32,
                          .high = FFT_LENGTH_MAX}};
    memcpy(options, defaults, sizeof defaults);
    *app = (application){.name = "radar",
                         .summary = "pulse-Doppler radar, the detections checked against the known targets",
                         .kernels = kernels,
                         .kernels_count = KERNELS,
                         .options = options,
                         .options_count = RADAR_OPTIONS,
                         .open = radar_open,
                         .close = radar_close,
                         .build = radar_build,
                         .prepare = radar_prepare,
                         .check = radar_check,
                         .program = chain_program};
}
