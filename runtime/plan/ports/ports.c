/* ports.c - see ports.h: the run of a plan, event by event. What begins at a moment begins in the order of the plan. */
#include "plan/ports/ports.h"

#include "base/memory.h"
#include "base/saturate.h"
#include "base/status.h"
#include "cost/cost.h"
#include "graph/branch.h"
#include "plan/ports/share.h"

#define TIME_MAX (INT64_MAX / 4)

/* What is known to come: an execution ends or may begin, a message arrives. */
typedef struct event {
    int64_t at_ns;
    uint32_t what; /* a placement that ends, [count +] an executor to look at, [count + executors +] a message */
} event;

typedef struct walk {
    const clo_cost *cost;
    const clo_graph *graph;
    const clo_platform *platform;
    clo_messages messages;
    clo_share share;
    clo_placement *times; /* [count] the placements with new times */
    uint32_t *lists;      /* [count] placements, executor by executor */
    uint32_t *next, *end; /* [executors] place in lists, of what runs or comes next */
    bool *is_busy;        /* [executors] */
    uint32_t *missing;    /* [count] inputs that are not there */
    int64_t *ready_ns;    /* [count] of the inputs that are */
    uint32_t *urgent;     /* [messages] large ones that wait, any order */
    uint32_t urgent_count;
    uint32_t *flows; /* [machines] large messages under way from it */
    int64_t *used;   /* [machines * CLO_RESOURCES_MAX] of the graph's resources */
    event *heap;     /* [count + messages + executors + what capacity makes wait] */
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

/* ---- messages ---- */

static bool is_large(const walk *w, uint32_t message)
{
    return w->messages.list[message].bytes > CLO_PORT_LARGE_BYTES;
}

static void send_urgent(walk *w, uint32_t machine)
{
    while (w->flows[machine] < CLO_PORT_FLOWS) { /* ends: one less waits */
        uint32_t best = CLO_NONE;
        for (uint32_t i = 0; i < w->urgent_count; i++) {
            const clo_message *m = &w->messages.list[w->urgent[i]];
            const clo_message *b = best == CLO_NONE ? NULL : &w->messages.list[w->urgent[best]];
            if (m->from_machine == machine &&
                (b == NULL || m->rank_u > b->rank_u || (m->rank_u == b->rank_u && w->urgent[i] < w->urgent[best])))
                best = i;
        }
        if (best == CLO_NONE)
            return;
        w->flows[machine]++;
        clo_share_add(&w->share, w->urgent[best]);
        w->urgent[best] = w->urgent[--w->urgent_count];
    }
}

/* All messages of an execution that has ended. */
static void send(walk *w, uint32_t placement)
{
    uint32_t from = w->messages.first_message[placement], to = w->messages.first_message[placement + 1];

    for (uint32_t i = from; i < to; i++)
        if (is_large(w, i))
            w->urgent[w->urgent_count++] = i;
        else
            clo_share_add(&w->share, i);
    if (from < to)
        send_urgent(w, w->messages.list[from].from_machine);
}

/* The last byte has left; no message is there earlier than it would be alone. */
static void went(walk *w, uint32_t message)
{
    const clo_message *m = &w->messages.list[message];
    int64_t there_ns = clo_time_add(w->now_ns, m->latency_ns);
    int64_t alone_ns = clo_time_add(w->times[m->from].finish_ns, m->alone_ns);

    if (is_large(w, message)) {
        w->flows[m->from_machine]--;
        send_urgent(w, m->from_machine);
    }
    push(w, there_ns > alone_ns ? there_ns : alone_ns, w->messages.count + w->platform->executors_count + message);
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
        push(w, w->ready_ns[p], w->messages.count + executor);
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
    push(w, w->times[p].finish_ns, p);
}

static void input_came(walk *w, uint32_t placement, int64_t at_ns)
{
    if (at_ns > w->ready_ns[placement])
        w->ready_ns[placement] = at_ns;
    if (--w->missing[placement] == 0)
        advance(w, w->times[placement].executor);
}

static void finish(walk *w, uint32_t placement)
{
    const clo_messages *m = &w->messages;
    uint32_t executor = w->times[placement].executor;

    w->is_busy[executor] = false;
    w->next[executor]++;
    w->done++;
    send(w, placement);
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
    const clo_message *m = &w->messages.list[message];

    for (uint32_t i = m->first; i < m->end; i++)
        input_came(w, w->messages.far[i].to, w->now_ns);
}

/* ---- the walk ---- */

/* All that is known to happen now. */
static void happen(walk *w)
{
    uint32_t count = w->messages.count, executors = w->platform->executors_count;

    for (uint32_t message; (message = clo_share_take(&w->share)) != CLO_NONE;)
        went(w, message);
    while (w->heap_count > 0 && w->heap[0].at_ns <= w->now_ns && w->status == CLO_OK) {
        uint32_t what = pop(w);
        if (what < count)
            finish(w, what);
        else if (what < count + executors)
            advance(w, what - count);
        else
            arrive(w, what - count - executors);
    }
}

static clo_status run(walk *w)
{
    for (uint32_t e = 0; e < w->platform->executors_count; e++)
        advance(w, e);
    while (w->done < w->messages.count && w->status == CLO_OK) { /* ends: a valid plan has no circle */
        clo_share_rates(&w->share);
        int64_t moves_ns = clo_share_next_ns(&w->share);
        int64_t next_ns = clo_time_add(w->now_ns, moves_ns);
        if (w->heap_count > 0 && w->heap[0].at_ns < next_ns)
            next_ns = w->heap[0].at_ns;
        if (next_ns > TIME_MAX)
            return clo_fail(CLO_ERR_LIMIT, "the plan does not come to its end within 2^61 ns over the ports of its "
                                           "machines; is it valid?");
        clo_share_move(&w->share, next_ns - w->now_ns);
        w->now_ns = next_ns;
        happen(w);
    }
    return w->status;
}

static clo_status allocate(walk *w, const clo_placement *placements)
{
    size_t count = w->messages.count, executors = w->platform->executors_count;
    size_t machines = w->platform->machines_count;

    w->times = clo_allocate(count, sizeof *w->times);
    w->lists = clo_allocate(count, sizeof *w->lists);
    w->next = clo_allocate(executors, sizeof *w->next);
    w->end = clo_allocate(executors, sizeof *w->end);
    w->is_busy = clo_allocate(executors, sizeof *w->is_busy);
    w->missing = clo_allocate(count, sizeof *w->missing);
    w->ready_ns = clo_allocate(count, sizeof *w->ready_ns);
    w->urgent = clo_allocate(w->messages.messages_count, sizeof *w->urgent);
    w->flows = clo_allocate(machines, sizeof *w->flows);
    w->used = clo_allocate(machines * CLO_RESOURCES_MAX, sizeof *w->used);
    if (w->times == NULL || w->lists == NULL || w->next == NULL || w->end == NULL || w->is_busy == NULL ||
        w->missing == NULL || w->ready_ns == NULL || w->urgent == NULL || w->flows == NULL || w->used == NULL)
        return clo_fail_memory("the ports of a plan");
    for (size_t p = 0; p < count; p++) {
        w->times[p] = placements[p];
        w->end[placements[p].executor]++;
    }
    return CLO_OK;
}

static void fill(walk *w)
{
    uint32_t count = w->messages.count;

    for (uint32_t e = 0, sum = 0; e < w->platform->executors_count; e++) {
        w->next[e] = sum;
        sum += w->end[e];
        w->end[e] = w->next[e];
    }
    for (uint32_t p = 0; p < count; p++)
        w->lists[w->end[w->times[p].executor]++] = p;
    for (size_t i = 0; i < w->messages.near_count; i++)
        w->missing[w->messages.near[i].to]++;
    for (size_t i = 0; i < w->messages.far_count; i++)
        w->missing[w->messages.far[i].to]++;
}

static void close_walk(walk *w)
{
    clo_share_close(&w->share);
    clo_messages_close(&w->messages);
    clo_free(w->times);
    clo_free(w->lists);
    clo_free(w->next);
    clo_free(w->end);
    clo_free(w->is_busy);
    clo_free(w->missing);
    clo_free(w->ready_ns);
    clo_free(w->urgent);
    clo_free(w->flows);
    clo_free(w->used);
    clo_free(w->heap);
}

bool clo_ports_are_finite(const clo_platform *platform)
{
    return platform->port_q32 != NULL;
}

clo_status clo_ports_count(const clo_cost *cost, clo_placement *placements, size_t count)
{
    walk w = {.cost = cost, .graph = clo_cost_graph(cost), .platform = clo_cost_platform(cost)};
    clo_status status = clo_graph_refuse_modes(w.graph, "a platform with ports");

    if (status == CLO_OK && count >= CLO_NONE / 2)
        status = clo_fail(CLO_ERR_LIMIT, "the plan has 2^31 executions or more; leave the ports of machines out");
    if (status == CLO_OK)
        status = clo_messages_open(&w.messages, cost, placements, count);
    if (status == CLO_OK)
        status = clo_share_open(&w.share, &w.messages);
    if (status == CLO_OK)
        status = allocate(&w, placements);
    if (status == CLO_OK) {
        fill(&w);
        status = run(&w);
    }
    for (size_t p = 0; p < count && status == CLO_OK; p++)
        placements[p] = w.times[p];
    close_walk(&w);
    return status;
}
