/* run/control/runtime_log.h - the log of a runtime's scheduler: see clo_runtime_log_start. */
#ifndef CLO_RUN_CONTROL_RUNTIME_LOG_H
#define CLO_RUN_CONTROL_RUNTIME_LOG_H

#include <clotho/runtime.h>

/* Ends the log that is being written, if there is one, and lets go of it. With `control` held or no other thread left;
 * no job with a policy exists. */
void clo_runtime_end_log(clo_runtime *runtime);

#endif
