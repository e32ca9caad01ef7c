/* network.c - as runtime/learn/infer/run.c, on doubles. */
#include "train/numbers/network.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct run {
    const network *net;
    const clo_model_case *shape;
    network_tape *tape;
} run;

uint32_t network_rows(const clo_model_case *shape, clo_model_domain domain)
{
    const uint32_t rows[] = {shape->stages, shape->jobs, 1, shape->limits};

    return rows[domain];
}

uint32_t network_row_for(const clo_model_case *shape, clo_model_domain mine, clo_model_domain domain, uint32_t row)
{
    if (mine == domain)
        return row;
    if (mine == CLO_MODEL_GLOBAL)
        return 0;
    return domain == CLO_MODEL_STAGE ? shape->job_of_stage[row] : shape->job_of_limit[row];
}

bool network_leaves_out(const clo_model_case *shape, const clo_model_op *op, uint32_t row)
{
    return op->on != CLO_MODEL_ALL &&
           (shape->child_begin[row] == shape->child_begin[row + 1]) != (op->on == CLO_MODEL_LEAVES);
}

uint32_t network_loop_end(const network *net, uint32_t begin)
{
    uint32_t end = begin;

    while (end + 1 < net->ops_count && net->ops[end].op != CLO_MODEL_END)
        end++;
    return end;
}

bool network_skips_loop(const clo_model_case *shape, const clo_model_op *loop)
{
    return shape->child_begin[shape->stages] == 0 && loop->in[0] != CLO_MODEL_NONE;
}

static size_t numbers_of(const network *net, const clo_model_case *shape, uint32_t value)
{
    return (size_t)network_rows(shape, net->values[value].domain) * net->values[value].width;
}

static size_t numbers_of_all(const network *net, const clo_model_case *shape)
{
    size_t numbers = 0;

    for (uint32_t v = 0; v < net->values_count; v++)
        numbers += numbers_of(net, shape, v);
    return numbers;
}

/* Numbers of the weights of all layers. */
static size_t weights_of_all(const network *net)
{
    size_t numbers = 0;

    for (uint32_t i = 0; i < net->layers_count; i++)
        numbers += (size_t)net->layers[i].inputs * net->layers[i].outputs;
    return numbers;
}

bool network_tape_fit(network_tape *tape, const network *net, const clo_model_case *shape)
{
    size_t numbers = numbers_of_all(net, shape), at = 0, turned = weights_of_all(net);

    if (turned > tape->turned_capacity || tape->turned == NULL) {
        double *memory = calloc(turned + 1, sizeof *memory);
        if (memory == NULL)
            return false;
        free(tape->turned);
        tape->turned = memory;
        tape->turned_capacity = turned;
    }
    if (2 * numbers > tape->capacity || tape->memory == NULL) {
        double *memory = calloc(2 * numbers + 1, sizeof *memory);
        if (memory == NULL)
            return false;
        free(tape->memory);
        tape->memory = memory;
        tape->capacity = 2 * numbers;
    }
    for (uint32_t v = 0; v < net->values_count; v++) {
        tape->rows[v] = tape->memory + at;
        tape->slopes[v] = tape->memory + numbers + at;
        at += numbers_of(net, shape, v);
    }
    return true;
}

void network_tape_free(network_tape *tape)
{
    free(tape->memory);
    free(tape->turned);
    *tape = (network_tape){0};
}

static double *row_of(const run *r, uint32_t value, uint32_t row)
{
    return r->tape->rows[value] + (size_t)row * r->net->values[value].width;
}

/* All outputs at a time, each added up in the order of the inputs. `w` is [inputs][outputs]: neighbours in memory are
 * independent sums. */
static void dense(const network_layer *layer, const double *restrict w, const double *restrict x, double *restrict y)
{
    if (layer->bias != NULL)
        memcpy(y, layer->bias, layer->outputs * sizeof *y);
    else
        memset(y, 0, layer->outputs * sizeof *y);
    for (uint32_t k = 0; k < layer->inputs; k++, w += layer->outputs)
        for (uint32_t n = 0; n < layer->outputs; n++)
            y[n] += w[n] * x[k];
}

static void turn_weights(const run *r)
{
    double *to = r->tape->turned;

    for (uint32_t i = 0; i < r->net->layers_count; i++) {
        const network_layer *layer = &r->net->layers[i];
        r->tape->turned_of[i] = to;
        for (uint32_t k = 0; k < layer->inputs; k++)
            for (uint32_t n = 0; n < layer->outputs; n++)
                *to++ = layer->weights[(size_t)n * layer->stride + layer->column + k];
    }
}

static void bend(const network_layer *layer, double *y)
{
    for (uint32_t n = 0; n < layer->outputs; n++)
        y[n] = y[n] < 0 ? y[n] * layer->leaky : y[n];
}

static void add_row(double *sum, const double *row, uint32_t width)
{
    for (uint32_t i = 0; i < width; i++)
        sum[i] += row[i];
}

/* All rows of a SUM at once. */
static void sum_rows(const run *r, const clo_model_op *op)
{
    const network_value *in = &r->net->values[op->in[0]];

    memset(r->tape->rows[op->out], 0, numbers_of(r->net, r->shape, op->out) * sizeof(double));
    for (uint32_t i = 0; i < network_rows(r->shape, in->domain); i++) {
        uint32_t row = in->domain == CLO_MODEL_JOB ? 0 : r->shape->job_of_stage[i];
        add_row(row_of(r, op->out, row), row_of(r, op->in[0], i), in->width);
    }
}

