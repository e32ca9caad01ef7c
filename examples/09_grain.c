#define _POSIX_C_SOURCE 200809L
/* 09_grain.c - 100 000 tiny bodies in one line: a task with a grain is called for ranges of its instances, so that what
 * scheduling costs is paid once for a range. The same sum is made one by one and in ranges of 1000. */
#include <clotho/clotho.h>
#include <stdio.h>
#include <time.h>

enum { ITEMS = 100000, ROUNDS = 20 };

static int squares[ITEMS];

/* Serves the instances from call->instance on, call->count of them. */
static int square(const clo_call *call)
{
    for (uint32_t i = call->instance; i < call->instance + call->count; i++)
        squares[i] = (int)(i % 1000 * (i % 1000));
    return 0;
}

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Returns the sum of all squares, or -1. */
static long long run(clo_runtime *runtime, const clo_platform *platform, uint32_t grain)
{
    const clo_task task = {.name = "square", .body = square, .instances = ITEMS, .work_ns = 5, .grain = grain};
    clo_graph *graph = NULL;
    clo_cost *cost = NULL;
    clo_job *job = NULL;
    long long sum = -1;

    if (clo_graph_create("squares", &graph) || clo_graph_add_task(graph, &task, NULL) || clo_graph_seal(graph) ||
        clo_cost_create(graph, platform, &cost) || clo_job_create(runtime, cost, NULL, &job)) {
        fprintf(stderr, "grain: %s\n", clo_last_error());
    } else {
        double begin_s = now_s();
        clo_status status = CLO_OK;
        for (int round = 0; round < ROUNDS && status == CLO_OK; round++)
            status = clo_job_submit(job) == CLO_OK ? clo_job_wait(job, NULL) : CLO_ERR_STATE;
        printf("grain %4u: %6u calls, %7.1f us a run\n", grain, clo_graph_ranges(graph, 0),
               (now_s() - begin_s) * 1e6 / (double)ROUNDS);
        sum = 0;
        for (int i = 0; i < ITEMS && status == CLO_OK; i++)
            sum += squares[i];
    }
    clo_job_destroy(job);
    clo_cost_destroy(cost);
    clo_graph_destroy(graph);
    return sum;
}

int main(void)
{
    clo_platform *platform = NULL;
    clo_runtime *runtime = NULL;

    if (clo_platform_open("native", &platform) || clo_runtime_create(platform, NULL, &runtime))
        return fprintf(stderr, "grain: %s\n", clo_last_error()), 1;
    long long one_by_one = run(runtime, platform, 0), in_ranges = run(runtime, platform, 1000);
    printf("sums %lld and %lld\n", one_by_one, in_ranges);
    clo_runtime_destroy(runtime);
    clo_platform_destroy(platform);
    return one_by_one == 33283350000 && in_ranges == one_by_one ? 0 : 1;
}
