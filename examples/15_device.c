/* 15_device.c - an accelerator as an executor: frames are read and tracked on CPUs, and what is on them is detected on an
 * NPU or, slower, on a CPU. The plan decides where; while the NPU works, CPUs run other tasks.
 *
 *     example-15_device examples/15_npu.xml
 *
 * The NPU has a driver of its own, a table of functions. It stands behind two pipes, as one stands behind a character
 * device: a request goes in, and its number comes out when it is done. It is simulated by a thread that takes 4 ms a
 * request. In the last run it is lost after three: the rest is done by the kernel's fallback. */
#define _POSIX_C_SOURCE 200809L
#include <clotho/clotho.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { FRAMES = 12, PIXELS = 4096, CPU_NS = 16000000, NPU_NS = 4000000, OTHER_NS = 1500000 };

typedef struct picture {
    uint32_t pixels[PIXELS];
} picture;

static uint64_t detect(const picture *frame)
{
    uint64_t sum = 14695981039346656037u;

    for (int i = 0; i < PIXELS; i++)
        sum = (sum ^ frame->pixels[i]) * 1099511628211u;
    return sum;
}

/* So that the example takes as long on each machine as its times say. */
static void take(int64_t ns)
{
    const struct timespec takes = {.tv_nsec = ns};

    nanosleep(&takes, NULL);
}

/* ---- the device, which would be hardware ---- */

typedef struct request {
    const picture *frame;
    uint64_t *found;
    uint32_t token;
} request;

typedef struct npu {
    int requests[2], done[2];
    uint32_t dies_after;
    pthread_t hardware;
    char *memory;  /* that it shares with the host, as most NPUs do */
    uint32_t open; /* token of its request; CLO_NONE: none */
} npu;

static void *work(void *device)
{
    npu *n = device;
    request r;

    for (uint32_t count = 0; read(n->requests[0], &r, sizeof r) == sizeof r && count < n->dies_after; count++) {
        take(NPU_NS);
        *r.found = detect(r.frame);
        if (write(n->done[1], &r.token, sizeof r.token) != sizeof r.token)
            break;
    }
    close(n->requests[0]);
    close(n->done[1]);
    return NULL;
}

/* ---- its driver ---- */

static clo_status npu_open(const char *selector, const clo_device_config *config, void **out)
{
    static npu npus[3]; /* one a run: real hardware does not come and go */
    static int opened;
    npu *n = &npus[opened++];

    (void)config;
    if (pipe(n->requests) != 0 || pipe(n->done) != 0)
        return clo_device_fail(CLO_ERR_SYSTEM, "npu: no pipes");
    fcntl(n->done[0], F_SETFL, O_NONBLOCK);
    n->dies_after = (uint32_t)strtoul(selector, NULL, 10);
    n->open = CLO_NONE;
    if (pthread_create(&n->hardware, NULL, work, n) != 0)
        return clo_device_fail(CLO_ERR_SYSTEM, "npu: no thread");
    *out = n;
    return CLO_OK;
}

static void npu_describe(const void *device, clo_device_facts *out)
{
    snprintf(out->name, sizeof out->name, "simulated NPU");
    out->has_fd = 1; /* readable when a request is done, or the device is gone */
    out->fd = ((const npu *)device)->done[0];
}

static clo_status npu_reserve(void *device, size_t bytes, clo_device_arena *out)
{
    npu *n = device;

    free(n->memory);
    n->memory = aligned_alloc(512, (bytes + 511) / 512 * 512);
    out->host = n->memory; /* one memory: no put, no get */
    return n->memory != NULL ? CLO_OK : CLO_ERR_MEMORY;
}

static clo_status npu_launch(void *device, const clo_device_call *call, uint32_t token)
{
    npu *n = device;
    request r = {(const picture *)(void *)(n->memory + call->offsets[0]),
                 (uint64_t *)(void *)(n->memory + call->offsets[1]), token};

    n->open = token;
    return write(n->requests[1], &r, sizeof r) == sizeof r ? CLO_OK
                                                           : clo_device_fail(CLO_ERR_SYSTEM, "npu: it is gone");
}

