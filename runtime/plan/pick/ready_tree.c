/* plan/pick/ready_tree.c - see ready_tree.h. */
#include "plan/pick/ready_tree.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/status.h"
#include "plan/pick/ready_bound.h"
#include "plan/pick/ready_fit.h"
#include "plan/pick/ready_order.h"
#include "plan/pick/suffer.h"

#include <assert.h>
#include <string.h>

enum { STACK_MAX = 80 };

/* The best task of a search so far. */
typedef struct choice {
    int64_t score;
    uint32_t instance, at; /* CLO_NONE: none yet */
} choice;

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
        tree->row_free = (uint32_t)clo_ready_row(tree, entry)[0];
    }
    memcpy((int64_t *)tree->rows + (size_t)entry->row * tree->executors, ready_ns, tree->executors * sizeof *ready_ns);
    return CLO_OK;
}

static void drop_inputs(clo_ready_tree *tree, const clo_ready_entry *entry)
{
    if (entry->row != CLO_NONE) {
        int64_t *row = (int64_t *)tree->rows + (size_t)entry->row * tree->executors;
        row[0] = tree->row_free;
        tree->row_free = entry->row;
    }
    tree->count--;
}

/* The entry that was picked goes on with the next instance of its task; false: it leaves. */
static bool goes_on(const clo_ready_tree *tree, clo_ready_entry *entry)
{
    const clo_graph *graph = tree->ready->schedule->graph;
    uint32_t end = graph->first_instance[graph->task_of[entry->instance] + 1];

    return ++entry->instance < end;
}

void clo_ready_tree_placed(clo_ready_tree *tree, uint32_t instance, uint32_t executor)
{
    const clo_schedule *schedule = tree->ready->schedule;
    const clo_graph *graph = schedule->graph;
    uint32_t task = graph->task_of[instance];

    tree->step++;
    tree->changed[executor] = tree->step;
    for (uint32_t e = 0; e < tree->executors && clo_ready_has_demand(schedule, task); e++)
        if (schedule->platform->executors[e].machine == schedule->platform->executors[executor].machine)
            tree->changed[e] = tree->step;
    if (tree->is_flat) {
        clo_ready_entry *entry = &tree->few[tree->picked];
        assert(entry->instance == instance);
        if (goes_on(tree, entry))
            return;
        drop_inputs(tree, entry);
        *entry = tree->few[tree->count];
        return;
    }
    uint32_t position = tree->position[task];
    clo_ready_entry *entry = &tree->entries[position];
    assert(entry->instance == instance);
    if (!goes_on(tree, entry)) {
        drop_inputs(tree, entry);
        entry->instance = CLO_NONE;
    }
    tree->nodes[clo_ready_leaf(tree, position)].is_loose = true;
    mark_dirty(tree, clo_ready_leaf(tree, position));
}

static clo_status open_arrays(clo_ready_tree *tree, uint32_t tasks)
{
    size_t nodes = 2 * (size_t)tree->leaves;
    clo_block block = {0};

    clo_carve(&block, &tree->boxes, nodes * CLO_BOX_SIDES * tree->executors);
    clo_carve(&block, &tree->slopes, tree->executors);
    clo_carve(&block, &tree->entries, tasks);
    clo_carve(&block, &tree->nodes, nodes);
    clo_carve(&block, &tree->task_at, tasks);
    clo_carve(&block, &tree->position, tasks);
    clo_carve(&block, &tree->dirty, tree->leaves);
    if (tree->ready->schedule->profiles != NULL)
        clo_carve(&block, &tree->demands, nodes * 2 * CLO_RESOURCES_MAX);
    tree->tree_block = clo_block_allocate(&block);
    if (tree->tree_block == NULL)
        return clo_fail_memory("a plan");
    return CLO_OK;
}

/* The tree itself, without an entry: when it is wanted for the first time. */
static clo_status make_tree(clo_ready_tree *tree)
{
    const clo_schedule *schedule = tree->ready->schedule;
    uint32_t tasks = schedule->graph->tasks;

    tree->leaves = 1;
    while ((uint64_t)tree->leaves * CLO_READY_LEAF < tasks)
        tree->leaves *= 2;
    clo_status status = open_arrays(tree, tasks);
    if (status == CLO_OK)
        status = clo_ready_order(schedule->cost, CLO_READY_LEAF, tree->task_at);
    if (status != CLO_OK)
        return status;
    for (uint32_t i = 0; i < tasks; i++) {
        tree->position[tree->task_at[i]] = i;
        tree->entries[i].instance = CLO_NONE;
    }
    for (uint32_t node = 0; node < 2 * tree->leaves; node++)
        tree->nodes[node] = (clo_ready_node){.lowest = CLO_NONE, .reference_ns = {INT64_MAX, 0}, .box = node};
    for (uint32_t leaf = tree->leaves; leaf < 2 * tree->leaves; leaf++)
        clo_ready_clear_box(tree, leaf);
    clo_ready_find_slopes(tree);
    return CLO_OK;
}

