/* trace/log.h - what the reader of log files needs beyond the public calls. */
#ifndef CLO_TRACE_LOG_H
#define CLO_TRACE_LOG_H

#include <clotho/log.h>

/* The log of a file that says so has dropped records. */
void clo_log_set_dropped(clo_log *log, uint64_t dropped);

/* CLO_LOG_... of a name that is not 0-terminated; false: there is none of this name. */
bool clo_log_kind_find(const char *name, size_t bytes, uint32_t *what);

#endif
