/* stage.c - parts of stages, by place. */
#include "engine/state/stage.h"

#include "base/carve.h"
#include "base/status.h"

#include <assert.h>
#include <string.h>

/* True if data take the same time from both executors, which share a memory, to wherever they go. */
static bool is_same_place(const clo_platform *platform, uint32_t a, uint32_t b)
{
    size_t executors = platform->executors_count;

    for (uint32_t to = 0; to < executors; to++)
        if (platform->executors[to].memory != platform->executors[a].memory &&
            !clo_platform_links_equal(platform, a * executors + to, b * executors + to))
            return false;
    return true;
}

/* first_in: [memories] scratch, the first place in each memory. */
static void number_places(clo_stages *stages, uint32_t *first_in)
{
    const clo_platform *platform = stages->program->platform;

    memset(first_in, 0xff, platform->memories_count * sizeof *first_in);
    for (uint32_t e = 0; e < platform->executors_count; e++) {
        uint32_t memory = platform->executors[e].memory, place = first_in[memory];
        for (; place < stages->places; place++) { /* those of this memory */
            uint32_t other = stages->executor_of[place];
            if (platform->executors[other].memory == memory && is_same_place(platform, e, other))
                break;
        }
        if (place >= stages->places) {
            place = stages->places++;
            stages->executor_of[place] = e;
            if (first_in[memory] == CLO_NONE)
                first_in[memory] = place;
        }
        stages->place_of[e] = place;
    }
}

static uint32_t instances_behind(const clo_program *program, uint32_t barrier)
{
    return program->graph->rows[program->barrier_task[barrier]].instances;
}

/* A stage has no more parts than instances. */
static clo_status take_parts(clo_stages *stages, clo_arena *arena)
{
    const clo_program *program = stages->program;
    uint32_t parts = 0;
    clo_block block = {0};

    for (uint32_t b = 0; b < program->barriers; b++) {
        uint32_t instances = instances_behind(program, b);
        stages->parts_first[b] = parts;
        parts += instances < stages->places ? instances : stages->places;
    }
    stages->parts_first[program->barriers] = parts;
    clo_carve(&block, &stages->parts, parts);
    clo_carve(&block, &stages->parts_count, program->barriers);
    return clo_block_take(&block, arena) ? CLO_OK : clo_fail_memory("the stages of a job");
}

clo_status clo_stages_create(clo_stages *stages, const clo_program *program, clo_arena *arena)
{
    const clo_platform *platform = program->platform;
    clo_block block = {0};

    *stages = (clo_stages){.program = program};
    clo_carve(&block, &stages->place_of, platform->executors_count);
    clo_carve(&block, &stages->executor_of, platform->executors_count);
    clo_carve(&block, &stages->parts_first, (size_t)program->barriers + 1);
    if (!clo_block_take(&block, arena))
        return clo_fail_memory("the stages of a job");
    size_t mark = clo_arena_mark(arena);
    uint32_t *first_in = clo_arena_take(arena, platform->memories_count, sizeof *first_in);
    if (first_in == NULL)
        return clo_fail_memory("the stages of a job");
    number_places(stages, first_in);
    clo_arena_back_to(arena, mark);
    return take_parts(stages, arena);
}

static void add(clo_stage_part *part, int64_t finish_ns)
{
    if (part->count++ == 0 || finish_ns > part->finish_ns)
        part->finish_ns = finish_ns;
}

/* The part of `place`; where a stage has fewer instances than there are places, its parts stand in the order in which
 * places come up, and at most that many are looked at. */
static clo_stage_part *part_at(const clo_stages *stages, clo_stage_part *parts, uint32_t room, uint32_t place)
{
    uint32_t at = 0, executor = stages->executor_of[place];

    if (room == stages->places)
        at = place;
    else
        while (parts[at].count > 0 && parts[at].executor != executor) /* ends: no more places than instances */
            at++;
    assert(at < room);
    parts[at].executor = executor;
    return &parts[at];
}

void clo_stages_pass(clo_stages *stages, uint32_t barrier, const uint32_t *ran_on, const uint32_t *winner,
                     const int64_t *finish_ns)
{
    const clo_graph *graph = stages->program->graph;
    uint32_t task = stages->program->barrier_task[barrier], used = 0;
    uint32_t room = stages->parts_first[barrier + 1] - stages->parts_first[barrier];
    clo_stage_part *parts = stages->parts + stages->parts_first[barrier];

    assert(stages->parts != NULL);
    assert(barrier < stages->program->barriers);
    memset(parts, 0, room * sizeof *parts);
    for (uint32_t i = graph->first_instance[task]; i < graph->first_instance[task + 1]; i++) {
        uint32_t place = stages->place_of[ran_on[winner == NULL ? i : winner[i]]];
        add(part_at(stages, parts, room, place), finish_ns == NULL ? 0 : finish_ns[i]);
    }
    for (uint32_t at = 0; at < room; at++)
        if (parts[at].count > 0)
            parts[used++] = parts[at];
    stages->parts_count[barrier] = used;
}