static void insert(clo_ready_tree *tree, const clo_ready_entry *entry)
{
    uint32_t position = tree->position[tree->ready->schedule->graph->task_of[entry->instance]];
    uint32_t leaf = clo_ready_leaf(tree, position);

    assert(tree->entries[position].instance == CLO_NONE);
    tree->entries[position] = *entry;
    clo_ready_box_entry(tree, leaf, entry);
    mark_dirty(tree, leaf);
}

/* The few entries go into the tree, with what is known of them. */
static clo_status plant(clo_ready_tree *tree)
{
    clo_status status = tree->tree_block == NULL ? make_tree(tree) : CLO_OK;

    for (uint32_t i = 0; i < tree->count && status == CLO_OK; i++)
        insert(tree, &tree->few[i]);
    tree->is_flat = false;
    return status;
}

clo_status clo_ready_tree_add(clo_ready_tree *tree, uint32_t instance)
{
    clo_ready_entry entry = {.best.executor = CLO_NONE, .instance = instance};
    clo_status status = CLO_OK;

    if (tree->count == 0)
        tree->is_flat = true;
    if (tree->is_flat && tree->count == tree->few_max)
        status = plant(tree);
    if (status != CLO_OK)
        return status;
    clo_schedule_find_ready(tree->ready->schedule, instance);
    status = keep_inputs(tree, &entry);
    if (status != CLO_OK)
        return status;
    if (tree->is_flat)
        tree->few[tree->count] = entry;
    else
        insert(tree, &entry);
    tree->count++;
    return CLO_OK;
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
    bool holds = node->seen > 0 && !clo_ready_has_changed(tree, node->deciding[0], node->seen) &&
                 !clo_ready_has_changed(tree, node->deciding[1], node->seen);
    if (holds && loses(node, best))
        return false;
    if (!holds || (!node->is_exact && (clo_ready_has_changed(tree, node->lowering[0], node->seen) ||
                                       clo_ready_has_changed(tree, node->lowering[1], node->seen))))
        clo_ready_bound(tree, at);
    if (node->is_certain && !node->is_exact)
        clo_ready_take_gain(tree, at);
    return !loses(node, best);
}

/* Ends only rise: no end on `executor` is before this one, as the last look has told. */
static int64_t known_end(const clo_ready_entry *entry, uint32_t executor)
{
    if (entry->best.executor == CLO_NONE)
        return 0;
    return executor != entry->best.executor && entry->second != CLO_NONE ? entry->second_ns : entry->best.finish_ns;
}

static bool asks_holes(const clo_ready_tree *tree)
{
    return tree->suffer != NULL && tree->is_flat && tree->count >= tree->holes_min;
}

/* Computes the ends of an entry. */
static void look(const clo_ready_tree *tree, clo_ready_entry *entry)
{
    const clo_schedule *schedule = tree->ready->schedule;
    uint32_t task = schedule->graph->task_of[entry->instance];
    const int64_t *inputs = clo_ready_row(tree, entry);
    clo_ready_ends found = clo_ready_no_ends;

    if (clo_ready_has_demand(schedule, task)) {
        for (uint32_t e = 0; e < tree->executors; e++) {
            int64_t from_ns = clo_ready_start(tree, inputs, e), time_ns = clo_cost_time(schedule->cost, task, e);
            int64_t known_ns = known_end(entry, e) - time_ns;
            tree->from_ns[e] = from_ns > known_ns ? from_ns : known_ns;
            tree->times_ns[e] = time_ns;
        }
        entry->shortest_ns = clo_cost_fastest(schedule->cost, task);
        found = clo_ready_fit(tree, clo_graph_demand(schedule->graph, task), &entry->base_ns);
    }
    for (uint32_t e = 0; e < tree->executors && !clo_ready_has_demand(schedule, task); e++) {
        int64_t end_ns = clo_cost_time(schedule->cost, task, e);
        if (end_ns != CLO_TIME_NEVER)
            end_ns += clo_ready_start(tree, inputs, e);
        clo_ready_take_end(&found, e, end_ns);
    }
    assert(found.first != CLO_NONE); /* a cost exists only if every task has an executor */
    entry->best =
        (clo_slot){found.first_ns - clo_cost_time(schedule->cost, task, found.first), found.first_ns, found.first};
    entry->second_ns = found.second_ns;
    entry->second = found.second;
    entry->least_ns = found.first_ns;
    entry->seen = tree->step;
    if (asks_holes(tree) && clo_ready_has_demand(schedule, task))
        clo_suffer_learn(tree->suffer, tree, entry);
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
    return entry->best.executor == CLO_NONE || clo_ready_has_changed(tree, entry->best.executor, entry->seen) ||
           clo_ready_has_changed(tree, entry->second, entry->seen);
}

