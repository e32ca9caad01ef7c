/* trace/judge/jobs.h - the passes that look at one job at a time. */
#ifndef CLO_TRACE_JUDGE_JOBS_H
#define CLO_TRACE_JUDGE_JOBS_H

#include "trace/judge/judge.h"

/* Originals and replicas: every instance of a finished job once, no executor twice. */
clo_status clo_judge_instances(clo_judge *judge);

/* What is preempted goes on, one stretch at a time, until it has had its time. */
clo_status clo_judge_stretches(clo_judge *judge);

/* Predecessors and transfers. */
clo_status clo_judge_inputs(clo_judge *judge);

/* Limits on the executions of a job. */
clo_status clo_judge_limits(clo_judge *judge);

#endif
