/* streams.h - the bodies of bench-packing, and two workers that run them: streams over memory, and computing.
 *
 * Each worker has a buffer of its own (a lane) and goes on in it where its last stream stopped. So what a stream finds
 * in the caches does not depend on how long a task is, only on how large the lanes are and who else runs. A stream
 * updates one word after the other, or (scattered) words at random, as a histogram does. */
#ifndef CLO_BENCH_PACKING_STREAMS_H
#define CLO_BENCH_PACKING_STREAMS_H

#include "common/platform.h"

enum { WORKERS = 2, CAPACITY = 100, DEMAND = 60, TASKS_MAX = 64 };

/* What a worker has streamed since lanes_clear. */
typedef struct lane {
    _Alignas(64) uint64_t *words; /* [lanes.words] */
    size_t cursor;
    uint64_t random;
    uint64_t bytes;  /* read and written; scattered: of whole cache lines */
    int64_t time_ns; /* CPU time, so that waiting for a CPU does not count */
} lane;

typedef enum task_kind {
    STREAM,          /* no demand */
    STREAM_DEMANDED, /* DEMAND of CAPACITY: two do not run side by side */
    STREAM_FIRST,    /* only on the first worker */
    COMPUTE,
    COMPUTE_SECOND, /* only on the second worker */
    TASK_KINDS
} task_kind;

typedef struct lanes {
    lane lane[WORKERS];
    size_t words; /* of a buffer */
    bool is_scattered;
    size_t task_words;   /* that one task goes over */
    uint64_t task_steps; /* that one task computes */
    volatile uint64_t sink;
    clo_platform *platform;
    clo_runtime *runtime;
    clo_graph *graphs[TASK_KINDS];
    clo_cost *costs[TASK_KINDS];
    clo_job *jobs[TASK_KINDS][TASKS_MAX];
    uint32_t tasks; /* jobs of each kind, of one task each */
} lanes;

/* What ran between the first submit and the last end. */
typedef struct played {
    double wall_ns;
    double stream_gbs;   /* of a stream, in its CPU time */
    double achieved_gbs; /* of all streams, in wall time */
} played;

/* Prepares the workers under the policy "tetris" and `tasks` jobs of each kind. False after an error line. */
bool lanes_open(lanes *l, uint32_t tasks, int32_t fifo_priority);
void lanes_close(lanes *l);

/* Gives each worker a buffer of `bytes`, and tasks about `task_ns` of work in it. False after an error line. */
bool lanes_size(lanes *l, size_t bytes, bool is_scattered, int64_t task_ns);

/* Submits `count` jobs in the order of `kinds`, at most `tasks` of each kind, and waits for all. False after an error
 * line. */
bool lanes_play(lanes *l, const task_kind *kinds, uint32_t count, played *out);

#endif
