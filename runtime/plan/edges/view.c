/* view.c - what a network sees of a state. Integers only: every machine computes the same. */
#include "plan/edges/state.h"

/* What the prior adds for a start that waits, for an end that runs in that time, and for two tasks that do not fit
 * together; of logarithms it takes a sixteenth or an eighth. It only leans: a strong one is no better than none. */
enum { WAITS = CLO_EDGES_PRIOR_ONE / 4, OVERLAPS = 3 * CLO_EDGES_PRIOR_ONE / 8, EXCEEDS = CLO_EDGES_PRIOR_ONE / 8 };

enum { SHARE_ONE = 4096 };

/* log2(1 + time / unit) in Q8: whole bits, and a line between them. */
static int32_t log_of(const clo_edges_room *room, int64_t time_ns)
{
    uint64_t x = ((uint64_t)(time_ns < 0 ? -time_ns : time_ns) >> room->time_shift) + 1;
    int32_t whole = 63 - __builtin_clzll(x);
    int32_t result = whole * 256 + (int32_t)(x << (63 - whole) << 1 >> 56);

    return time_ns < 0 ? -result : result;
}

static int64_t finish_of(const clo_edges_state *state, const clo_edges_room *room, uint32_t v)
{
    return state->plan.start_ns[v] + room->problem.time_ns[(size_t)state->plan.machine[v] * room->problem.tasks + v];
}

static int64_t slack_of(const clo_edges_state *state, uint32_t v)
{
    return state->plan.makespan_ns - state->plan.start_ns[v] - state->plan.tail_ns[v];
}

/* Children through added edges stand behind those of the graph. */
static void put_shape(const clo_edges_state *state, clo_edges_room *room, clo_edges_view *out)
{
    const clo_graph *graph = room->problem.graph;
    uint32_t n = room->problem.tasks, at = 0;
    clo_list_builder *b = &room->builder; /* its chains of added edges are those of the schedule built last */

    for (uint32_t v = 0; v < n; v++)
        b->added_first[v] = CLO_NONE;
    for (uint32_t i = 0; i < state->added.count; i++) {
        b->added_next[i] = b->added_first[state->added.from[i]];
        b->added_first[state->added.from[i]] = i;
    }
    for (uint32_t row = 0; row < n; row++)
        room->row_of[state->plan.order[row]] = row;
    for (uint32_t row = 0; row < n; row++) {
        uint32_t v = state->plan.order[row];
        room->child_begin[row] = at;
        for (uint32_t edge = graph->out_first[v]; edge < graph->out_first[v + 1]; edge++)
            room->children[at++] = room->row_of[graph->out[edge]];
        for (uint32_t i = b->added_first[v]; i != CLO_NONE; i = b->added_next[i])
            room->children[at++] = room->row_of[state->added.to[i]];
    }
    room->child_begin[n] = at;
    *out = (clo_edges_view){.shape = {.stages = n,
                                      .jobs = 1,
                                      .job_of_stage = room->job_of,
                                      .child_begin = room->child_begin,
                                      .children = room->children},
                            .features = room->features,
                            .rows = room->rows,
                            .prior = room->prior,
                            .task_of = state->plan.order};
}

static void put_task(const clo_edges_state *state, const clo_edges_room *room, uint32_t v, int32_t *out)
{
    int64_t start = state->plan.start_ns[v], makespan = state->plan.makespan_ns;

    out[CLO_EDGES_TIME] = log_of(room, clo_rcpsp_fastest_ns(&room->problem, v));
    out[CLO_EDGES_TAIL] = log_of(room, state->plan.tail_ns[v]);
    out[CLO_EDGES_DEMAND] = room->share[v];
    out[CLO_EDGES_WAIT] = log_of(room, start - state->plan.ready_ns[v]);
    out[CLO_EDGES_SLACK] = log_of(room, slack_of(state, v));
    out[CLO_EDGES_POSITION] = makespan > 0 ? (int32_t)((clo_u128)(uint64_t)start * SHARE_ONE / (uint64_t)makespan) : 0;
    for (uint32_t f = CLO_EDGES_SECOND; f < CLO_EDGES_FEATURES; f++)
        out[f] = 0;
}

void clo_edges_view_starts(const clo_edges_state *state, clo_edges_room *room, clo_edges_view *out)
{
    put_shape(state, room, out);
    for (uint32_t row = 0; row < out->shape.stages; row++) {
        uint32_t v = state->plan.order[row];
        int32_t *features = &room->features[(size_t)row * CLO_EDGES_FEATURES];
        put_task(state, room, v, features);
        if (!clo_closure_has_end(&state->closure, v))
            continue;
        int32_t wait = features[CLO_EDGES_WAIT];
        room->prior[out->count] = (wait > 0 ? WAITS + wait / 16 : 0) - features[CLO_EDGES_SLACK] / 8;
        room->rows[out->count++] = row;
    }
}

/* The columns that compare `v` with the start `a`. Returns the prior. */
static int32_t put_relation(const clo_edges_state *state, const clo_edges_room *room, uint32_t a, uint32_t v,
                            int32_t *out)
{
    const clo_list_plan *plan = &state->plan;
    int64_t from = plan->start_ns[v] > plan->ready_ns[a] ? plan->start_ns[v] : plan->ready_ns[a];
    int64_t to = finish_of(state, room, v), overlap;

    to = to < plan->start_ns[a] ? to : plan->start_ns[a];
    overlap = to > from ? to - from : 0;
    out[CLO_EDGES_SECOND] = SHARE_ONE;
    out[CLO_EDGES_BEFORE] = log_of(room, plan->start_ns[a] - plan->start_ns[v]);
    out[CLO_EDGES_OVERLAP] = log_of(room, overlap);
    out[CLO_EDGES_SPARE] = log_of(room, slack_of(state, v) - slack_of(state, a));
    out[CLO_EDGES_EXCESS] = room->share[a] + room->share[v] - SHARE_ONE;
    out[CLO_EDGES_SHORTER] = log_of(room, plan->tail_ns[a] - plan->tail_ns[v]);
    return (overlap > 0 ? OVERLAPS + out[CLO_EDGES_OVERLAP] / 16 : 0) + out[CLO_EDGES_SPARE] / 16 +
           (out[CLO_EDGES_EXCESS] > 0 ? EXCEEDS : 0);
}

void clo_edges_view_ends(const clo_edges_state *state, clo_edges_room *room, uint32_t task, clo_edges_view *out)
{
    put_shape(state, room, out);
    for (uint32_t row = 0; row < out->shape.stages; row++) {
        uint32_t v = state->plan.order[row];
        int32_t *features = &room->features[(size_t)row * CLO_EDGES_FEATURES];
        put_task(state, room, v, features);
        int32_t prior = put_relation(state, room, task, v, features);
        if (!clo_closure_may_add(&state->closure, task, v))
            continue;
        room->prior[out->count] = prior;
        room->rows[out->count++] = row;
    }
}
