/* run/job/serial_plan.h - makes the sequence of a short planned job (run/state/serial_plan.h). */
#ifndef CLO_RUN_JOB_SERIAL_PLAN_H
#define CLO_RUN_JOB_SERIAL_PLAN_H

#include "engine/program/program.h"
#include "run/state/runtime.h"
#include "run/state/serial_plan.h"

/* *out: NULL if the program is no plan, or not one for which a single thread is ever quicker: it is long, its bodies
 * are, or it needs more than CLO_SERIAL_WORKERS_MAX workers. CLO_ERR_MEMORY. */
clo_status clo_serial_plan_create(const clo_runtime *runtime, const clo_program *program, clo_arena *arena,
                                  clo_serial_plan **out);

#endif
