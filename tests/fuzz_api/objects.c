/* objects.c - calls on what is immutable once made, and on what one thread makes for itself. */
#define _GNU_SOURCE
#include "fuzz_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Any model, with a cost for any platform; the right ones mostly. */
static model_slot *share_model(thread *t, uint32_t likely, uint32_t *platform)
{
    model_slot *model = &w.models[with(WITH_foreign) && chance(t, 20) ? below(t, MODELS) : likely];

    if (with(WITH_foreign) && chance(t, 20))
        *platform = below(t, PLATFORMS);
    return use_begin(&model->object, USE_SHARED) ? model : NULL;
}

static void drop_model(model_slot *model)
{
    use_end(&model->object, USE_SHARED);
}

static trace_slot *share_trace(thread *t, clo_trace **trace)
{
    trace_slot *slot = &w.traces[below(t, TRACES)];

    if (!use_begin(&slot->object, USE_SHARED))
        return NULL;
    *trace = atomic_load_explicit(&slot->trace, memory_order_acquire);
    if (*trace != NULL)
        return slot;
    use_end(&slot->object, USE_SHARED);
    return NULL;
}

static void path_of(const thread *t, char path[64])
{
    const char *temporary = getenv("TMPDIR");

    snprintf(path, 64, "%.30s/fuzz-api-%d-%u", temporary != NULL ? temporary : "/tmp", (int)getpid(), t->index);
}

#define PLAN_STATUSES CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_INVALID, CLO_ERR_MEMORY

static void look_at_plan(thread *t, const clo_plan *plan, const clo_cost *cost)
{
    clo_plan_metrics metrics = CLO_PLAN_METRICS_INIT;
    char *text = NULL, path[64];

    path_of(t, path);
    switch (below(t, 4)) {
    case 0:
        (void)expect(clo_plan_check(plan, cost, (int)below(t, 2)), PLAN_STATUSES);
        break;
    case 1:
        (void)expect(clo_plan_measure(plan, cost, &metrics), PLAN_STATUSES);
        break;
    case 2:
        (void)expect(clo_plan_gantt_text(plan, cost, draw_count(t, 200) % 4096, &text), PLAN_STATUSES);
        break;
    default:
        (void)expect(clo_plan_gantt_svg(plan, cost, NULL, path), PLAN_STATUSES, CLO_ERR_IO);
        (void)unlink(path);
    }
    free(text);
}

/* A plan of placements that may be anything; it may be refused, or used like any other. */
static void own_plan(thread *t, const clo_cost *cost)
{
    clo_placement list[8];
    uint32_t count = below(t, 9);
    clo_plan *plan;

    for (uint32_t i = 0; i < count; i++) {
        list[i] = (clo_placement){draw_count(t, 16), draw_count(t, 2), draw_count(t, 4), chance(t, 10), 0, 0};
        list[i].start_ns = chance(t, 50) ? 0 : draw_time(t, 10000);
        list[i].finish_ns =
            chance(t, 70) && list[i].start_ns < INT64_MAX / 2 ? list[i].start_ns + 100 : draw_time(t, 20000);
    }
    if (expect(clo_plan_from_placements(cost, NULL, list, count, &plan), CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_MEMORY) !=
        CLO_OK)
        return;
    look_at_plan(t, plan, cost);
    clo_plan_destroy(plan);
}

void call_plan_calls(thread *t)
{
    uint32_t m = below(t, MODELS), p = below(t, PLATFORMS), planned_on = p;
    model_slot *model = share_model(t, m, &p), *other;

    if (model == NULL)
        return;
    log_begin(t, "calls on plans", m);
    if (use_begin(&w.models[m].object, USE_SHARED)) {
        other = &w.models[m];
        look_at_plan(t, other->plans[planned_on][below(t, PLANS)], model->costs[p]);
        drop_model(other);
    }
    if (chance(t, 30))
        own_plan(t, model->costs[p]);
    log_end(t, 0);
    drop_model(model);
}

static void look_at_trace(thread *t, const clo_trace *trace, const clo_cost *cost)
{
    char path[64];
    clo_plan *plan;
    size_t count;

    path_of(t, path);
    if (clo_trace_events(trace, &count) == NULL && count > 0)
        broken("clo_trace_events: NULL of %zu", count);
    if (chance(t, 50)) {
        (void)expect(clo_trace_write_chrome(trace, cost, NULL, path), CLO_OK, CLO_ERR_IO, CLO_ERR_MEMORY,
                     CLO_ERR_ARGUMENT);
        (void)unlink(path);
    } else if (expect(clo_trace_to_plan(trace, cost, &plan), CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_MEMORY) == CLO_OK) {
        look_at_plan(t, plan, cost);
        clo_plan_destroy(plan);
    }
}

