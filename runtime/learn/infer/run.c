/* run.c - the operations in order. Values lie as rows of numbers, each row rounded up to 16 numbers as kernels want it;
 * what was never written is zero. Within a loop the stages go from the last to the first: children stand behind their
 * parents, so they are done. */
#include "learn/infer/run.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdbool.h>
#include <string.h>

typedef struct run {
    const clo_model *model;
    const clo_kernels *kernels;
    const clo_model_case *input;
    unsigned char *rows[CLO_MODEL_VALUES_MAX];
    uint32_t rows_count[4];
    bool has_edges;
} run;

static void *row_of(const run *r, uint32_t value, uint32_t row)
{
    const clo_format_value *v = &r->model->values[value];

    return r->rows[value] + (size_t)row * clo_up(v->width, CLO_LANES) * clo_number_bytes(v->number);
}

/* The row of `value` that belongs to `row` of a value of `domain`. */
static const void *row_for(const run *r, uint32_t value, uint32_t domain, uint32_t row)
{
    uint32_t mine = r->model->values[value].domain;

    if (mine == domain)
        return row_of(r, value, row);
    if (mine == CLO_MODEL_GLOBAL)
        return row_of(r, value, 0);
    return row_of(r, value, domain == CLO_MODEL_STAGE ? r->input->job_of_stage[row] : r->input->job_of_limit[row]);
}

static void dense(const run *r, const clo_format_op *op, uint32_t row)
{
    const clo_dense *layer = &r->model->dense[op->argument];

    if (r->model->values[op->in[0]].number == CLO_MODEL_S8)
        r->kernels->dense_node_s8(layer, row_of(r, op->in[0], row), row_of(r, op->out, row));
    else
        r->kernels->dense_node_s16(layer, row_of(r, op->in[0], row), row_of(r, op->out, row));
}

static void join(const run *r, const clo_format_op *op, uint32_t row)
{
    const clo_dense *layer = &r->model->dense[op->argument];
    uint32_t domain = r->model->values[op->out].domain;
    const int32_t *parts[CLO_MODEL_OP_INPUTS] = {NULL};

    for (uint32_t i = 0; i < CLO_MODEL_OP_INPUTS && op->in[i] != CLO_MODEL_NONE; i++)
        parts[i] = row_for(r, op->in[i], domain, row);
    const clo_partials partials = {layer->outputs, parts[0], parts[1], parts[2]};
    r->kernels->split_node(&layer->rule, &partials, row_of(r, op->out, row));
}

static void put_sums(const run *r, const clo_format_op *op, const int32_t *sums, void *out)
{
    const clo_format_value *in = &r->model->values[op->in[0]];
    uint32_t number = r->model->values[op->out].number;

    if (number == CLO_MODEL_S8)
        r->kernels->clamp_s8(sums, in->width, INT8_MIN, INT8_MAX, out);
    else if (number == CLO_MODEL_S16)
        r->kernels->clamp_s16(sums, in->width, INT16_MIN, INT16_MAX, out);
    else
        memcpy(out, sums, in->width * sizeof *sums);
}

static void add_rows(const run *r, const clo_format_op *op, const uint32_t *members, uint32_t count, int32_t *sums)
{
    const clo_format_value *in = &r->model->values[op->in[0]];
    const clo_rows rows = {members, count, in->width, clo_up(in->width, CLO_LANES)};
    int32_t part[CLO_MODEL_WIDTH_MAX];

    if (in->number == CLO_MODEL_S8)
        r->kernels->sum_rows_s8(&rows, (const void *)r->rows[op->in[0]], part);
    else
        r->kernels->sum_rows_s16(&rows, (const void *)r->rows[op->in[0]], part);
    for (uint32_t i = 0; i < in->width; i++)
        sums[i] = (int32_t)((uint32_t)sums[i] + (uint32_t)part[i]);
}

