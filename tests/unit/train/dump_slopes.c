/* dump_slopes.c - drawn networks with their jobs, numbers and slopes as JSON, for torch_slopes.py. */
#include "random_network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NETWORKS = 8 };

static void put_reals(const char *key, const double *numbers, size_t count)
{
    printf(",\"%s\":[", key);
    for (size_t i = 0; i < count; i++)
        printf("%s%.17g", i > 0 ? "," : "", numbers[i]);
    printf("]");
}

static void put_counts(const char *key, const uint32_t *numbers, size_t count)
{
    printf(",\"%s\":[", key);
    for (size_t i = 0; i < count; i++)
        printf("%s%u", i > 0 ? "," : "", numbers[i]);
    printf("]");
}

static void put_network(const random_network *r)
{
    printf(",\"values\":[");
    for (uint32_t v = 0; v < r->net.values_count; v++)
        printf("%s[%d,%u,%d]", v > 0 ? "," : "", r->net.values[v].domain, r->net.values[v].width,
               r->net.values[v].is_input);
    printf("],\"layers\":[");
    for (uint32_t i = 0; i < r->net.layers_count; i++) {
        const network_layer *l = &r->net.layers[i];
        printf("%s[%u,%u,%u,%u,%ld,%ld,%g]", i > 0 ? "," : "", l->inputs, l->outputs, l->stride, l->column,
               l->weights != NULL ? (long)(l->weights - r->parameters) : -1L,
               l->bias != NULL ? (long)(l->bias - r->parameters) : -1L, l->leaky);
    }
    printf("],\"ops\":[");
    for (uint32_t i = 0; i < r->net.ops_count; i++) {
        const clo_model_op *op = &r->net.ops[i];
        printf("%s[%d,%d,%u,%u,%u,%u,%u]", i > 0 ? "," : "", op->op, op->on, op->out, op->in[0], op->in[1], op->in[2],
               op->argument);
    }
    printf("]");
}

static bool put(random_network *r, network_tape *tape, double *gradient)
{
    size_t numbers = 0;

    if (!network_tape_fit(tape, &r->net, &r->shape))
        return false;
    for (uint32_t v = 0; v < r->net.values_count; v++)
        numbers += (size_t)network_rows(&r->shape, r->net.values[v].domain) * r->net.values[v].width;
    network_forward(&r->net, &r->input, tape);
    network_slopes_clear(&r->net, &r->shape, tape);
    for (size_t i = 0; i < numbers; i++)
        tape->slopes[0][i] = 2 * draws_uniform(&r->d) - 1;
    printf("{\"rows\":[%u,%u,1,%u]", r->shape.stages, r->shape.jobs, r->shape.limits);
    put_network(r);
    put_counts("job_of_stage", r->job_of_stage, r->shape.stages);
    put_counts("job_of_limit", r->job_of_limit, r->shape.limits);
    put_counts("child_begin", r->child_begin, r->shape.stages + 1);
    put_counts("children", r->children, r->child_begin[r->shape.stages]);
    put_reals("parameters", r->parameters, r->parameters_count);
    put_reals("shares", tape->slopes[0], numbers);
    put_reals("numbers", tape->rows[0], numbers);
    memset(gradient, 0, RANDOM_PARAMETERS_MAX * sizeof *gradient);
    network_backward(&r->net, &r->shape, tape, r->parameters, gradient);
    put_reals("gradient", gradient, r->parameters_count);
    printf("}\n");
    return true;
}

int main(void)
{
    random_network *r = calloc(1, sizeof *r);
    double *gradient = calloc(RANDOM_PARAMETERS_MAX, sizeof *gradient);
    network_tape tape = {0};
    bool is_good = r != NULL && gradient != NULL;

    for (uint64_t i = 0; i < (uint64_t)RANDOM_KINDS * NETWORKS && is_good; i++) {
        random_network_draw(r, (random_kind)(i % RANDOM_KINDS), 1000 + i);
        is_good = put(r, &tape, gradient);
    }
    network_tape_free(&tape);
    free(gradient);
    free(r);
    return is_good ? 0 : 1;
}
