/* engine/execution/data.h - the outputs of executions: where they lie, their copies in other memories, and the lists of
 * inputs that bodies see. Handles have a part of their own (handles.h). Knows of a run only who has finished where.
 *
 * Each execution has a buffer of its own; a consumer in another memory reads a copy, which whoever needs it first makes
 * (sync/protocol/once.h). The lists of the executions of one stage are the same but for the memory, so one list for
 * each memory serves them all, and an instance does not pay for the number of its inputs; where inputs are few or
 * sources are chosen one by one (replicas), each call gathers its own. */
#ifndef CLO_ENGINE_EXECUTION_DATA_H
#define CLO_ENGINE_EXECUTION_DATA_H

#include "base/arena.h"
#include "engine/execution/handles.h"
#include "engine/program/control_flow.h"

/* Room for one call's inputs; one for each driver thread. */
typedef struct clo_engine_scratch {
    /* [inputs_max] */
    const void **inputs;
    /* [inputs_max] */
    size_t *bytes;
} clo_engine_scratch;

/* The lists of a task whose executions share them. */
typedef struct clo_shared_inputs {
    uint32_t count;
    /* [count] */
    size_t *bytes;
    /* [memories with a slot, at least 1][count] */
    const void **lists;
    /* [memories with a slot, at least 1] the list is that of the run */
    clo_once *is_gathered;
} clo_shared_inputs;

typedef struct clo_data {
    const clo_program *program;
    /* Which inputs are dead. */
    const clo_control_flow *control_flow;

    /* Own output of execution e at home + output_at[e]; its copy in memory m is at remote + slot_of[m] * copy_bytes +
     * output_at[e]. Only memories where something may run have a slot. Under a policy all executions of an instance
     * have one copy in a memory, at output_at of the original: their outputs are equal, and whoever needs it first
     * makes it of the one that is nearest. */

    /* [executions + 1] offsets; NULL: no task has outputs. */
    uint64_t *output_at;
    unsigned char *home;
    /* The distance between two memories' copies. */
    uint64_t copy_bytes;
    /* [slots] * copy_bytes; pages appear when used. */
    unsigned char *remote;
    /* Executions that have copies of their own: all, under a policy the originals. */
    uint32_t copies;
    /* [copies * slots] */
    clo_once *copied;
    /* [memories]; CLO_NONE: nothing runs there; NULL: nothing is copied. */
    uint32_t *slot_of;
    uint32_t slots;

    /* [executions] whose output consumers read: its own, or that of its hedge where that has won (hedges.h). Written by
     * the winner before it releases anybody. NULL: there are no hedges. */
    uint32_t *winner;

    /* [tasks] which of `shared`; CLO_NONE: none. NULL: no task shares. */
    uint32_t *shared_of;
    clo_shared_inputs *shared;
    uint32_t shared_count;

    /* Of a graph that has some. */
    clo_handles handles;
} clo_data;

/* The inputs that a body sees. */
typedef struct clo_gathered {
    uint32_t count;
    const void *const *inputs;
    const size_t *bytes;
} clo_gathered;

/* copies: data really move between memories. Everything lies in `arena`. Returns CLO_OK, CLO_ERR_LIMIT,
 * CLO_ERR_MEMORY. */
clo_status clo_data_create(clo_data *data, const clo_program *program, bool copies, clo_arena *arena);

/* Moves to the memory of `executor` what `execution` reads there, and lists it. Adds what was copied to *copied_bytes.
 * A list that other executions use too is waited for while somebody gathers it. O(inputs), once in a memory where the
 * task shares them. */
clo_gathered clo_data_gather(clo_data *data, const clo_data_run *run, uint32_t execution, uint32_t executor,
                             const clo_engine_scratch *scratch, uint64_t *copied_bytes);

/* Output buffer of an execution, NULL if it has none. */
void *clo_data_output(const clo_data *data, uint32_t execution);

/* Bytes that an execution writes there: fewer than the buffer has where it is a short last range. */
uint64_t clo_data_output_bytes(const clo_data *data, uint32_t execution);

/* Before a run: nobody has won. O(hedges). */
void clo_data_begin(clo_data *data);

/* Whose output counts for what `execution` was to make. */
static inline uint32_t clo_data_winner(const clo_data *data, uint32_t execution)
{
    return data->winner == NULL ? execution : data->winner[execution];
}

#endif
