/* stream_time.c - see stream_time.h. */
#include "run/state/stream_time.h"

#include "base/carve.h"
#include "base/numbers/saturate.h"
#include "base/status.h"

#include <clotho/cost.h>

static void carve(clo_stream_time *time, uint32_t executors, uint32_t jobs_max, clo_block *block)
{
    time->ends.capacity = executors;
    time->arrivals.capacity = jobs_max;
    clo_carve(block, &time->ends.items, executors);
    clo_carve(block, &time->arrivals.items, jobs_max);
    clo_carve(block, &time->bodies, executors);
}

size_t clo_stream_time_bytes(uint32_t executors, uint32_t jobs_max)
{
    clo_stream_time time = {0};
    clo_block block = {0};

    carve(&time, executors, jobs_max, &block);
    return block.is_refused ? SIZE_MAX : clo_arena_need(sizeof time) + clo_arena_need(block.bytes);
}

clo_status clo_stream_time_create(uint32_t executors, uint32_t jobs_max, clo_arena *arena, clo_stream_time **out)
{
    clo_stream_time *made = clo_arena_take(arena, 1, sizeof *made);
    clo_block block = {0};

    if (made == NULL)
        return clo_fail_memory("a scheduler in virtual time");
    carve(made, executors, jobs_max, &block);
    if (!clo_block_take(&block, arena))
        return clo_fail_memory("a scheduler in virtual time");
    *out = made;
    return CLO_OK;
}

void clo_stream_time_start(clo_stream_time *time, uint32_t executor, int64_t start_ns, int64_t time_ns)
{
    time->bodies[executor] = (clo_timed_body){start_ns, clo_time_add(start_ns, time_ns), false};
    clo_heap_push(&time->ends, time->bodies[executor].finish_ns, executor);
}

void clo_stream_time_submit(clo_stream_time *time, uint32_t slot, int64_t arrival_ns)
{
    clo_heap_push(&time->arrivals, arrival_ns, (uint64_t)time->submitted++ << 32 | slot);
}

static int64_t first_ns(const clo_heap *heap)
{
    return heap->count > 0 ? heap->items[0].key : CLO_TIME_NEVER;
}

clo_stream_event clo_stream_time_next(clo_stream_time *time, int64_t wake_ns, uint32_t *which)
{
    int64_t end_ns = first_ns(&time->ends), arrival_ns = first_ns(&time->arrivals);

    if (time->ends.count > 0 && end_ns <= arrival_ns && end_ns <= wake_ns) {
        if (!time->bodies[(uint32_t)time->ends.items[0].id].has_run)
            return CLO_STREAM_NONE;
        *which = (uint32_t)clo_heap_pop(&time->ends).id;
        time->now_ns = end_ns;
        return CLO_STREAM_END;
    }
    if (time->arrivals.count > 0 && arrival_ns <= wake_ns) {
        *which = (uint32_t)clo_heap_pop(&time->arrivals).id;
        time->now_ns = arrival_ns;
        return CLO_STREAM_ARRIVAL;
    }
    if (wake_ns == CLO_TIME_NEVER)
        return CLO_STREAM_NONE;
    time->now_ns = wake_ns;
    return CLO_STREAM_TIMER;
}
