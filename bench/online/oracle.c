/* oracle.c - how much better could one choose? A search that knows all of a stream - arrivals, true times - gives jobs
 * weights and limits of executors, and the best rules of the scene decide with these. What it gains over the best rule
 * is what a perfect chooser among jobs would gain at most by such choices; a network can be worth no more there.
 *
 * The search climbs: a few jobs are drawn, their weights move by a factor of 2 to some power, or their limits; what does
 * not make the scene's measure worse is kept. It starts at the best rule of the scene, and at `auto`. Times of
 * Decima's environment are drawn by job, stage and instance (common random numbers), so that a change of order is not
 * taken for luck. What was found is played again with other times of the same jobs: what is left is no knowledge of
 * times. */
#include "online/oracle.h"

#include "../../tools/train/search/common_times.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WEIGHT_POWER_MAX = 8, STARTS = 2, OTHER_TIMES = 500000 };

static const char *const other_start = "auto";

/* What the search says of each job. */
typedef struct says {
    uint32_t *weight_power, *limit;
} says;

/* The jobs with what is said of them. NULL, with a line why, on failure. */
static clo_workload *say(const clo_workload *jobs, const says *s)
{
    clo_workload *out = NULL;
    bool is_good = clo_workload_create("oracle", &out) == CLO_OK;

    for (uint32_t j = 0; j < clo_workload_jobs(jobs) && is_good; j++) {
        clo_workload_job job = *clo_workload_get(jobs, j);
        job.size = sizeof job;
        if (s != NULL) {
            job.weight <<= s->weight_power[j];
            job.limit = s->limit[j] > 0 ? s->limit[j] : job.limit;
        }
        is_good = clo_workload_add(out, &job) == CLO_OK;
    }
    if (is_good)
        return out;
    clo_workload_destroy(out);
    bench_fail("jobs with other weights");
    return NULL;
}

/* What gives the times of an occasion, without luck where the environment is Decima's. False, with a line why, on
 * failure. */
static bool open_times(const occasion *at, uint64_t seed, clo_environment *out)
{
    if (strncmp(at->environment, "decima", strlen("decima")) != 0 || at->truth != NULL)
        return online_environment_open(at, seed, out);
    return common_times_open(at->environment, seed, out) == CLO_OK || bench_fail(at->environment);
}

/* The scene's measure, in seconds; the true weights do not change with what is said. Negative: failed, with a line. */
static double play(const occasion *at, const contender *c, const says *s, uint64_t seed)
{
    clo_environment environment = CLO_ENVIRONMENT_INIT;
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    clo_stream_result result = CLO_STREAM_RESULT_INIT;
    clo_workload *jobs = say(at->workload, s);

    if (jobs == NULL || (at->environment != NULL && !open_times(at, seed, &environment))) {
        clo_workload_destroy(jobs);
        return -1;
    }
    config.policy = c->policy;
    config.argument = c->argument;
    config.environment = at->environment != NULL ? &environment : NULL;
    bool is_good = clo_stream_simulate(jobs, at->platform, &config, &result) == CLO_OK || bench_fail(c->label);
    clo_environment_close(&environment);
    clo_workload_destroy(jobs);
    double ns = at->scene->by == MEASURE_MAKESPAN    ? (double)result.makespan_ns
                : at->scene->by == MEASURE_TARDINESS ? result.tardiness_mean_ns
                                                     : result.jct_mean_ns;
    return is_good ? ns * 1e-9 : -1;
}

static void move(says *s, uint32_t job, uint32_t executors, uint64_t *state)
{
    if (bench_random_below(state, 4) > 0) {
        int to = (int)s->weight_power[job] + (int)bench_random_below(state, 7) - 3;
        s->weight_power[job] = (uint32_t)(to < 0 ? 0 : to > WEIGHT_POWER_MAX ? WEIGHT_POWER_MAX : to);
    } else {
        uint32_t limit = 1 + bench_random_below(state, executors);
        s->limit[job] = bench_random_below(state, 3) == 0 ? 0 : limit;
    }
}

