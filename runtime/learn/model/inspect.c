/* inspect.c - what a model is made of, for readers. */
#include "base/status.h"
#include "learn/format/opened.h"

#include <stddef.h>

static void count_work(const clo_model *model, clo_model_info *info)
{
    for (uint32_t i = 0; i < model->counts[CLO_PART_LAYERS]; i++)
        info->weights += (uint64_t)model->dense[i].inputs * model->dense[i].outputs;
    for (uint32_t i = 0; i < model->counts[CLO_PART_OPS]; i++)
        if (model->ops[i].op == CLO_MODEL_DENSE) {
            const clo_dense *layer = &model->dense[model->ops[i].argument];
            info->multiplications[model->values[model->ops[i].out].domain] += (uint64_t)layer->inputs * layer->outputs;
        }
}

clo_status clo_model_inspect(const clo_model *model, clo_model_info *info)
{
    clo_model_info mine = CLO_MODEL_INFO_INIT;

    if (model == NULL || info == NULL)
        return clo_fail_null("clo_model_inspect", "model or info");
    clo_status status = clo_result_check(info, CLO_BYTES_UP_TO(clo_model_info, multiplications), "info");
    if (status != CLO_OK)
        return status;
    mine.name = model->header->name;
    mine.kind = (clo_model_kind)model->header->kind;
    mine.major = model->header->major;
    mine.minor = model->header->minor;
    mine.feature_set = model->header->feature_set;
    mine.crc = model->header->crc;
    mine.features = model->counts[CLO_PART_FEATURES];
    mine.values = model->counts[CLO_PART_VALUES];
    mine.layers = model->counts[CLO_PART_LAYERS];
    mine.tables = model->counts[CLO_PART_TABLES];
    mine.ops = model->counts[CLO_PART_OPS];
    mine.golden = model->counts[CLO_PART_GOLDEN];
    mine.score = model->header->score;
    mine.limit = model->header->limit;
    count_work(model, &mine);
    clo_result_write(info, &mine, sizeof mine);
    return CLO_OK;
}

/* CLO_OK if there is such an entry, and room for it. */
static clo_status look(const clo_model *model, int part, uint32_t index, const void *out, const char *what)
{
    if (model == NULL || out == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_model_%s_at: model or out is NULL", what);
    if (index >= model->counts[part])
        return clo_fail(CLO_ERR_ARGUMENT, "clo_model_%s_at: %u is none of %u", what, index, model->counts[part]);
    return CLO_OK;
}

clo_status clo_model_feature_at(const clo_model *model, uint32_t index, clo_model_feature *out)
{
    clo_status status = look(model, CLO_PART_FEATURES, index, out, "feature");

    if (status != CLO_OK)
        return status;
    const clo_format_feature *from = &model->features[index];
    *out = (clo_model_feature){from->name, from->mult, from->shift, from->lo, from->hi};
    return CLO_OK;
}

clo_status clo_model_value_at(const clo_model *model, uint32_t index, clo_model_value *out)
{
    clo_status status = look(model, CLO_PART_VALUES, index, out, "value");

    if (status != CLO_OK)
        return status;
    const clo_format_value *from = &model->values[index];
    *out = (clo_model_value){(clo_model_number)from->number, (clo_model_domain)from->domain, from->width,
                             from->exponent, from->is_input};
    return CLO_OK;
}

clo_status clo_model_layer_at(const clo_model *model, uint32_t index, clo_model_layer *out)
{
    clo_status status = look(model, CLO_PART_LAYERS, index, out, "layer");

    if (status != CLO_OK)
        return status;
    const clo_dense *from = &model->dense[index];
    *out = (clo_model_layer){.inputs = from->inputs,
                             .outputs = from->outputs,
                             .weights = from->weights,
                             .bias = from->bias,
                             .pre = from->rule.pre,
                             .m = from->rule.m,
                             .lo = from->rule.lo,
                             .hi = from->rule.hi,
                             .leaky = from->rule.leaky,
                             .number = (clo_model_number)from->rule.out};
    return CLO_OK;
}

clo_status clo_model_op_at(const clo_model *model, uint32_t index, clo_model_op *out)
{
    clo_status status = look(model, CLO_PART_OPS, index, out, "op");

    if (status != CLO_OK)
        return status;
    const clo_format_op *from = &model->ops[index];
    *out = (clo_model_op){.op = (clo_model_operation)from->op,
                          .on = (clo_model_on)from->on,
                          .out = from->out,
                          .argument = from->argument};
    for (uint32_t i = 0; i < CLO_MODEL_OP_INPUTS; i++)
        out->in[i] = from->in[i];
    return CLO_OK;
}
