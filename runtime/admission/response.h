/* admission/response.h - the response time of a job among others. */
#ifndef CLO_ADMISSION_RESPONSE_H
#define CLO_ADMISSION_RESPONSE_H

#include "admission/figures.h"

#include <clotho/admission.h>

/* A job as the analysis sees it. */
typedef struct clo_admission_task {
    const clo_workload_job *job;
    clo_admission_figures *figures; /* shared by the jobs of one graph */
    int64_t deadline_ns;            /* CLO_TIME_NEVER: none */
    int64_t releases;               /* INT64_MAX: without end */
} clo_admission_task;

/* The others, as they weigh on a job of one band. */
typedef struct clo_admission_band {
    clo_admission_order order;
    /* [periodic_count] periodic jobs of this band and of higher ones. */
    const clo_admission_task *const *periodic;
    uint32_t periodic_count;
    /* Longest work of the jobs that run once and may go before one with a deadline; the job at hand is among them. */
    int64_t once_ns;
    /* [executors] the longest body that can block each: of lower bands, with EDF of this one too. */
    const int64_t *blocking;
    uint32_t executors;
    int64_t *weights; /* [tasks of the job] scratch */
} clo_admission_band;

/* Bound of the response time of a job with a deadline; CLO_TIME_NEVER where none was found up to the deadline.
 * blocks: with the bodies that block. */
int64_t clo_admission_response(const clo_admission_task *task, const clo_admission_band *band, bool blocks);

#endif
