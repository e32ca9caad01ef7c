/* plan/graphene/place.c - BuildSchedule for one candidate (Fig. 5 and section 4.2 of the paper); see place.h.
 *
 * T, the troublesome ones, goes into the empty space first: forward or backward, whichever is shorter. Then P
 * (ancestors), C (descendants) and O (the others), in the orders in which nothing can get stuck: what has only
 * consumers that have a place goes backward, what has only producers goes forward, O before both of them goes either
 * way.
 *   O P C,  O C P,  C O P,  P O C
 * Inside a subset the longest ready instance is next, at the earliest (backward: the latest) time where it fits.
 * Time has no beginning here: it is shifted in the end. Ties: the lower instance. */
#include "plan/graphene/place.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/status.h"

#include <assert.h>

typedef struct step {
    clo_subset subset;
    int direction;
} step;

enum { ORDERS = 6, STEPS = 3 };

#define FORWARD CLO_SPACE_FORWARD
#define BACKWARD CLO_SPACE_BACKWARD
static const step orders[ORDERS][STEPS] = {
    {{CLO_SUBSET_OTHER, FORWARD}, {CLO_SUBSET_PARENT, BACKWARD}, {CLO_SUBSET_CHILD, FORWARD}},
    {{CLO_SUBSET_OTHER, BACKWARD}, {CLO_SUBSET_PARENT, BACKWARD}, {CLO_SUBSET_CHILD, FORWARD}},
    {{CLO_SUBSET_OTHER, FORWARD}, {CLO_SUBSET_CHILD, FORWARD}, {CLO_SUBSET_PARENT, BACKWARD}},
    {{CLO_SUBSET_OTHER, BACKWARD}, {CLO_SUBSET_CHILD, FORWARD}, {CLO_SUBSET_PARENT, BACKWARD}},
    {{CLO_SUBSET_CHILD, FORWARD}, {CLO_SUBSET_OTHER, BACKWARD}, {CLO_SUBSET_PARENT, BACKWARD}},
    {{CLO_SUBSET_PARENT, BACKWARD}, {CLO_SUBSET_OTHER, FORWARD}, {CLO_SUBSET_CHILD, FORWARD}}};

clo_status clo_graphene_open(clo_graphene *graphene, const clo_parts *parts)
{
    size_t n = parts->problem->tasks, stages = parts->problem->graph->tasks;
    clo_block block = {0};

    *graphene = (clo_graphene){.parts = parts, .heap = {.capacity = n}};
    clo_carve(&block, &graphene->heap.items, n);
    clo_carve(&block, &graphene->waits_for, stages);
    clo_carve(&block, &graphene->left, stages);
    graphene->block = clo_block_allocate(&block);
    clo_status status =
        graphene->block == NULL ? clo_fail_memory("a plan") : clo_space_open(&graphene->work, parts->problem);
    if (status == CLO_OK)
        status = clo_space_open(&graphene->trouble, parts->problem);
    if (status == CLO_OK)
        status = clo_space_open(&graphene->best, parts->problem);
    return status;
}

void clo_graphene_close(clo_graphene *graphene)
{
    clo_space_close(&graphene->work);
    clo_space_close(&graphene->trouble);
    clo_space_close(&graphene->best);
    clo_free(graphene->block);
    *graphene = (clo_graphene){0};
}

void clo_graphene_begin(clo_graphene *graphene)
{
    graphene->best_ns = INT64_MAX;
    graphene->best_round = CLO_NONE;
}

/* A subset of a part: which stages belong to it. */
typedef struct choice {
    const clo_parts *parts;
    const clo_part *part;
    const uint8_t *subsets;
    clo_subset subset;
} choice;

static bool is_chosen(const choice *c, uint32_t stage)
{
    uint32_t at = c->parts->place_of[stage];

    return at >= c->part->first && at < c->part->last && c->subsets[at - c->part->first] == (uint8_t)c->subset;
}

/* The longest time first, as in the paper; or the longest path that is still to be placed. */
static int64_t key_of(const clo_graphene *g, uint32_t v, int direction)
{
    const clo_rcpsp *problem = g->parts->problem;
    int64_t best = CLO_TIME_NEVER;

    if (g->by_way)
        return -problem->tail_ns[direction == FORWARD ? v : problem->tasks + v];
    for (uint32_t m = 0; m < problem->machines; m++)
        if (problem->time_ns[(size_t)m * problem->tasks + v] < best)
            best = problem->time_ns[(size_t)m * problem->tasks + v];
    return -best;
}

