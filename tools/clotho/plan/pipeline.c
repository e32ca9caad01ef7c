/* pipeline.c - plans with an interval, and what is said of them. */
#include "clotho/plan/pipeline.h"

#include "clotho/common/report.h"

#include <stdio.h>

int pipeline_check_series(const pipeline_series *series)
{
    if (series->in_flight == 0)
        return series->releases == 0 && series->period_ns == 0
                   ? EXIT_GOOD
                   : misuse("--releases and --period are of --releases-in-flight N; add it");
    if (series->in_flight > CLO_IN_FLIGHT_MAX)
        return misuse("--releases-in-flight is %u; write 1 to %u", series->in_flight, CLO_IN_FLIGHT_MAX);
    if (series->has_planner)
        return misuse("--releases-in-flight plans by modulo scheduling; leave --planner and --policy out ('clotho run' "
                      "takes --policy steal)");
    if (series->deadline_ns > 0 && series->period_ns == 0)
        return misuse("with --releases-in-flight a --deadline counts from when a release is due; add --period");
    return EXIT_GOOD;
}

clo_status pipeline_plan_series(const clo_cost *cost, const pipeline_series *series, clo_plan **plan)
{
    pipeline_options options = {.in_flight = series->in_flight, .interval_ns = series->period_ns};
    clo_status status = pipeline_plan(cost, &options, plan);

    if (status != CLO_ERR_LIMIT || series->period_ns == 0)
        return status;
    options.interval_ns = 0;
    return pipeline_plan(cost, &options, plan);
}

static int64_t deadline_of(const pipeline_series *series)
{
    return series->deadline_ns > 0 ? series->deadline_ns : series->period_ns;
}

int pipeline_check_deadline(const char *path, const clo_job_timing *timing, const pipeline_series *series)
{
    if (series->deadline_ns == 0 || timing->missed == 0)
        return EXIT_GOOD;
    return complain(path, "%llu of %llu releases have missed the deadline of %s", (unsigned long long)timing->missed,
                    (unsigned long long)timing->released, show_ns(series->deadline_ns));
}

void pipeline_print_timing(const clo_job_timing *timing, const pipeline_series *series)
{
    printf("response     %s median, %s p99, %s at most\n", show_ns(timing->response_ns.p50_ns),
           show_ns(timing->response_ns.p99_ns), show_ns(timing->response_ns.max_ns));
    if (series->period_ns > 0)
        printf("deadline     %s after each period of %s: %llu of %llu releases have missed it\n",
               show_ns(deadline_of(series)), show_ns(series->period_ns), (unsigned long long)timing->missed,
               (unsigned long long)timing->finished);
}

void pipeline_print_timing_json(const clo_job_timing *timing, const pipeline_series *series, json *out)
{
    if (series->period_ns > 0) {
        json_integer(out, "period_ns", series->period_ns);
        json_integer(out, "deadline_ns", deadline_of(series));
        json_count(out, "missed", timing->missed);
    }
    json_integer(out, "response_p50_ns", timing->response_ns.p50_ns);
    json_integer(out, "response_p99_ns", timing->response_ns.p99_ns);
    json_integer(out, "response_max_ns", timing->response_ns.max_ns);
}

void pipeline_print_histogram_json(const uint32_t *buckets, json *out)
{
    json_open(out, "response_buckets", '[');
    for (uint32_t b = 0; b < CLO_LATENCY_BUCKETS; b++) {
        if (buckets[b] == 0)
            continue;
        json_open(out, NULL, '[');
        json_integer(out, NULL, clo_latency_bucket_ns(b));
        json_count(out, NULL, buckets[b]);
        json_close(out, ']');
    }
    json_close(out, ']');
}

/* What no plan is needed for. */
static clo_status print_bound(const clo_cost *cost, json *out)
{
    clo_interval_bound bound = CLO_INTERVAL_BOUND_INIT;
    clo_status status = clo_cost_interval_bound(cost, &bound);

    if (status == CLO_OK && out == NULL)
        printf("bound        %s; no executor keeps to a plan, each runs what is ready\n", show_ns(bound.best_ns));
    if (status != CLO_OK || out == NULL)
        return status;
    json_open(out, "pipeline", '{');
    json_integer(out, "bound_ns", bound.best_ns);
    json_close(out, '}');
    return CLO_OK;
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
    clo_status status = plan != NULL ? clo_plan_pipeline_measure(plan, cost, &m) : print_bound(cost, NULL);

    if (status != CLO_OK || plan == NULL)
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
    clo_status status = plan != NULL ? clo_plan_pipeline_measure(plan, cost, &m) : print_bound(cost, out);

    if (status != CLO_OK || plan == NULL)
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
