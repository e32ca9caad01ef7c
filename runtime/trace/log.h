/* trace/log.h - what the reader of log files, and whoever writes a log, need beyond the public calls. */
#ifndef CLO_TRACE_LOG_H
#define CLO_TRACE_LOG_H

#include "library.h"
#include <clotho/log.h>

/* The log of a file that says so has dropped records. */
CLO_INTERNAL void clo_log_set_dropped(clo_log *log, uint64_t dropped);

/* CLO_LOG_... of a name that is not 0-terminated; false: there is none of this name. */
CLO_INTERNAL bool clo_log_kind_find(const char *name, size_t bytes, uint32_t *what);

/* Of the header: what the writer of the records knows. */
typedef struct clo_log_run {
    uint32_t run, clock, executors, jobs_max, steps_max;
} clo_log_run;

CLO_INTERNAL void clo_log_set_run(clo_log *log, const clo_log_run *run);

/* Appending never allocates. */
bool clo_log_is_bounded(const clo_log *log);

#endif
