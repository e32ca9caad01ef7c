/* seal.c - checks an open graph and builds what readers use: adjacency both ways over arcs, a topological order, the
 * special rows sorted. O(tasks + edges + arcs), one block that stays and one scratch array that goes.
 *
 * Invariant: everything is built in a local `struct seal`; the graph is written by commit() alone, when nothing can
 * fail any more. Successors are listed by id. Topological order: the ids, where every edge leads to a higher one; else
 * Kahn, "Topological sorting of large networks", CACM 1962, with a FIFO, so ties leave by id. */
#include "graph/graph.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/status.h"

#include <stdio.h>
#include <string.h>

#define CYCLE_NAMES_MAX 8
#define NAME_SHOWN 40   /* bytes of a name in an error line */
#define SLACK_MAX 16384 /* unused rows that are worth giving back */
#define AHEAD 16        /* how many steps ahead memory is asked for: random edges would wait for it each time */

struct seal {
    const clo_graph *graph;
    uint32_t instances, arcs;
    bool single;    /* every task has one instance: no look at the rows, which are a cache line each */
    bool forward;   /* single, and every edge goes from a lower id to a higher: in order, without cycles */
    bool by_target; /* single, and edges were added target by target */
    uint32_t *first_instance, *task_of;
    uint32_t *succ_first, *succ, *succ_arc;
    uint32_t *pred_first, *pred;
    uint64_t *pred_bytes;
    uint32_t *order;
    clo_graph_special *specials;
    uint32_t *scratch; /* [instances]: a cursor or a counter for each, as the step needs */
    void *block;
};

static uint32_t instances_of(const struct seal *seal, uint32_t task)
{
    return seal->single ? 1 : seal->graph->rows[task].instances;
}

/* One pass that has no branches: most graphs are single and forward, and then nothing else has to be checked. */
static bool look_over_edges(struct seal *seal)
{
    const clo_graph *graph = seal->graph;
    uint32_t worst = 0, back = 0, target_falls = 0, previous = 0;

    for (uint32_t e = 0; e < graph->edges; e++) {
        clo_graph_ends edge = graph->ends[e];
        worst |= (uint32_t)(edge.from >= graph->tasks) | (uint32_t)(edge.to >= graph->tasks);
        back |= (uint32_t)(edge.from >= edge.to);
        target_falls |= (uint32_t)(edge.to < previous);
        previous = edge.to;
    }
    seal->forward = seal->single && back == 0;
    seal->by_target = seal->single && target_falls == 0;
    seal->arcs = graph->edges;
    return worst == 0 && seal->forward;
}

/* Checks the ids and counts the arcs. */
static clo_status check_edges(struct seal *seal)
{
    const clo_graph *graph = seal->graph;
    uint64_t arcs = 0;

    for (uint32_t e = 0; e < graph->edges; e++) {
        const clo_graph_ends *edge = &graph->ends[e];
        uint32_t worst = edge->from > edge->to ? edge->from : edge->to;
        if (worst >= graph->tasks)
            return clo_fail(CLO_ERR_ARGUMENT,
                            "edge %u (%u -> %u): task %u does not exist, the graph has %u tasks; add it", e, edge->from,
                            edge->to, worst, graph->tasks);
        if (edge->from == edge->to) {
            char scratch[16];
            return clo_fail(CLO_ERR_ARGUMENT, "edge %u: task \"%.*s\" (%u) depends on itself; remove the edge", e,
                            NAME_SHOWN, clo_graph_task_name(graph, edge->from, scratch), edge->from);
        }
        arcs += (uint64_t)instances_of(seal, edge->from) * instances_of(seal, edge->to);
        if (arcs >= CLO_NONE)
            return clo_fail(CLO_ERR_LIMIT,
                            "edge %u: more than %u pairs of instances in the graph; put a task of one instance "
                            "between tasks with many",
                            e, CLO_NONE - 1);
    }
    seal->arcs = (uint32_t)arcs;
    return CLO_OK;
}

