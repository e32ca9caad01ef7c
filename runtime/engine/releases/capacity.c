/* capacity.c - see capacity.h. */
#include "engine/releases/capacity.h"

#include "base/numbers/saturate.h"
#include "base/status.h"
#include "engine/program/capacity_order.h"

#include <assert.h>

static uint32_t machine_of(const clo_platform *platform, uint32_t executor)
{
    return platform->executors[executor].machine;
}

static clo_status make_queues(const clo_program *program, clo_arena *arena, clo_releases_capacity *room)
{
    const clo_platform *platform = program->platform;
    uint32_t *members = clo_arena_take(arena, platform->machines_count, sizeof *members);

    room->queues = clo_arena_take(arena, room->queues_count, sizeof *room->queues);
    if (members == NULL || room->queues == NULL)
        return clo_fail_memory("releases in flight");
    for (uint32_t e = 0; e < platform->executors_count; e++)
        members[machine_of(platform, e)]++;
    for (uint32_t q = 0; q < room->queues_count; q++) {
        clo_releases_queue *queue = &room->queues[q];
        queue->capacity = platform->capacities[q];
        if (queue->capacity < 0)
            continue; /* nobody asks for it */
        queue->holds = clo_arena_take(arena, members[q / CLO_RESOURCES_MAX], sizeof *queue->holds);
        if (queue->holds == NULL)
            return clo_fail_memory("releases in flight");
    }
    return CLO_OK;
}

clo_status clo_releases_capacity_create(const clo_program *program, bool is_timed, clo_arena *arena,
                                        clo_releases_capacity *room)
{
    uint64_t count = 0;

    room->first_row = program->platform->executors_count;
    if (!program->graph->has_demands)
        return CLO_OK;
    uint32_t *first = clo_arena_take(arena, (size_t)program->executions + 1, sizeof *first);
    if (first == NULL)
        return clo_fail_memory("releases in flight");
    for (uint32_t i = 0; i < program->executions; i++) {
        count += (uint64_t)__builtin_popcount(
            clo_capacity_order_demanded(program, clo_program_task(program, i), program->executor[i]));
        if (count > UINT32_MAX / 4)
            return clo_fail(CLO_ERR_LIMIT, "the tasks' demands are more than 2^30; plan a smaller graph");
        first[i + 1] = (uint32_t)count;
    }
    if (count == 0)
        return CLO_OK;
    room->first = first;
    room->queues_count = program->platform->machines_count * CLO_RESOURCES_MAX;
    room->asks = clo_arena_take(arena, (size_t)count, sizeof *room->asks);
    if (room->asks == NULL)
        return clo_fail_memory("releases in flight");
    return is_timed ? make_queues(program, arena, room) : CLO_OK;
}

void clo_releases_capacity_fill(clo_releases_capacity *room, uint32_t execution, uint32_t row, uint32_t place,
                                int64_t demand)
{
    uint32_t at = room->first[execution];

    while (room->asks[at].row != 0) /* one for each resource that it demands */
        at++;
    assert(at < room->first[execution + 1]);
    assert(row >= room->first_row && room->first_row > 0);
    room->asks[at] = (clo_releases_ask){row, place, demand};
}

void clo_releases_capacity_begin(const clo_releases_capacity *room)
{
    for (uint32_t q = 0; q < room->queues_count && room->queues != NULL; q++) {
        room->queues[q].start_ns = 0;
        room->queues[q].holds_count = 0;
    }
}

/* The moment from at_ns on when so much of it is free: nobody takes any before us. */
static int64_t free_from(const clo_releases_queue *queue, int64_t at_ns, int64_t demand)
{
    for (;;) { /* each turn passes an end */
        int64_t used = 0, next_ns = INT64_MAX;
        for (uint32_t i = 0; i < queue->holds_count; i++) {
            const clo_releases_hold *hold = &queue->holds[i];
            if (hold->finish_ns <= at_ns)
                continue;
            used += hold->demand;
            next_ns = hold->finish_ns < next_ns ? hold->finish_ns : next_ns;
        }
        if (demand <= queue->capacity - used || next_ns == INT64_MAX)
            return at_ns;
        at_ns = next_ns;
    }
}

/* Those that ended before are forgotten: so there is one for each executor at most. */
static void hold_until(clo_releases_queue *queue, int64_t start_ns, int64_t finish_ns, int64_t demand)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < queue->holds_count; i++)
        if (queue->holds[i].finish_ns > start_ns)
            queue->holds[kept++] = queue->holds[i];
    if (finish_ns > start_ns)
        queue->holds[kept++] = (clo_releases_hold){finish_ns, demand};
    queue->holds_count = kept;
    queue->start_ns = start_ns;
}

int64_t clo_releases_capacity_take(const clo_releases_capacity *room, uint32_t execution, int64_t start_ns,
                                   int64_t length_ns)
{
    const clo_releases_ask *first = room->asks + room->first[execution], *end = room->asks + room->first[execution + 1];

    for (const clo_releases_ask *ask = first; ask < end; ask++) {
        const clo_releases_queue *queue = &room->queues[ask->row - room->first_row];
        start_ns = queue->start_ns > start_ns ? queue->start_ns : start_ns;
    }
    /* All who hold something began no later than that, so what is free only grows: one turn is enough. */
    for (const clo_releases_ask *ask = first; ask < end; ask++)
        start_ns = free_from(&room->queues[ask->row - room->first_row], start_ns, ask->demand);
    for (const clo_releases_ask *ask = first; ask < end; ask++)
        hold_until(&room->queues[ask->row - room->first_row], start_ns, clo_time_add(start_ns, length_ns), ask->demand);
    return start_ns;
}
