/* handles.c - the buffers of handles, see handles.h. */
#include "engine/execution/handles.h"

#include "base/carve.h"
#include "base/status.h"

#include <string.h>

#define BUFFER_ALIGN 64u
#define BLOCK_MAX (1ull << 46)

static bool is_own(const clo_handle *handle)
{
    return handle->address == NULL;
}

/* Bytes of a handle's buffers: one that is kept has one for all memories. */
static uint64_t room_of(const clo_handles *handles, uint32_t h)
{
    const clo_handle *handle = &handles->data->handles[h];
    uint64_t bytes = (handle->bytes + BUFFER_ALIGN - 1) / BUFFER_ALIGN * BUFFER_ALIGN;

    return !is_own(handle) ? 0 : handle->kept ? bytes : bytes * handles->slots;
}

static unsigned char *buffer_of(const clo_handles *handles, uint32_t h, uint32_t slot)
{
    const clo_handle *handle = &handles->data->handles[h];
    uint64_t room = handles->at[h + 1] - handles->at[h];

    if (!is_own(handle))
        return handle->address;
    return handles->block + handles->at[h] + (handle->kept ? 0 : room / handles->slots * slot);
}

static clo_status allocate_buffers(clo_handles *handles, clo_arena *arena)
{
    uint32_t count = handles->data->handles_count;
    uint64_t at = 0;
    bool is_cleared = false;

    for (uint32_t h = 0; h < count; h++) {
        uint64_t room = room_of(handles, h);
        handles->at[h] = at;
        if (handles->data->handles[h].bytes > BLOCK_MAX / handles->slots || at > BLOCK_MAX - room)
            return clo_fail(CLO_ERR_LIMIT, "the handles need more than 2^46 bytes in %u memories; lower their bytes",
                            handles->slots);
        at += room;
        is_cleared |= handles->data->handles[h].kept != 0;
    }
    handles->at[count] = at;
    handles->block = clo_arena_take_lazy(arena, (size_t)at, is_cleared ? (size_t)at : 0);
    if (handles->block == NULL)
        return clo_fail(CLO_ERR_MEMORY, "out of memory for %llu bytes of handles in %u memories",
                        (unsigned long long)at, handles->slots);
    return CLO_OK;
}

clo_status clo_handles_create(clo_handles *handles, const clo_program *program, const uint32_t *slot_of, uint32_t slots,
                              clo_arena *arena)
{
    const clo_graph_data *data = program->graph->data;
    clo_block block = {0};

    *handles = (clo_handles){.program = program, .data = data, .slot_of = slot_of, .slots = slots > 0 ? slots : 1};
    if (data == NULL)
        return CLO_OK;
    size_t accesses = data->accesses_count;
    clo_carve(&block, &handles->at, (size_t)data->handles_count + 1);
    clo_carve(&block, &handles->pointers, accesses * handles->slots);
    clo_carve(&block, &handles->bytes, accesses);
    clo_carve(&block, &handles->modes, accesses);
    if (slot_of != NULL)
        clo_carve(&block, &handles->is_there, accesses * handles->slots);
    if (!clo_block_take(&block, arena))
        return clo_fail_memory("the handles of a job");
    clo_status status = allocate_buffers(handles, arena);
    for (uint32_t a = 0; a < accesses && status == CLO_OK; a++) {
        handles->bytes[a] = (size_t)data->handles[data->accesses[a].handle].bytes;
        handles->modes[a] = data->accesses[a].mode;
        for (uint32_t slot = 0; slot < handles->slots; slot++)
            handles->pointers[slot * accesses + a] = buffer_of(handles, data->accesses[a].handle, slot);
    }
    return status;
}

/* The memory where an instance ran. */
static uint32_t slot_of_instance(const clo_handles *handles, const clo_data_run *run, uint32_t instance)
{
    return handles->slot_of == NULL
               ? 0
               : handles->slot_of[handles->program->platform->executors[run->ran_on[instance]].memory];
}

