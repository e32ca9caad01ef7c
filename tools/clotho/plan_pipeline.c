/* plan_pipeline.c - plans with an interval, and what is said of them. */
#include "plan_pipeline.h"

#include "report.h"

#include <stdio.h>

int pipeline_check_series(uint32_t in_flight, uint64_t releases, bool has_planner)
{
    if (in_flight == 0)
        return releases == 0 ? EXIT_GOOD : misuse("--releases is of --releases-in-flight N; add it");
    if (in_flight > CLO_IN_FLIGHT_MAX)
        return misuse("--releases-in-flight is %u; write 1 to %u", in_flight, CLO_IN_FLIGHT_MAX);
    if (has_planner)
        return misuse("--releases-in-flight plans by modulo scheduling; leave --planner and --policy out");
    return EXIT_GOOD;
}

clo_status pipeline_plan(const clo_cost *cost, const pipeline_options *options, clo_plan **plan)
{
    clo_pipeline_config config = CLO_PIPELINE_CONFIG_INIT;

    config.releases_in_flight = options->in_flight;
    config.interval_ns = options->interval_ns;
    return clo_plan_pipeline(cost, &config, plan);
}

clo_status pipeline_print(const clo_plan *plan, const clo_cost *cost)
{
    clo_pipeline_metrics m = CLO_PIPELINE_METRICS_INIT;
    clo_status status = clo_plan_pipeline_measure(plan, cost, &m);

    if (status != CLO_OK)
        return status;
    printf("interval     %s, so %.4g releases a second\n", show_ns(m.interval_ns), m.per_second);
    if (clo_plan_is_optimal(plan) || m.interval_ns <= m.bound_ns)
        printf("bound        %s; no plan has a shorter interval\n", show_ns(m.bound_ns));
    else
        printf("bound        %s, so the interval is at most %s above the shortest\n", show_ns(m.bound_ns),
               show_percent(m.gap));
    printf("latency      %s with %u release%s in flight; the critical path is %s\n", show_ns(m.latency_ns), m.in_flight,
           m.in_flight == 1 ? "" : "s", show_ns(m.latency_bound_ns));
    printf("buffers      %s, %s for one release at a time\n", show_bytes(m.buffer_bytes), show_bytes(m.single_bytes));
    printf("executors    %s in use\n", show_percent(m.utilization));
    return CLO_OK;
}

clo_status pipeline_print_json(const clo_plan *plan, const clo_cost *cost, json *out)
{
    clo_pipeline_metrics m = CLO_PIPELINE_METRICS_INIT;
    clo_status status = clo_plan_pipeline_measure(plan, cost, &m);

    if (status != CLO_OK)
        return status;
    json_open(out, "pipeline", '{');
    json_integer(out, "interval_ns", m.interval_ns);
    json_integer(out, "bound_ns", m.bound_ns);
    json_real(out, "gap", m.gap);
    json_real(out, "per_second", m.per_second);
    json_integer(out, "latency_ns", m.latency_ns);
    json_integer(out, "latency_bound_ns", m.latency_bound_ns);
    json_count(out, "in_flight", m.in_flight);
    json_real(out, "utilization", m.utilization);
    json_count(out, "buffer_bytes", m.buffer_bytes);
    json_count(out, "single_bytes", m.single_bytes);
    json_close(out, '}');
    return CLO_OK;
}
