/* trace/judge/shapes.h - reads the jobs of the case: one shape for each cost, and the table of job numbers. */
#ifndef CLO_TRACE_JUDGE_SHAPES_H
#define CLO_TRACE_JUDGE_SHAPES_H

#include "trace/judge/judge.h"

/* Fills judge->shapes, jobs, job_table and key. Returns CLO_OK, CLO_ERR_ARGUMENT or CLO_ERR_MEMORY. */
clo_status clo_judge_read_jobs(clo_judge *judge);

void clo_judge_free_jobs(clo_judge *judge);

#endif
