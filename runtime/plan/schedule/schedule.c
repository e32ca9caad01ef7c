#include "plan/schedule/schedule.h"

#include "base/memory.h"
#include "base/status.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static clo_status open_profiles(clo_draft *draft)
{
    uint32_t machines = draft->platform->machines_count;

    if (!draft->graph->has_demands)
        return CLO_OK;
    draft->profiles = clo_allocate(machines, sizeof draft->profiles[0]);
    if (draft->profiles == NULL)
        return clo_fail_memory("a plan");
    for (uint32_t m = 0; m < machines; m++)
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
            draft->profiles[m].limits[r] = clo_cost_capacity(draft->cost, m, r);
    return CLO_OK;
}

/* All arrays of fixed size in one block. */
static clo_status open_arrays(clo_draft *draft)
{
    size_t n = draft->graph->instances, p = draft->executors;
    clo_layout layout = {0};
    size_t copies = clo_layout_add(&layout, draft->capacity, sizeof(clo_copy));
    size_t first_copy = clo_layout_add(&layout, n, sizeof(uint32_t));
    size_t order = clo_layout_add(&layout, n, sizeof(uint32_t));
    size_t memory = clo_layout_add(&layout, p, sizeof(uint32_t));
    size_t critical = clo_layout_add(&layout, p, sizeof(uint32_t));
    size_t ready = clo_layout_add(&layout, p, sizeof(int64_t));
    size_t second = clo_layout_add(&layout, p, sizeof(int64_t));
    size_t row = clo_layout_add(&layout, p, sizeof(int64_t));
    size_t timelines = clo_layout_add(&layout, p, sizeof(clo_timeline));
    char *block = layout.overflow ? NULL : clo_allocate_aligned(layout.bytes, 1);

    if (block == NULL)
        return clo_fail_memory("a plan");
    draft->block = block;
    draft->copies = (void *)(block + copies);
    draft->first_copy = (void *)(block + first_copy);
    draft->order = (void *)(block + order);
    draft->memory = (void *)(block + memory);
    draft->critical = (void *)(block + critical);
    draft->ready_ns = (void *)(block + ready);
    draft->second_ns = (void *)(block + second);
    draft->row_ns = (void *)(block + row);
    draft->timelines = (void *)(block + timelines);
    return CLO_OK;
}

clo_status clo_draft_open(clo_draft *draft, const clo_cost *cost, uint32_t copies_each)
{
    memset(draft, 0, sizeof *draft);
    draft->cost = cost;
    draft->graph = cost->graph;
    draft->platform = cost->platform;
    draft->executors = draft->platform->executors_count;
    draft->may_duplicate = true;
    uint64_t capacity = (uint64_t)draft->graph->instances * copies_each;

    if (capacity >= CLO_NONE) /* more than 100 GiB of copies */
        return clo_fail_memory("a plan");
    draft->capacity = (uint32_t)capacity;
    clo_status status = open_arrays(draft);
    if (status == CLO_OK)
        status = open_profiles(draft);
    if (status != CLO_OK) {
        clo_draft_close(draft);
        return status;
    }
    for (uint32_t e = 0; e < draft->executors; e++)
        draft->memory[e] = draft->platform->executors[e].memory;
    clo_draft_clear(draft);
    return CLO_OK;
}

void clo_draft_close(clo_draft *draft)
{
    for (uint32_t e = 0; draft->timelines != NULL && e < draft->executors; e++)
        clo_timeline_free(&draft->timelines[e]);
    for (uint32_t m = 0; draft->profiles != NULL && m < draft->platform->machines_count; m++)
        clo_profile_free(&draft->profiles[m]);
    clo_free(draft->profiles);
    clo_free(draft->block);
    memset(draft, 0, sizeof *draft);
}

void clo_draft_clear(clo_draft *draft)
{
    for (uint32_t e = 0; e < draft->executors; e++)
        clo_timeline_clear(&draft->timelines[e]);
    for (uint32_t m = 0; draft->profiles != NULL && m < draft->platform->machines_count; m++)
        clo_profile_clear(&draft->profiles[m]);
    memset(draft->first_copy, 0xff, draft->graph->instances * sizeof draft->first_copy[0]); /* CLO_NONE */
    draft->count = 0;
}

int64_t clo_draft_makespan_ns(const clo_draft *draft)
{
    int64_t latest = 0;

    for (uint32_t c = 0; c < draft->count; c++)
        if (draft->copies[c].finish_ns > latest)
            latest = draft->copies[c].finish_ns;
    return latest;
}

