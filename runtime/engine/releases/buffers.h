/* engine/releases/buffers.h - the outputs of releases in flight: of each execution a ring of `depth` buffers, and of
 * each of these a copy in any memory where a consumer wants one. */
#ifndef CLO_ENGINE_RELEASES_BUFFERS_H
#define CLO_ENGINE_RELEASES_BUFFERS_H

#include "base/arena.h"
#include "engine/execution/engine.h"
#include "library.h"

/* Where the releases' outputs lie. */
typedef struct clo_releases_data {
    const clo_program *program;
    uint32_t slots;
    /* [executions] releases whose outputs are kept, at most as many as slots. */
    uint32_t *depth;
    /* [slots * executions] without a plan: who ran it, where depth is `slots`. NULL: the plan says. */
    uint32_t *ran_on;
    /* [executions + 1] offset of the first of these buffers; NULL: no task has outputs. */
    uint64_t *at;
    unsigned char *home;
    /* As in clo_data: memory m's copies are slot_of[m] * copy_bytes behind `remote`. NULL: nothing is copied. */
    uint32_t *slot_of;
    uint32_t memories;
    uint64_t copy_bytes;
    unsigned char *remote;
    /* [executions] the first of `copied` for each: memories * depth of them. */
    uint64_t *once_at;
    clo_once *copied;
    /* More than copies were made anew before clo_releases_begin. */
    uint64_t rounds;
    /* With a plan: [executions] inputs that cross memories, and their bytes; NULL: none does. */
    uint64_t *transfers, *transferred_bytes;
} clo_releases_data;

/* program, slots and depth are there. has_data: buffers too; else transfers are counted and no body is called. Returns
 * CLO_OK, CLO_ERR_LIMIT or CLO_ERR_MEMORY. */
clo_status clo_releases_data_create(clo_releases_data *data, bool has_data, bool copies, clo_arena *arena);

/* Counts the inputs of an execution that cross memories. */
static inline void clo_releases_data_count(const clo_releases_data *data, uint32_t execution, clo_engine_stats *stats)
{
    if (data->transfers == NULL)
        return;
    stats->transfers += data->transfers[execution];
    stats->transferred_bytes += data->transferred_bytes[execution];
}

/* Moves inputs and runs the body of an execution on `executor`; returns what the body returned. expected_ns: clo_call's.
 * scratch: of clo_releases_inputs_max. */
CLO_INTERNAL int clo_releases_data_call(clo_releases_data *data, uint32_t execution, uint64_t release,
                                        uint32_t executor, int64_t expected_ns, const clo_engine_scratch *scratch,
                                        clo_engine_stats *stats);

/* Most inputs of any task; 0 where no task has outputs. */
CLO_INTERNAL uint32_t clo_releases_inputs_max(const clo_program *program);

/* Output of an execution in a release that is among the last `depth`; NULL: it has none. */
void *clo_releases_output(const clo_releases_data *data, uint32_t execution, uint64_t release);

/* As clo_engine_output_hash. */
CLO_INTERNAL uint64_t clo_releases_output_hash(const clo_releases_data *data, uint64_t release);

#endif
