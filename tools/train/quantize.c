/* quantize.c - post-training quantization, symmetric, a scale for each output.
 *
 * A weight w of an input with exponent e is the integer w / (unit * 2^e), where `unit` is what one step of the sum is
 * worth. The parts of a layer over several inputs must share the unit. Where one input is coarser than another, its
 * weights would have to be larger than int8: such an input stands several times in its row, and the weights are spread
 * over its copies. */
#include "quantize.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = CLO_MODEL_WIDTH_MAX, REPEAT_MAX = 8 };

typedef struct built {
    clo_model_value values[NETWORK_VALUES_MAX];
    clo_model_layer layers[NETWORK_LAYERS_MAX];
    clo_model_op ops[NETWORK_OPS_MAX];
    int8_t *weights[NETWORK_LAYERS_MAX];
    int32_t bias[NETWORK_LAYERS_MAX][WIDTH], pre[NETWORK_LAYERS_MAX][WIDTH];
    int16_t m[NETWORK_LAYERS_MAX][WIDTH];
    /* Of the sums of a join. */
    double unit[NETWORK_JOINS_MAX][WIDTH];
    int16_t tanh[257];
    clo_model_table table;
    const char *why;
} built;

static int exponent_for(double most, int max)
{
    int exponent = most > 0 ? (int)floor(log2(32767 / (2 * most))) : max;

    return exponent > max ? max : exponent < 0 ? 0 : exponent;
}

/* By the largest number of the value's group. */
static void choose_exponents(network *net)
{
    for (uint32_t v = 0; v < net->values_count; v++) {
        network_value *value = &net->values[v];
        if (value->exponent != NETWORK_NONE || value->is_sum)
            continue;
        double most = value->most;
        for (uint32_t u = 0; u < net->values_count && value->group != NETWORK_NONE; u++)
            if (net->values[u].group == value->group)
                most = fmax(most, net->values[u].most);
        value->exponent = exponent_for(most, value->exponent_max);
    }
}

static bool is_summed(const network *net, uint32_t value)
{
    for (uint32_t i = 0; i < net->ops_count; i++)
        if (net->ops[i].op == CLO_MODEL_SUM && net->ops[i].out == value)
            return true;
    return false;
}

/* A sum that a join reads is repeated where it is coarser than the finest input; so is what it is a sum of. */
static void choose_repeats(network *net)
{
    int finest[NETWORK_JOINS_MAX] = {-100, -100, -100, -100};

    for (uint32_t v = 0; v < net->values_count; v++)
        net->values[v].repeat = 1;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < net->ops_count; i++) {
            const clo_model_op *op = &net->ops[i];
            if (op->op != CLO_MODEL_DENSE || net->values[op->out].join == NETWORK_NONE)
                continue;
            int *best = &finest[net->values[op->out].join];
            network_value *in = &net->values[op->in[0]];
            if (pass == 0 && in->exponent > *best)
                *best = in->exponent;
            while (pass == 1 && is_summed(net, op->in[0]) && in->repeat < REPEAT_MAX &&
                   in->repeat < (1u << (*best - in->exponent)))
                in->repeat *= 2;
        }
    for (uint32_t i = net->ops_count; i-- > 0;)
        if (net->ops[i].op == CLO_MODEL_SUM)
            net->values[net->ops[i].in[0]].repeat = net->values[net->ops[i].out].repeat;
}

static double weight_of(const network_layer *layer, uint32_t n, uint32_t k)
{
    return layer->weights[(size_t)n * layer->stride + layer->column + k];
}

/* The smallest unit of output n with which all weights fit. */
static double unit_of(const network_layer *layer, const network_value *in, uint32_t n)
{
    double most = 0;

    for (uint32_t k = 0; k < layer->inputs; k++)
        most = fmax(most, fabs(weight_of(layer, n, k)));
    return most / (127.0 * in->repeat) * exp2(-in->exponent);
}

