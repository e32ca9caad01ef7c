/* sim/drive.h - what the two ways to drive the engine without threads share: by events (sim.c), by a recorded run
 * (recorded.c). */
#ifndef CLO_SIM_DRIVE_H
#define CLO_SIM_DRIVE_H

#include "engine/execution/engine.h"
#include "engine/scheduler/scheduler.h"
#include "sim/slowing.h"
#include "sim/time/stream_time.h"
#include "sim/time/timeline.h"
#include "sync/structure/histogram.h"

#include <clotho/sim.h>

typedef struct clo_sim clo_sim;

struct clo_sim {
    clo_program *program;
    clo_engine *engine;
    /* NULL: replay of a plan (or of a recorded run of work stealing). */
    clo_scheduler *scheduler;
    clo_scheduler_job *job;
    clo_arena arena;
    /* Real time that the policy takes. */
    clo_histogram *decision_ns;
    bool executes;
    int64_t now_ns;
    /* Executions that have ended or were skipped, and replicas among them. */
    uint64_t finished, replicas_finished;
    /* Of a plan, or of a recorded run of work stealing. */
    clo_timeline timeline;
    /* Policy: what runs ends, and [executors] what that is. */
    clo_stream_time time;
    uint32_t *running;
    /* NULL: no execution slows another one down. */
    clo_slowing *slowing;
    /* Policy: called for each execution that it starts; its inputs are there at arrival_ns. */
    void (*assign)(clo_sim *sim, uint32_t execution, uint32_t executor, int64_t arrival_ns);
    /* [executions] */
    clo_trace_event *events;
    /* [executions] for a recorded run: how far each one is. */
    uint32_t *states;
    /* Likewise: those that may run and have not let others ask for capacities. */
    uint32_t *decided;
    uint32_t decided_count;
    clo_engine_scratch scratch;
    clo_engine_stats stats;
    void *block;
};

/* Assigns the executions that wait for nothing. */
clo_status clo_sim_begin(clo_sim *sim);

/* Runs the body if bodies are run, counts; returns the body's value. Where none is run, a branch takes the arm that the
 * record says; CLO_NONE: it is drawn. */
int clo_sim_execute(clo_sim *sim, uint32_t execution, uint32_t arm_of_record);

/* The time that the policy wants to be asked at has come. */
void clo_sim_timer(clo_sim *sim);

/* The execution ends at now_ns: counts it. Whom it releases is for the timeline to say; under a policy for
 * clo_sim_finish. */
void clo_sim_note(clo_sim *sim, uint32_t execution);
void clo_sim_finish(clo_sim *sim, uint32_t execution);

#endif
