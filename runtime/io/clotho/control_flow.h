/* io/clotho/control_flow.h - branches, merges and arms (clotho/branch.h) in the own format. */
#ifndef CLO_IO_CLOTHO_CONTROL_FLOW_H
#define CLO_IO_CLOTHO_CONTROL_FLOW_H

#include "io/clotho/source.h"

/* "arms", "chances", "bound" and "merge" of the task `id`, which is in the graph. */
clo_status clo_clotho_read_control_flow(const clo_clotho_source *s, const cJSON *object, const clo_task *task,
                                        uint32_t id);

/* All tasks are there: fills s->arms. CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_clotho_count_arms(clo_clotho_source *s);

/* "arm" of an edge; *arm is CLO_NONE where there is none. Behind clo_clotho_count_arms. */
clo_status clo_clotho_read_arm(const clo_clotho_source *s, const cJSON *edge, uint32_t from, uint32_t *arm);

/* Members of a task, each with a comma before it. */
void clo_clotho_write_control_flow(const clo_graph *graph, uint32_t task, clo_text *text);

void clo_clotho_source_close(clo_clotho_source *s);

#endif
