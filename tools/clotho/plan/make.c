/* make.c - see make.h. */
#include "clotho/plan/make.h"

#include "clotho/common/clock.h"
#include "clotho/plan/search.h"

#include <clotho/planner.h>
#include <string.h>

bool plan_read_budget(const char *text, clo_plan_config *config)
{
    if (text == NULL || parse_u64(text, &config->schedules_max))
        return true;
    return parse_time(text, &config->budget_ns);
}

bool plan_read_contention(const char *text, uint32_t *contention)
{
    *contention = text != NULL && strcmp(text, "times") == 0 ? CLO_CONTENTION_TIMES : CLO_CONTENTION_CHOOSE;
    return text == NULL || strcmp(text, "times") == 0 || strcmp(text, "choose") == 0;
}

/* Ports leave no prediction: costs of other durations would have other plans of messages. */
static clo_status predict_plan(const input *in, const plan_options *o, planned *p)
{
    clo_sim_config config = CLO_SIM_CONFIG_INIT;

    config.plan = p->plan;
    p->prediction.seed = o->seed;
    clo_status status = clo_profile_predict(in->profile, in->cost, &config, &p->prediction);
    return status == CLO_ERR_UNSUPPORTED ? CLO_OK : status;
}

clo_status plan_make(const input *in, const plan_options *o, const char *planner, planned *p)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;

    *p = (planned){.metrics = CLO_PLAN_METRICS_INIT, .bound = CLO_BOUND_INIT, .prediction = CLO_PREDICTION_INIT};
    config.planner = clo_planner_find(planner);
    config.seed = o->seed;
    config.threads = (uint32_t)o->threads;
    config.no_duplicates = o->no_duplicates;
    config.justify = o->justify;
    (void)plan_read_contention(o->contention, &config.contention);
    (void)plan_read_budget(o->budget, &config); /* which cmd.c has looked at */
    search_watch(&config);
    int64_t start = monotonic_ns();
    clo_status status = o->pipeline.is_wanted ? pipeline_plan(in->cost, &o->pipeline, &p->plan)
                                              : clo_plan_create(in->cost, &config, &p->plan);
    p->plan_ns = monotonic_ns() - start;
    search_over();
    if (status == CLO_OK)
        status = clo_plan_measure(p->plan, in->cost, &p->metrics);
    if (status == CLO_OK)
        status = clo_cost_bound(in->cost, &p->bound);
    if (status == CLO_OK && in->profile != NULL && !o->pipeline.is_wanted)
        status = predict_plan(in, o, p);
    if (status == CLO_OK) {
        status = clo_plan_check(p->plan, in->cost, CLO_CHECK_FULL);
        p->valid = status == CLO_OK;
        p->measured = status == CLO_OK || status == CLO_ERR_INVALID;
    }
    return status;
}

/* A makespan at its bound says nothing about an interval. */
bool plan_is_optimal(const planned *p)
{
    return clo_plan_is_optimal(p->plan) ||
           (clo_plan_interval_ns(p->plan) == 0 && p->metrics.makespan_ns <= p->metrics.lower_bound_ns);
}
