/* ran.h - what the phases of one command have run so far. A build with dyndep files has several; as in ninja, which has
 * one, a step runs once in all of them, also where something makes it look old again. */
#ifndef CLO_TOOLS_NINJA_LOGS_RAN_H
#define CLO_TOOLS_NINJA_LOGS_RAN_H

#include "ninja/manifest/manifest.h"

typedef struct ran_output {
    uint64_t hash; /* of its path */
    bool is_new;   /* what uses it must run; false: restat has found it as it was */
    bool has_failed;
} ran_output;

typedef struct ran_steps {
    ran_output *outputs; /* by hash */
    size_t count, capacity;
} ran_steps;

/* A phase has ended: keeps the outputs of its steps. False: no memory, m->error is set. */
bool ran_keep(ran_steps *r, ninja_manifest *m);
/* What is known of a node; NULL: no phase has run a step that makes it. */
const ran_output *ran_find(const ran_steps *r, const ninja_node *node);
void ran_free(ran_steps *r);

#endif
