/* trace/judge/records.h - the pass over the records in their order: what each may say, and the executions. */
#ifndef CLO_TRACE_JUDGE_RECORDS_H
#define CLO_TRACE_JUDGE_RECORDS_H

#include "trace/judge/judge.h"

/* Fills judge->executions, by_job and execution_of and the jobs. Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_judge_read_records(clo_judge *judge);

void clo_judge_free_records(clo_judge *judge);

#endif
