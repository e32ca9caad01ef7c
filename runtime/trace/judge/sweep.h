/* trace/judge/sweep.h - the passes over time, across all jobs. */
#ifndef CLO_TRACE_JUDGE_SWEEP_H
#define CLO_TRACE_JUDGE_SWEEP_H

#include "trace/judge/judge.h"

/* No two bodies at one time on one executor. */
clo_status clo_judge_overlaps(clo_judge *judge);

/* The bodies that run on a machine at one time hold no more than its capacities. */
clo_status clo_judge_capacities(clo_judge *judge);

#endif
