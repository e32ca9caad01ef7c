/* learn/format/opened.h - an open model: views into the file, which stays where it is. After clo_model_open nothing of
 * it is ever written. learn/ sees arrays only: no graph, no platform, no job. */
#ifndef CLO_LEARN_FORMAT_OPENED_H
#define CLO_LEARN_FORMAT_OPENED_H

#include "kernels/kernels.h"
#include "learn/format/format.h"

struct clo_model {
    const unsigned char *data;
    /* NULL: data is not the model's */
    void *owned;
    const clo_format_header *header;
    const clo_format_feature *features;
    const clo_format_value *values;
    const clo_format_layer *layers;
    const clo_format_table *tables;
    const clo_format_op *ops;
    const clo_format_golden *golden;
    /* header->parts[i].count */
    uint32_t counts[CLO_PARTS];
    /* [layers], pointers into data */
    clo_dense *dense;
};

/* Bytes of one number. */
static inline uint32_t clo_number_bytes(uint32_t number)
{
    return number == CLO_S8 ? 1 : number == CLO_S16 ? 2 : 4;
}

static inline uint32_t clo_up(uint32_t count, uint32_t unit)
{
    return (count + unit - 1) / unit * unit;
}

/* The inputs of a golden vector, in place. */
static inline clo_model_case clo_golden_case(const clo_model *model, const clo_format_golden *golden)
{
    return (clo_model_case){.stages = golden->stages,
                            .jobs = golden->jobs,
                            .limits = golden->limits,
                            .job_of_stage = (const void *)(model->data + golden->job_of_stage),
                            .child_begin = (const void *)(model->data + golden->child_begin),
                            .children = (const void *)(model->data + golden->children),
                            .job_of_limit = (const void *)(model->data + golden->job_of_limit),
                            .inputs = (const void *)(model->data + golden->inputs)};
}

#endif
