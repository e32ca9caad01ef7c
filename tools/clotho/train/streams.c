/* streams.c - see streams.h. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/train/streams.h"

#include "clotho/common/report.h"
#include "train/search/common_times.h"
#include "train/search/crew.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name, *words;
} goals[] = {
    [TRAIN_MEAN] = {"mean", "mean completion time"},
    [TRAIN_WEIGHTED] = {"weighted", "mean completion time by weight"},
    [TRAIN_P95] = {"p95", "95 % quantile of the completion times"},
    [TRAIN_MAKESPAN] = {"makespan", "makespan"},
    [TRAIN_LATE] = {"late", "jobs that end after their deadline, and one"},
    [TRAIN_TARDY] = {"tardy", "mean tardiness and a 32nd of the mean completion time"},
};

int train_goal_find(const char *name, train_goal *out)
{
    for (size_t i = 0; i < sizeof goals / sizeof goals[0]; i++)
        if (strcmp(goals[i].name, name) == 0) {
            *out = (train_goal)i;
            return EXIT_GOOD;
        }
    return misuse("--for is '%.80s'; write mean, weighted, p95, makespan, late or tardy", name);
}

const char *train_goal_words(train_goal goal)
{
    return goals[goal].words;
}

static double reach(const clo_stream_result *result, train_goal goal)
{
    switch (goal) {
    case TRAIN_WEIGHTED:
        return result->jct_weighted_ns;
    case TRAIN_P95:
        return (double)result->jct_p95_ns;
    case TRAIN_MAKESPAN:
        return (double)result->makespan_ns;
    case TRAIN_LATE:
        return (double)result->jobs_late + 1;
    case TRAIN_TARDY:
        return result->tardiness_mean_ns + result->jct_mean_ns / 32;
    case TRAIN_MEAN:
    default:
        return result->jct_mean_ns;
    }
}

typedef struct batch {
    const train_streams *how;
    train_stream *list;
} batch;

static clo_status simulate(const train_streams *how, train_stream *k)
{
    clo_arrivals_config arrivals = how->arrivals;
    clo_environment environment = CLO_ENVIRONMENT_INIT;
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    clo_stream_result result = CLO_STREAM_RESULT_INIT;
    clo_workload *drawn = NULL, *dressed = NULL;

    arrivals.seed = k->seed;
    clo_status status = clo_workload_arrivals(how->jobs, &arrivals, &drawn);
    if (status == CLO_OK)
        status = stream_dress(drawn, &how->deadlines, k->said, k->seed, &dressed);
    if (status == CLO_OK && how->environment != NULL) {
        status = how->is_common ? common_times_open(how->environment, k->seed, &environment)
                                : clo_environment_open(how->environment, k->seed, &environment);
        config.environment = &environment;
    }
    config.policy = k->policy;
    config.argument = k->argument;
    config.outcomes = k->outcomes;
    if (status == CLO_OK)
        status = clo_stream_simulate(dressed, how->platform, &config, &result);
    clo_environment_close(&environment);
    clo_workload_destroy(dressed);
    clo_workload_destroy(drawn);
    k->reached = reach(&result, how->goal);
    return status;
}

static void work(void *argument, uint32_t thread, uint32_t i)
{
    const batch *b = argument;
    train_stream *k = &b->list[i];

    (void)thread;
    k->status = simulate(b->how, k);
    if (k->status != CLO_OK)
        snprintf(k->error, sizeof k->error, "%s", clo_last_error());
}

int train_streams_run(const train_streams *how, const char *name, train_stream *list, uint32_t count)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t most = cpus > 0 && cpus < CREW_THREADS_MAX ? (uint32_t)cpus : 1;
    batch b = {how, list};

    crew_run(how->threads > 0 ? how->threads : most, count, work, &b);
    for (uint32_t i = 0; i < count; i++)
        if (list[i].status != CLO_OK)
            return complain(name, "seed %llu: %s", (unsigned long long)list[i].seed, list[i].error);
    return EXIT_GOOD;
}
