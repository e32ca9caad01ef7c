/* trace/check/check.h - what the stream checker asks of a log, one after the other. */
#ifndef CLO_TRACE_CHECK_CHECK_H
#define CLO_TRACE_CHECK_CHECK_H

#include "trace/judge/judge.h"

/* said.c: what the log says of the run itself: header, descriptions of jobs, wake-ups, sums. */

clo_status clo_judge_said(clo_judge *judge);

/* ends.c: how the jobs end. */

/* Each job that is done ended as its CANCEL says, and as the run has told who waited for it. */
clo_status clo_judge_ends(clo_judge *judge);

/* bands.c: jobs of a higher band go first. */

/* A START is a fault where, in order of the records, an instance of a higher band waited that could have run on that
 * executor: all its predecessors have finished, its task may run there, its demands fit, its job is below its limit. */
clo_status clo_judge_bands(clo_judge *judge);

#endif
