/* io/workflow/dot_attributes.h - attribute lists of DOT, [key=value, ...]: those that plan anything are kept, drawing
 * is ignored. */
#ifndef CLO_IO_WORKFLOW_DOT_ATTRIBUTES_H
#define CLO_IO_WORKFLOW_DOT_ATTRIBUTES_H

#include "io/workflow/dot_token.h"

#include <stdint.h>

enum { /* attributes that were stated */
       CLO_DOT_HAS_WORK = 1,
       CLO_DOT_HAS_WEIGHT = 2,
       CLO_DOT_HAS_BYTES = 4,
       CLO_DOT_HAS_CLASS = 8,
       CLO_DOT_HAS_DUPLICABLE = 16,
       CLO_DOT_HAS_OUTPUT = 32,
       CLO_DOT_HAS_INSTANCES = 64,
       CLO_DOT_HAS_GRAIN = 128,
       CLO_DOT_HAS_ARMS = 256,
       CLO_DOT_HAS_CHANCES = 512,
       CLO_DOT_HAS_BOUND = 1024,
       CLO_DOT_HAS_MERGE = 2048,
       CLO_DOT_HAS_ARM = 4096
};

typedef struct clo_dot_attributes {
    unsigned has;
    double work_ns, weight, bytes, output_bytes; /* >= 0 */
    uint32_t instances, grain;
    uint16_t task_class;
    uint8_t duplicable, merge;
    /* Of a branch, of the last condition of a loop, of an edge. */
    uint32_t arms, bound, arm;
    const char *chances; /* in the lexer's pool */
} clo_dot_attributes;

/* Reads [key=value, key=value; ...] [...] ...; the token is the first '[', afterwards the one behind the last ']'.
 * Returns CLO_OK, CLO_ERR_FORMAT, CLO_ERR_LIMIT. */
clo_status clo_dot_attributes_read(clo_dot_lexer *l, clo_dot_attributes *a);

/* What `from` states replaces what `into` has. */
void clo_dot_attributes_merge(clo_dot_attributes *into, const clo_dot_attributes *from);

#endif
