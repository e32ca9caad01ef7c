/* graph/columns.h - what only some graphs give their tasks: one column for each property, [tasks] once some task has
 * it, and NULL before. So a graph pays for what it uses, and a row holds only what every run reads of every task. */
#ifndef CLO_GRAPH_COLUMNS_H
#define CLO_GRAPH_COLUMNS_H

#include "library.h"
#include <clotho/graph.h>

typedef enum clo_column {
    /* uint32_t: offset into the names; CLO_NONE: unnamed. */
    CLO_COLUMN_NAME,

    /* uint32_t: row of `demands`; CLO_NONE: all zero. */
    CLO_COLUMN_DEMAND,

    /* uint32_t: first of its `specials`; CLO_NONE: none. */
    CLO_COLUMN_SPECIAL,

    /* uint32_t: set of `sets`; CLO_NONE: any executor. */
    CLO_COLUMN_PLACEMENT,

    /* uint64_t: of a whole range; 0: none. */
    CLO_COLUMN_OUTPUT,

    /* clo_graph_grain. */
    CLO_COLUMN_GRAIN,

    /* uint32_t: row of `codelets`; CLO_NONE: none. */
    CLO_COLUMN_CODELET,
    CLO_COLUMNS,
} clo_column;

/* How the instances of an application are cut into ranges. */
typedef struct clo_graph_grain {
    /* What the application calls instances. */
    uint32_t items;

    /* Items of a range, but the last one; 0: the task has no grain, its instances are the items. */
    uint32_t size;
} clo_graph_grain;

typedef struct clo_graph_columns {
    void *of[CLO_COLUMNS];
    size_t capacity[CLO_COLUMNS];

    /* By bit: those that are there. */
    unsigned made;
} clo_graph_columns;

/* Room for `more` tasks behind the `tasks` of the graph, in all columns that are there and in those whose bit
 * (1 << column) is set in `wanted`, which are made where they are not: tasks that are there have nothing in them.
 * Returns 0, or -1 without memory: then all can be read as before. */
CLO_INTERNAL int clo_columns_reserve(clo_graph_columns *columns, unsigned wanted, size_t tasks, size_t more);

/* Task `task`, for which there is room, has nothing in any column. */
void clo_columns_clear(clo_graph_columns *columns, uint32_t task);

/* Gives back what lies beyond `tasks` > 0, where it is worth it. */
void clo_columns_shrink(clo_graph_columns *columns, size_t tasks, size_t slack_max);

void clo_columns_free(clo_graph_columns *columns);

/* In a column of numbers; CLO_NONE where there is no column. */
static inline uint32_t clo_columns_get(const clo_graph_columns *columns, clo_column column, uint32_t task)
{
    const uint32_t *of = columns->of[column];

    return of == NULL ? CLO_NONE : of[task];
}

/* The column is there. */
static inline void clo_columns_set(clo_graph_columns *columns, clo_column column, uint32_t task, uint32_t value)
{
    ((uint32_t *)columns->of[column])[task] = value;
}

#endif