static uint32_t npu_poll(void *device, clo_device_completion *out, uint32_t max)
{
    npu *n = device;
    ssize_t bytes = max > 0 && n->open != CLO_NONE ? read(n->done[0], &n->open, sizeof n->open) : -1;

    if (bytes < 0)
        return 0;
    *out = (clo_device_completion){
        .token = n->open, .status = bytes > 0 ? CLO_OK : CLO_ERR_SYSTEM}; /* 0: its end of the pipe is closed */
    n->open = CLO_NONE;
    return 1;
}

static void npu_close(void *device)
{
    npu *n = device;

    close(n->requests[1]);
    pthread_join(n->hardware, NULL);
    close(n->done[0]);
    free(n->memory);
}

static const clo_driver npu_driver = {.name = "npu",
                                      .summary = "an NPU behind two pipes",
                                      .size = sizeof(clo_driver),
                                      .open = npu_open,
                                      .describe = npu_describe,
                                      .reserve = npu_reserve,
                                      .launch = npu_launch,
                                      .poll = npu_poll,
                                      .close = npu_close};

/* ---- the application ---- */

static int read_frame(const clo_call *call)
{
    picture *frame = call->output;

    take(OTHER_NS);
    for (uint32_t i = 0; i < PIXELS; i++)
        frame->pixels[i] = i * 2654435761u + (uint32_t)(uintptr_t)call->argument;
    return 0;
}

static int detect_here(const clo_call *call)
{
    take(CPU_NS);
    *(uint64_t *)call->output = detect(call->inputs[0]);
    return 0;
}

static int track(const clo_call *call)
{
    take(OTHER_NS);
    *(uint64_t *)call->output = *(const uint64_t *)call->inputs[0] + call->task;
    return 0;
}

/* Tasks without a body for every kind run only where they have one: an NPU cannot read frames. */
static clo_status describe(clo_graph *graph, const char *cpu, const clo_kernel *kernel)
{
    uint32_t on_cpu, on_npu, ids[3];
    clo_status status = clo_graph_kind(graph, cpu, &on_cpu);

    if (status == CLO_OK)
        status = clo_graph_kind(graph, "npu", &on_npu);
    for (uintptr_t f = 0; f < FRAMES && status == CLO_OK; f++) {
        const clo_task tasks[3] = {{.name = "read", .argument = (void *)f, .output_bytes = sizeof(picture)},
                                   {.name = "detect", .argument = (void *)f, .output_bytes = 8, .may_pend = 1},
                                   {.name = "track", .argument = (void *)f, .output_bytes = 8}};
        const clo_task_fn bodies[3] = {read_frame, detect_here, track};
        const int64_t times_ns[3] = {OTHER_NS, CPU_NS, OTHER_NS};
        for (int t = 0; t < 3 && status == CLO_OK; t++) {
            status = clo_graph_add_task(graph, &tasks[t], &ids[t]);
            if (status == CLO_OK)
                status = clo_graph_set_body(graph, ids[t], on_cpu, bodies[t]);
            if (status == CLO_OK)
                status = clo_graph_set_time(graph, ids[t], on_cpu, times_ns[t]);
            if (status == CLO_OK && t > 0)
                status = clo_graph_add_edge(graph, ids[t - 1], ids[t], tasks[t - 1].output_bytes);
        }
        if (status == CLO_OK)
            status = clo_graph_set_kernel(graph, ids[1], on_npu, kernel);
        if (status == CLO_OK)
            status = clo_graph_set_time(graph, ids[1], on_npu, NPU_NS);
    }
    return status == CLO_OK ? clo_graph_seal(graph) : status;
}

/* What a run was. */
typedef struct outcome {
    uint64_t hash;
    double took_ms, planned_ms;
    uint64_t on_npu;
} outcome;

