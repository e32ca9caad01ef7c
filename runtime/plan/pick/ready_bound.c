/* plan/pick/ready_bound.c - see ready_bound.h. */
#include "plan/pick/ready_bound.h"

#include <assert.h>

enum { ROUNDING_NS = 2 };

/* The end on `executor` at a corner of a box: `inputs` is the side of the inputs there, followed by that of the
 * rests. */
static int64_t corner_end(const clo_ready_tree *tree, const int64_t *inputs, int64_t reference_ns, uint32_t executor)
{
    int64_t rest_ns = inputs[tree->executors + executor];
    int64_t part_ns = tree->has_slopes ? clo_ready_part(tree, executor, reference_ns) : 0;

    return rest_ns == CLO_TIME_NEVER ? CLO_TIME_NEVER : clo_ready_start(tree, inputs, executor) + part_ns + rest_ns;
}

static clo_ready_ends corner_ends(const clo_ready_tree *tree, const int64_t *inputs, int64_t reference_ns)
{
    clo_ready_ends found = clo_ready_no_ends;

    for (uint32_t e = 0; e < tree->executors; e++)
        clo_ready_take_end(&found, e, corner_end(tree, inputs, reference_ns, e));
    return found;
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
        uint32_t count = clo_ready_entries(tree, at, &entries);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t v = entries[i].instance, task = v == CLO_NONE ? 0 : schedule->graph->task_of[v];
            if (v != CLO_NONE)
                raise_gain(&made, clo_cost_time(schedule->cost, task, b) - clo_cost_time(schedule->cost, task, a), v);
        }
    }
    for (uint32_t child = 2 * at; at < tree->leaves && child <= 2 * at + 1; child++) {
        const clo_ready_gain *of = known_gain(&tree->nodes[clo_ready_descend(tree, child)], a, b);
        if (of == NULL)
            return NULL;
        raise_gain(&made, of->gain_ns, of->instance);
    }
    *gain = made;
    return gain;
}

/* True if everything in the box ends first on a and then on b, not held up by inputs: so its score is A(b)
 * - A(a) + D(b) - D(a). Ends are linear in the reference time but for rounding, so the ends of its range decide. */
