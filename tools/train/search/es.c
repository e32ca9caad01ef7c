/* es.c - see es.h. */
#include "train/search/es.h"
#include "train/trainer/checkpoint_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Box, Muller 1958. */
static double normal(draws *d)
{
    double a = 1 - draws_uniform(d), b = draws_uniform(d);

    return sqrt(-2 * log(a)) * cos(6.283185307179586 * b);
}

void es_sample(const es *e, uint32_t pair, int sign, double *out)
{
    draws d = {draws_key(e->seed, e->generation, pair)};

    for (uint32_t n = 0; n < e->numbers; n++)
        out[n] = e->mean[n] + (sign != 0 ? sign * e->sigma * normal(&d) : 0);
}

void es_update(es *e, const double *differences, uint32_t pairs)
{
    double gradient[ES_NUMBERS_MAX] = {0}, squares = 0;
    adam a = {e->numbers, e->steps, e->m, e->v};

    for (uint32_t p = 0; p < pairs; p++)
        squares += differences[p] * differences[p];
    double unit = sqrt(squares / pairs);
    for (uint32_t p = 0; p < pairs && unit > 0; p++) {
        draws d = {draws_key(e->seed, e->generation, p)};
        for (uint32_t n = 0; n < e->numbers; n++)
            gradient[n] += differences[p] / unit * normal(&d) / pairs;
    }
    if (unit > 0)
        adam_step(&a, e->mean, gradient, schedule(e->rate_first, e->rate_last, (double)e->generation / e->generations));
    e->steps = a.steps;
    e->generation++;
}

bool es_write(const es *e, FILE *out)
{
    fprintf(out, "generation %u\nsteps %llu\nbest %u %.17g\n", e->generation, (unsigned long long)e->steps,
            e->best_generation, e->best_score);
    for (uint32_t n = 0; n < e->numbers; n++)
        fprintf(out, "number %.17g %.17g %.17g %.17g\n", e->mean[n], e->m[n], e->v[n], e->best[n]);
    return ferror(out) == 0;
}

static bool read_numbers(es *e, FILE *in)
{
    char line[256], *end;

    for (uint32_t n = 0; n < e->numbers; n++) {
        if ((end = checkpoint_line(in, "number", line, sizeof line)) == NULL)
            return false;
        e->mean[n] = strtod(end, &end);
        e->m[n] = strtod(end, &end);
        e->v[n] = strtod(end, &end);
        e->best[n] = strtod(end, &end);
        if (*end != '\n' || !isfinite(e->mean[n]) || !isfinite(e->m[n]) || !(e->v[n] >= 0) || !isfinite(e->best[n]))
            return false;
    }
    return true;
}

bool es_read(es *e, FILE *in)
{
    char line[256], *end = checkpoint_line(in, "generation", line, sizeof line);
    es *read = malloc(sizeof *read);
    bool is_good = read != NULL && end != NULL;

    if (is_good) {
        *read = *e;
        read->generation = (uint32_t)strtoul(end, NULL, 10);
        is_good = (end = checkpoint_line(in, "steps", line, sizeof line)) != NULL;
    }
    if (is_good) {
        read->steps = strtoull(end, NULL, 10);
        is_good = (end = checkpoint_line(in, "best", line, sizeof line)) != NULL;
    }
    if (is_good) {
        read->best_generation = (uint32_t)strtoul(end, &end, 10);
        read->best_score = strtod(end, NULL);
        is_good = !isnan(read->best_score) && read_numbers(read, in);
    }
    if (is_good)
        *e = *read;
    free(read);
    return is_good;
}