static void sum(const run *r, const clo_format_op *op, uint32_t row)
{
    uint32_t members[CLO_MODEL_GOLDEN_ROWS_MAX], count = 0;
    const clo_format_value *in = &r->model->values[op->in[0]];
    int32_t sums[CLO_MODEL_WIDTH_MAX] = {0};

    for (uint32_t i = 0; i < r->rows_count[in->domain]; i++) {
        if (in->domain == CLO_MODEL_JOB || r->input->job_of_stage[i] == row)
            members[count++] = i;
        if (count == CLO_MODEL_GOLDEN_ROWS_MAX) {
            add_rows(r, op, members, count, sums);
            count = 0;
        }
    }
    add_rows(r, op, members, count, sums);
    put_sums(r, op, sums, row_of(r, op->out, row));
}

static void sum_children(const run *r, const clo_format_op *op, uint32_t row)
{
    uint32_t from = r->input->child_begin[row], to = r->input->child_begin[row + 1];
    int32_t sums[CLO_MODEL_WIDTH_MAX] = {0};

    add_rows(r, op, r->input->children + from, to - from, sums);
    put_sums(r, op, sums, row_of(r, op->out, row));
}

static int32_t number_at(const void *row, uint32_t number, uint32_t i)
{
    return number == CLO_MODEL_S8 ? ((const int8_t *)row)[i] : ((const int16_t *)row)[i];
}

static void add(const run *r, const clo_format_op *op, uint32_t row)
{
    const clo_format_value *out = &r->model->values[op->out];
    int32_t sums[CLO_MODEL_WIDTH_MAX] = {0};

    for (uint32_t i = 0; i < CLO_MODEL_OP_INPUTS && op->in[i] != CLO_MODEL_NONE; i++)
        for (uint32_t k = 0; k < out->width; k++)
            sums[k] += number_at(row_of(r, op->in[i], row), out->number, k);
    if (out->number == CLO_MODEL_S8)
        r->kernels->clamp_s8(sums, out->width, INT8_MIN, INT8_MAX, row_of(r, op->out, row));
    else
        r->kernels->clamp_s16(sums, out->width, INT16_MIN, INT16_MAX, row_of(r, op->out, row));
}

static void apply(const run *r, const clo_format_op *op, uint32_t row)
{
    const void *table = op->op == CLO_MODEL_TANH || op->op == CLO_MODEL_LOOKUP
                            ? r->model->data + r->model->tables[op->argument].offset
                            : NULL;
    uint32_t width = r->model->values[op->out].width;

    if (op->on != CLO_MODEL_ALL &&
        (r->input->child_begin[row] == r->input->child_begin[row + 1]) != (op->on == CLO_MODEL_LEAVES))
        return;
    switch ((clo_model_operation)op->op) {
    case CLO_MODEL_DENSE:
        dense(r, op, row);
        break;
    case CLO_MODEL_JOIN:
        join(r, op, row);
        break;
    case CLO_MODEL_SUM:
        sum(r, op, row);
        break;
    case CLO_MODEL_SUM_CHILDREN:
        sum_children(r, op, row);
        break;
    case CLO_MODEL_ADD:
        add(r, op, row);
        break;
    case CLO_MODEL_TANH:
        r->kernels->tanh_s16(table, row_of(r, op->in[0], row), width, row_of(r, op->out, row));
        break;
    case CLO_MODEL_LOOKUP:
        r->kernels->lookup_s8(table, row_of(r, op->in[0], row), width, row_of(r, op->out, row));
        break;
    case CLO_MODEL_LOOP:
    case CLO_MODEL_END:
        break;
    }
}

/* Returns the index of the loop's END. */
static uint32_t run_loop(const run *r, uint32_t begin)
{
    const clo_format_op *ops = r->model->ops, *loop = &ops[begin];
    uint32_t end = begin;

    while (ops[end].op != CLO_MODEL_END) /* clo_check_ops: there is one */
        end++;
    if (!r->has_edges && loop->in[0] != CLO_MODEL_NONE) {
        const clo_format_value *out = &r->model->values[loop->out];
        memcpy(r->rows[loop->out], r->rows[loop->in[0]],
               (size_t)r->input->stages * clo_up(out->width, CLO_LANES) * clo_number_bytes(out->number));
        return end;
    }
    for (uint32_t row = r->input->stages; row-- > 0;)
        for (uint32_t i = begin + 1; i < end; i++)
            apply(r, &ops[i], row);
    return end;
}

