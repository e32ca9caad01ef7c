/* run/state/serial_plan.h - a short planned job as one sequence, for a thread that runs all of it (serial.h). */
#ifndef CLO_RUN_STATE_SERIAL_PLAN_H
#define CLO_RUN_STATE_SERIAL_PLAN_H

#include <stdint.h>

/* Such a thread stands in for at most so many workers. */
#define CLO_SERIAL_WORKERS_MAX 8u

typedef struct clo_serial_plan {
    /* The workers that the plan uses, in the order of their first executions. */
    uint32_t workers_count;
    uint32_t workers[CLO_SERIAL_WORKERS_MAX];
    /* Bodies that take longer are better run by these workers themselves. */
    int64_t limit_ns;
    /* [executions] each one behind all that it waits for. */
    struct clo_serial_step {
        uint32_t execution;
        /* Of `workers`. */
        uint32_t place;
    } steps[];
} clo_serial_plan;

#endif
