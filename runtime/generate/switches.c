/* switches.c - the family with branches (clotho/branch.h): stages of switches side by side. A switch has three arms, two
 * likely short ones and an unlikely long one, and a merge behind them; each switch of the next stage waits for the
 * merge of its own lane and one of another. So plans for the worst case and for the mean differ. */
#include "generate/families.h"

#include <clotho/branch.h>

enum { UNIT = 1000, ARMS = 3, PER_SWITCH = ARMS + 2 };

static void add_arm(clo_shape *shape, uint32_t from, uint32_t to, uint32_t arm)
{
    if (shape->failed == CLO_OK)
        shape->failed = clo_graph_add_arm(shape->graph, from, to, UNIT, arm);
}

/* The long arm has a chance of 1/64 to 1/8, and 4 to 15 times the work of a short one. */
static uint32_t add_switch(clo_shape *shape, uint32_t stage, uint32_t lane)
{
    uint32_t seldom = CLO_CHANCES_ONE / 64 + clo_rng_below(&shape->rng, CLO_CHANCES_ONE / 64 * 7 + 1);
    uint32_t rest = CLO_CHANCES_ONE - seldom, first = rest / 4 + clo_rng_below(&shape->rng, rest / 2 + 1);
    const uint32_t chances[ARMS] = {first, rest - first, seldom};
    uint32_t branch = clo_shape_task(shape, UNIT / 4, "switch(%u,%u)", stage, lane);

    if (shape->failed == CLO_OK)
        shape->failed = clo_graph_set_branch(shape->graph, branch, ARMS, chances);
    for (uint32_t a = 0; a < ARMS; a++) {
        uint32_t times = a + 1 == ARMS ? 4 + clo_rng_below(&shape->rng, 12) : 1;
        uint32_t task = clo_shape_task(shape, times * UNIT, a + 1 == ARMS ? "seldom(%u,%u)" : "usual(%u,%u)", stage, lane);
        add_arm(shape, branch, task, a);
    }
    uint32_t merge = clo_shape_task(shape, UNIT / 4, "merge(%u,%u)", stage, lane);
    if (shape->failed == CLO_OK)
        shape->failed = clo_graph_set_merge(shape->graph, merge);
    for (uint32_t a = 0; a < ARMS; a++)
        clo_shape_edge(shape, branch + 1 + a, merge, UNIT);
    return branch;
}

void clo_shape_switches(clo_shape *shape)
{
    uint32_t lanes = shape->width > 0 ? shape->width : 4;
    uint64_t size = (uint64_t)lanes * PER_SWITCH, stages = (shape->tasks_wanted + size / 2) / size;

    for (uint32_t s = 0; (s == 0 || s < stages) && shape->failed == CLO_OK; s++)
        for (uint32_t l = 0; l < lanes && shape->failed == CLO_OK; l++) {
            uint32_t branch = add_switch(shape, s, l), before = branch - lanes * PER_SWITCH; /* of this lane */
            if (s == 0)
                continue;
            clo_shape_edge(shape, before + PER_SWITCH - 1, branch, UNIT);
            uint32_t other = lanes > 1 ? (l + 1 + clo_rng_below(&shape->rng, lanes - 1)) % lanes : l;
            if (other != l)
                clo_shape_edge(shape, before - l * PER_SWITCH + other * PER_SWITCH + PER_SWITCH - 1, branch, UNIT);
        }
}
