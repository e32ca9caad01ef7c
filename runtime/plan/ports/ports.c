/* ports.c - see ports.h: the run of a plan, event by event. At one moment executions end in the order of their
 * executors, then others begin in that order. So the times follow from the lengths and the order on each executor
 * alone, with replicas from the sources of the inputs, too (plan/contention.c counts on it). */
#include "plan/ports/ports.h"

#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "cost/cost.h"
#include "plan/ports/network.h"

#define TIME_MAX (INT64_MAX / 4)

/* What is known to come: an execution ends or may begin. */
typedef struct event {
    int64_t at_ns;
    uint32_t what; /* an executor whose execution ends, [executors +] one to look at */
} event;

typedef struct walk {
    const clo_cost *cost;
    const clo_graph *graph;
    const clo_platform *platform;
    clo_network network;
    uint32_t count;       /* executions */
    clo_placement *times; /* [count] the placements with new times */
    uint32_t *lists;      /* [count] placements, executor by executor */
    uint32_t *next, *end; /* [executors] place in lists, of what runs or comes next */
    bool *is_busy;        /* [executors] */
    uint32_t *missing;    /* [count] inputs that are not there */
    int64_t *ready_ns;    /* [count] of the inputs that are */
    int64_t *used;        /* [machines * CLO_RESOURCES_MAX] of the graph's resources */
    event *heap;          /* [executors + those to look at] */
    size_t heap_count, heap_capacity;
    int64_t now_ns;
    uint32_t done;
    clo_status status;
} walk;

/* ---- what is to come ---- */

static bool is_before(const event *a, const event *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->what < b->what;
}

static void push(walk *w, int64_t at_ns, uint32_t what)
{
    if (at_ns > TIME_MAX && w->status == CLO_OK)
        w->status = clo_fail(CLO_ERR_LIMIT, "with the ports of its machines a plan takes more than 2^61 ns; give wider "
                                            "ports");
    if (w->status == CLO_OK && clo_grow((void **)&w->heap, &w->heap_capacity, w->heap_count + 1, sizeof *w->heap) != 0)
        w->status = clo_fail_memory("the ports of a plan");
    if (w->status != CLO_OK)
        return;
    event mine = {at_ns, what};
    size_t at = w->heap_count++;
    for (; at > 0 && is_before(&mine, &w->heap[(at - 1) / 2]); at = (at - 1) / 2)
        w->heap[at] = w->heap[(at - 1) / 2];
    w->heap[at] = mine;
}

static uint32_t pop(walk *w)
{
    uint32_t what = w->heap[0].what;
    event last = w->heap[--w->heap_count];
    size_t at = 0;

    for (size_t child = 1; child < w->heap_count; child = 2 * at + 1) {
        child += child + 1 < w->heap_count && is_before(&w->heap[child + 1], &w->heap[child]);
        if (!is_before(&w->heap[child], &last))
            break;
        w->heap[at] = w->heap[child];
        at = child;
    }
    w->heap[at] = last;
    return what;
}

/* ---- executions ---- */

static int64_t *used_of(walk *w, uint32_t placement)
{
    return &w->used[(size_t)w->platform->executors[w->times[placement].executor].machine * CLO_RESOURCES_MAX];
}

static bool fits(walk *w, uint32_t placement)
{
    const int64_t *demand = clo_graph_demand(w->graph, w->times[placement].task);
    const int64_t *used = used_of(w, placement);
    uint32_t machine = w->platform->executors[w->times[placement].executor].machine;

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        int64_t capacity = clo_cost_capacity(w->cost, machine, r);
        if (demand[r] > 0 && capacity >= 0 && demand[r] > capacity - used[r])
            return false;
    }
    return true;
}

static void hold(walk *w, uint32_t placement, int sign)
{
    const int64_t *demand = clo_graph_demand(w->graph, w->times[placement].task);
    int64_t *used = used_of(w, placement);

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        used[r] += sign * demand[r];
}

/* Begins what comes next on an executor, if it can; what waits for capacity alone is looked at after each end. */
static void advance(walk *w, uint32_t executor)
{
    if (w->is_busy[executor] || w->next[executor] == w->end[executor])
        return;
    uint32_t p = w->lists[w->next[executor]];
    if (w->missing[p] > 0)
        return;
    if (w->ready_ns[p] > w->now_ns) {
        push(w, w->ready_ns[p], w->platform->executors_count + executor);
        return;
    }
    if (w->graph->has_demands && !fits(w, p))
        return;
    int64_t length_ns = w->times[p].finish_ns - w->times[p].start_ns;
    w->is_busy[executor] = true;
    w->times[p].start_ns = w->now_ns;
    w->times[p].finish_ns = clo_time_add(w->now_ns, length_ns);
    if (w->graph->has_demands)
        hold(w, p, 1);
    push(w, w->times[p].finish_ns, executor);
}

static void input_came(walk *w, uint32_t placement, int64_t at_ns)
{
    if (at_ns > w->ready_ns[placement])
        w->ready_ns[placement] = at_ns;
    if (--w->missing[placement] == 0)
        push(w, w->ready_ns[placement], w->platform->executors_count + w->times[placement].executor);
}

static void finish(walk *w, uint32_t executor)
{
    const clo_messages *m = &w->network.messages;
    uint32_t placement = w->lists[w->next[executor]];

    w->is_busy[executor] = false;
    w->next[executor]++;
    w->done++;
    clo_network_send(&w->network, placement);
    if (w->graph->has_demands)
        hold(w, placement, -1);
    for (uint32_t i = m->first_near[placement]; i < m->first_near[placement + 1]; i++)
        input_came(w, m->near[i].to, clo_time_add(w->now_ns, m->near[i].way_ns));
    advance(w, executor);
    for (uint32_t e = 0; e < w->platform->executors_count && w->graph->has_demands; e++)
        advance(w, e);
}

