/* edges.c - the object of steps.h: one state. */
#include "plan/edges/state.h"

#include "base/memory.h"
#include "base/status.h"

#include <assert.h>

struct clo_edges {
    clo_edges_room room;
    clo_edges_state state;
    /* As it was before the last edge. */
    clo_edges_state before;
};

clo_status clo_edges_create(const clo_cost *cost, clo_edges_rule rule, clo_edges **out)
{
    clo_edges *edges = clo_allocate(1, sizeof *edges);

    if (edges == NULL)
        return clo_fail_memory("added edges");
    clo_status status = clo_edges_room_open(&edges->room, cost, rule);
    if (status == CLO_OK)
        status = clo_edges_state_open(&edges->state, &edges->room);
    if (status == CLO_OK)
        status = clo_edges_state_open(&edges->before, &edges->room);
    if (status != CLO_OK) {
        clo_edges_destroy(edges);
        return status;
    }
    clo_edges_state_clear(&edges->state, &edges->room);
    *out = edges;
    return CLO_OK;
}

void clo_edges_destroy(clo_edges *edges)
{
    if (edges == NULL)
        return;
    clo_edges_state_close(&edges->state);
    clo_edges_state_close(&edges->before);
    clo_edges_room_close(&edges->room);
    clo_free(edges);
}

int64_t clo_edges_makespan_ns(const clo_edges *edges)
{
    return edges->state.plan.makespan_ns;
}

void clo_edges_starts(clo_edges *edges, clo_edges_view *out)
{
    clo_edges_view_starts(&edges->state, &edges->room, out);
}

void clo_edges_ends(clo_edges *edges, uint32_t start, clo_edges_view *out)
{
    assert(start < edges->room.problem.tasks);
    clo_edges_view_ends(&edges->state, &edges->room, edges->state.plan.order[start], out);
}

clo_status clo_edges_add(clo_edges *edges, uint32_t start, uint32_t end)
{
    assert(start < edges->room.problem.tasks && end < edges->room.problem.tasks);
    if (edges->state.added.count == CLO_EDGES_MAX)
        return clo_fail(CLO_ERR_LIMIT, "clo_edges_add: %d edges were added; there is room for no more", CLO_EDGES_MAX);
    uint32_t from = edges->state.plan.order[start], to = edges->state.plan.order[end];
    if (!clo_closure_may_add(&edges->state.closure, from, to))
        return clo_fail(CLO_ERR_ARGUMENT,
                        "clo_edges_add: an edge from row %u to row %u closes a circle, or is there already", start,
                        end);
    clo_edges_state_copy(&edges->before, &edges->state);
    (void)clo_edges_state_add(&edges->state, &edges->room, from, to);
    clo_edges_state_build(&edges->state, &edges->room);
    return CLO_OK;
}

void clo_edges_undo(clo_edges *edges)
{
    clo_edges_state_copy(&edges->state, &edges->before);
}
