/* 08_handles.c - data in place: tasks say what they read, write and update; who waits for whom follows from that. A
 * module smooths a signal in two halves and measures it; the graph takes it in twice, once for each channel. No edge
 * is added by hand and no byte is copied: every task works in the buffer of its handle. */
#include <clotho/clotho.h>
#include <stdio.h>

enum { SAMPLES = 4096, BYTES = SAMPLES * sizeof(int32_t) };

static int32_t signals[2][SAMPLES]; /* ours: the tasks work in it */

/* Two instances, each for its own part. */
static int smooth(const clo_call *call)
{
    int32_t *signal = call->data[0];
    uint32_t part = SAMPLES / call->instances;

    for (uint32_t i = call->instance * part; i < (call->instance + call->count) * part; i += 2)
        signal[i] = signal[i + 1] = (signal[i] + signal[i + 1]) / 2;
    return 0;
}

static int measure(const clo_call *call)
{
    const int32_t *signal = call->data[0];
    int64_t *mean = call->data[1], sum = 0;

    for (int i = 0; i < SAMPLES; i++)
        sum += signal[i];
    *mean = sum / SAMPLES;
    return 0;
}

/* One task with up to two handles. */
static clo_status add(clo_graph *graph, clo_task task, uint32_t first, uint32_t mode, uint32_t second, uint32_t mode2)
{
    uint32_t id;
    clo_status status = clo_graph_add_task(graph, &task, &id);

    if (status == CLO_OK)
        status = clo_graph_add_access(graph, id, first, mode);
    return status == CLO_OK && mode2 != 0 ? clo_graph_add_access(graph, id, second, mode2) : status;
}

/* A signal that has content already (kept) is smoothed and measured. */
static clo_status build_module(clo_graph *module)
{
    clo_task smoothing = {.name = "smooth", .body = smooth, .instances = 2, .work_ns = 8000};
    clo_task measuring = {.name = "measure", .body = measure, .work_ns = 5000};

    if (clo_graph_add_handle(module, &(clo_handle){.name = "signal", .bytes = BYTES, .kept = 1}, NULL) ||
        clo_graph_add_handle(module, &(clo_handle){.name = "mean", .bytes = sizeof(int64_t)}, NULL) ||
        add(module, smoothing, 0, CLO_ACCESS_UPDATE | CLO_ACCESS_PARTS, 0, 0) ||
        add(module, measuring, 0, CLO_ACCESS_READ, 1, CLO_ACCESS_WRITE))
        return CLO_ERR_STATE;
    return clo_graph_seal(module);
}

static clo_status build(clo_graph *graph, const clo_graph *module)
{
    uint32_t channels[2][2]; /* signal and mean, in the order of the module's handles */

    for (int c = 0; c < 2; c++) {
        clo_handle signal = {.name = "signal", .bytes = BYTES, .address = signals[c]};
        if (clo_graph_add_handle(graph, &signal, &channels[c][0]) ||
            clo_graph_add_handle(graph, &(clo_handle){.name = "mean", .bytes = sizeof(int64_t)}, &channels[c][1]) ||
            clo_graph_add_module(graph, module, channels[c], NULL))
            return CLO_ERR_STATE;
    }
    return clo_graph_seal(graph);
}

int main(void)
{
    clo_graph *module = NULL, *graph = NULL;
    clo_platform *platform = NULL;
    clo_cost *cost = NULL;
    clo_runtime *runtime = NULL;
    clo_job *job = NULL;

    for (int i = 0; i < 2 * SAMPLES; i++)
        signals[i / SAMPLES][i % SAMPLES] = (i < SAMPLES ? 1000 : 3000) + (i % 2 == 0 ? 100 : -100);
    if (clo_graph_create("channel", &module) || clo_graph_create("two channels", &graph) || build_module(module) ||
        build(graph, module) || clo_platform_open("native", &platform) || clo_cost_create(graph, platform, &cost) ||
        clo_runtime_create(platform, NULL, &runtime) || clo_job_create(runtime, cost, NULL, &job) ||
        clo_job_submit(job) || clo_job_wait(job, NULL))
        return fprintf(stderr, "handles: %s\n", clo_last_error()), 1;
    const int64_t *left = clo_job_data(job, 1, NULL), *right = clo_job_data(job, 3, NULL);
    printf("%u tasks, %u edges, means %lld and %lld\n", clo_graph_tasks(graph), clo_graph_edges(graph),
           (long long)*left, (long long)*right);
    int result = *left == 1000 && *right == 3000 ? 0 : 1;
    clo_job_destroy(job);
    clo_runtime_destroy(runtime);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
    clo_graph_destroy(module);
    return result;
}
