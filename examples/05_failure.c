/* 05_failure.c - a task fails, another job goes on; a third job is cancelled.
 *
 * A body that returns non-zero ends its job: the first error wins, bodies not yet started are skipped, and
 * clo_job_wait names the task. Nothing of it touches the other jobs of the runtime. */
#define _POSIX_C_SOURCE 200809L
#include <clotho/clotho.h>
#include <stdio.h>
#include <time.h>

enum { TASKS = 300, FAILING = 20 };

static int work(const clo_call *call)
{
    const int *fails_at = call->argument;
    struct timespec pause = {0, 1000000};

    if ((int)call->task == *fails_at)
        return 7;
    return nanosleep(&pause, NULL);
}

/* A chain, so that everything behind the failing task must be skipped. */
static clo_status build(void *fails_at, clo_graph **graph)
{
    clo_task task = {.body = work, .argument = fails_at, .work_ns = 1000000};
    clo_status status = clo_graph_create("chain", graph);

    for (uint32_t i = 0; i < TASKS && status == CLO_OK; i++) {
        status = clo_graph_add_task(*graph, &task, NULL);
        if (status == CLO_OK && i > 0)
            status = clo_graph_add_edge(*graph, i - 1, i, 0);
    }
    return status == CLO_OK ? clo_graph_seal(*graph) : status;
}

/* Returns true if all three jobs end as they must. */
static bool show(clo_job *failing, clo_job *good, clo_job *cancelled)
{
    clo_job_result result = CLO_JOB_RESULT_INIT;
    bool is_right = clo_job_wait(failing, &result) == CLO_ERR_TASK && result.failed_task == FAILING &&
                    result.failed_code == 7 && result.executed <= FAILING + 1;

    printf("failing job:   %s\n", clo_last_error());
    is_right = clo_job_submit(cancelled) == CLO_OK && is_right;
    nanosleep(&(struct timespec){0, 30000000}, NULL); /* let it get going */
    clo_job_cancel(cancelled);
    is_right = clo_job_wait(cancelled, &result) == CLO_ERR_CANCELLED && result.executed < TASKS && is_right;
    printf("cancelled job: %llu of %d tasks had run\n", (unsigned long long)result.executed, TASKS);
    is_right = clo_job_wait(good, &result) == CLO_OK && result.executed == TASKS && is_right;
    printf("good job:      %llu of %d tasks ran\n", (unsigned long long)result.executed, TASKS);
    return is_right;
}

int main(void)
{
    int fails_at = FAILING, never = -1;
    clo_graph *bad_graph = NULL, *good_graph = NULL;
    clo_platform *platform = NULL;
    clo_cost *bad_cost = NULL, *good_cost = NULL;
    clo_runtime *runtime = NULL;
    clo_job *failing = NULL, *good = NULL, *cancelled = NULL;
    bool is_right = false;

    if (build(&fails_at, &bad_graph) || build(&never, &good_graph) || clo_platform_open("native", &platform) ||
        clo_cost_create(bad_graph, platform, &bad_cost) || clo_cost_create(good_graph, platform, &good_cost) ||
        clo_runtime_create(platform, NULL, &runtime) || clo_job_create(runtime, bad_cost, NULL, &failing) ||
        clo_job_create(runtime, good_cost, NULL, &good) || clo_job_create(runtime, good_cost, NULL, &cancelled) ||
        clo_job_submit(failing) || clo_job_submit(good))
        fprintf(stderr, "failure: %s\n", clo_last_error());
    else
        is_right = show(failing, good, cancelled);
    clo_job_destroy(cancelled);
    clo_job_destroy(good);
    clo_job_destroy(failing);
    clo_runtime_destroy(runtime);
    clo_cost_destroy(good_cost);
    clo_cost_destroy(bad_cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(good_graph);
    clo_graph_destroy(bad_graph);
    return is_right ? 0 : 1;
}
