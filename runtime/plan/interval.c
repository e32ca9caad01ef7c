/* plan/interval.c - plans with an interval: what they are made of, how deep their buffers are, how good they are. */
#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "plan/plan.h"

#include <clotho/pipeline.h>

#include <string.h>

clo_status clo_plan_from_interval(const clo_cost *cost, const char *planner, const clo_placement *placements,
                                  size_t count, int64_t interval_ns, clo_plan **out)
{
    if (interval_ns < 0)
        return clo_fail(CLO_ERR_ARGUMENT, "interval_ns is %lld; use 0 for none", (long long)interval_ns);
    clo_plan *plan = NULL;
    clo_status status = clo_plan_from_placements(cost, planner, placements, count, &plan);

    if (status != CLO_OK)
        return status;
    plan->interval_ns = interval_ns;
    *out = plan;
    return CLO_OK;
}

int64_t clo_plan_interval_ns(const clo_plan *plan)
{
    return plan != NULL ? plan->interval_ns : 0;
}

/* Whole intervals that hold length_ns. */
static uint32_t intervals_of(const clo_plan *plan, int64_t length_ns)
{
    if (plan->interval_ns == 0 || length_ns <= plan->interval_ns)
        return 1;
    int64_t count = (length_ns - 1) / plan->interval_ns + 1;
    return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

uint32_t clo_plan_in_flight(const clo_plan *plan)
{
    return intervals_of(plan, plan->makespan_ns);
}

/* Where each instance stands among the placements. */
static clo_status index_placements(const clo_plan *plan, const clo_graph *graph, uint32_t *of)
{
    memset(of, 0xff, graph->instances * sizeof *of);
    for (size_t i = 0; i < plan->count; i++) {
        uint32_t instance = graph->first_instance[plan->placements[i].task] + plan->placements[i].instance;
        if (of[instance] != CLO_NONE)
            return clo_fail(CLO_ERR_ARGUMENT, "the plan executes task %u instance %u twice; a pipeline has no replicas",
                            plan->placements[i].task, plan->placements[i].instance);
        of[instance] = (uint32_t)i;
    }
    for (uint32_t i = 0; i < graph->instances; i++)
        if (of[i] == CLO_NONE)
            return clo_fail(CLO_ERR_ARGUMENT, "the plan does not place task %u instance %u", graph->task_of[i],
                            i - graph->first_instance[graph->task_of[i]]);
    return CLO_OK;
}

/* The last finish of all instances of `task`. */
static int64_t last_finish_ns(const clo_plan *plan, const clo_graph *graph, const uint32_t *of, uint32_t task)
{
    int64_t last_ns = 0;

    for (uint32_t i = graph->first_instance[task]; i < graph->first_instance[task + 1]; i++)
        if (plan->placements[of[i]].finish_ns > last_ns)
            last_ns = plan->placements[of[i]].finish_ns;
    return last_ns;
}

/* When the last consumer of `task` has ended. */
static int64_t last_use_ns(const clo_plan *plan, const clo_graph *graph, const uint32_t *of, uint32_t task)
{
    int64_t last_ns = 0;

    for (uint32_t k = graph->out_first[task]; k < graph->out_first[task + 1]; k++) {
        int64_t finish_ns = last_finish_ns(plan, graph, of, graph->out[k]);
        last_ns = finish_ns > last_ns ? finish_ns : last_ns;
    }
    return last_ns;
}

/* On `depths` itself, which first holds the index. */
clo_status clo_plan_buffer_depths(const clo_plan *plan, const clo_cost *cost, uint32_t *depths)
{
    const clo_graph *graph = clo_cost_graph(cost);
    clo_status status = clo_plan_matches(plan, cost);
    uint32_t *of = NULL;

    if (status == CLO_OK && (of = clo_allocate(graph->instances, sizeof *of)) == NULL)
        return clo_fail_memory("the depths of buffers");
    if (status == CLO_OK)
        status = index_placements(plan, graph, of);
    for (uint32_t t = 0; t < graph->tasks && status == CLO_OK; t++) {
        int64_t use_ns = last_use_ns(plan, graph, of, t);
        for (uint32_t i = graph->first_instance[t]; i < graph->first_instance[t + 1]; i++) {
            const clo_placement *p = &plan->placements[of[i]];
            int64_t end_ns = use_ns > p->finish_ns ? use_ns : p->finish_ns;
            bool has_output = clo_graph_output(graph, t) > 0;
            depths[i] = has_output ? intervals_of(plan, clo_time_sub(end_ns, p->start_ns)) : 1;
        }
    }
    clo_free(of);
    return status;
}

static void measure_buffers(const clo_graph *graph, const uint32_t *depths, clo_pipeline_metrics *metrics)
{
    for (uint32_t t = 0; t < graph->tasks; t++)
        for (uint32_t i = graph->first_instance[t]; i < graph->first_instance[t + 1]; i++) {
            uint64_t bytes = clo_graph_output_bytes(graph, t, i - graph->first_instance[t]);
            metrics->single_bytes = clo_amount_add(metrics->single_bytes, bytes);
            metrics->buffer_bytes = clo_amount_add(metrics->buffer_bytes, clo_amount_mul(bytes, depths[i]));
        }
}

static void measure_times(const clo_plan *plan, const clo_cost *cost, clo_pipeline_metrics *metrics)
{
    double interval = (double)plan->interval_ns, bound = metrics->bound_ns > 0 ? (double)metrics->bound_ns : 1;
    double busy = 0;

    for (size_t i = 0; i < plan->count; i++)
        busy += (double)(plan->placements[i].finish_ns - plan->placements[i].start_ns);
    metrics->interval_ns = plan->interval_ns;
    metrics->gap = interval / bound - 1;
    metrics->per_second = 1e9 / interval;
    metrics->latency_ns = plan->makespan_ns;
    metrics->in_flight = clo_plan_in_flight(plan);
    metrics->utilization = busy / (interval * (double)clo_platform_executors(clo_cost_platform(cost)));
}

clo_status clo_plan_pipeline_measure(const clo_plan *plan, const clo_cost *cost, clo_pipeline_metrics *out)
{
    if (plan == NULL || cost == NULL || out == NULL)
        return clo_fail_null("clo_plan_pipeline_measure", "plan, cost or out");
    clo_pipeline_metrics metrics = CLO_PIPELINE_METRICS_INIT;
    clo_interval_bound bound = CLO_INTERVAL_BOUND_INIT;
    clo_bound of_release = CLO_BOUND_INIT;
    clo_status status = clo_result_check(out, sizeof metrics, "clo_pipeline_metrics");

    if (status == CLO_OK && plan->interval_ns == 0)
        return clo_fail(CLO_ERR_ARGUMENT, "the plan of '%s' has no interval; make it with clo_plan_pipeline",
                        plan->planner);
    uint32_t *depths = NULL;
    if (status == CLO_OK && (depths = clo_allocate(clo_cost_graph(cost)->instances, sizeof *depths)) == NULL)
        return clo_fail_memory("the depths of buffers");
    if (status == CLO_OK)
        status = clo_plan_buffer_depths(plan, cost, depths);
    if (status == CLO_OK)
        status = clo_cost_interval_bound(cost, &bound);
    if (status == CLO_OK)
        status = clo_cost_bound(cost, &of_release);
    if (status == CLO_OK) {
        metrics.bound_ns = bound.best_ns;
        metrics.latency_bound_ns = of_release.critical_path_ns;
        measure_times(plan, cost, &metrics);
        measure_buffers(clo_cost_graph(cost), depths, &metrics);
        clo_result_write(out, &metrics, sizeof metrics);
    }
    clo_free(depths);
    return status;
}
