/* report/chrome/chrome.h - what trace files have in common. */
#ifndef CLO_REPORT_CHROME_CHROME_H
#define CLO_REPORT_CHROME_CHROME_H

#include "base/text.h"

#include <clotho/trace.h>

/* ,"key": a time in us. */
void clo_chrome_add_time(clo_text *text, const char *key, int64_t ns);

/* The head, tracks, executions and arrows of a trace; more events may follow. Returns CLO_OK, CLO_ERR_ARGUMENT (the cost
 * is of another graph or platform) or CLO_ERR_MEMORY. */
clo_status clo_chrome_begin(clo_text *text, const clo_trace *trace, const clo_cost *cost, const char *label);

/* Writes the file if status is CLO_OK, and frees the text. Returns `status`, CLO_ERR_IO or CLO_ERR_MEMORY. */
clo_status clo_chrome_end(clo_text *text, clo_status status, const char *path);

#endif
