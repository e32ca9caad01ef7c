/* plan/list/ready_tree.c - see ready_tree.h. */
#include "plan/list/ready_tree.h"

#include "base/memory.h"
#include "base/status.h"

#include <assert.h>
#include <string.h>

enum { STACK_MAX = 80, REBUILT_PART = 8 };

/* The four sides of a box: of the inputs and of the times, their least and their largest. */
enum { INPUTS_LEAST, TIMES_LEAST, INPUTS_MOST, TIMES_MOST, SIDES };

/* The best task of a search so far. */
typedef struct choice {
    int64_t score;
    uint32_t instance, at; /* CLO_NONE: none yet */
} choice;

static int64_t *side(const clo_ready_tree *tree, uint32_t node, int which)
{
    return tree->boxes + ((size_t)node * SIDES + (size_t)which) * tree->executors;
}

static const int64_t *row_of(const clo_ready_tree *tree, const clo_ready_entry *entry)
{
    return entry->row == CLO_NONE ? NULL : (const int64_t *)tree->rows + (size_t)entry->row * tree->executors;
}

static bool has_demand(const clo_schedule *schedule, uint32_t task)
{
    return schedule->profiles != NULL && schedule->graph->rows[task].demand != CLO_NONE;
}

/* ---- what changes ---- */

static void mark_dirty(clo_ready_tree *tree, uint32_t position)
{
    uint32_t leaf = tree->leaves + position / CLO_READY_LEAF;

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
    memcpy((int64_t *)tree->rows + (size_t)entry->row * tree->executors, ready_ns,
           tree->executors * sizeof *ready_ns);
    return CLO_OK;
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
    tree->count++;
    mark_dirty(tree, position);
    return status;
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
    mark_dirty(tree, position);
}

/* ---- boxes ---- */

