/* plan_pipeline.h - `clotho plan --pipeline`: plans with an interval. */
#ifndef CLOTHO_TOOL_PLAN_PIPELINE_H
#define CLOTHO_TOOL_PLAN_PIPELINE_H

#include "json.h"

#include <clotho/clotho.h>

typedef struct pipeline_options {
    bool is_wanted;
    uint32_t in_flight;
    int64_t interval_ns;
} pipeline_options;

/* Of --releases-in-flight, where --releases does not say it. */
#define PIPELINE_RELEASES 1000u

/* Whether --releases-in-flight, --releases and, if there is one, a planner or a policy go together; all is well where
 * in_flight and releases are 0, that is, not given. Returns an exit code. */
int pipeline_check_series(uint32_t in_flight, uint64_t releases, bool has_planner);

clo_status pipeline_plan(const clo_cost *cost, const pipeline_options *options, clo_plan **plan);

/* Lines of the report, and the member "pipeline" of the JSON object. Return CLO_OK or as clo_plan_pipeline_measure. */
clo_status pipeline_print(const clo_plan *plan, const clo_cost *cost);
clo_status pipeline_print_json(const clo_plan *plan, const clo_cost *cost, json *out);

#endif
