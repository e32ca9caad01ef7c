/* calibrate_memory.h - the second way of `clotho calibrate`: what tasks take alone, and what they lose to each other. */
#ifndef CLO_TOOLS_CLOTHO_RUN_CALIBRATE_MEMORY_H
#define CLO_TOOLS_CLOTHO_RUN_CALIBRATE_MEMORY_H

#include "clotho/run/commands.h"
#include "clotho/run/run.h"

#include <clotho/memory.h>

typedef struct calibrate_options {
    run_options run; /* what runs and commands need of it */
    const char *output;
    uint32_t rounds;
    bool contention, as_json;
} calibrate_options;

typedef struct calibration calibration;

/* One graph. */
struct calibration {
    const input *in;
    const calibrate_options *options;
    run_commands *commands; /* NULL: its tasks are no commands */
    uint32_t *kind_of;      /* [tasks] where each runs in this round; CLO_NONE: nowhere */
    uint32_t kinds_most;    /* the most kinds that can run one task */
    uint32_t only;          /* one task at a time, on this executor if it can run there; CLO_NONE: as kind_of says */
    clo_profile *learned;   /* of these runs alone */
    uint32_t entries, trusted, with_part;
    int (*run_round)(calibration *c, clo_job *job); /* runs once, and learns; returns an exit code */
};

/* Learns what each codelet takes alone on each kind, and its memory part. Returns an exit code after an error line. */
int calibrate_memory(calibration *c, clo_job *job, uint32_t *rounds);

#endif
