/* steal.c - work stealing as a policy, so that greedy dispatch can be simulated: what an executor releases goes to
 * the bottom of its own list, it takes from the bottom, an idle one takes from the top of the next list that has
 * something for it (Blumofe and Leiserson 1999, with victims in cyclic order in place of random ones). At the start
 * the ready instances are dealt round. The lists are doubly linked, so that an instance that an executor cannot run
 * is passed over. */
#include "policy/policies.h"

#include "graph/graph.h"
#include "platform/platform.h"

typedef struct steal_list {
    uint32_t top, bottom;
} steal_list;

typedef struct steal {
    steal_list *lists;       /* [executors] */
    uint32_t *above, *below; /* [instances] */
    uint32_t *home;          /* [instances] whose list it is in */
    uint32_t executors, next;
} steal;

static size_t steal_bytes(const clo_graph *graph, const clo_platform *platform)
{
    return sizeof(steal) + platform->executors_count * sizeof(steal_list) +
           3 * (size_t)graph->instances * sizeof(uint32_t);
}

static clo_status steal_init(void *state, const clo_view *view)
{
    steal *s = state;
    uint32_t instances = clo_view_graph(view)->instances;

    s->executors = clo_cost_platform(clo_view_cost(view))->executors_count;
    s->lists = (steal_list *)(s + 1);
    s->above = (uint32_t *)(s->lists + s->executors);
    s->below = s->above + instances;
    s->home = s->below + instances;
    for (uint32_t e = 0; e < s->executors; e++)
        s->lists[e] = (steal_list){CLO_NONE, CLO_NONE};
    return CLO_OK;
}

static void steal_ready(void *state, const clo_view *view, uint32_t instance, uint32_t by)
{
    steal *s = state;

    (void)view;
    if (by == CLO_NONE)
        by = s->next++ % s->executors;
    steal_list *list = &s->lists[by];
    s->home[instance] = by;
    s->above[instance] = list->bottom;
    s->below[instance] = CLO_NONE;
    if (list->bottom == CLO_NONE)
        list->top = instance;
    else
        s->below[list->bottom] = instance;
    list->bottom = instance;
}

static void unlink_instance(steal *s, steal_list *list, uint32_t instance)
{
    uint32_t above = s->above[instance], below = s->below[instance];

    if (above == CLO_NONE)
        list->top = below;
    else
        s->below[above] = below;
    if (below == CLO_NONE)
        list->bottom = above;
    else
        s->above[below] = above;
}

static uint32_t steal_pick(void *state, const clo_view *view, uint32_t executor)
{
    steal *s = state;

    for (uint32_t i = 0; i < s->executors; i++) {
        steal_list *list = &s->lists[(executor + i) % s->executors];
        const uint32_t *onward = i == 0 ? s->above : s->below; /* own: newest first, others: oldest first */
        uint32_t instance = i == 0 ? list->bottom : list->top;
        for (; instance != CLO_NONE && clo_view_step(view); instance = onward[instance])
            if (clo_view_execution_ns(view, instance, executor) != CLO_TIME_NEVER) {
                unlink_instance(s, list, instance);
                return instance;
            }
    }
    return CLO_NONE;
}

static void steal_taken(void *state, const clo_view *view, uint32_t instance)
{
    steal *s = state;

    (void)view;
    unlink_instance(s, &s->lists[s->home[instance]], instance);
}

const clo_policy clo_policy_steal = {
    .name = "steal",
    .summary = "greedy work stealing: own newest first, else another's oldest",
    .state_bytes = steal_bytes,
    .init = steal_init,
    .ready = steal_ready,
    .pick = steal_pick,
    .taken = steal_taken,
};
