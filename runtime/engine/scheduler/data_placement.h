/* engine/scheduler/data_placement.h - what every execution says and asks of where outputs lie (data_placement.c):
 * inline, since most platforms have one source of data. For the scheduler's own files. */
#ifndef CLO_ENGINE_SCHEDULER_DATA_PLACEMENT_H
#define CLO_ENGINE_SCHEDULER_DATA_PLACEMENT_H

#include "engine/state/scheduler_job.h"

/* The place of the stage's outputs on `executor`; of a stage that cannot fill every source it may be a new one. */
clo_data_placement *clo_data_placement_place_in_order(const clo_scheduler_job *job, uint32_t stage, uint32_t executor);
static inline clo_data_placement *clo_data_placement_place(const clo_scheduler_job *job, uint32_t stage,
                                                           uint32_t executor)
{
    const clo_platform *platform = job->live.cost->platform;
    uint32_t first = job->place_first[stage], room = job->place_first[stage + 1] - first;

    if (room == platform->sources_count)
        return &job->places[first + (room > 1 ? platform->source_of[executor] : 0)];
    return clo_data_placement_place_in_order(job, stage, executor);
}

/* Executions of the stage are to end on `executor` at expected_ns. Of one instance the first counts, else the last. */
static inline void clo_data_placement_assign(clo_scheduler_job *job, uint32_t stage, uint32_t executor, uint32_t count,
                                             int64_t expected_ns)
{
    clo_data_placement *place = clo_data_placement_place(job, stage, executor);
    bool is_one = job->live.cost->graph->rows[stage].instances == 1;

    if (place->count == 0 || (place->expected_ns < expected_ns) != is_one)
        place->expected_ns = expected_ns;
    place->executor = executor;
    place->count += count;
    place->left += count;
}

/* One has ended there at finish_ns. */
static inline void clo_data_placement_finish(clo_scheduler_job *job, uint32_t stage, uint32_t executor,
                                             int64_t finish_ns)
{
    clo_data_placement *place = clo_data_placement_place(job, stage, executor);
    bool is_one = job->live.cost->graph->rows[stage].instances == 1;

    if (place->left == place->count || (place->finish_ns < finish_ns) != is_one)
        place->finish_ns = finish_ns;
    place->left--;
}

/* As clo_data_placement_arrival_ns, where the stage begins now: what has not ended is not waited for. All predecessors
 * have finished. */
int64_t clo_data_placement_begin_between_ns(const clo_scheduler_job *job, uint32_t stage, uint32_t executor,
                                            int64_t decided_ns);
static inline int64_t clo_data_placement_begin_ns(const clo_scheduler_job *job, uint32_t stage, uint32_t executor,
                                                  int64_t decided_ns)
{
    return job->live.cost->platform->sources_count == 1
               ? decided_ns
               : clo_data_placement_begin_between_ns(job, stage, executor, decided_ns);
}

#endif