static bool is_certain(const clo_ready_tree *tree, uint32_t at, uint32_t a, uint32_t b, int corners)
{
    const clo_ready_node *node = &tree->nodes[at];
    const int64_t *late = clo_ready_side(tree, at, CLO_INPUTS_MOST),
                  *early = clo_ready_side(tree, at, CLO_INPUTS_LEAST);

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

void clo_ready_take_gain(const clo_ready_tree *tree, uint32_t at)
{
    clo_ready_node *node = &tree->nodes[at];
    uint32_t a = node->deciding[0], b = node->deciding[1];
    const clo_ready_gain *gain = find_gain(tree, at, a, b);

    if (gain == NULL)
        return;
    node->above = tree->ready->available_ns[b] - tree->ready->available_ns[a] + gain->gain_ns;
    node->tie = gain->instance;
    node->is_exact = true;
}

/* Sufferage is at most the difference of two functions of the reference time x: the later end on two executors,
 * which is convex, less the earliest end on any, which is concave. So over a range of x it is largest at an end of
 * the range. The two executors may be any; those that are best at either end of the range are tried. */
static void bound_sheared(const clo_ready_tree *tree, uint32_t at)
{
    clo_ready_node *node = &tree->nodes[at];
    const int64_t *late = clo_ready_side(tree, at, CLO_INPUTS_MOST),
                  *early = clo_ready_side(tree, at, CLO_INPUTS_LEAST);
    int64_t least_ns[2];

    node->above = INT64_MAX;
    for (int k = 0; k < 2; k++) {
        clo_ready_ends first = corner_ends(tree, early, node->reference_ns[k]);
        least_ns[k] = first.first_ns;
        node->lowering[k] = first.first;
    }
    for (int k = 0; k < 2; k++) {
        clo_ready_ends pair = corner_ends(tree, late, node->reference_ns[k]);
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
    const int64_t *inputs = clo_ready_side(tree, at, CLO_INPUTS_MOST), *available_ns = tree->ready->available_ns;
    bool is_held = false;

    for (uint32_t e = 0; e < tree->executors; e++)
        is_held |= inputs[e] > available_ns[e];
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
        clo_ready_ends first = corner_ends(tree, clo_ready_side(tree, at, CLO_INPUTS_LEAST), node->reference_ns[0]);
        clo_ready_ends pair = corner_ends(tree, clo_ready_side(tree, at, CLO_INPUTS_MOST), node->reference_ns[1]);
        node->above = pair.second_ns == CLO_TIME_NEVER ? INT64_MAX : pair.second_ns - first.first_ns;
        node->lowering[0] = first.first;
        node->deciding[0] = pair.first;
        node->deciding[1] = pair.second;
    }
    node->is_certain = !is_held && node->above != INT64_MAX &&
                       is_certain(tree, at, node->deciding[0], node->deciding[1], is_range ? 2 : 1);
}

/* The ends at a corner of a box with demands. The capacities that a task needs there are those of the corner. */
static clo_ready_ends fitted_ends(const clo_ready_tree *tree, uint32_t at, bool most)
{
    clo_ready_node *node = &tree->nodes[at];
    const int64_t *inputs = clo_ready_side(tree, at, most ? CLO_INPUTS_MOST : CLO_INPUTS_LEAST);
    const int64_t *rests = inputs + tree->executors;

    for (uint32_t e = 0; e < tree->executors; e++) {
        int64_t part_ns = tree->has_slopes ? clo_ready_part(tree, e, node->reference_ns[most]) : 0;
        tree->from_ns[e] = clo_ready_start(tree, inputs, e);
        tree->times_ns[e] = rests[e] == CLO_TIME_NEVER ? CLO_TIME_NEVER : part_ns + rests[e];
    }
    return clo_ready_fit(tree, clo_ready_demands(tree, at, most), &node->base_ns[most]);
}

/* Ends rise with the demand and with the time, so the corners of a box bound them, as they do without demands. For
 * other rules there is no tree with demands: see list/batch.c. */
static void bound_with_demands(const clo_ready_tree *tree, uint32_t at)
{
    clo_ready_node *node = &tree->nodes[at];
    clo_ready_ends late = fitted_ends(tree, at, true), early = fitted_ends(tree, at, false);

    assert(tree->rule == CLO_PICK_SUFFERAGE);
    node->deciding[0] = late.first;
    node->deciding[1] = late.second;
    node->lowering[0] = early.first;
    node->above = late.second_ns == INT64_MAX ? INT64_MAX : late.second_ns - early.first_ns;
}

void clo_ready_bound(const clo_ready_tree *tree, uint32_t at)
{
    clo_ready_node *node = &tree->nodes[at];

    node->seen = tree->step;
    node->tie = node->lowest;
    node->is_certain = node->is_exact = false;
    node->lowering[0] = node->lowering[1] = node->deciding[0] = node->deciding[1] = CLO_NONE;
    if (node->boxed == 0) {
        node->above = 0;
    } else if (node->has_demands) {
        bound_with_demands(tree, at);
    } else if (tree->rule == CLO_PICK_LEAST) {
        clo_ready_ends early = corner_ends(tree, clo_ready_side(tree, at, CLO_INPUTS_LEAST), 0);
        node->above = -early.first_ns;
        node->lowering[0] = early.first;
    } else if (tree->rule == CLO_PICK_LARGEST) {
        clo_ready_ends late = corner_ends(tree, clo_ready_side(tree, at, CLO_INPUTS_MOST), 0);
        node->above = late.first_ns;
        node->deciding[0] = late.first;
    } else {
        bound_sufferage(tree, at);
    }
}
