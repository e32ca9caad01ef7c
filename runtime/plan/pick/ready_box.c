/* plan/pick/ready_box.c - see ready_box.h. */
#include "plan/pick/ready_box.h"

#include <string.h>

enum { SLOPE_BITS_MAX = 32, SLOPE_SAMPLES = 64, REBUILT_PART = 8 };

static void clear_gains(clo_ready_node *node)
{
    for (int i = 0; i < CLO_READY_GAINS; i++)
        node->gains[i].instance = CLO_NONE;
}

void clo_ready_clear_box(const clo_ready_tree *tree, uint32_t node)
{
    for (uint32_t e = 0; e < tree->executors; e++) {
        clo_ready_side(tree, node, CLO_INPUTS_LEAST)[e] = clo_ready_side(tree, node, CLO_RESTS_LEAST)[e] = INT64_MAX;
        clo_ready_side(tree, node, CLO_INPUTS_MOST)[e] = 0;
        clo_ready_side(tree, node, CLO_RESTS_MOST)[e] = INT64_MIN;
    }
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX && tree->demands != NULL; r++) {
        clo_ready_demands(tree, node, false)[r] = INT64_MAX;
        clo_ready_demands(tree, node, true)[r] = 0;
    }
}

static void lower(int64_t *restrict to, const int64_t *restrict by, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        to[i] = by[i] < to[i] ? by[i] : to[i];
}

static void raise(int64_t *restrict to, const int64_t *restrict by, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        to[i] = by[i] > to[i] ? by[i] : to[i];
}

void clo_ready_box_entry(clo_ready_tree *tree, uint32_t leaf, const clo_ready_entry *entry)
{
    const clo_schedule *schedule = tree->ready->schedule;
    const int64_t *inputs = clo_ready_row(tree, entry);
    int64_t *rests = schedule->second_ns;
    uint32_t task = schedule->graph->task_of[entry->instance], can = 0;
    int64_t reference_ns = clo_ready_reference(tree, task);
    clo_ready_node *node = &tree->nodes[leaf];

    node->count++;
    node->lowest = entry->instance < node->lowest ? entry->instance : node->lowest;
    node->has_demands |= clo_ready_has_demand(schedule, task);
    node->seen = 0;
    node->base_ns[0] = node->base_ns[1] = 0;
    clear_gains(node);
    for (uint32_t e = 0; e < tree->executors; e++) {
        rests[e] = clo_cost_time(schedule->cost, task, e);
        can += rests[e] != CLO_TIME_NEVER;
        rests[e] -= rests[e] == CLO_TIME_NEVER || !tree->has_slopes ? 0 : clo_ready_part(tree, e, reference_ns);
    }
    if (can < 2 && tree->rule == CLO_PICK_SUFFERAGE)
        return; /* its score is 0, as low as a bound can be */
    node->boxed++;
    node->reference_ns[0] = reference_ns < node->reference_ns[0] ? reference_ns : node->reference_ns[0];
    node->reference_ns[1] = reference_ns > node->reference_ns[1] ? reference_ns : node->reference_ns[1];
    lower(clo_ready_side(tree, leaf, CLO_RESTS_LEAST), rests, tree->executors);
    raise(clo_ready_side(tree, leaf, CLO_RESTS_MOST), rests, tree->executors);
    if (tree->demands != NULL) {
        lower(clo_ready_demands(tree, leaf, false), clo_graph_demand(schedule->graph, task), CLO_RESOURCES_MAX);
        raise(clo_ready_demands(tree, leaf, true), clo_graph_demand(schedule->graph, task), CLO_RESOURCES_MAX);
    }
    if (inputs == NULL) {
        memset(clo_ready_side(tree, leaf, CLO_INPUTS_LEAST), 0, tree->executors * sizeof *rests);
        return;
    }
    lower(clo_ready_side(tree, leaf, CLO_INPUTS_LEAST), inputs, tree->executors);
    raise(clo_ready_side(tree, leaf, CLO_INPUTS_MOST), inputs, tree->executors);
}

static void box_leaf(clo_ready_tree *tree, uint32_t leaf)
{
    clo_ready_node *node = &tree->nodes[leaf];
    clo_ready_entry *entries;
    uint32_t count = clo_ready_entries(tree, leaf, &entries);

    *node = (clo_ready_node){.lowest = CLO_NONE, .reference_ns = {INT64_MAX, 0}, .box = leaf};
    clear_gains(node);
    clo_ready_clear_box(tree, leaf);
    for (uint32_t i = 0; i < count; i++) {
        if (entries[i].instance == CLO_NONE)
            continue;
        clo_ready_box_entry(tree, leaf, &entries[i]);
    }
}

