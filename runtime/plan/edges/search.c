/* search.c - see search.h.
 *
 * From each state of the beam some starts are chosen, and some ends behind each: every such edge is a child, and so are
 * several starts with their first ends together, which large graphs need to get anywhere. The shortest children are the
 * next beam. The first descent takes the highest scores. Where it ends, the next one begins at the best state with
 * candidates that are drawn, and so on until the budget is spent. */
#include "plan/edges/search.h"

#include "base/status.h"

enum {
    STARTS = 4,
    ENDS = 2,
    PATIENCE = 4, /* steps of a descent without a shorter schedule */
    BEAM_DEFAULT = 4,
    EDGES_DEFAULT = 32,
    ENDS_LOOKED_AT = 33
};

typedef struct search {
    clo_edges_room *room;
    clo_budget *budget;
    clo_edges_guided guided;
    uint32_t width, edges_max;
    /* Two generations; the first `count` of each are in use, by rising makespan. */
    clo_edges_state beam[2][CLO_EDGES_BEAM_MAX];
    uint32_t count[2];
    clo_edges_state child;
    clo_edges_state *best;
} search;

/* An edge between tasks. */
typedef struct pair {
    uint32_t from, to;
} pair;

static void swap(clo_edges_state *a, clo_edges_state *b)
{
    clo_edges_state other = *a;

    *a = *b;
    *b = other;
}

/* Puts the child among the next generation where it is short enough; one of each makespan is enough. */
static void offer(search *s, int to)
{
    clo_edges_state *list = s->beam[to];
    int64_t makespan = s->child.plan.makespan_ns;
    uint32_t at = s->count[to];

    for (uint32_t i = 0; i < s->count[to]; i++)
        if (list[i].plan.makespan_ns == makespan)
            return;
    if (at == s->width && list[at - 1].plan.makespan_ns < makespan)
        return;
    at = at == s->width ? at - 1 : at;
    s->count[to] = at + 1;
    swap(&list[at], &s->child);
    for (; at > 0 && list[at].plan.makespan_ns < list[at - 1].plan.makespan_ns; at--)
        swap(&list[at], &list[at - 1]);
}

static void build(search *s)
{
    clo_edges_state_build(&s->child, s->room);
    s->budget->schedules++;
    if (s->child.plan.makespan_ns < s->best->plan.makespan_ns) {
        clo_edges_state_copy(s->best, &s->child);
        s->budget->best_ns = s->child.plan.makespan_ns;
    }
}

/* The parent with `count` more edges, as far as they go together. */
static void try_pairs(search *s, const clo_edges_state *parent, const pair *pairs, uint32_t count, int to)
{
    uint32_t added = 0;

    if (clo_budget_is_spent(s->budget))
        return;
    clo_edges_state_copy(&s->child, parent);
    for (uint32_t i = 0; i < count && s->child.added.count < s->edges_max; i++)
        added += clo_edges_state_add(&s->child, s->room, pairs[i].from, pairs[i].to);
    if (added == 0)
        return;
    build(s);
    offer(s, to);
}

static void expand(search *s, const clo_edges_state *parent, int to)
{
    uint32_t rows[STARTS], ends[ENDS], starts[STARTS], firsts = 0;
    pair first[STARTS];
    clo_edges_view view;

    clo_edges_view_starts(parent, s->room, &view);
    uint32_t count = clo_edges_guided_choose(&s->guided, &view, STARTS, rows);
    for (uint32_t i = 0; i < count; i++)
        starts[i] = parent->plan.order[rows[i]];
    for (uint32_t i = 0; i < count && !clo_budget_is_spent(s->budget); i++) {
        clo_edges_view_ends(parent, s->room, starts[i], &view);
        uint32_t found = clo_edges_guided_choose(&s->guided, &view, ENDS, ends);
        for (uint32_t k = 0; k < found; k++) {
            const pair one = {starts[i], parent->plan.order[ends[k]]};
            if (k == 0)
                first[firsts++] = one;
            try_pairs(s, parent, &one, 1, to);
        }
    }
    for (uint32_t together = 2; together <= firsts; together *= 2)
        try_pairs(s, parent, first, together, to);
}

