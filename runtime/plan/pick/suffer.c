/* plan/pick/suffer.c - see suffer.h. */
#include "plan/pick/suffer.h"

static const clo_profile *profile_of(const clo_ready_tree *tree)
{
    return &tree->ready->schedule->profiles[0];
}

static uint32_t task_of(const clo_ready_tree *tree, const clo_ready_entry *entry)
{
    return tree->ready->schedule->graph->task_of[entry->instance];
}

/* The last steps; at least half of what there is room for, if there are so many. */
static void read_steps(clo_suffer *suffer, const clo_ready_tree *tree)
{
    for (;;) { /* ends: each round begins half the steps later */
        suffer->steps_count = clo_profile_read(profile_of(tree), suffer->from_ns, suffer->steps, CLO_SUFFER_STEPS);
        if (suffer->steps_count < CLO_SUFFER_STEPS)
            return;
        suffer->from_ns = suffer->steps[CLO_SUFFER_STEPS / 2].time_ns;
    }
}

/* Brings a hole up to date; false: nothing is left of it. */
static bool renew_hole(const clo_ready_tree *tree, clo_suffer_hole *hole)
{
    int64_t available_ns = tree->ready->available_ns[hole->executor];

    hole->begin_ns = hole->begin_ns > available_ns ? hole->begin_ns : available_ns;
    if (hole->hits == 0 || hole->begin_ns >= hole->end_ns) {
        hole->end_ns = hole->begin_ns; /* nothing has room */
        return false;
    }
    clo_profile_least_free(profile_of(tree), hole->begin_ns, hole->end_ns, NULL, hole->room);
    return true;
}

/* Holes that left out nothing go. */
static void renew_holes(clo_suffer *suffer, const clo_ready_tree *tree)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < suffer->holes_count; i++) {
        uint32_t slot = suffer->order[i], at = count;
        if (!renew_hole(tree, &suffer->holes[slot]))
            continue;
        for (; at > 0 && suffer->holes[suffer->order[at - 1]].hits < suffer->holes[slot].hits; at--)
            suffer->order[at] = suffer->order[at - 1];
        suffer->order[at] = slot;
        count++;
    }
    suffer->holes_count = count;
    for (uint32_t slot = 0; slot < CLO_SUFFER_HOLES; slot++)
        suffer->holes[slot].hits = 0;
}

void clo_suffer_begin(clo_suffer *suffer, const clo_ready_tree *tree)
{
    read_steps(suffer, tree);
    renew_holes(suffer, tree);
}

/* A task that is asked about. */
typedef struct candidate {
    const clo_ready_tree *tree;
    uint32_t task;
    const int64_t *inputs;
    const int64_t *times_ns;           /* [columns] */
    bool has_set;                      /* of places: not all executors of a column may run it */
    int64_t demand[CLO_RESOURCES_MAX]; /* of the machine's counted resources; 0 behind them */
} candidate;

static candidate candidate_of(const clo_ready_tree *tree, const clo_ready_entry *entry)
{
    const clo_cost *cost = tree->ready->schedule->cost;
    const clo_profile *profile = profile_of(tree);
    candidate c = {.tree = tree, .task = task_of(tree, entry), .inputs = clo_ready_row(tree, entry)};
    const int64_t *demand = clo_graph_demand(cost->graph, c.task);

    c.times_ns = cost->time_ns + (size_t)c.task * cost->columns;
    c.has_set = clo_graph_placement(cost->graph, c.task) != CLO_NONE;
    for (uint32_t k = 0; k < profile->counted_count; k++)
        c.demand[k] = demand[profile->counted[k]];
    return c;
}

static int64_t time_on(const candidate *c, uint32_t executor)
{
    const clo_cost *cost = c->tree->ready->schedule->cost;

    return c->has_set ? clo_cost_time(cost, c->task, executor) : c->times_ns[cost->column_of[executor]];
}

/* `room` has as many lanes as a profile. */
static bool fits(const candidate *c, const int64_t *room)
{
    int64_t lack = 0;

    for (uint32_t k = 0; k < 4; k++)
        lack |= room[k] - c->demand[k];
    for (uint32_t k = 4; k < profile_of(c->tree)->lanes; k++)
        lack |= room[k] - c->demand[k];
    return lack >= 0;
}

/* Raises base_ns of an entry, before which nothing of its task begins, over what is too full now for the least time
 * that it takes. */
static void raise_base(const clo_suffer *suffer, const candidate *c, clo_ready_entry *entry)
{
    uint32_t low = 0, high = suffer->steps_count;

    if (high == 0 || entry->base_ns < suffer->steps[0].time_ns || entry->shortest_ns == 0)
        return;
    while (high - low > 1) { /* to the step that holds at base_ns */
        uint32_t middle = low + (high - low) / 2;
        if (suffer->steps[middle].time_ns <= entry->base_ns)
            low = middle;
        else
            high = middle;
    }
    for (uint32_t at = low; at + 1 < suffer->steps_count; at++) { /* in the last one there is room for ever */
        if (suffer->steps[at].time_ns >= entry->base_ns + entry->shortest_ns)
            return;
        if (!fits(c, suffer->steps[at].free))
            entry->base_ns = suffer->steps[at + 1].time_ns;
    }
}

