/* engine/state/stage.h - where the instances of a stage ran and when the last of them finished, as its consumers see
 * it.
 *
 * Executors of one source of data (platform.h) are alike to everybody, so of a stage of n instances only the latest
 * finish and the count in each source are kept, and when its data arrive, and how many move, costs O(sources) for each
 * consumer, not O(n). Kept for the stages
 * that have a barrier (program.h): whoever passes the barrier looks over the stage once, O(n). */
#ifndef CLO_ENGINE_STATE_STAGE_H
#define CLO_ENGINE_STATE_STAGE_H

#include "base/arena.h"
#include "engine/program/program.h"
#include "library.h"

/* The instances that ran in one source of data. */
typedef struct clo_stage_part {
    /* Of the last of them; 0 where times are not kept. */
    int64_t finish_ns;
    /* The first executor of the source. */
    uint32_t executor;
    uint32_t count;
} clo_stage_part;

typedef struct clo_stages {
    const clo_program *program;
    /* [barriers + 1], []: the parts of each stage begin there; NULL: nothing is kept. */
    uint32_t *parts_first;
    clo_stage_part *parts;
    /* [barriers] in use */
    uint32_t *parts_count;
} clo_stages;

/* Everything lies in `arena`. Returns CLO_OK or CLO_ERR_MEMORY. O(barriers). */
clo_status clo_stages_create(clo_stages *stages, const clo_program *program, clo_arena *arena);

/* All instances behind `barrier` have finished: ran_on of them, or of whose output counts for them (winner: as in
 * clo_data, or NULL), and finish_ns (NULL: not kept) are read. */
void clo_stages_pass(clo_stages *stages, uint32_t barrier, const uint32_t *ran_on, const uint32_t *winner,
                     const int64_t *finish_ns);

#endif
