/* quantize.c - post-training quantization, symmetric, a scale for each output.
 *
 * A weight w of an input with exponent e is the integer w / (unit * 2^e), where `unit` is what one step of the sum is
 * worth. The parts of a layer over several inputs must share the unit. The numbers of a value have units of their own
 * where that makes them finer; the weights that read them are scaled to it. A number that needs a larger weight than
 * int8 stands as several that add up to it, and the weight is spread over them. Weights are not rounded one by one, but
 * so that the sum errs least on what the layer has seen.
 *
 * A fine layer has whole weights of up to COARSE + 1 times int8: COARSE times one int8 and another one. It becomes two
 * layers of int32 sums, of which the coarse one is joined with itself and the other. */
#include "train/models/quantize.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = CLO_MODEL_WIDTH_MAX };

#define MARGIN_DEFAULT 3.0

/* A coarse sum counts so many times: three times in a join with itself, and that twice in the last one. */
enum { COARSE = 6 };
/* What a fine operation needs more: values, layers, operations. */
enum { FINE_VALUES = 3, FINE_LAYERS = 3, FINE_OPS = 3 };
enum {
    VALUES_MOST = NETWORK_VALUES_MAX + FINE_VALUES * NETWORK_OPS_MAX,
    LAYERS_MOST = NETWORK_LAYERS_MAX + FINE_LAYERS * NETWORK_OPS_MAX,
    OPS_MOST = NETWORK_OPS_MAX + FINE_OPS * NETWORK_OPS_MAX
};

