/* engine/execution/data_run.h - what data and handles need to know of a run. */
#ifndef CLO_ENGINE_EXECUTION_DATA_RUN_H
#define CLO_ENGINE_EXECUTION_DATA_RUN_H

#include <stdint.h>

/* What has happened in the run so far, as outputs and handles need it. */
typedef struct clo_data_run {
    /* [executions] where each one ran */
    const uint32_t *ran_on;
    /* Number of the run, from 1. */
    uint64_t number;
} clo_data_run;

#endif
