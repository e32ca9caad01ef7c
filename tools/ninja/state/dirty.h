/* dirty.h - which outputs must be made again: ninja's rule, edge by edge from the inputs on.
 *
 * An output is dirty if it is missing; if an input that is not order-only is dirty, or newer than it (restat: than what
 * the log says); if the log has no entry, another command (not of a generator), or an age below the newest input's; if
 * the record of discovered inputs is missing or older than the output. What depends on it is dirty too. */
#ifndef CLO_TOOLS_NINJA_STATE_DIRTY_H
#define CLO_TOOLS_NINJA_STATE_DIRTY_H

#include "ninja/logs/build_log.h"
#include "ninja/logs/deps_log.h"
#include "ninja/logs/ran.h"

typedef struct dirty_scan {
    ninja_manifest *m;
    const build_log *log;
    const deps_log *deps;
    const ran_steps *ran;      /* of earlier phases; NULL: there are none */
    struct dirty_visit *stack; /* edges that wait for an input */
    size_t depth, capacity;
    uint32_t *validations; /* nodes that must be looked at too, in the order found */
    size_t validations_count, validations_capacity;
    buffer text;
    const char *explains;    /* who says on standard error why, as `ninja -d explain` does; NULL: nobody */
    bool leaves_validations; /* does not look at them */
    bool has_read;           /* a dyndep file: nodes that were looked at before may have other producers now */
} dirty_scan;

/* Looks at `node` and at all that it needs; sets is_dirty and mtime_ns of the nodes and outputs_ready of the edges.
 * Validations that come up are appended to s->validations and looked at as well. Discovered inputs become inputs of
 * their edges. As in ninja a dyndep file that is up to date is read when an edge is met that names it; an edge with
 * another one is not ready. An edge that an earlier phase has run is done, or blocked if it has failed. Returns false
 * with m->error set: a cycle, a dyndep file, a broken depfile, the disk, no memory. */
bool dirty_look(dirty_scan *s, uint32_t node);

/* Whether outputs of `edge`, none of whose inputs is dirty, are dirty themselves. newest: the input that changed last,
 * NINJA_NONE without inputs. False: m->error is set. */
bool dirty_outputs(dirty_scan *s, uint32_t edge, uint32_t newest, bool *is_dirty);

void dirty_free(dirty_scan *s);

#endif
