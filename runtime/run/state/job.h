/* run/state/job.h - the struct of a job: one graph on one runtime, submitted any number of times.
 *
 * Made in job_create.c. Between submit and the end of the run the workers own it, and whoever ends the run has its last
 * touch; `phase` says which of the two it is. */
#ifndef CLO_RUN_STATE_JOB_H
#define CLO_RUN_STATE_JOB_H

#include "base/clock.h"
#include "engine/execution/engine.h"
#include "engine/state/scheduler_job.h"
#include "run/state/dispatch.h"
#include "run/state/serial_plan.h"
#include "sync/protocol/outcome.h"
#include "sync/protocol/phase.h"
#include "sync/protocol/stop.h"
#include "sync/structure/histogram.h"

#include <clotho/job.h>
#include <clotho/runtime.h>

/* What the fast path notes of an execution, in place of a trace event: ticks are cheaper than the clock. */
typedef struct clo_ticked {
    uint32_t task, instance;
    /* CLO_NONE: not executed. */
    uint32_t executor;
    int64_t start_ticks, finish_ticks;
} clo_ticked;

_Static_assert(sizeof(clo_ticked) <= sizeof(clo_trace_event), "they share their memory");

/* Plans that come and go (run/job/job_body.h). */
typedef struct clo_job_plans {
    /* Of the plan in use, if it came by a swap. */
    clo_arena own;
    /* For the next run; NULL: none. */
    struct clo_job_body *_Atomic incoming;
    /* Of earlier runs, to be freed by control. */
    struct clo_job_body *_Atomic retired;
} clo_job_plans;

/* Where times follow from the cost model. */
typedef struct clo_job_emulated {
    /* [executions] virtual clock: when each one starts, in the job's time; its finish is in the engine. Written before
     * a worker gets it. NULL: another clock, or releases in flight. */
    int64_t *start_ns;
    /* Virtual clock, with a plan: the order of events; else NULL. */
    struct clo_virtual *virtual_time;
    /* [executions] on machines with ports: when the inputs of each execution are there. Else NULL. */
    int64_t *ports_ready_ns;
    /* Virtual clock: the last end of an execution, of whatever release; of a policy's job on the scheduler's clock. */
    int64_t last_ns;
} clo_job_emulated;

/* When it was submitted, ran and ended (run/records/stamp.h). */
typedef struct clo_job_times {
    /* Relaxed: monitors read it. 0: never submitted. In ns, or ticks where the job counts these. */
    _Atomic int64_t submitted;
    /* When the current run started. */
    int64_t run_ns;
    /* Written by the last worker, before DONE. */
    int64_t end_ns, end_ticks;
    /* Of the last run that ended; for clo_job_timing_read. In ns or ticks, as `submitted`. */
    _Atomic int64_t response;
    /* Traced on the fast path: from submit to end, ns from submit. */
    clo_tick_line line;
    /* Its submits and ends are noted in ticks: as has_no_extras, but a recorder may be there. */
    _Atomic bool counts_ticks;
} clo_job_times;

/* Of the current submit. */
typedef struct clo_job_submit_state {
    /* As clo_stop numbers runs. */
    uint64_t first_run;
    uint64_t parks_before;
    /* Of a series that has not run yet: the run before has left executions out. */
    bool has_rest;
} clo_job_submit_state;

/* Second executions (run/body/hedge.h). */
typedef struct clo_job_hedges {
    /* [tasks] as in clo_job_config; NULL: nothing is hedged. */
    int64_t *after_ns;
    /* [hedges] the pairs, by number of the hedge; NULL: none. Of the plan in use. */
    struct clo_pair *pairs;
    /* Hedges that the watchdog has taken back, since the submit. */
    _Atomic uint64_t dropped;
} clo_job_hedges;

