/* base/names.h - from a name to a number: an open-addressed hash table over borrowed strings.
 *
 * Names are not copied and must outlive the table. A name added twice is remembered as ambiguous, so that a
 * file may repeat names as long as nothing refers to them. */
#ifndef CLO_BASE_NAMES_H
#define CLO_BASE_NAMES_H

#include "base/hash.h"
#include "library.h"

#include <stddef.h>
#include <stdint.h>

#define CLO_NAMES_NONE UINT32_MAX        /* CLO_NONE of <clotho/graph.h> */
#define CLO_NAMES_TWICE (UINT32_MAX - 1) /* "more than one thing has this name" */

typedef struct clo_names_slot {
    const char *name; /* NULL: free */
    uint64_t hash;
    uint32_t id;
} clo_names_slot;

typedef struct clo_names {
    clo_names_slot *slots; /* [capacity], a power of two, at most half full */
    size_t capacity, count;
    clo_hash_key key; /* random, one a table; set with the first name */
} clo_names;

/* Adds name -> id; an id of a name that is there already becomes CLO_NAMES_TWICE. Returns 0, or -1 without memory. */
CLO_INTERNAL int clo_names_add(clo_names *names, const char *name, uint32_t id);

/* The id; CLO_NONE for an unknown name, CLO_NAMES_TWICE for an ambiguous one. */
CLO_INTERNAL uint32_t clo_names_find(const clo_names *names, const char *name);

CLO_INTERNAL void clo_names_free(clo_names *names);

#endif
