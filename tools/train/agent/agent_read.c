/* agent_read.c - from a model of integers back to real numbers, layer by layer.
 *
 * A unit of a value may be worth anything: the slope of a layer is the same for all sizes, so a network whose values
 * are all so many times as large, and whose next weights are so many times smaller, is the same one. Here it is worth
 * what the value's exponent says. What int16 rounds, and biases for that, is left out.
 *
 * One exception: two operations have the same weights, on stages with and without children. Their inputs are values
 * whose numbers each have a unit of their own, which the file does not say; the units of one of them are those with
 * which the weights are the same. */
#include "train/agent/agent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS_MAX = 16, BLOCK_OUTPUTS = 16, BLOCK_INPUTS = 4, WIDTH_MAX = 64 };

/* The weights [outputs][inputs] and biases of an operation, in real numbers. */
typedef struct layer_numbers {
    double weights[WIDTH_MAX * WIDTH_MAX], bias[WIDTH_MAX];
} layer_numbers;

typedef struct reader {
    const clo_model *model;
    network net;
    double *numbers;
    /* Of the values of this group each number's unit is so many times what the exponent says. */
    int group;
    double scale[WIDTH_MAX];
    layer_numbers found, twin;
} reader;

static uint32_t round_up(uint32_t count, uint32_t unit)
{
    return (count + unit - 1) / unit * unit;
}

/* Packed as docs/MODELS.md says. */
static double weight_at(const clo_model_layer *layer, uint32_t output, uint32_t input)
{
    size_t quads = (size_t)(output / BLOCK_OUTPUTS) * (round_up(layer->inputs, BLOCK_INPUTS) / BLOCK_INPUTS) +
                   input / BLOCK_INPUTS;

    return layer->weights[(quads * BLOCK_OUTPUTS + output % BLOCK_OUTPUTS) * BLOCK_INPUTS + input % BLOCK_INPUTS];
}

/* The operation of the model that gives `value` on these stages. */
static bool find_op(const clo_model *model, uint32_t value, clo_model_on on, clo_model_op *out)
{
    for (uint32_t i = 0; clo_model_op_at(model, i, out) == CLO_OK; i++)
        if (out->out == value && out->on == on && out->op != CLO_MODEL_LOOP)
            return true;
    return false;
}

/* A dense operation of the model, and how often its sum counts. */
typedef struct part {
    clo_model_layer layer;
    double times;
} part;

/* The dense operations whose sums are those of `op`: itself, or the two of a fine layer, which joins add up. Returns how
 * many; 0: it is no such layer. */
static uint32_t find_parts(const reader *r, const clo_model_op *op, part parts[PARTS_MAX])
{
    uint32_t values[PARTS_MAX] = {op->out}, waiting = 1, count = 0;
    clo_model_op by;

    while (waiting > 0 && count < PARTS_MAX) { /* ends: a value is joined of earlier ones */
        if (!find_op(r->model, values[--waiting], op->on, &by))
            return 0;
        if (by.op == CLO_MODEL_DENSE) {
            parts[count].times = 1;
            if (clo_model_layer_at(r->model, by.argument, &parts[count++].layer) != CLO_OK || by.in[0] != op->in[0])
                return 0;
            continue;
        }
        for (uint32_t i = 0; i < CLO_MODEL_OP_INPUTS && by.in[i] != CLO_MODEL_NONE; i++)
            if (by.op != CLO_MODEL_JOIN || waiting == PARTS_MAX)
                return 0;
            else
                values[waiting++] = by.in[i];
    }
    return waiting == 0 ? count : 0;
}

/* What one unit of a value's number is worth. */
static double worth(const reader *r, uint32_t value, uint32_t k)
{
    const network_value *of = &r->net.values[value];
    double scale = r->group != NETWORK_NONE && of->group == r->group ? r->scale[k] : 1;
    clo_model_value in_model = {.exponent = 0};

    if (clo_model_value_at(r->model, value, &in_model) != CLO_OK)
        return 0;
    return scale * (of->steps != NULL ? of->steps[k] : 1) * exp2(-in_model.exponent);
}

/* The layer whose rule follows the sums of `op`: its own, or that of the join which they are parts of. */
static bool find_rule(const reader *r, const clo_model_op *op, uint32_t *value, clo_model_layer *rule)
{
    int join = r->net.values[op->out].join;
    clo_model_op by = *op;

    for (uint32_t i = 0; i < r->net.ops_count && join != NETWORK_NONE; i++) {
        const clo_model_op *other = &r->net.ops[i];
        if (other->op == CLO_MODEL_JOIN && !r->net.values[other->out].is_sum &&
            r->net.values[other->in[0]].join == join)
            by = *other;
    }
    *value = by.out;
    return find_op(r->model, by.out, by.on, &by) && clo_model_layer_at(r->model, by.argument, rule) == CLO_OK;
}

/* What one unit of the sum of output n is worth; `half` of what the rule's shift leaves out is in the biases. */
static double unit_of(const reader *r, uint32_t value, const clo_model_layer *rule, uint32_t n, double *half)
{
    *half = 0;
    if (rule->number == CLO_MODEL_S32)
        return worth(r, value, 0);
    *half = rule->pre[n] > 0 ? exp2(rule->pre[n] - 1) : 0;
    return rule->m[n] / 32768.0 * exp2(-rule->pre[n]) * worth(r, value, n);
}