static bool allocate(struct seal *seal)
{
    size_t n = seal->instances, arcs = seal->arcs;
    bool has_bytes = seal->graph->edge_bytes != NULL;
    clo_block block = {0};

    if (has_bytes)
        clo_carve(&block, &seal->pred_bytes, arcs);
    clo_carve(&block, &seal->specials, seal->graph->specials_count);
    clo_carve(&block, &seal->first_instance, (size_t)seal->graph->tasks + 1);
    if (!seal->single)
        clo_carve(&block, &seal->task_of, n);
    clo_carve(&block, &seal->succ_first, n + 1);
    clo_carve(&block, &seal->succ, arcs);
    if (has_bytes)
        clo_carve(&block, &seal->succ_arc, arcs);
    clo_carve(&block, &seal->pred_first, n + 1);
    clo_carve(&block, &seal->pred, arcs);
    if (!seal->forward)
        clo_carve(&block, &seal->order, n);

    seal->block = clo_block_allocate(&block);
    seal->scratch = clo_allocate(n, sizeof(uint32_t));
    if (seal->block == NULL || seal->scratch == NULL) {
        clo_free(seal->block);
        clo_free(seal->scratch);
        return false;
    }
    /* One instance a task: both numberings are 0, 1, 2 ..., one array serves. In order: the same numbers again. */
    if (seal->single)
        seal->task_of = seal->first_instance;
    if (seal->forward)
        seal->order = seal->task_of;
    return true;
}

static void number_instances(struct seal *seal)
{
    uint32_t next = 0;

    for (uint32_t t = 0; t < seal->graph->tasks; t++) {
        seal->first_instance[t] = next;
        for (uint32_t i = instances_of(seal, t); i > 0; i--)
            seal->task_of[next++] = t; /* where both are one array, the number that is there */
    }
    seal->first_instance[seal->graph->tasks] = next;
}

/* Turns counts at [1 .. n] into first indices, in place. */
static void accumulate(uint32_t *first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        first[i + 1] += first[i];
}

static void count_degrees(struct seal *seal)
{
    const clo_graph *graph = seal->graph;

    for (uint32_t e = 0; e < graph->edges; e++) {
        uint32_t from = graph->ends[e].from, to = graph->ends[e].to;
        if (e + AHEAD < graph->edges) {
            __builtin_prefetch(&seal->succ_first[seal->first_instance[graph->ends[e + AHEAD].from] + 1], 1);
            __builtin_prefetch(&seal->pred_first[seal->first_instance[graph->ends[e + AHEAD].to] + 1], 1);
        }
        seal->succ_first[seal->first_instance[from] + 1] += instances_of(seal, to);
        seal->pred_first[seal->first_instance[to] + 1] += instances_of(seal, from);
    }
    for (uint32_t v = 1; v < seal->instances && !seal->single; v++) /* like the task's first instance */
        if (seal->task_of[v] == seal->task_of[v - 1]) {
            seal->succ_first[v + 1] = seal->succ_first[v];
            seal->pred_first[v + 1] = seal->pred_first[v];
        }
    accumulate(seal->succ_first, seal->instances);
    accumulate(seal->pred_first, seal->instances);
}

/* The same for edges that came target by target, which lie in the order of the predecessors already. */
static void count_and_copy_predecessors(struct seal *seal)
{
    const clo_graph *graph = seal->graph;

    for (uint32_t e = 0; e < graph->edges; e++) {
        clo_graph_ends edge = graph->ends[e];
        if (e + AHEAD < graph->edges)
            __builtin_prefetch(&seal->succ_first[graph->ends[e + AHEAD].from + 1], 1);
        seal->succ_first[edge.from + 1]++;
        seal->pred_first[edge.to + 1]++;
        seal->pred[e] = edge.from;
    }
    accumulate(seal->succ_first, seal->instances);
    accumulate(seal->pred_first, seal->instances);
    if (seal->pred_bytes != NULL)
        memcpy(seal->pred_bytes, graph->edge_bytes, graph->edges * sizeof *seal->pred_bytes);
}

/* Predecessors in the order of the edges. scratch: how many each instance has so far. */
static void fill_predecessors(struct seal *seal)
{
    const clo_graph *graph = seal->graph;

    for (uint32_t e = 0; e < graph->edges; e++) {
        const clo_graph_ends *edge = &graph->ends[e];
        uint32_t sources = instances_of(seal, edge->from), sinks = instances_of(seal, edge->to);
        uint32_t source = seal->first_instance[edge->from], sink = seal->first_instance[edge->to];
        uint64_t pairs = (uint64_t)sources * sinks, all = graph->edge_bytes == NULL ? 0 : graph->edge_bytes[e];
        uint64_t bytes = pairs == 1 ? all : all / pairs + (all % pairs != 0);
        for (uint32_t j = sink; j < sink + sinks; j++) {
            uint32_t arc = seal->pred_first[j] + seal->scratch[j];
            seal->scratch[j] += sources;
            for (uint32_t i = 0; i < sources; i++) {
                seal->pred[arc + i] = source + i;
                if (seal->pred_bytes != NULL)
                    seal->pred_bytes[arc + i] = bytes;
            }
        }
    }
}

