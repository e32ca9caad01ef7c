/* measure.c - see measure.h. */
#include "train/numbers/measure.h"

#include <math.h>
#include <stdlib.h>

bool measure_open(measure *m, const network *net)
{
    bool is_good = true;

    *m = (measure){.rows = {0}};
    for (uint32_t v = 0; v < net->values_count; v++) {
        m->most[v] = calloc(net->values[v].width, sizeof(double));
        m->most_before[v] = calloc(net->values[v].width, sizeof(double));
        is_good = is_good && m->most[v] != NULL && m->most_before[v] != NULL;
    }
    for (uint32_t i = 0; i < net->layers_count; i++) {
        size_t inputs = net->layers[i].inputs;
        if (net->layers[i].weights == NULL)
            continue;
        m->sums[i] = calloc(inputs, sizeof(double));
        m->products[i] = calloc(inputs * inputs, sizeof(double));
        is_good = is_good && m->sums[i] != NULL && m->products[i] != NULL;
    }
    if (!is_good)
        measure_close(m);
    return is_good;
}

void measure_close(measure *m)
{
    for (uint32_t v = 0; v < NETWORK_VALUES_MAX; v++) {
        free(m->most[v]);
        free(m->most_before[v]);
    }
    for (uint32_t i = 0; i < NETWORK_LAYERS_MAX; i++) {
        free(m->sums[i]);
        free(m->products[i]);
    }
    network_tape_free(&m->tape);
    *m = (measure){.rows = {0}};
}

static void add_products(measure *m, uint32_t layer, const double *x, uint32_t inputs)
{
    m->rows[layer]++;
    for (uint32_t i = 0; i < inputs; i++) {
        m->sums[layer][i] += x[i];
        for (uint32_t j = 0; j < inputs; j++)
            m->products[layer][(size_t)i * inputs + j] += x[i] * x[j];
    }
}

/* What the largest number of a value was before the slope of `layer`; CLO_MODEL_NONE: no layer gives it. */
static double before_slope(const network *net, uint32_t layer, double x)
{
    double leaky = layer != CLO_MODEL_NONE ? net->layers[layer].leaky : 1;

    return x >= 0 ? x : leaky > 0 ? -x / leaky : 0;
}

static uint32_t layer_of(const network *net, uint32_t value)
{
    for (uint32_t i = 0; i < net->ops_count; i++)
        if (net->ops[i].out == value && (net->ops[i].op == CLO_MODEL_DENSE || net->ops[i].op == CLO_MODEL_JOIN))
            return net->ops[i].argument;
    return CLO_MODEL_NONE;
}

bool measure_add(measure *m, network *net, const network_case *input)
{
    if (!network_tape_fit(&m->tape, net, input->shape))
        return false;
    network_forward(net, input, &m->tape);
    for (uint32_t v = 0; v < net->values_count; v++) {
        network_value *value = &net->values[v];
        uint32_t layer = layer_of(net, v);
        size_t numbers = (size_t)network_rows(input->shape, value->domain) * value->width;
        for (size_t i = 0; i < numbers; i++) {
            double x = m->tape.rows[v][i], *most = &m->most[v][i % value->width];
            double *before = &m->most_before[v][i % value->width];
            *most = fmax(*most, fabs(x));
            *before = fmax(*before, before_slope(net, layer, x));
            value->most = fmax(value->most, *most);
        }
    }
    for (uint32_t i = 0; i < net->ops_count; i++) {
        const clo_model_op *op = &net->ops[i];
        uint32_t rows = op->op == CLO_MODEL_DENSE ? network_rows(input->shape, net->values[op->out].domain) : 0;
        uint32_t inputs = rows > 0 ? net->layers[op->argument].inputs : 0;
        for (uint32_t row = 0; row < rows; row++)
            if (!network_leaves_out(input->shape, op, row))
                add_products(m, op->argument, m->tape.rows[op->in[0]] + (size_t)row * inputs, inputs);
    }
    return true;
}