typedef struct built {
    const measure *seen;
    double margin;
    /* The largest numbers that there must be room for. [width] of each value */
    double *const *most;
    /* Of numbers of a value: what one unit is worth, over 2^-exponent. */
    double steps[NETWORK_VALUES_MAX][WIDTH];
    clo_model_value values[VALUES_MOST];
    clo_model_layer layers[LAYERS_MOST];
    clo_model_op ops[OPS_MOST];
    uint32_t values_count, layers_count, ops_count;
    /* `coarse`: the other part of a fine layer's, else NULL. */
    int8_t *weights[NETWORK_LAYERS_MAX], *coarse[NETWORK_LAYERS_MAX];
    int32_t no_bias[WIDTH], bias[NETWORK_LAYERS_MAX][WIDTH], pre[NETWORK_LAYERS_MAX][WIDTH];
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

static bool is_around_tanh(const network *net, uint32_t value)
{
    for (uint32_t i = 0; i < net->ops_count; i++)
        if (net->ops[i].op == CLO_MODEL_TANH && (net->ops[i].out == value || net->ops[i].in[0] == value))
            return true;
    return false;
}

static bool is_fellow(const network *net, uint32_t a, uint32_t b)
{
    return a == b || (net->values[a].group != NETWORK_NONE && net->values[a].group == net->values[b].group);
}

static bool is_summed(const network *net, uint32_t value)
{
    for (uint32_t i = 0; i < net->ops_count; i++)
        if (net->ops[i].op == CLO_MODEL_SUM && net->ops[i].out == value)
            return true;
    return false;
}

/* Of stages, and not summed over a job: those sums get larger the more stages and jobs there are. */
static bool has_own_steps(const network *net, uint32_t value)
{
    if (net->values[value].is_input || net->values[value].is_sum || is_around_tanh(net, value))
        return false;
    for (uint32_t u = 0; u < net->values_count; u++)
        if (is_fellow(net, value, u) && (is_summed(net, u) || net->values[u].domain != CLO_MODEL_STAGE))
            return false;
    return true;
}

/* Numbers with steps of their own have room by these. */
static double most_in(const network *net, const built *b, uint32_t value)
{
    double most = net->values[value].most;

    for (uint32_t k = 0; k < net->values[value].width && !has_own_steps(net, value); k++)
        most = fmax(most, b->most[value][k]);
    return most;
}

/* By the largest number of the value's group. */
static void choose_exponents(network *net, const built *b)
{
    for (uint32_t v = 0; v < net->values_count; v++) {
        network_value *value = &net->values[v];
        if (value->exponent != NETWORK_NONE || value->is_sum)
            continue;
        double most = most_in(net, b, v);
        for (uint32_t u = 0; u < net->values_count && value->group != NETWORK_NONE; u++)
            if (net->values[u].group == value->group)
                most = fmax(most, most_in(net, b, u));
        value->exponent = exponent_for(most, value->exponent_max);
    }
}

/* All of int16 for what was seen, times the margin, for each number of a value on its own, in a group the same. Numbers
 * that stay small get one bit more than the largest ones: with finer ones the weights of the next layer, which share a
 * unit, would be too coarse. */
static double step_of(const network *net, const built *b, uint32_t value, uint32_t k)
{
    double most = 0, own = 0;

    for (uint32_t u = 0; u < net->values_count; u++)
        if (is_fellow(net, value, u)) {
            own = fmax(own, b->most[u][k]);
            for (uint32_t j = 0; j < net->values[u].width; j++)
                most = fmax(most, b->most[u][j]);
        }
    return most > 0 ? b->margin * fmax(own, most / 2) / 32767 * exp2(net->values[value].exponent) : 1;
}

static void choose_steps(const network *net, built *b)
{
    for (uint32_t v = 0; v < net->values_count; v++) {
        const network_value *value = &net->values[v];
        for (uint32_t k = 0; k < value->width; k++)
            b->steps[v][k] = has_own_steps(net, v) ? step_of(net, b, v, k) : value->steps != NULL ? value->steps[k] : 1;
    }
}

/* For a number that counts in 2^-exponent. */
static double weight_of(const network_layer *layer, const double *steps, uint32_t n, uint32_t k)
{
    return layer->weights[(size_t)n * layer->stride + layer->column + k] * steps[k];
}

static uint32_t copies_of(const network_value *in, uint32_t k)
{
    return 1 + (k + 1 == in->width ? in->more_of_last : 0);
}

/* The largest whole weight. */
static long most_of(const network_layer *layer)
{
    return layer->is_fine ? 127 * (COARSE + 1) : 127;
}

/* The smallest unit of output n with which all weights fit. */
static double unit_of(const network_layer *layer, const network_value *in, const double *steps, uint32_t n)
{
    double most = 0;

    for (uint32_t k = 0; k < layer->inputs; k++)
        most = fmax(most, fabs(weight_of(layer, steps, n, k)) / copies_of(in, k));
    return most / (double)most_of(layer) * exp2(-in->exponent);
}

/* Whether the operation is a part of the score whose numbers have steps of their own, beside one of an input: then the
 * input's part alone says what one unit of the score is, and this one follows it with its steps. */
static bool follows(const network *net, const clo_model_op *op)
{
    int join = net->values[net->score].join;
    bool has_input = false;

    for (uint32_t i = 0; i < net->ops_count && join != NETWORK_NONE; i++)
        has_input = has_input || (net->ops[i].op == CLO_MODEL_DENSE && net->values[net->ops[i].out].join == join &&
                                  net->values[net->ops[i].in[0]].is_input);
    return has_input && op->op == CLO_MODEL_DENSE && net->values[op->out].join == join &&
           net->values[op->out].width == 1 && has_own_steps(net, op->in[0]);
}

/* Each number of its input gets a step with which its weight is a whole number of units, the smallest that will do: the
 * weights are exact. What is never half a unit gets none. */
static void follow(const network *net, built *b, const clo_model_op *op)
{
    const network_layer *layer = &net->layers[op->argument];
    const network_value *in = &net->values[op->in[0]];
    double unit = b->unit[net->values[op->out].join][0] * exp2(in->exponent);

    for (uint32_t k = 0; k < layer->inputs && unit > 0; k++) {
        double wanted = fabs(weight_of(layer, b->steps[op->in[0]], 0, k)) / unit, whole = fmin(ceil(wanted), 127);
        if (wanted * 32767 >= 0.5 && wanted <= 127)
            b->steps[op->in[0]][k] *= whole / wanted;
    }
}

static void choose_units(const network *net, built *b)
{
    for (uint32_t i = 0; i < net->ops_count; i++) {
        const clo_model_op *op = &net->ops[i];
        if (op->op != CLO_MODEL_DENSE || net->values[op->out].join == NETWORK_NONE || follows(net, op))
            continue;
        double *units = b->unit[net->values[op->out].join];
        for (uint32_t n = 0; n < net->layers[op->argument].outputs; n++)
            units[n] =
                fmax(units[n], unit_of(&net->layers[op->argument], &net->values[op->in[0]], b->steps[op->in[0]], n));
    }
    for (uint32_t i = 0; i < net->ops_count; i++)
        if (follows(net, &net->ops[i]))
            follow(net, b, &net->ops[i]);
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

enum { PASSES = 12 };

/* The weights of one output of a layer. `wanted`: in units, not rounded. A number of an input counts `scale` in the
 * integers of one. */
typedef struct row {
    double wanted[WIDTH], scale[WIDTH];
    long limits[WIDTH], whole[WIDTH];
    uint32_t count;
} row;

static double covariance(const measure *seen, uint32_t layer, uint32_t inputs, uint32_t i, uint32_t j)
{
    const double *sums = seen->sums[layer];
    double rows = seen->rows[layer];

    return seen->products[layer][(size_t)i * inputs + j] / rows - sums[i] / rows * (sums[j] / rows);
}

/* The integer for weight k that is best for the errors which the others leave, at most 2 away from what is wanted. */
static long best_whole(const row *r, const measure *seen, uint32_t layer, uint32_t k)
{
    double own = covariance(seen, layer, r->count, k, k) * r->scale[k], others = 0;

    for (uint32_t j = 0; j < r->count; j++)
        if (j != k)
            others += covariance(seen, layer, r->count, k, j) * ((double)r->whole[j] - r->wanted[j]) * r->scale[j];
    double away = own > 1e-12 ? fmin(fmax(-others / own, -2), 2) : 0;
    long whole = lround(r->wanted[k] + away);
    return whole > r->limits[k] ? r->limits[k] : whole < -r->limits[k] ? -r->limits[k] : whole;
}

/* The integers with which the sum errs least on what was seen, by coordinate descent from the nearest ones. Returns
 * what the sum is too large by on average. */
static double round_row(row *r, const measure *seen, uint32_t layer)
{
    double off = 0;

    for (uint32_t k = 0; k < r->count; k++)
        r->whole[k] = lround(r->wanted[k]);
    if (seen->rows[layer] == 0)
        return 0;
    for (int pass = 0; pass < PASSES; pass++)
        for (uint32_t k = 0; k < r->count; k++)
            r->whole[k] = best_whole(r, seen, layer, k);
    for (uint32_t k = 0; k < r->count; k++)
        off += ((double)r->whole[k] - r->wanted[k]) * r->scale[k] * seen->sums[layer][k] / seen->rows[layer];
    return off;
}

/* The rest fits an int8, too. */
static long coarse_part(long whole)
{
    long part = lround((double)whole / COARSE);

    return part > 127 ? 127 : part < -127 ? -127 : part;
}

/* Numbers that add up to an input share its weight as evenly as integers allow. Returns as round_row. */
static double put_weights(const network *net, built *b, const clo_model_op *op, uint32_t n, double unit)
{
    const network_layer *layer = &net->layers[op->argument];
    const network_value *in = &net->values[op->in[0]];
    const double *steps = b->steps[op->in[0]];
    size_t at = (size_t)n * (layer->inputs + in->more_of_last);
    int8_t *to = b->weights[op->argument], *coarse = b->coarse[op->argument];
    row r = {.count = layer->inputs};

    for (uint32_t k = 0; k < layer->inputs; k++) {
        r.wanted[k] = weight_of(layer, steps, n, k) / (unit * exp2(in->exponent));
        r.scale[k] = exp2(in->exponent) / steps[k];
        r.limits[k] = most_of(layer) * copies_of(in, k);
    }
    double off = round_row(&r, b->seen, op->argument);
    for (uint32_t k = 0; k < layer->inputs; k++)
        for (uint32_t left = copies_of(in, k); left > 0; left--) {
            long mine = r.whole[k] / (long)left;
            long sixths = coarse != NULL ? coarse_part(mine) : 0;
            if (coarse != NULL)
                coarse[at] = (int8_t)sixths;
            to[at++] = (int8_t)(mine - COARSE * sixths);
            r.whole[k] -= mine;
        }
    return off;
}

/* The unit of output n: that of the join, or the layer's own. A score gets a power of two, so that its exponent says
 * what it is worth. */
static double choose_unit(const network *net, const built *b, const clo_model_op *op, uint32_t n)
{
    const network_value *in = &net->values[op->in[0]], *out = &net->values[op->out];
    double own = unit_of(&net->layers[op->argument], in, b->steps[op->in[0]], n);

    if (out->join != NETWORK_NONE)
        own = b->unit[out->join][n];
    if (own <= 0)
        own = exp2(-in->exponent - 7);
    return out->is_sum && out->join == NETWORK_NONE ? exp2(ceil(log2(own))) : own;
}

/* A rule shifts sums down, which rounds them down: half of what is lost is added to the bias, so that it is as often
 * rounded up. */
static void add_half(built *b, uint32_t layer, uint32_t n, int pre)
{
    b->bias[layer][n] += pre > 0 ? 1 << (pre - 1) : 0;
}

static bool put_dense(network *net, built *b, const clo_model_op *op)
{
    const network_layer *from = &net->layers[op->argument];
    const network_value *in = &net->values[op->in[0]];
    network_value *out = &net->values[op->out];
    clo_model_layer *to = &b->layers[op->argument];

    if (to->outputs != 0) /* of another operation, with the same scales */
        return true;
    to->inputs = from->inputs + in->more_of_last;
    to->outputs = from->outputs;
    assert(to->inputs > 0 && to->outputs > 0);
    b->weights[op->argument] = calloc((size_t)to->inputs * to->outputs, 1);
    if (from->is_fine)
        b->coarse[op->argument] = calloc((size_t)to->inputs * to->outputs, 1);
    if (b->weights[op->argument] == NULL || (from->is_fine && b->coarse[op->argument] == NULL))
        return false;
    for (uint32_t n = 0; n < to->outputs; n++) {
        double unit = choose_unit(net, b, op, n), off = put_weights(net, b, op, n, unit);
        b->bias[op->argument][n] = (int32_t)lround((from->bias != NULL ? from->bias[n] / unit : 0) - off);
        if (out->is_sum) {
            out->exponent = out->join == NETWORK_NONE ? (int)lround(-log2(unit)) : 0;
            continue;
        }
        if (!put_rule(b, op->argument, n, unit * exp2(out->exponent) / b->steps[op->out][n]))
            return false;
        add_half(b, op->argument, n, b->pre[op->argument][n]);
    }
    to->weights = b->weights[op->argument];
    to->bias = b->bias[op->argument];
    return true;
}

/* The half goes to the part that has the layer's biases. */
static void add_halves(const network *net, built *b, const clo_model_op *join)
{
    for (uint32_t i = 0; i < net->ops_count; i++) {
        const clo_model_op *op = &net->ops[i];
        if (op->op != CLO_MODEL_DENSE || net->values[op->out].join != net->values[join->in[0]].join ||
            net->layers[op->argument].bias == NULL)
            continue;
        for (uint32_t n = 0; n < net->layers[join->argument].outputs; n++)
            add_half(b, op->argument, n, b->pre[join->argument][n]);
    }
}

static bool put_join(network *net, built *b, const clo_model_op *op)
{
    network_value *out = &net->values[op->out];
    clo_model_layer *to = &b->layers[op->argument];
    const double *units = b->unit[net->values[op->in[0]].join];

    to->outputs = net->layers[op->argument].outputs;
    if (out->is_sum) {
        out->exponent = op->out == net->score && units[0] > 0 ? (int)lround(-log2(units[0])) : out->exponent;
        return true;
    }
    for (uint32_t n = 0; n < to->outputs; n++)
        if (!put_rule(b, op->argument, n,
                      (units[n] > 0 ? units[n] : exp2(-20)) * exp2(out->exponent) / b->steps[op->out][n]))
            return false;
    add_halves(net, b, op);
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

/* The int32 sums of a layer, which get a value of their own like `out`. Returns the value. */
static uint32_t put_sums(built *b, const clo_model_op *like, clo_model_operation op, const uint32_t in[3],
                         const clo_model_layer *layer)
{
    clo_model_value *value = &b->values[b->values_count];

    *value = (clo_model_value){
        .number = CLO_MODEL_S32, .domain = b->values[like->out].domain, .width = b->values[like->out].width};
    b->layers[b->layers_count] = *layer;
    b->ops[b->ops_count++] = (clo_model_op){
        .op = op, .on = like->on, .out = b->values_count, .in = {in[0], in[1], in[2]}, .argument = b->layers_count++};
    return b->values_count++;
}

/* In place of a fine operation: its two parts, and joins that add them up. The last one has the layer's rule. */
static void put_fine(built *b, const clo_model_op *op)
{
    const uint32_t none = CLO_MODEL_NONE, from[] = {op->in[0], none, none};
    clo_model_layer *rule = &b->layers[op->argument];
    clo_model_layer part = {.inputs = rule->inputs,
                            .outputs = rule->outputs,
                            .weights = rule->weights,
                            .bias = rule->bias,
                            .number = CLO_MODEL_S32};
    const clo_model_layer join = {.outputs = rule->outputs, .number = CLO_MODEL_S32};
    uint32_t fine = put_sums(b, op, CLO_MODEL_DENSE, from, &part);

    part.weights = b->coarse[op->argument];
    part.bias = b->no_bias;
    uint32_t coarse = put_sums(b, op, CLO_MODEL_DENSE, from, &part);
    uint32_t thrice = put_sums(b, op, CLO_MODEL_JOIN, (const uint32_t[]){coarse, coarse, coarse}, &join);
    rule->inputs = 0;
    rule->weights = NULL;
    rule->bias = NULL;
    b->ops[b->ops_count++] = (clo_model_op){
        .op = CLO_MODEL_JOIN, .on = op->on, .out = op->out, .in = {thrice, thrice, fine}, .argument = op->argument};
}

static void put_values(const network *net, built *b)
{
    for (uint32_t v = 0; v < net->values_count; v++) {
        const network_value *from = &net->values[v];
        b->values[v] = (clo_model_value){.number = from->is_sum ? CLO_MODEL_S32 : CLO_MODEL_S16,
                                         .domain = from->domain,
                                         .width = from->width + from->more_of_last,
                                         .exponent = from->exponent == NETWORK_NONE ? 0 : from->exponent,
                                         .is_input = from->is_input};
    }
    b->values_count = net->values_count;
    b->layers_count = net->layers_count;
    for (uint32_t i = 0; i < net->ops_count; i++) {
        if (net->ops[i].op == CLO_MODEL_DENSE && net->layers[net->ops[i].argument].is_fine)
            put_fine(b, &net->ops[i]);
        else
            b->ops[b->ops_count++] = net->ops[i];
        if (net->ops[i].op == CLO_MODEL_TANH)
            b->ops[b->ops_count - 1].argument = 0;
    }
    for (int i = 0; i < 257; i++)
        b->tanh[i] = (int16_t)lround(32767 * tanh((i - 128) / 16.0));
    b->table = (clo_model_table){CLO_MODEL_S16, b->tanh};
}

clo_status quantize(network *net, const measure *seen, const quantize_config *config, void **out, size_t *bytes,
                    const char **why)
{
    built *b = calloc(1, sizeof *b);
    clo_model_desc desc = CLO_MODEL_DESC_INIT;
    clo_status status = CLO_ERR_LIMIT;

    *why = NULL;
    if (b == NULL)
        return CLO_ERR_MEMORY;
    b->seen = seen;
    b->margin = config->margin > 0 ? config->margin : MARGIN_DEFAULT;
    b->most = config->has_room_before_slope ? seen->most_before : seen->most;
    choose_exponents(net, b);
    choose_steps(net, b);
    choose_units(net, b);
    if (put_layers(net, b)) {
        put_values(net, b);
        desc.name = config->name;
        desc.kind = config->kind;
        desc.feature_set = config->feature_set;
        desc.features = config->features;
        desc.features_count = config->features_count;
        desc.values = b->values;
        desc.values_count = b->values_count;
        desc.layers = b->layers;
        desc.layers_count = b->layers_count;
        desc.tables = &b->table;
        desc.tables_count = 1;
        desc.ops = b->ops;
        desc.ops_count = b->ops_count;
        desc.cases = config->cases;
        desc.cases_count = config->cases_count;
        desc.score = net->score;
        desc.limit = net->limit;
        status = clo_model_build(&desc, out, bytes);
    } else {
        *why = b->why != NULL ? b->why : "out of memory";
    }
    for (uint32_t i = 0; i < NETWORK_LAYERS_MAX; i++) {
        free(b->weights[i]);
        free(b->coarse[i]);
    }
    free(b);
    return status;
}
