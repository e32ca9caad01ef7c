/* plan/list/ready_tree.c - see ready_tree.h. */
#include "plan/list/ready_tree.h"

#include "base/memory.h"
#include "base/status.h"

#include <assert.h>
#include <string.h>

enum { STACK_MAX = 80, REBUILT_PART = 8 };

/* The four sides of a box: of the inputs and of the rests of the times, their least and their largest. */
enum { INPUTS_LEAST, RESTS_LEAST, INPUTS_MOST, RESTS_MOST, SIDES };

enum { SLOPE_BITS_MAX = 32, SLOPE_SAMPLES = 64, ROUNDING_NS = 2 };

/* The best task of a search so far. */
typedef struct choice {
    int64_t score;
    uint32_t instance, at; /* CLO_NONE: none yet */
} choice;

static int64_t *side(const clo_ready_tree *tree, uint32_t node, int which)
{
    return tree->boxes + ((size_t)tree->nodes[node].box * SIDES + (size_t)which) * tree->executors;
}

static const int64_t *row_of(const clo_ready_tree *tree, const clo_ready_entry *entry)
{
    return entry->row == CLO_NONE ? NULL : (const int64_t *)tree->rows + (size_t)entry->row * tree->executors;
}

static bool has_demand(const clo_schedule *schedule, uint32_t task)
{
    return schedule->profiles != NULL && schedule->graph->rows[task].demand != CLO_NONE;
}

static uint32_t leaf_of(const clo_ready_tree *tree, uint32_t position)
{
    return tree->leaves + position / CLO_READY_LEAF;
}

/* ---- what changes ---- */

static void mark_dirty(clo_ready_tree *tree, uint32_t leaf)
{
    if (tree->nodes[leaf].is_dirty)
        return;
    tree->nodes[leaf].is_dirty = true;
    tree->dirty[tree->dirty_count++] = leaf;
}

/* A row for the inputs in schedule->ready_ns, unless they are all there from the start. */
static clo_status keep_inputs(clo_ready_tree *tree, clo_ready_entry *entry)
{
    const int64_t *ready_ns = tree->ready->schedule->ready_ns;
    uint32_t e = 0;

    entry->row = CLO_NONE;
    while (e < tree->executors && ready_ns[e] == 0)
        e++;
    if (e == tree->executors)
        return CLO_OK;
    if (tree->row_free == CLO_NONE) {
        if (clo_grow(&tree->rows, &tree->rows_capacity, (size_t)tree->rows_count + 1,
                     tree->executors * sizeof(int64_t)) != 0)
            return clo_fail_memory("a plan");
        entry->row = tree->rows_count++;
    } else {
        entry->row = tree->row_free;
        tree->row_free = (uint32_t)row_of(tree, entry)[0];
    }
    memcpy((int64_t *)tree->rows + (size_t)entry->row * tree->executors, ready_ns, tree->executors * sizeof *ready_ns);
    return CLO_OK;
}

static void remove_entry(clo_ready_tree *tree, clo_ready_entry *entry)
{
    if (entry->row != CLO_NONE) {
        int64_t *row = (int64_t *)tree->rows + (size_t)entry->row * tree->executors;
        row[0] = tree->row_free;
        tree->row_free = entry->row;
    }
    entry->instance = CLO_NONE;
    tree->count--;
}

void clo_ready_tree_placed(clo_ready_tree *tree, uint32_t instance, uint32_t executor)
{
    const clo_schedule *schedule = tree->ready->schedule;
    const clo_graph *graph = schedule->graph;
    uint32_t task = graph->task_of[instance], position = tree->position[task];
    clo_ready_entry *entry = &tree->entries[position];

    assert(entry->instance == instance);
    tree->step++;
    tree->changed[executor] = tree->step;
    for (uint32_t e = 0; e < tree->executors && has_demand(schedule, task); e++)
        if (schedule->platform->executors[e].machine == schedule->platform->executors[executor].machine)
            tree->changed[e] = tree->step;
    if (instance + 1 < graph->first_instance[task + 1])
        entry->instance++;
    else
        remove_entry(tree, entry);
    tree->nodes[leaf_of(tree, position)].is_loose = true;
    mark_dirty(tree, leaf_of(tree, position));
}

