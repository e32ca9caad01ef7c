/* 10_branch.c - a pipeline with a mode switch: "detect" says whether a frame goes through the cheap or the exact
 * tracker; the other one is skipped, and "report" is a merge that takes what there is. */
#include <clotho/clotho.h>
#include <stdio.h>

enum { CHEAP = 0, EXACT = 1, FRAMES = 4 };

static int frame;

static int detect(const clo_call *call)
{
    *call->arm = frame % 2 == 0 ? CHEAP : EXACT;
    return 0;
}

static int cheap(const clo_call *call)
{
    *(int *)call->output = 100 + frame;
    return 0;
}

static int exact(const clo_call *call)
{
    *(int *)call->output = 200 + frame;
    return 0;
}

/* One of its inputs is NULL: that of the arm that was skipped. */
static int report(const clo_call *call)
{
    const int *found = call->inputs[0] != NULL ? call->inputs[0] : call->inputs[1];

    printf("frame %d: %s tracker, %d\n", frame, call->inputs[0] != NULL ? "cheap" : "exact", *found);
    return *found == (frame % 2 == 0 ? 100 : 200) + frame ? 0 : 1;
}

static clo_status make_graph(clo_graph **graph)
{
    static const clo_task tasks[] = {
        {.name = "detect", .body = detect, .work_ns = 1000},
        {.name = "cheap", .body = cheap, .work_ns = 2000, .output_bytes = sizeof(int)},
        {.name = "exact", .body = exact, .work_ns = 9000, .output_bytes = sizeof(int)},
        {.name = "report", .body = report, .work_ns = 500},
    };
    static const uint32_t chances[] = {CLO_CHANCES_ONE * 3 / 4, CLO_CHANCES_ONE / 4};

    if (clo_graph_create("switch", graph) || clo_graph_add_tasks(*graph, tasks, 4, NULL) ||
        clo_graph_set_branch(*graph, 0, 2, chances) || clo_graph_add_arm(*graph, 0, 1, 0, CHEAP) ||
        clo_graph_add_arm(*graph, 0, 2, 0, EXACT) || clo_graph_add_edge(*graph, 1, 3, sizeof(int)) ||
        clo_graph_add_edge(*graph, 2, 3, sizeof(int)) || clo_graph_set_merge(*graph, 3))
        return CLO_ERR_ARGUMENT;
    return clo_graph_seal(*graph);
}

int main(void)
{
    clo_platform *platform = NULL;
    clo_runtime *runtime = NULL;
    clo_graph *graph = NULL;
    clo_cost *cost = NULL;
    clo_job *job = NULL;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_status status = CLO_OK;

    if (clo_platform_open("native", &platform) || clo_runtime_create(platform, NULL, &runtime) || make_graph(&graph) ||
        clo_cost_create(graph, platform, &cost) || clo_job_create(runtime, cost, NULL, &job))
        return fprintf(stderr, "branch: %s\n", clo_last_error()), 1;
    for (frame = 0; frame < FRAMES && status == CLO_OK; frame++) {
        status = clo_job_submit(job) == CLO_OK ? clo_job_wait(job, &result) : CLO_ERR_STATE;
        if (status != CLO_OK || result.skipped != 1)
            return fprintf(stderr, "branch: %s\n", clo_last_error()), 1;
    }
    clo_job_destroy(job);
    clo_cost_destroy(cost);
    clo_graph_destroy(graph);
    clo_runtime_destroy(runtime);
    clo_platform_destroy(platform);
    return 0;
}
