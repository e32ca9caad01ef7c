/* plan/graphene/parts.c - parts between barriers, scores and candidates of troublesome stages; see parts.h.
 * Barriers are found where the lower bound looks for them too: cost/bound/stages.c.
 *
 * Candidates (Fig. 5 of the paper): T = stages with LongScore >= l or FragScore <= f, for the values l and f that occur
 * (at most THRESHOLDS of each, evenly spaced), and none of each; closed by what lies on ways between its members. Left
 * out: sets that were there before, and those with 4/5 of the part's instances or more, where nothing is left to
 * decide. The paper does not give its limit; the number is ours. The empty set, everything in one order, comes first.
 *
 * FragScore: work = the largest over the resources of demand * time over the capacity of all machines together; the
 * time is that of a greedy packing of the stage alone, so fragments of the machines count. */
#include "plan/graphene/parts.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/order/sort.h"
#include "base/status.h"
#include "cost/bound/stages.h"
#include "plan/graphene/space.h"
#include "plan/rcpsp/priority.h"

#include <assert.h>
#include <string.h>

enum {
    THRESHOLDS = 7,
    CANDIDATES_MAX = (THRESHOLDS + 1) * (THRESHOLDS + 1),
    CANDIDATES_MIN = 2,
    INSTANCES_FULL = 11000 /* (this / instances)^2 candidates at most: a schedule may take n^2 steps */
};

/* What lives during clo_parts_open. */
typedef struct shape {
    clo_parts *parts;
    const clo_graph *graph;
    clo_bound_stages stages; /* of it, what clo_bound_cut fills           */
    uint32_t *values;        /* [stages] thresholds                       */
    uint8_t *down, *up;      /* [stages] is reached from T, leads to T    */
    uint32_t candidates_each;
} shape;

static void fill_members(shape *s)
{
    clo_parts *parts = s->parts;
    uint32_t at = 0;

    parts->count = s->stages.parts;
    for (uint32_t t = 0; t < s->graph->tasks; t++)
        parts->parts[s->stages.part_of[t]].last++;
    for (uint32_t p = 0; p < parts->count; p++) {
        parts->parts[p].first = at;
        at += parts->parts[p].last;
        parts->parts[p].last = parts->parts[p].first; /* grows again below */
    }
    for (uint32_t i = 0; i < s->graph->tasks; i++) {
        uint32_t t = s->graph->task_order[i];
        parts->place_of[t] = parts->parts[s->stages.part_of[t]].last++;
        parts->members[parts->place_of[t]] = t;
    }
}

/* demand * time of the stage over the capacity of all machines, Q16, for the resource where that is most. */
static clo_u128 work_q16(const clo_rcpsp *problem, uint32_t stage)
{
    uint32_t v = problem->graph->first_instance[stage];
    clo_u128 most = 0;

    for (uint32_t l = 0; l < clo_rcpsp_lanes(problem); l++) {
        uint64_t capacity = 0,
                 demand = (uint64_t)clo_rcpsp_lane(problem, &problem->demand[(size_t)v * problem->words], l);
        for (uint32_t m = 0; m < problem->machines; m++)
            capacity += (uint64_t)clo_rcpsp_lane(problem, &problem->capacity[(size_t)m * problem->words], l);
        if (capacity == 0)
            continue;
        clo_u128 work =
            (clo_u128)demand * (uint64_t)clo_rcpsp_fastest_ns(problem, v) * problem->graph->rows[stage].instances;
        work = (work << 16) / capacity; /* 31 bits of demand and 61 of time fit */
        most = work > most ? work : most;
    }
    return most;
}

