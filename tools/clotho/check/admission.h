/* admission.h - `clotho check WORKLOAD --admission`: will its jobs meet their deadlines? */
#ifndef CLO_TOOLS_CLOTHO_CHECK_ADMISSION_H
#define CLO_TOOLS_CLOTHO_CHECK_ADMISSION_H

#include "clotho/common/input.h"

typedef struct admission_options {
    const input_config *input;
    const char *policy;  /* NAME[:ARGUMENT] */
    int64_t overhead_ns; /* of each instance */
    bool as_json;
} admission_options;

/* Tests the jobs of the workload at `path`. Returns an exit code: EXIT_GOOD only where all are admitted. */
int check_admission(const char *path, const admission_options *options);

#endif
