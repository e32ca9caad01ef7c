/* returns.c - see returns.h. */
#include "train/agent/returns.h"

#include "train/numbers/losses.h"

#include <math.h>
#include <stdlib.h>

/* The integral of the job's life from `from_s` on. */
static double lived(const clo_stream_outcome *job, double from_s, double horizon_s)
{
    double begin = fmax(1e-9 * (double)job->arrival_ns - from_s, 0);
    double end = job->finish_ns == CLO_TIME_NEVER ? begin : 1e-9 * (double)job->finish_ns - from_s;

    if (end <= begin)
        return 0;
    return horizon_s > 0 ? horizon_s * (exp(-begin / horizon_s) - exp(-end / horizon_s)) : end - begin;
}

static double deviation_of(const double *numbers, size_t count)
{
    double squares = 0;

    for (size_t i = 0; i < count; i++)
        squares += numbers[i] * numbers[i] / (double)count;
    return sqrt(squares);
}

bool returns_to_advantages(episode *rollouts, uint32_t count, const clo_stream_outcome *outcomes, uint32_t jobs,
                           double horizon_s)
{
    size_t total = 0, at = 0;

    for (uint32_t r = 0; r < count; r++)
        total += rollouts[r].decisions_count;
    double *times = calloc(total + 1, sizeof *times), *returns = calloc(total + 1, sizeof *returns);
    double *advantages = calloc(total + 1, sizeof *advantages);
    uint32_t *counts = calloc((size_t)count + 1, sizeof *counts);
    bool is_good = times != NULL && returns != NULL && advantages != NULL && counts != NULL;
    for (uint32_t r = 0; r < count && is_good; r++) {
        counts[r] = rollouts[r].decisions_count;
        for (uint32_t i = 0; i < counts[r]; i++, at++) {
            times[at] = 1e-9 * (double)rollouts[r].times_ns[i];
            for (uint32_t j = 0; j < jobs; j++)
                returns[at] -= lived(&outcomes[(size_t)r * jobs + j], times[at], horizon_s);
        }
    }
    if (is_good)
        advantages_by_time(times, returns, counts, count, advantages);
    double deviation = is_good ? deviation_of(advantages, total) : 0;
    at = 0;
    for (uint32_t r = 0; r < count && is_good; at += counts[r++])
        for (uint32_t k = 0; k < rollouts[r].kept_count; k++)
            rollouts[r].kept[k].advantage = deviation > 0 ? advantages[at + rollouts[r].kept[k].at] / deviation : 0;
    free(times);
    free(returns);
    free(advantages);
    free(counts);
    return is_good;
}
