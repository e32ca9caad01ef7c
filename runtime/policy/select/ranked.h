/* policy/select/ranked.h - the ready stages of a job in a heap, by a number that `prepare` has given each stage; the
 * highest goes first, ties in order of stage. A stage that has no instance left to start stays in its heap until it
 * comes up. O(log stages). The state of a job begins with a clo_ranked. */
#ifndef CLO_POLICY_SELECT_RANKED_H
#define CLO_POLICY_SELECT_RANKED_H

#include "base/order/heap.h"
#include "library.h"
#include "policy/select/select.h"

typedef struct clo_ranked {
    clo_heap heap;
    int64_t *ranks;       /* [tasks] */
    clo_heap_item *aside; /* [tasks] taken off while one decision looks further */
    uint32_t aside_count;
} clo_ranked;

/* Bytes after the struct itself. */
CLO_INTERNAL size_t clo_ranked_bytes(const clo_cost *cost);

/* `memory` is clo_ranked_bytes. The ranks, above -INT64_MAX, are the caller's to fill. */
CLO_INTERNAL void clo_ranked_open(clo_ranked *ranked, void *memory, const clo_cost *cost);

/* ARRIVE empties the heap, READY adds the stage. */
CLO_INTERNAL void clo_ranked_event(clo_ranked *ranked, const clo_event *event);

/* Drops what has nothing left to start; the rank of the first that has, negated; INT64_MAX: there is none. */
CLO_INTERNAL int64_t clo_ranked_key(clo_ranked *ranked, const clo_view *view, uint32_t slot);

/* As clo_job_order.pick. */
CLO_INTERNAL uint32_t clo_ranked_pick(const clo_view *view, uint32_t slot, clo_may_select may, bool *is_cut);

#endif