static void box_children(clo_ready_tree *tree, uint32_t at)
{
    const clo_ready_node *left = &tree->nodes[2 * at], *right = left + 1;
    size_t bytes = (size_t)CLO_BOX_SIDES * tree->executors * sizeof(int64_t);

    tree->nodes[at] = (clo_ready_node){.lowest = left->lowest < right->lowest ? left->lowest : right->lowest,
                                       .count = left->count + right->count,
                                       .boxed = left->boxed + right->boxed,
                                       .has_demands = left->has_demands || right->has_demands,
                                       .reference_ns = {INT64_MAX, 0},
                                       .box = at};
    clear_gains(&tree->nodes[at]);
    for (uint32_t child = 2 * at; child <= 2 * at + 1; child++) {
        lower(tree->nodes[at].reference_ns, tree->nodes[child].reference_ns, 1);
        raise(tree->nodes[at].reference_ns + 1, tree->nodes[child].reference_ns + 1, 1);
    }
    if (left->boxed == 0 || right->boxed == 0) {
        tree->nodes[at].box = left->boxed > 0 ? left->box : right->box; /* if it has none, nobody reads it */
        return;
    }
    if (tree->demands != NULL) {
        memcpy(clo_ready_demands(tree, at, false), clo_ready_demands(tree, 2 * at, false),
               2 * CLO_RESOURCES_MAX * sizeof(int64_t));
        lower(clo_ready_demands(tree, at, false), clo_ready_demands(tree, 2 * at + 1, false), CLO_RESOURCES_MAX);
        raise(clo_ready_demands(tree, at, true), clo_ready_demands(tree, 2 * at + 1, true), CLO_RESOURCES_MAX);
    }
    memcpy(clo_ready_side(tree, at, 0), clo_ready_side(tree, 2 * at, 0), bytes);
    lower(clo_ready_side(tree, at, CLO_INPUTS_LEAST), clo_ready_side(tree, 2 * at + 1, CLO_INPUTS_LEAST),
          2 * tree->executors);
    raise(clo_ready_side(tree, at, CLO_INPUTS_MOST), clo_ready_side(tree, 2 * at + 1, CLO_INPUTS_MOST),
          2 * tree->executors);
}

void clo_ready_settle(clo_ready_tree *tree)
{
    bool all = tree->dirty_count > tree->leaves / REBUILT_PART;

    for (uint32_t i = 0; i < tree->dirty_count; i++) {
        if (tree->nodes[tree->dirty[i]].is_loose)
            box_leaf(tree, tree->dirty[i]);
        tree->nodes[tree->dirty[i]].is_dirty = false;
        for (uint32_t at = tree->dirty[i] / 2; at > 0 && !all; at /= 2)
            box_children(tree, at);
    }
    for (uint32_t at = tree->leaves; at-- > 1 && all;)
        box_children(tree, at);
    tree->dirty_count = 0;
}

/* Spread of what is left of the times on `executor` over a sample of tasks, once `slope` times the reference is
 * taken away. */
static clo_u128 spread_of(const clo_ready_tree *tree, uint32_t executor, uint64_t slope)
{
    const clo_cost *cost = tree->ready->schedule->cost;
    uint32_t tasks = cost->graph->tasks, column = cost->column_of[executor];
    int64_t least = INT64_MAX, most = INT64_MIN;

    for (uint32_t t = 0; t < tasks; t += (tasks - 1) / SLOPE_SAMPLES + 1) {
        int64_t time_ns = cost->time_ns[(size_t)t * cost->columns + column];
        if (time_ns == CLO_TIME_NEVER)
            continue;
        time_ns -= (int64_t)(slope * (uint64_t)clo_ready_reference(tree, t) >> tree->slope_bits);
        least = time_ns < least ? time_ns : least;
        most = time_ns > most ? time_ns : most;
    }
    return most > least ? (clo_u128)((uint64_t)most - (uint64_t)least) : 0;
}

/* The slope is that of the task that takes longest on the reference. */
void clo_ready_find_slopes(clo_ready_tree *tree)
{
    const clo_cost *cost = tree->ready->schedule->cost;
    uint32_t longest = 0;

    for (uint32_t t = 0; t < cost->graph->tasks; t++)
        if (clo_ready_reference(tree, t) > clo_ready_reference(tree, longest))
            longest = t;
    uint64_t reference_ns = (uint64_t)clo_ready_reference(tree, longest), most_ns = 1;
    for (uint32_t e = 0; e < tree->executors; e++) {
        int64_t time_ns = cost->time_ns[(size_t)longest * cost->columns + cost->column_of[e]];
        most_ns |= time_ns == CLO_TIME_NEVER ? 0 : (uint64_t)time_ns;
    }
    tree->slope_bits = SLOPE_BITS_MAX;
    while (tree->slope_bits > 0 && most_ns >> (62 - tree->slope_bits) != 0) /* so that products fit */
        tree->slope_bits--;
    for (uint32_t e = 0; e < tree->executors && reference_ns > 0 && tree->rule == CLO_PICK_SUFFERAGE; e++) {
        int64_t time_ns = cost->time_ns[(size_t)longest * cost->columns + cost->column_of[e]];
        uint64_t slope = (uint64_t)(((clo_u128)(uint64_t)time_ns << tree->slope_bits) / reference_ns);
        bool helps = time_ns != CLO_TIME_NEVER && spread_of(tree, e, slope) < spread_of(tree, e, 0);
        tree->slopes[e] = helps ? slope : 0;
        tree->has_slopes |= helps;
    }
}