/* For a thread that waits for the job and runs it meanwhile (run/sharing, run/threads/help.h). */
typedef struct clo_job_waiting {
    /* Of the plan in use; NULL: no thread that waits may run it. */
    clo_serial_plan *serial_plan;
    /* The worker with which it was left, or that was borrowed for it, last. A hint: relaxed. */
    _Atomic uint32_t deferred_at;
    /* How long a body has taken lately when a thread that waited for the job ran it (unshared.h); 0: not known yet.
     * Relaxed: such threads write it. */
    _Atomic int64_t task_time_ns;
    /* 1: the run is serial (serial.h). Constant from submit to end. Relaxed: who waits reads it. */
    _Atomic uint32_t is_serial;
    /* The submitter's: runs before this one, those of them that tell how long a shared one takes, and serial ones. */
    uint32_t runs_judged, runs_shared, runs_serial;
    /* What an execution took, from submit to end, in serial runs and in others; 0: not known. Relaxed, as task_time_ns.
     * */
    _Atomic int64_t serial_ns, shared_ns;
} clo_job_waiting;

/* Of a job of which a policy decides what is next; mostly the combiner's (run/scheduler). */
typedef struct clo_job_policy {
    /* What is wanted of the combiner; the bits are in combining.h. Not 0: the job stands among the requests. */
    _Atomic uint32_t asks;
    uint64_t request_link;
    /* What the scheduler knows of the job; NULL: no policy. */
    clo_scheduler_job *scheduled;
    /* How long decisions took; NULL: no policy. */
    clo_histogram *decision_ns;
    /* Executions started and ended; decisions of the scheduler's own rule, refused choices and partial ones (during a
     * run: the scheduler's counts at its arrival); most steps. */
    uint64_t decisions, completions, fallbacks, refused, partial;
    uint32_t most_steps, most_turn_steps;
    /* After a run: the scheduler's first refusal, which does not change any more; "": none. */
    const char *refusal;
    /* When the run began, on the scheduler's clock; virtual clock: when it is to begin. */
    int64_t arrival_ns, due_ns;
} clo_job_policy;

struct clo_job {
    /* Of all that is in here, and the job itself. */
    clo_arena arena;
    clo_job_plans plans;
    const clo_cost *cost;
    clo_runtime *runtime;
    uint32_t slot;
    /* What kind of job it is. */
    clo_job_mode mode;
    const clo_dispatch *kind;
    /* What runs its items: `kind`, or the fast path of that. */
    const clo_dispatch *dispatch;
    const clo_pacing *pacing;
    clo_program *program;
    clo_engine *engine;
    /* [executions] for whatever chain the execution's item is in. */
    uint64_t *links;
    /* [executions] since when each one waits for capacities, in its machine's semaphore; NULL: none does, as
     * no task has demands, a policy decides, or time is virtual. */
    uint64_t *tickets;
    /* [workers] */
    clo_engine_stats *stats;
    /* [threads of workers and slot threads] */
    clo_engine_scratch *scratch;
    /* [executions]; NULL: no trace. On the fast path what lies there is `ticked`. */
    union {
        clo_trace_event *events;
        clo_ticked *ticked;
    };
    clo_job_emulated emulated;
    int64_t deadline_ns;
    clo_job_times times;
    /* Of the plan in use, for monitors. Relaxed. */
    _Atomic uint32_t executions;
    clo_job_submit_state submit;
    /* Its items may run on one worker only, and so never lie where they could be taken. */
    bool is_pinned;
    /* The fast path runs it, and nobody notes when its bodies run, nor have they data to be shown or ranges of
     * instances. */
    bool has_no_extras;
    /* Bodies of it may finish later, some of it is done already or may be skipped, or it has hedges. */
    bool has_extras;

    /* Periods, deadlines and limits; NULL: none that anybody watches. */
    struct clo_series *series;
    uint64_t id;
    /* Several releases in flight (pipeline.h); NULL: one after another. */
    struct clo_job_pipeline *pipeline;
    /* Instances that are done before any run, a bit each (checkpoint.h); NULL: none. */
    uint64_t *done;
    clo_job_hedges hedges;
    clo_job_waiting waiting;

    alignas(CLO_CACHE_LINE_BYTES) clo_stop stop;
    /* How the current run, or the last one, ends; after the end of a series how that has ended. */
    clo_outcome outcome;
    clo_phase phase;

    /* Entries without successors that have not run yet. */
    alignas(CLO_CACHE_LINE_BYTES) _Atomic uint32_t exits_left;
    clo_job_policy policy;
};

/* See stamp.h. A monitor may ask while the job is adopted. */
static inline bool clo_job_counts_ticks(const clo_job *job)
{
    return atomic_load_explicit(&job->times.counts_ticks, memory_order_relaxed);
}

#endif
