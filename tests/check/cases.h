/* cases.h - one case of each kernel: drawn inputs, one table's outputs. The check runs a case with two tables from the
 * same seed and compares; the hash runs it with one. */
#ifndef CHECK_CASES_H
#define CHECK_CASES_H

#include "draw.h"

/* What a case has written. Lives until draw_free_all. */
typedef struct output {
    const void *bytes;
    size_t size;
} output;

typedef struct kernel_case {
    const char *name;
    /* `size`: the main dimension, 1 .. 70. */
    output (*run)(const clo_kernels *table, style how, uint32_t size);
    /* The function in the table, to see which variant a table has. */
    void (*(*entry)(const clo_kernels *table))(void);
} kernel_case;

const kernel_case *cases_all(uint32_t *count);

#endif