static void fill_scores(const shape *s, clo_space *space, const clo_part *part)
{
    clo_parts *parts = s->parts;
    int64_t longest = 1;

    for (uint32_t i = part->first; i < part->last; i++) {
        int64_t time = clo_rcpsp_fastest_ns(parts->problem, s->graph->first_instance[parts->members[i]]);
        longest = time > longest ? time : longest;
    }
    for (uint32_t i = part->first; i < part->last; i++) {
        uint32_t t = parts->members[i];
        clo_u128 time = (uint64_t)clo_rcpsp_fastest_ns(parts->problem, s->graph->first_instance[t]);
        parts->long_q16[t] = (uint32_t)((time << 16) / (uint64_t)longest);
        clo_space_clear(space);
        for (uint32_t v = s->graph->first_instance[t]; v < s->graph->first_instance[t + 1]; v++)
            clo_space_place(space, v, CLO_SPACE_FORWARD);
        clo_u128 alone = (uint64_t)(space->to_ns > 0 ? space->to_ns : 1);
        clo_u128 frag = work_q16(parts->problem, t) / alone;
        parts->frag_q16[t] = frag > 65536 ? 65536 : (uint32_t)frag;
    }
}

static int by_size(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return a < b ? -1 : a > b;
}

/* Some of the different scores that occur in the part, rising; returns how many. */
static uint32_t choose_thresholds(const shape *s, const clo_part *part, const uint32_t *scores, uint32_t *out)
{
    uint32_t count = 0, different = 0;

    for (uint32_t i = part->first; i < part->last; i++)
        s->values[count++] = scores[s->parts->members[i]];
    clo_sort(s->values, count, sizeof *s->values, by_size);
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || s->values[i] != s->values[different - 1])
            s->values[different++] = s->values[i];
    uint32_t chosen = different < THRESHOLDS ? different : THRESHOLDS;
    for (uint32_t k = 0; k < chosen; k++)
        out[k] = s->values[(uint64_t)k * different / chosen];
    return chosen;
}

static bool is_inside(const shape *s, const clo_part *part, uint32_t stage)
{
    return s->parts->place_of[stage] >= part->first && s->parts->place_of[stage] < part->last;
}

/* down and up are T: spread along the ways; what both reach is T and its closure. Returns T's instances. */
static uint64_t close_candidate(const shape *s, const clo_part *part, uint8_t *subsets)
{
    const clo_parts *parts = s->parts;
    uint64_t inside = 0;

    for (uint32_t i = part->first; i < part->last; i++) {
        uint32_t t = parts->members[i];
        for (uint32_t edge = s->graph->in_first[t]; edge < s->graph->in_first[t + 1]; edge++) {
            uint32_t p = clo_graph_source(s->graph, edge);
            s->down[t] |= is_inside(s, part, p) && s->down[p];
        }
    }
    for (uint32_t i = part->last; i-- > part->first;) {
        uint32_t t = parts->members[i];
        for (uint32_t edge = s->graph->in_first[t]; edge < s->graph->in_first[t + 1] && s->up[t]; edge++)
            s->up[clo_graph_source(s->graph, edge)] = 1; /* of earlier parts: set anew when they are looked at */
    }
    for (uint32_t i = part->first; i < part->last; i++) {
        uint32_t t = parts->members[i];
        clo_subset subset = s->down[t] ? CLO_SUBSET_CHILD : s->up[t] ? CLO_SUBSET_PARENT : CLO_SUBSET_OTHER;
        if (s->down[t] && s->up[t]) {
            subset = CLO_SUBSET_TROUBLE;
            inside += s->graph->rows[t].instances;
        }
        subsets[i - part->first] = (uint8_t)subset;
    }
    return inside;
}

/* Adds T = {LongScore >= least_long or FragScore <= most_frag} if it is worth trying. most_frag < 0: none. */
static void add_candidate(const shape *s, clo_part *part, uint32_t least_long, int64_t most_frag)
{
    clo_parts *parts = s->parts;
    uint32_t size = part->last - part->first;
    uint64_t all = 0;

    if (part->candidates >= s->candidates_each)
        return;
    size_t from = parts->candidates == 0 ? 0 : parts->subsets_from[parts->candidates];
    for (uint32_t i = part->first; i < part->last; i++) {
        uint32_t t = parts->members[i];
        s->down[t] = s->up[t] = parts->long_q16[t] >= least_long || (int64_t)parts->frag_q16[t] <= most_frag;
        all += s->graph->rows[t].instances;
    }
    uint64_t inside = close_candidate(s, part, &parts->subsets[from]);
    if (part->candidates > 0 && (inside == 0 || inside * 5 >= all * 4))
        return;
    for (uint32_t c = 0; c < part->candidates; c++)
        if (memcmp(&parts->subsets[parts->subsets_from[part->candidate + c]], &parts->subsets[from], size) == 0)
            return;
    part->candidates++;
    parts->candidates++;
    parts->subsets_from[parts->candidates] = from + size;
}