/* No end of the task is before this one. */
static int64_t least_end(const candidate *c, int64_t base_ns)
{
    int64_t least_ns = INT64_MAX;

    for (uint32_t e = 0; e < c->tree->executors; e++) {
        int64_t time_ns = time_on(c, e), start_ns = clo_ready_start(c->tree, c->inputs, e);
        start_ns = start_ns > base_ns ? start_ns : base_ns;
        if (time_ns != CLO_TIME_NEVER && start_ns + time_ns < least_ns)
            least_ns = start_ns + time_ns;
    }
    return least_ns;
}

/* True if the task may end in a hole by limit_ns. */
static bool has_place(const candidate *c, const clo_suffer_hole *hole, int64_t limit_ns)
{
    int64_t latest_ns = (hole->end_ns < limit_ns ? hole->end_ns : limit_ns) - hole->begin_ns;

    return time_on(c, hole->executor) <= latest_ns &&
           (c->inputs == NULL || c->inputs[hole->executor] <= hole->begin_ns) && fits(c, hole->room);
}

/* True if the task may end by limit_ns in those two holes that it may have ended in before. */
static bool has_old_places(clo_suffer *suffer, const candidate *c, const clo_ready_entry *entry, int64_t limit_ns)
{
    clo_suffer_hole *a = &suffer->holes[entry->holes[0]], *b = &suffer->holes[entry->holes[1]];

    if (a->executor == b->executor || !has_place(c, a, limit_ns) || !has_place(c, b, limit_ns))
        return false;
    a->hits++;
    b->hits++;
    return true;
}

/* The same for any two holes on two executors. */
static bool has_places(clo_suffer *suffer, const candidate *c, clo_ready_entry *entry, int64_t limit_ns)
{
    clo_suffer_hole *first = NULL;

    for (uint32_t i = 0; i < suffer->holes_count; i++) {
        clo_suffer_hole *hole = &suffer->holes[suffer->order[i]];
        if ((first != NULL && first->executor == hole->executor) || !has_place(c, hole, limit_ns))
            continue;
        hole->hits++;
        entry->holes[first != NULL] = suffer->order[i];
        if (first != NULL)
            return true;
        first = hole;
    }
    return false;
}

bool clo_suffer_loses(clo_suffer *suffer, const clo_ready_tree *tree, clo_ready_entry *entry, int64_t score,
                      uint32_t instance)
{
    candidate c = candidate_of(tree, entry);

    if (entry->second == CLO_NONE)
        return score > 0 || (score == 0 && entry->instance > instance); /* it has one executor */
    score -= entry->instance < instance;
    if (has_old_places(suffer, &c, entry, entry->least_ns + score))
        return true;
    raise_base(suffer, &c, entry);
    int64_t least_ns = least_end(&c, entry->base_ns);
    entry->least_ns = least_ns > entry->least_ns ? least_ns : entry->least_ns;
    return has_places(suffer, &c, entry, entry->least_ns + score);
}

/* Puts a slot without a hole behind the others of the order. Returns its place in it. */
static uint32_t add_slot(clo_suffer *suffer)
{
    uint32_t used = 0, slot = 0;

    for (uint32_t i = 0; i < suffer->holes_count; i++)
        used |= UINT32_C(1) << suffer->order[i];
    while ((used >> slot & 1) != 0) /* ends: one is free */
        slot++;
    suffer->order[suffer->holes_count] = slot;
    return suffer->holes_count++;
}

/* Adds the hole around an execution that ends at end_ns; in the place of the one that left out least, where there are
 * many. */
static void add_hole(clo_suffer *suffer, const clo_ready_tree *tree, uint32_t task, uint32_t executor, int64_t end_ns)
{
    const clo_schedule *schedule = tree->ready->schedule;
    const int64_t *demand = clo_graph_demand(schedule->graph, task);
    int64_t begin_ns = end_ns - clo_cost_time(schedule->cost, task, executor);
    clo_suffer_hole hole = {.executor = executor, .begin_ns = begin_ns, .hits = 1};
    uint32_t at = 0;

    hole.end_ns = clo_profile_least_free(profile_of(tree), begin_ns, INT64_MAX, demand, hole.room);
    for (uint32_t i = 0; i < suffer->holes_count; i++) {
        const clo_suffer_hole *other = &suffer->holes[suffer->order[i]];
        if (other->executor == executor && other->begin_ns == begin_ns && other->end_ns == hole.end_ns)
            return;
        at = other->hits < suffer->holes[suffer->order[at]].hits ? i : at;
    }
    if (suffer->holes_count < CLO_SUFFER_HOLES)
        at = add_slot(suffer);
    suffer->holes[suffer->order[at]] = hole;
}

void clo_suffer_learn(clo_suffer *suffer, const clo_ready_tree *tree, const clo_ready_entry *entry)
{
    uint32_t task = task_of(tree, entry);

    if (entry->second == CLO_NONE)
        return;
    add_hole(suffer, tree, task, entry->best.executor, entry->best.finish_ns);
    add_hole(suffer, tree, task, entry->second, entry->second_ns);
}
