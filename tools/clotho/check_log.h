/* check_log.h - `clotho check WORKLOAD LOG`: the stream checker on the log of a run. */
#ifndef CLOTHO_TOOL_CHECK_LOG_H
#define CLOTHO_TOOL_CHECK_LOG_H

#include "input.h"

/* True if the path is a regular file that begins like a log. False also where it cannot be read: who reads it next says
 * why. */
bool is_log_file(const char *path);

/* A file of no bytes. */
bool is_empty_file(const char *path);

/* Judges the log of a run of the workload. Returns an exit code. */
int check_log(const char *workload_path, const char *log_path, const input_config *config, bool as_json);

#endif
