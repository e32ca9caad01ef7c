/* trace/check/ends.h - how the jobs end. */
#ifndef CLO_TRACE_CHECK_ENDS_H
#define CLO_TRACE_CHECK_ENDS_H

#include "trace/judge/judge.h"

/* Each job that is done ended as its CANCEL says, and as the run has told who waited for it. */
clo_status clo_judge_ends(clo_judge *judge);

#endif
