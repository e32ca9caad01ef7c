/* control_flow.c - see control_flow.h. */
#include "engine/program/control_flow.h"

#include "base/carve.h"
#include "base/numbers/rng.h"
#include "base/status.h"

clo_status clo_modes_create(clo_modes *modes, const clo_graph *graph, uint64_t seed, clo_arena *arena)
{
    clo_block block = {0};

    *modes = (clo_modes){.seed = seed};
    if (graph->modes == NULL)
        return CLO_OK;
    clo_carve(&block, &modes->arm, graph->tasks);
    clo_carve(&block, &modes->skipped, graph->tasks);
    if (!clo_block_take(&block, arena))
        return clo_fail_memory("the branches of a job");
    modes->graph = graph;
    return CLO_OK;
}

bool clo_modes_settle(clo_modes *modes, uint32_t task)
{
    const clo_graph *graph = modes->graph;

    if (graph == NULL)
        return false;
    uint32_t dead = 0, alive = 0;
    for (uint32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++)
        if (graph->modes->in_arm[k] != CLO_ARM_ORDER) {
            bool is_dead = clo_modes_is_dead(modes, k);
            dead += is_dead;
            alive += !is_dead;
        }
    bool is_skipped = dead > 0 && (alive == 0 || !graph->modes->is_merge[task]);
    clo_mark_set(&modes->skipped[task], is_skipped);
    return is_skipped;
}

/* The same on every machine and in every driver, whatever ran before. */
static uint32_t draw(const clo_modes *modes, uint32_t task, const clo_graph_branch_row *row)
{
    uint64_t word = clo_mix64(modes->seed * 0x9e3779b97f4a7c15u + task);
    uint32_t point = (uint32_t)(word >> 32) % CLO_CHANCES_ONE, arm = 0;

    if (row->chance == CLO_NONE)
        return (uint32_t)(((word >> 32) * row->arms) >> 32);
    const uint32_t *chances = modes->graph->modes->chances + row->chance;
    while (arm + 1 < row->arms && point >= chances[arm]) /* they add up to more than any point */
        point -= chances[arm++];
    return arm;
}

int clo_modes_choose(clo_modes *modes, uint32_t task, uint32_t arm)
{
    const clo_graph_modes *of = modes->graph->modes;
    const clo_graph_branch_row *row = &of->branches[of->branch_of[task]];

    if (arm == CLO_NONE)
        arm = draw(modes, task, row);
    modes->arm[task] = arm < row->arms ? arm : CLO_NONE;
    if (arm < row->arms)
        return 0;
    return row->bound > 0 && arm == CLO_LOOP_AGAIN ? CLO_FAILED_BOUND : CLO_FAILED_ARM;
}

clo_status clo_modes_fail_task(const clo_graph *graph, uint32_t task, int code)
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
    return clo_fail(CLO_ERR_TASK, "task '%s' failed with %d", name, code);
}
