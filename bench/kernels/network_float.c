/* network_float.c - what the integers are compared with: float, row by row, compiled with -O2. */
#include "common/bench.h"
#include "kernels/network.h"
#include "kernels/network_shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct network_float {
    float weights[NETWORK_LAYERS][NETWORK_WIDTH * NETWORK_WIDTH], bias[NETWORK_LAYERS][NETWORK_WIDTH];
    float rows[NETWORK_VALUES][NETWORK_STAGES][NETWORK_WIDTH];
};

network_float *network_float_open(uint64_t seed)
{
    network_float *n = calloc(1, sizeof *n);

    for (uint32_t i = 0; n != NULL && i < NETWORK_LAYERS; i++)
        for (uint32_t k = 0; k < network_layers[i].inputs * network_layers[i].outputs; k++)
            n->weights[i][k] = ((float)bench_random_below(&seed, 255) - 127) / 500;
    return n;
}

void network_float_close(network_float *network)
{
    free(network);
}

static float bent(uint32_t layer, float x)
{
    return network_layers[layer].is_leaky && x < 0 ? x * 0.2f : x;
}

static void dense(const network_float *n, uint32_t layer, const float *in, float *out)
{
    const float *w = n->weights[layer];
    uint32_t inputs = network_layers[layer].inputs;

    for (uint32_t o = 0; o < network_layers[layer].outputs; o++, w += inputs) {
        float sum = n->bias[layer][o];
        for (uint32_t k = 0; k < inputs; k++)
            sum += w[k] * in[k];
        out[o] = bent(layer, sum);
    }
}

static const float *row_for(const network_float *n, const network_jobs *jobs, uint32_t value, clo_model_domain domain,
                            uint32_t row)
{
    clo_model_domain mine = network_values[value].domain;
    uint32_t job = domain == CLO_MODEL_STAGE   ? jobs->job_of_stage[row]
                   : domain == CLO_MODEL_LIMIT ? jobs->job_of_limit[row]
                                               : row;

    return n->rows[value][mine == domain ? row : mine == CLO_MODEL_GLOBAL ? 0 : job];
}

static void add_up(const network_float *n, const clo_model_op *op, const network_jobs *jobs, uint32_t row, float *out)
{
    uint32_t v = op->in[0], width = network_values[v].width, domain = network_values[v].domain;
    const clo_model_case *input = &jobs->input;

    memset(out, 0, width * sizeof *out);
    if (op->op == CLO_MODEL_SUM_CHILDREN) {
        for (uint32_t e = input->child_begin[row]; e < input->child_begin[row + 1]; e++)
            for (uint32_t k = 0; k < width; k++)
                out[k] += n->rows[v][input->children[e]][k];
        return;
    }
    for (uint32_t i = 0; i < (domain == CLO_MODEL_STAGE ? input->stages : input->jobs); i++)
        if (domain == CLO_MODEL_JOB || input->job_of_stage[i] == row)
            for (uint32_t k = 0; k < width; k++)
                out[k] += n->rows[v][i][k];
}

static void apply(network_float *n, const clo_model_op *op, const network_jobs *jobs, uint32_t row)
{
    bool is_leaf = jobs->child_begin[row] == jobs->child_begin[row + 1];
    float *out = n->rows[op->out][row];
    clo_model_domain domain = network_values[op->out].domain;

    if (op->on != CLO_MODEL_ALL && is_leaf != (op->on == CLO_MODEL_LEAVES))
        return;
    if (op->op == CLO_MODEL_DENSE) {
        dense(n, op->argument, n->rows[op->in[0]][row], out);
    } else if (op->op == CLO_MODEL_SUM || op->op == CLO_MODEL_SUM_CHILDREN) {
        add_up(n, op, jobs, row, out);
    } else if (op->op == CLO_MODEL_TANH) {
        for (uint32_t k = 0; k < network_values[op->out].width; k++)
            out[k] = tanhf(n->rows[op->in[0]][row][k]);
    } else { /* join, add */
        for (uint32_t k = 0; k < network_values[op->out].width; k++) {
            float sum = 0;
            for (uint32_t i = 0; i < CLO_MODEL_OP_INPUTS && op->in[i] != CLO_MODEL_NONE; i++)
                sum += row_for(n, jobs, op->in[i], domain, row)[k];
            out[k] = op->op == CLO_MODEL_JOIN ? bent(op->argument, sum) : sum;
        }
    }
}

static uint32_t run_loop(network_float *n, const network_jobs *jobs, uint32_t begin)
{
    uint32_t end = begin;

    while (network_ops[end].op != CLO_MODEL_END)
        end++;
    for (uint32_t row = jobs->input.stages; row-- > 0;)
        for (uint32_t i = begin + 1; i < end; i++)
            apply(n, &network_ops[i], jobs, row);
    return end;
}

static void put_inputs(network_float *n, const network_jobs *jobs)
{
    const uint32_t rows[] = {NETWORK_STAGES, NETWORK_JOBS, 1, NETWORK_LIMITS};
    const int16_t *from = jobs->numbers;

    for (uint32_t v = 0; v < NETWORK_VALUES; v++)
        for (uint32_t row = 0; network_values[v].is_input && row < rows[network_values[v].domain]; row++)
            for (uint32_t k = 0; k < network_values[v].width; k++)
                n->rows[v][row][k] = (float)*from++ / 100;
}

void network_float_run(network_float *n, const network_jobs *jobs, bool is_all, float *scores, float *limits)
{
    const uint32_t all[] = {NETWORK_STAGES, NETWORK_JOBS, 1, NETWORK_LIMITS};
    const uint32_t asked[] = {jobs->ready_count, NETWORK_JOBS, 1, NETWORK_LIMITS_EACH};

    put_inputs(n, jobs);
    for (uint32_t i = 0; i < NETWORK_OPS; i++) {
        if (network_ops[i].op == CLO_MODEL_LOOP) {
            i = run_loop(n, jobs, i);
            continue;
        }
        clo_model_domain domain = network_values[network_ops[i].out].domain;
        bool is_part = !is_all && i >= NETWORK_HEADS_BEGIN;
        for (uint32_t row = 0; row < (is_part ? asked : all)[domain]; row++)
            apply(n, &network_ops[i], jobs, is_part && domain == CLO_MODEL_STAGE ? jobs->ready[row] : row);
    }
    for (uint32_t s = 0; s < NETWORK_STAGES; s++)
        scores[s] = n->rows[NETWORK_SCORE][s][0];
    for (uint32_t l = 0; l < NETWORK_LIMITS; l++)
        limits[l] = n->rows[NETWORK_LIMIT][l][0];
}
