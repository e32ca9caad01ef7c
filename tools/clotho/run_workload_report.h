/* run_workload_report.h - what a run of a workload came to. */
#ifndef CLOTHO_TOOL_RUN_WORKLOAD_REPORT_H
#define CLOTHO_TOOL_RUN_WORKLOAD_REPORT_H

#include "run_stream.h"

int run_workload_json(const stream_run *run); /* an exit code */
void run_workload_text(const stream_run *run);

#endif
