/* run/body/body.h - the body of an execution on the general path, with what may stand around it: limits, tokens,
 * hedges. */
#ifndef CLO_RUN_BODY_BODY_H
#define CLO_RUN_BODY_BODY_H

#include "run/extras/pending.h"
#include "run/state/job.h"
#include "run/state/worker.h"

/* Calls the body of an item, which is of that execution, and sees to how it ends. Of a slot it may be left pending:
 * worker->pending.is_held. */
void clo_body_run(clo_worker *worker, clo_job *job, uint32_t item, uint32_t execution, int64_t expected_ns);

/* The end of a body that was left pending: it was cut short, or has ended with that code. */
void clo_body_end_held(clo_worker *slot, clo_job *job, uint32_t execution, bool is_cut, int code);

/* The body is left out, or dropped: the run is cut; of a pair the other one may yet do well. */
void clo_body_leave_out(clo_worker *worker, clo_job *job, uint32_t execution);

#endif