static clo_status fail_duplicate(const clo_graph *graph, uint32_t from, uint32_t to)
{
    char scratch_from[16], scratch_to[16];
    uint32_t found[2] = {CLO_NONE, CLO_NONE};

    for (uint32_t e = 0; e < graph->edges && found[1] == CLO_NONE; e++)
        if (graph->ends[e].from == from && graph->ends[e].to == to)
            found[found[0] != CLO_NONE] = e;
    return clo_fail(CLO_ERR_ARGUMENT, "edges %u and %u both go from \"%.*s\" to \"%.*s\"; merge them", found[0],
                    found[1], NAME_SHOWN, clo_graph_task_name(graph, from, scratch_from), NAME_SHOWN,
                    clo_graph_task_name(graph, to, scratch_to));
}

/* Successors by id, from the predecessors. An edge given twice shows as the same successor twice in a row, so finding
 * it costs one comparison with what was just written there. scratch: where each instance's list goes on. */
static clo_status fill_successors(struct seal *seal)
{
    memcpy(seal->scratch, seal->succ_first, seal->instances * sizeof *seal->scratch);
    for (uint32_t v = 0; v < seal->instances; v++)
        for (uint32_t arc = seal->pred_first[v]; arc < seal->pred_first[v + 1]; arc++) {
            if (arc + 2 * AHEAD < seal->arcs) { /* first where the list goes on, then the place itself */
                uint32_t soon = seal->scratch[seal->pred[arc + AHEAD]];
                __builtin_prefetch(&seal->scratch[seal->pred[arc + 2 * AHEAD]], 1);
                __builtin_prefetch(&seal->succ[soon], 1);
                if (seal->succ_arc != NULL)
                    __builtin_prefetch(&seal->succ_arc[soon], 1);
            }
            uint32_t source = seal->pred[arc], at = seal->scratch[source]++;
            if (at > 0 && seal->succ[at - 1] == v && at > seal->succ_first[source])
                return fail_duplicate(seal->graph, seal->task_of[source], seal->task_of[v]);
            seal->succ[at] = v;
            if (seal->succ_arc != NULL)
                seal->succ_arc[at] = arc;
        }
    return CLO_OK;
}

/* scratch: predecessors not yet in the order. Returns how many instances found their place. */
static uint32_t fill_order(struct seal *seal)
{
    uint32_t head = 0, tail = 0;

    for (uint32_t v = 0; v < seal->instances; v++) {
        seal->scratch[v] = seal->pred_first[v + 1] - seal->pred_first[v];
        if (seal->scratch[v] == 0)
            seal->order[tail++] = v;
    }
    while (head < tail) { /* each instance enters once */
        if (head + AHEAD < tail) {
            uint32_t soon = seal->order[head + AHEAD / 2];
            __builtin_prefetch(&seal->succ_first[seal->order[head + AHEAD]]);
            __builtin_prefetch(&seal->succ[seal->succ_first[soon]]);
        }
        uint32_t v = seal->order[head++];
        for (uint32_t arc = seal->succ_first[v]; arc < seal->succ_first[v + 1]; arc++)
            if (--seal->scratch[seal->succ[arc]] == 0)
                seal->order[tail++] = seal->succ[arc];
    }
    return tail;
}

/* One cycle among the instances without a place: each has a predecessor without one, so walking back must meet
 * itself. next: [instances], receives the way forward. Returns the smallest id on the cycle. */
static uint32_t find_cycle(const struct seal *seal, uint32_t *next)
{
    uint32_t v = 0;

    memset(next, 0xff, seal->instances * sizeof *next);
    while (seal->scratch[v] == 0)
        v++;
    for (;;) { /* ends: each round gives one more instance its next */
        uint32_t arc = seal->pred_first[v];
        while (seal->scratch[seal->pred[arc]] == 0)
            arc++;
        uint32_t source = seal->pred[arc];
        bool closed = next[source] != CLO_NONE;
        next[source] = v;
        v = source;
        if (closed)
            break;
    }
    uint32_t smallest = v;
    for (uint32_t at = next[v]; at != v; at = next[at])
        if (at < smallest)
            smallest = at;
    return smallest;
}

