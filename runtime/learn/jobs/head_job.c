/* head_job.c - what is computed of a job when it is made; and the operations on single rows. */
#include "learn/infer/head.h"

#include "base/carve.h"
#include "base/memory.h"

#include <string.h>

enum { MARK_NONE = -1 };

void clo_head_clamp(const clo_head *head, const clo_format_op *op, const int32_t *sums, void *out)
{
    uint32_t width = head->model->values[op->out].width, number = head->model->values[op->out].number;

    if (number == CLO_S8)
        head->kernels.clamp_s8(sums, width, INT8_MIN, INT8_MAX, out);
    else if (number == CLO_S16)
        head->kernels.clamp_s16(sums, width, INT16_MIN, INT16_MAX, out);
    else
        memcpy(out, sums, width * sizeof *sums);
}

static int32_t number_at(const void *row, uint32_t number, uint32_t i)
{
    return number == CLO_S8 ? ((const int8_t *)row)[i] : ((const int16_t *)row)[i];
}

void clo_head_add(const clo_head *head, uint32_t value, const void *row, int32_t sign, int32_t *sums)
{
    const clo_format_value *v = &head->model->values[value];

    for (uint32_t i = 0; i < v->width; i++)
        sums[i] = (int32_t)((uint32_t)sums[i] + (uint32_t)(sign * number_at(row, v->number, i)));
}

uint64_t clo_head_input(const clo_head *head, uint32_t value, const int32_t *raw, void *row)
{
    const clo_format_value *v = &head->model->values[value];
    uint32_t first = head->feature[value] + (v->domain == CLO_MODEL_STAGE ? 0
                                             : v->domain == CLO_MODEL_JOB ? CLO_FEATURES_STAGE
                                                                          : CLO_FEATURES_STAGE + CLO_FEATURES_JOB);
    uint64_t clamped = 0;

    for (uint32_t i = 0; i < v->width; i++) {
        const clo_format_feature *f = &head->model->features[first + i];
        const clo_model_feature feature = {f->name, f->mult, f->shift, f->lo, f->hi};
        int16_t seen;
        clamped += clo_features_scale(&feature, 1, &raw[head->feature[value] + i], &seen);
        if (v->number == CLO_S8)
            ((int8_t *)row)[i] = (int8_t)seen;
        else
            ((int16_t *)row)[i] = seen;
    }
    return clamped;
}

static void add_values(const clo_head *head, const clo_format_op *op, const void *const in[], void *out)
{
    int32_t sums[CLO_MODEL_WIDTH_MAX] = {0};

    for (uint32_t i = 0; i < CLO_MODEL_OP_INPUTS && op->in[i] != CLO_MODEL_NONE; i++)
        clo_head_add(head, op->in[i], in[i], 1, sums);
    clo_head_clamp(head, op, sums, out);
}

void clo_head_apply(const clo_head *head, const clo_format_op *op, const void *const in[CLO_MODEL_OP_INPUTS], void *out)
{
    const clo_model *model = head->model;
    uint32_t width = model->values[op->out].width;

    switch ((clo_model_operation)op->op) {
    case CLO_MODEL_DENSE:
        if (model->values[op->in[0]].number == CLO_S8)
            head->kernels.dense_node_s8(&model->dense[op->argument], in[0], out);
        else
            head->kernels.dense_node_s16(&model->dense[op->argument], in[0], out);
        break;
    case CLO_MODEL_JOIN: {
        const clo_dense *layer = &model->dense[op->argument];
        const clo_partials partials = {layer->outputs, in[0], in[1], in[2]};
        head->kernels.split_node(&layer->rule, &partials, out);
        break;
    }
    case CLO_MODEL_ADD:
        add_values(head, op, in, out);
        break;
    case CLO_MODEL_TANH:
        head->kernels.tanh_s16((const void *)(model->data + model->tables[op->argument].offset), in[0], width, out);
        break;
    case CLO_MODEL_LOOKUP:
        head->kernels.lookup_s8((const void *)(model->data + model->tables[op->argument].offset), in[0], width, out);
        break;
    case CLO_MODEL_SUM:
    case CLO_MODEL_SUM_CHILDREN:
    case CLO_MODEL_LOOP:
    case CLO_MODEL_END:
        break;
    }
}

/* Offsets from the begin of a job's memory. */
typedef struct places {
    size_t records, features, place, all, left, given, part, scratch, bytes;
} places;

static places place_all(const clo_head *head, uint32_t stages)
{
    clo_layout layout = {0};
    places at = {0};

    clo_layout_add(&layout, 1, clo_up(sizeof(clo_head_job), CLO_CACHE_LINE_BYTES));
    at.scratch = clo_layout_add(&layout, 1, head->scratch_bytes + CLO_CACHE_LINE_BYTES);
    at.all = clo_layout_add(&layout, head->sums[0].numbers + CLO_LANES, sizeof(int32_t));
    at.left = clo_layout_add(&layout, head->sums[0].numbers + CLO_LANES, sizeof(int32_t));
    at.given = clo_layout_add(&layout, head->sums[1].numbers + CLO_LANES, sizeof(int32_t));
    at.part = clo_layout_add(&layout, clo_up(clo_head_joined(head), CLO_LANES), sizeof(int32_t));
    at.records = clo_layout_add(&layout, (size_t)stages + 1, head->record_bytes);
    at.features = clo_layout_add(&layout, (size_t)stages * CLO_FEATURES_STAGE + CLO_LANES, sizeof(int32_t));
    at.place = clo_layout_add(&layout, (size_t)stages + CLO_LANES, sizeof(uint32_t));
    at.bytes = layout.overflow ? 0 : layout.bytes;
    return at;
}

