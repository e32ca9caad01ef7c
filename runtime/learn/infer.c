/* infer.c - a model in the caller's memory. */
#include "learn/infer.h"

#include "base/memory.h"
#include "learn/run.h"

#include <string.h>

struct clo_infer {
    const clo_model *model;
    clo_kernels kernels;
    const clo_model_case *input;
    void *memory;
    int32_t *scores, *limits;
    uint32_t *job_of_limit;
    int16_t *inputs;
    uint64_t multiplications[4];
};

static size_t input_numbers(const clo_model *model, const uint32_t rows[4])
{
    size_t numbers = 0;

    for (uint32_t v = 0; v < model->counts[CLO_PART_VALUES]; v++)
        numbers += model->values[v].is_input ? (size_t)rows[model->values[v].domain] * model->values[v].width : 0;
    return numbers;
}

typedef struct places {
    size_t memory, scores, limits, job_of_limit, inputs;
} places;

static size_t place(const clo_model *model, const clo_infer_sizes *sizes, places *at)
{
    const uint32_t rows[4] = {sizes->stages, sizes->jobs, 1, sizes->limits};
    clo_layout layout = {0};

    clo_layout_add(&layout, 1, sizeof(clo_infer));
    at->memory = clo_layout_add(&layout, clo_run_bytes(model, sizes->stages, sizes->jobs, sizes->limits), 1);
    at->scores = clo_layout_add(&layout, sizes->stages, sizeof(int32_t));
    at->limits = clo_layout_add(&layout, sizes->limits, sizeof(int32_t));
    at->job_of_limit = clo_layout_add(&layout, sizes->limits, sizeof(uint32_t));
    at->inputs = clo_layout_add(&layout, input_numbers(model, rows), sizeof(int16_t));
    return layout.overflow ? 0 : layout.bytes;
}

size_t clo_infer_bytes(const clo_model *model, const clo_infer_sizes *sizes)
{
    places at;

    return place(model, sizes, &at);
}

clo_infer *clo_infer_init(const clo_model *model, const clo_kernels *kernels, const clo_infer_sizes *sizes,
                          void *memory)
{
    unsigned char *bytes = memory;
    clo_infer *infer = memory;
    places at;

    place(model, sizes, &at);
    *infer = (clo_infer){.model = model,
                         .kernels = *kernels,
                         .memory = bytes + at.memory,
                         .scores = (void *)(bytes + at.scores),
                         .limits = (void *)(bytes + at.limits),
                         .job_of_limit = (void *)(bytes + at.job_of_limit),
                         .inputs = (void *)(bytes + at.inputs)};
    for (uint32_t i = 0; i < model->counts[CLO_PART_OPS]; i++)
        if (model->ops[i].op == CLO_MODEL_DENSE) {
            const clo_dense *layer = &model->dense[model->ops[i].argument];
            infer->multiplications[model->values[model->ops[i].out].domain] += (uint64_t)layer->inputs * layer->outputs;
        }
    return infer;
}

void clo_infer_encode(clo_infer *infer, const clo_model_case *input)
{
    infer->input = input;
    clo_run_ops_in(infer->model, &infer->kernels, input, infer->memory, infer->scores, infer->limits);
}

void clo_infer_score(clo_infer *infer, const uint32_t *stages, uint32_t count, int32_t *scores)
{
    for (uint32_t i = 0; i < count; i++)
        scores[i] = infer->scores[stages[i]];
}

void clo_infer_limits(clo_infer *infer, uint32_t job, const int16_t *inputs, uint32_t count, int32_t *scores)
{
    const clo_model *model = infer->model;
    clo_model_case input = *infer->input;
    const uint32_t rows[4] = {input.stages, input.jobs, 1, input.limits};
    const int16_t *from = input.inputs;
    int16_t *to = infer->inputs;

    memset(scores, 0, count * sizeof *scores);
    for (uint32_t v = 0; v < model->counts[CLO_PART_VALUES]; v++) {
        const clo_format_value *value = &model->values[v];
        uint32_t mine = value->domain == CLO_MODEL_LIMIT ? count : rows[value->domain];
        if (!value->is_input)
            continue;
        memcpy(to, value->domain == CLO_MODEL_LIMIT ? inputs : from, (size_t)mine * value->width * sizeof *to);
        inputs += value->domain == CLO_MODEL_LIMIT ? (size_t)mine * value->width : 0;
        from += (size_t)rows[value->domain] * value->width;
        to += (size_t)mine * value->width;
    }
    for (uint32_t i = 0; i < count; i++)
        infer->job_of_limit[i] = job;
    input.limits = count;
    input.job_of_limit = infer->job_of_limit;
    input.inputs = infer->inputs;
    clo_run_ops_in(model, &infer->kernels, &input, infer->memory, infer->scores, scores);
}

void clo_infer_run(clo_infer *infer, const clo_model_case *input, int32_t *scores, int32_t *limits)
{
    infer->input = input;
    clo_run_ops_in(infer->model, &infer->kernels, input, infer->memory, infer->scores, limits);
    memcpy(scores, infer->scores, input->stages * sizeof *scores);
}

uint64_t clo_infer_steps_encode(const clo_infer *infer, uint32_t stages, uint32_t jobs)
{
    return (infer->multiplications[CLO_MODEL_STAGE] * stages + infer->multiplications[CLO_MODEL_JOB] * jobs +
            infer->multiplications[CLO_MODEL_GLOBAL] + 63) /
           64;
}

uint64_t clo_infer_steps_heads(const clo_infer *infer, uint32_t stages, uint32_t limits)
{
    return (infer->multiplications[CLO_MODEL_LIMIT] * limits + stages + 63) / 64;
}