static void clear_box(const clo_ready_tree *tree, uint32_t node)
{
    for (uint32_t e = 0; e < tree->executors; e++) {
        side(tree, node, INPUTS_LEAST)[e] = side(tree, node, TIMES_LEAST)[e] = INT64_MAX;
        side(tree, node, INPUTS_MOST)[e] = side(tree, node, TIMES_MOST)[e] = 0;
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

/* Takes an entry into the box of its leaf. */
static void box_entry(clo_ready_tree *tree, uint32_t leaf, const clo_ready_entry *entry)
{
    const clo_schedule *schedule = tree->ready->schedule;
    const int64_t *inputs = row_of(tree, entry);
    int64_t *times = schedule->second_ns;
    uint32_t task = schedule->graph->task_of[entry->instance], can = 0;

    for (uint32_t e = 0; e < tree->executors; e++) {
        times[e] = clo_cost_time(schedule->cost, task, e);
        can += times[e] != CLO_TIME_NEVER;
    }
    if (can < 2 && tree->rule == CLO_PICK_SUFFERAGE)
        return; /* its score is 0, as low as a bound can be */
    tree->nodes[leaf].boxed++;
    lower(side(tree, leaf, TIMES_LEAST), times, tree->executors);
    raise(side(tree, leaf, TIMES_MOST), times, tree->executors);
    if (inputs == NULL) {
        memset(side(tree, leaf, INPUTS_LEAST), 0, tree->executors * sizeof *times);
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

    *node = (clo_ready_node){.lowest = CLO_NONE};
    clear_box(tree, leaf);
    for (uint32_t i = 0; i < count; i++) {
        if (entries[i].instance == CLO_NONE)
            continue;
        node->count++;
        node->lowest = entries[i].instance < node->lowest ? entries[i].instance : node->lowest;
        node->has_demands |=
            has_demand(tree->ready->schedule, tree->ready->schedule->graph->task_of[entries[i].instance]);
        box_entry(tree, leaf, &entries[i]);
    }
}

static void box_children(clo_ready_tree *tree, uint32_t at)
{
    const clo_ready_node *left = &tree->nodes[2 * at], *right = left + 1;
    size_t bytes = (size_t)SIDES * tree->executors * sizeof(int64_t);
    uint32_t from = left->boxed > 0 ? 2 * at : 2 * at + 1;

    tree->nodes[at] = (clo_ready_node){.lowest = left->lowest < right->lowest ? left->lowest : right->lowest,
                                       .count = left->count + right->count,
                                       .boxed = left->boxed + right->boxed,
                                       .has_demands = left->has_demands || right->has_demands};
    if (tree->nodes[at].boxed == 0)
        return; /* nobody reads the box */
    memcpy(side(tree, at, 0), side(tree, from, 0), bytes);
    if (left->boxed == 0 || right->boxed == 0)
        return;
    lower(side(tree, at, INPUTS_LEAST), side(tree, from + 1, INPUTS_LEAST), 2 * tree->executors);
    raise(side(tree, at, INPUTS_MOST), side(tree, from + 1, INPUTS_MOST), 2 * tree->executors);
}

/* Makes the boxes again that changed: along the ways up, or all of them where that is less. */
static void settle(clo_ready_tree *tree)
{
    bool all = tree->dirty_count > tree->leaves / REBUILT_PART;

    for (uint32_t i = 0; i < tree->dirty_count; i++) {
        box_leaf(tree, tree->dirty[i]);
        for (uint32_t at = tree->dirty[i] / 2; at > 0 && !all; at /= 2)
            box_children(tree, at);
    }
    for (uint32_t at = tree->leaves; at-- > 1 && all;)
        box_children(tree, at);
    tree->dirty_count = 0;
}

/* ---- bounds ---- */

static int64_t add_end(int64_t tail_ns, int64_t ready_ns, int64_t time_ns)
{
    int64_t start_ns = ready_ns > tail_ns ? ready_ns : tail_ns;

    return time_ns == CLO_TIME_NEVER ? CLO_TIME_NEVER : start_ns + time_ns;
}

/* The two earliest ends of a box's later, or earlier, corner, and their executors. */
typedef struct ends {
    int64_t first_ns, second_ns;
    uint32_t first, second;
} ends;

static ends find_ends(const clo_ready_tree *tree, const int64_t *inputs, const int64_t *times)
{
    const int64_t *tail_ns = tree->ready->tail_ns;
    ends found = {INT64_MAX, INT64_MAX, CLO_NONE, CLO_NONE};

    for (uint32_t e = 0; e < tree->executors; e++) {
        int64_t end_ns = add_end(tail_ns[e], inputs != NULL ? inputs[e] : 0, times[e]);
        if (end_ns < found.first_ns) {
            found.second_ns = found.first_ns;
            found.second = found.first;
            found.first_ns = end_ns;
            found.first = e;
        } else if (end_ns < found.second_ns) {
            found.second_ns = end_ns;
            found.second = e;
        }
    }
    return found;
}

/* Computes node->above. Where a demand forbids an upper bound of an end, everything is possible. */
static void bound(const clo_ready_tree *tree, uint32_t at)
{
    clo_ready_node *node = &tree->nodes[at];
    ends early = {0, 0, CLO_NONE, CLO_NONE}, late = early;
    bool is_open = node->has_demands && tree->rule != CLO_PICK_LEAST;

    if (tree->rule != CLO_PICK_LARGEST && node->boxed > 0)
        early = find_ends(tree, side(tree, at, INPUTS_LEAST), side(tree, at, TIMES_LEAST));
    if (tree->rule != CLO_PICK_LEAST && node->boxed > 0)
        late = find_ends(tree, side(tree, at, INPUTS_MOST), side(tree, at, TIMES_MOST));
    node->seen = tree->step;
    node->lowering = early.first;
    node->deciding[0] = late.first;
    node->deciding[1] = tree->rule == CLO_PICK_SUFFERAGE ? late.second : CLO_NONE;
    if (tree->rule == CLO_PICK_LEAST)
        node->above = -early.first_ns;
    else if (is_open)
        node->above = INT64_MAX;
    else if (tree->rule == CLO_PICK_LARGEST)
        node->above = late.first_ns;
    else
        node->above = late.second_ns == INT64_MAX ? INT64_MAX : late.second_ns - early.first_ns;
}

static bool has_changed(const clo_ready_tree *tree, uint32_t executor, uint64_t seen)
{
    return executor != CLO_NONE && tree->changed[executor] > seen;
}

static bool loses(const clo_ready_node *node, const choice *best)
{
    return node->above < best->score || (node->above == best->score && node->lowest > best->instance);
}

/* True if something below may be picked. */
static bool may_win(const clo_ready_tree *tree, uint32_t at, const choice *best)
{
    const clo_ready_node *node = &tree->nodes[at];

    if (node->count == 0)
        return false;
    bool holds = node->seen > 0 && !has_changed(tree, node->deciding[0], node->seen) &&
                 !has_changed(tree, node->deciding[1], node->seen);
    if (holds && loses(node, best))
        return false;
    if (!holds || has_changed(tree, node->lowering, node->seen))
        bound(tree, at);
    return !loses(node, best);
}

/* ---- entries ---- */

static void look_with_demands(const clo_ready_tree *tree, clo_ready_entry *entry, const int64_t *inputs, ends *found)
{
    uint32_t task = tree->ready->schedule->graph->task_of[entry->instance];

    for (uint32_t e = 0; e < tree->executors; e++) {
        clo_slot slot = clo_ready_append(tree->ready, task, e, inputs != NULL ? inputs[e] : 0);
        if (slot.finish_ns < found->first_ns) {
            found->second_ns = found->first_ns;
            found->second = found->first;
            found->first_ns = slot.finish_ns;
            found->first = e;
        } else if (slot.finish_ns < found->second_ns) {
            found->second_ns = slot.finish_ns;
            found->second = e;
        }
    }
}

/* Computes the ends of an entry. */
static void look(const clo_ready_tree *tree, clo_ready_entry *entry)
{
    const clo_schedule *schedule = tree->ready->schedule;
    uint32_t task = schedule->graph->task_of[entry->instance];
    const int64_t *inputs = row_of(tree, entry);
    ends found = {INT64_MAX, INT64_MAX, CLO_NONE, CLO_NONE};

    if (has_demand(schedule, task)) {
        look_with_demands(tree, entry, inputs, &found);
    } else {
        for (uint32_t e = 0; e < tree->executors; e++)
            schedule->second_ns[e] = clo_cost_time(schedule->cost, task, e);
        found = find_ends(tree, inputs, schedule->second_ns);
    }
    assert(found.first != CLO_NONE); /* a cost exists only if every task has an executor */
    entry->best = (clo_slot){found.first_ns - clo_cost_time(schedule->cost, task, found.first), found.first_ns,
                             found.first};
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

static bool beats(int64_t value, uint32_t instance, const choice *best)
{
    return value > best->score || (value == best->score && instance < best->instance);
}

static void search_leaf(const clo_ready_tree *tree, uint32_t leaf, choice *best)
{
    clo_ready_entry *entries;
    uint32_t count = entries_in(tree, leaf, &entries);

    for (uint32_t i = 0; i < count; i++) {
        clo_ready_entry *entry = &entries[i];
        if (entry->instance == CLO_NONE)
            continue;
        bool is_known = entry->best.executor != CLO_NONE;
        if (is_known && tree->rule == CLO_PICK_LEAST && !beats(score(tree, entry), entry->instance, best))
            continue; /* what changed since can only have made it later */
        if (!is_known || has_changed(tree, entry->best.executor, entry->seen) ||
            has_changed(tree, entry->second, entry->seen))
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
    const clo_ready_node *left = &tree->nodes[2 * at], *right = left + 1;
    bool is_left = may_win(tree, 2 * at, best), is_right = may_win(tree, 2 * at + 1, best);
    bool left_first = left->above > right->above || (left->above == right->above && left->lowest < right->lowest);

    if (is_left && !left_first)
        stack[depth++] = 2 * at;
    if (is_right)
        stack[depth++] = 2 * at + 1;
    if (is_left && left_first)
        stack[depth++] = 2 * at;
    return depth;
}

uint32_t clo_ready_tree_pick(clo_ready_tree *tree, clo_slot *slot)
{
    choice best = {INT64_MIN, CLO_NONE, CLO_NONE};
    uint32_t stack[STACK_MAX], depth = 0;

    assert(tree->count > 0);
    settle(tree);
    stack[depth++] = 1;
    while (depth > 0) { /* ends: every node is pushed at most once */
        uint32_t at = stack[--depth];
        if (!may_win(tree, at, &best))
            continue;
        if (at >= tree->leaves)
            search_leaf(tree, at, &best);
        else
            depth = push_children(tree, at, &best, stack, depth);
    }
    assert(best.at != CLO_NONE);
    *slot = tree->entries[best.at].best;
    return best.instance;
}

/* ---- life ---- */

static clo_status open_arrays(clo_ready_tree *tree, uint32_t tasks)
{
    clo_layout layout = {0};
    size_t nodes = 2 * (size_t)tree->leaves;
    size_t boxes = clo_layout_add(&layout, nodes * SIDES * tree->executors, sizeof(int64_t));
    size_t changed = clo_layout_add(&layout, tree->executors, sizeof(uint64_t));
    size_t entries = clo_layout_add(&layout, tasks, sizeof(clo_ready_entry));
    size_t node_rows = clo_layout_add(&layout, nodes, sizeof(clo_ready_node));
    size_t words = clo_layout_add(&layout, 2 * (size_t)tasks + tree->leaves, sizeof(uint32_t));
    char *block = layout.overflow ? NULL : clo_allocate_aligned(layout.bytes, 1);

    if (block == NULL)
        return clo_fail_memory("a plan");
    tree->block = block;
    tree->boxes = (void *)(block + boxes);
    tree->changed = (void *)(block + changed);
    tree->entries = (void *)(block + entries);
    tree->nodes = (void *)(block + node_rows);
    tree->task_at = (void *)(block + words);
    tree->position = tree->task_at + tasks;
    tree->dirty = tree->position + tasks;
    return CLO_OK;
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
        tree->nodes[node].lowest = CLO_NONE;
    return CLO_OK;
}

void clo_ready_tree_close(clo_ready_tree *tree)
{
    clo_free(tree->rows);
    clo_free(tree->block);
    *tree = (clo_ready_tree){0};
}
