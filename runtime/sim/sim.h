/* sim/sim.h - what the two ways to drive the engine without threads share: by the event heap, by a recorded run. */
#ifndef CLO_SIM_SIM_H
#define CLO_SIM_SIM_H

#include "base/heap.h"
#include "sync/histogram.h"
#include "engine/dispatch.h"

#include <clotho/sim.h>

typedef struct clo_sim clo_sim;

struct clo_sim {
    clo_program *program;
    clo_engine *engine;
    clo_dispatch *dispatch;     /* NULL: replay of a plan (or of a recorded run of work stealing) */
    clo_arena arena;
    clo_histogram *decision_ns; /* real time that the policy takes */
    bool executes;
    int64_t now_ns;
    uint64_t finished;
    /* Called for each entry that may run now; executor CLO_NONE: whichever the record says. */
    void (*assign)(clo_sim *sim, uint32_t entry, uint32_t executor);
    clo_heap heap;
    clo_trace_event *events; /* [entries] */
    uint32_t *waiting;       /* [entries] assigned, inputs there, no capacity */
    uint32_t waiting_count;
    int64_t *available; /* [machines * CLO_RESOURCES_MAX] */
    clo_engine_scratch scratch;
    clo_engine_stats stats;
    void *block;
};

/* Assigns the entries that wait for nothing. */
void clo_sim_begin(clo_sim *sim);

/* Asks the policy until it has nothing to give; assigns. */
void clo_sim_hand_out(clo_sim *sim);

/* Runs the body if bodies are run, counts; returns the body's value. */
int clo_sim_execute(clo_sim *sim, uint32_t entry);

/* The entry ends at now_ns: releases or asks, assigns what follows. */
void clo_sim_finish(clo_sim *sim, uint32_t entry);

/* recorded.c: drives the engine by a recorded run; CLO_ERR_STATE names the first decision that differs. */
clo_status clo_sim_replay(clo_sim *sim, const clo_trace *recorded);

#endif
