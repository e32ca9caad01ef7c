/* run/system/open.h - whether a runtime may be used: it is not closed, and its workers are in this process. */
#ifndef CLO_RUN_SYSTEM_OPEN_H
#define CLO_RUN_SYSTEM_OPEN_H

#include "base/status.h"

#include <clotho/runtime.h>

#define CLO_FORKED_TEXT "this process was forked from the one that created the runtime; its workers are not here"

/* Once, by who creates the runtime: this process is the one that has its workers. */
void clo_runtime_note_forks(clo_runtime *runtime);

bool clo_runtime_is_forked(const clo_runtime *runtime);

/* In a forked process: no thread that is not here has a lock of jobs or policies, so none was changing them. */
bool clo_runtime_is_whole(clo_runtime *runtime);

/* CLO_ERR_STATE: closed, or left behind by a fork. */
clo_status clo_runtime_check_open(const clo_runtime *runtime);

/* CLO_ERR_UNSUPPORTED: what is asked for needs a feature (clo_features) that the runtime lacks. */
clo_status clo_runtime_fail_lacks(const char *feature);

#endif