/* Brings bytes [from, to) of what the access `source` wrote to `slot`. Returns how many were copied. */
static uint64_t bring(const clo_handles *handles, const clo_data_run *run, uint32_t source, uint32_t slot,
                      uint64_t from, uint64_t to)
{
    const clo_graph *graph = handles->program->graph;
    const clo_graph_access_row *access = &handles->data->accesses[source];
    const clo_graph_task_row *row = &graph->rows[access->task];
    clo_graph_grain grain = clo_graph_grain_of(graph, access->task);
    uint64_t bytes = handles->data->handles[access->handle].bytes, part = bytes / grain.items * grain.size, copied = 0;
    unsigned char *here = buffer_of(handles, access->handle, slot);

    if (row->instances == 1)
        part = bytes;
    for (uint64_t range = from / part; range < row->instances && range * part < to; range++) {
        uint32_t there = slot_of_instance(handles, run, graph->first_instance[access->task] + (uint32_t)range);
        uint64_t low = range * part > from ? range * part : from;
        uint64_t high = to - low < part - low % part ? to : low + (part - low % part);
        if (there == slot)
            continue;
        memcpy(here + low, buffer_of(handles, access->handle, there) + low, high - low);
        copied += high - low;
    }
    return copied;
}

/* What an access reads comes to `slot`. Instances that update their parts at once bring these alone. */
static uint64_t fetch(clo_handles *handles, const clo_data_run *run, uint32_t access, uint32_t range, uint32_t slot)
{
    const clo_graph_access_row *row = &handles->data->accesses[access];
    const clo_graph *graph = handles->program->graph;
    uint64_t bytes = handles->data->handles[row->handle].bytes, copied;

    if (clo_access_writes(row->mode) && graph->rows[row->task].instances > 1) {
        clo_graph_grain grain = clo_graph_grain_of(graph, row->task);
        uint64_t part = bytes / grain.items, first = (uint64_t)range * grain.size * part;
        return bring(handles, run, row->source, slot, first, first + clo_graph_items_of(grain, range) * part);
    }
    clo_once *once = &handles->is_there[(size_t)row->source * handles->slots + slot];
    if (!clo_once_begin(once, run->number))
        return 0;
    copied = bring(handles, run, row->source, slot, 0, bytes);
    clo_once_end(once, run->number);
    return copied;
}

void clo_handles_fetch(clo_handles *handles, const clo_data_run *run, uint32_t instance, uint32_t executor,
                       uint64_t *copied_bytes)
{
    const clo_program *program = handles->program;
    uint32_t task = program->graph->task_of[instance], range = instance - program->graph->first_instance[task];

    if (handles->slot_of == NULL)
        return;
    uint32_t slot = handles->slot_of[program->platform->executors[executor].memory];
    for (uint32_t a = handles->data->first[task]; a < handles->data->first[task + 1]; a++) {
        const clo_graph_access_row *access = &handles->data->accesses[a];
        if (access->source != CLO_NONE && !clo_handle_is_fixed(&handles->data->handles[access->handle]))
            *copied_bytes += fetch(handles, run, a, range, slot);
    }
}

const void *clo_handles_content(const clo_handles *handles, const clo_data_run *run, uint32_t handle)
{
    const clo_graph_data *data = handles->data;
    uint32_t last = data->last[handle];

    if (clo_handle_is_fixed(&data->handles[handle]))
        return buffer_of(handles, handle, 0);
    if (last == CLO_NONE)
        return NULL;
    uint32_t first = handles->program->graph->first_instance[data->accesses[last].task];
    uint32_t slot = slot_of_instance(handles, run, first);
    (void)bring(handles, run, last, slot, 0, data->handles[handle].bytes);
    return buffer_of(handles, handle, slot);
}

void clo_handles_carry(const clo_handles *to, const clo_handles *from)
{
    for (uint32_t h = 0; to->data != NULL && h < to->data->handles_count; h++) {
        const clo_handle *handle = &to->data->handles[h];
        if (handle->kept && is_own(handle))
            memcpy(buffer_of(to, h, 0), buffer_of(from, h, 0), handle->bytes);
    }
}
