/* trace/check/bands.h - jobs of a higher band go first. */
#ifndef CLO_TRACE_CHECK_BANDS_H
#define CLO_TRACE_CHECK_BANDS_H

#include "trace/judge/judge.h"

/* A START is a fault where, in order of the records, an instance of a higher band waited that could have run on that
 * executor: all its predecessors have finished, its task may run there, its demands fit, its job is below its limit. */
clo_status clo_judge_bands(clo_judge *judge);

#endif
