/* ranked.c - see ranked.h. */
#include "policy/select/ranked.h"

size_t clo_ranked_bytes(const clo_cost *cost)
{
    return clo_graph_tasks(clo_cost_graph(cost)) * (sizeof(int64_t) + 2 * sizeof(clo_heap_item));
}

void clo_ranked_open(clo_ranked *ranked, void *memory, const clo_cost *cost)
{
    uint32_t tasks = clo_graph_tasks(clo_cost_graph(cost));

    ranked->heap.items = memory;
    ranked->heap.capacity = tasks;
    ranked->aside = ranked->heap.items + tasks;
    ranked->ranks = (int64_t *)(ranked->aside + tasks);
}

void clo_ranked_event(clo_ranked *ranked, const clo_event *event)
{
    if (event->kind == CLO_EVENT_ARRIVE)
        ranked->heap.count = 0;
    else if (event->kind == CLO_EVENT_READY)
        clo_heap_push(&ranked->heap, -ranked->ranks[event->stage], event->stage);
}

int64_t clo_ranked_key(clo_ranked *ranked, const clo_view *view, uint32_t slot)
{
    while (ranked->heap.count > 0 && clo_view_stage(view, slot, (uint32_t)ranked->heap.items[0].id)->unstarted == 0)
        (void)clo_heap_pop(&ranked->heap);
    return ranked->heap.count > 0 ? ranked->heap.items[0].key : INT64_MAX;
}

uint32_t clo_ranked_pick(const clo_view *view, uint32_t slot, clo_may_select may, bool *is_cut)
{
    clo_ranked *ranked = clo_view_job(view, slot)->state;
    uint32_t found = CLO_NONE;

    for (uint32_t looks = 0; ranked->heap.count > 0 && found == CLO_NONE; looks++) {
        size_t all = ranked->heap.count + ranked->aside_count; /* some of it may have been started */
        bool is_unfit = clo_select_unfit(view, slot, may, looks) == all;
        *is_cut = !clo_view_steps(view, is_unfit ? ranked->heap.count : 1);
        if (is_unfit || *is_cut)
            break;
        clo_heap_item top = clo_heap_pop(&ranked->heap);
        if (clo_view_stage(view, slot, (uint32_t)top.id)->unstarted == 0)
            continue;
        ranked->aside[ranked->aside_count++] = top;
        if (may(view, slot, (uint32_t)top.id))
            found = (uint32_t)top.id;
    }
    while (ranked->aside_count > 0) {
        clo_heap_item item = ranked->aside[--ranked->aside_count];
        clo_heap_push(&ranked->heap, item.key, item.id);
    }
    return found;
}
