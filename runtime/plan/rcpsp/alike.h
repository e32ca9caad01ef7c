/* plan/rcpsp/alike.h - ready tasks in groups that a decision cannot tell apart but by their numbers, so that it looks
 * at the lowest task of each group only. */
#ifndef CLO_PLAN_RCPSP_ALIKE_H
#define CLO_PLAN_RCPSP_ALIKE_H

#include "base/carve.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct clo_alike_group {
    uint32_t first;  /* the lowest task, the root of a pairing heap (Fredman et al. 1986) */
    uint32_t count;  /* tasks that are ready */
    uint32_t sample; /* a task that is or was in it */
} clo_alike_group;

typedef struct clo_alike {
    bool (*is_alike)(const void *context, uint32_t a, uint32_t b); /* tasks; never changes */
    const void *context;
    clo_alike_group *groups; /* [groups_count] all that ever were */
    uint32_t *filled;        /* [filled_count] those with ready tasks, in no order */
    uint32_t groups_count, filled_count;
    uint32_t *below, *beside; /* [tasks] in its heap: the first task below, the next one beside; CLO_NONE: none */
    uint32_t *table;          /* [mask + 1] groups by hash; CLO_NONE: empty */
    uint32_t mask;
} clo_alike;

/* Carves the arrays; the caller sets is_alike and context. Then, with the memory there, clo_alike_begin. */
void clo_alike_carve(clo_alike *alike, clo_block *block, uint32_t tasks);
void clo_alike_begin(clo_alike *alike);

/* The task is ready; hash: equal for all that are alike. O(1) expected. */
void clo_alike_add(clo_alike *alike, uint32_t task, uint64_t hash);

/* Takes the lowest task out of the group filled[at]. O(log tasks) amortised. */
void clo_alike_take(clo_alike *alike, uint32_t at);

#endif
