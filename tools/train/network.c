/* network.c - as runtime/learn/run.c, on doubles. */
#include "network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct run {
    network *net;
    const clo_model_case *shape;
    double *rows[NETWORK_VALUES_MAX];
} run;

uint32_t network_rows(const clo_model_case *shape, clo_model_domain domain)
{
    const uint32_t rows[] = {shape->stages, shape->jobs, 1, shape->limits};

    return rows[domain];
}

static double *row_of(const run *r, uint32_t value, uint32_t row)
{
    return r->rows[value] + (size_t)row * r->net->values[value].width;
}

/* The row of `value` that belongs to `row` of a value of `domain`. */
static const double *row_for(const run *r, uint32_t value, clo_model_domain domain, uint32_t row)
{
    clo_model_domain mine = r->net->values[value].domain;

    if (mine == domain)
        return row_of(r, value, row);
    if (mine == CLO_MODEL_GLOBAL)
        return row_of(r, value, 0);
    return row_of(r, value, domain == CLO_MODEL_STAGE ? r->shape->job_of_stage[row] : r->shape->job_of_limit[row]);
}

static void dense(const network_layer *layer, const double *x, double *y)
{
    for (uint32_t n = 0; n < layer->outputs; n++) {
        double sum = layer->bias != NULL ? layer->bias[n] : 0;
        for (uint32_t k = 0; k < layer->inputs; k++)
            sum += layer->weights[(size_t)n * layer->stride + layer->column + k] * x[k];
        y[n] = sum < 0 ? sum * layer->leaky : sum;
    }
}

static void add_row(double *sum, const double *row, uint32_t width)
{
    for (uint32_t i = 0; i < width; i++)
        sum[i] += row[i];
}

static void sum(const run *r, const clo_model_op *op, uint32_t row, double *y)
{
    const network_value *in = &r->net->values[op->in[0]];

    for (uint32_t i = 0; i < network_rows(r->shape, in->domain); i++)
        if (in->domain == CLO_MODEL_JOB || r->shape->job_of_stage[i] == row)
            add_row(y, row_of(r, op->in[0], i), in->width);
}

static bool is_left_out(const run *r, const clo_model_op *op, uint32_t row)
{
    return op->on != CLO_MODEL_ALL &&
           (r->shape->child_begin[row] == r->shape->child_begin[row + 1]) != (op->on == CLO_MODEL_LEAVES);
}

static void apply(const run *r, const clo_model_op *op, uint32_t row)
{
    network_value *out = &r->net->values[op->out];
    const network_layer *layer = &r->net->layers[op->argument < NETWORK_LAYERS_MAX ? op->argument : 0];
    double *y = row_of(r, op->out, row);

    if (is_left_out(r, op, row))
        return;
    memset(y, 0, out->width * sizeof *y);
    if (op->op == CLO_MODEL_DENSE)
        dense(layer, row_of(r, op->in[0], row), y);
    if (op->op == CLO_MODEL_JOIN || op->op == CLO_MODEL_ADD)
        for (uint32_t i = 0; i < CLO_MODEL_OP_INPUTS && op->in[i] != CLO_MODEL_NONE; i++)
            add_row(y, row_for(r, op->in[i], out->domain, row), out->width);
    if (op->op == CLO_MODEL_SUM)
        sum(r, op, row, y);
    if (op->op == CLO_MODEL_SUM_CHILDREN)
        for (uint32_t e = r->shape->child_begin[row]; e < r->shape->child_begin[row + 1]; e++)
            add_row(y, row_of(r, op->in[0], r->shape->children[e]), out->width);
    for (uint32_t i = 0; i < out->width; i++) {
        if (op->op == CLO_MODEL_JOIN && y[i] < 0)
            y[i] *= layer->leaky;
        if (op->op == CLO_MODEL_TANH)
            y[i] = tanh(row_of(r, op->in[0], row)[i]);
        out->most = fmax(out->most, fabs(y[i]));
    }
}

/* Returns the index of the loop's END. */
static uint32_t run_loop(const run *r, uint32_t begin)
{
    const clo_model_op *ops = r->net->ops, *loop = &ops[begin];
    uint32_t end = begin;

    while (end + 1 < r->net->ops_count && ops[end].op != CLO_MODEL_END)
        end++;
    if (r->shape->child_begin[r->shape->stages] == 0 && loop->in[0] != CLO_MODEL_NONE) {
        memcpy(r->rows[loop->out], r->rows[loop->in[0]],
               (size_t)r->shape->stages * r->net->values[loop->out].width * sizeof(double));
        return end;
    }
    for (uint32_t row = r->shape->stages; row-- > 0;)
        for (uint32_t i = begin + 1; i < end; i++)
            apply(r, &ops[i], row);
    return end;
}

static void run_ops(const run *r)
{
    for (uint32_t i = 0; i < r->net->ops_count; i++) {
        const clo_model_op *op = &r->net->ops[i];
        if (op->op == CLO_MODEL_LOOP) {
            i = run_loop(r, i);
            continue;
        }
        for (uint32_t row = 0; row < network_rows(r->shape, r->net->values[op->out].domain); row++)
            apply(r, op, row);
    }
}

static void put_inputs(const run *r, const double *from)
{
    for (uint32_t v = 0; v < r->net->values_count; v++) {
        network_value *value = &r->net->values[v];
        size_t numbers = (size_t)network_rows(r->shape, value->domain) * value->width;
        if (!value->is_input)
            continue;
        for (size_t i = 0; i < numbers; i++) {
            r->rows[v][i] = from[i];
            value->most = fmax(value->most, fabs(from[i]));
        }
        from += numbers;
    }
}

bool network_run(network *net, const network_case *input, double *scores, double *limits)
{
    run r = {.net = net, .shape = input->shape};
    size_t numbers = 1, at = 0;

    for (uint32_t v = 0; v < net->values_count; v++)
        numbers += (size_t)network_rows(r.shape, net->values[v].domain) * net->values[v].width;
    double *memory = calloc(numbers, sizeof *memory);
    if (memory == NULL)
        return false;
    for (uint32_t v = 0; v < net->values_count; v++) {
        r.rows[v] = memory + at;
        at += (size_t)network_rows(r.shape, net->values[v].domain) * net->values[v].width;
    }
    put_inputs(&r, input->inputs);
    run_ops(&r);
    memcpy(scores, r.rows[net->score], r.shape->stages * sizeof *scores);
    if (net->limit != CLO_MODEL_NONE)
        memcpy(limits, r.rows[net->limit], r.shape->limits * sizeof *limits);
    free(memory);
    return true;
}
