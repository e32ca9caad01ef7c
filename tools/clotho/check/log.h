/* log.h - `clotho check WORKLOAD LOG`: the stream checker on the log of a run. */
#ifndef CLO_TOOLS_CLOTHO_CHECK_LOG_H
#define CLO_TOOLS_CLOTHO_CHECK_LOG_H

#include "clotho/common/input.h"

/* Judges the log of a run of the workload. Returns an exit code. */
int check_log(const char *workload_path, const char *log_path, const input_config *config, bool as_json);

#endif