static clo_status fail_cycle(const struct seal *seal)
{
    uint32_t *next = seal->order; /* no longer needed */
    uint32_t start = find_cycle(seal, next), length = 1, shown = 0;
    char text[CYCLE_NAMES_MAX * (NAME_SHOWN + 6) + 16], scratch[16];
    size_t used = 0;

    for (uint32_t v = next[start]; v != start; v = next[v])
        length++;
    for (uint32_t v = start; shown < length && shown < CYCLE_NAMES_MAX; v = next[v], shown++)
        used += (size_t)snprintf(text + used, sizeof text - used, "\"%.*s\" -> ", NAME_SHOWN,
                                 clo_graph_task_name(seal->graph, seal->task_of[v], scratch));
    snprintf(text + used, sizeof text - used, "%s", shown < length ? "... -> " : "");
    return clo_fail(CLO_ERR_CYCLE, "%u tasks wait for each other: %s\"%.*s\"; remove one of these edges", length, text,
                    NAME_SHOWN, clo_graph_task_name(seal->graph, seal->task_of[start], scratch));
}

static void copy_specials(struct seal *seal)
{
    const clo_graph *graph = seal->graph;
    uint32_t next = 0;

    for (uint32_t t = 0; t < graph->tasks && next < graph->specials_count; t++)
        for (uint32_t s = graph->rows[t].special; s != CLO_NONE; s = graph->specials[s].next) {
            seal->specials[next] = graph->specials[s];
            if (seal->specials[next].next != CLO_NONE)
                seal->specials[next].next = next + 1;
            next++;
        }
}

static void commit(clo_graph *graph, const struct seal *seal)
{
    for (uint32_t s = (uint32_t)graph->specials_count; s-- > 0;)
        graph->rows[seal->specials[s].task].special = s;
    clo_free(graph->specials);
    graph->specials = seal->specials;
    graph->instances = seal->instances;
    graph->arcs = seal->arcs;
    graph->first_instance = seal->first_instance;
    graph->task_of = seal->task_of;
    graph->succ_first = seal->succ_first;
    graph->succ = seal->succ;
    graph->succ_arc = seal->succ_arc;
    graph->pred_first = seal->pred_first;
    graph->pred = seal->pred;
    graph->pred_bytes = seal->pred_bytes;
    graph->order = seal->order;
    graph->sealed_block = seal->block;
    if (graph->rows_capacity - graph->tasks >= SLACK_MAX) {
        void *rows = graph->rows;

        clo_shrink(&rows, graph->tasks * sizeof *graph->rows);
        graph->rows = rows;
    }
    if (seal->by_target) { /* pred says the same */
        clo_free(graph->ends);
        clo_free(graph->edge_bytes);
        graph->ends = NULL;
        graph->edge_bytes = NULL;
    }
    graph->sealed = true;
}

clo_status clo_graph_seal(clo_graph *graph)
{
    if (graph == NULL)
        return clo_fail_null("clo_graph_seal", "graph");
    struct seal seal = {.graph = graph, .instances = (uint32_t)graph->instances_open};

    if (graph->sealed)
        return clo_fail(CLO_ERR_STATE, "graph \"%.60s\" is sealed already; seal once", graph->name);
    if (graph->tasks == 0)
        return clo_fail(CLO_ERR_ARGUMENT, "graph \"%.60s\" has no tasks; add at least one", graph->name);
    if (graph->work_open > INT64_MAX)
        return clo_fail(CLO_ERR_LIMIT, "graph \"%.60s\": the total work exceeds 2^63 ns; use a coarser unit",
                        graph->name);
    seal.single = seal.instances == graph->tasks;
    clo_status status = look_over_edges(&seal) ? CLO_OK : check_edges(&seal);
    if (status != CLO_OK)
        return status;
    if (!allocate(&seal))
        return clo_fail_memory("the tables of a graph");

    number_instances(&seal);
    if (seal.by_target) {
        count_and_copy_predecessors(&seal);
    } else {
        count_degrees(&seal);
        fill_predecessors(&seal);
    }
    status = fill_successors(&seal);
    if (status == CLO_OK && !seal.forward && fill_order(&seal) < seal.instances)
        status = fail_cycle(&seal);
    if (status == CLO_OK) {
        copy_specials(&seal);
        commit(graph, &seal);
    } else {
        clo_free(seal.block);
    }
    clo_free(seal.scratch);
    return status;
}
