/* run/system/signals.h - fatal signals name the task in whose body they arose. */
#ifndef CLO_RUN_SYSTEM_SIGNALS_H
#define CLO_RUN_SYSTEM_SIGNALS_H

#include <clotho/runtime.h>

/* From here to clo_signals_end the runtime's tasks are named. CLO_ERR_LIMIT: too many runtimes want that. */
clo_status clo_signals_begin(clo_runtime *runtime);
void clo_signals_end(const clo_runtime *runtime);

#endif
