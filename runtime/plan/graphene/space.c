/* plan/graphene/space.c - see space.h. Unlike the steps of rcpsp/steps.h, those of a machine lie in one flat array: no
 * time is the first, so they grow at both ends, and a step that is split moves all behind it. */
#include "plan/graphene/space.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/status.h"

#include <assert.h>
#include <string.h>

clo_status clo_space_open(clo_space *space, const clo_rcpsp *problem)
{
    size_t n = problem->tasks, stages = problem->graph->tasks, steps_max = 2 * n + 2;
    int64_t *times;
    uint64_t *frees;
    clo_block block = {0};

    *space = (clo_space){.problem = problem};
    clo_carve(&block, &space->steps, problem->machines);
    clo_carve(&block, &times, problem->machines * steps_max);
    clo_carve(&block, &frees, problem->machines * steps_max * problem->words);
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
    for (uint32_t m = 0; m < problem->machines; m++) {
        space->steps[m].time_ns = times + m * steps_max;
        space->steps[m].free = frees + m * steps_max * problem->words;
    }
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

    for (uint32_t m = 0; m < problem->machines; m++) {
        space->steps[m].count = 1;
        space->steps[m].time_ns[0] = CLO_SPACE_BEGIN;
        memcpy(space->steps[m].free, &problem->capacity[(size_t)m * problem->words], problem->words * sizeof(uint64_t));
    }
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
    for (uint32_t m = 0; m < problem->machines; m++) {
        uint32_t count = from->steps[m].count;
        to->steps[m].count = count;
        memcpy(to->steps[m].time_ns, from->steps[m].time_ns, count * sizeof(int64_t));
        memcpy(to->steps[m].free, from->steps[m].free, (size_t)count * problem->words * sizeof(uint64_t));
    }
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

static bool fits(const clo_space *space, const clo_space_steps *steps, uint32_t at, const uint64_t *demand)
{
    const clo_rcpsp *problem = space->problem;
    const uint64_t *free = &steps->free[(size_t)at * problem->words];
    uint64_t guards = problem->guards;

    for (uint32_t w = 0; w < problem->words; w++)
        guards &= free[w] - demand[w];
    return guards == problem->guards;
}

/* The step that holds at time_ns. */
static uint32_t step_at(const clo_space_steps *steps, int64_t time_ns)
{
    uint32_t low = 0, high = steps->count;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (steps->time_ns[middle] <= time_ns)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Earliest start >= ready_ns. Ends: in the last step everything is free. */
static int64_t find_early(const clo_space *space, const clo_space_steps *steps, int64_t ready_ns, int64_t duration_ns,
                          const uint64_t *demand)
{
    int64_t start = ready_ns;

    for (uint32_t i = step_at(steps, ready_ns);; i++) {
        if (!fits(space, steps, i, demand)) {
            assert(i + 1 < steps->count);
            start = steps->time_ns[i + 1];
        } else if (i + 1 == steps->count || steps->time_ns[i + 1] >= start + duration_ns) {
            return start;
        }
    }
}

/* Latest start that ends by due_ns. Ends: in the first step everything is free. */
static int64_t find_late(const clo_space *space, const clo_space_steps *steps, int64_t due_ns, int64_t duration_ns,
                         const uint64_t *demand)
{
    int64_t finish = due_ns;

    for (uint32_t i = step_at(steps, due_ns - 1);; i--) {
        if (!fits(space, steps, i, demand)) {
            assert(i > 0);
            finish = steps->time_ns[i];
        } else if (i == 0 || steps->time_ns[i] <= finish - duration_ns) {
            return finish - duration_ns;
        }
    }
}

/* Makes a step begin at time_ns; gives its index. */
static uint32_t split(const clo_space *space, clo_space_steps *steps, int64_t time_ns)
{
    uint32_t at = step_at(steps, time_ns), words = space->problem->words;

    if (steps->time_ns[at] == time_ns)
        return at;
    size_t behind = steps->count - at - 1;
    memmove(&steps->time_ns[at + 2], &steps->time_ns[at + 1], behind * sizeof(int64_t));
    memmove(&steps->free[(size_t)(at + 1) * words], &steps->free[(size_t)at * words],
            (behind + 1) * words * sizeof(uint64_t)); /* the step itself stays at both */
    steps->time_ns[at + 1] = time_ns;
    steps->count++;
    return at + 1;
}

static void take(clo_space *space, uint32_t v, uint32_t machine, int64_t start_ns)
{
    const clo_rcpsp *problem = space->problem;
    clo_space_steps *steps = &space->steps[machine];
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
    uint32_t first = split(space, steps, start_ns), last = split(space, steps, finish_ns);
    for (uint32_t i = first; i < last; i++)
        for (uint32_t w = 0; w < problem->words; w++)
            steps->free[(size_t)i * problem->words + w] -= problem->demand[(size_t)v * problem->words + w];
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
    uint32_t at = CLO_NONE;

    for (uint32_t m = 0; m < problem->machines; m++) {
        int64_t duration = problem->time_ns[(size_t)m * problem->tasks + v], start;
        if (duration == CLO_TIME_NEVER)
            continue;
        if (duration == 0)
            start = limit;
        else if (forward)
            start = find_early(space, &space->steps[m], limit, duration, demand);
        else
            start = find_late(space, &space->steps[m], limit, duration, demand);
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