/* ---- boxes ---- */

static void clear_gains(clo_ready_node *node)
{
    for (int i = 0; i < CLO_READY_GAINS; i++)
        node->gains[i].instance = CLO_NONE;
}

static void clear_box(const clo_ready_tree *tree, uint32_t node)
{
    for (uint32_t e = 0; e < tree->executors; e++) {
        side(tree, node, INPUTS_LEAST)[e] = side(tree, node, RESTS_LEAST)[e] = INT64_MAX;
        side(tree, node, INPUTS_MOST)[e] = 0;
        side(tree, node, RESTS_MOST)[e] = INT64_MIN;
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

/* The part of a time on `executor` that follows from the time on the reference column. */
static int64_t part_of(const clo_ready_tree *tree, uint32_t executor, int64_t reference_ns)
{
    return (int64_t)(tree->slopes[executor] * (uint64_t)reference_ns >> tree->slope_bits);
}

static int64_t reference_of(const clo_ready_tree *tree, uint32_t task)
{
    const clo_cost *cost = tree->ready->schedule->cost;
    int64_t time_ns = cost->time_ns[(size_t)task * cost->columns + tree->reference];

    return time_ns == CLO_TIME_NEVER ? 0 : time_ns;
}

/* Takes an entry into the box of its leaf. */
static void box_entry(clo_ready_tree *tree, uint32_t leaf, const clo_ready_entry *entry)
{
    const clo_schedule *schedule = tree->ready->schedule;
    const int64_t *inputs = row_of(tree, entry);
    int64_t *rests = schedule->second_ns;
    uint32_t task = schedule->graph->task_of[entry->instance], can = 0;
    int64_t reference_ns = reference_of(tree, task);
    clo_ready_node *node = &tree->nodes[leaf];

    node->count++;
    node->lowest = entry->instance < node->lowest ? entry->instance : node->lowest;
    node->has_demands |= has_demand(schedule, task);
    node->seen = 0;
    clear_gains(node);
    for (uint32_t e = 0; e < tree->executors; e++) {
        rests[e] = clo_cost_time(schedule->cost, task, e);
        can += rests[e] != CLO_TIME_NEVER;
        rests[e] -= rests[e] == CLO_TIME_NEVER || !tree->has_slopes ? 0 : part_of(tree, e, reference_ns);
    }
    if (can < 2 && tree->rule == CLO_PICK_SUFFERAGE)
        return; /* its score is 0, as low as a bound can be */
    node->boxed++;
    node->reference_ns[0] = reference_ns < node->reference_ns[0] ? reference_ns : node->reference_ns[0];
    node->reference_ns[1] = reference_ns > node->reference_ns[1] ? reference_ns : node->reference_ns[1];
    lower(side(tree, leaf, RESTS_LEAST), rests, tree->executors);
    raise(side(tree, leaf, RESTS_MOST), rests, tree->executors);
    if (inputs == NULL) {
        memset(side(tree, leaf, INPUTS_LEAST), 0, tree->executors * sizeof *rests);
        return;
    }
    lower(side(tree, leaf, INPUTS_LEAST), inputs, tree->executors);
    raise(side(tree, leaf, INPUTS_MOST), inputs, tree->executors);
}

static uint32_t entries_in(const clo_ready_tree *tree, uint32_t leaf, clo_ready_entry **first)
{
    uint32_t begin = (leaf - tree->leaves) * CLO_READY_LEAF, tasks = tree->ready->schedule->graph->tasks;

    *first = tree->entries + (begin < tasks ? begin : tasks);
    return begin >= tasks ? 0 : tasks - begin < CLO_READY_LEAF ? tasks - begin : CLO_READY_LEAF;
}

static void box_leaf(clo_ready_tree *tree, uint32_t leaf)
{
    clo_ready_node *node = &tree->nodes[leaf];
    clo_ready_entry *entries;
    uint32_t count = entries_in(tree, leaf, &entries);

    *node = (clo_ready_node){.lowest = CLO_NONE, .reference_ns = {INT64_MAX, 0}, .box = leaf};
    clear_gains(node);
    clear_box(tree, leaf);
    for (uint32_t i = 0; i < count; i++) {
        if (entries[i].instance == CLO_NONE)
            continue;
        box_entry(tree, leaf, &entries[i]);
    }
}

static void box_children(clo_ready_tree *tree, uint32_t at)
{
    const clo_ready_node *left = &tree->nodes[2 * at], *right = left + 1;
    size_t bytes = (size_t)SIDES * tree->executors * sizeof(int64_t);

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
    memcpy(side(tree, at, 0), side(tree, 2 * at, 0), bytes);
    lower(side(tree, at, INPUTS_LEAST), side(tree, 2 * at + 1, INPUTS_LEAST), 2 * tree->executors);
    raise(side(tree, at, INPUTS_MOST), side(tree, 2 * at + 1, INPUTS_MOST), 2 * tree->executors);
}

clo_status clo_ready_tree_add(clo_ready_tree *tree, uint32_t instance)
{
    clo_schedule *schedule = tree->ready->schedule;
    uint32_t position = tree->position[schedule->graph->task_of[instance]];
    clo_ready_entry *entry = &tree->entries[position];

    assert(entry->instance == CLO_NONE);
    *entry = (clo_ready_entry){.best.executor = CLO_NONE, .instance = instance};
    clo_schedule_find_ready(schedule, instance);
    clo_status status = keep_inputs(tree, entry);
    if (status != CLO_OK)
        return status;
    tree->count++;
    box_entry(tree, leaf_of(tree, position), entry);
    mark_dirty(tree, leaf_of(tree, position));
    return CLO_OK;
}

/* Makes the boxes again that changed: along the ways up, or all of them where that is less. */
static void settle(clo_ready_tree *tree)
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

/* ---- bounds ---- */

/* The two earliest ends, and their executors. */
typedef struct ends {
    int64_t first_ns, second_ns;
    uint32_t first, second;
} ends;

static const ends no_ends = {INT64_MAX, INT64_MAX, CLO_NONE, CLO_NONE};

static inline void take_end(ends *found, uint32_t executor, int64_t end_ns)
{
    if (end_ns < found->first_ns) {
        found->second_ns = found->first_ns;
        found->second = found->first;
        found->first_ns = end_ns;
        found->first = executor;
    } else if (end_ns < found->second_ns) {
        found->second_ns = end_ns;
        found->second = executor;
    }
}

static inline int64_t start_of(const clo_ready_tree *tree, const int64_t *inputs, uint32_t executor)
{
    int64_t tail_ns = tree->ready->tail_ns[executor];

    return inputs != NULL && inputs[executor] > tail_ns ? inputs[executor] : tail_ns;
}

/* The end on `executor` at a corner of a box: `inputs` is the side of the inputs there, followed by that of the rests. */
static int64_t corner_end(const clo_ready_tree *tree, const int64_t *inputs, int64_t reference_ns, uint32_t executor)
{
    int64_t rest_ns = inputs[tree->executors + executor];
    int64_t part_ns = tree->has_slopes ? part_of(tree, executor, reference_ns) : 0;

    return rest_ns == CLO_TIME_NEVER ? CLO_TIME_NEVER : start_of(tree, inputs, executor) + part_ns + rest_ns;
}

static ends corner_ends(const clo_ready_tree *tree, const int64_t *inputs, int64_t reference_ns)
{
    ends found = no_ends;

    for (uint32_t e = 0; e < tree->executors; e++)
        take_end(&found, e, corner_end(tree, inputs, reference_ns, e));
    return found;
}

/* The first node from here down that is a leaf or has entries on both sides. */
static uint32_t descend(const clo_ready_tree *tree, uint32_t at)
{
    while (at < tree->leaves &&
           (tree->nodes[2 * at].count == 0 || tree->nodes[2 * at + 1].count == 0)) /* ends: a leaf */
        at = tree->nodes[2 * at].count == 0 ? 2 * at + 1 : 2 * at;
    return at;
}

/* The largest D(b) - D(a) below a node, if it is known. */
static const clo_ready_gain *known_gain(const clo_ready_node *node, uint32_t a, uint32_t b)
{
    const clo_ready_gain *gain = &node->gains[(a + 3 * b) % CLO_READY_GAINS];

    return gain->instance != CLO_NONE && gain->a == a && gain->b == b ? gain : NULL;
}

static void raise_gain(clo_ready_gain *gain, int64_t gain_ns, uint32_t instance)
{
    if (gain->instance == CLO_NONE || gain_ns > gain->gain_ns ||
        (gain_ns == gain->gain_ns && instance < gain->instance)) {
        gain->gain_ns = gain_ns;
        gain->instance = instance;
    }
}

/* The same, found out where that takes one step; NULL: it would take more. */
static const clo_ready_gain *find_gain(const clo_ready_tree *tree, uint32_t at, uint32_t a, uint32_t b)
{
    const clo_schedule *schedule = tree->ready->schedule;
    clo_ready_node *node = &tree->nodes[at];
    clo_ready_gain *gain = &node->gains[(a + 3 * b) % CLO_READY_GAINS], made = {.a = a, .b = b, .instance = CLO_NONE};
    clo_ready_entry *entries;

    if (known_gain(node, a, b) != NULL)
        return gain;
    if (at >= tree->leaves) {
        uint32_t count = entries_in(tree, at, &entries);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t v = entries[i].instance, task = v == CLO_NONE ? 0 : schedule->graph->task_of[v];
            if (v != CLO_NONE)
                raise_gain(&made, clo_cost_time(schedule->cost, task, b) - clo_cost_time(schedule->cost, task, a), v);
        }
    }
    for (uint32_t child = 2 * at; at < tree->leaves && child <= 2 * at + 1; child++) {
        const clo_ready_gain *of = known_gain(&tree->nodes[descend(tree, child)], a, b);
        if (of == NULL)
            return NULL;
        raise_gain(&made, of->gain_ns, of->instance);
    }
    *gain = made;
    return gain;
}

/* True if everything in the box ends first on a and then on b, not held up by inputs: so its score is A(b) - A(a) + D(b) -
 * D(a). Ends are linear in the reference time but for rounding, so the ends of its range decide. */
static bool is_certain(const clo_ready_tree *tree, uint32_t at, uint32_t a, uint32_t b, int corners)
{
    const clo_ready_node *node = &tree->nodes[at];
    const int64_t *late = side(tree, at, INPUTS_MOST), *early = side(tree, at, INPUTS_LEAST);

    if (node->boxed != node->count)
        return false;
    for (int k = 0; k < corners; k++) {
        int64_t slack = corners == 2 ? ROUNDING_NS : 0;
        int64_t a_ns = corner_end(tree, late, node->reference_ns[k], a) + slack;
        int64_t b_ns = corner_end(tree, late, node->reference_ns[k], b) + slack;
        for (uint32_t e = 0; e < tree->executors; e++)
            if (e != a && corner_end(tree, early, node->reference_ns[k], e) < (e == b ? a_ns : b_ns))
                return false;
    }
    return true;
}

/* Where the score is certain, it is exact as soon as the gain is known. */
static void take_gain(const clo_ready_tree *tree, uint32_t at)
{
    clo_ready_node *node = &tree->nodes[at];
    uint32_t a = node->deciding[0], b = node->deciding[1];
    const clo_ready_gain *gain = find_gain(tree, at, a, b);

    if (gain == NULL)
        return;
    node->above = tree->ready->tail_ns[b] - tree->ready->tail_ns[a] + gain->gain_ns;
    node->tie = gain->instance;
    node->is_exact = true;
}

/* Sufferage is at most the difference of two functions of the reference time x: the later end on two executors, which is
 * convex, less the earliest end on any, which is concave. So over a range of x it is largest at an end of the range. The
 * two executors may be any; those that are best at either end of the range are tried. */
static void bound_sheared(const clo_ready_tree *tree, uint32_t at)
{
    clo_ready_node *node = &tree->nodes[at];
    const int64_t *late = side(tree, at, INPUTS_MOST), *early = side(tree, at, INPUTS_LEAST);
    int64_t least_ns[2];

    node->above = INT64_MAX;
    for (int k = 0; k < 2; k++) {
        ends first = corner_ends(tree, early, node->reference_ns[k]);
        least_ns[k] = first.first_ns;
        node->lowering[k] = first.first;
    }
    for (int k = 0; k < 2; k++) {
        ends pair = corner_ends(tree, late, node->reference_ns[k]);
        if (pair.second_ns == CLO_TIME_NEVER)
            continue;
        int64_t here_ns = pair.second_ns - least_ns[k];
        int64_t a_ns = corner_end(tree, late, node->reference_ns[!k], pair.first);
        int64_t b_ns = corner_end(tree, late, node->reference_ns[!k], pair.second);
        int64_t there_ns = (a_ns > b_ns ? a_ns : b_ns) - least_ns[!k];
        int64_t above = (there_ns > here_ns ? there_ns : here_ns) + ROUNDING_NS;
        if (above >= node->above)
            continue;
        node->above = above;
        node->deciding[0] = pair.first;
        node->deciding[1] = pair.second;
    }
}

/* True if inputs hold up some of a box on some executor. */
static bool is_held_up(const clo_ready_tree *tree, uint32_t at)
{
    const int64_t *inputs = side(tree, at, INPUTS_MOST), *tail_ns = tree->ready->tail_ns;
    bool is_held = false;

    for (uint32_t e = 0; e < tree->executors; e++)
        is_held |= inputs[e] > tail_ns[e];
    return is_held;
}

/* Where inputs hold tasks up, these differ more than the times do: then the plain corners of the box are enough. */
static void bound_sufferage(const clo_ready_tree *tree, uint32_t at)
{
    clo_ready_node *node = &tree->nodes[at];
    bool is_held = is_held_up(tree, at), is_range = tree->has_slopes && node->reference_ns[0] < node->reference_ns[1];

    if (is_range && !is_held) {
        bound_sheared(tree, at);
    } else {
        ends first = corner_ends(tree, side(tree, at, INPUTS_LEAST), node->reference_ns[0]);
        ends pair = corner_ends(tree, side(tree, at, INPUTS_MOST), node->reference_ns[1]);
        node->above = pair.second_ns == CLO_TIME_NEVER ? INT64_MAX : pair.second_ns - first.first_ns;
        node->lowering[0] = first.first;
        node->deciding[0] = pair.first;
        node->deciding[1] = pair.second;
    }
    node->is_certain = !is_held && node->above != INT64_MAX &&
                       is_certain(tree, at, node->deciding[0], node->deciding[1], is_range ? 2 : 1);
}

/* Computes node->above. Where a demand forbids an upper bound of an end, everything is possible. */
static void bound(const clo_ready_tree *tree, uint32_t at)
{
    clo_ready_node *node = &tree->nodes[at];

    node->seen = tree->step;
    node->tie = node->lowest;
    node->is_certain = node->is_exact = false;
    node->lowering[0] = node->lowering[1] = node->deciding[0] = node->deciding[1] = CLO_NONE;
    if (node->has_demands && tree->rule != CLO_PICK_LEAST) {
        node->above = INT64_MAX;
    } else if (node->boxed == 0) {
        node->above = 0;
    } else if (tree->rule == CLO_PICK_LEAST) {
        ends early = corner_ends(tree, side(tree, at, INPUTS_LEAST), 0);
        node->above = -early.first_ns;
        node->lowering[0] = early.first;
    } else if (tree->rule == CLO_PICK_LARGEST) {
        ends late = corner_ends(tree, side(tree, at, INPUTS_MOST), 0);
        node->above = late.first_ns;
        node->deciding[0] = late.first;
    } else {
        bound_sufferage(tree, at);
    }
}

static bool has_changed(const clo_ready_tree *tree, uint32_t executor, uint64_t seen)
{
    return executor != CLO_NONE && tree->changed[executor] > seen;
}

static bool loses(const clo_ready_node *node, const choice *best)
{
    return node->above < best->score || (node->above == best->score && node->tie > best->instance);
}

/* True if something below may be picked. */
static bool may_win(const clo_ready_tree *tree, uint32_t at, const choice *best)
{
    clo_ready_node *node = &tree->nodes[at];

    if (node->count == 0)
        return false;
    bool holds = node->seen > 0 && !has_changed(tree, node->deciding[0], node->seen) &&
                 !has_changed(tree, node->deciding[1], node->seen);
    if (holds && loses(node, best))
        return false;
    if (!holds || (!node->is_exact && (has_changed(tree, node->lowering[0], node->seen) ||
                                       has_changed(tree, node->lowering[1], node->seen))))
        bound(tree, at);
    if (node->is_certain && !node->is_exact)
        take_gain(tree, at);
    return !loses(node, best);
}

/* ---- entries ---- */

/* Computes the ends of an entry. */
static void look(const clo_ready_tree *tree, clo_ready_entry *entry)
{
    const clo_schedule *schedule = tree->ready->schedule;
    uint32_t task = schedule->graph->task_of[entry->instance];
    const int64_t *inputs = row_of(tree, entry);
    bool demands = has_demand(schedule, task);
    ends found = no_ends;

    for (uint32_t e = 0; e < tree->executors; e++) {
        int64_t end_ns = clo_cost_time(schedule->cost, task, e);
        if (demands)
            end_ns = clo_ready_append(tree->ready, task, e, inputs != NULL ? inputs[e] : 0).finish_ns;
        else if (end_ns != CLO_TIME_NEVER)
            end_ns += start_of(tree, inputs, e);
        take_end(&found, e, end_ns);
    }
    assert(found.first != CLO_NONE); /* a cost exists only if every task has an executor */
    entry->best =
        (clo_slot){found.first_ns - clo_cost_time(schedule->cost, task, found.first), found.first_ns, found.first};
    entry->second_ns = found.second_ns;
    entry->second = found.second;
    entry->seen = tree->step;
}

static int64_t score(const clo_ready_tree *tree, const clo_ready_entry *entry)
{
    switch (tree->rule) {
    case CLO_PICK_LEAST:
        return -entry->best.finish_ns;
    case CLO_PICK_LARGEST:
        return entry->best.finish_ns;
    case CLO_PICK_SUFFERAGE:
        break;
    }
    return entry->second == CLO_NONE ? 0 : entry->second_ns - entry->best.finish_ns;
}

static bool is_stale(const clo_ready_tree *tree, const clo_ready_entry *entry)
{
    return entry->best.executor == CLO_NONE || has_changed(tree, entry->best.executor, entry->seen) ||
           has_changed(tree, entry->second, entry->seen);
}

static bool beats(int64_t value, uint32_t instance, const choice *best)
{
    return value > best->score || (value == best->score && instance < best->instance);
}

/* True if a score that was computed before, and may have changed, says that it does not win all the same: the least end only
 * rises, and is no later than the end on the executor that was best. */
static bool still_loses(const clo_ready_tree *tree, const clo_ready_entry *entry, const choice *best)
{
    const clo_schedule *schedule = tree->ready->schedule;
    uint32_t task = schedule->graph->task_of[entry->instance], e = entry->best.executor;

    if (tree->rule == CLO_PICK_LEAST)
        return !beats(-entry->best.finish_ns, entry->instance, best);
    return tree->rule == CLO_PICK_LARGEST && !has_demand(schedule, task) &&
           !beats(start_of(tree, row_of(tree, entry), e) + clo_cost_time(schedule->cost, task, e), entry->instance,
                  best);
}

/* From its end, where longer tasks stand: a long one first leaves out most others. */
static void search_leaf(const clo_ready_tree *tree, uint32_t leaf, choice *best)
{
    clo_ready_entry *entries;
    uint32_t count = entries_in(tree, leaf, &entries);

    for (uint32_t i = count; i-- > 0;) {
        clo_ready_entry *entry = &entries[i];
        if (entry->instance == CLO_NONE || (entry->best.executor != CLO_NONE && still_loses(tree, entry, best)))
            continue;
        if (is_stale(tree, entry))
            look(tree, entry);
        int64_t value = score(tree, entry);
        if (beats(value, entry->instance, best))
            *best = (choice){value, entry->instance, (uint32_t)(entry - tree->entries)};
    }
}

/* Puts the children that may win on the stack, the better one on top. */
static uint32_t push_children(const clo_ready_tree *tree, uint32_t at, const choice *best, uint32_t *stack,
                              uint32_t depth)
{
    uint32_t left = descend(tree, 2 * at), right = descend(tree, 2 * at + 1);
    const clo_ready_node *l = &tree->nodes[left], *r = &tree->nodes[right];
    bool is_left = may_win(tree, left, best), is_right = may_win(tree, right, best);
    bool left_first = l->above > r->above || (l->above == r->above && l->tie < r->tie);

    if (is_left && !left_first)
        stack[depth++] = left;
    if (is_right)
        stack[depth++] = right;
    if (is_left && left_first)
        stack[depth++] = left;
    return depth;
}

uint32_t clo_ready_tree_pick(clo_ready_tree *tree, clo_slot *slot)
{
    choice best = {INT64_MIN, CLO_NONE, CLO_NONE};
    const clo_graph *graph = tree->ready->schedule->graph;
    uint32_t stack[STACK_MAX], depth = 0;

    assert(tree->count > 0);
    settle(tree);
    stack[depth++] = descend(tree, 1);
    while (depth > 0) { /* ends: every node is pushed at most once */
        uint32_t at = stack[--depth];
        if (!may_win(tree, at, &best))
            continue;
        if (tree->nodes[at].is_exact)
            best = (choice){tree->nodes[at].above, tree->nodes[at].tie,
                            tree->position[graph->task_of[tree->nodes[at].tie]]};
        else if (at >= tree->leaves)
            search_leaf(tree, at, &best);
        else
            depth = push_children(tree, at, &best, stack, depth);
    }
    assert(best.at != CLO_NONE);
    clo_ready_entry *entry = &tree->entries[best.at];
    if (is_stale(tree, entry))
        look(tree, entry);
    assert(score(tree, entry) == best.score);
    *slot = entry->best;
    return best.instance;
}

/* ---- life ---- */

static clo_status open_arrays(clo_ready_tree *tree, uint32_t tasks)
{
    clo_layout layout = {0};
    size_t nodes = 2 * (size_t)tree->leaves;
    size_t boxes = clo_layout_add(&layout, nodes * SIDES * tree->executors, sizeof(int64_t));
    size_t changed = clo_layout_add(&layout, tree->executors, sizeof(uint64_t));
    size_t slopes = clo_layout_add(&layout, tree->executors, sizeof(uint64_t));
    size_t entries = clo_layout_add(&layout, tasks, sizeof(clo_ready_entry));
    size_t node_rows = clo_layout_add(&layout, nodes, sizeof(clo_ready_node));
    size_t words = clo_layout_add(&layout, 2 * (size_t)tasks + tree->leaves, sizeof(uint32_t));
    char *block = layout.overflow ? NULL : clo_allocate_aligned(layout.bytes, 1);

    if (block == NULL)
        return clo_fail_memory("a plan");
    tree->block = block;
    tree->boxes = (void *)(block + boxes);
    tree->changed = (void *)(block + changed);
    tree->slopes = (void *)(block + slopes);
    tree->entries = (void *)(block + entries);
    tree->nodes = (void *)(block + node_rows);
    tree->task_at = (void *)(block + words);
    tree->position = tree->task_at + tasks;
    tree->dirty = tree->position + tasks;
    return CLO_OK;
}

/* Spread of what is left of the times on `executor` over a sample of tasks, once `slope` times the reference is taken away. */
static clo_u128 spread_of(const clo_ready_tree *tree, uint32_t executor, uint64_t slope)
{
    const clo_cost *cost = tree->ready->schedule->cost;
    uint32_t tasks = cost->graph->tasks, column = cost->column_of[executor];
    int64_t least = INT64_MAX, most = INT64_MIN;

    for (uint32_t t = 0; t < tasks; t += (tasks - 1) / SLOPE_SAMPLES + 1) {
        int64_t time_ns = cost->time_ns[(size_t)t * cost->columns + column];
        if (time_ns == CLO_TIME_NEVER)
            continue;
        time_ns -= (int64_t)(slope * (uint64_t)reference_of(tree, t) >> tree->slope_bits);
        least = time_ns < least ? time_ns : least;
        most = time_ns > most ? time_ns : most;
    }
    return most > least ? (clo_u128)((uint64_t)most - (uint64_t)least) : 0;
}

/* For sufferage: on each executor the time as a multiple of the time on one column, where that leaves less than the times
 * themselves. The slope is that of the task that takes longest on the reference. */
static void find_slopes(clo_ready_tree *tree)
{
    const clo_cost *cost = tree->ready->schedule->cost;
    uint32_t longest = 0;

    for (uint32_t t = 0; t < cost->graph->tasks; t++)
        if (reference_of(tree, t) > reference_of(tree, longest))
            longest = t;
    uint64_t reference_ns = (uint64_t)reference_of(tree, longest), most_ns = 1;
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

clo_status clo_ready_tree_open(clo_ready_tree *tree, clo_ready *ready, clo_pick_rule rule)
{
    const clo_schedule *schedule = ready->schedule;
    uint32_t tasks = schedule->graph->tasks;

    *tree = (clo_ready_tree){
        .ready = ready, .rule = rule, .leaves = 1, .executors = schedule->executors, .step = 1, .row_free = CLO_NONE};
    while ((uint64_t)tree->leaves * CLO_READY_LEAF < tasks)
        tree->leaves *= 2;
    clo_status status = open_arrays(tree, tasks);
    if (status == CLO_OK)
        status = clo_ready_order(schedule->cost, tree->task_at);
    if (status != CLO_OK)
        return status;
    for (uint32_t i = 0; i < tasks; i++) {
        tree->position[tree->task_at[i]] = i;
        tree->entries[i].instance = CLO_NONE;
    }
    for (uint32_t node = 0; node < 2 * tree->leaves; node++)
        tree->nodes[node] = (clo_ready_node){.lowest = CLO_NONE, .reference_ns = {INT64_MAX, 0}, .box = node};
    for (uint32_t leaf = tree->leaves; leaf < 2 * tree->leaves; leaf++)
        clear_box(tree, leaf);
    find_slopes(tree);
    return CLO_OK;
}

void clo_ready_tree_close(clo_ready_tree *tree)
{
    clo_free(tree->rows);
    clo_free(tree->block);
    *tree = (clo_ready_tree){0};
}