/* From the state that stands in beam[0][0], until nothing gets shorter for a while. */
static void descend(search *s)
{
    int from = 0;
    uint32_t idle = 0;

    s->count[from] = 1;
    while (idle < PATIENCE && s->count[from] > 0 && !clo_budget_is_spent(s->budget)) {
        int64_t before = s->best->plan.makespan_ns;
        s->count[!from] = 0;
        for (uint32_t i = 0; i < s->count[from]; i++)
            expand(s, &s->beam[from][i], !from);
        from = !from;
        idle = s->best->plan.makespan_ns < before ? 0 : idle + 1;
    }
}

/* The end that comes first behind `start`, of those that were not refused; CLO_NONE: none of the best
 * ENDS_LOOKED_AT. */
static uint32_t first_end(search *s, uint32_t start, const pair *refused, uint32_t count)
{
    uint32_t ends[ENDS_LOOKED_AT];
    clo_edges_view view;

    clo_edges_view_ends(s->best, s->room, start, &view);
    uint32_t found = clo_edges_guided_choose(&s->guided, &view, ENDS_LOOKED_AT, ends);
    for (uint32_t i = 0; i < found; i++) {
        uint32_t end = s->best->plan.order[ends[i]];
        bool is_refused = false;
        for (uint32_t k = 0; k < count; k++)
            is_refused = is_refused || (refused[k].from == start && refused[k].to == end);
        if (!is_refused)
            return end;
    }
    return CLO_NONE;
}

/* The highest score alone is tried, as in training: an edge that makes the schedule no shorter is taken away and not
 * tried again. */
static void walk(search *s)
{
    pair refused[CLO_EDGES_MAX];
    uint32_t count = 0;

    for (uint32_t tries = 0; tries < s->edges_max && !clo_budget_is_spent(s->budget); tries++) {
        int64_t before_ns = s->best->plan.makespan_ns;
        clo_edges_view view;
        uint32_t row;
        clo_edges_view_starts(s->best, s->room, &view);
        if (clo_edges_guided_choose(&s->guided, &view, 1, &row) == 0)
            return;
        uint32_t start = s->best->plan.order[row], end = first_end(s, start, refused, count);
        if (end == CLO_NONE)
            return;
        clo_edges_state_copy(&s->child, s->best);
        if (!clo_edges_state_add(&s->child, s->room, start, end))
            return;
        build(s);
        if (s->best->plan.makespan_ns == before_ns)
            refused[count++] = (pair){start, end};
    }
}

static clo_status open_states(search *s)
{
    clo_status status = clo_edges_state_open(&s->child, s->room);

    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < s->width && status == CLO_OK; i++)
            status = clo_edges_state_open(&s->beam[side][i], s->room);
    return status;
}

static void close_all(search *s)
{
    clo_edges_state_close(&s->child);
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < CLO_EDGES_BEAM_MAX; i++)
            clo_edges_state_close(&s->beam[side][i]);
    clo_edges_guided_close(&s->guided);
}

/* Descents from the best state; from the graph itself where that has no room for edges, and every second time. */
static void search_on(search *s)
{
    clo_edges_state_copy(&s->beam[0][0], s->best);
    descend(s);
    s->guided.is_drawn = true;
    for (uint32_t round = 1; !clo_budget_is_spent(s->budget); round++) {
        uint64_t before = s->budget->schedules;
        if (s->best->added.count < s->edges_max && round % 4 != 0)
            clo_edges_state_copy(&s->beam[0][0], s->best);
        else
            clo_edges_state_clear(&s->beam[0][0], s->room);
        descend(s);
        if (s->budget->schedules == before) /* nothing may be added */
            return;
    }
}

clo_status clo_edges_search(clo_edges_room *room, const clo_edges_config *config, clo_budget *budget,
                            clo_edges_state *best)
{
    search s = {.room = room, .budget = budget, .best = best};
    clo_status status = clo_edges_guided_open(&s.guided, room, config->guide, config->model, budget->config->seed);

    s.width = config->beam > 0 ? config->beam : BEAM_DEFAULT;
    s.width = s.width < CLO_EDGES_BEAM_MAX ? s.width : CLO_EDGES_BEAM_MAX;
    s.edges_max = config->edges > 0 ? config->edges : EDGES_DEFAULT;
    s.edges_max = s.edges_max < CLO_EDGES_MAX ? s.edges_max : CLO_EDGES_MAX;
    if (status == CLO_OK)
        status = open_states(&s);
    budget->schedules++;
    budget->best_ns = best->plan.makespan_ns;
    if (status == CLO_OK && config->greedy != 0)
        walk(&s);
    else if (status == CLO_OK)
        search_on(&s);
    close_all(&s);
    return status;
}
