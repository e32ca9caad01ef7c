/* workload_report.h - what a run of a workload came to. */
#ifndef CLO_TOOLS_CLOTHO_WORKLOAD_WORKLOAD_REPORT_H
#define CLO_TOOLS_CLOTHO_WORKLOAD_WORKLOAD_REPORT_H

#include "clotho/workload/stream.h"

int run_workload_json(const stream_run *run); /* an exit code */
void run_workload_text(const stream_run *run);

#endif
