/* trace/check/said.h - what the log says of the run itself: header, descriptions of jobs, wake-ups, sums. */
#ifndef CLO_TRACE_CHECK_SAID_H
#define CLO_TRACE_CHECK_SAID_H

#include "trace/judge/judge.h"

clo_status clo_judge_said(clo_judge *judge);

#endif
