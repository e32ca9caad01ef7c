/* parameters.c - see parameters.h. */
#include "train/numbers/parameters.h"

#include <math.h>
#include <string.h>

uint64_t draws_next(draws *d)
{
    uint64_t x = d->state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

double draws_uniform(draws *d)
{
    return (double)(draws_next(d) >> 11) / 9007199254740992.0;
}

uint64_t draws_key(uint64_t a, uint64_t b, uint64_t c)
{
    draws d = {a};

    d.state = draws_next(&d) ^ b;
    d.state = draws_next(&d) ^ c;
    return draws_next(&d);
}

/* Whether the layer is another slice of a matrix that an earlier layer has. */
static bool is_again(const network *net, uint32_t layer)
{
    for (uint32_t i = 0; i < layer; i++)
        if (net->layers[i].weights == net->layers[layer].weights)
            return true;
    return false;
}

void parameters_init(const network *net, double *base, uint64_t seed)
{
    draws d = {draws_key(seed, 0, 0)};

    for (uint32_t i = 0; i < net->layers_count; i++) {
        const network_layer *layer = &net->layers[i];
        if (layer->bias != NULL)
            memset(base + (layer->bias - base), 0, layer->outputs * sizeof *base);
        if (layer->weights == NULL || is_again(net, i))
            continue;
        double *weights = base + (layer->weights - base);
        double most = sqrt(6.0 / (layer->stride + layer->outputs));
        for (size_t k = 0; k < (size_t)layer->stride * layer->outputs; k++)
            weights[k] = (2 * draws_uniform(&d) - 1) * most;
    }
}

void parameters_zero(const network *net, double *base, uint32_t value)
{
    for (uint32_t i = 0; i < net->ops_count; i++) {
        if (net->ops[i].op != CLO_MODEL_DENSE || net->ops[i].out != value)
            continue;
        const network_layer *layer = &net->layers[net->ops[i].argument];
        for (uint32_t n = 0; n < layer->outputs; n++)
            memset(base + (layer->weights - base) + (size_t)n * layer->stride + layer->column, 0,
                   layer->inputs * sizeof *base);
        if (layer->bias != NULL)
            memset(base + (layer->bias - base), 0, layer->outputs * sizeof *base);
    }
}

double gradient_clip(double *gradient, uint32_t count, double most)
{
    double squares = 0;

    for (uint32_t i = 0; i < count; i++)
        squares += gradient[i] * gradient[i];
    double length = sqrt(squares);
    if (most > 0 && length > most)
        for (uint32_t i = 0; i < count; i++)
            gradient[i] *= most / length;
    return length;
}

void adam_step(adam *a, double *base, const double *gradient, double rate)
{
    const double keep_m = 0.9, keep_v = 0.999, least = 1e-8;

    a->steps++;
    double whole_m = 1 - pow(keep_m, (double)a->steps), whole_v = 1 - pow(keep_v, (double)a->steps);
    for (uint32_t i = 0; i < a->count; i++) {
        a->m[i] = keep_m * a->m[i] + (1 - keep_m) * gradient[i];
        a->v[i] = keep_v * a->v[i] + (1 - keep_v) * gradient[i] * gradient[i];
        base[i] -= rate * (a->m[i] / whole_m) / (sqrt(a->v[i] / whole_v) + least);
    }
}

double schedule(double first, double last, double at)
{
    return first + (last - first) * (at < 0 ? 0 : at > 1 ? 1 : at);
}
