/* network_backward.c - reverse-mode differentiation of network_forward, written by hand.
 *
 * Operations are taken last to first. Each turns the slopes of its output row into slopes of what it read. A loop over
 * stages ran from children to parents, so the way back is from parents to children: the slopes of a stage are whole
 * when its turn comes, because only its parents read it inside the loop. */
#include "train/numbers/network.h"

#include <assert.h>
#include <string.h>

typedef struct back {
    const network *net;
    const clo_model_case *shape;
    network_tape *tape;
    const double *base;
    double *gradient;
} back;

static double *row_of(const back *b, uint32_t value, uint32_t row)
{
    return b->tape->rows[value] + (size_t)row * b->net->values[value].width;
}

static double *slope_of(const back *b, uint32_t value, uint32_t row)
{
    return b->tape->slopes[value] + (size_t)row * b->net->values[value].width;
}

static void add_row(double *sum, const double *row, uint32_t width)
{
    for (uint32_t i = 0; i < width; i++)
        sum[i] += row[i];
}

/* `to` and `from` are different arrays: the loop goes over several numbers at once. */
static void add_scaled(double *restrict to, const double *restrict from, double by, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        to[i] += by * from[i];
}

/* The slope behind the leak, of output n. The sign of y is that of the sum, as the leak is not negative. */
static double unbend(const network_layer *layer, double y, double dy)
{
    return y > 0 ? dy : dy * layer->leaky;
}

static void dense(const back *b, const clo_model_op *op, uint32_t row)
{
    const network_layer *layer = &b->net->layers[op->argument];
    const double *x = row_of(b, op->in[0], row), *y = row_of(b, op->out, row), *dy = slope_of(b, op->out, row);
    double *dx = slope_of(b, op->in[0], row);

    for (uint32_t n = 0; n < layer->outputs; n++) {
        const double *w = layer->weights + (size_t)n * layer->stride + layer->column;
        double *dw = b->gradient + (w - b->base), d = unbend(layer, y[n], dy[n]);
        if (d == 0)
            continue;
        add_scaled(dw, x, d, layer->inputs);
        add_scaled(dx, w, d, layer->inputs);
        if (layer->bias != NULL)
            b->gradient[layer->bias + n - b->base] += d;
    }
}

/* JOIN, with the leak of its layer, and ADD. */
static void sum_inputs(const back *b, const clo_model_op *op, uint32_t row)
{
    const network_value *out = &b->net->values[op->out];
    const double *y = row_of(b, op->out, row);
    double *dy = slope_of(b, op->out, row);

    for (uint32_t n = 0; op->op == CLO_MODEL_JOIN && n < out->width; n++)
        dy[n] = unbend(&b->net->layers[op->argument], y[n], dy[n]);
    for (uint32_t i = 0; i < CLO_MODEL_OP_INPUTS && op->in[i] != CLO_MODEL_NONE; i++) {
        clo_model_domain mine = b->net->values[op->in[i]].domain;
        add_row(slope_of(b, op->in[i], network_row_for(b->shape, mine, out->domain, row)), dy, out->width);
    }
}

static void tangent(const back *b, const clo_model_op *op, uint32_t row)
{
    const double *y = row_of(b, op->out, row), *dy = slope_of(b, op->out, row);
    double *dx = slope_of(b, op->in[0], row);

    for (uint32_t i = 0; i < b->net->values[op->out].width; i++)
        dx[i] += dy[i] * (1 - y[i] * y[i]);
}

/* All rows of a SUM. */
static void sum_rows(const back *b, const clo_model_op *op)
{
    const network_value *in = &b->net->values[op->in[0]];

    for (uint32_t i = 0; i < network_rows(b->shape, in->domain); i++) {
        uint32_t row = in->domain == CLO_MODEL_JOB ? 0 : b->shape->job_of_stage[i];
        add_row(slope_of(b, op->in[0], i), slope_of(b, op->out, row), in->width);
    }
}

static void apply(const back *b, const clo_model_op *op, uint32_t row)
{
    if (network_leaves_out(b->shape, op, row))
        return;
    if (op->op == CLO_MODEL_DENSE)
        dense(b, op, row);
    if (op->op == CLO_MODEL_JOIN || op->op == CLO_MODEL_ADD)
        sum_inputs(b, op, row);
    if (op->op == CLO_MODEL_TANH)
        tangent(b, op, row);
    if (op->op == CLO_MODEL_SUM_CHILDREN)
        for (uint32_t e = b->shape->child_begin[row]; e < b->shape->child_begin[row + 1]; e++)
            add_row(slope_of(b, op->in[0], b->shape->children[e]), slope_of(b, op->out, row),
                    b->net->values[op->out].width);
}

/* `end` is an END. Returns the index of its LOOP. */
static uint32_t run_loop(const back *b, uint32_t end)
{
    const clo_model_op *ops = b->net->ops;
    uint32_t begin = end;

    while (begin > 0 && ops[begin].op != CLO_MODEL_LOOP)
        begin--;
    assert(ops[begin].op == CLO_MODEL_LOOP);
    if (network_skips_loop(b->shape, &ops[begin])) {
        add_row(b->tape->slopes[ops[begin].in[0]], b->tape->slopes[ops[begin].out],
                b->shape->stages * b->net->values[ops[begin].out].width);
        return begin;
    }
    for (uint32_t row = 0; row < b->shape->stages; row++)
        for (uint32_t i = end; i-- > begin + 1;)
            apply(b, &ops[i], row);
    return begin;
}

void network_slopes_clear(const network *net, const clo_model_case *shape, network_tape *tape)
{
    for (uint32_t v = 0; v < net->values_count; v++)
        memset(tape->slopes[v], 0,
               (size_t)network_rows(shape, net->values[v].domain) * net->values[v].width * sizeof(double));
}

void network_backward(const network *net, const clo_model_case *shape, network_tape *tape, const double *base,
                      double *gradient)
{
    back b = {.net = net, .shape = shape, .tape = tape, .base = base};

    b.gradient = gradient;
    for (uint32_t i = net->ops_count; i-- > 0;) {
        const clo_model_op *op = &net->ops[i];
        if (op->op == CLO_MODEL_END)
            i = run_loop(&b, i);
        else if (op->op == CLO_MODEL_SUM)
            sum_rows(&b, op);
        else
            for (uint32_t row = 0; row < network_rows(shape, net->values[op->out].domain); row++)
                apply(&b, op, row);
    }
}

static bool lies_in(const double *numbers, size_t count, const double *base, size_t base_count)
{
    return numbers >= base && numbers + count <= base + base_count;
}

bool network_lies_in(const network *net, const double *base, size_t count)
{
    for (uint32_t i = 0; i < net->layers_count; i++) {
        const network_layer *layer = &net->layers[i];
        size_t weights = layer->column + (size_t)layer->stride * (layer->outputs - 1) + layer->inputs;
        if (layer->weights != NULL && !lies_in(layer->weights, weights, base, count))
            return false;
        if (layer->bias != NULL && !lies_in(layer->bias, layer->outputs, base, count))
            return false;
    }
    return true;
}