static void apply(const run *r, const clo_model_op *op, uint32_t row)
{
    const network_value *out = &r->net->values[op->out];
    const network_layer *layer = &r->net->layers[op->argument < NETWORK_LAYERS_MAX ? op->argument : 0];
    double *y = row_of(r, op->out, row);

    if (network_leaves_out(r->shape, op, row))
        return;
    if (op->op == CLO_MODEL_DENSE)
        dense(layer, r->tape->turned_of[op->argument], row_of(r, op->in[0], row), y);
    else
        memset(y, 0, out->width * sizeof *y);
    if (op->op == CLO_MODEL_JOIN || op->op == CLO_MODEL_ADD)
        for (uint32_t i = 0; i < CLO_MODEL_OP_INPUTS && op->in[i] != CLO_MODEL_NONE; i++) {
            clo_model_domain mine = r->net->values[op->in[i]].domain;
            add_row(y, row_of(r, op->in[i], network_row_for(r->shape, mine, out->domain, row)), out->width);
        }
    if (op->op == CLO_MODEL_SUM_CHILDREN)
        for (uint32_t e = r->shape->child_begin[row]; e < r->shape->child_begin[row + 1]; e++)
            add_row(y, row_of(r, op->in[0], r->shape->children[e]), out->width);
    for (uint32_t i = 0; op->op == CLO_MODEL_TANH && i < out->width; i++)
        y[i] = tanh(row_of(r, op->in[0], row)[i]);
    if (op->op == CLO_MODEL_DENSE || op->op == CLO_MODEL_JOIN)
        bend(layer, y);
}

/* Returns the index of the loop's END. */
static uint32_t run_loop(const run *r, uint32_t begin)
{
    const clo_model_op *ops = r->net->ops, *loop = &ops[begin];
    uint32_t end = network_loop_end(r->net, begin);

    if (network_skips_loop(r->shape, loop)) {
        memcpy(r->tape->rows[loop->out], r->tape->rows[loop->in[0]],
               numbers_of(r->net, r->shape, loop->out) * sizeof(double));
        return end;
    }
    for (uint32_t row = r->shape->stages; row-- > 0;)
        for (uint32_t i = begin + 1; i < end; i++)
            apply(r, &ops[i], row);
    return end;
}

static bool reads(const clo_model_op *op, uint32_t value)
{
    for (uint32_t i = 0; i < CLO_MODEL_OP_INPUTS; i++)
        if (op->in[i] == value)
            return true;
    return false;
}

/* Operations on stages whose results only the scores depend on, each on the same row. */
static void find_head(const network *net, bool is_head[NETWORK_OPS_MAX])
{
    memset(is_head, 0, NETWORK_OPS_MAX * sizeof *is_head);
    for (uint32_t i = net->ops_count; i-- > 0;) {
        const clo_model_op *op = &net->ops[i];
        is_head[i] =
            op->out != CLO_MODEL_NONE && net->values[op->out].domain == CLO_MODEL_STAGE && op->op != CLO_MODEL_LOOP;
        for (uint32_t k = 0; k < net->ops_count && is_head[i]; k++)
            is_head[i] = !reads(&net->ops[k], op->out) || (k > i && is_head[k]);
    }
}

void network_forward(const network *net, const network_case *input, network_tape *tape)
{
    const run r = {.net = net, .shape = input->shape, .tape = tape};
    const double *from = input->inputs;
    bool is_head[NETWORK_OPS_MAX] = {false};

    if (tape->wanted != NULL)
        find_head(net, is_head);
    assert(numbers_of_all(net, r.shape) * 2 <= tape->capacity);
    memset(tape->memory, 0, numbers_of_all(net, r.shape) * sizeof *tape->memory);
    turn_weights(&r);
    for (uint32_t v = 0; v < net->values_count; v++)
        if (net->values[v].is_input) {
            memcpy(tape->rows[v], from, numbers_of(net, r.shape, v) * sizeof *from);
            from += numbers_of(net, r.shape, v);
        }
    for (uint32_t i = 0; i < net->ops_count; i++) {
        const clo_model_op *op = &net->ops[i];
        if (op->op == CLO_MODEL_LOOP)
            i = run_loop(&r, i);
        else if (op->op == CLO_MODEL_SUM)
            sum_rows(&r, op);
        else
            for (uint32_t row = 0; row < network_rows(r.shape, net->values[op->out].domain); row++)
                if (!is_head[i] || tape->wanted[row])
                    apply(&r, op, row);
    }
}

bool network_run(network *net, const network_case *input, double *scores, double *limits)
{
    network_tape tape = {0};

    if (!network_tape_fit(&tape, net, input->shape)) {
        network_tape_free(&tape);
        return false;
    }
    network_forward(net, input, &tape);
    for (uint32_t v = 0; v < net->values_count; v++)
        for (size_t i = 0, numbers = numbers_of(net, input->shape, v); i < numbers; i++)
            net->values[v].most = fmax(net->values[v].most, fabs(tape.rows[v][i]));
    memcpy(scores, tape.rows[net->score], input->shape->stages * sizeof *scores);
    if (net->limit != CLO_MODEL_NONE)
        memcpy(limits, tape.rows[net->limit], input->shape->limits * sizeof *limits);
    network_tape_free(&tape);
    return true;
}
