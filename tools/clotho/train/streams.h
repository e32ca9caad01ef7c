/* streams.h - streams of jobs that a policy is tried on: many simulations, on threads. */
#ifndef CLO_TOOLS_CLOTHO_TRAIN_STREAMS_H
#define CLO_TOOLS_CLOTHO_TRAIN_STREAMS_H

#include "clotho/room/dress.h"

#include <stdbool.h>

/* What is made small. */
typedef enum train_goal {
    TRAIN_MEAN,     /* mean completion time */
    TRAIN_WEIGHTED, /* the same, weighted by the jobs' weights */
    TRAIN_P95,      /* its 95 % quantile */
    TRAIN_MAKESPAN,
    TRAIN_LATE, /* jobs that end after their deadline, and one */
    TRAIN_TARDY /* mean tardiness, and a 32nd of the mean completion time: streams in which nobody is late count too */
} train_goal;

/* By its name: mean, weighted, p95, makespan, late, tardy. Returns EXIT_GOOD, or an exit code after an error line. */
int train_goal_find(const char *name, train_goal *out);

/* What a score of the goal is of, in words. */
const char *train_goal_words(train_goal goal);

typedef struct train_streams {
    const clo_workload *jobs;
    const clo_platform *platform;
    /* Without a seed. */
    clo_arrivals_config arrivals;
    /* NULL: the costs give the times. */
    const char *environment;
    /* The times of an environment are drawn by ../train/common_times.h. */
    bool is_common;
    train_goal goal;
    /* Zeros: jobs keep their deadlines. */
    stream_deadlines deadlines;
    /* 0: as many as CPUs. */
    uint32_t threads;
} train_streams;

typedef struct train_stream {
    const clo_policy *policy;
    const void *argument;
    uint64_t seed;
    /* [jobs of the stream]; NULL: nothing is said of them. */
    const stream_said *said;
    /* [jobs of the stream] receives what became of each; NULL: not wanted. */
    clo_stream_outcome *outcomes;
    /* Out: what the goal says; mean completion time. In ns, but for TRAIN_LATE. */
    double reached;
    clo_status status;
    char error[256];
} train_stream;

/* Runs all of them; what comes out depends on each one alone. Returns EXIT_GOOD, or an exit code after an error line
 * that begins with `name`. */
int train_streams_run(const train_streams *how, const char *name, train_stream *list, uint32_t count);

#endif
