/* waves.h - measured times of the tasks of a graph, as Spark shows them: they depend on the wave that an instance runs
 * in, and on how many executors its job had (the *level* of a measurement).
 *
 *   fresh  the first task of an executor that never ran this job, its start included
 *   first  the first task of an executor in this stage
 *   rest   all later ones
 *
 * Costs and planners know nothing of them. An environment (environment.h) draws the times of a simulation from them.
 *
 * Library: libclotho. */
#ifndef CLOTHO_WAVES_H
#define CLOTHO_WAVES_H

#include <clotho/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum clo_wave { CLO_WAVE_FRESH = 0, CLO_WAVE_FIRST = 1, CLO_WAVE_REST = 2 } clo_wave;

/* Levels that one task may have. */
#define CLO_WAVE_LEVELS_MAX 64

/* Adds measured times of a task, after those that it has already.
 *
 *   level     executors that the job had, >= 1.
 *   times_ns  [count], each >= 0; copied. `count` may be 0: then the level is known, and this wave of it is empty.
 *
 * `first` may also hold the times of `fresh`, as the measurements of Decima do. When the graph is sealed, each time of
 * `fresh` is removed once from `first` of the same level, if it is there. Then a level whose `first` is empty takes the
 * `first` of the next smaller level.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  an unknown task or wave, level 0, a negative time, a task with a grain
 *   CLO_ERR_STATE     the graph is sealed
 *   CLO_ERR_LIMIT     more than CLO_WAVE_LEVELS_MAX levels of a task, or 2^32 - 1 times in all
 *   CLO_ERR_MEMORY
 * On a failure the graph is as before.
 *
 * Not promised: that a file keeps them. The graph's own format does not.
 * Threads: one. Real time: no. Amortised O(count + levels). */
CLO_API CLO_NODISCARD clo_status clo_graph_add_wave(clo_graph *graph, uint32_t task, clo_wave wave, uint32_t level,
                                                    const int64_t *times_ns, size_t count);

/* Number of levels of a task; 0 for an unknown one, and until the graph is sealed. The k-th level, in rising order; 0:
 * there is none.
 * Threads: any. Real time: yes, O(1). */
CLO_API uint32_t clo_graph_wave_levels(const clo_graph *graph, uint32_t task);
CLO_API uint32_t clo_graph_wave_level(const clo_graph *graph, uint32_t task, uint32_t k);

/* The times of a wave at the k-th level, owned by the graph.
 *   count  receives their number; 0 if there are none.
 * Returns NULL for an unknown task, level or wave. Threads: any. Real time: yes, O(1). */
CLO_API const int64_t *clo_graph_wave_times(const clo_graph *graph, uint32_t task, uint32_t k, clo_wave wave,
                                            uint32_t *count);

#ifdef __cplusplus
}
#endif
#endif
