/* stage.c - parts of stages, by source of data. */
#include "engine/state/stage.h"

#include "base/carve.h"
#include "base/status.h"

#include <assert.h>
#include <string.h>

static uint32_t instances_behind(const clo_program *program, uint32_t barrier)
{
    return program->graph->rows[program->barrier_task[barrier]].instances;
}

clo_status clo_stages_create(clo_stages *stages, const clo_program *program, clo_arena *arena)
{
    uint32_t parts = 0, sources = program->platform->sources_count;
    clo_block first = {0}, rest = {0};

    *stages = (clo_stages){.program = program};
    clo_carve(&first, &stages->parts_first, (size_t)program->barriers + 1);
    if (!clo_block_take(&first, arena))
        return clo_fail_memory("the stages of a job");
    for (uint32_t b = 0; b < program->barriers; b++) { /* a stage has no more parts than instances */
        uint32_t instances = instances_behind(program, b);
        stages->parts_first[b] = parts;
        parts += instances < sources ? instances : sources;
    }
    stages->parts_first[program->barriers] = parts;
    clo_carve(&rest, &stages->parts, parts);
    clo_carve(&rest, &stages->parts_count, program->barriers);
    return clo_block_take(&rest, arena) ? CLO_OK : clo_fail_memory("the stages of a job");
}

static void add(clo_stage_part *part, int64_t finish_ns)
{
    if (part->count++ == 0 || finish_ns > part->finish_ns)
        part->finish_ns = finish_ns;
}

/* The part of `source`; where a stage has fewer instances than there are sources, its parts stand in the order in which
 * sources come up, and at most that many are looked at. */
static clo_stage_part *part_at(const clo_platform *platform, clo_stage_part *parts, uint32_t room, uint32_t source)
{
    uint32_t at = 0, executor = platform->source_first[source];

    if (room == platform->sources_count)
        at = source;
    else
        while (parts[at].count > 0 && parts[at].executor != executor) /* ends: no more sources than instances */
            at++;
    assert(at < room);
    parts[at].executor = executor;
    return &parts[at];
}

void clo_stages_pass(clo_stages *stages, uint32_t barrier, const uint32_t *ran_on, const uint32_t *winner,
                     const int64_t *finish_ns)
{
    const clo_graph *graph = stages->program->graph;
    const clo_platform *platform = stages->program->platform;
    uint32_t task = stages->program->barrier_task[barrier], used = 0;
    uint32_t room = stages->parts_first[barrier + 1] - stages->parts_first[barrier];
    clo_stage_part *parts = stages->parts + stages->parts_first[barrier];

    assert(stages->parts != NULL);
    assert(barrier < stages->program->barriers);
    memset(parts, 0, room * sizeof *parts);
    for (uint32_t i = graph->first_instance[task]; i < graph->first_instance[task + 1]; i++) {
        uint32_t source = platform->source_of[ran_on[winner == NULL ? i : winner[i]]];
        add(part_at(platform, parts, room, source), finish_ns == NULL ? 0 : finish_ns[i]);
    }
    for (uint32_t at = 0; at < room; at++)
        if (parts[at].count > 0)
            parts[used++] = parts[at];
    stages->parts_count[barrier] = used;
}
