/* run/state/pacing.h - the table of a pacing: how the general path (run/dispatch/execute.c) keeps a clock at bodies.
 *
 * A job's pacing is chosen once, where the job is made, by the runtime's clock and by what decides the order. Each one
 * has a file of its own in run/body. */
#ifndef CLO_RUN_STATE_PACING_H
#define CLO_RUN_STATE_PACING_H

#include <clotho/job.h>

struct clo_worker;

/* Of an execution, in the job's time: when its worker was ready for it, its start and its finish. 0 where nobody wants
 * to know. */
typedef struct clo_span {
    int64_t ready_ns, start_ns, finish_ns;
} clo_span;

typedef struct clo_pacing {
    /* Waits as the clock wants it, and calls the body in between. */
    clo_span (*run)(struct clo_worker *worker, clo_job *job, uint32_t execution);
    /* Of an execution whose body is left out. */
    clo_span (*pass)(const struct clo_worker *worker, const clo_job *job, uint32_t execution);
    /* From the start of the run to its end, in the job's time. */
    int64_t (*response_ns)(const clo_job *job);
    /* Times follow from the cost model. */
    bool is_emulated;
} clo_pacing;

#endif
