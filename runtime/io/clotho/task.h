/* io/clotho/task.h - tasks and edges of the own format: of the file, and of the bodies of its loops. */
#ifndef CLO_IO_CLOTHO_TASK_H
#define CLO_IO_CLOTHO_TASK_H

#include "graph/graph.h"
#include "io/clotho/control_flow.h"

/* What a task object says, but for what refers to the task by its number. */
typedef struct clo_clotho_row {
    clo_task task;
    clo_executor_bits executors;
    bool is_restricted;
} clo_clotho_row;

clo_status clo_clotho_read_row(const clo_clotho_source *s, const cJSON *object, clo_clotho_row *row);

/* The task is in the graph as `id`: reads the rest, and remembers its name. */
clo_status clo_clotho_read_rest(clo_clotho_source *s, const cJSON *object, const clo_clotho_row *row, uint32_t id);

/* "tasks" of `object`, at least one. */
clo_status clo_clotho_read_tasks(clo_clotho_source *s, const cJSON *object);

/* A task by name or by index. */
clo_status clo_clotho_read_end(const clo_clotho_source *s, const cJSON *edge, const char *key, uint32_t *task);

/* "from", "to" and "bytes"; where there are no bytes, edge->bytes stays. */
clo_status clo_clotho_read_ends(const clo_clotho_source *s, const cJSON *object, clo_edge *edge);

/* "edges" of `object`, which may have none. All tasks are there. */
clo_status clo_clotho_read_edges(clo_clotho_source *s, const cJSON *object);

#endif
