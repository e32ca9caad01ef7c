/* calibrate_remote.h - `clotho platform calibrate --hosts F` on one rank. */
#ifndef CLOTHO_TOOL_CALIBRATE_REMOTE_H
#define CLOTHO_TOOL_CALIBRATE_REMOTE_H

#include "clotho/common/report.h"

#include <clotho_mpi/links.h>

typedef struct calibrate_options {
    const char *hosts, *output;
    clo_remote_config run;
    bool quick, as_json;
} calibrate_options;

/* As options_parse. */
int calibrate_read_options(calibrate_options *o, int argc, char **argv);

/* Measures; rank 0 writes and prints. Returns an exit code. */
int calibrate_remote(clo_remote *remote, const calibrate_options *options);

#endif
