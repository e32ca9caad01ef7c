/* graph/waves.h - measured times, as a graph keeps them: by task, level and wave. */
#ifndef CLO_GRAPH_WAVES_H
#define CLO_GRAPH_WAVES_H

#include <clotho/waves.h>

typedef struct clo_graph_waves clo_graph_waves;

/* NULL: no memory. */
clo_graph_waves *clo_graph_waves_create(void);
void clo_graph_waves_free(clo_graph_waves *waves); /* NULL is allowed */

/* Adds times to open ones. Returns CLO_OK, CLO_ERR_LIMIT or CLO_ERR_MEMORY. */
clo_status clo_graph_waves_add(clo_graph_waves *waves, uint32_t task, clo_wave wave, uint32_t level,
                               const int64_t *times_ns, size_t count);

/* Sorts them by task and level, and takes fresh times out of first waves. NULL: nothing to do. */
clo_status clo_graph_waves_seal(clo_graph_waves *waves, uint32_t tasks);

/* Of sealed ones. */
uint32_t clo_graph_waves_levels(const clo_graph_waves *waves, uint32_t task);
uint32_t clo_graph_waves_level(const clo_graph_waves *waves, uint32_t task, uint32_t k);
const int64_t *clo_graph_waves_times(const clo_graph_waves *waves, uint32_t task, uint32_t k, clo_wave wave,
                                     uint32_t *count);

#endif