static bool beats(int64_t value, uint32_t instance, const choice *best)
{
    return value > best->score || (value == best->score && instance < best->instance);
}

/* True if a score that was computed before, and may have changed, says that it does not win all the same: the least
 * end only rises, and is no later than the end on the executor that was best. */
static bool still_loses(const clo_ready_tree *tree, clo_ready_entry *entry, const choice *best)
{
    const clo_schedule *schedule = tree->ready->schedule;
    uint32_t task = schedule->graph->task_of[entry->instance], e = entry->best.executor;

    if (tree->rule == CLO_PICK_LEAST)
        return !beats(-entry->best.finish_ns, entry->instance, best);
    if (asks_holes(tree) && best->at != CLO_NONE && clo_ready_has_demand(schedule, task))
        return clo_suffer_loses(tree->suffer, tree, entry, best->score, best->instance);
    if (tree->rule == CLO_PICK_SUFFERAGE || clo_ready_has_demand(schedule, task))
        return false;
    return !beats(clo_ready_start(tree, clo_ready_row(tree, entry), e) + clo_cost_time(schedule->cost, task, e),
                  entry->instance, best);
}

static bool has_slot(const clo_ready_tree *tree, const clo_ready_entry *entry, uint32_t e, int64_t end_ns)
{
    const clo_schedule *schedule = tree->ready->schedule;
    uint32_t task = schedule->graph->task_of[entry->instance];

    return clo_ready_still_fits(tree, clo_graph_demand(schedule->graph, task), e,
                                clo_ready_start(tree, clo_ready_row(tree, entry), e),
                                clo_cost_time(schedule->cost, task, e), end_ns);
}

/* Ends only rise: so the two earliest ones of a task with a demand are what they were if their slots are still
 * there. */
static bool is_unchanged(const clo_ready_tree *tree, const clo_ready_entry *entry)
{
    const clo_schedule *schedule = tree->ready->schedule;

    return entry->best.executor != CLO_NONE &&
           clo_ready_has_demand(schedule, schedule->graph->task_of[entry->instance]) &&
           has_slot(tree, entry, entry->best.executor, entry->best.finish_ns) &&
           (entry->second == CLO_NONE || has_slot(tree, entry, entry->second, entry->second_ns));
}

static void refresh(const clo_ready_tree *tree, clo_ready_entry *entry)
{
    if (is_stale(tree, entry) && is_unchanged(tree, entry))
        entry->seen = tree->step;
    else if (is_stale(tree, entry))
        look(tree, entry);
}

/* Takes the entry, `at`, if it is better. */
static void consider(const clo_ready_tree *tree, clo_ready_entry *entry, uint32_t at, choice *best)
{
    if (entry->best.executor != CLO_NONE && still_loses(tree, entry, best))
        return;
    refresh(tree, entry);
    int64_t value = score(tree, entry);
    if (beats(value, entry->instance, best))
        *best = (choice){value, entry->instance, at};
}

/* From its end, where longer tasks stand: a long one first leaves out most others. */
static void search_leaf(const clo_ready_tree *tree, uint32_t leaf, choice *best)
{
    clo_ready_entry *entries;
    uint32_t count = clo_ready_entries(tree, leaf, &entries);

    for (uint32_t i = count; i-- > 0;)
        if (entries[i].instance != CLO_NONE)
            consider(tree, &entries[i], (uint32_t)(&entries[i] - tree->entries), best);
}

/* Of few entries: the one with the least end of those that are known, again and again, until its end is what it is
 * now: ends only rise. */