/* Plans and runs the frames on the platform. `dies_after`: requests that the NPU survives; NULL: as its file says. */
static clo_status run(const char *spec, const char *dies_after, outcome *out)
{
    clo_kernel kernel = CLO_KERNEL_INIT;
    clo_device_stats stats = CLO_DEVICE_STATS_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_platform *platform = NULL;
    clo_runtime *runtime = NULL;
    clo_graph *graph = NULL;
    clo_cost *cost = NULL;
    clo_plan *plan = NULL;
    clo_job *job = NULL;
    clo_status status = clo_platform_open(spec, &platform);

    kernel.fallback = detect_here;
    if (status == CLO_OK && dies_after == NULL) /* the last executor is the NPU's: the file says how it is reached */
        status = clo_device_open_at(platform, clo_platform_executors(platform) - 1, &npu_driver, NULL, &kernel.device);
    else if (status == CLO_OK)
        status = clo_device_open(&npu_driver, dies_after, NULL, &kernel.device);
    if (status == CLO_OK)
        status = clo_device_find(kernel.device, "detect", &kernel.function);
    if (status == CLO_OK)
        status = clo_graph_create("frames", &graph);
    if (status == CLO_OK)
        status = describe(graph, clo_platform_kind_name(platform, clo_platform_executor(platform, 0)->kind), &kernel);
    if (status == CLO_OK)
        status = clo_device_prepare(kernel.device, graph);
    if (status == CLO_OK)
        status = clo_cost_create(graph, platform, &cost);
    if (status == CLO_OK)
        status = clo_plan_create(cost, NULL, &plan);
    if (status == CLO_OK)
        status = clo_plan_check(plan, cost, CLO_CHECK_FULL);
    config.plan = plan;
    if (status == CLO_OK)
        status = clo_runtime_create(platform, NULL, &runtime);
    if (status == CLO_OK)
        status = clo_job_create(runtime, cost, &config, &job);
    if (status == CLO_OK)
        status = clo_job_submit(job);
    if (status == CLO_OK)
        status = clo_job_wait(job, &result);
    if (status == CLO_OK)
        status = clo_device_get_stats(kernel.device, &stats);
    *out = (outcome){.hash = clo_job_output_hash(job),
                     .took_ms = (double)result.makespan_ns / 1e6,
                     .planned_ms = plan != NULL ? (double)clo_plan_makespan_ns(plan) / 1e6 : 0,
                     .on_npu = stats.launched};
    clo_runtime_destroy(runtime);
    clo_device_close(kernel.device);
    clo_plan_destroy(plan);
    clo_cost_destroy(cost);
    clo_graph_destroy(graph);
    clo_platform_destroy(platform);
    return status;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name, *dies_after;
    } runs[] = {{"CPUs alone", "1"}, {"with the NPU", NULL}, {"NPU lost", "4"}}; /* 1: it is tried once */
    outcome first = {0}, now;
    char spec[1024];

    if (argc != 2)
        return fprintf(stderr, "usage: example-15_device examples/15_npu.xml\n"), 2;
    signal(SIGPIPE, SIG_IGN); /* a lost device is an error of write */
    for (int r = 0; r < 3; r++) {
        snprintf(spec, sizeof spec, "native%s%s", r > 0 ? "+" : "", r > 0 ? argv[1] : "");
        if (run(spec, runs[r].dies_after, &now) != CLO_OK)
            return fprintf(stderr, "15_device: %s\n", clo_last_error()), 1;
        first = r == 0 ? now : first;
        printf("%-13s %6.1f ms, planned %6.1f ms; %2d of %d frames detected by the NPU; %s\n", runs[r].name,
               now.took_ms, now.planned_ms, (int)now.on_npu, FRAMES,
               now.hash == first.hash ? "the same bytes" : "NOT THE SAME BYTES");
        if (now.hash != first.hash || (r == 1 && now.on_npu == 0) || (r == 2 && now.on_npu > 3))
            return 1;
    }
    return 0;
}
