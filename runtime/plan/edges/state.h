/* plan/edges/state.h - a packing with added edges: which others may be added, its list schedule, and what a network
 * sees of it. */
#ifndef CLO_PLAN_EDGES_STATE_H
#define CLO_PLAN_EDGES_STATE_H

#include "plan/edges/closure.h"
#include "plan/edges/list.h"
#include "plan/edges/steps.h"

/* What all states of a packing share. One thread at a time. */
typedef struct clo_edges_room {
    clo_rcpsp problem;
    clo_list_builder builder;
    uint32_t time_shift; /* of "log": the unit is 2^time_shift ns                */
    int32_t *share;      /* [tasks] demand, Q12 of a machine                     */
    /* The view: [rows] and [rows + edges + added] */
    uint32_t *row_of, *child_begin, *children, *job_of, *rows;
    int32_t *features, *prior;
    void *block;
} clo_edges_room;

typedef struct clo_edges_state {
    clo_closure closure;
    clo_added_edges added;
    clo_list_plan plan;
    void *block;
} clo_edges_state;

/* CLO_OK, CLO_ERR_UNSUPPORTED, CLO_ERR_LIMIT or CLO_ERR_MEMORY, with a message. */
clo_status clo_edges_room_open(clo_edges_room *room, const clo_cost *cost, clo_edges_rule rule);
void clo_edges_room_close(clo_edges_room *room);

clo_status clo_edges_state_open(clo_edges_state *state, const clo_edges_room *room);
void clo_edges_state_close(clo_edges_state *state);

/* Without added edges, and built. */
void clo_edges_state_clear(clo_edges_state *state, clo_edges_room *room);
void clo_edges_state_copy(clo_edges_state *to, const clo_edges_state *from);

/* Adds an edge between tasks where it may be added and there is room; else false. Building is up to the caller. */
bool clo_edges_state_add(clo_edges_state *state, clo_edges_room *room, uint32_t from, uint32_t to);
static inline void clo_edges_state_build(clo_edges_state *state, clo_edges_room *room)
{
    clo_list_build(&room->builder, &state->added, &state->plan);
}

/* As clo_edges_starts and clo_edges_ends; `task`: the start. */
void clo_edges_view_starts(const clo_edges_state *state, clo_edges_room *room, clo_edges_view *out);
void clo_edges_view_ends(const clo_edges_state *state, clo_edges_room *room, uint32_t task, clo_edges_view *out);

#endif
