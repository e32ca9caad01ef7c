/* 15_device.c - an accelerator as an executor: frames are read and tracked on CPUs, and what is on them is detected on an
 * NPU or, slower, on a CPU. The plan decides where; while the NPU works, CPUs run other tasks.
 *
 *     example-15_device examples/15_npu.xml
 *
 * The NPU stands behind two pipes, as one stands behind a character device: a request goes in, and its number comes out
 * when it is done. It is simulated by a thread that takes 4 ms a request. */
#define _POSIX_C_SOURCE 200809L
#include <clotho/clotho.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
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

/* ---- the driver ---- */

typedef struct request {
    const picture *frame;
    uint64_t *found;
    clo_token token;
} request;

static struct npu {
    int requests[2], done[2];
    request table[FRAMES];
    uint32_t served;
    pthread_t device, driver;
} npu;

/* The body on executors of kind "npu": it starts the operation, and the worker goes on. */
static int start_detection(const clo_call *call)
{
    uint32_t number = (uint32_t)(uintptr_t)call->argument;
    request *r = &npu.table[number];

    r->frame = call->inputs[0];
    r->found = call->output;
    if (clo_token_take(call, NULL, NULL, &r->token) != CLO_OK)
        return 1;
    return write(npu.requests[1], &number, sizeof number) == sizeof number ? CLO_PENDING : 2;
}

/* One thread for the device: what is done ends the execution. */
static void *drive(void *unused)
{
    uint32_t number;

    while (read(npu.done[0], &number, sizeof number) == sizeof number) /* until the device is closed */
        npu.served += clo_token_complete(npu.table[number].token, 0) == CLO_OK;
    return unused;
}

/* ---- the device, which would be hardware ---- */

static void *work(void *unused)
{
    const struct timespec takes = {.tv_nsec = NPU_NS};
    uint32_t number;

    while (read(npu.requests[0], &number, sizeof number) == sizeof number) {
        nanosleep(&takes, NULL);
        *npu.table[number].found = detect(npu.table[number].frame);
        if (write(npu.done[1], &number, sizeof number) != sizeof number)
            break;
    }
    close(npu.done[1]);
    return unused;
}

static int open_npu(void)
{
    if (pipe(npu.requests) != 0 || pipe(npu.done) != 0)
        return 1;
    return pthread_create(&npu.device, NULL, work, NULL) != 0 || pthread_create(&npu.driver, NULL, drive, NULL) != 0;
}

static void close_npu(void)
{
    close(npu.requests[1]);
    pthread_join(npu.device, NULL);
    pthread_join(npu.driver, NULL);
}

/* ---- the application ---- */

/* So that the example takes as long on each machine as its times say. */
static void take(int64_t ns)
{
    const struct timespec takes = {.tv_nsec = ns};

    nanosleep(&takes, NULL);
}

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
static clo_status describe(clo_graph *graph, const char *cpu)
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
            status = clo_graph_set_body(graph, ids[1], on_npu, start_detection);
        if (status == CLO_OK)
            status = clo_graph_set_time(graph, ids[1], on_npu, NPU_NS);
    }
    return status == CLO_OK ? clo_graph_seal(graph) : status;
}

/* Plans and runs the frames on the platform; a hash of the results, the makespan and the plan's. */
static clo_status run(const char *spec, uint64_t *hash, double *took_ms, double *planned_ms)
{
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_platform *platform = NULL;
    clo_runtime *runtime = NULL;
    clo_graph *graph = NULL;
    clo_cost *cost = NULL;
    clo_plan *plan = NULL;
    clo_job *job = NULL;
    clo_status status = clo_platform_open(spec, &platform);

    if (status == CLO_OK)
        status = clo_graph_create("frames", &graph);
    if (status == CLO_OK)
        status = describe(graph, clo_platform_kind_name(platform, clo_platform_executor(platform, 0)->kind));
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
    *hash = clo_job_output_hash(job);
    *took_ms = (double)result.makespan_ns / 1e6;
    *planned_ms = plan != NULL ? (double)clo_plan_makespan_ns(plan) / 1e6 : 0;
    clo_runtime_destroy(runtime);
    clo_plan_destroy(plan);
    clo_cost_destroy(cost);
    clo_graph_destroy(graph);
    clo_platform_destroy(platform);
    return status;
}

int main(int argc, char **argv)
{
    uint64_t alone, together;
    double alone_ms, alone_planned_ms, together_ms, together_planned_ms;
    char spec[1024];

    if (argc != 2)
        return fprintf(stderr, "usage: example-15_device examples/15_npu.xml\n"), 2;
    snprintf(spec, sizeof spec, "native+%s", argv[1]);
    if (open_npu() != 0)
        return perror("15_device"), 1;
    clo_status status = run("native", &alone, &alone_ms, &alone_planned_ms);
    if (status == CLO_OK)
        status = run(spec, &together, &together_ms, &together_planned_ms);
    close_npu();
    if (status != CLO_OK)
        return fprintf(stderr, "15_device: %s\n", clo_last_error()), 1;
    printf("CPUs alone    %6.1f ms, planned %6.1f ms\n", alone_ms, alone_planned_ms);
    printf("with the NPU  %6.1f ms, planned %6.1f ms; it has detected %u of %d frames\n", together_ms,
           together_planned_ms, npu.served, FRAMES);
    printf("results       %s\n", alone == together ? "the same bytes" : "NOT THE SAME BYTES");
    return alone != together || npu.served == 0;
}
