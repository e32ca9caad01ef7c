/* check_entries.c - numbers of layers, tables and golden vectors. The places are in the file already. */
#include "base/status.h"
#include "learn/format/check.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static void open_layer(const clo_model *model, uint32_t i)
{
    const clo_format_layer *from = &model->layers[i];
    clo_dense *layer = &model->dense[i];

    *layer = (clo_dense){.inputs = from->inputs, .outputs = from->outputs};
    if (from->inputs > 0) {
        layer->weights = (const void *)(model->data + from->weights);
        layer->bias = (const void *)(model->data + from->bias);
        layer->folded = (const void *)(model->data + from->folded);
    }
    layer->rule = (clo_rule){.lo = from->lo, .hi = from->hi, .leaky = from->leaky, .out = (clo_number)from->number};
    if (from->number != CLO_MODEL_S32) {
        layer->rule.pre = (const void *)(model->data + from->pre);
        layer->rule.m = (const void *)(model->data + from->m);
    }
}

/* Packing what the weights are must give the very same bytes: then all padding is zero. */
static bool padding_is_zero(const clo_dense *layer)
{
    uint32_t quads = clo_up(layer->inputs, 4) / 4, outputs = clo_up(layer->outputs, CLO_LANES);

    for (uint32_t n = 0; n < outputs; n++)
        for (uint32_t k = 0; k < quads * 4; k++) {
            size_t at = ((size_t)(n / CLO_LANES) * quads + k / 4) * CLO_LANES * 4 + n % CLO_LANES * 4 + k % 4;
            if ((n >= layer->outputs || k >= layer->inputs) && layer->weights[at] != 0)
                return false;
        }
    for (uint32_t n = layer->outputs; n < outputs; n++)
        if (layer->bias[n] != 0)
            return false;
    return true;
}

static bool rule_padding_is_zero(const clo_rule *rule, uint32_t outputs)
{
    for (uint32_t n = outputs; n < clo_up(outputs, CLO_LANES); n++)
        if (rule->pre[n] != 0 || rule->m[n] != 0)
            return false;
    return true;
}

static clo_status check_layer(const clo_model *model, uint32_t i)
{
    const clo_dense *layer = &model->dense[i];
    int32_t folded[CLO_MODEL_WIDTH_MAX];

    if (!clo_rule_is_valid(&layer->rule, layer->outputs))
        return clo_fail(CLO_ERR_FORMAT,
                        "layer %u: its rule is impossible: pre 0 to 31, m > 0, lo <= hi, leaky 0 to 256", i);
    if (layer->rule.out != CLO_S32 && !rule_padding_is_zero(&layer->rule, layer->outputs))
        return clo_fail(CLO_ERR_FORMAT, "layer %u: the padding of its rule is not zero", i);
    if (layer->inputs == 0)
        return CLO_OK;
    if (!padding_is_zero(layer))
        return clo_fail(CLO_ERR_FORMAT, "layer %u: the padding of its weights or biases is not zero", i);
    clo_dense_fold(layer, folded);
    if (memcmp(folded, layer->folded, clo_up(layer->outputs, CLO_LANES) * sizeof *folded) != 0)
        return clo_fail(CLO_ERR_FORMAT, "layer %u: its folded biases are not those of its weights", i);
    return CLO_OK;
}

static clo_status check_rows(const clo_model_case *input)
{
    if (input->jobs == 0 ? input->stages + input->limits > 0 : input->stages == 0)
        return clo_fail(CLO_ERR_FORMAT, "jobs without stages, or stages without jobs");
    for (uint32_t s = 0; s < input->stages; s++)
        if (input->job_of_stage[s] >= input->jobs)
            return clo_fail(CLO_ERR_FORMAT, "stage %u is of job %u, there are %u", s, input->job_of_stage[s],
                            input->jobs);
    for (uint32_t l = 0; l < input->limits; l++)
        if (input->job_of_limit[l] >= input->jobs)
            return clo_fail(CLO_ERR_FORMAT, "limit %u is of job %u, there are %u", l, input->job_of_limit[l],
                            input->jobs);
    if (input->child_begin[0] != 0)
        return clo_fail(CLO_ERR_FORMAT, "the children do not begin at 0");
    return CLO_OK;
}

static clo_status check_children(const clo_model_case *input)
{
    for (uint32_t s = 0; s < input->stages; s++) {
        if (input->child_begin[s] > input->child_begin[s + 1] || input->child_begin[s + 1] > CLO_MODEL_GOLDEN_EDGES_MAX)
            return clo_fail(CLO_ERR_FORMAT, "the children of stage %u end before they begin, or are too many", s);
        for (uint32_t e = input->child_begin[s]; e < input->child_begin[s + 1]; e++) {
            uint32_t child = input->children[e];
            if (child <= s || child >= input->stages || input->job_of_stage[child] != input->job_of_stage[s])
                return clo_fail(CLO_ERR_FORMAT,
                                "stage %u has stage %u as a child; a later one of its own job is needed", s, child);
        }
    }
    return CLO_OK;
}

static clo_status check_inputs(const clo_model *model, const clo_model_case *input)
{
    const uint32_t rows[] = {input->stages, input->jobs, 1, input->limits};
    const int16_t *at = input->inputs;
    uint32_t first = 0;

    for (uint32_t v = 0; v < model->counts[CLO_PART_VALUES]; v++) {
        const clo_format_value *value = &model->values[v];
        if (!value->is_input)
            continue;
        for (uint32_t r = 0; r < rows[value->domain]; r++)
            for (uint32_t i = 0; i < value->width; i++, at++)
                if (*at < model->features[first + i].lo || *at > model->features[first + i].hi)
                    return clo_fail(CLO_ERR_FORMAT, "feature '%s' of row %u is %d, outside of its range",
                                    model->features[first + i].name, r, *at);
        first += value->width;
    }
    return CLO_OK;
}

clo_status clo_check_case(const clo_model *model, const clo_model_case *input)
{
    if (input->stages > CLO_MODEL_GOLDEN_ROWS_MAX || input->jobs > CLO_MODEL_GOLDEN_ROWS_MAX ||
        input->limits > CLO_MODEL_GOLDEN_ROWS_MAX)
        return clo_fail(CLO_ERR_LIMIT, "more than %d stages, jobs or limits", CLO_MODEL_GOLDEN_ROWS_MAX);
    clo_status status = check_rows(input);
    if (status == CLO_OK)
        status = check_children(input);
    return status == CLO_OK ? check_inputs(model, input) : status;
}

static clo_status check_golden(const clo_model *model, uint32_t i)
{
    const clo_format_golden *golden = &model->golden[i];
    clo_model_case input = clo_golden_case(model, golden);
    char place[40];

    if (input.child_begin[golden->stages] != golden->edges)
        return clo_fail(CLO_ERR_FORMAT, "golden vector %u has %u edges, its children end at %u", i, golden->edges,
                        input.child_begin[golden->stages]);
    clo_status status = clo_check_case(model, &input);
    if (status == CLO_OK)
        return CLO_OK;
    snprintf(place, sizeof place, "golden vector %u: ", i);
    return clo_fail_prefix(status, place);
}

clo_status clo_check_entries(clo_model *model)
{
    clo_status status = CLO_OK;

    for (uint32_t i = 0; i < model->counts[CLO_PART_LAYERS] && status == CLO_OK; i++) {
        open_layer(model, i);
        status = check_layer(model, i);
    }
    for (uint32_t i = 0; i < model->counts[CLO_PART_GOLDEN] && status == CLO_OK; i++)
        status = check_golden(model, i);
    return status;
}
