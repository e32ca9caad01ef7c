/* eft.c - each instance, when it becomes ready, is given to the executor where it is expected to finish first, counting
 * what that executor already has to do and the transfers (minimum completion time; StarPU's "dm" family decides alike).
 * Executors serve their queues in order. An executor may stay idle although work is ready elsewhere: that is the point
 * on unequal executors. */
#include "policy/policies.h"

#include "base/saturate.h"
#include "graph/graph.h"
#include "platform/platform.h"

typedef struct eft_queue {
    uint32_t head, tail; /* instances, chained through next */
    int64_t queued_ns;   /* expected time of all that waits here */
} eft_queue;

typedef struct eft {
    eft_queue *queues; /* [executors] */
    uint32_t *next;    /* [instances] */
    uint32_t executors;
} eft;

static size_t eft_bytes(const clo_graph *graph, const clo_platform *platform)
{
    return sizeof(eft) + platform->executors_count * sizeof(eft_queue) + graph->instances * sizeof(uint32_t);
}

static clo_status eft_init(void *state, const clo_view *view)
{
    eft *p = state;

    p->executors = clo_cost_platform(clo_view_cost(view))->executors_count;
    p->queues = (eft_queue *)(p + 1);
    p->next = (uint32_t *)(p->queues + p->executors);
    for (uint32_t e = 0; e < p->executors; e++)
        p->queues[e] = (eft_queue){CLO_NONE, CLO_NONE, 0};
    return CLO_OK;
}

static void eft_ready(void *state, const clo_view *view, uint32_t instance, uint32_t by)
{
    eft *p = state;
    uint32_t best = CLO_NONE;
    int64_t best_ns = INT64_MAX;

    (void)by;
    for (uint32_t e = 0; e < p->executors; e++) {
        int64_t execution_ns = clo_view_execution_ns(view, instance, e);
        if (execution_ns == CLO_TIME_NEVER)
            continue;
        int64_t free_ns = clo_time_add(clo_view_available_ns(view, e), p->queues[e].queued_ns);
        int64_t arrival_ns = clo_view_arrival_ns(view, instance, e);
        int64_t finish_ns = clo_time_add(free_ns > arrival_ns ? free_ns : arrival_ns, execution_ns);
        if (best == CLO_NONE || finish_ns < best_ns) {
            best_ns = finish_ns;
            best = e;
        }
    }
    eft_queue *queue = &p->queues[best]; /* a cost exists only if some executor can run each task */
    p->next[instance] = CLO_NONE;
    if (queue->head == CLO_NONE)
        queue->head = instance;
    else
        p->next[queue->tail] = instance;
    queue->tail = instance;
    queue->queued_ns += clo_view_execution_ns(view, instance, best);
}

static uint32_t eft_pick(void *state, const clo_view *view, uint32_t executor)
{
    eft *p = state;
    eft_queue *queue = &p->queues[executor];
    uint32_t instance = queue->head;

    if (instance == CLO_NONE)
        return CLO_NONE;
    queue->head = p->next[instance];
    queue->queued_ns -= clo_view_execution_ns(view, instance, executor);
    return instance;
}

const clo_policy clo_policy_eft = {
    .name = "eft",
    .summary = "each ready instance to the executor that is expected to finish it first",
    .state_bytes = eft_bytes,
    .init = eft_init,
    .ready = eft_ready,
    .pick = eft_pick,
};
