/* plan/flb.c - FLB, fast load balancing: Radulescu, van Gemund, "FLB: Fast Load Balancing for Distributed-Memory
 * Machines", ICPP 1999.
 *
 * Of two pairs the one that starts first is placed: the ready instance of type EP whose inputs are soonest on its
 * enabling executor, or the ready instance whose last message comes first (not of type EP) on the executor that is idle
 * first. An instance is of type EP as long as its last message, over a mean link, arrives no earlier than its enabling
 * executor, from which it comes, is idle. Ties: the pair of type EP, then the lowest executor and id. Appended.
 *
 *   The paper, for unequal executors as in SAGA: the mean link has the mean bandwidth (and our mean latency),
 *             arrivals on an executor are what they are.
 *   SAGA's rules, on platforms that follow its conventions (mean_includes_self): "idle first" goes by the times noted when an instance not of type EP was placed there last: SAGA does not
 *             update that list after one of type EP. It also takes elements out of the middle of its heaps without
 *             putting the rest in order; that is not done here, so some of its plans differ.
 *
 * The links inside a memory and the free ones do not count in the mean. Beyond the papers: executors that cannot run
 * the task are no candidates, for either pair; capacities of machines; instances.
 *
 * O(arcs + tasks * (executors + those of type EP on one executor)). */
#include "plan/planners.h"

#include "base/memory.h"
#include "base/status.h"
#include "plan/ready.h"

#include <assert.h>

typedef struct message {
    int64_t last_ns; /* when the last message arrives, over a mean link      */
    int64_t here_ns; /* when all inputs are on the enabling executor          */
    uint32_t next;   /* of type EP on the same executor; CLO_NONE: the last   */
} message;

typedef struct flb {
    clo_ready ready;    /* its heap: what is not of type EP, by last_ns             */
    message *messages;  /* [instances]                                             */
    uint32_t *first;    /* [executors] of type EP there, in no order; CLO_NONE: none */
    uint32_t *head;     /* [executors] of these the one with the least here_ns      */
    int64_t *listed_ns; /* [executors] when idle, for the choice of the idle one     */
    uint64_t mean_ns_per_byte_q32;
    int64_t mean_latency_ns;
    bool is_saga;
    void *block;
} flb;

/* The mean bandwidth of the links between memories as time a byte, and the mean latency. Runs of equal links, the rule,
 * cost one division. */
static void find_mean_link(flb *f, const clo_draft *draft)
{
    const clo_platform *platform = draft->platform;
    clo_u128 inverse = 0, sum = 0, latency_sum = 0;
    uint64_t last = 0, count = 0, links = 0;

    for (size_t a = 0; a < draft->executors; a++)
        for (size_t b = 0; b < draft->executors; b++) {
            uint64_t each = platform->ns_per_byte_q32[a * draft->executors + b];
            if (draft->memory[a] == draft->memory[b])
                continue;
            links++;
            latency_sum += (uint64_t)platform->latency_ns[a * draft->executors + b];
            if (each == 0)
                continue;
            if (each != last)
                inverse = ((clo_u128)1 << 95) / each;
            last = each;
            sum += inverse;
            count++;
        }
    f->mean_latency_ns = links > 0 ? (int64_t)(latency_sum / links) : 0;
    f->mean_ns_per_byte_q32 = sum > 0 ? (uint64_t)((((clo_u128)count << 95) + sum / 2) / sum) : 0;
}

static clo_status open_flb(flb *f, clo_draft *draft)
{
    clo_layout layout = {0};
    size_t messages = clo_layout_add(&layout, draft->graph->instances, sizeof(message));
    size_t first = clo_layout_add(&layout, draft->executors, sizeof(uint32_t));
    size_t head = clo_layout_add(&layout, draft->executors, sizeof(uint32_t));
    size_t listed = clo_layout_add(&layout, draft->executors, sizeof(int64_t));
    clo_status status = clo_ready_open(&f->ready, draft);
    if (status != CLO_OK)
        return status;

    char *block = layout.overflow ? NULL : clo_allocate_aligned(layout.bytes, 1);
    if (block == NULL) {
        clo_ready_close(&f->ready);
        return clo_fail_memory("a plan");
    }
    f->block = block;
    f->messages = (void *)(block + messages);
    f->first = (void *)(block + first);
    f->head = (void *)(block + head);
    f->listed_ns = (void *)(block + listed);
    for (uint32_t e = 0; e < draft->executors; e++)
        f->first[e] = f->head[e] = CLO_NONE;
    find_mean_link(f, draft);
    return CLO_OK;
}

/* Fills last_ns and here_ns; returns the enabling executor, CLO_NONE for an entry. */
static uint32_t find_message(flb *f, uint32_t instance)
{
    const clo_draft *draft = f->ready.draft;
    const clo_graph *graph = draft->graph;
    message *m = &f->messages[instance];
    uint32_t enabling = CLO_NONE;

    *m = (message){.last_ns = 0, .next = CLO_NONE};
    for (uint32_t arc = graph->pred_first[instance]; arc < graph->pred_first[instance + 1]; arc++) {
        const clo_copy *copy = &draft->copies[draft->first_copy[graph->pred[arc]]];
        int64_t arrival =
            copy->finish_ns + clo_link_ns(f->mean_latency_ns, f->mean_ns_per_byte_q32, clo_graph_arc_bytes(graph, arc));
        if (enabling == CLO_NONE || arrival > m->last_ns) {
            m->last_ns = arrival;
            enabling = copy->executor;
        }
    }
    if (enabling != CLO_NONE)
        m->here_ns = clo_draft_inputs_ns(draft, instance, enabling);
    return enabling;
}

