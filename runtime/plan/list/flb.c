/* plan/list/flb.c - FLB, fast load balancing: Radulescu, van Gemund, "FLB: Fast Load Balancing for Distributed-Memory
 * Machines", ICPP 1999.
 *
 * Of two pairs the one that starts first is placed: the ready instance of type EP whose inputs are soonest on its
 * enabling executor, or the ready instance whose last message comes first (not of type EP) on the executor that is idle
 * first. An instance is of type EP as long as its last message, over a mean link, arrives no earlier than its enabling
 * executor, from which it comes, is idle. Ties: the pair of type EP, then the lowest executor and id. Appended.
 *
 * The pairs, and what a mean link is: flb_pairs.c. Beyond the paper: executors that cannot run the task are no
 * candidates, for either pair; capacities of machines; instances. On platforms with SAGA's conventions
 * (mean_includes_self) SAGA's rules hold: flb_saga.c.
 *
 * O(edges * instances + tasks * (executors + those of type EP on one executor)). */
#include "base/carve.h"
#include "base/memory.h"
#include "base/status.h"
#include "plan/list/flb_pairs.h"
#include "plan/list/flb_saga.h"
#include "plan/schedule/planner.h"

#include <assert.h>

/* Lists of those of type EP, one an executor. */
typedef struct lists {
    clo_flb base;
    uint32_t *next;  /* [instances] of type EP on the same executor; CLO_NONE: the last   */
    uint32_t *first; /* [executors] of type EP there, in no order; CLO_NONE: none         */
    uint32_t *head;  /* [executors] of these the one with the least here_ns              */
    void *block;
} lists;

/* The earlier of two instances of type EP; CLO_NONE: only the other one. */
static uint32_t sooner(const clo_flb *flb, uint32_t a, uint32_t b)
{
    if (a == CLO_NONE || b == CLO_NONE)
        return a == CLO_NONE ? b : a;
    int64_t x = flb->messages[a].here_ns, y = flb->messages[b].here_ns;
    return x < y || (x == y && a < b) ? a : b;
}

static void add(lists *f, uint32_t e, uint32_t instance)
{
    f->next[instance] = f->first[e];
    f->first[e] = instance;
    f->head[e] = sooner(&f->base, f->head[e], instance);
}

/* Takes what was `placed` off the list of executor e, and what is no longer of type EP. */
static void sort_out(lists *f, uint32_t e, uint32_t placed)
{
    uint32_t instance = f->first[e];

    f->first[e] = f->head[e] = CLO_NONE;
    while (instance != CLO_NONE) { /* ends: the list does */
        uint32_t next = f->next[instance];
        if (instance != placed && f->base.messages[instance].last_ns < f->base.ready.available_ns[e])
            clo_flb_push_other(&f->base, instance);
        else if (instance != placed)
            add(f, e, instance);
        instance = next;
    }
}

/* The best pair of type EP. */
static clo_slot choose_enabled(const lists *f)
{
    clo_slot best = {INT64_MAX, INT64_MAX, CLO_NONE};

    for (uint32_t e = 0; e < f->base.ready.schedule->executors; e++) {
        if (f->head[e] == CLO_NONE)
            continue;
        clo_slot slot = clo_flb_append(&f->base, f->head[e], e);
        if (slot.start_ns < best.start_ns)
            best = slot;
    }
    return best;
}

static clo_status place_next(lists *f)
{
    clo_ready *ready = &f->base.ready;
    clo_slot enabled = choose_enabled(f), other = clo_flb_choose_other(&f->base);
    bool is_enabled = enabled.executor != CLO_NONE && enabled.start_ns <= other.start_ns;
    clo_slot slot = is_enabled ? enabled : other;
    assert(slot.executor != CLO_NONE);

    uint32_t instance = is_enabled ? f->head[slot.executor] : (uint32_t)clo_heap_pop(&ready->heap).id;
    clo_status status = clo_ready_place(ready, instance, slot);
    f->base.listed_ns[slot.executor] = ready->available_ns[slot.executor];
    sort_out(f, slot.executor, instance);
    return status;
}

static clo_status open_lists(lists *f, clo_schedule *schedule)
{
    clo_block block = {0};

    clo_carve(&block, &f->next, schedule->graph->instances);
    clo_carve(&block, &f->first, schedule->executors);
    clo_carve(&block, &f->head, schedule->executors);
    f->block = clo_block_allocate(&block);
    if (f->block == NULL)
        return clo_fail_memory("a plan");
    for (uint32_t e = 0; e < schedule->executors; e++)
        f->first[e] = f->head[e] = CLO_NONE;
    clo_status status = clo_flb_open(&f->base, schedule);
    if (status != CLO_OK)
        clo_free(f->block);
    return status;
}

static clo_status fill(clo_schedule *schedule)
{
    lists f = {0};
    clo_status status = open_lists(&f, schedule);
    if (status != CLO_OK)
        return status;

    while (status == CLO_OK && schedule->count < schedule->graph->instances) { /* ends: some instance is always ready */
        uint32_t instance, enabling;
        while (clo_flb_next(&f.base, &instance, &enabling))
            add(&f, enabling, instance);
        status = place_next(&f);
    }
    clo_free(f.block);
    clo_flb_close(&f.base);
    return status;
}

static clo_status flb_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    (void)config;
    return schedule->platform->mean_includes_self ? clo_flb_saga_fill(schedule) : fill(schedule);
}

const clo_planner clo_planner_flb = {
    .name = "flb",
    .summary = "fast load balancing: the earlier start of two pairs (Radulescu 1999)",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = flb_fill,
};
