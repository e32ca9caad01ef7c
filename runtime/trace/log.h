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

/* Names one more policy in the header, after those that are there; name and argument are copied. `index` receives its
 * place, or that of an equal one if there is one; may be NULL. Another thread may append records meanwhile.
 * Returns CLO_OK, CLO_ERR_LIMIT (CLO_LOG_POLICIES_MAX) or CLO_ERR_MEMORY. */
clo_status clo_log_add_policy(clo_log *log, const char *name, const char *argument, uint32_t *index);

/* One record as a text, such as "start at 120 ns: job 7, stage 2, instance 0, executor 3, value 0", cut if `bytes` is
 * too small; 160 are always enough. Returns `out`. */
CLO_INTERNAL const char *clo_log_describe(const clo_log_record *record, char *out, size_t bytes);

#endif