clo_status clo_snapshot_open(clo_snapshot *snapshot, const clo_draft *draft)
{
    *snapshot = (clo_snapshot){.makespan_ns = INT64_MAX};
    snapshot->copies = clo_allocate(draft->capacity, sizeof *snapshot->copies);
    return snapshot->copies == NULL ? clo_fail_memory("a plan") : CLO_OK;
}

void clo_snapshot_close(clo_snapshot *snapshot)
{
    clo_free(snapshot->copies);
    *snapshot = (clo_snapshot){0};
}

bool clo_snapshot_keep(clo_snapshot *snapshot, const clo_draft *draft)
{
    int64_t makespan = clo_draft_makespan_ns(draft);

    if (makespan >= snapshot->makespan_ns)
        return false;
    memcpy(snapshot->copies, draft->copies, draft->count * sizeof *snapshot->copies);
    snapshot->count = draft->count;
    snapshot->makespan_ns = makespan;
    return true;
}

void clo_snapshot_copy(clo_snapshot *to, const clo_snapshot *from)
{
    memcpy(to->copies, from->copies, from->count * sizeof *to->copies);
    to->count = from->count;
    to->makespan_ns = from->makespan_ns;
}

/* In the order they were placed, so originals come before their replicas. */
clo_status clo_snapshot_restore(const clo_snapshot *snapshot, clo_draft *draft)
{
    clo_status status = CLO_OK;

    clo_draft_clear(draft);
    for (uint32_t c = 0; c < snapshot->count && status == CLO_OK; c++)
        status = clo_draft_place(draft, snapshot->copies[c].instance, snapshot->copies[c].executor,
                                 snapshot->copies[c].start_ns);
    return status;
}

typedef struct rank_key {
    int64_t rank_ns;
    uint32_t position, instance;
} rank_key;

static int by_falling_rank(const void *left, const void *right)
{
    const rank_key *a = left, *b = right;

    if (a->rank_ns != b->rank_ns)
        return a->rank_ns > b->rank_ns ? -1 : 1;
    return a->position < b->position ? -1 : a->position > b->position;
}

clo_status clo_draft_order(clo_draft *draft)
{
    const clo_graph *graph = draft->graph;
    rank_key *keys = clo_allocate(graph->instances, sizeof *keys);
    int64_t *ranks = clo_allocate(graph->tasks, sizeof *ranks);

    if (keys == NULL || ranks == NULL) {
        clo_free(keys);
        clo_free(ranks);
        return clo_fail_memory("the ranks of a plan");
    }
    clo_cost_rank_u(draft->cost, ranks);
    for (uint32_t i = 0; i < graph->instances; i++)
        keys[i] = (rank_key){ranks[graph->task_of[graph->order[i]]], i, graph->order[i]};
    qsort(keys, graph->instances, sizeof *keys, by_falling_rank);
    for (uint32_t i = 0; i < graph->instances; i++)
        draft->order[i] = keys[i].instance;
    clo_free(keys);
    clo_free(ranks);
    return CLO_OK;
}

/* As clo_platform_transfer_ns, without the call. */
static inline int64_t transfer_ns(const clo_draft *draft, uint64_t bytes, uint32_t from, uint32_t to)
{
    size_t pair = (size_t)from * draft->executors + to;

    if (draft->memory[from] == draft->memory[to])
        return 0;
    return clo_platform_link_ns(draft->platform, pair, bytes);
}

int64_t clo_draft_arrival_ns(const clo_draft *draft, uint32_t arc, uint32_t executor)
{
    uint64_t bytes = clo_graph_arc_bytes(draft->graph, arc);
    int64_t earliest = INT64_MAX;

    for (uint32_t c = draft->first_copy[draft->graph->pred[arc]]; c != CLO_NONE; c = draft->copies[c].next) {
        const clo_copy *copy = &draft->copies[c];
        int64_t arrival = copy->finish_ns + transfer_ns(draft, bytes, copy->executor, executor);
        if (arrival < earliest)
            earliest = arrival;
    }
    assert(earliest < INT64_MAX);
    return earliest;
}

/* row[e]: when data of `copy` are on executor e. The hot loop of planning: everything it needs is in locals, because
 * stores to row could alias the members. */
