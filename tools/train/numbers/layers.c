/* layers.c - see layers.h. */
#include "train/numbers/layers.h"

#define NONE CLO_MODEL_NONE

enum { EXPONENT_MAX = 12 };

uint32_t layers_value(layers *b, clo_model_domain domain, uint32_t width, int group)
{
    network *net = b->net;

    net->values[net->values_count] = (network_value){.domain = domain,
                                                     .width = width,
                                                     .join = NETWORK_NONE,
                                                     .group = group,
                                                     .exponent = NETWORK_NONE,
                                                     .exponent_max = EXPONENT_MAX};
    return net->values_count++;
}

uint32_t layers_input(layers *b, clo_model_domain domain, uint32_t width, int exponent)
{
    if (width == 0)
        return NONE;
    uint32_t value = layers_value(b, domain, width, NETWORK_NONE);
    b->net->values[value].is_input = true;
    b->net->values[value].exponent = exponent;
    return value;
}

void layers_op(layers *b, clo_model_operation op, uint32_t out, const uint32_t in[3], uint32_t argument)
{
    b->net->ops[b->net->ops_count++] =
        (clo_model_op){.op = op, .out = out, .in = {in[0], in[1], in[2]}, .argument = argument};
}

uint32_t layers_matrix(layers *b, uint32_t inputs, uint32_t outputs, double leaky)
{
    const double *weights = b->parameters != NULL ? b->parameters + b->used : NULL;
    const double *bias = weights != NULL ? weights + (size_t)inputs * outputs : NULL;

    b->used += (inputs + 1) * outputs;
    b->net->layers[b->net->layers_count] = (network_layer){inputs, outputs, inputs, 0, weights, bias, leaky, false};
    return b->net->layers_count++;
}

uint32_t layers_dense(layers *b, uint32_t in, uint32_t matrix, int group)
{
    uint32_t out = layers_value(b, b->net->values[in].domain, b->net->layers[matrix].outputs, group);

    layers_op(b, CLO_MODEL_DENSE, out, (const uint32_t[]){in, NONE, NONE}, matrix);
    return out;
}

uint32_t layers_new_dense(layers *b, uint32_t in, uint32_t outputs, double leaky, int group)
{
    return layers_dense(b, in, layers_matrix(b, b->net->values[in].width, outputs, leaky), group);
}

uint32_t layers_embed(layers *b, uint32_t x, uint32_t width, uint32_t rounds, int group)
{
    uint32_t prep = layers_new_dense(b, x, LAYERS_PREP, LAYERS_SLOPE, NETWORK_NONE);

    prep = layers_new_dense(b, prep, width, LAYERS_SLOPE, group);
    uint32_t own = layers_new_dense(b, x, width, LAYERS_SLOPE, group), e = prep;
    uint32_t g = layers_matrix(b, width, width, LAYERS_SLOPE);
    for (uint32_t round = 0; round < rounds; round++) {
        uint32_t sum = layers_value(b, CLO_MODEL_STAGE, width, group);
        layers_op(b, CLO_MODEL_SUM_CHILDREN, sum, (const uint32_t[]){e, NONE, NONE}, NONE);
        uint32_t message = layers_dense(b, sum, g, group);
        e = layers_value(b, CLO_MODEL_STAGE, width, group);
        layers_op(b, CLO_MODEL_ADD, e, (const uint32_t[]){message, own, prep}, NONE);
    }
    return e;
}

uint32_t layers_part(layers *b, network_layer whole, uint32_t in, uint32_t column, int join)
{
    uint32_t out = layers_value(b, b->net->values[in].domain, whole.outputs, NETWORK_NONE);

    whole.inputs = b->net->values[in].width;
    whole.column = column;
    whole.bias = column == 0 ? whole.bias : NULL;
    b->net->layers[b->net->layers_count] = whole;
    b->net->values[out].is_sum = true;
    b->net->values[out].join = join;
    layers_op(b, CLO_MODEL_DENSE, out, (const uint32_t[]){in, NONE, NONE}, b->net->layers_count++);
    return out;
}

uint32_t layers_join(layers *b, clo_model_domain domain, const uint32_t parts[3], int join)
{
    bool is_sum = join != NETWORK_NONE;
    uint32_t width = b->net->values[parts[0]].width, out = layers_value(b, domain, width, NETWORK_NONE);

    b->net->layers[b->net->layers_count] = (network_layer){.outputs = width, .leaky = is_sum ? 1 : LAYERS_SLOPE};
    b->net->values[out].is_sum = is_sum;
    b->net->values[out].join = join;
    layers_op(b, CLO_MODEL_JOIN, out, parts, b->net->layers_count++);
    return out;
}
