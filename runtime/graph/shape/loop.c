/* loop.c - a loop, unrolled when it is added: copies of the body, one behind the other, and the exit.
 *
 * The condition of each copy is a branch: its arm CLO_LOOP_AGAIN leads to the tasks of the next copy that no edge of
 * the body leads to (the order of handles is no such edge), its arm CLO_LOOP_DONE to the exit. That of the last copy
 * has the arm CLO_LOOP_DONE alone, so there is nothing that another iteration could be. */
#include "graph/shape/branch.h"
#include "graph/shape/module.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/status.h"

#include <clotho/handle.h>

typedef struct unrolling {
    clo_graph *graph;
    const clo_loop *loop;
    /* Id of task 0 of the first copy, and tasks of each. */
    uint32_t first, tasks;
    /* [handles of the body] those of the graph that all copies use. */
    uint32_t *handles;
    /* [tasks] 1: an edge of the body leads there. */
    uint8_t *is_led_to;
    void *block;
} unrolling;

static clo_status check_carried(const clo_loop *loop)
{
    uint32_t tasks = clo_graph_tasks(loop->body);

    for (size_t i = 0; i < loop->carried_count; i++)
        if (loop->carried[i].from >= tasks || loop->carried[i].to >= tasks)
            return clo_fail(CLO_ERR_ARGUMENT, "clo_loop.carried[%zu] (%u -> %u): the body has %u tasks", i,
                            loop->carried[i].from, loop->carried[i].to, tasks);
    return CLO_OK;
}

static clo_status check(const clo_graph *graph, const clo_loop *loop)
{
    if (loop->body == NULL || (loop->carried == NULL && loop->carried_count > 0))
        return clo_fail_null("clo_graph_add_loop", "clo_loop.body, or carried with a count");
    if (loop->body == graph)
        return clo_fail(CLO_ERR_ARGUMENT, "graph \"%.60s\" cannot be a loop of its own", clo_graph_name(graph));
    if (loop->bound == 0 || loop->bound > CLO_LOOP_BOUND_MAX)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_loop.bound is %u; give 1 to %u", loop->bound, CLO_LOOP_BOUND_MAX);
    if (loop->again > CLO_CHANCES_ONE)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_loop.again is %u; give 0 to %u", loop->again, CLO_CHANCES_ONE);
    if (loop->condition >= clo_graph_tasks(loop->body))
        return clo_fail(CLO_ERR_ARGUMENT, "clo_loop.condition is task %u; the body has %u tasks", loop->condition,
                        clo_graph_tasks(loop->body));
    if (clo_graph_arms(loop->body, loop->condition) > 0)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_loop.condition: task %u is a branch of the body; choose another task",
                        loop->condition);
    return check_carried(loop);
}

static uint32_t task_of(const unrolling *u, uint32_t copy, uint32_t task)
{
    return u->first + copy * u->tasks + task;
}

static clo_status take_memory(unrolling *u)
{
    const clo_graph *body = u->loop->body;
    clo_block block = {0};

    clo_carve(&block, &u->handles, clo_graph_handles(body));
    clo_carve(&block, &u->is_led_to, u->tasks);
    u->block = clo_block_allocate(&block);
    return u->block != NULL ? CLO_OK : clo_fail_memory("a loop");
}

/* The first copy is there, so the body is a good one. It has made the new handles, in their order: the other copies
 * take the same. */
static void look_at_body(const unrolling *u, uint32_t handles_before)
{
    const clo_graph *body = u->loop->body;
    const uint32_t *theirs = u->loop->handles;

    for (uint32_t h = 0; h < clo_graph_handles(body); h++)
        u->handles[h] = theirs != NULL && theirs[h] != CLO_NONE ? theirs[h] : handles_before++;
    for (uint32_t e = 0; e < clo_graph_edges_added(body); e++)
        u->is_led_to[clo_graph_edge_as_added(body, e).to] = 1;
}

