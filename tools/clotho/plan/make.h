/* make.h - `clotho plan`: its options, and one plan with all that is measured of it. */
#ifndef CLO_TOOLS_CLOTHO_PLAN_MAKE_H
#define CLO_TOOLS_CLOTHO_PLAN_MAKE_H

#include "clotho/common/input.h"
#include "clotho/common/options.h"
#include "clotho/plan/pipeline.h"

typedef struct plan_options {
    input_config input;
    const char *budget, *contention, *gantt, *out, *embed, *report;
    const char *baseline, *csv, *svg; /* of a comparison; NULL: not given */
    option_list planners;
    pipeline_options pipeline;
    uint64_t seed;
    uint32_t threads;
    bool gantt_text, as_json, no_duplicates, justify;
} plan_options;

/* What one planner made of one graph. */
typedef struct planned {
    clo_plan *plan;
    clo_plan_metrics metrics;
    clo_bound bound;
    clo_prediction prediction; /* with a profile                  */
    int64_t plan_ns;           /* wall time of planning            */
    bool measured;             /* all of the above is there        */
    bool valid;
} planned;

/* --budget: "SCHEDULES" or a time with its unit. --contention. False: it is neither. NULL: the default. */
bool plan_read_budget(const char *text, clo_plan_config *config);
bool plan_read_contention(const char *text, uint32_t *contention);

/* Plans the graph of `in`, measures and checks; p->plan is the caller's in each case. Returns what failed: clo_last_error
 * has the text. After CLO_ERR_INVALID p->measured is true. */
clo_status plan_make(const input *in, const plan_options *o, const char *planner, planned *p);

/* No other plan is shorter; of one with an interval, no other has a shorter interval. */
bool plan_is_optimal(const planned *p);

#endif
