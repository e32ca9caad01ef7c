/* modulo.c - modulo scheduling (Rau, "Iterative Modulo Scheduling", MICRO 1994), for executors of different speeds.
 *
 * As in the paper: operations by height (here rank_u), each at the earliest slot of the reservation table from its
 * earliest start on. Deviations: time is in ns, not in slots of a cycle. There is no eviction: without cycles through
 * releases every order on an executor can be kept by beginning later, by a whole number of intervals if need be. So
 * where a gap is missing although the load fits, because free time lies in pieces, the executor is *packed*: the
 * attempt begins again and lays its instances side by side in order of placement. After as many attempts as there are
 * executors all are packed, and then nothing can fail.
 *
 * Demands are reserved modulo the interval too (usage.h), and then it may fail: that is packing in several dimensions.
 * For these graphs there is a second way: *offsets first*, the large instances before the small ones, whatever their
 * place in the graph; an instance that finds no room goes to the head of the list, and all begin again ("squeaky
 * wheel": Joslin and Clements, JAIR 1999). Then each begins at its offset in the first interval in which it can. */
#include "plan/modulo/modulo.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "plan/modulo/table.h"
#include "plan/modulo/usage.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Rounds of offsets first: many where they cost little. */
enum { ROUNDS_SMALL = 200, ROUNDS_LARGE = 6, SMALL_MAX = 256, LARGE_MAX = 2000 };

typedef struct ranked {
    int64_t rank_ns;
    uint32_t position, task; /* of the topological order; or an instance */
} ranked;

struct clo_modulo {
    const clo_cost *cost;
    const uint32_t *assigned; /* [instances] where each one goes; NULL: where it ends first */
    ranked *order;            /* [tasks] */
    clo_usage *usage;         /* NULL: no task has demands */
    ranked *large;            /* [instances] in the order of offsets first; of tasks with demands only */
    int64_t *offset_ns;       /* [instances] the same */
    clo_reservations *tables; /* [executors] */
    size_t *room;             /* [executors] rows that each table has memory for */
    int64_t *base_ns;         /* [executors] offset of the first instance, where packed */
    uint8_t *is_packed;       /* [executors] */
    bool has_failed;          /* no memory for a table */
    int64_t *earliest_ns;     /* [executors] of the task in hand */
    uint32_t *executor;       /* [instances] */
    int64_t *finish_ns;       /* [instances] */
    void *memory;
};

static int by_rank(const void *left, const void *right)
{
    const ranked *a = left, *b = right;

    if (a->rank_ns != b->rank_ns)
        return a->rank_ns > b->rank_ns ? -1 : 1;
    return a->position < b->position ? -1 : a->position > b->position;
}

static clo_status fill_order(clo_modulo *modulo)
{
    const clo_graph *graph = modulo->cost->graph;
    int64_t *rank = clo_allocate(graph->tasks, sizeof *rank);

    if (rank == NULL)
        return clo_fail_memory("a plan");
    clo_cost_rank_u(modulo->cost, rank);
    for (uint32_t i = 0; i < graph->tasks; i++) {
        uint32_t task = graph->task_order[i];
        modulo->order[i] = (ranked){rank[task], i, task};
    }
    qsort(modulo->order, graph->tasks, sizeof *modulo->order, by_rank);
    clo_free(rank);
    return CLO_OK;
}

/* By the time that an instance takes, times its share of what it takes most of: an executor, or a capacity. */
static void fill_large(clo_modulo *modulo)
{
    const clo_graph *graph = modulo->cost->graph;
    uint32_t executors = modulo->cost->platform->executors_count;

    for (uint32_t i = 0; i < graph->instances; i++) {
        uint32_t task = graph->task_of[i], e = 0;
        while (clo_cost_time(modulo->cost, task, e) == CLO_TIME_NEVER) /* some executor can run it */
            e++;
        int64_t share_q16 = clo_usage_share(modulo->usage, task, e), least_q16 = 65536 / executors;
        int64_t length_ns = clo_cost_time(modulo->cost, task, e);
        modulo->large[i] = (ranked){clo_time_mul(length_ns, share_q16 > least_q16 ? share_q16 : least_q16), i, i};
    }
    qsort(modulo->large, graph->instances, sizeof *modulo->large, by_rank);
}

