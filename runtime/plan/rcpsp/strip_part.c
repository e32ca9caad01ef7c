/* plan/rcpsp/strip_part.c - Augustine, Banerjee, Irani, "Strip packing with precedence constraints", SPAA 2006:
 * algorithm DC.
 *
 * F(v) is when v ends if nothing is scarce, H the largest F. What is under way at H/2 has no order among itself and
 * makes one strip; what ends by H/2 is divided the same way and comes before it, what starts at H/2 or later, with F
 * counted afresh, behind it. The paper packs rectangles of one width; here an instance is as tall as its fastest
 * time and as wide as its demands, several resources and machines at once.
 *
 * Our reading: a strip is packed as the paper's next-fit by falling height does, tallest first, but strips are not
 * kept apart: the order strip by strip goes to serial schedule generation, where each instance starts as early as it
 * can. O(n * edges of a task * log(H / shortest time)). Times of 0 make strips of their own where H is 0. */
#include "plan/rcpsp/priority.h"
#include "plan/schedule/planner.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/status.h"

#include <assert.h>
#include <string.h>

/* H falls to its half from level to level and a level leaves at most two parts behind. */
enum { PARTS_MAX = 3 * 64 };

/* members[first .. last - 1], in topological order. */
typedef struct part {
    uint32_t first, last;
    bool is_strip;
} part;

typedef struct division {
    const clo_graph *graph;
    int64_t *time_ns;  /* [instances] height                             */
    int64_t *end_ns;   /* [instances] F in the part at hand              */
    uint32_t *part_of; /* [instances] number of the part it was last in  */
    uint32_t *members; /* [instances]                                    */
    uint32_t *scratch; /* [instances]                                    */
    part waiting[PARTS_MAX];
    uint32_t waiting_count, numbered;
} division;

/* F inside the part; returns H. */
static int64_t measure(division *d, const part *p)
{
    const clo_graph *graph = d->graph;
    int64_t height = 0;

    d->numbered++;
    for (uint32_t i = p->first; i < p->last; i++) {
        uint32_t v = d->members[i];
        int64_t begin = 0;
        uint32_t t = graph->task_of[v];
        for (uint32_t edge = graph->in_first[t]; edge < graph->in_first[t + 1]; edge++) {
            uint32_t u =
                graph->first_instance[clo_graph_source(graph, edge)]; /* the instances of a task stay together */
            if (d->part_of[u] == d->numbered && d->end_ns[u] > begin)
                begin = d->end_ns[u];
        }
        d->part_of[v] = d->numbered;
        d->end_ns[v] = begin + d->time_ns[v];
        height = d->end_ns[v] > height ? d->end_ns[v] : height;
    }
    return height;
}

/* 0: ends by the middle of `height`, 1: is under way there, 2: starts behind it. Twice any time fits (cost/create.c). */
static int side_of(const division *d, uint32_t v, int64_t height)
{
    if (height == 0)
        return 1;
    if (2 * d->end_ns[v] <= height)
        return 0;
    return 2 * (d->end_ns[v] - d->time_ns[v]) >= height ? 2 : 1;
}

static void wait(division *d, uint32_t first, uint32_t last, bool is_strip)
{
    if (first == last)
        return;
    assert(d->waiting_count < PARTS_MAX);
    d->waiting[d->waiting_count++] = (part){first, last, is_strip};
}

/* Into three, the first of which is taken up next. Ends: the longest chain loses a task to the strip. */
static void divide(division *d, const part *p)
{
    int64_t height = measure(d, p);
    uint32_t at = p->first, ends[3];

    memcpy(&d->scratch[p->first], &d->members[p->first], (p->last - p->first) * sizeof *d->members);
    for (int side = 0; side < 3; side++) {
        for (uint32_t i = p->first; i < p->last; i++)
            if (side_of(d, d->scratch[i], height) == side)
                d->members[at++] = d->scratch[i];
        ends[side] = at;
    }
    wait(d, ends[1], ends[2], false);
    wait(d, ends[0], ends[1], true);
    wait(d, p->first, ends[0], false);
}

/* The number of its strip for each, as keys; then the tallest first within one. */
static void fill_keys(division *d, int64_t *keys)
{
    int64_t tallest = 0, strips = 0;

    memcpy(d->members, d->graph->order, d->graph->instances * sizeof *d->members);
    for (uint32_t v = 0; v < d->graph->instances; v++)
        tallest = d->time_ns[v] > tallest ? d->time_ns[v] : tallest;
    wait(d, 0, d->graph->instances, false);
    while (d->waiting_count > 0) {
        part next = d->waiting[--d->waiting_count];
        if (!next.is_strip) {
            divide(d, &next);
            continue;
        }
        for (uint32_t i = next.first; i < next.last; i++) {
            uint32_t v = d->members[i];
            /* 30 bits of height are enough to sort by */
            int64_t height =
                tallest == 0 ? 0 : (int64_t)(((clo_u128)(uint64_t)d->time_ns[v] << 30) / (uint64_t)tallest);
            keys[v] = strips * (1LL << 31) - height;
        }
        strips++;
    }
}

static clo_status fill(clo_schedule *schedule, const clo_plan_config *config)
{
    division d = {.graph = schedule->graph};
    size_t n = d.graph->instances;
    clo_block block = {0};
    int64_t *keys;

    (void)config;
    clo_carve(&block, &keys, n);
    clo_carve(&block, &d.time_ns, n);
    clo_carve(&block, &d.end_ns, n);
    clo_carve(&block, &d.members, n);
    clo_carve(&block, &d.scratch, n);
    clo_carve(&block, &d.part_of, n);
    void *memory = clo_block_allocate(&block);
    if (memory == NULL)
        return clo_fail_memory("a plan");
    for (uint32_t v = 0; v < n; v++)
        d.time_ns[v] = clo_cost_fastest(schedule->cost, d.graph->task_of[v]);
    fill_keys(&d, keys);
    clo_status status = clo_priority_fill(schedule, keys, CLO_PRIORITY_SERIAL);
    clo_free(memory);
    return status;
}

const clo_planner clo_planner_strip_part = {
    .name = "strip-part",
    .summary = "packing: strips around the middle of the longest path (Augustine, Banerjee, Irani 2006)",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = fill,
};