static void fill_row(const clo_draft *draft, const clo_copy *copy, uint64_t bytes, int64_t *restrict row)
{
    uint32_t piece = clo_platform_piece(draft->platform, bytes);
    size_t from = ((size_t)piece * draft->executors + copy->executor) * draft->executors;
    uint64_t beyond = bytes - draft->platform->cut_bytes[piece];
    const int64_t *latency_ns = &draft->platform->latency_ns[from];
    const uint64_t *ns_per_byte_q32 = &draft->platform->ns_per_byte_q32[from];
    const uint32_t *memory = draft->memory;
    uint32_t executors = draft->executors, here = memory[copy->executor];
    int64_t finish_ns = copy->finish_ns;

    for (uint32_t e = 0; e < executors; e++) {
        int64_t way_ns = clo_link_ns(latency_ns[e], ns_per_byte_q32[e], beyond);
        row[e] = finish_ns + (memory[e] == here ? 0 : way_ns);
    }
}

void clo_draft_arrivals(clo_draft *draft, uint32_t arc)
{
    uint64_t bytes = clo_graph_arc_bytes(draft->graph, arc);
    uint32_t first = draft->first_copy[draft->graph->pred[arc]];

    assert(first != CLO_NONE);
    fill_row(draft, &draft->copies[first], bytes, draft->row_ns);
    for (uint32_t c = draft->copies[first].next; c != CLO_NONE; c = draft->copies[c].next)
        for (uint32_t e = 0; e < draft->executors; e++) {
            int64_t arrival = draft->copies[c].finish_ns + transfer_ns(draft, bytes, draft->copies[c].executor, e);
            if (arrival < draft->row_ns[e])
                draft->row_ns[e] = arrival;
        }
}

int64_t clo_draft_capacity_ns(const clo_draft *draft, uint32_t task, uint32_t machine, int64_t ready_ns,
                              int64_t duration_ns)
{
    if (draft->profiles == NULL || draft->graph->rows[task].demand == CLO_NONE)
        return ready_ns;
    const int64_t *demand = clo_graph_demand(draft->graph, task);

    for (int64_t start = ready_ns;;) { /* ends: see clo_draft_slot_ns */
        int64_t from = clo_profile_fits_from(&draft->profiles[machine], start, start + duration_ns, demand);
        if (from == start)
            return start;
        start = from;
    }
}

int64_t clo_draft_slot_ns(const clo_draft *draft, uint32_t task, uint32_t executor, int64_t ready_ns,
                          int64_t duration_ns)
{
    const clo_timeline *timeline = &draft->timelines[executor];
    int64_t start = clo_timeline_find(timeline, ready_ns, duration_ns);

    if (draft->profiles == NULL || draft->graph->rows[task].demand == CLO_NONE)
        return start;
    const clo_profile *profile = &draft->profiles[draft->platform->executors[executor].machine];
    const int64_t *demand = clo_graph_demand(draft->graph, task);

    /* Ends: each round moves start forward to the end of a step, and in the last step nothing is in use. */
    for (;;) {
        int64_t from = clo_profile_fits_from(profile, start, start + duration_ns, demand);
        if (from == start)
            return start;
        start = clo_timeline_find(timeline, from, duration_ns);
    }
}

clo_status clo_draft_place(clo_draft *draft, uint32_t instance, uint32_t executor, int64_t start_ns)
{
    const clo_graph *graph = draft->graph;
    uint32_t task = graph->task_of[instance], *first = &draft->first_copy[instance], at = draft->count;
    int64_t duration = clo_cost_time(draft->cost, task, executor), finish = start_ns + duration;

    assert(at < draft->capacity);
    assert(duration != CLO_TIME_NEVER);
    assert(start_ns >= 0 && finish >= start_ns);
    if (clo_timeline_reserve(&draft->timelines[executor], start_ns, finish) != 0)
        return clo_fail_memory("a plan");
    if (draft->profiles != NULL && graph->rows[task].demand != CLO_NONE &&
        clo_profile_take(&draft->profiles[draft->platform->executors[executor].machine], start_ns, finish,
                         clo_graph_demand(graph, task)) != 0)
        return clo_fail_memory("a plan");

    draft->copies[at] = (clo_copy){start_ns, finish, instance, executor, CLO_NONE};
    draft->count++;
    if (*first == CLO_NONE) {
        *first = at;
    } else { /* behind the original, which stays first */
        draft->copies[at].next = draft->copies[*first].next;
        draft->copies[*first].next = at;
    }
    return CLO_OK;
}

bool clo_draft_has_copy(const clo_draft *draft, uint32_t instance, uint32_t executor)
{
    for (uint32_t c = draft->first_copy[instance]; c != CLO_NONE; c = draft->copies[c].next)
        if (draft->copies[c].executor == executor)
            return true;
    return false;
}