static bool fits(const reader *r, const clo_model_op *op, const part *p)
{
    const network_layer *layer = &r->net.layers[op->argument];

    return p->layer.outputs == layer->outputs && p->layer.inputs > 0 &&
           p->layer.inputs == layer->inputs + r->net.values[op->in[0]].more_of_last && layer->outputs <= WIDTH_MAX &&
           layer->inputs <= WIDTH_MAX;
}

/* Adds what a part has of output n. */
static void add_row(const reader *r, const clo_model_op *op, const part *p, uint32_t n, double unit, layer_numbers *out)
{
    const network_layer *layer = &r->net.layers[op->argument];

    for (uint32_t k = 0; k < layer->inputs; k++) {
        uint32_t more = k + 1 == layer->inputs ? r->net.values[op->in[0]].more_of_last : 0;
        double whole = 0;
        for (uint32_t i = k; i <= k + more; i++)
            whole += weight_at(&p->layer, n, i);
        out->weights[n * layer->inputs + k] += p->times * whole * unit / worth(r, op->in[0], k);
    }
    out->bias[n] += p->times * p->layer.bias[n] * unit;
}

static bool read_op(const reader *r, const clo_model_op *op, layer_numbers *out)
{
    const network_layer *layer = &r->net.layers[op->argument];
    part parts[PARTS_MAX];
    clo_model_layer rule;
    uint32_t value, count = find_parts(r, op, parts);
    double half;

    memset(out, 0, sizeof *out);
    if (count == 0 || !find_rule(r, op, &value, &rule) || rule.outputs != layer->outputs)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!fits(r, op, &parts[i]))
            return false;
    for (uint32_t n = 0; n < layer->outputs; n++) {
        double unit = unit_of(r, value, &rule, n, &half);
        for (uint32_t i = 0; i < count; i++)
            add_row(r, op, &parts[i], n, unit, out);
        out->bias[n] -= layer->bias != NULL ? half * unit : 0;
    }
    return true;
}

/* Another operation with the same weights, which the model holds apart; NULL: there is none. */
static const clo_model_op *twin_of(const network *net, const clo_model_op *op)
{
    const network_layer *layer = &net->layers[op->argument];

    for (uint32_t i = 0; i < net->ops_count; i++) {
        const clo_model_op *other = &net->ops[i];
        if (other->op == CLO_MODEL_DENSE && other->argument != op->argument &&
            net->layers[other->argument].weights == layer->weights &&
            net->layers[other->argument].column == layer->column)
            return other;
    }
    return NULL;
}

/* The units with which the weights of `twin` are nearest to those of `op`. */
static bool find_units(reader *r, const clo_model_op *op, const clo_model_op *twin)
{
    const network_layer *layer = &r->net.layers[op->argument];

    if (!read_op(r, op, &r->found) || !read_op(r, twin, &r->twin) || r->net.values[twin->in[0]].group == NETWORK_NONE)
        return false;
    for (uint32_t k = 0; k < layer->inputs; k++) {
        double both = 0, own = 0;
        for (uint32_t n = 0; n < layer->outputs; n++) {
            both += r->found.weights[n * layer->inputs + k] * r->twin.weights[n * layer->inputs + k];
            own += r->found.weights[n * layer->inputs + k] * r->found.weights[n * layer->inputs + k];
        }
        r->scale[k] = both > 0 ? both / own : 1;
    }
    r->group = r->net.values[twin->in[0]].group;
    return true;
}

/* Biases lie behind the weights; those of parts add up. Of twins the mean is taken. */
static bool read_layer(reader *r, const clo_model_op *op)
{
    const network_layer *layer = &r->net.layers[op->argument];
    double *to = r->numbers + (layer->weights - r->numbers), share = twin_of(&r->net, op) != NULL ? 0.5 : 1;

    if (!read_op(r, op, &r->found))
        return false;
    for (uint32_t n = 0; n < layer->outputs; n++) {
        for (uint32_t k = 0; k < layer->inputs; k++)
            to[(size_t)n * layer->stride + layer->column + k] += share * r->found.weights[n * layer->inputs + k];
        to[(size_t)layer->stride * layer->outputs + n] += share * r->found.bias[n];
    }
    return true;
}

/* Exponents and multipliers of a file may be such that real numbers do not hold what they mean. */
static bool are_finite(const double *numbers)
{
    for (uint32_t i = 0; i < agent_numbers(); i++)
        if (!isfinite(numbers[i]))
            return false;
    return true;
}

bool agent_read(const clo_model *model, double *numbers)
{
    reader *r = calloc(1, sizeof *r);
    bool is_done[NETWORK_LAYERS_MAX] = {false}, is_good = r != NULL;

    if (r == NULL)
        return false;
    memset(numbers, 0, agent_numbers() * sizeof *numbers);
    *r = (reader){.model = model, .numbers = numbers, .group = NETWORK_NONE};
    agent_network(numbers, 50, &r->net);
    for (uint32_t i = 0; i < r->net.ops_count && is_good && r->group == NETWORK_NONE; i++) {
        const clo_model_op *op = &r->net.ops[i], *twin = op->op == CLO_MODEL_DENSE ? twin_of(&r->net, op) : NULL;
        is_good = twin == NULL || find_units(r, op, twin);
    }
    for (uint32_t i = 0; i < r->net.ops_count && is_good; i++) {
        const clo_model_op *op = &r->net.ops[i];
        if (op->op != CLO_MODEL_DENSE || is_done[op->argument])
            continue;
        is_done[op->argument] = true;
        is_good = read_layer(r, op);
    }
    free(r);
    return is_good && are_finite(numbers);
}
