/* io/log_file.h - a log as text, for tests. */
#ifndef CLO_IO_LOG_FILE_H
#define CLO_IO_LOG_FILE_H

#include "base/text.h"

#include <clotho/log.h>

/* Appends what clo_log_save writes. Returns CLO_OK, or CLO_ERR_ARGUMENT for a record of an unknown kind; lack of memory
 * latches in `text`. */
clo_status clo_log_print(const clo_log *log, clo_text *text);

#endif