static void find_candidates(const shape *s, clo_part *part)
{
    uint32_t longs[THRESHOLDS], frags[THRESHOLDS];
    uint32_t longs_count = choose_thresholds(s, part, s->parts->long_q16, longs);
    uint32_t frags_count = choose_thresholds(s, part, s->parts->frag_q16, frags);

    part->candidate = s->parts->candidates;
    add_candidate(s, part, UINT32_MAX, -1);
    for (uint32_t l = longs_count; l-- > 0;)
        add_candidate(s, part, longs[l], -1);
    for (uint32_t f = 0; f < frags_count; f++)
        add_candidate(s, part, UINT32_MAX, frags[f]);
    for (uint32_t l = longs_count; l-- > 0;)
        for (uint32_t f = 0; f < frags_count; f++)
            add_candidate(s, part, longs[l], frags[f]);
}

static clo_status open_arrays(clo_parts *parts, const shape *s)
{
    size_t n = parts->problem->graph->tasks;
    clo_block block = {0};

    clo_carve(&block, &parts->members, n);
    clo_carve(&block, &parts->place_of, n);
    clo_carve(&block, &parts->long_q16, n);
    clo_carve(&block, &parts->frag_q16, n);
    clo_carve(&block, &parts->parts, n);
    clo_carve(&block, &parts->subsets_from, n * s->candidates_each + 1);
    clo_carve(&block, &parts->subsets, n * (s->candidates_each + 1));
    parts->block = clo_block_allocate(&block);
    return parts->block != NULL ? CLO_OK : clo_fail_memory("a plan");
}

/* In a block that the caller frees. */
static void *open_shape(shape *s)
{
    size_t n = s->graph->tasks;
    int64_t *ends;
    clo_block block = {0};

    clo_carve(&block, &s->stages.part_of, n);
    clo_carve(&block, &s->stages.depth, n);
    clo_carve(&block, &s->stages.next_depth, n);
    clo_carve(&block, &s->values, n);
    clo_carve(&block, &s->down, n);
    clo_carve(&block, &s->up, n);
    clo_carve(&block, &ends, n + 2);
    void *memory = clo_block_allocate(&block);
    if (memory != NULL)
        clo_bound_cut(s->graph, &s->stages, ends);
    return memory;
}

clo_status clo_parts_open(clo_parts *parts, const clo_rcpsp *problem)
{
    uint32_t each = INSTANCES_FULL / problem->tasks;
    shape s = {.parts = parts, .graph = problem->graph};
    clo_space space;

    *parts = (clo_parts){.problem = problem};
    each = each < CANDIDATES_MAX ? each * each : CANDIDATES_MAX;
    s.candidates_each = each < CANDIDATES_MIN ? CANDIDATES_MIN : each > CANDIDATES_MAX ? CANDIDATES_MAX : each;
    clo_status status = clo_space_open(&space, problem);
    if (status == CLO_OK)
        status = open_arrays(parts, &s);
    void *scratch = status == CLO_OK ? open_shape(&s) : NULL;
    if (status == CLO_OK && scratch == NULL)
        status = clo_fail_memory("a plan");
    if (status == CLO_OK) {
        fill_members(&s);
        for (uint32_t p = 0; p < parts->count; p++) {
            fill_scores(&s, &space, &parts->parts[p]);
            find_candidates(&s, &parts->parts[p]);
        }
    }
    clo_free(scratch);
    clo_space_close(&space);
    return status;
}

void clo_parts_close(clo_parts *parts)
{
    clo_free(parts->block);
    parts->block = NULL;
}