static void put_inputs(const run *r)
{
    const int16_t *from = r->input->inputs;

    for (uint32_t v = 0; v < r->model->counts[CLO_PART_VALUES]; v++) {
        const clo_format_value *value = &r->model->values[v];
        for (uint32_t row = 0; value->is_input && row < r->rows_count[value->domain]; row++) {
            void *to = row_of(r, v, row);
            for (uint32_t i = 0; i < value->width; i++, from++) {
                if (value->number == CLO_MODEL_S8)
                    ((int8_t *)to)[i] = (int8_t)*from;
                else
                    ((int16_t *)to)[i] = *from;
            }
        }
    }
}

/* Scores lie 16 numbers apart. */
static void take(const run *r, uint32_t value, uint32_t count, int32_t *out)
{
    for (uint32_t i = 0; i < count; i++)
        out[i] = *(const int32_t *)row_of(r, value, i);
}

/* Where each value lies; returns the bytes of all, 0 if they are too many. */
static size_t place(const clo_model *model, const uint32_t rows_count[4], size_t at[CLO_MODEL_VALUES_MAX])
{
    clo_layout layout = {0};

    for (uint32_t v = 0; v < model->counts[CLO_PART_VALUES]; v++)
        at[v] = clo_layout_add(&layout,
                               (size_t)rows_count[model->values[v].domain] * clo_up(model->values[v].width, CLO_LANES),
                               clo_number_bytes(model->values[v].number));
    return layout.overflow ? 0 : layout.bytes + 1;
}

size_t clo_run_bytes(const clo_model *model, uint32_t stages, uint32_t jobs, uint32_t limits)
{
    const uint32_t rows_count[4] = {stages, jobs, 1, limits};
    size_t at[CLO_MODEL_VALUES_MAX];

    return place(model, rows_count, at);
}

void clo_run_ops_in(const clo_model *model, const clo_kernels *kernels, const clo_model_case *input, void *memory,
                    int32_t *scores, int32_t *limits)
{
    run r = {.model = model,
             .kernels = kernels,
             .input = input,
             .rows_count = {input->stages, input->jobs, 1, input->limits}};
    size_t at[CLO_MODEL_VALUES_MAX];

    r.has_edges = input->child_begin[input->stages] > 0;
    memset(memory, 0, place(model, r.rows_count, at));
    for (uint32_t v = 0; v < model->counts[CLO_PART_VALUES]; v++)
        r.rows[v] = (unsigned char *)memory + at[v];
    put_inputs(&r);
    for (uint32_t i = 0; i < model->counts[CLO_PART_OPS]; i++) {
        if (model->ops[i].op == CLO_MODEL_LOOP)
            i = run_loop(&r, i);
        else
            for (uint32_t row = 0; row < r.rows_count[model->values[model->ops[i].out].domain]; row++)
                apply(&r, &model->ops[i], row);
    }
    take(&r, model->header->score, input->stages, scores);
    if (limits != NULL && model->header->limit != CLO_MODEL_NONE)
        take(&r, model->header->limit, input->limits, limits);
}

clo_status clo_run_ops(const clo_model *model, const clo_kernels *kernels, const clo_model_case *input, int32_t *scores,
                       int32_t *limits)
{
    size_t bytes = clo_run_bytes(model, input->stages, input->jobs, input->limits);
    void *memory = bytes == 0 ? NULL : clo_allocate_aligned(bytes, 1);

    if (memory == NULL)
        return clo_fail_memory("the values of a model");
    clo_run_ops_in(model, kernels, input, memory, scores, limits);
    clo_free(memory);
    return CLO_OK;
}
