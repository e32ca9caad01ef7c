/* bed.c - see bed.h. */
#include "bed.h"

clo_status bed_start(bed *b, bool has_trace)
{
    clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config job = CLO_JOB_CONFIG_INIT;

    runtime.trace = has_trace;
    job.plan = b->plan;
    clo_status status = clo_runtime_create(b->platform, &runtime, &b->runtime);
    return status == CLO_OK ? clo_job_create(b->runtime, b->cost, &job, &b->job) : status;
}

clo_status bed_run(const bed *b, clo_job_result *result)
{
    clo_status status = clo_job_submit(b->job);

    return status == CLO_OK ? clo_job_wait(b->job, result) : status;
}

void bed_close(bed *b)
{
    clo_job_destroy(b->job);
    clo_runtime_destroy(b->runtime);
    clo_plan_destroy(b->plan);
    clo_cost_destroy(b->cost);
    clo_graph_destroy(b->graph);
    clo_profile_destroy(b->profile);
    clo_platform_destroy(b->platform);
}
