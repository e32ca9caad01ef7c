/* 15_device.c - an accelerator as an executor: frames are read and tracked on CPUs, and what is on them is detected on an
 * NPU or, slower, on a CPU. The plan decides where; while the NPU works, CPUs run other tasks.
 *
 *     example-15_device examples/15_npu.xml
 *
 * The NPU stands behind two pipes, as one stands behind a character device: a request goes in, and its number comes out
 * when it is done. It is simulated by a thread that takes 4 ms a request. In the last run it is lost after three: the driver
 * does what was open, and what comes later runs on the CPU. */
#define _POSIX_C_SOURCE 200809L
#include <clotho/clotho.h>

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
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
    bool is_open; /* started, and not done */
} request;

static struct npu {
    int requests[2], done[2];
    request table[FRAMES];
    uint32_t served, dies_after;
    bool is_lost;
    pthread_mutex_t lock; /* of the table and is_lost */
    pthread_t device, driver;
} npu = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The body on executors of kind "npu": it starts the operation, and the worker goes on. Without the device it does what a
 * CPU would do. */
static int start_detection(const clo_call *call)
{
    uint32_t number = (uint32_t)(uintptr_t)call->argument;
    request *r = &npu.table[number];

    pthread_mutex_lock(&npu.lock);
    *r = (request){.frame = call->inputs[0], .found = call->output};
    r->is_open = !npu.is_lost && clo_token_take(call, NULL, NULL, &r->token) == CLO_OK &&
                 write(npu.requests[1], &number, sizeof number) == sizeof number;
    bool is_started = r->is_open;
    pthread_mutex_unlock(&npu.lock);
    if (is_started)
        return CLO_PENDING;
    *(uint64_t *)call->output = detect(call->inputs[0]);
    return 0;
}

static void end_detection(request *r)
{
    r->is_open = false;
    npu.served += clo_token_complete(r->token, 0) == CLO_OK;
}

/* One thread for the device: what is done ends the execution. What a lost device has left is done here. */
static void *drive(void *unused)
{
    uint32_t number;

    while (read(npu.done[0], &number, sizeof number) == sizeof number) { /* until the device is closed, or lost */
        pthread_mutex_lock(&npu.lock);
        end_detection(&npu.table[number]);
        pthread_mutex_unlock(&npu.lock);
    }
    pthread_mutex_lock(&npu.lock);
    npu.is_lost = true;
    for (request *r = npu.table; r < npu.table + FRAMES; r++)
        if (r->is_open) {
            *r->found = detect(r->frame);
            end_detection(r);
            npu.served--;
        }
    pthread_mutex_unlock(&npu.lock);
    return unused;
}

/* ---- the device, which would be hardware ---- */

static void *work(void *unused)
{
    const struct timespec takes = {.tv_nsec = NPU_NS};
    uint32_t number, count = 0;

    while (read(npu.requests[0], &number, sizeof number) == sizeof number && count++ < npu.dies_after) {
        nanosleep(&takes, NULL);
        *npu.table[number].found = detect(npu.table[number].frame);
        if (write(npu.done[1], &number, sizeof number) != sizeof number)
            break;
    }
    close(npu.requests[0]);
    close(npu.done[1]);
    return unused;
}

static int open_npu(uint32_t dies_after)
{
    npu.served = 0;
    npu.dies_after = dies_after;
    npu.is_lost = false;
    if (pipe(npu.requests) != 0 || pipe(npu.done) != 0)
        return 1;
    return pthread_create(&npu.device, NULL, work, NULL) != 0 || pthread_create(&npu.driver, NULL, drive, NULL) != 0;
}

static void close_npu(void)
{
    close(npu.requests[1]);
    pthread_join(npu.device, NULL);
    pthread_join(npu.driver, NULL);
    close(npu.done[0]);
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
    static const struct {
        const char *name;
        uint32_t dies_after;
    } runs[] = {{"CPUs alone", 0}, {"with the NPU", FRAMES}, {"NPU lost", 3}};
    uint64_t hash, first_hash = 0;
    double took_ms, planned_ms;
    char spec[1024];

    if (argc != 2)
        return fprintf(stderr, "usage: example-15_device examples/15_npu.xml\n"), 2;
    signal(SIGPIPE, SIG_IGN); /* a lost device is an error of write */
    for (int r = 0; r < 3; r++) {
        snprintf(spec, sizeof spec, "native%s%s", r > 0 ? "+" : "", r > 0 ? argv[1] : "");
        if (open_npu(runs[r].dies_after) != 0)
            return perror("15_device"), 1;
        clo_status status = run(spec, &hash, &took_ms, &planned_ms);
        close_npu();
        if (status != CLO_OK)
            return fprintf(stderr, "15_device: %s\n", clo_last_error()), 1;
        first_hash = r == 0 ? hash : first_hash;
        printf("%-13s %6.1f ms, planned %6.1f ms; %2u of %d frames detected by the NPU; %s\n", runs[r].name, took_ms,
               planned_ms, npu.served, FRAMES, hash == first_hash ? "the same bytes" : "NOT THE SAME BYTES");
        if (hash != first_hash || (runs[r].dies_after == FRAMES && npu.served == 0) || npu.served > runs[r].dies_after)
            return 1;
    }
    return 0;
}
