/* run_remote.h - `clotho run GRAPH --hosts F` on one rank: main.c has the options, run_remote.c does it and tells. */
#ifndef CLOTHO_TOOL_RUN_REMOTE_H
#define CLOTHO_TOOL_RUN_REMOTE_H

#include "clotho/common/report.h"

#include <clotho_mpi/remote.h>

#define REMOTE_REPEAT_MAX 100000u

typedef struct remote_options {
    const char *hosts, *planner, *plan, *body, *instance, *trace, *gantt;
    double scale;
    uint32_t repeat, schedules;
    uint64_t seed, piece_bytes;
    clo_remote_config run;
    bool no_duplicates, as_json;
} remote_options;

/* Runs the graph at `path`; rank 0 prints. Returns an exit code; after one that is not EXIT_GOOD other ranks may still
 * be under way. */
int run_remote(clo_remote *remote, const char *path, const remote_options *options);

#endif
