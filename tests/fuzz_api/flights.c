/* flights.c - plans with an interval: bounds, planner, depths, simulation of a series and its judge. */
#include "fuzz_api.h"
#include "plan/facts.h"

static void look_at_bounds(const clo_plan *plan, const clo_cost *cost)
{
    clo_interval_bound bound = CLO_INTERVAL_BOUND_INIT;
    clo_pipeline_metrics metrics = CLO_PIPELINE_METRICS_INIT;

    if (expect(clo_cost_interval_bound(cost, &bound), CLO_OK) != CLO_OK)
        return;
    if (clo_plan_interval_ns(plan) < bound.best_ns)
        broken("a plan with the interval %lld, below the bound %lld", (long long)clo_plan_interval_ns(plan),
               (long long)bound.best_ns);
    if (clo_plan_interval_ns(plan) > 0)
        (void)expect(clo_plan_pipeline_measure(plan, cost, &metrics), CLO_OK);
    (void)expect(clo_plan_check(plan, cost, CLO_CHECK_FULL), CLO_OK);
}

/* A series in virtual time; what it writes down must be as the plan says. */
static void fly(thread *t, const clo_plan *plan, const clo_cost *cost, uint64_t hash)
{
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_job_timing timing = CLO_JOB_TIMING_INIT;
    clo_trace *trace;
    uint64_t seen;

    config.plan = plan;
    config.releases_in_flight = clo_plan_in_flight(plan) + below(t, 3);
    config.releases = 1 + below(t, 12);
    config.period_ns = chance(t, 50) ? 0 : draw_time(t, 50000) & INT64_MAX >> 8; /* times stop at INT64_MAX */
    config.deadline_ns = config.period_ns > 0 && chance(t, 50) ? draw_time(t, 50000) & INT64_MAX : 0;
    config.timing = config.period_ns > 0 ? &timing : NULL;
    config.execute = chance(t, 50);
    is_quiet = true;
    clo_status status = expect(clo_simulate(cost, &config, NULL, &trace, &seen), CLO_OK, CLO_ERR_UNSUPPORTED,
                               CLO_ERR_INVALID, CLO_ERR_ARGUMENT);
    is_quiet = false;
    if (status != CLO_OK)
        return;
    if (config.execute && seen != hash)
        broken("releases in flight, simulated: outputs with the hash %llx, not %llx", (unsigned long long)seen,
               (unsigned long long)hash);
    if (config.timing != NULL && timing.released != config.releases)
        broken("%llu of %llu releases", (unsigned long long)timing.released, (unsigned long long)config.releases);
    (void)expect(clo_pipeline_check_period(trace, plan, cost, config.releases_in_flight, 0), CLO_OK);
    (void)expect(clo_pipeline_check_period(trace, plan, cost, config.releases_in_flight, config.period_ns), CLO_OK);
    clo_trace_destroy(trace);
}

void call_pipeline(thread *t)
{
    uint32_t m = below(t, MODELS), p = below(t, PLATFORMS);
    clo_pipeline_config config = CLO_PIPELINE_CONFIG_INIT;
    model_slot *model = &w.models[m];
    clo_plan *plan;

    if (!use_begin(&model->object, USE_SHARED))
        return;
    log_begin(t, "plan and simulate a pipeline", m);
    config.releases_in_flight = chance(t, 60) ? 0 : draw_count(t, 8);
    config.interval_ns = chance(t, 60) ? 0 : draw_time(t, 100000);
    clo_status status = expect(clo_plan_pipeline(model->costs[p], &config, &plan), CLO_OK, CLO_ERR_ARGUMENT,
                               CLO_ERR_LIMIT, CLO_ERR_UNSUPPORTED);
    if (status == CLO_OK) {
        look_at_bounds(plan, model->costs[p]);
        fly(t, plan, model->costs[p], model->hash);
        clo_plan_destroy(plan);
    }
    if (chance(t, 30)) /* a plan without an interval flies too */
        fly(t, model->plans[p][below(t, PLANS)], model->costs[p], model->hash);
    log_end(t, status);
    use_end(&model->object, USE_SHARED);
}
