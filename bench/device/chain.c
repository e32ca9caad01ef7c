/* chain.c - see chain.h. */
#include "device/chain.h"

#include "common/platform.h"

#include <clotho/device.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 1 << 19 }; /* 2 MiB */

static const char program[] = "__kernel void add_one(__global uint *a) { a[get_global_id(0)] += 1; }\n";

/* What an accelerator behind a bus takes, for the driver "null". */
static const char bus[] = "copy_ns=5000,MBps=3000,depth=2,keep=1";

typedef struct chain {
    clo_driver driver;
    clo_platform *platform;
    clo_device *device;
    clo_graph *graph;
    clo_cost *cost;
    clo_runtime *runtime;
    clo_job *job;
    clo_kernel kernel;
    clo_operand operand;
} chain;

static void add_one(void *const *operands, const size_t *bytes, uint32_t count, const clo_scalar *scalars)
{
    uint32_t *words = operands[0];

    (void)count;
    (void)scalars;
    for (size_t w = 0; w < bytes[0] / sizeof *words; w++)
        words[w]++;
}

static clo_status open_device(chain *c, const char *driver, bool keeps)
{
    static const clo_host_kernel kernel = {.name = "add_one", .run = add_one, .takes_ns = 100000};
    clo_device_config config = CLO_DEVICE_CONFIG_INIT;

    config.program = program;
    config.host_kernels = &kernel;
    config.host_kernels_count = 1;
    c->driver = *clo_driver_find(driver);
    c->driver.keeps = keeps;
    clo_status status = clo_device_open(&c->driver, strcmp(driver, "null") == 0 ? bus : "", &config, &c->device);
    return status == CLO_OK ? clo_device_find(c->device, kernel.name, &c->kernel.function) : status;
}

static clo_status make_platform(clo_platform **out)
{
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    const clo_executor slot = {.os_index = CLO_OS_SLOT_DEEP(3), .speed_q16 = {65536, 65536, 65536, 65536}};

    desc.executors_count = 1;
    desc.executors = &slot;
    desc.kinds_count = 1;
    return clo_platform_create(&desc, out);
}

static clo_status make_graph(chain *c, uint32_t kernels, void *words)
{
    const clo_task task = {.work_ns = 1000, .may_pend = 1};
    uint32_t kind;
    clo_status status = clo_graph_create("chain", &c->graph);

    c->operand = (clo_operand){
        .source = CLO_OPERAND_MEMORY, .mode = CLO_ACCESS_UPDATE, .address = words, .bytes = WORDS * sizeof(uint32_t)};
    c->kernel = (clo_kernel){.size = sizeof c->kernel,
                             .device = c->device,
                             .function = c->kernel.function,
                             .operands = &c->operand,
                             .operands_count = 1,
                             .global = {WORDS}};
    if (status == CLO_OK)
        status = clo_graph_kind(c->graph, "k0", &kind);
    for (uint32_t t = 0; t < kernels && status == CLO_OK; t++) {
        status = clo_graph_add_task(c->graph, &task, NULL);
        if (status == CLO_OK)
            status = clo_graph_set_kernel(c->graph, t, kind, &c->kernel);
        if (status == CLO_OK && t > 0)
            status = clo_graph_add_edge(c->graph, t - 1, t, 0);
    }
    return status == CLO_OK ? clo_graph_seal(c->graph) : status;
}

static clo_status make(chain *c, const char *driver, bool keeps, uint32_t kernels, uint32_t *words)
{
    clo_job_config job = CLO_JOB_CONFIG_INIT;
    clo_status status = open_device(c, driver, keeps);

    if (status == CLO_OK)
        status = make_platform(&c->platform);
    if (status == CLO_OK)
        status = make_graph(c, kernels, words);
    if (status == CLO_OK)
        status = clo_device_prepare(c->device, c->graph);
    if (status == CLO_OK)
        status = clo_cost_create(c->graph, c->platform, &c->cost);
    if (status == CLO_OK)
        status = clo_runtime_create(c->platform, NULL, &c->runtime);
    return status == CLO_OK ? clo_job_create(c->runtime, c->cost, &job, &c->job) : status;
}

static void drop(chain *c)
{
    clo_job_destroy(c->job);
    clo_runtime_destroy(c->runtime);
    clo_device_close(c->device);
    clo_cost_destroy(c->cost);
    clo_graph_destroy(c->graph);
    clo_platform_destroy(c->platform);
}

bool chain_run(const char *driver, bool keeps, uint32_t kernels, chain_result *out)
{
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_device_stats before = CLO_DEVICE_STATS_INIT, after = CLO_DEVICE_STATS_INIT;
    uint32_t *words = calloc(WORDS, sizeof *words);
    chain c = {.driver = {0}};
    clo_status status = words != NULL ? make(&c, driver, keeps, kernels, words) : CLO_ERR_MEMORY;

    for (int run = 0; run < 2 && status == CLO_OK; run++) {
        status = clo_device_get_stats(c.device, &before);
        if (status == CLO_OK)
            status = clo_job_submit(c.job);
        if (status == CLO_OK)
            status = clo_job_wait(c.job, &result);
    }
    if (status == CLO_OK)
        status = clo_device_get_stats(c.device, &after);
    bool is_right = status == CLO_OK && words[0] == 2 * kernels && words[WORDS - 1] == 2 * kernels;
    *out = (chain_result){(double)result.makespan_ns / kernels,
                          (after.put_bytes + after.get_bytes - before.put_bytes - before.get_bytes) / kernels};
    drop(&c);
    free(words);
    if (status == CLO_OK && !is_right)
        fprintf(stderr, "bench-device: a chain of kernels gives a wrong result\n");
    return is_right || (status != CLO_OK && bench_fail(driver));
}
