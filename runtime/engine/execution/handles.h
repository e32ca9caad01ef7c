/* engine/execution/handles.h - where the handles of a run lie, and how their content comes to other memories.
 *
 * Where data are copied between memories, a handle has one buffer in each memory where something may run, and its
 * version lies where its writer ran: in parts of many instances, each part where its instance ran. Whoever reads it
 * elsewhere first brings it there, once for each version and memory (sync/protocol/once.h); whoever updates its part
 * brings that part. Writers wait for the readers of the version before, so no buffer changes while it is read. Else a
 * handle has one buffer, and nothing moves. */
#ifndef CLO_ENGINE_EXECUTION_HANDLES_H
#define CLO_ENGINE_EXECUTION_HANDLES_H

#include "base/arena.h"
#include "engine/execution/data_run.h"
#include "engine/program/program.h"
#include "sync/protocol/once.h"

typedef struct clo_handles {
    const clo_program *program;
    const clo_graph_data *data; /* NULL: the graph has none */
    const uint32_t *slot_of;    /* [memories]; NULL: nothing is copied */
    uint32_t slots;             /* buffers of a handle, >= 1 */
    unsigned char *block;
    uint64_t *at;           /* [handles + 1] offsets in the block */
    void **pointers;        /* [slots][accesses] what bodies get */
    size_t *bytes;          /* [accesses] */
    uint32_t *modes; /* [accesses] their modes, bits CLO_ACCESS_... */
    clo_once *is_there; /* [accesses][slots] the version that this access wrote is in that memory; NULL: no copies */
} clo_handles;

/* Everything lies in `arena`. slot_of, slots: as in clo_data. Returns CLO_OK, CLO_ERR_LIMIT or CLO_ERR_MEMORY. */
clo_status clo_handles_create(clo_handles *handles, const clo_program *program, const uint32_t *slot_of, uint32_t slots,
                              clo_arena *arena);

/* Brings to the memory of `executor` what `instance` of `task` reads there. Adds what was copied to *copied_bytes. */
void clo_handles_fetch(clo_handles *handles, const clo_data_run *run, uint32_t instance, uint32_t executor,
                       uint64_t *copied_bytes);

/* Tells a body on `executor` where the handles of its task are. O(1). */
static inline void clo_handles_show(const clo_handles *handles, uint32_t task, uint32_t executor, clo_call *call)
{
    const clo_program *program = handles->program;
    uint32_t first = handles->data->first[task];
    size_t slot = handles->slot_of == NULL ? 0 : handles->slot_of[program->platform->executors[executor].memory];

    call->data_count = handles->data->first[task + 1] - first;
    call->data = call->data_count > 0 ? handles->pointers + slot * handles->data->accesses_count + first : NULL;
    call->data_bytes = call->data_count > 0 ? handles->bytes + first : NULL;
    call->data_modes = call->data_count > 0 ? handles->modes + first : NULL;
}

/* After a run: the content of a handle in one piece, at the memory of its last writer's first instance. NULL: nothing
 * was written, and it has no content of its own. By one thread, between two runs. */
const void *clo_handles_content(const clo_handles *handles, const clo_data_run *run, uint32_t handle);

/* Handles that are kept get what they hold in another engine of the same graph. */
void clo_handles_carry(const clo_handles *to, const clo_handles *from);

#endif