static void choose_units(const network *net, built *b)
{
    for (uint32_t i = 0; i < net->ops_count; i++) {
        const clo_model_op *op = &net->ops[i];
        if (op->op != CLO_MODEL_DENSE || net->values[op->out].join == NETWORK_NONE)
            continue;
        double *units = b->unit[net->values[op->out].join];
        for (uint32_t n = 0; n < net->layers[op->argument].outputs; n++)
            units[n] = fmax(units[n], unit_of(&net->layers[op->argument], &net->values[op->in[0]], n));
    }
}

/* factor = m / 2^15 / 2^pre with m as large as can be. */
static bool put_rule(built *b, uint32_t layer, uint32_t n, double factor)
{
    int power;
    double part = frexp(factor, &power);
    long m = lround(part * 32768);

    b->m[layer][n] = (int16_t)(m > 32767 ? 32767 : m);
    b->pre[layer][n] = -power;
    if (power <= 0 && power >= -31)
        return true;
    b->why = "the scale of a layer's output cannot be written as a rule";
    return false;
}

/* Copies of an input share its weight as evenly as integers allow. */
static void put_weights(built *b, const network_layer *layer, uint32_t index, const network_value *in, uint32_t row,
                        uint32_t n, double unit)
{
    uint32_t inputs = layer->inputs * in->repeat;
    long limit = 127L * in->repeat;

    for (uint32_t k = 0; k < layer->inputs; k++) {
        long whole = lround(weight_of(layer, n, k) / (unit * exp2(in->exponent)));
        whole = whole > limit ? limit : whole < -limit ? -limit : whole;
        for (uint32_t copy = 0; copy < in->repeat; copy++) {
            long left = (long)(in->repeat - copy), mine = whole / left;
            b->weights[index][(size_t)row * inputs + copy * layer->inputs + k] = (int8_t)mine;
            whole -= mine;
        }
    }
}

/* The unit of output n: that of the join, or the layer's own. A score gets a power of two, so that its exponent says
 * what it is worth. */
static double choose_unit(const network *net, const built *b, const clo_model_op *op, uint32_t n)
{
    const network_value *in = &net->values[op->in[0]], *out = &net->values[op->out];
    double own = unit_of(&net->layers[op->argument], in, n);

    if (out->join != NETWORK_NONE)
        own = b->unit[out->join][n];
    if (own <= 0)
        own = exp2(-in->exponent - 7);
    return out->is_sum && out->join == NETWORK_NONE ? exp2(ceil(log2(own))) : own;
}

static bool put_dense(network *net, built *b, const clo_model_op *op)
{
    const network_layer *from = &net->layers[op->argument];
    const network_value *in = &net->values[op->in[0]];
    network_value *out = &net->values[op->out];
    clo_model_layer *to = &b->layers[op->argument];

    if (to->outputs != 0) /* of another operation, with the same scales */
        return true;
    to->inputs = from->inputs * in->repeat;
    to->outputs = from->outputs * out->repeat;
    assert(to->inputs > 0 && to->outputs > 0);
    b->weights[op->argument] = calloc((size_t)to->inputs * to->outputs, 1);
    if (b->weights[op->argument] == NULL)
        return false;
    for (uint32_t row = 0; row < to->outputs; row++) {
        uint32_t n = row % from->outputs;
        double unit = choose_unit(net, b, op, n);
        put_weights(b, from, op->argument, in, row, n, unit);
        b->bias[op->argument][row] = from->bias != NULL ? (int32_t)lround(from->bias[n] / unit) : 0;
        if (!out->is_sum && !put_rule(b, op->argument, row, unit * exp2(out->exponent)))
            return false;
        if (out->is_sum)
            out->exponent = out->join == NETWORK_NONE ? (int)lround(-log2(unit)) : 0;
    }
    to->weights = b->weights[op->argument];
    to->bias = b->bias[op->argument];
    return true;
}