void call_trace_calls(thread *t)
{
    clo_trace *trace;
    trace_slot *slot = share_trace(t, &trace);

    if (slot == NULL)
        return;
    uint32_t platform = slot->platform;
    model_slot *model =
        with(WITH_foreign) ? share_model(t, slot->model, &platform) : NULL; /* the graph may be another by now */
    if (model != NULL) {
        log_begin(t, "calls on traces", slot->model);
        look_at_trace(t, trace, model->costs[platform]);
        log_end(t, 0);
        drop_model(model);
    }
    use_end(&slot->object, USE_SHARED);
}

void call_simulate(thread *t)
{
    uint32_t m = below(t, MODELS), p = below(t, PLATFORMS), other = p;
    model_slot *model = share_model(t, m, &other);
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_trace *trace = NULL, *recorded = NULL;
    trace_slot *slot = NULL;
    uint64_t hash;

    if (model == NULL)
        return;
    if (chance(t, 40) && use_begin(&w.models[m].object, USE_SHARED))
        config.plan = w.models[m].plans[p][below(t, PLANS)];
    else if (chance(t, 60) && with(WITH_policies))
        config.policy = draw_policy(t);
    if (with(WITH_foreign) && chance(t, 20) && (slot = share_trace(t, &recorded)) != NULL)
        config.recorded = recorded;
    config.execute = chance(t, 50);
    config.deadline_ns = chance(t, 30) ? draw_time(t, 100000) : 0;
    config.steps_max = draw_count(t, 3);
    log_begin(t, "clo_simulate", m);
    is_quiet = true;
    clo_status status = expect(clo_simulate(model->costs[other], &config, NULL, chance(t, 50) ? &trace : NULL, &hash),
                               CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_INVALID, CLO_ERR_STATE, CLO_ERR_MEMORY, CLO_ERR_LIMIT);
    is_quiet = false;
    log_end(t, status);
    if (status == CLO_OK && config.execute && hash != model->hash)
        broken("clo_simulate: outputs with the hash %llx, not %llx", (unsigned long long)hash,
               (unsigned long long)model->hash);
    clo_trace_destroy(trace);
    if (slot != NULL)
        use_end(&slot->object, USE_SHARED);
    if (config.plan != NULL)
        drop_model(&w.models[m]);
    drop_model(model);
}

/* A graph that nobody else sees: random tasks and edges, some wrong, sealed or not. */
void call_graph_build(thread *t)
{
    uint32_t tasks = below(t, 12), kind;
    clo_graph *graph;
    clo_cost *cost;
    clo_task back;
    clo_edge edge;

    log_begin(t, "build a graph", 0);
    if (expect(clo_graph_create(chance(t, 50) ? "own" : NULL, &graph), CLO_OK, CLO_ERR_MEMORY) != CLO_OK)
        return;
    (void)expect(clo_graph_kind(graph, "k0", &kind), CLO_OK);
    for (uint32_t i = 0; i < tasks; i++) {
        clo_task task = {
            .body = chance(t, 90) ? fuzz_body : NULL, .work_ns = draw_time(t, 10000), .instances = below(t, 4)};
        task.output_bytes = below(t, 64);
        (void)expect(clo_graph_add_task(graph, &task, NULL), CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_LIMIT);
        (void)expect(clo_graph_add_edge(graph, draw_count(t, i), i + (chance(t, 95) ? 1 : 0), below(t, 100)), CLO_OK,
                     CLO_ERR_LIMIT);
    }
    (void)expect(clo_graph_set_time(graph, draw_count(t, tasks), kind, draw_time(t, 1000)), CLO_OK, CLO_ERR_ARGUMENT);
    uint32_t executors[3] = {below(t, 80), chance(t, 90) ? below(t, 4096) : 4096 + below(t, 10), below(t, 4)}, most[4];
    (void)expect(clo_graph_set_executors(graph, draw_count(t, tasks), executors, below(t, 4)), CLO_OK,
                 CLO_ERR_ARGUMENT);
    (void)clo_graph_executors(graph, draw_count(t, tasks), most, below(t, 5));
    clo_status status = expect(clo_graph_seal(graph), CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_CYCLE, CLO_ERR_LIMIT);
    (void)expect(clo_graph_task(graph, draw_count(t, tasks), &back), CLO_OK, CLO_ERR_ARGUMENT);
    (void)expect(clo_graph_edge(graph, draw_count(t, tasks), &edge), CLO_OK, CLO_ERR_ARGUMENT);
    if (expect(clo_cost_create(graph, w.platforms[below(t, PLATFORMS)], &cost), CLO_OK, CLO_ERR_STATE, CLO_ERR_PLATFORM,
               CLO_ERR_LIMIT, CLO_ERR_MEMORY) == CLO_OK) {
        clo_bound bound = CLO_BOUND_INIT;
        (void)expect(clo_cost_bound(cost, &bound), CLO_OK, CLO_ERR_MEMORY);
        (void)clo_cost_execution_ns(cost, below(t, clo_graph_tasks(graph)), 0);
        clo_cost_destroy(cost);
    }
    log_end(t, status);
    clo_graph_destroy(graph);
}

