/* run/job/job_body.h - what of a job goes when another plan comes: the compiled plan and all that has a place for each
 * of its executions. */
#ifndef CLO_RUN_JOB_JOB_BODY_H
#define CLO_RUN_JOB_JOB_BODY_H

#include "run/state/job.h"

typedef struct clo_job_body {
    /* Where it is made. */
    clo_arena *arena;
    /* Where it lies, unless that is the job's arena. */
    clo_arena own;
    /* In: it is for a policy. */
    bool has_policy;
    /* In: releases in flight; 0: one after another. And how many of them `events` holds; 0: one. */
    uint32_t slots, traced;
    clo_program *program;
    clo_engine *engine;
    uint64_t *links;
    uint64_t *tickets;
    struct clo_virtual *virtual_time;
    int64_t *ports_ready_ns;
    clo_engine_scratch *scratch;
    clo_trace_event *events;
    struct clo_pair *pairs;
    clo_serial_plan *serial_plan;
    struct clo_job_body *older;
} clo_job_body;

/* Takes everything from body->arena. Of the job only the runtime and hedge_after_ns are read. */
clo_status clo_job_body_build(const clo_job *job, const clo_cost *cost, const clo_placement *placements, size_t count,
                              bool is_timed, clo_job_body *body);

/* Exchanges what the job runs for what is in `body`. */
void clo_job_body_exchange(clo_job *job, clo_job_body *body);

/* Takes the plan that was swapped in, if there is one. At the start of a run, when nobody runs the job. */
void clo_job_adopt(clo_job *job);

/* Frees the bodies that are not in use. */
void clo_job_bodies_free(clo_job *job);

#endif