static bool put_join(const network *net, built *b, const clo_model_op *op)
{
    const network_value *out = &net->values[op->out];
    clo_model_layer *to = &b->layers[op->argument];
    const double *units = b->unit[net->values[op->in[0]].join];

    to->outputs = net->layers[op->argument].outputs;
    for (uint32_t n = 0; n < to->outputs && !out->is_sum; n++)
        if (!put_rule(b, op->argument, n, (units[n] > 0 ? units[n] : exp2(-20)) * exp2(out->exponent)))
            return false;
    return true;
}

static bool put_layers(network *net, built *b)
{
    for (uint32_t i = 0; i < net->ops_count; i++) {
        const clo_model_op *op = &net->ops[i];
        bool is_dense = op->op == CLO_MODEL_DENSE, is_join = op->op == CLO_MODEL_JOIN;
        if ((is_dense && !put_dense(net, b, op)) || (is_join && !put_join(net, b, op)))
            return false;
        if (!is_dense && !is_join)
            continue;
        clo_model_layer *to = &b->layers[op->argument];
        double leaky = net->layers[op->argument].leaky;
        to->number = net->values[op->out].is_sum ? CLO_MODEL_S32 : CLO_MODEL_S16;
        if (to->number == CLO_MODEL_S32)
            continue;
        to->pre = b->pre[op->argument];
        to->m = b->m[op->argument];
        to->lo = -32767;
        to->hi = 32767;
        to->leaky = (int16_t)lround(leaky * 256);
    }
    return true;
}

static void put_values(const network *net, built *b)
{
    for (uint32_t v = 0; v < net->values_count; v++) {
        const network_value *from = &net->values[v];
        b->values[v] = (clo_model_value){.number = from->is_sum ? CLO_MODEL_S32 : CLO_MODEL_S16,
                                         .domain = from->domain,
                                         .width = from->width * from->repeat,
                                         .exponent = from->exponent == NETWORK_NONE ? 0 : from->exponent,
                                         .is_input = from->is_input};
    }
    for (uint32_t i = 0; i < net->ops_count; i++) {
        b->ops[i] = net->ops[i];
        if (net->ops[i].op == CLO_MODEL_TANH)
            b->ops[i].argument = 0;
    }
    for (int i = 0; i < 257; i++)
        b->tanh[i] = (int16_t)lround(32767 * tanh((i - 128) / 16.0));
    b->table = (clo_model_table){CLO_MODEL_S16, b->tanh};
}

clo_status quantize(network *net, const quantize_config *config, void **out, size_t *bytes, const char **why)
{
    built *b = calloc(1, sizeof *b);
    clo_model_desc desc = CLO_MODEL_DESC_INIT;
    clo_status status = CLO_ERR_LIMIT;

    *why = NULL;
    if (b == NULL)
        return CLO_ERR_MEMORY;
    choose_exponents(net);
    choose_repeats(net);
    choose_units(net, b);
    if (put_layers(net, b)) {
        put_values(net, b);
        desc.name = config->name;
        desc.kind = config->kind;
        desc.feature_set = config->feature_set;
        desc.features = config->features;
        desc.features_count = config->features_count;
        desc.values = b->values;
        desc.values_count = net->values_count;
        desc.layers = b->layers;
        desc.layers_count = net->layers_count;
        desc.tables = &b->table;
        desc.tables_count = 1;
        desc.ops = b->ops;
        desc.ops_count = net->ops_count;
        desc.cases = config->cases;
        desc.cases_count = config->cases_count;
        desc.score = net->score;
        desc.limit = net->limit;
        status = clo_model_build(&desc, out, bytes);
    } else {
        *why = b->why != NULL ? b->why : "out of memory";
    }
    for (uint32_t i = 0; i < NETWORK_LAYERS_MAX; i++)
        free(b->weights[i]);
    free(b);
    return status;
}