clo_status clo_modulo_open(const clo_cost *cost, clo_modulo **out)
{
    size_t executors = cost->platform->executors_count, instances = cost->graph->instances;
    clo_modulo *modulo = NULL, parts = {.cost = cost};
    clo_block block = {0};

    clo_carve(&block, &modulo, 1);
    clo_carve(&block, &parts.order, cost->graph->tasks);
    clo_carve(&block, &parts.tables, executors);
    clo_carve(&block, &parts.room, executors);
    clo_carve(&block, &parts.base_ns, executors);
    clo_carve(&block, &parts.is_packed, executors);
    clo_carve(&block, &parts.earliest_ns, executors);
    clo_carve(&block, &parts.executor, instances);
    clo_carve(&block, &parts.finish_ns, instances);
    clo_carve(&block, &parts.large, cost->graph->has_demands ? instances : 0);
    clo_carve(&block, &parts.offset_ns, cost->graph->has_demands ? instances : 0);
    parts.memory = clo_block_allocate(&block);
    if (parts.memory == NULL)
        return clo_fail_memory("a plan");
    *modulo = parts;
    clo_status status = fill_order(modulo);
    if (status == CLO_OK)
        status = clo_usage_open(cost, &modulo->usage);
    if (status == CLO_OK && modulo->usage != NULL)
        fill_large(modulo);
    if (status != CLO_OK)
        clo_modulo_close(modulo);
    else
        *out = modulo;
    return status;
}

void clo_modulo_close(clo_modulo *modulo)
{
    if (modulo == NULL)
        return;
    for (uint32_t e = 0; e < modulo->cost->platform->executors_count; e++)
        clo_free(modulo->tables[e].rows);
    clo_usage_close(modulo->usage);
    clo_free(modulo->memory);
}

static void clear(clo_modulo *modulo, int64_t interval_ns)
{
    for (uint32_t e = 0; e < modulo->cost->platform->executors_count; e++) {
        modulo->tables[e].interval_ns = interval_ns;
        modulo->tables[e].load_ns = 0;
        modulo->tables[e].count = 0;
    }
    clo_usage_begin(modulo->usage, interval_ns);
}

/* When all inputs of an instance of `task` can be on each executor. */
static void find_earliest(clo_modulo *modulo, uint32_t task)
{
    const clo_graph *graph = modulo->cost->graph;
    const clo_platform *platform = modulo->cost->platform;

    memset(modulo->earliest_ns, 0, platform->executors_count * sizeof *modulo->earliest_ns);
    for (uint32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++) {
        uint64_t bytes = clo_graph_in_bytes(graph, k);
        uint32_t source = clo_graph_source(graph, k);
        for (uint32_t i = graph->first_instance[source]; i < graph->first_instance[source + 1]; i++)
            for (uint32_t e = 0; e < platform->executors_count; e++) {
                int64_t transfer_ns = clo_platform_transfer_ns(platform, bytes, modulo->executor[i], e);
                int64_t there_ns = clo_time_add(modulo->finish_ns[i], transfer_ns);
                if (there_ns > modulo->earliest_ns[e])
                    modulo->earliest_ns[e] = there_ns;
            }
    }
}

/* The earliest moment when both the executor and its machine have room. */
static int64_t find_both(const clo_modulo *modulo, uint32_t task, uint32_t executor, int64_t length_ns)
{
    const clo_reservations *table = &modulo->tables[executor];
    int64_t earliest_ns = modulo->earliest_ns[executor], at_ns = earliest_ns;

    for (;;) { /* each turn but the last is later, and within an interval */
        int64_t free_ns = clo_reservations_find(table, at_ns, length_ns);
        if (free_ns < 0 || free_ns - earliest_ns > table->interval_ns || modulo->usage == NULL)
            return free_ns - earliest_ns > table->interval_ns ? -1 : free_ns;
        at_ns = clo_usage_find(modulo->usage, task, executor, free_ns, length_ns);
        if (at_ns < 0 || at_ns - earliest_ns > table->interval_ns || at_ns == free_ns)
            return at_ns - earliest_ns > table->interval_ns ? -1 : at_ns;
    }
}

/* The first moment from earliest_ns on at that offset of an interval. */
static int64_t first_at(int64_t offset_ns, int64_t earliest_ns, int64_t interval_ns)
{
    int64_t wait_ns = (offset_ns - earliest_ns % interval_ns) % interval_ns;

    return earliest_ns + (wait_ns < 0 ? wait_ns + interval_ns : wait_ns);
}