/* Climbs from a rule; *best is its measure, then what was reached. */
static bool climb(const occasion *at, const contender *c, uint64_t seed, uint32_t tries, says *s, double *best)
{
    uint32_t jobs = clo_workload_jobs(at->workload), executors = clo_platform_executors(at->platform);
    size_t bytes = jobs * sizeof(uint32_t);
    says old = {malloc(bytes), malloc(bytes)};
    uint64_t state = seed * 2654435761U + 17;
    bool is_good = old.weight_power != NULL && old.limit != NULL;

    for (uint32_t i = 0; i < tries && is_good; i++) {
        uint32_t moved = 1 + bench_random_below(&state, i % 2 == 0 ? 2 : jobs / 4 + 1);
        memcpy(old.weight_power, s->weight_power, bytes);
        memcpy(old.limit, s->limit, bytes);
        for (uint32_t k = 0; k < moved; k++)
            move(s, bench_random_below(&state, jobs), executors, &state);
        double reached = play(at, c, s, seed);
        is_good = reached >= 0;
        if (reached <= *best) {
            *best = reached;
        } else {
            memcpy(s->weight_power, old.weight_power, bytes);
            memcpy(s->limit, old.limit, bytes);
        }
    }
    free(old.weight_power);
    free(old.limit);
    return is_good;
}

bool oracle_climb(const occasion *at, const contender *rule, uint64_t seed, uint32_t tries, oracle_found *out)
{
    uint32_t jobs = clo_workload_jobs(at->workload);
    contender other;
    bool is_good = contender_open(&other, other_start, true);

    *out = (oracle_found){.rule = is_good ? play(at, rule, NULL, seed) : -1};
    out->rule_again = is_good ? play(at, rule, NULL, seed + OTHER_TIMES) : -1;
    out->reached = out->rule;
    out->again = out->rule_again;
    is_good = is_good && out->rule >= 0 && out->rule_again >= 0;
    for (uint32_t k = 0; k < STARTS && is_good; k++) {
        const contender *from = k == 0 ? rule : &other;
        says s = {calloc(jobs, sizeof(uint32_t)), calloc(jobs, sizeof(uint32_t))};
        double best = s.weight_power != NULL && s.limit != NULL ? play(at, from, NULL, seed) : -1;
        is_good = best >= 0 && climb(at, from, seed, tries / STARTS, &s, &best);
        if (is_good && best < out->reached) {
            out->reached = best;
            out->again = play(at, from, &s, seed + OTHER_TIMES);
            is_good = out->again >= 0;
        }
        free(s.weight_power);
        free(s.limit);
    }
    contender_close(&other);
    return is_good;
}

double oracle_play(const occasion *at, const contender *c, uint64_t seed)
{
    return play(at, c, NULL, seed);
}

/* 1 - found / rule, its mean and 1.96 standard errors, in percent. */
static void gain_of(const oracle_found *found, uint32_t count, bool is_again, double *mean, double *error)
{
    double sum = 0, squares = 0;
    uint32_t used = 0;

    for (uint32_t i = 0; i < count; i++) {
        double rule = is_again ? found[i].rule_again : found[i].rule, to = is_again ? found[i].again : found[i].reached;
        if (!(rule > 0))
            continue;
        double gain = 100 * (1 - to / rule);
        sum += gain;
        squares += gain * gain;
        used++;
    }
    *mean = used > 0 ? sum / used : 0;
    *error = used > 1 ? 1.96 * sqrt(fmax(0, squares / used - *mean * *mean) / (used - 1)) : 0;
}

void oracle_print(const scene *s, const char *rule, const oracle_found *found, uint32_t count, bool is_json)
{
    double seconds = 0, mean, error, again, again_error;

    for (uint32_t i = 0; i < count; i++)
        seconds += found[i].rule / count;
    gain_of(found, count, false, &mean, &error);
    gain_of(found, count, true, &again, &again_error);
    if (is_json)
        printf("{\"scene\": \"%s\", \"best_rule\": \"%s\", \"rule_s\": %.6g, \"gain_percent\": %.4f, \"gain_error\": "
               "%.4f, "
               "\"again_percent\": %.4f, \"again_error\": %.4f}",
               s->name, rule, seconds, mean, error, again, again_error);
    else
        printf("%-22s %-20s %10.2f s %7.2f ± %4.2f %% %7.2f ± %4.2f %%\n", s->name, rule, seconds, mean, error, again,
               again_error);
}
