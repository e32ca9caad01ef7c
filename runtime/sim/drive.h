/* sim/drive.h - what the two ways to drive the engine without threads share: by the event heap (sim.c), by a
 * recorded run (recorded.c). */
#ifndef CLO_SIM_DRIVE_H
#define CLO_SIM_DRIVE_H

#include "base/order/heap.h"
#include "engine/execution/engine.h"
#include "engine/scheduler/scheduler.h"
#include "engine/state/capacity.h"
#include "sim/ports.h"
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
    /* Called for each execution that may run now; executor CLO_NONE: whichever the record says. Its inputs are there at
     * arrival_ns. */
    void (*assign)(clo_sim *sim, uint32_t execution, uint32_t executor, int64_t arrival_ns);
    clo_heap heap;
    /* [executions] */
    clo_trace_event *events;
    /* [executions] for a recorded run: how far each one is. */
    uint32_t *states;
    /* Likewise: those that may run and have not let others ask for capacities. */
    uint32_t *decided;
    uint32_t decided_count;
    /* Those that wait for capacities. */
    clo_line line;
    /* NULL: every message goes as if it were alone. */
    clo_sim_ports *ports;
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

/* The execution holds what it demands: assigns whose turn to ask it is then. */
void clo_sim_let_ask(clo_sim *sim, uint32_t execution);

/* The execution ends at now_ns: releases or asks, assigns what follows. */
void clo_sim_finish(clo_sim *sim, uint32_t execution);

#endif
