/* base/registry.h - a table of what can be asked for by name: planners, policies, formats ... One idiom for all.
 *
 * A registry is an array of rows, or of pointers to rows. Every row begins with `const char *name, *summary`; the array
 * ends with a row whose name is NULL, or with a NULL pointer. Rows that a program adds come after it. The module that
 * owns the rows defines one clo_registry; registry/registry.c lists the registries for clo_registry_entry. */
#ifndef CLO_BASE_REGISTRY_H
#define CLO_BASE_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct clo_registry {
    const char *name;                  /* in the plural: "planners"                            */
    const void *rows;                  /* see above                                            */
    size_t row_bytes;                  /* of one row; 0: `rows` is an array of pointers         */
    bool has_directions;               /* a third `const char *` follows: "r" or "rw"          */
    bool (*is_used)(const void *row);  /* by this machine; NULL: it does not matter */
    const void *(*more)(size_t index); /* rows that were added; NULL: past the last, or nobody can add any */
} clo_registry;

/* What every row begins with. */
typedef struct clo_registry_head {
    const char *name, *summary, *directions;
} clo_registry_head;

/* Holds at compile time that a row of `type` begins as it must. */
#define CLO_REGISTRY_ROW(type)                                                          \
    _Static_assert(offsetof(type, name) == offsetof(clo_registry_head, name) &&         \
                       offsetof(type, summary) == offsetof(clo_registry_head, summary), \
                   "a row of a registry begins with its name and its summary")

#endif
