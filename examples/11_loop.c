/* 11_loop.c - a loop with a bound: Newton's steps towards a square root run until one changes nothing, ten at most. The
 * graph holds all ten from the start; those that are not needed are skipped. With a bound that is too low the job
 * fails, and says which task wanted more. */
#include <clotho/clotho.h>
#include <stdio.h>

enum { NUMBER = 1000000 };

/* The last value comes from the step before; the first step has none. */
static int step(const clo_call *call)
{
    const int *last = call->inputs_count > 0 ? call->inputs[0] : NULL;
    int x = last != NULL ? *last : NUMBER / 500, next = (x + NUMBER / x) / 2;

    *(int *)call->output = next;
    *call->arm = next == x ? CLO_LOOP_DONE : CLO_LOOP_AGAIN;
    return 0;
}

/* Only the input from the last step that ran is not NULL. */
static int done(const clo_call *call)
{
    for (uint32_t i = 0; i < call->inputs_count; i++)
        if (call->inputs[i] != NULL)
            *(int *)call->argument = *(const int *)call->inputs[i];
    return 0;
}

static clo_status make_graph(uint32_t bound, int *root, clo_graph **graph)
{
    const clo_task body = {.name = "step", .body = step, .work_ns = 1000, .output_bytes = sizeof(int)};
    clo_task last = {.name = "done", .body = done};
    const clo_edge carried = {0, 0, sizeof(int)};
    clo_loop loop = CLO_LOOP_INIT;
    clo_graph *iteration = NULL;
    clo_status status = clo_graph_create("iteration", &iteration);

    if (status == CLO_OK)
        status = clo_graph_add_task(iteration, &body, NULL);
    if (status == CLO_OK)
        status = clo_graph_seal(iteration);
    last.argument = root;
    loop.body = iteration;
    loop.bound = bound;
    loop.carried = &carried;
    loop.carried_count = 1;
    loop.exit = &last;
    loop.exit_bytes = sizeof(int);
    if (status == CLO_OK)
        status = clo_graph_create("root", graph);
    if (status == CLO_OK)
        status = clo_graph_add_loop(*graph, &loop, NULL, NULL);
    clo_graph_destroy(iteration);
    return status == CLO_OK ? clo_graph_seal(*graph) : status;
}

/* Returns the status of the job. */
static clo_status run(clo_runtime *runtime, const clo_platform *platform, uint32_t bound, int *root)
{
    clo_graph *graph = NULL;
    clo_cost *cost = NULL;
    clo_job *job = NULL;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_status status = make_graph(bound, root, &graph);

    if (status == CLO_OK && (clo_cost_create(graph, platform, &cost) || clo_job_create(runtime, cost, NULL, &job)))
        status = CLO_ERR_STATE;
    if (status == CLO_OK)
        status = clo_job_submit(job) == CLO_OK ? clo_job_wait(job, &result) : CLO_ERR_STATE;
    printf("bound %2u: %s\n", bound, status == CLO_OK ? "done" : clo_last_error());
    clo_job_destroy(job);
    clo_cost_destroy(cost);
    clo_graph_destroy(graph);
    return status;
}

int main(void)
{
    clo_platform *platform = NULL;
    clo_runtime *runtime = NULL;
    int root = 0, none = 0;

    if (clo_platform_open("native", &platform) || clo_runtime_create(platform, NULL, &runtime))
        return fprintf(stderr, "loop: %s\n", clo_last_error()), 1;
    clo_status enough = run(runtime, platform, 10, &root), short_of = run(runtime, platform, 2, &none);
    printf("the root of %d is %d\n", NUMBER, root);
    clo_runtime_destroy(runtime);
    clo_platform_destroy(platform);
    return enough == CLO_OK && root == 1000 && short_of == CLO_ERR_TASK ? 0 : 1;
}
