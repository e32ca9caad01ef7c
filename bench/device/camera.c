/* camera.c - see camera.h. Of the NPU's three tasks the driver "null" takes the time; those of CPUs spin. */
#include "device/camera.h"

#include "common/platform.h"

#include <clotho/body.h>
#include <clotho/device.h>
#include <clotho/pipeline.h>
#include <clotho/planner.h>

enum { TASKS = 12, IN_FLIGHT = 3, BYTES = 4096 };

/* On a CPU, or on the NPU: about 30 frames a second. */
static const struct {
    const char *name;
    int64_t cpu_ns, npu_ns;
    int from, second; /* edges; -1: none */
} tasks[TASKS] = {
    {"capture", 1400000, 0, -1, -1}, {"debayer", 3200000, 0, 0, -1}, {"denoise", 2800000, 0, 1, -1},
    {"scale", 1800000, 0, 2, -1},    {"detect", 0, 14000000, 3, -1}, {"segment", 0, 10500000, 3, -1},
    {"boxes", 1100000, 0, 4, -1},    {"lanes", 1100000, 0, 5, -1},   {"classify", 0, 7000000, 6, -1},
    {"track", 2100000, 0, 8, -1},    {"fuse", 1800000, 0, 9, 7},     {"encode", 3200000, 0, 2, 10},
};

typedef struct camera {
    clo_platform *platform;
    clo_device *device;
    clo_graph *graph;
    clo_cost *cost;
    clo_plan *plan;
    clo_runtime *runtime;
    clo_job *job;
    clo_kernel kernels[TASKS];
} camera;

static void take(void *const *operands, const size_t *bytes, uint32_t count, const clo_scalar *scalars)
{
    (void)operands;
    (void)bytes;
    (void)count;
    (void)scalars;
}

static clo_status make_platform(clo_platform **out)
{
    static const char *const kinds[] = {"cpu", "npu"};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_executor list[3];

    for (uint32_t e = 0; e < 3; e++)
        list[e] = (clo_executor){
            .kind = e == 2, .os_index = e == 2 ? CLO_OS_SLOT : -1, .speed_q16 = {65536, 65536, 65536, 65536}};
    desc.executors_count = 3;
    desc.executors = list;
    desc.kinds_count = 2;
    desc.kind_names = kinds;
    return clo_platform_create(&desc, out);
}

static clo_status make_graph(camera *c)
{
    uint32_t cpu = 0, npu = 0;
    clo_status status = clo_graph_create("camera", &c->graph);

    if (status == CLO_OK)
        status = clo_graph_kind(c->graph, "cpu", &cpu);
    if (status == CLO_OK)
        status = clo_graph_kind(c->graph, "npu", &npu);
    for (uint32_t t = 0; t < TASKS && status == CLO_OK; t++) {
        const clo_task task = {.name = tasks[t].name, .output_bytes = BYTES, .may_pend = tasks[t].npu_ns > 0};
        status = clo_graph_add_task(c->graph, &task, NULL);
        c->kernels[t] = (clo_kernel){.size = sizeof(clo_kernel), .device = c->device, .function = t};
        if (status == CLO_OK)
            status = tasks[t].npu_ns > 0 ? clo_graph_set_kernel(c->graph, t, npu, &c->kernels[t])
                                         : clo_graph_set_body(c->graph, t, cpu, clo_body_spin);
        if (status == CLO_OK)
            status =
                clo_graph_set_time(c->graph, t, tasks[t].npu_ns > 0 ? npu : cpu, tasks[t].cpu_ns + tasks[t].npu_ns);
        if (status == CLO_OK && tasks[t].from >= 0)
            status = clo_graph_add_edge(c->graph, (uint32_t)tasks[t].from, t, BYTES);
        if (status == CLO_OK && tasks[t].second >= 0)
            status = clo_graph_add_edge(c->graph, (uint32_t)tasks[t].second, t, BYTES);
    }
    return status == CLO_OK ? clo_graph_seal(c->graph) : status;
}

static clo_status open_device(clo_device **out)
{
    static clo_host_kernel kernels[TASKS];
    clo_device_config config = CLO_DEVICE_CONFIG_INIT;

    for (uint32_t t = 0; t < TASKS; t++)
        kernels[t] = (clo_host_kernel){.name = tasks[t].name, .run = take, .takes_ns = tasks[t].npu_ns};
    config.host_kernels = kernels;
    config.host_kernels_count = TASKS;
    config.no_trial = 1;
    return clo_device_open(clo_driver_find("null"), "", &config, out);
}

static clo_status make(camera *c, uint32_t frames, camera_result *out)
{
    clo_pipeline_config pipeline = CLO_PIPELINE_CONFIG_INIT;
    clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config job = CLO_JOB_CONFIG_INIT;
    clo_interval_bound bound = CLO_INTERVAL_BOUND_INIT;
    clo_status status = open_device(&c->device);

    if (status == CLO_OK)
        status = make_platform(&c->platform);
    if (status == CLO_OK)
        status = make_graph(c);
    if (status == CLO_OK)
        status = clo_device_prepare(c->device, c->graph);
    if (status == CLO_OK)
        status = clo_cost_create(c->graph, c->platform, &c->cost);
    if (status == CLO_OK)
        status = clo_cost_interval_bound(c->cost, &bound);
    pipeline.releases_in_flight = job.releases_in_flight = IN_FLIGHT;
    if (status == CLO_OK)
        status = clo_plan_pipeline(c->cost, &pipeline, &c->plan);
    if (status == CLO_OK)
        status = clo_runtime_create(c->platform, &runtime, &c->runtime);
    job.plan = c->plan;
    job.releases = frames;
    if (status == CLO_OK)
        status = clo_job_create(c->runtime, c->cost, &job, &c->job);
    out->bound_ns = bound.best_ns;
    out->planned_ns = clo_plan_interval_ns(c->plan);
    return status;
}

bool camera_run(uint32_t frames, camera_result *out)
{
    clo_job_result result = CLO_JOB_RESULT_INIT;
    camera c = {0};
    clo_status status = make(&c, frames, out);
    int64_t begin_ns = bench_now_ns();

    if (status == CLO_OK)
        status = clo_job_submit(c.job);
    if (status == CLO_OK)
        status = clo_job_wait(c.job, &result);
    out->interval_ns = (double)(bench_now_ns() - begin_ns) / frames;
    clo_job_destroy(c.job);
    clo_runtime_destroy(c.runtime);
    clo_device_close(c.device);
    clo_plan_destroy(c.plan);
    clo_cost_destroy(c.cost);
    clo_graph_destroy(c.graph);
    clo_platform_destroy(c.platform);
    return status == CLO_OK || bench_fail("camera");
}
