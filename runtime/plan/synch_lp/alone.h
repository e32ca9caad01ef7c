/* plan/synch_lp/alone.h - how long one job takes on the empty platform, at least.
 *
 * The *span* of some kinds of a job is their work over the rate at which all machines together can do it: count the
 * tasks, each for its time on its fastest group; or, of one resource, count what they demand. A machine that is slower
 * for a task does less of its work in a time. No schedule ends the kinds before their span is over, and one that ends
 * them at C has done their work half a span before C, in the mean. */
#ifndef CLO_PLAN_SYNCH_LP_ALONE_H
#define CLO_PLAN_SYNCH_LP_ALONE_H

#include "plan/synch_lp/problem.h"

/* The span of what is left of kinds first .. end - 1, which are of one job, rounded down; `resource`: CLO_NONE: by
 * tasks. Preemptive or not. 0: no bound. */
int64_t clo_synch_span(const clo_synch_scope *scope, uint32_t first, uint32_t end, uint32_t resource);

/* From now_ns to the job's end, at least; 0 if nothing is left of it. `is_preemptive`: tasks may be preempted and may
 * move. */
int64_t clo_synch_alone(const clo_synch_scope *scope, uint32_t job, bool is_preemptive);

#endif