/* When `executor` can begin an instance of the task, which takes length_ns; -1: there is no room. */
static int64_t find_start(const clo_modulo *modulo, uint32_t task, uint32_t executor, int64_t length_ns)
{
    const clo_reservations *table = &modulo->tables[executor];
    int64_t earliest_ns = modulo->earliest_ns[executor], interval_ns = table->interval_ns;

    if (earliest_ns > INT64_MAX / 4 || interval_ns > INT64_MAX / 4)
        return -1;
    if (modulo->is_packed[executor] == 0)
        return find_both(modulo, task, executor, length_ns);
    if (length_ns > interval_ns - table->load_ns)
        return -1;
    if (table->count == 0)
        return earliest_ns;
    return first_at((modulo->base_ns[executor] + table->load_ns) % interval_ns, earliest_ns, interval_ns);
}

static bool take(clo_modulo *modulo, uint32_t task, uint32_t executor, int64_t start_ns, int64_t length_ns)
{
    clo_reservations *table = &modulo->tables[executor];

    if (modulo->is_packed[executor] != 0) {
        if (table->count == 0)
            modulo->base_ns[executor] = start_ns % table->interval_ns;
        table->count++;
        table->load_ns += length_ns;
        return true;
    }
    if (clo_grow((void **)&table->rows, &modulo->room[executor], (size_t)table->count + 1, sizeof *table->rows) != 0 ||
        !clo_usage_take(modulo->usage, task, executor, start_ns, length_ns)) {
        modulo->has_failed = true;
        return false;
    }
    clo_reservations_take(table, start_ns, length_ns);
    return true;
}

/* Where the instance ends first, of those that have room; CLO_NONE: nowhere. */
static uint32_t choose(const clo_modulo *modulo, uint32_t task, int64_t *start_ns)
{
    uint32_t best = CLO_NONE;
    int64_t soonest_ns = INT64_MAX;

    for (uint32_t e = 0; e < modulo->cost->platform->executors_count; e++) {
        int64_t length_ns = clo_cost_time(modulo->cost, task, e);
        int64_t at_ns = length_ns == CLO_TIME_NEVER ? -1 : find_start(modulo, task, e, length_ns);
        if (at_ns < 0 || at_ns + length_ns >= soonest_ns)
            continue;
        soonest_ns = at_ns + length_ns;
        *start_ns = at_ns;
        best = e;
    }
    return best;
}

/* Places all instances of a task. CLO_NONE: done; else the executor that had no room, or, where any would do, the
 * number of executors. */
static uint32_t place(clo_modulo *modulo, uint32_t task, clo_placement *placements)
{
    const clo_graph *graph = modulo->cost->graph;
    bool is_fixed = modulo->assigned != NULL;

    find_earliest(modulo, task);
    for (uint32_t i = graph->first_instance[task]; i < graph->first_instance[task + 1]; i++) {
        int64_t start_ns = -1;
        uint32_t e = is_fixed ? modulo->assigned[i] : choose(modulo, task, &start_ns);
        if (e == CLO_NONE)
            return modulo->cost->platform->executors_count;
        int64_t length_ns = clo_cost_time(modulo->cost, task, e);
        if (is_fixed)
            start_ns = find_start(modulo, task, e, length_ns);
        if (start_ns < 0 || !take(modulo, task, e, start_ns, length_ns))
            return e;
        modulo->executor[i] = e;
        modulo->finish_ns[i] = start_ns + length_ns;
        placements[i] = (clo_placement){.task = task,
                                        .instance = i - graph->first_instance[task],
                                        .executor = e,
                                        .start_ns = start_ns,
                                        .finish_ns = start_ns + length_ns};
    }
    return CLO_NONE;
}

/* CLO_NONE: all are placed; else as place. */
static uint32_t attempt(clo_modulo *modulo, int64_t interval_ns, clo_placement *placements, int64_t *makespan_ns)
{
    const clo_graph *graph = modulo->cost->graph;
    uint32_t lacking = CLO_NONE;

    clear(modulo, interval_ns);
    for (uint32_t i = 0; i < graph->tasks && lacking == CLO_NONE; i++)
        lacking = place(modulo, modulo->order[i].task, placements);
    *makespan_ns = 0;
    for (uint32_t i = 0; i < graph->instances && lacking == CLO_NONE; i++)
        if (modulo->finish_ns[i] > *makespan_ns)
            *makespan_ns = modulo->finish_ns[i];
    return lacking;
}

