/* cem.c - see cem.h. */
#include "train/search/cem.h"
#include "train/trainer/checkpoint_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* In (0, 1). */
static double uniform(uint64_t x)
{
    return ((double)(mix(x) >> 11) + 0.5) / 9007199254740992.0;
}

void cem_sample(const cem *c, uint32_t index, double *out)
{
    for (uint32_t n = 0; n < c->numbers; n++) {
        uint64_t key = mix(mix(mix(c->seed) + c->generation) + index) + 2 * (uint64_t)n;
        double normal = sqrt(-2 * log(uniform(key))) * cos(6.283185307179586 * uniform(key + 1)); /* Box, Muller 1958 */
        out[n] = c->mean[n] + (index > 0 ? normal * c->sigma[n] : 0);
    }
}

typedef struct scored {
    double score;
    uint32_t index;
} scored;

static int by_score(const void *a, const void *b)
{
    const scored *x = a, *y = b;

    if (x->score != y->score)
        return x->score < y->score ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

bool cem_update(cem *c, const double *scores, uint32_t population, uint32_t elites, double inertia)
{
    scored *order = calloc(population, sizeof *order);
    double sum[CEM_NUMBERS_MAX] = {0}, squares[CEM_NUMBERS_MAX] = {0}, sample[CEM_NUMBERS_MAX];

    if (order == NULL)
        return false;
    for (uint32_t i = 0; i < population; i++)
        order[i] = (scored){scores[i], i};
    qsort(order, population, sizeof *order, by_score);
    for (uint32_t i = 0; i < elites && i < population; i++) {
        cem_sample(c, order[i].index, sample);
        for (uint32_t n = 0; n < c->numbers; n++) {
            sum[n] += sample[n];
            squares[n] += sample[n] * sample[n];
        }
    }
    free(order);
    for (uint32_t n = 0; n < c->numbers; n++) {
        double mean = sum[n] / elites, variance = squares[n] / elites - mean * mean;
        double sigma = sqrt(variance > 0 ? variance : 0);
        c->mean[n] = inertia * c->mean[n] + (1 - inertia) * mean;
        c->sigma[n] = fmax(c->least_sigma[n], inertia * c->sigma[n] + (1 - inertia) * sigma);
    }
    c->generation++;
    return true;
}

bool cem_write(const cem *c, FILE *out)
{
    fprintf(out, "generation %u\nseed %llu\nscore %.17g\n", c->generation, (unsigned long long)c->seed, c->best_score);
    for (uint32_t n = 0; n < c->numbers; n++)
        fprintf(out, "number %.17g %.17g %.17g\n", c->mean[n], c->sigma[n], c->best[n]);
    return ferror(out) == 0;
}

bool cem_read(cem *c, FILE *in)
{
    char line[256], *end = checkpoint_line(in, "generation", line, sizeof line);
    cem read = *c;

    if (end == NULL)
        return false;
    read.generation = (uint32_t)strtoul(end, NULL, 10);
    if ((end = checkpoint_line(in, "seed", line, sizeof line)) == NULL)
        return false;
    read.seed = strtoull(end, NULL, 10);
    if ((end = checkpoint_line(in, "score", line, sizeof line)) == NULL)
        return false;
    read.best_score = strtod(end, NULL);
    for (uint32_t n = 0; n < c->numbers; n++) {
        if ((end = checkpoint_line(in, "number", line, sizeof line)) == NULL)
            return false;
        read.mean[n] = strtod(end, &end);
        read.sigma[n] = strtod(end, &end);
        read.best[n] = strtod(end, &end);
        if (*end != '\n' || !isfinite(read.mean[n]) || !(read.sigma[n] >= 0) || !isfinite(read.best[n]))
            return false;
    }
    *c = read;
    return true;
}
