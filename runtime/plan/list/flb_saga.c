/* plan/list/flb_saga.c - FLB with the rules of SAGA, for platforms that follow its conventions.
 *
 * They differ from the paper's (flb.c) in two points, and both change plans:
 *
 *   - "idle first" goes by the times noted when an instance not of type EP was placed there last: that list is not
 *     updated after one of type EP;
 *   - instances of type EP wait in queues by here_ns and by last_ns, executors that have some in a queue by the
 *     earliest start there. Elements are taken out of the middle of these without putting the rest in order
 *     (flb_queue.h), so the first one need not be the least. What is chosen, and what still is of type EP, is read off
 *     the front all the same.
 *
 * Ids decide ties, where SAGA compares names. O(edges * instances + tasks * (executors + those of type EP on one
 * executor)). */
#include "plan/list/flb_saga.h"

#include "base/status.h"
#include "plan/list/flb_pairs.h"
#include "plan/list/flb_queue.h"

#include <assert.h>

typedef struct saga {
    clo_flb base;
    clo_flb_queue *by_here; /* [executors] those of type EP there by here_ns                        */
    clo_flb_queue *by_last; /* [executors] the same ones by last_ns                                 */
    clo_flb_queue active;   /* executors with some, by the start of the first one when it was noted */
} saga;

static clo_status open_saga(saga *s, clo_schedule *schedule)
{
    s->by_here = clo_allocate(2 * (size_t)schedule->executors, sizeof *s->by_here);
    if (s->by_here == NULL)
        return clo_fail_memory("a plan");
    s->by_last = s->by_here + schedule->executors;
    clo_status status = clo_flb_open(&s->base, schedule);
    if (status != CLO_OK)
        clo_free(s->by_here);
    return status;
}

static void close_saga(saga *s)
{
    for (uint32_t q = 0; q < 2 * s->base.ready.schedule->executors; q++)
        clo_flb_queue_free(&s->by_here[q]);
    clo_flb_queue_free(&s->active);
    clo_free(s->by_here);
    clo_flb_close(&s->base);
}

/* Notes that executor e has something of type EP, which has its inputs at here_ns. Returns 0, or -1 without memory. */
static int note(saga *s, uint32_t e, int64_t here_ns)
{
    int64_t available_ns = s->base.ready.available_ns[e];

    clo_flb_queue_remove(&s->active, e);
    return clo_flb_queue_push(&s->active, here_ns > available_ns ? here_ns : available_ns, e);
}

static clo_status add(saga *s, uint32_t e, uint32_t instance)
{
    const clo_flb_message *m = &s->base.messages[instance];
    clo_flb_queue *by_here = &s->by_here[e];
    bool is_first = by_here->count == 0 || m->here_ns < by_here->items[0].key;

    if ((is_first && note(s, e, m->here_ns) != 0) || clo_flb_queue_push(by_here, m->here_ns, instance) != 0 ||
        clo_flb_queue_push(&s->by_last[e], m->last_ns, instance) != 0)
        return clo_fail_memory("a plan");
    return CLO_OK;
}

/* After something was placed on e: what waits there may no longer be of type EP, and starts later. */
static clo_status sort_out(saga *s, uint32_t e)
{
    clo_flb_queue *by_here = &s->by_here[e], *by_last = &s->by_last[e];

    while (by_last->count > 0 && by_last->items[0].key < s->base.ready.available_ns[e]) { /* ends: the queue does */
        uint32_t instance = (uint32_t)clo_flb_queue_pop(by_last).id;
        clo_flb_queue_remove(by_here, instance);
        clo_flb_push_other(&s->base, instance);
    }
    clo_flb_queue_remove(&s->active, e);
    return by_here->count > 0 && note(s, e, by_here->items[0].key) != 0 ? clo_fail_memory("a plan") : CLO_OK;
}

static clo_slot choose_enabled(const saga *s)
{
    if (s->active.count == 0)
        return (clo_slot){INT64_MAX, INT64_MAX, CLO_NONE};
    uint32_t e = (uint32_t)s->active.items[0].id;
    assert(s->by_here[e].count > 0);
    return clo_flb_append(&s->base, (uint32_t)s->by_here[e].items[0].id, e);
}

static uint32_t take_enabled(saga *s, uint32_t e)
{
    uint32_t instance = (uint32_t)clo_flb_queue_pop(&s->by_here[e]).id;

    clo_flb_queue_pop(&s->active);
    clo_flb_queue_remove(&s->by_last[e], instance);
    return instance;
}

static clo_status place_next(saga *s)
{
    clo_ready *ready = &s->base.ready;
    clo_slot enabled = choose_enabled(s), other = clo_flb_choose_other(&s->base);
    bool is_enabled = enabled.executor != CLO_NONE && enabled.start_ns <= other.start_ns;
    clo_slot slot = is_enabled ? enabled : other;
    assert(slot.executor != CLO_NONE);

    uint32_t instance = is_enabled ? take_enabled(s, slot.executor) : (uint32_t)clo_heap_pop(&ready->heap).id;
    clo_status status = clo_ready_place(ready, instance, slot);
    if (!is_enabled)
        s->base.listed_ns[slot.executor] = ready->available_ns[slot.executor];
    return status == CLO_OK ? sort_out(s, slot.executor) : status;
}

clo_status clo_flb_saga_fill(clo_schedule *schedule)
{
    saga s = {0};
    clo_status status = open_saga(&s, schedule);
    if (status != CLO_OK)
        return status;

    while (status == CLO_OK && schedule->count < schedule->graph->instances) { /* ends: some instance is always ready */
        uint32_t instance, enabling;
        while (status == CLO_OK && clo_flb_next(&s.base, &instance, &enabling))
            status = add(&s, enabling, instance);
        if (status == CLO_OK)
            status = place_next(&s);
    }
    close_saga(&s);
    return status;
}
