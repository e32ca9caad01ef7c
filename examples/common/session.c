/* session.c - building the graph of an application and running it once. */
#include "session.h"

#include "machine.h"

/* The measured times belong to this machine's kinds of executors; elsewhere (an emulated platform) the work divided
 * by the executor's speed must do. */
static clo_status build(application *app, const clo_platform *platform, const application_times *times,
                        application_graph *out)
{
    application_times elsewhere;

    if (times != NULL && !clo_platform_is_native(platform)) {
        elsewhere = *times;
        elsewhere.kinds = 0;
        times = &elsewhere;
    }
    out->times = times;
    out->app = app;
    out->status = clo_graph_create(app->name, &out->graph);
    for (uint32_t k = 0; times != NULL && k < times->kinds && out->status == CLO_OK; k++) {
        uint32_t kind; /* counts from 0, as k does */

        out->status = clo_graph_kind(out->graph, times->kind_names[k], &kind);
    }
    if (out->status == CLO_OK && app->device != NULL)
        out->status = clo_graph_kind(out->graph, MACHINE_DEVICE_KIND, &out->device_kind);
    if (out->status == CLO_OK)
        app->build(app, out);
    out->times = NULL;
    out->app = NULL;
    if (out->status == CLO_OK)
        out->status = clo_graph_seal(out->graph);
    return out->status == CLO_OK && app->device != NULL ? clo_device_prepare(app->device, out->graph) : out->status;
}

clo_status session_open(session *s, application *app, const char *spec, uint32_t workers,
                        const application_times *times, const clo_profile *profile)
{
    clo_device_stats device = CLO_DEVICE_STATS_INIT;
    clo_platform *whole = NULL;
    clo_status status = clo_platform_open(spec, &whole);

    if (status == CLO_OK && app->device != NULL)
        status = clo_device_get_stats(app->device, &device);
    if (status == CLO_OK)
        status = machine_limit(whole, workers, device.facts.depth, &s->platform, &s->is_crowded);
    clo_platform_destroy(whole);
    if (status == CLO_OK)
        status = build(app, s->platform, times, &s->graph);
    if (status != CLO_OK)
        return status;
    return profile != NULL ? clo_cost_create_measured(s->graph.graph, s->platform, profile, NULL, &s->cost)
                           : clo_cost_create(s->graph.graph, s->platform, &s->cost);
}

clo_status session_start(session *s, clo_clock clock, const dispatch *how, bool keep_trace)
{
    clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config job = CLO_JOB_CONFIG_INIT;
    clo_status status;

    runtime.clock = clock;
    runtime.unpinned = s->is_crowded;
    runtime.trace = keep_trace;
    status = clo_runtime_create(s->platform, &runtime, &s->runtime);
    job.plan = s->plan;
    job.policy = how->policy;
    return status == CLO_OK ? clo_job_create(s->runtime, s->cost, &job, &s->job) : status;
}

clo_status session_run(session *s, application *app, clo_job_result *result)
{
    clo_status status;

    if (app->prepare != NULL)
        app->prepare(app);
    status = clo_job_submit(s->job);
    return status == CLO_OK ? clo_job_wait(s->job, result) : status;
}

void session_close(session *s)
{
    clo_job_destroy(s->job);
    clo_runtime_destroy(s->runtime);
    clo_plan_destroy(s->plan);
    clo_cost_destroy(s->cost);
    application_graph_free(&s->graph);
    clo_platform_destroy(s->platform);
    *s = (session){0};
}

uint64_t result_hash(application *app, const clo_job *job)
{
    return app->hash != NULL ? app->hash(app) : clo_job_output_hash(job);
}