static void push_other(flb *f, uint32_t instance)
{
    clo_heap_push(&f->ready.heap, f->messages[instance].last_ns, instance);
}

/* The earlier of two instances of type EP; CLO_NONE: only the other one. */
static uint32_t sooner(const flb *f, uint32_t a, uint32_t b)
{
    if (a == CLO_NONE || b == CLO_NONE)
        return a == CLO_NONE ? b : a;
    int64_t x = f->messages[a].here_ns, y = f->messages[b].here_ns;
    return x < y || (x == y && a < b) ? a : b;
}

static void take_released(flb *f)
{
    const clo_draft *draft = f->ready.draft;
    uint32_t instance;

    while (clo_ready_next(&f->ready, &instance)) {
        uint32_t e = find_message(f, instance), task = draft->graph->task_of[instance];
        if (e == CLO_NONE || f->messages[instance].last_ns < f->ready.tail_ns[e] ||
            clo_cost_time(draft->cost, task, e) == CLO_TIME_NEVER) {
            push_other(f, instance);
            continue;
        }
        f->messages[instance].next = f->first[e];
        f->first[e] = instance;
        f->head[e] = sooner(f, f->head[e], instance);
    }
}

/* Takes what was `placed` off the list of executor e, and what is no longer of type EP. */
static void sort_out(flb *f, uint32_t e, uint32_t placed)
{
    uint32_t instance = f->first[e];

    f->first[e] = f->head[e] = CLO_NONE;
    while (instance != CLO_NONE) { /* ends: the list does */
        uint32_t next = f->messages[instance].next;
        if (instance != placed && f->messages[instance].last_ns < f->ready.tail_ns[e]) {
            push_other(f, instance);
        } else if (instance != placed) {
            f->messages[instance].next = f->first[e];
            f->first[e] = instance;
            f->head[e] = sooner(f, f->head[e], instance);
        }
        instance = next;
    }
}

/* The best pair of type EP. */
static clo_slot choose_enabled(const flb *f)
{
    clo_slot best = {INT64_MAX, INT64_MAX, CLO_NONE};

    for (uint32_t e = 0; e < f->ready.draft->executors; e++) {
        uint32_t instance = f->head[e];
        if (instance == CLO_NONE)
            continue;
        clo_slot slot =
            clo_ready_append(&f->ready, f->ready.draft->graph->task_of[instance], e, f->messages[instance].here_ns);
        if (slot.start_ns < best.start_ns)
            best = slot;
    }
    return best;
}

/* The head of the others on the executor that is idle first. */
static clo_slot choose_other(const flb *f)
{
    const clo_draft *draft = f->ready.draft;
    uint32_t best = CLO_NONE;

    if (f->ready.heap.count == 0)
        return (clo_slot){INT64_MAX, INT64_MAX, CLO_NONE};
    uint32_t instance = (uint32_t)f->ready.heap.items[0].id, task = draft->graph->task_of[instance];
    for (uint32_t e = 0; e < draft->executors; e++)
        if ((best == CLO_NONE || f->listed_ns[e] < f->listed_ns[best]) &&
            clo_cost_time(draft->cost, task, e) != CLO_TIME_NEVER)
            best = e;
    assert(best != CLO_NONE);
    return clo_ready_append_on(&f->ready, instance, best);
}

static clo_status place_next(flb *f)
{
    clo_slot enabled = choose_enabled(f), other = choose_other(f);
    bool is_enabled = enabled.executor != CLO_NONE && enabled.start_ns <= other.start_ns;
    clo_slot slot = is_enabled ? enabled : other;
    assert(slot.executor != CLO_NONE);

    uint32_t instance = is_enabled ? f->head[slot.executor] : (uint32_t)clo_heap_pop(&f->ready.heap).id;
    clo_status status = clo_ready_place(&f->ready, instance, slot);
    if (!is_enabled || !f->is_saga)
        f->listed_ns[slot.executor] = f->ready.tail_ns[slot.executor];
    sort_out(f, slot.executor, instance);
    return status;
}

static clo_status fill(clo_draft *draft, bool is_saga)
{
    flb f = {.is_saga = is_saga};
    clo_status status = open_flb(&f, draft);
    if (status != CLO_OK)
        return status;

    while (status == CLO_OK && draft->count < draft->graph->instances) { /* ends: some instance is always ready */
        take_released(&f);
        status = place_next(&f);
    }
    clo_free(f.block);
    clo_ready_close(&f.ready);
    return status;
}

clo_status clo_flb_fill(clo_draft *draft, const clo_plan_config *config)
{
    (void)config;
    return fill(draft, draft->platform->mean_includes_self);
}
