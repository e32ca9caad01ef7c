/* virtual_time.c - see virtual_time.h. */
#include "run/state/virtual_time.h"

#include "base/carve.h"
#include "base/status.h"

clo_status clo_virtual_create(const clo_program *program, uint32_t workers, clo_arena *arena, clo_virtual **out)
{
    clo_virtual *made = clo_arena_take(arena, 1, sizeof *made);
    size_t executions = program->executions;
    clo_combining_slot *slots;
    clo_block block = {0};

    if (made == NULL)
        return clo_fail_memory("a job in virtual time");
    made->heap.capacity = 2 * executions;
    clo_carve(&block, &made->heap.items, made->heap.capacity);
    clo_carve(&block, &made->start_ns, executions);
    clo_carve(&block, &made->has_run, executions);
    clo_carve(&block, &slots, (size_t)workers + 1);
    clo_line_carve(&made->line, program, &block);
    if (!clo_block_take(&block, arena))
        return clo_fail_memory("a job in virtual time");
    clo_combining_init(&made->combining, slots, workers + 1);
    *out = made;
    return CLO_OK;
}