static uint32_t least_of_few(const clo_ready_tree *tree)
{
    for (uint32_t looks = 0;; looks++) { /* ends: none is looked at twice */
        int64_t least_ns = INT64_MAX;
        uint32_t at = CLO_NONE;

        assert(looks <= tree->count);
        (void)looks; /* where asserts are off */
        for (uint32_t i = 0; i < tree->count; i++) {
            const clo_ready_entry *entry = &tree->few[i];
            int64_t end_ns = entry->best.executor == CLO_NONE ? INT64_MIN : entry->best.finish_ns;
            if (at == CLO_NONE || end_ns < least_ns ||
                (end_ns == least_ns && entry->instance < tree->few[at].instance)) {
                least_ns = end_ns;
                at = i;
            }
        }
        if (!is_stale(tree, &tree->few[at]))
            return at;
        refresh(tree, &tree->few[at]);
    }
}

static uint32_t pick_of_few(clo_ready_tree *tree, clo_slot *slot)
{
    choice best = {INT64_MIN, CLO_NONE, CLO_NONE};

    if (tree->rule == CLO_PICK_LEAST)
        best.at = least_of_few(tree);
    if (asks_holes(tree))
        clo_suffer_begin(tree->suffer, tree);
    for (uint32_t i = 0; i < tree->count && tree->rule != CLO_PICK_LEAST; i++)
        consider(tree, &tree->few[i], i, &best);
    assert(best.at != CLO_NONE);
    tree->picked = best.at;
    *slot = tree->few[best.at].best;
    return tree->few[best.at].instance;
}

/* Puts the children that may win on the stack, the better one on top. */
static uint32_t push_children(const clo_ready_tree *tree, uint32_t at, const choice *best, uint32_t *stack,
                              uint32_t depth)
{
    uint32_t left = clo_ready_descend(tree, 2 * at), right = clo_ready_descend(tree, 2 * at + 1);
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
    if (tree->is_flat)
        return pick_of_few(tree, slot);
    clo_ready_settle(tree);
    stack[depth++] = clo_ready_descend(tree, 1);
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

/* For sufferage with demands on one machine there is no tree: suffer.h leaves out most tasks. */
static bool is_one_row(const clo_schedule *schedule, clo_pick_rule rule)
{
    return rule == CLO_PICK_SUFFERAGE && schedule->profiles != NULL && schedule->platform->machines_count == 1;
}

/* With how many entries a tree begins to pay (bench planners). A box costs as much as there are executors; the row for
 * the least end mostly does not. Where inputs differ boxes are loose; those of sufferage, a difference, are then worth
 * little. */
static uint32_t few_of(const clo_schedule *schedule, clo_pick_rule rule)
{
    uint32_t few = CLO_READY_FEW / 8;

    if (rule != CLO_PICK_SUFFERAGE && schedule->profiles != NULL)
        return CLO_READY_FEW; /* list/batch.c gives them no more */
    if (rule == CLO_PICK_LEAST)
        few += 3 * schedule->executors;
    if (rule == CLO_PICK_SUFFERAGE)
        few = schedule->graph->edges > 0 ? CLO_READY_FEW : CLO_READY_FEW / 4;
    return few < CLO_READY_FEW ? few : CLO_READY_FEW;
}

clo_status clo_ready_tree_open(clo_ready_tree *tree, clo_ready *ready, clo_pick_rule rule)
{
    clo_block block = {0};

    *tree = (clo_ready_tree){.ready = ready,
                             .rule = rule,
                             .executors = ready->schedule->executors,
                             .step = 1,
                             .few_max = few_of(ready->schedule, rule),
                             .holes_min = few_of(ready->schedule, rule),
                             .row_free = CLO_NONE};
    if (is_one_row(ready->schedule, rule)) {
        tree->few_max = ready->schedule->graph->tasks;
        clo_carve(&block, &tree->suffer, 1);
    }
    clo_carve(&block, &tree->changed, tree->executors);
    clo_carve(&block, &tree->few, tree->few_max);
    clo_carve(&block, &tree->from_ns, tree->executors);
    clo_carve(&block, &tree->times_ns, tree->executors);
    tree->block = clo_block_allocate(&block);
    return tree->block != NULL ? CLO_OK : clo_fail_memory("a plan");
}

void clo_ready_tree_close(clo_ready_tree *tree)
{
    clo_free(tree->rows);
    clo_free(tree->tree_block);
    clo_free(tree->block);
    *tree = (clo_ready_tree){0};
}
