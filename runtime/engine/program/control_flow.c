/* control_flow.c - see control_flow.h. */
#include "engine/program/control_flow.h"

#include "base/carve.h"
#include "base/numbers/rng.h"
#include "base/status.h"
#include "graph/control_flow.h"

clo_status clo_control_flow_create(clo_control_flow *control_flow, const clo_graph *graph, uint64_t seed,
                                   clo_arena *arena)
{
    clo_block block = {0};

    *control_flow = (clo_control_flow){.seed = seed};
    if (graph->control_flow == NULL)
        return CLO_OK;
    clo_carve(&block, &control_flow->arm, graph->tasks);
    clo_carve(&block, &control_flow->skipped, graph->tasks);
    if (!clo_block_take(&block, arena))
        return clo_fail_memory("the branches of a job");
    control_flow->graph = graph;
    return CLO_OK;
}

bool clo_control_flow_settle(clo_control_flow *control_flow, uint32_t task)
{
    const clo_graph *graph = control_flow->graph;

    if (graph == NULL)
        return false;
    uint32_t dead = 0, alive = 0;
    for (uint32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++)
        if (graph->control_flow->in_arm[k] != CLO_ARM_ORDER) {
            bool is_dead = clo_control_flow_is_dead(control_flow, k);
            dead += is_dead;
            alive += !is_dead;
        }
    bool is_skipped = dead > 0 && (alive == 0 || !graph->control_flow->is_merge[task]);
    clo_mark_set(&control_flow->skipped[task], is_skipped);
    return is_skipped;
}

/* The same on every machine and in every driver, whatever ran before. */
static uint32_t draw(const clo_control_flow *control_flow, uint32_t task, const clo_graph_branch_row *row)
{
    uint64_t word = clo_mix64(control_flow->seed * 0x9e3779b97f4a7c15u + task);
    uint32_t point = (uint32_t)(word >> 32) % CLO_CHANCES_ONE, arm = 0;

    if (row->chance == CLO_NONE)
        return (uint32_t)(((word >> 32) * row->arms) >> 32);
    const uint32_t *chances = control_flow->graph->control_flow->chances + row->chance;
    while (arm + 1 < row->arms && point >= chances[arm]) /* they add up to more than any point */
        point -= chances[arm++];
    return arm;
}

int clo_control_flow_choose(clo_control_flow *control_flow, uint32_t task, uint32_t arm)
{
    const clo_graph_control_flow *of = control_flow->graph->control_flow;
    const clo_graph_branch_row *row = &of->branches[of->branch_of[task]];

    if (arm == CLO_NONE)
        arm = draw(control_flow, task, row);
    control_flow->arm[task] = arm < row->arms ? arm : CLO_NONE;
    if (arm < row->arms)
        return 0;
    return row->bound > 0 && arm == CLO_LOOP_AGAIN ? CLO_FAILED_BOUND : CLO_FAILED_ARM;
}

clo_status clo_control_flow_fail_task(const clo_graph *graph, uint32_t task, int code)
{
    char scratch[16];
    const char *name = clo_graph_task_name(graph, task, scratch);

    if (code == CLO_FAILED_BOUND && clo_graph_bound(graph, task) > 0)
        return clo_fail(CLO_ERR_TASK,
                        "task '%s' (%u) wants another iteration after all %u of its loop; raise "
                        "clo_loop.bound",
                        name, task, clo_graph_bound(graph, task));
    if (code == CLO_FAILED_ARM && clo_graph_arms(graph, task) > 0)
        return clo_fail(CLO_ERR_TASK, "task '%s' (%u) chose an arm that it does not have; its arms go from 0 to %u",
                        name, task, clo_graph_arms(graph, task) - 1);
    if (code == CLO_FAILED_THROWN)
        return clo_fail(CLO_ERR_TASK, "an exception has left the body of task '%s' (%u); catch it in the body", name,
                        task);
    if (code == CLO_FAILED_EXITED)
        return clo_fail(CLO_ERR_TASK,
                        "the body of task '%s' (%u) has called pthread_exit, or its thread was cancelled; "
                        "return from the body",
                        name, task);
    if (code == CLO_PENDING)
        return clo_fail(
            CLO_ERR_TASK,
            "task '%s' (%u) returned CLO_PENDING without a token; set clo_task.may_pend, run it on workers, and "
            "call clo_token_take in the body",
            name, task);
    return clo_fail(CLO_ERR_TASK, "task '%s' failed with %d", name, code);
}
