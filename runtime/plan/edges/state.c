/* state.c - see state.h. */
#include "plan/edges/state.h"

#include "base/carve.h"
#include "base/status.h"

#include <string.h>

enum { UNITS_LOG2 = 4, SHARE_LOG2 = 12 };

/* 2^time_shift ns is the power of two below a sixteenth of the mean time. */
static void choose_unit(clo_edges_room *room)
{
    const clo_rcpsp *problem = &room->problem;
    uint64_t mean = 0;

    for (uint32_t v = 0; v < problem->tasks; v++)
        mean += (uint64_t)clo_rcpsp_fastest_ns(problem, v) / problem->tasks;
    for (mean >>= UNITS_LOG2; mean > 1; mean >>= 1)
        room->time_shift++;
}

static bool allocate(clo_edges_room *room)
{
    size_t n = room->problem.tasks, edges = (size_t)room->problem.graph->edges + CLO_EDGES_MAX;
    clo_block block = {0};

    clo_carve(&block, &room->share, n);
    clo_carve(&block, &room->row_of, n);
    clo_carve(&block, &room->child_begin, n + 1);
    clo_carve(&block, &room->children, edges);
    clo_carve(&block, &room->job_of, n);
    clo_carve(&block, &room->rows, n);
    clo_carve(&block, &room->features, n * CLO_EDGES_FEATURES);
    clo_carve(&block, &room->prior, n);
    room->block = clo_block_allocate(&block);
    return room->block != NULL;
}

static clo_status check(const clo_cost *cost)
{
    if (cost->graph->instances != cost->graph->tasks)
        return clo_fail(CLO_ERR_UNSUPPORTED, "a task has several instances; edges are added between single tasks");
    if (cost->graph->tasks > CLO_EDGES_TASKS_MAX)
        return clo_fail(CLO_ERR_LIMIT, "the graph has %u tasks; edges are added to %d at most", cost->graph->tasks,
                        CLO_EDGES_TASKS_MAX);
    return CLO_OK;
}

clo_status clo_edges_room_open(clo_edges_room *room, const clo_cost *cost, clo_edges_rule rule)
{
    *room = (clo_edges_room){0};
    clo_status status = check(cost);

    if (status != CLO_OK)
        return status;
    status = clo_rcpsp_open(&room->problem, cost);
    if (status == CLO_ERR_UNSUPPORTED)
        return clo_fail(status, "this is no packing: data cost time, or executors of a machine differ; edges are "
                                "added to packings");
    if (status == CLO_OK)
        status = clo_list_builder_open(&room->builder, &room->problem, rule);
    if (status == CLO_OK && !allocate(room))
        status = clo_fail_memory("a plan");
    if (status != CLO_OK) {
        clo_edges_room_close(room);
        return status;
    }
    choose_unit(room);
    for (uint32_t v = 0; v < room->problem.tasks; v++)
        room->share[v] = (int32_t)(room->problem.weight[v] < 16384 ? room->problem.weight[v] : 16384) << 2;
    return CLO_OK;
}

void clo_edges_room_close(clo_edges_room *room)
{
    clo_free(room->block);
    clo_list_builder_close(&room->builder);
    clo_rcpsp_close(&room->problem);
    *room = (clo_edges_room){0};
}

clo_status clo_edges_state_open(clo_edges_state *state, const clo_edges_room *room)
{
    uint32_t n = room->problem.tasks, words = clo_closure_words(n);
    clo_block block = {0};

    *state = (clo_edges_state){.closure = {.tasks = n, .words = words}};
    clo_carve(&block, &state->closure.reach, (size_t)n * words);
    clo_carve(&block, &state->closure.above, (size_t)n * words);
    clo_carve(&block, &state->plan.tail_ns, n);
    clo_carve(&block, &state->plan.by_key, n);
    clo_carve(&block, &state->plan.ready_ns, n);
    clo_carve(&block, &state->plan.start_ns, n);
    clo_carve(&block, &state->plan.machine, n);
    clo_carve(&block, &state->plan.order, n);
    state->block = clo_block_allocate(&block);
    return state->block == NULL ? clo_fail_memory("a plan") : CLO_OK;
}

void clo_edges_state_close(clo_edges_state *state)
{
    clo_free(state->block);
    state->block = NULL;
}

void clo_edges_state_clear(clo_edges_state *state, clo_edges_room *room)
{
    state->added.count = 0;
    clo_closure_fill(&state->closure, room->problem.graph);
    clo_list_begin(&room->builder, &state->plan);
    clo_edges_state_build(state, room);
}

void clo_edges_state_copy(clo_edges_state *to, const clo_edges_state *from)
{
    size_t n = from->closure.tasks;

    clo_closure_copy(&to->closure, &from->closure);
    to->added.count = from->added.count;
    memcpy(to->added.from, from->added.from, from->added.count * sizeof(uint32_t));
    memcpy(to->added.to, from->added.to, from->added.count * sizeof(uint32_t));
    to->plan.makespan_ns = from->plan.makespan_ns;
    memcpy(to->plan.tail_ns, from->plan.tail_ns, n * sizeof(int64_t));
    memcpy(to->plan.by_key, from->plan.by_key, n * sizeof(uint32_t));
    memcpy(to->plan.ready_ns, from->plan.ready_ns, n * sizeof(int64_t));
    memcpy(to->plan.start_ns, from->plan.start_ns, n * sizeof(int64_t));
    memcpy(to->plan.machine, from->plan.machine, n * sizeof(uint32_t));
    memcpy(to->plan.order, from->plan.order, n * sizeof(uint32_t));
}

bool clo_edges_state_add(clo_edges_state *state, clo_edges_room *room, uint32_t from, uint32_t to)
{
    clo_added_edges *added = &state->added;

    if (added->count == CLO_EDGES_MAX || !clo_closure_may_add(&state->closure, from, to))
        return false;
    clo_closure_add(&state->closure, from, to);
    added->from[added->count] = from;
    added->to[added->count++] = to;
    clo_list_extend(&room->builder, added, &state->plan);
    return true;
}
