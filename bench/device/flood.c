/* flood.c - see flood.h. */
#define _POSIX_C_SOURCE 200809L
#include "device/flood.h"

#include "common/platform.h"

#include <clotho/device.h>
#include <clotho/planner.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const clo_host_kernel nothing = {.name = "nothing"};

int64_t flood_cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static clo_device_config config_of(const flood_config *config)
{
    return (clo_device_config){.size = sizeof(clo_device_config),
                               .program = config->program,
                               .host_kernels = &nothing,
                               .host_kernels_count = 1,
                               .depth = config->depth};
}

/* The parts of a job, in the order in which they are made. */
typedef struct parts {
    clo_platform *platform;
    clo_device *device;
    clo_graph *graph;
    clo_cost *cost;
    clo_plan *plan;
    clo_runtime *runtime;
    clo_job *job;
} parts;

static void close_parts(parts *p)
{
    clo_job_destroy(p->job);
    clo_runtime_destroy(p->runtime);
    clo_plan_destroy(p->plan);
    clo_device_close(p->device);
    clo_cost_destroy(p->cost);
    clo_graph_destroy(p->graph);
    clo_platform_destroy(p->platform);
}

/* A slot with room for two executions that wait for the device, beside those that it has open. */
static clo_status make_platform(uint32_t depth, clo_platform **out)
{
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    uint32_t deep = depth + 2 < CLO_SLOT_DEPTH_MAX ? depth + 2 : CLO_SLOT_DEPTH_MAX;
    const clo_executor slot = {.os_index = CLO_OS_SLOT_DEEP(deep), .speed_q16 = {65536, 65536, 65536, 65536}};

    desc.executors_count = 1;
    desc.executors = &slot;
    desc.kinds_count = 1;
    return clo_platform_create(&desc, out);
}

static clo_status make_graph(uint32_t kernels, const clo_kernel *kernel, clo_graph **out)
{
    const clo_task task = {.work_ns = 1000, .may_pend = 1};
    uint32_t kind, id;
    clo_status status = clo_graph_create("flood", out);

    if (status == CLO_OK)
        status = clo_graph_kind(*out, "k0", &kind);
    for (uint32_t k = 0; k < kernels && status == CLO_OK; k++) {
        status = clo_graph_add_task(*out, &task, &id);
        if (status == CLO_OK)
            status = clo_graph_set_kernel(*out, id, kind, kernel);
    }
    return status == CLO_OK ? clo_graph_seal(*out) : status;
}

static clo_status make_parts(const flood_config *config, clo_kernel *kernel, parts *p)
{
    const clo_device_config of_device = config_of(config);
    clo_runtime_config of_runtime = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config of_job = CLO_JOB_CONFIG_INIT;
    clo_status status = clo_device_open(clo_driver_find(config->driver), config->selector, &of_device, &p->device);

    of_runtime.slot_workers = 1;
    if (status == CLO_OK)
        status = clo_device_find(p->device, nothing.name, &kernel->function);
    kernel->device = p->device;
    if (status == CLO_OK)
        status = make_platform(config->depth, &p->platform);
    if (status == CLO_OK)
        status = make_graph(config->kernels, kernel, &p->graph);
    if (status == CLO_OK)
        status = clo_device_prepare(p->device, p->graph);
    if (status == CLO_OK)
        status = clo_cost_create(p->graph, p->platform, &p->cost);
    if (status == CLO_OK)
        status = clo_plan_create(p->cost, NULL, &p->plan);
    of_job.plan = p->plan;
    if (status == CLO_OK)
        status = clo_runtime_create(p->platform, &of_runtime, &p->runtime);
    return status == CLO_OK ? clo_job_create(p->runtime, p->cost, &of_job, &p->job) : status;
}

bool flood_through(const flood_config *config, double *ns)
{
    static char data[4096];
    const clo_operand operand = {
        .source = CLO_OPERAND_MEMORY, .mode = CLO_ACCESS_READ, .address = data, .bytes = config->put_bytes};
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_kernel kernel = CLO_KERNEL_INIT;
    parts p = {0};

    kernel.operands_count = config->put_bytes > 0;
    kernel.operands = config->put_bytes > 0 ? &operand : NULL;
    clo_status status = make_parts(config, &kernel, &p);
    for (int run = 0; run < 2 && status == CLO_OK; run++) {
        status = clo_job_submit(p.job);
        if (status == CLO_OK)
            status = clo_job_wait(p.job, &result);
    }
    *ns = (double)result.makespan_ns / config->kernels;
    close_parts(&p);
    return status == CLO_OK || bench_fail(config->driver);
}

/* Launches while a place is free, else polls. */
static clo_status drive(const clo_driver *driver, void *device, uint32_t function, const flood_config *config)
{
    clo_device_call calls[CLO_DEVICE_DEPTH_MAX];
    clo_device_completion done[CLO_DEVICE_DEPTH_MAX];
    uint32_t free_places[CLO_DEVICE_DEPTH_MAX], free_count = config->depth, given = 0, ended = 0;
    clo_device_arena arena;
    clo_status status = CLO_OK;

    for (uint32_t i = 0; i < config->depth && status == CLO_OK; i++) {
        status = driver->reserve(device, 256, &arena);
        calls[i] = (clo_device_call){.function = function, .arena = arena.arena, .global = {1, 1, 1}};
        free_places[i] = i;
    }
    while (ended < config->kernels && status == CLO_OK) { /* each turn launches, or polls until one has ended */
        if (given < config->kernels && free_count > 0) {
            uint32_t place = free_places[--free_count];
            status = driver->launch(device, &calls[place], place);
            given++;
            continue;
        }
        uint32_t count = driver->poll(device, done, CLO_DEVICE_DEPTH_MAX);
        for (uint32_t i = 0; i < count && status == CLO_OK; i++) {
            status = done[i].status;
            free_places[free_count++] = done[i].token;
            ended++;
        }
    }
    return status;
}

bool flood_by_hand(const flood_config *config, double *ns)
{
    const clo_device_config of_device = config_of(config);
    const clo_driver *driver = clo_driver_find(config->driver);
    uint32_t function;
    void *device;
    clo_status status = driver->open(config->selector, &of_device, &device);

    if (status != CLO_OK)
        return bench_fail(config->driver);
    status = driver->find(device, nothing.name, &function);
    if (status == CLO_OK)
        status = drive(driver, device, function, config); /* warms up; its arenas stay */
    driver->close(device);
    if (status == CLO_OK)
        status = driver->open(config->selector, &of_device, &device);
    if (status != CLO_OK)
        return bench_fail(config->driver);
    status = driver->find(device, nothing.name, &function);
    int64_t begin_ns = bench_now_ns();
    if (status == CLO_OK)
        status = drive(driver, device, function, config);
    *ns = (double)(bench_now_ns() - begin_ns) / config->kernels;
    driver->close(device);
    return status == CLO_OK || bench_fail(config->driver);
}