static void push_stage(clo_graphene *g, uint32_t stage, int direction)
{
    const clo_graph *graph = g->parts->problem->graph;

    for (uint32_t v = graph->first_instance[stage]; v < graph->first_instance[stage + 1]; v++)
        clo_heap_push(&g->heap, key_of(g, v, direction), v);
}

/* Fills waits_for and left; queues the stages that wait for none. */
static void queue(clo_graphene *g, const choice *c, int direction)
{
    const clo_graph *graph = c->parts->problem->graph;
    const uint32_t *first = direction == FORWARD ? graph->in_first : graph->out_first;
    const clo_ids before = direction == FORWARD ? graph->in : clo_ids_wide(graph->out);

    for (uint32_t i = c->part->first; i < c->part->last; i++) {
        uint32_t t = c->parts->members[i];
        if (c->subsets[i - c->part->first] != (uint8_t)c->subset)
            continue;
        g->left[t] = clo_graph_instances_of(graph, t);
        g->waits_for[t] = 0;
        for (uint32_t edge = first[t]; edge < first[t + 1]; edge++)
            g->waits_for[t] += is_chosen(c, clo_ids_at(before, edge));
        if (g->waits_for[t] == 0)
            push_stage(g, t, direction);
    }
}

/* PlaceTasks of the paper for one subset and direction. */
static void place(clo_graphene *g, const choice *c, int direction)
{
    const clo_graph *graph = c->parts->problem->graph;
    const uint32_t *first = direction == FORWARD ? graph->out_first : graph->in_first;
    const clo_ids behind = direction == FORWARD ? clo_ids_wide(graph->out) : graph->in;

    queue(g, c, direction);
    while (g->heap.count > 0) { /* each instance enters once */
        uint32_t v = (uint32_t)clo_heap_pop(&g->heap).id, t = graph->task_of[v];
        clo_space_place(&g->work, v, direction);
        if (--g->left[t] > 0)
            continue;
        for (uint32_t edge = first[t]; edge < first[t + 1]; edge++) {
            uint32_t next = clo_ids_at(behind, edge);
            if (is_chosen(c, next) && --g->waits_for[next] == 0)
                push_stage(g, next, direction);
        }
    }
}

static int64_t length(const clo_space *space)
{
    return space->to_ns - space->from_ns;
}

static void swap(clo_space *a, clo_space *b)
{
    clo_space kept = *a;

    *a = *b;
    *b = kept;
}

/* T into g->trouble, the shorter way. */
static void place_trouble(clo_graphene *g, choice *c)
{
    c->subset = CLO_SUBSET_TROUBLE;
    clo_space_clear(&g->work);
    place(g, c, FORWARD);
    swap(&g->work, &g->trouble);
    clo_space_clear(&g->work);
    place(g, c, BACKWARD);
    if (length(&g->work) < length(&g->trouble))
        swap(&g->work, &g->trouble);
}

/* Without O the middle of an order changes nothing; without P or C their order does not. */
static bool repeats(uint32_t order, bool has_other, bool has_parent, bool has_child)
{
    if (order == 1)
        return !has_other;
    if (order == 2)
        return !has_parent || !has_child;
    if (order == 3)
        return !has_other || !has_parent || !has_child;
    if (order == 4)
        return !has_other || !has_child;
    return order == 5 && (!has_other || !has_parent);
}

void clo_graphene_build(clo_graphene *g, const clo_part *part, uint32_t round)
{
    uint32_t candidate = part->candidate + round % part->candidates;
    const clo_parts *parts = g->parts;
    choice c = {.parts = parts, .part = part, .subsets = &parts->subsets[parts->subsets_from[candidate]]};
    bool has[4] = {false};

    g->by_way = round >= part->candidates;
    for (uint32_t i = 0; i < part->last - part->first; i++)
        has[c.subsets[i]] = true;
    place_trouble(g, &c);
    for (uint32_t order = 0; order < ORDERS; order++) {
        if (repeats(order, has[CLO_SUBSET_OTHER], has[CLO_SUBSET_PARENT], has[CLO_SUBSET_CHILD]))
            continue;
        clo_space_copy(&g->work, &g->trouble);
        for (int s = 0; s < STEPS && length(&g->work) < g->best_ns; s++) {
            c.subset = orders[order][s].subset;
            place(g, &c, orders[order][s].direction);
        }
        if (length(&g->work) < g->best_ns) {
            g->best_ns = length(&g->work);
            g->best_round = round;
            swap(&g->work, &g->best);
        }
    }
}