void call_platform_calls(thread *t)
{
    static const char *const specs[] = {"uniform:3", "uniform:64", "rk3588", "uniform:0", "uniform:-1", "nothing", ""};
    const char *spec = specs[below(t, 7)];
    clo_platform *platform;
    char *text = NULL;

    log_begin(t, "calls on platforms", 0);
    clo_status status = expect(clo_platform_open(spec, &platform), CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_IO, CLO_ERR_FORMAT,
                               CLO_ERR_LIMIT, CLO_ERR_PLATFORM);
    if (status == CLO_OK) {
        (void)expect(clo_platform_describe(platform, below(t, 200), &text), CLO_OK);
        free(text);
        (void)clo_platform_executor(platform, draw_count(t, 9));
        (void)clo_platform_capacity(platform, draw_count(t, 2), draw_count(t, 9));
        clo_platform_destroy(platform);
    }
    log_end(t, status);
}

/* Calls with a NULL for what they need; the ones that must accept one. */
static void call_null(thread *t)
{
    clo_job_timing timing = CLO_JOB_TIMING_INIT;
    clo_cost *cost;
    clo_plan *plan;
    clo_job *job;
    size_t bytes;

    switch (below(t, 12)) {
    case 0:
        (void)expect(clo_job_create(NULL, NULL, NULL, &job), CLO_ERR_ARGUMENT);
        break;
    case 1:
        (void)expect(clo_job_submit(NULL), CLO_ERR_ARGUMENT);
        break;
    case 2:
        (void)expect(clo_job_wait(NULL, NULL), CLO_ERR_ARGUMENT);
        break;
    case 3:
        (void)expect(clo_job_wait_for(NULL, 0, NULL), CLO_ERR_ARGUMENT);
        break;
    case 4:
        (void)expect(clo_job_timing_read(NULL, &timing), CLO_ERR_ARGUMENT);
        break;
    case 5:
        (void)expect(clo_job_swap_plan(NULL, NULL), CLO_ERR_ARGUMENT);
        break;
    case 6:
        clo_job_cancel(NULL);
        break;
    case 7:
        (void)expect(clo_job_memory_bytes(NULL, NULL, NULL, &bytes), CLO_ERR_ARGUMENT);
        break;
    case 8:
        (void)expect(clo_cost_create(NULL, NULL, &cost), CLO_ERR_ARGUMENT);
        break;
    case 9:
        (void)expect(clo_plan_create(NULL, NULL, &plan), CLO_ERR_ARGUMENT);
        break;
    case 10:
        (void)expect(clo_runtime_worker_stats(NULL, 0, NULL), CLO_ERR_ARGUMENT);
        break;
    default:
        clo_job_destroy(NULL), clo_runtime_destroy(NULL), clo_trace_destroy(NULL), clo_plan_destroy(NULL);
        clo_cost_destroy(NULL), clo_graph_destroy(NULL), clo_platform_destroy(NULL);
        (void)expect(clo_runtime_close(NULL, 0), CLO_OK, CLO_ERR_ARGUMENT);
    }
}

void call_rest(thread *t)
{
    if (with(WITH_null) && chance(t, 10)) {
        log_begin(t, "bad arguments", 0);
        call_null(t);
        log_end(t, 0);
    }
    log_begin(t, "rest", 0);
    (void)usleep(below(t, 2000));
    log_end(t, 0);
}
