/* plan/graphene/space.c - see space.h. No time is the first, so the steps of a machine grow at both ends; searches look
 * at all of them. */
#include "plan/graphene/space.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/status.h"

#include <assert.h>
#include <string.h>

clo_status clo_space_open(clo_space *space, const clo_rcpsp *problem)
{
    size_t n = problem->tasks, stages = problem->graph->tasks, steps_max = 2 * n + 2;
    clo_rcpsp_steps all = {.look_back = UINT32_MAX, .windows_ns = problem->windows_ns};
    clo_block block = {0};

    *space = (clo_space){.problem = problem};
    clo_carve(&block, &space->steps, problem->machines);
    clo_rcpsp_steps_carve(&block, &all, problem->machines, steps_max, problem->words);
    clo_carve(&block, &space->start_ns, n);
    clo_carve(&block, &space->last_ns, stages);
    clo_carve(&block, &space->first_ns, stages);
    clo_carve(&block, &space->machine, n);
    clo_carve(&block, &space->placed, n);
    space->block = clo_block_allocate(&block);
    if (space->block == NULL)
        return clo_fail_memory("a plan");
    for (size_t t = 0; t < stages; t++) {
        space->last_ns[t] = INT64_MIN;
        space->first_ns[t] = INT64_MAX;
    }
    memset(space->machine, 0xff, n * sizeof *space->machine); /* CLO_NONE */
    for (uint32_t m = 0; m < problem->machines; m++)
        space->steps[m] = clo_rcpsp_steps_part(&all, m, steps_max, problem->words);
    clo_space_clear(space);
    return CLO_OK;
}

void clo_space_close(clo_space *space)
{
    clo_free(space->block);
    *space = (clo_space){0};
}

void clo_space_clear(clo_space *space)
{
    const clo_rcpsp *problem = space->problem;

    for (uint32_t m = 0; m < problem->machines; m++)
        clo_rcpsp_steps_clear(&space->steps[m], CLO_SPACE_BEGIN, &problem->capacity[(size_t)m * problem->words],
                              problem->words);
    for (uint32_t i = 0; i < space->placed_count; i++) {
        uint32_t stage = problem->graph->task_of[space->placed[i]];
        space->machine[space->placed[i]] = CLO_NONE;
        space->last_ns[stage] = INT64_MIN;
        space->first_ns[stage] = INT64_MAX;
    }
    space->placed_count = 0;
    space->from_ns = space->to_ns = 0;
}

void clo_space_copy(clo_space *to, const clo_space *from)
{
    const clo_rcpsp *problem = from->problem;

    clo_space_clear(to);
    for (uint32_t m = 0; m < problem->machines; m++)
        clo_rcpsp_steps_copy(&to->steps[m], &from->steps[m], problem->words);
    for (uint32_t i = 0; i < from->placed_count; i++) {
        uint32_t v = from->placed[i], stage = problem->graph->task_of[v];
        to->placed[i] = v;
        to->last_ns[stage] = from->last_ns[stage];
        to->first_ns[stage] = from->first_ns[stage];
        to->start_ns[v] = from->start_ns[v];
        to->machine[v] = from->machine[v];
    }
    to->placed_count = from->placed_count;
    to->from_ns = from->from_ns;
    to->to_ns = from->to_ns;
}

static void take(clo_space *space, uint32_t v, uint32_t machine, int64_t start_ns)
{
    const clo_rcpsp *problem = space->problem;
    clo_rcpsp_steps *steps = &space->steps[machine];
    int64_t finish_ns = start_ns + problem->time_ns[(size_t)machine * problem->tasks + v];

    space->from_ns = start_ns < space->from_ns ? start_ns : space->from_ns;
    space->to_ns = finish_ns > space->to_ns ? finish_ns : space->to_ns;
    uint32_t stage = problem->graph->task_of[v];

    space->last_ns[stage] = finish_ns > space->last_ns[stage] ? finish_ns : space->last_ns[stage];
    space->first_ns[stage] = start_ns < space->first_ns[stage] ? start_ns : space->first_ns[stage];
    space->start_ns[v] = start_ns;
    space->machine[v] = machine;
    space->placed[space->placed_count++] = v;
    if (finish_ns == start_ns)
        return;
    clo_rcpsp_steps_take(steps, clo_rcpsp_step_at(steps, start_ns), start_ns, finish_ns,
                         &problem->demand[(size_t)v * problem->words], problem->words, problem->guards);
}

/* When all its placed producers have ended; without any, the begin of what is placed. */
static int64_t ready_ns(const clo_space *space, uint32_t stage)
{
    const clo_graph *graph = space->problem->graph;
    int64_t latest = space->from_ns;

    for (uint32_t edge = graph->in_first[stage]; edge < graph->in_first[stage + 1]; edge++)
        if (space->last_ns[clo_graph_source(graph, edge)] > latest)
            latest = space->last_ns[clo_graph_source(graph, edge)];
    return latest;
}

static int64_t due_ns(const clo_space *space, uint32_t stage)
{
    const clo_graph *graph = space->problem->graph;
    int64_t earliest = space->to_ns;

    for (uint32_t at = graph->out_first[stage]; at < graph->out_first[stage + 1]; at++)
        if (space->first_ns[graph->out[at]] < earliest)
            earliest = space->first_ns[graph->out[at]];
    return earliest;
}

void clo_space_place(clo_space *space, uint32_t v, int direction)
{
    const clo_rcpsp *problem = space->problem;
    const uint64_t *demand = &problem->demand[(size_t)v * problem->words];
    bool forward = direction == CLO_SPACE_FORWARD;
    uint32_t stage = problem->graph->task_of[v];
    int64_t limit = forward ? ready_ns(space, stage) : due_ns(space, stage), best_start = 0, best = INT64_MAX;
    clo_rcpsp_step step;
    uint32_t at = CLO_NONE;

    for (uint32_t m = 0; m < problem->machines; m++) {
        int64_t duration = problem->time_ns[(size_t)m * problem->tasks + v], start;
        if (duration == CLO_TIME_NEVER)
            continue;
        if (duration == 0)
            start = limit;
        else if (forward)
            start =
                clo_rcpsp_steps_find(&space->steps[m], limit, duration, demand, problem->words, problem->guards, &step);
        else
            start =
                clo_rcpsp_steps_find_late(&space->steps[m], limit, duration, demand, problem->words, problem->guards);
        int64_t value = forward ? start + duration : -start;
        if (value < best) {
            best = value;
            best_start = start;
            at = m;
        }
    }
    assert(at != CLO_NONE); /* a packing problem exists only if every instance fits some machine */
    take(space, v, at, best_start);
}
