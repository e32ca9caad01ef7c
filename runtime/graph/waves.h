/* graph/waves.h - the measured times of a graph, as the graph keeps them. */
#ifndef CLO_GRAPH_WAVES_H
#define CLO_GRAPH_WAVES_H

#include <clotho/waves.h>

typedef struct clo_graph_waves clo_graph_waves;

/* Sorts them by task and level, and takes fresh times out of first waves. NULL: nothing to do. */
clo_status clo_graph_waves_seal(clo_graph_waves *waves, uint32_t tasks);
void clo_graph_waves_free(clo_graph_waves *waves); /* NULL is allowed */

#endif
