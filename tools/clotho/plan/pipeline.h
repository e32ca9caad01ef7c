/* pipeline.h - `clotho plan --pipeline`: plans with an interval. */
#ifndef CLO_TOOLS_CLOTHO_PLAN_PIPELINE_H
#define CLO_TOOLS_CLOTHO_PLAN_PIPELINE_H

#include "clotho/common/json.h"

#include <clotho/clotho.h>

typedef struct pipeline_options {
    bool is_wanted;
    uint32_t in_flight;
    int64_t interval_ns;
} pipeline_options;

/* Of --releases-in-flight, where --releases does not say it. */
#define PIPELINE_RELEASES 1000u

/* What a series is asked to be. */
typedef struct pipeline_series {
    uint32_t in_flight;
    uint64_t releases;
    int64_t period_ns, deadline_ns;
    bool has_planner; /* or a policy */
} pipeline_series;

/* Whether the options go together; all is well where none of --releases-in-flight, --releases and --period is given.
 * Returns an exit code. */
int pipeline_check_series(const pipeline_series *series);

/* For the period, if there is one; where no plan has that interval, for the shortest. */
clo_status pipeline_plan_series(const clo_cost *cost, const pipeline_series *series, clo_plan **plan);

/* "deadline 3 of 100 releases have missed it", and the members "released" to "response_max_ns". */
void pipeline_print_timing(const clo_job_timing *timing, const pipeline_series *series);
void pipeline_print_timing_json(const clo_job_timing *timing, const pipeline_series *series, json *out);

/* The member "response_buckets": [[least ns, count], ...] of those that have counted any. */
void pipeline_print_histogram_json(const uint32_t *buckets, json *out);

/* Returns EXIT_GOOD, or EXIT_BAD_INPUT after an error line where releases have missed the deadline that was asked
 * for. */
int pipeline_check_deadline(const char *path, const clo_job_timing *timing, const pipeline_series *series);

clo_status pipeline_plan(const clo_cost *cost, const pipeline_options *options, clo_plan **plan);

/* Lines of the report, and the member "pipeline" of the JSON object. plan NULL: only the bound is known. Return CLO_OK
 * or as clo_plan_pipeline_measure. */
clo_status pipeline_print(const clo_plan *plan, const clo_cost *cost);
clo_status pipeline_print_json(const clo_plan *plan, const clo_cost *cost, json *out);

#endif
