/* stream_run.h - random streams of jobs, run by a small list scheduler of its own that writes the log: what the stream
 * checker must accept. Asked to break one rule, it does so once or more: what the checker must find.
 *
 * Jobs have demands, limits, bands, stages, replicas, commits, cancellations and failures. Everything is quadratic and
 * shares nothing with the library but its public calls. */
#ifndef CLO_TEST_STREAM_RUN_H
#define CLO_TEST_STREAM_RUN_H

#include "support.h"
#include "trace/log_kinds.h"

/* STREAM_OVERTAKES: starts that pass who waits for capacity. */
enum {
    STREAM_OVERTAKES = 2,
    STREAM_JOBS_MAX = 8,
    STREAM_TASKS_MAX = 7,
    STREAM_INSTANCES_MAX = 4,
    STREAM_EXECUTORS_MAX = 6
};

/* The rule that a run breaks. */
enum {
    STREAM_KEEPS_ALL,
    STREAM_BREAKS_CAPACITY,
    STREAM_BREAKS_LIMIT,
    STREAM_BREAKS_BAND,
    STREAM_BREAKS_PRECEDENCE,
    STREAM_BREAKS_PLACEMENT,
    STREAM_BREAKS_BUSY,
    STREAM_BREAKS_KEPT
};

typedef struct stream_run {
    clo_platform *platform;
    clo_graph *graphs[STREAM_JOBS_MAX];
    clo_cost *costs[STREAM_JOBS_MAX];
    clo_stream_job jobs[STREAM_JOBS_MAX];
    uint32_t jobs_count;
    clo_log_header header;
    clo_log_record *records;
    size_t count, capacity;
    uint32_t broken; /* how often the rule was broken */
} stream_run;

void stream_run_open(stream_run *run, uint64_t seed, int breaks);
void stream_run_close(stream_run *run);

/* A log of the records; to be destroyed. */
clo_log *stream_run_log(const stream_run *run);

/* Changes to the records. */
void stream_insert(stream_run *run, size_t at, clo_log_record record);
void stream_remove(stream_run *run, size_t at);

#endif
