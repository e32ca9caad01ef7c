/* run/body/pacings.h - the pacings that there are (run/state/pacing.h). */
#ifndef CLO_RUN_BODY_PACINGS_H
#define CLO_RUN_BODY_PACINGS_H

#include "run/state/pacing.h"

/* Real clock: bodies take what they take. */
extern const clo_pacing clo_pacing_real;

/* Padded clock: times as they happen, none shorter than the cost model says. */
extern const clo_pacing clo_pacing_padded;

/* Padded clock that is stretched, under a plan without demands: the moments that the plan allows. */
extern const clo_pacing clo_pacing_stretched;

/* Virtual clock: times were decided before a worker got the execution. */
extern const clo_pacing clo_pacing_decided;

#endif