bool clo_modulo_free(clo_modulo *modulo, int64_t interval_ns, clo_placement *placements, int64_t *makespan_ns)
{
    memset(modulo->is_packed, 0, modulo->cost->platform->executors_count);
    modulo->assigned = NULL;
    return attempt(modulo, interval_ns, placements, makespan_ns) == CLO_NONE;
}

bool clo_modulo_fixed(clo_modulo *modulo, const uint32_t *assigned, int64_t interval_ns, clo_placement *placements,
                      int64_t *makespan_ns)
{
    memset(modulo->is_packed, 0, modulo->cost->platform->executors_count);
    modulo->assigned = assigned;
    for (;;) { /* each round packs one executor more */
        uint32_t lacking = attempt(modulo, interval_ns, placements, makespan_ns);
        if (lacking == CLO_NONE)
            return true;
        if (modulo->has_failed || modulo->usage != NULL || modulo->is_packed[lacking] != 0)
            return false;
        modulo->is_packed[lacking] = 1;
    }
}

/* An executor and an offset for each instance, in the order of the list. Returns how many have found room. */
static uint32_t place_offsets(clo_modulo *modulo, int64_t interval_ns)
{
    const clo_graph *graph = modulo->cost->graph;

    clear(modulo, interval_ns);
    memset(modulo->earliest_ns, 0, modulo->cost->platform->executors_count * sizeof *modulo->earliest_ns);
    for (uint32_t k = 0; k < graph->instances; k++) {
        uint32_t instance = modulo->large[k].task, task = graph->task_of[instance];
        int64_t start_ns = -1;
        uint32_t e = modulo->assigned != NULL ? modulo->assigned[instance] : choose(modulo, task, &start_ns);
        if (e == CLO_NONE)
            return k;
        int64_t length_ns = clo_cost_time(modulo->cost, task, e);
        if (modulo->assigned != NULL)
            start_ns = find_start(modulo, task, e, length_ns);
        if (start_ns < 0 || !take(modulo, task, e, start_ns, length_ns))
            return k;
        modulo->executor[instance] = e;
        modulo->offset_ns[instance] = start_ns % interval_ns;
    }
    return graph->instances;
}

/* Every instance at its offset, as early as its inputs allow. false: beyond all times. */
static bool begin_at_offsets(clo_modulo *modulo, int64_t interval_ns, clo_placement *placements, int64_t *makespan_ns)
{
    const clo_graph *graph = modulo->cost->graph;

    *makespan_ns = 0;
    for (uint32_t t = 0; t < graph->tasks; t++) {
        uint32_t task = graph->task_order[t];
        find_earliest(modulo, task);
        for (uint32_t i = graph->first_instance[task]; i < graph->first_instance[task + 1]; i++) {
            uint32_t e = modulo->executor[i];
            if (modulo->earliest_ns[e] > INT64_MAX / 4)
                return false;
            int64_t start_ns = first_at(modulo->offset_ns[i], modulo->earliest_ns[e], interval_ns);
            modulo->finish_ns[i] = start_ns + clo_cost_time(modulo->cost, task, e);
            *makespan_ns = modulo->finish_ns[i] > *makespan_ns ? modulo->finish_ns[i] : *makespan_ns;
            placements[i] = (clo_placement){.task = task,
                                            .instance = i - graph->first_instance[task],
                                            .executor = e,
                                            .start_ns = start_ns,
                                            .finish_ns = modulo->finish_ns[i]};
        }
    }
    return true;
}

bool clo_modulo_offsets(clo_modulo *modulo, const uint32_t *assigned, int64_t interval_ns, clo_placement *placements,
                        int64_t *makespan_ns)
{
    uint32_t instances = modulo->cost->graph->instances, found = 0;
    int rounds = instances <= SMALL_MAX ? ROUNDS_SMALL : instances <= LARGE_MAX ? ROUNDS_LARGE : 1;

    if (modulo->usage == NULL || interval_ns > INT64_MAX / 4)
        return false;
    memset(modulo->is_packed, 0, modulo->cost->platform->executors_count);
    modulo->assigned = assigned;
    for (int i = 0; i < rounds && !modulo->has_failed; i++) {
        found = place_offsets(modulo, interval_ns);
        if (found == instances)
            break;
        ranked first = modulo->large[found];
        memmove(&modulo->large[1], modulo->large, found * sizeof *modulo->large);
        modulo->large[0] = first;
    }
    return found == instances && begin_at_offsets(modulo, interval_ns, placements, makespan_ns);
}

bool clo_modulo_has_failed(const clo_modulo *modulo)
{
    return modulo->has_failed;
}