size_t clo_head_job_bytes(const clo_head *head, uint32_t stages)
{
    return place_all(head, stages).bytes;
}

clo_head_job *clo_head_job_open(const clo_head *head, uint32_t stages, void *memory)
{
    const places at = place_all(head, stages);
    unsigned char *bytes = memory;
    clo_head_job *job = memory;

    *job = (clo_head_job){.stages = stages,
                          .records = bytes + at.records,
                          .features = (void *)(bytes + at.features),
                          .place = (void *)(bytes + at.place),
                          .all = (void *)(bytes + at.all),
                          .left = (void *)(bytes + at.left),
                          .given = (void *)(bytes + at.given),
                          .part = (void *)(bytes + at.part),
                          .scratch = bytes + at.scratch};
    return job;
}

/* A record has 64 bytes or more, the figures of a stage 48. */
clo_stage_figures clo_head_job_figures(const clo_head *head, clo_head_job *job)
{
    int64_t *times = (void *)job->records;
    size_t stages = job->stages;
    uint32_t *counts = (void *)(times + 5 * stages);

    (void)head;
    return (clo_stage_figures){times,  times + stages, times + 2 * stages, times + 3 * stages, times + 4 * stages,
                               counts, counts + stages};
}

static void *row_of(const clo_head *head, const clo_head_job *job, uint32_t value, uint32_t stage)
{
    return head->place[value] == CLO_HEAD_KEPT ? clo_head_record(head, job, value, stage)
                                               : job->scratch + head->offset[value];
}

static void sum_children(const clo_head *head, const clo_head_job *job, const clo_format_op *op, const clo_rows *rows,
                         void *out)
{
    int32_t sums[CLO_MODEL_WIDTH_MAX];
    const void *values = job->records + head->offset[op->in[0]];

    if (head->model->values[op->in[0]].number == CLO_S8)
        head->kernels.sum_rows_s8(rows, values, sums);
    else
        head->kernels.sum_rows_s16(rows, values, sums);
    clo_head_clamp(head, op, sums, out);
}

/* All operations of one stage; its children are done. */
static void prepare_stage(const clo_head *head, clo_head_job *job, const clo_head_graph *graph, uint32_t stage)
{
    const clo_model *model = head->model;
    uint32_t from = graph->child_begin[stage], count = graph->child_begin[stage + 1] - from;

    for (uint32_t v = 0; v < model->counts[CLO_PART_VALUES]; v++)
        if (model->values[v].is_input && model->values[v].domain == CLO_MODEL_STAGE)
            job->clamped += clo_head_input(head, v, job->features + (size_t)stage * CLO_FEATURES_STAGE,
                                           row_of(head, job, v, stage));
    for (uint32_t i = 0; i < head->ops_count[CLO_MODEL_STAGE]; i++) {
        const clo_format_op *op = &model->ops[head->ops[CLO_MODEL_STAGE][i]];
        void *out = row_of(head, job, op->out, stage);
        if (op->on != CLO_MODEL_ALL && (count == 0) != (op->on == CLO_MODEL_LEAVES))
            continue;
        if (op->op == CLO_MODEL_SUM_CHILDREN) {
            const clo_format_value *in = &model->values[op->in[0]];
            const clo_rows rows = {graph->children + from, count, in->width,
                                   head->record_bytes / clo_number_bytes(in->number)};
            sum_children(head, job, op, &rows, out);
            continue;
        }
        const void *in[CLO_MODEL_OP_INPUTS] = {NULL};
        for (uint32_t k = 0; k < CLO_MODEL_OP_INPUTS && op->in[k] != CLO_MODEL_NONE; k++)
            in[k] = row_of(head, job, op->in[k], stage);
        clo_head_apply(head, op, in, out);
    }
}

void clo_head_job_prepare(const clo_head *head, clo_head_job *job, const clo_head_graph *graph)
{
    memset(job->records, 0, (size_t)job->stages * head->record_bytes);
    memset(job->scratch, 0, head->scratch_bytes);
    memset(job->all, 0, head->sums[0].numbers * sizeof *job->all);
    memset(job->place, MARK_NONE, job->stages * sizeof *job->place);
    for (uint32_t i = graph->stages; i-- > 0;) {
        uint32_t stage = graph->order != NULL ? graph->order[i] : i;
        prepare_stage(head, job, graph, stage);
        for (uint32_t k = 0; k < head->sums[0].count; k++) {
            const clo_head_sum *sum = &head->sums[0].list[k];
            clo_head_add(head, sum->value, clo_head_record(head, job, sum->value, stage), 1, job->all + sum->at);
        }
    }
}
