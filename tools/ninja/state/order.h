/* order.h - which edges a build runs, and when each may: ninja's plan.
 *
 * Edges that are wanted become ready when what they need is done, and leave in the order of the manifest. A pool lets
 * its edges out as its depth allows. Phony edges are ready and done like others, but no step of the count. */
#ifndef CLO_TOOLS_NINJA_STATE_ORDER_H
#define CLO_TOOLS_NINJA_STATE_ORDER_H

#include "ninja/state/dirty.h"

enum { WANT_UNKNOWN, WANT_NEVER /* is blocked */, WANT_NOTHING, WANT_START, WANT_FINISH };

typedef struct build_order {
    ninja_manifest *m;
    uint8_t *wants;  /* [edges] WANT_... */
    uint32_t *ready; /* heap, smallest index first */
    size_t ready_count, ready_capacity;
    uint32_t *in_use;  /* [pools] edges that a pool let out */
    uint32_t *delayed; /* edges that wait for their pool, in the order of the manifest */
    size_t delayed_count, delayed_capacity;
    struct order_visit *stack;
    size_t depth, stack_capacity;
    ninja_users users;
    uint32_t wanted, steps; /* edges to run; without phony ones */
} build_order;

/* Looks at `targets` and wants what is dirty of them. Returns false with m->error set: as dirty_look, or a file is
 * missing that nothing makes. order_free in both cases. */
bool order_make(build_order *o, dirty_scan *s, const uint32_t *targets, size_t count);
/* Anything to do? */
bool order_is_done(const build_order *o);

/* Takes the next ready edge; NINJA_NONE: none is ready now. */
uint32_t order_next(build_order *o);
/* Whether the edge is still wanted and all that it needs is done; for those who take edges in an order of their own. */
bool order_may_run(const build_order *o, uint32_t edge);
/* The edge is done; what waited for it may become ready. False: no memory. */
bool order_finished(build_order *o, uint32_t edge);
/* The edge failed: its pool's place is free again, nothing becomes ready. False: no memory. */
bool order_failed(build_order *o, uint32_t edge);
/* An output was left as it was (restat): what is dirty through it alone need not run. False: m->error is set. */
bool order_clean(build_order *o, dirty_scan *s, uint32_t node);

void order_free(build_order *o);

#endif