static void arrive(walk *w, uint32_t message)
{
    const clo_message *m = &w->network.messages.list[message];

    for (uint32_t i = m->first; i < m->end; i++)
        input_came(w, w->network.messages.far[i].to, w->now_ns);
}

/* ---- the walk ---- */

/* All that is known to happen now; messages come last. */
static void happen(walk *w)
{
    while (w->status == CLO_OK) { /* ends: an execution begins once, a message comes once */
        if (w->heap_count > 0 && w->heap[0].at_ns <= w->now_ns) {
            uint32_t what = pop(w);
            if (what < w->platform->executors_count)
                finish(w, what);
            else
                advance(w, what - w->platform->executors_count);
            continue;
        }
        uint32_t message = clo_network_take(&w->network);
        if (message == CLO_NONE)
            return;
        arrive(w, message);
    }
}

static clo_status run(walk *w)
{
    for (uint32_t e = 0; e < w->platform->executors_count; e++)
        advance(w, e);
    while (w->done < w->count && w->status == CLO_OK) { /* ends: a valid plan has no circle */
        int64_t next_ns = clo_network_next_ns(&w->network);
        if (w->heap_count > 0 && w->heap[0].at_ns < next_ns)
            next_ns = w->heap[0].at_ns;
        if (next_ns > TIME_MAX)
            return clo_fail(CLO_ERR_LIMIT, "the plan does not come to its end within 2^61 ns over the ports of its "
                                           "machines; is it valid?");
        clo_network_go(&w->network, next_ns);
        w->now_ns = next_ns;
        happen(w);
    }
    return w->status;
}

static clo_status allocate(walk *w, const clo_placement *placements)
{
    size_t count = w->count, executors = w->platform->executors_count;
    size_t machines = w->platform->machines_count;

    w->times = clo_allocate(count, sizeof *w->times);
    w->lists = clo_allocate(count, sizeof *w->lists);
    w->next = clo_allocate(executors, sizeof *w->next);
    w->end = clo_allocate(executors, sizeof *w->end);
    w->is_busy = clo_allocate(executors, sizeof *w->is_busy);
    w->missing = clo_allocate(count, sizeof *w->missing);
    w->ready_ns = clo_allocate(count, sizeof *w->ready_ns);
    w->used = clo_allocate(machines * CLO_RESOURCES_MAX, sizeof *w->used);
    if (w->times == NULL || w->lists == NULL || w->next == NULL || w->end == NULL || w->is_busy == NULL ||
        w->missing == NULL || w->ready_ns == NULL || w->used == NULL)
        return clo_fail_memory("the ports of a plan");
    for (size_t p = 0; p < count; p++) {
        w->times[p] = placements[p];
        w->end[placements[p].executor]++;
    }
    return CLO_OK;
}

static void fill(walk *w)
{
    const clo_messages *m = &w->network.messages;
    uint32_t count = w->count;

    for (uint32_t e = 0, sum = 0; e < w->platform->executors_count; e++) {
        w->next[e] = sum;
        sum += w->end[e];
        w->end[e] = w->next[e];
    }
    for (uint32_t p = 0; p < count; p++)
        w->lists[w->end[w->times[p].executor]++] = p;
    for (size_t i = 0; i < m->near_count; i++)
        w->missing[m->near[i].to]++;
    for (size_t i = 0; i < m->far_count; i++)
        w->missing[m->far[i].to]++;
}

static void close_walk(walk *w)
{
    clo_network_close(&w->network);
    clo_free(w->times);
    clo_free(w->lists);
    clo_free(w->next);
    clo_free(w->end);
    clo_free(w->is_busy);
    clo_free(w->missing);
    clo_free(w->ready_ns);
    clo_free(w->used);
    clo_free(w->heap);
}

bool clo_ports_are_finite(const clo_platform *platform)
{
    return platform->port_q32 != NULL;
}

clo_status clo_ports_refuse(const clo_platform *platform, const char *what)
{
    if (!clo_ports_are_finite(platform))
        return CLO_OK;
    return clo_fail(CLO_ERR_UNSUPPORTED,
                    "platform '%s' has machines with ports, which %s not count; leave port_bytes_per_ns out",
                    platform->name, what);
}

/* Close the walk in any case. */
static clo_status walk_through(walk *w, const clo_cost *cost, const clo_placement *placements, size_t count)
{
    *w = (walk){.cost = cost, .graph = clo_cost_graph(cost), .platform = clo_cost_platform(cost)};
    clo_status status = clo_network_open(&w->network, cost, placements, count);

    w->count = (uint32_t)count;
    if (status == CLO_OK)
        status = allocate(w, placements);
    if (status != CLO_OK)
        return status;
    fill(w);
    return run(w);
}

clo_status clo_ports_count(const clo_cost *cost, clo_placement *placements, size_t count)
{
    walk w;
    clo_status status = walk_through(&w, cost, placements, count);

    for (size_t p = 0; p < count && status == CLO_OK; p++)
        placements[p] = w.times[p];
    close_walk(&w);
    return status;
}

clo_status clo_ports_find_ready(const clo_cost *cost, const clo_placement *placements, size_t count, int64_t *ready_ns)
{
    walk w;
    clo_status status = walk_through(&w, cost, placements, count);

    for (size_t p = 0; p < count && status == CLO_OK; p++)
        ready_ns[p] = w.ready_ns[p];
    close_walk(&w);
    return status;
}