static clo_status add_copies(const unrolling *u)
{
    const clo_loop *loop = u->loop;
    const uint32_t chances[] = {CLO_CHANCES_ONE - loop->again, loop->again};
    uint32_t handles_before = clo_graph_handles(u->graph);
    clo_status status = CLO_OK;

    for (uint32_t i = 0; i < loop->bound && status == CLO_OK; i++) {
        status = clo_graph_add_module(u->graph, loop->body, i == 0 ? loop->handles : u->handles, NULL);
        if (status == CLO_OK && i == 0)
            look_at_body(u, handles_before);
        uint32_t condition = task_of(u, i, loop->condition);
        if (status == CLO_OK && i + 1 < loop->bound)
            status = clo_graph_set_branch(u->graph, condition, 2, loop->again > 0 ? chances : NULL);
        else if (status == CLO_OK)
            status = clo_graph_set_last(u->graph, condition, loop->bound);
    }
    return status;
}

static bool is_carried_by_condition(const clo_loop *loop, uint32_t task)
{
    for (size_t i = 0; i < loop->carried_count; i++)
        if (loop->carried[i].from == loop->condition && loop->carried[i].to == task)
            return true;
    return false;
}

/* From copy i to the next one. */
static clo_status link_copies(const unrolling *u, uint32_t i)
{
    const clo_loop *loop = u->loop;
    uint32_t condition = task_of(u, i, loop->condition);
    clo_status status = CLO_OK;

    for (size_t c = 0; c < loop->carried_count && status == CLO_OK; c++) {
        const clo_edge *edge = &loop->carried[c];
        uint32_t from = task_of(u, i, edge->from), to = task_of(u, i + 1, edge->to);
        status = from == condition ? clo_graph_add_arm(u->graph, from, to, edge->bytes, CLO_LOOP_AGAIN)
                                   : clo_graph_add_edge(u->graph, from, to, edge->bytes);
    }
    for (uint32_t t = 0; t < u->tasks && status == CLO_OK; t++)
        if (!u->is_led_to[t] && !is_carried_by_condition(loop, t))
            status = clo_graph_add_arm(u->graph, condition, task_of(u, i + 1, t), 0, CLO_LOOP_AGAIN);
    return status;
}

static clo_status add_exit(const unrolling *u, uint32_t *exit)
{
    const clo_task none = {.name = "done"};
    const clo_loop *loop = u->loop;
    clo_status status = clo_graph_add_task(u->graph, loop->exit != NULL ? loop->exit : &none, exit);

    if (status == CLO_OK)
        status = clo_graph_set_merge(u->graph, *exit);
    for (uint32_t i = 0; i < loop->bound && status == CLO_OK; i++)
        status = clo_graph_add_arm(u->graph, task_of(u, i, loop->condition), *exit, loop->exit_bytes, CLO_LOOP_DONE);
    return status;
}

clo_status clo_graph_add_loop(clo_graph *graph, const clo_loop *theirs, uint32_t *first, uint32_t *exit)
{
    if (graph == NULL || theirs == NULL)
        return clo_fail_null("clo_graph_add_loop", "graph or loop");
    clo_loop loop = CLO_LOOP_INIT;
    clo_status status = clo_config_read(&loop, sizeof loop, theirs, "clo_loop");

    if (status == CLO_OK)
        status = check(graph, &loop);
    if (status != CLO_OK)
        return status;
    clo_graph_mark was = clo_graph_look(graph);
    unrolling u = {.graph = graph, .loop = &loop, .first = graph->tasks, .tasks = clo_graph_tasks(loop.body)};
    uint32_t leave = CLO_NONE;
    status = take_memory(&u);
    if (status == CLO_OK)
        status = add_copies(&u);
    for (uint32_t i = 0; i + 1 < loop.bound && status == CLO_OK; i++)
        status = link_copies(&u, i);
    if (status == CLO_OK)
        status = add_exit(&u, &leave);
    clo_free(u.block);
    if (status != CLO_OK) {
        clo_graph_go_back(graph, &was);
        return status;
    }
    if (first != NULL)
        *first = u.first;
    if (exit != NULL)
        *exit = leave;
    return CLO_OK;
}
