/* run/dispatch/pipeline.h - a job with several releases in flight: opens them, sees them end.
 *
 * The order of executions is engine/releases's. What is decided here is when the next release is opened, and when the
 * series is over; one thread at a time does so, in turns (combining): whoever posts to `posts` when it is 0 takes the
 * turn, and keeps it until it has seen all that was posted meanwhile. Workers post that a release has ended, the
 * watchdog and the submitter that releases may be opened. The last turn leaves `posts` as it is, so that nobody takes
 * another one before the next submit.
 *
 * A release has ended when all of its executions have released what follows them. The executions of each one end in
 * order of releases on each executor, so releases end in order too, but two workers may post two ends the other way
 * round.
 *
 * Behind the last release come empty ones (engine/releases/releases.h). They never end as a whole: each executor stops
 * where one would need those behind it. So `live` counts their items that are ready or running, and the turns as one
 * more; whoever takes the last one off ends the job. A series that is stopped ends like that, with the releases that
 * were opened. */
#ifndef CLO_RUN_DISPATCH_PIPELINE_H
#define CLO_RUN_DISPATCH_PIPELINE_H

#include "engine/releases/releases.h"
#include "run/state/job.h"
#include "run/state/worker.h"

/* A release in its slot. */
typedef struct clo_job_pipeline_slot {
    /* Written by the turn that opens it. */
    int64_t opened_ns;
    bool is_empty;
    /* 1: no body of it has begun. */
    _Atomic uint32_t is_first;
    /* By the worker that ends it: end_ns, then 1 + its number. */
    int64_t end_ns;
    _Atomic uint64_t ended;
} clo_job_pipeline_slot;

typedef struct clo_job_pipeline {
    clo_releases *releases;
    /* [threads of workers and slot threads] */
    clo_engine_scratch *scratch;
    /* [slots] */
    clo_job_pipeline_slot *slots;
    /* Empty releases behind the last one. */
    uint64_t tail;
    /* Virtual clock, with a period: from the moment at which a release is due. */
    int64_t deadline_ns;

    /* So many releases are due. */
    _Atomic uint64_t released;
    /* The number of all releases; UINT64_MAX: not known. Only falls. */
    _Atomic uint64_t final;
    /* Ends << 32, and other posts. */
    alignas(CLO_CACHE_LINE_BYTES) _Atomic uint64_t posts;
    /* 1 until the last turn, and the items of empty releases that are ready or running. */
    _Atomic uint64_t live;

    /* Of whoever has the turn. */

    alignas(CLO_CACHE_LINE_BYTES) uint64_t opened;
    /* Ends that were posted, and releases seen to have ended, in order. */
    uint64_t posted, ended;
} clo_job_pipeline;

/* Whether the job can be made so. Returns CLO_OK or CLO_ERR_ARGUMENT. */
clo_status clo_job_pipeline_check(const clo_runtime *runtime, const clo_job_config *config);

/* Of a job whose program is made. Returns CLO_OK, or as clo_releases_create and clo_plan_check. */
clo_status clo_job_pipeline_create(clo_job *job, const clo_job_config *config, clo_arena *arena);

/* For a submit, before the series begins; nobody runs the job. */
void clo_job_pipeline_arm(clo_job *job);

/* A series without a period begins. */
void clo_job_pipeline_start(clo_job *job);

/* Release `number` is due, of a series with a period. By the watchdog. */
void clo_job_pipeline_release(clo_job *job, uint64_t number, int64_t late_ns);

/* There will be `count` releases in all. By the watchdog. */
void clo_job_pipeline_close(clo_job *job, uint64_t count);

/* The last worker of the release in that slot is done with it: its last touch of the job. */
void clo_job_pipeline_end(clo_job *job, uint32_t slot);

/* An item was made ready. Before whoever has made it so is done. */
static inline void clo_job_pipeline_ready(clo_job_pipeline *pipeline, uint32_t item)
{
    if (pipeline->slots[clo_releases_slot(pipeline->releases, item)].is_empty)
        atomic_fetch_add_explicit(&pipeline->live, 1, memory_order_relaxed); /* we keep another one meanwhile */
}

/* The turns, or an item of an empty release, are over: the last touch of the job. */
void clo_job_pipeline_drop(clo_job *job);

/* After the series: the number of the last release. */
uint64_t clo_job_pipeline_last(const clo_job_pipeline *pipeline);

#endif
