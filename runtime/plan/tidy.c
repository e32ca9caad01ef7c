/* plan/tidy.c - clean-up after duplication: drop what nobody reads, then move everything left.
 *
 * A duplicate may leave its original without a reader (the idea of DFRN's deletion). Dropping copies frees
 * time, and taking the copies in order of start and giving each the earliest slot on its own executor uses it.
 *
 * Why nothing gets worse: when a copy is placed again, everything placed before it started no later in the
 * old plan and now ends no later than it did. So at its old start its inputs have arrived, its executor is idle, and
 * the machine holds no more than it did: the old start is still free, and the earliest slot is no later. */
#include "plan/planners.h"

#include "base/memory.h"
#include "base/status.h"

#include <assert.h>
#include <stdlib.h>

/* The copy that serves `arc` to copy `reader`: the earliest arrival among the copies that were there when the
 * reader was placed. */
static uint32_t server_of(const clo_draft *draft, uint32_t arc, uint32_t reader)
{
    const clo_platform *platform = draft->platform;
    uint32_t best = CLO_NONE, to = draft->copies[reader].executor;
    int64_t earliest = INT64_MAX;

    for (uint32_t c = draft->first_copy[draft->graph->pred[arc]]; c != CLO_NONE; c = draft->copies[c].next) {
        const clo_copy *copy = &draft->copies[c];
        int64_t arrival = copy->finish_ns + clo_platform_transfer_ns(platform, clo_graph_arc_bytes(draft->graph, arc),
                                                                     copy->executor, to);
        if (c < reader && arrival < earliest) {
            earliest = arrival;
            best = c;
        }
    }
    assert(best != CLO_NONE);
    return best;
}

/* is_read[c] for all copies. Readers were placed after what they read, so one pass from the last copy to the first sees
 * every reader first, and what a dropped copy read does not count. */
static void mark_read(const clo_draft *draft, uint8_t *is_read)
{
    const clo_graph *graph = draft->graph;

    for (uint32_t c = draft->count; c-- > 0;) {
        uint32_t instance = draft->copies[c].instance;
        if (graph->succ_first[instance] == graph->succ_first[instance + 1])
            is_read[c] = 1; /* a result; never duplicated */
        for (uint32_t arc = graph->pred_first[instance]; is_read[c] && arc < graph->pred_first[instance + 1]; arc++)
            is_read[server_of(draft, arc, c)] = 1;
    }
}

typedef struct kept_copy {
    clo_copy copy;
    uint32_t position; /* of the instance in the topological order: decides between copies of length 0 */
} kept_copy;

static int by_start(const void *left, const void *right)
{
    const kept_copy *a = left, *b = right;

    if (a->copy.start_ns != b->copy.start_ns)
        return a->copy.start_ns < b->copy.start_ns ? -1 : 1;
    if (a->copy.finish_ns != b->copy.finish_ns)
        return a->copy.finish_ns < b->copy.finish_ns ? -1 : 1;
    if (a->position != b->position)
        return a->position < b->position ? -1 : 1;
    return a->copy.executor < b->copy.executor ? -1 : a->copy.executor > b->copy.executor;
}

static clo_status place_again(clo_draft *draft, const clo_copy *old)
{
    const clo_graph *graph = draft->graph;
    uint32_t task = graph->task_of[old->instance];
    int64_t ready = 0;

    for (uint32_t arc = graph->pred_first[old->instance]; arc < graph->pred_first[old->instance + 1]; arc++) {
        int64_t arrival = clo_draft_arrival_ns(draft, arc, old->executor);
        if (arrival > ready)
            ready = arrival;
    }
    int64_t start = clo_draft_slot_ns(draft, task, old->executor, ready, old->finish_ns - old->start_ns);
    assert(start <= old->start_ns);
    return clo_draft_place(draft, old->instance, old->executor, start);
}

clo_status clo_draft_tidy(clo_draft *draft)
{
    const clo_graph *graph = draft->graph;
    if (draft->count == graph->instances)
        return CLO_OK; /* no replica: nothing to drop, and every copy took the earliest slot */

    kept_copy *kept = clo_allocate(draft->count, sizeof *kept);
    uint32_t *position = clo_allocate(graph->instances, sizeof *position), count = 0;
    uint8_t *is_read = clo_allocate(draft->count, 1);
    clo_status status = CLO_OK;

    if (kept == NULL || position == NULL || is_read == NULL) {
        status = clo_fail_memory("a plan");
        goto done;
    }
    for (uint32_t i = 0; i < graph->instances; i++)
        position[graph->order[i]] = i;
    mark_read(draft, is_read);
    for (uint32_t c = 0; c < draft->count; c++)
        if (is_read[c])
            kept[count++] = (kept_copy){draft->copies[c], position[draft->copies[c].instance]};
    qsort(kept, count, sizeof *kept, by_start);

    clo_draft_clear(draft);
    for (uint32_t i = 0; status == CLO_OK && i < count; i++)
        status = place_again(draft, &kept[i].copy);
done:
    clo_free(kept);
    clo_free(position);
    clo_free(is_read);
    return status;
}
