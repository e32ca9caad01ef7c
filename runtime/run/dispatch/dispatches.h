/* run/dispatch/dispatches.h - the dispatches that there are (run/state/dispatch.h). */
#ifndef CLO_RUN_DISPATCH_DISPATCHES_H
#define CLO_RUN_DISPATCH_DISPATCHES_H

#include "run/state/dispatch.h"

/* Work stealing, or a plan on the real or the padded clock: execute.c, or fast_path.c where nothing but bodies is to be
 * called. */
extern const clo_dispatch clo_dispatch_general;
extern const clo_dispatch clo_dispatch_fast;

/* A plan under the virtual clock: virtual.c. */
extern const clo_dispatch clo_dispatch_virtual;

/* A policy decides, on any clock: policy.c. */
extern const clo_dispatch clo_dispatch_policy;

/* Several releases in flight: pipeline_run.c. */
extern const clo_dispatch clo_dispatch_pipeline;

#endif
