/* seal.c - checks an open graph and builds what readers use: adjacency both ways between tasks, a topological order,
 * the special rows sorted. O(instances + edges), one block that stays and one scratch array that goes.
 *
 * Invariant: everything is built in a local `struct seal`; the graph is written by commit() alone, when nothing can
 * fail any more. Successors are listed by id. Topological order: the ids, where every edge leads to a higher one; else
 * Kahn, "Topological sorting of large networks", CACM 1962, with a FIFO, so ties leave by id. */
#include "graph/shape/branch.h"
#include "graph/shape/derive.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/status.h"

#include <stdio.h>
#include <string.h>

#define CYCLE_NAMES_MAX 8
#define NAME_SHOWN 40 /* bytes of a name in an error line */
#define SLACK_MAX 64  /* unused rows that are worth giving back: a page */
#define AHEAD 16      /* how many steps ahead memory is asked for: random edges would wait for it each time */

struct seal {
    const clo_graph *graph;
    uint32_t instances;
    bool single;    /* every task has one instance: no look at the rows */
    bool forward;   /* every edge goes from a lower id to a higher, of single tasks: in order, without cycles */
    bool by_target; /* single, and edges were added target by target */
    uint32_t *first_instance, *task_of;
    uint32_t *out_first, *out, *out_edge;
    uint32_t *in_first;
    unsigned char *in; /* ids of in_width bytes */
    uint32_t in_width;
    uint32_t *in_place; /* NULL: by target */
    uint64_t *in_bytes;
    uint64_t each_bytes; /* of all edges of single tasks, if there is no in_bytes */
    uint32_t *task_order, *order;
    clo_graph_special *specials;
    uint32_t *scratch; /* [tasks]: a cursor or a counter for each, as the step needs */
    void *block;
};

static inline uint32_t source_of(const struct seal *seal, uint32_t edge)
{
    return clo_ids_at(clo_ids_of(seal->in, seal->in_width), edge);
}

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
    return worst == 0 && seal->forward;
}

/* Checks the ids. */
static clo_status check_edges(const struct seal *seal)
{
    const clo_graph *graph = seal->graph;

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
    }
    return CLO_OK;
}

/* All edges carry the same, which is then kept once. */
static bool is_even(struct seal *seal)
{
    const uint64_t *bytes = seal->graph->edge_bytes;

    if (!seal->single || seal->graph->edges == 0)
        return false;
    for (uint32_t e = 1; e < seal->graph->edges; e++)
        if (bytes[e] != bytes[0])
            return false;
    seal->each_bytes = bytes[0];
    return true;
}

static bool allocate(struct seal *seal)
{
    size_t tasks = seal->graph->tasks, edges = seal->graph->edges;
    bool has_bytes = seal->graph->edge_bytes != NULL && !is_even(seal);
    clo_block block = {0};

    if (has_bytes)
        clo_carve(&block, &seal->in_bytes, edges);
    clo_carve(&block, &seal->specials, seal->graph->specials_count);
    clo_carve(&block, &seal->first_instance, tasks + 1);
    if (!seal->single) {
        clo_carve(&block, &seal->task_of, seal->instances);
        clo_carve(&block, &seal->order, seal->instances);
    }
    clo_carve(&block, &seal->out_first, tasks + 1);
    clo_carve(&block, &seal->out, edges);
    if (has_bytes)
        clo_carve(&block, &seal->out_edge, edges);
    clo_carve(&block, &seal->in_first, tasks + 1);
    clo_carve(&block, &seal->in, clo_ids_bytes(seal->in_width, edges));
    if (!seal->by_target)
        clo_carve(&block, &seal->in_place, edges);
    if (!seal->forward)
        clo_carve(&block, &seal->task_order, tasks);

    seal->block = clo_block_allocate(&block);
    seal->scratch = clo_allocate(tasks, sizeof(uint32_t));
    if (seal->block == NULL || seal->scratch == NULL) {
        clo_free(seal->block);
        clo_free(seal->scratch);
        return false;
    }
    /* One instance a task: both numberings are 0, 1, 2 ..., one array serves. In order: the same numbers again. */
    if (seal->single)
        seal->task_of = seal->first_instance;
    if (seal->forward)
        seal->task_order = seal->first_instance;
    if (seal->single)
        seal->order = seal->task_order;
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
        if (e + AHEAD < graph->edges) {
            __builtin_prefetch(&seal->out_first[graph->ends[e + AHEAD].from + 1], 1);
            __builtin_prefetch(&seal->in_first[graph->ends[e + AHEAD].to + 1], 1);
        }
        seal->out_first[graph->ends[e].from + 1]++;
        seal->in_first[graph->ends[e].to + 1]++;
    }
    accumulate(seal->out_first, graph->tasks);
    accumulate(seal->in_first, graph->tasks);
}

/* The same for edges that came target by target, which lie in the order of the predecessors already. */
static void count_and_copy_predecessors(struct seal *seal)
{
    const clo_graph *graph = seal->graph;

    for (uint32_t e = 0; e < graph->edges; e++) {
        clo_graph_ends edge = graph->ends[e];
        if (e + AHEAD < graph->edges)
            __builtin_prefetch(&seal->out_first[graph->ends[e + AHEAD].from + 1], 1);
        seal->out_first[edge.from + 1]++;
        seal->in_first[edge.to + 1]++;
        clo_ids_put(seal->in, seal->in_width, e, edge.from);
    }
    accumulate(seal->out_first, graph->tasks);
    accumulate(seal->in_first, graph->tasks);
    if (seal->in_bytes != NULL)
        memcpy(seal->in_bytes, graph->edge_bytes, graph->edges * sizeof *seal->in_bytes);
}

/* Bytes of one pair of instances. */
static uint64_t bytes_of_pair(const struct seal *seal, uint32_t edge)
{
    const clo_graph_ends *ends = &seal->graph->ends[edge];
    uint64_t all = seal->graph->edge_bytes[edge];
    uint64_t pairs = (uint64_t)instances_of(seal, ends->from) * instances_of(seal, ends->to);

    return pairs == 1 ? all : all / pairs + (all % pairs != 0);
}

/* Predecessors in the order of the edges. scratch: how many each task has so far. */
static void fill_predecessors(struct seal *seal)
{
    const clo_graph *graph = seal->graph;

    for (uint32_t e = 0; e < graph->edges; e++) {
        uint32_t to = graph->ends[e].to, at = seal->in_first[to] + seal->scratch[to]++;
        clo_ids_put(seal->in, seal->in_width, at, graph->ends[e].from);
        seal->in_place[e] = at;
        if (seal->in_bytes != NULL)
            seal->in_bytes[at] = bytes_of_pair(seal, e);
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
 * it costs one comparison with what was just written there. scratch: where each task's list goes on. */
static clo_status fill_successors(struct seal *seal)
{
    uint32_t tasks = seal->graph->tasks, edges = seal->graph->edges;

    memcpy(seal->scratch, seal->out_first, tasks * sizeof *seal->scratch);
    for (uint32_t t = 0; t < tasks; t++)
        for (uint32_t e = seal->in_first[t]; e < seal->in_first[t + 1]; e++) {
            if (e + 2 * AHEAD < edges) { /* first where the list goes on, then the place itself */
                uint32_t soon = seal->scratch[source_of(seal, e + AHEAD)];
                __builtin_prefetch(&seal->scratch[source_of(seal, e + 2 * AHEAD)], 1);
                __builtin_prefetch(&seal->out[soon], 1);
                if (seal->out_edge != NULL)
                    __builtin_prefetch(&seal->out_edge[soon], 1);
            }
            uint32_t source = source_of(seal, e), at = seal->scratch[source]++;
            if (at > 0 && seal->out[at - 1] == t && at > seal->out_first[source])
                return fail_duplicate(seal->graph, source, t);
            seal->out[at] = t;
            if (seal->out_edge != NULL)
                seal->out_edge[at] = e;
        }
    return CLO_OK;
}

/* scratch: predecessors not yet in the order. Returns how many tasks found their place. */
static uint32_t fill_task_order(struct seal *seal)
{
    uint32_t head = 0, tail = 0;

    for (uint32_t t = 0; t < seal->graph->tasks; t++) {
        seal->scratch[t] = seal->in_first[t + 1] - seal->in_first[t];
        if (seal->scratch[t] == 0)
            seal->task_order[tail++] = t;
    }
    while (head < tail) { /* each task enters once */
        if (head + AHEAD < tail) {
            uint32_t soon = seal->task_order[head + AHEAD / 2];
            __builtin_prefetch(&seal->out_first[seal->task_order[head + AHEAD]]);
            __builtin_prefetch(&seal->out[seal->out_first[soon]]);
        }
        uint32_t t = seal->task_order[head++];
        for (uint32_t e = seal->out_first[t]; e < seal->out_first[t + 1]; e++)
            if (--seal->scratch[seal->out[e]] == 0)
                seal->task_order[tail++] = seal->out[e];
    }
    return tail;
}

/* The instances of a task stand side by side. */
static void fill_order(struct seal *seal)
{
    uint32_t next = 0;

    for (uint32_t i = 0; i < seal->graph->tasks; i++) {
        uint32_t t = seal->task_order[i];
        for (uint32_t v = seal->first_instance[t]; v < seal->first_instance[t + 1]; v++)
            seal->order[next++] = v;
    }
}

/* One cycle among the tasks without a place: each has a predecessor without one, so walking back must meet itself.
 * next: [tasks], receives the way forward. Returns the smallest id on the cycle. */
static uint32_t find_cycle(const struct seal *seal, uint32_t *next)
{
    uint32_t t = 0;

    memset(next, 0xff, seal->graph->tasks * sizeof *next);
    while (seal->scratch[t] == 0)
        t++;
    for (;;) { /* ends: each round gives one more task its next */
        uint32_t e = seal->in_first[t];
        while (seal->scratch[source_of(seal, e)] == 0)
            e++;
        uint32_t source = source_of(seal, e);
        bool closed = next[source] != CLO_NONE;
        next[source] = t;
        t = source;
        if (closed)
            break;
    }
    uint32_t smallest = t;
    for (uint32_t at = next[t]; at != t; at = next[at])
        if (at < smallest)
            smallest = at;
    return smallest;
}

static clo_status fail_cycle(const struct seal *seal)
{
    uint32_t *next = seal->task_order; /* no longer needed */
    uint32_t start = find_cycle(seal, next), length = 1, shown = 0;
    char text[CYCLE_NAMES_MAX * (NAME_SHOWN + 6) + 16], scratch[16];
    size_t used = 0;

    for (uint32_t t = next[start]; t != start; t = next[t])
        length++;
    uint32_t by = CLO_NONE;
    for (uint32_t t = next[start]; by == CLO_NONE && t != start; t = next[t])
        by = clo_graph_derived_by(seal->graph, t, next[t]);
    if (by == CLO_NONE)
        by = clo_graph_derived_by(seal->graph, start, next[start]);
    for (uint32_t t = start; shown < length && shown < CYCLE_NAMES_MAX; t = next[t], shown++)
        used += (size_t)snprintf(text + used, sizeof text - used, "\"%.*s\" -> ", NAME_SHOWN,
                                 clo_graph_task_name(seal->graph, t, scratch));
    snprintf(text + used, sizeof text - used, "%s", shown < length ? "... -> " : "");
    const char *last = clo_graph_task_name(seal->graph, start, scratch);
    if (by != CLO_NONE) {
        char handle[16];
        return clo_fail(CLO_ERR_CYCLE,
                        "%u tasks wait for each other: %s\"%.*s\"; handle \"%.*s\" orders them as they were added, so "
                        "remove an edge against that",
                        length, text, NAME_SHOWN, last, NAME_SHOWN,
                        clo_graph_handle_name(seal->graph->data, by, handle));
    }
    return clo_fail(CLO_ERR_CYCLE, "%u tasks wait for each other: %s\"%.*s\"; remove one of these edges", length, text,
                    NAME_SHOWN, last);
}

static void copy_specials(struct seal *seal)
{
    const clo_graph *graph = seal->graph;
    uint32_t next = 0;

    for (uint32_t t = 0; t < graph->tasks && next < graph->specials_count; t++)
        for (uint32_t s = clo_graph_special_first(graph, t); s != CLO_NONE; s = graph->specials[s].next) {
            seal->specials[next] = graph->specials[s];
            if (seal->specials[next].next != CLO_NONE)
                seal->specials[next].next = next + 1;
            next++;
        }
}

static void commit(clo_graph *graph, const struct seal *seal)
{
    for (uint32_t s = (uint32_t)graph->specials_count; s-- > 0;)
        clo_columns_set(&graph->columns, CLO_COLUMN_SPECIAL, seal->specials[s].task, s);
    clo_free(graph->specials);
    graph->specials = seal->specials;
    graph->instances = seal->instances;
    graph->first_instance = seal->first_instance;
    graph->task_of = seal->task_of;
    graph->in_first = seal->in_first;
    graph->in = clo_ids_of(seal->in, seal->in_width);
    graph->in_place = seal->in_place;
    graph->in_bytes = seal->in_bytes;
    graph->each_bytes = seal->each_bytes;
    graph->out_first = seal->out_first;
    graph->out = seal->out;
    graph->out_edge = seal->out_edge;
    graph->task_order = seal->task_order;
    graph->order = seal->order;
    graph->sealed_block = seal->block;
    if (graph->rows_capacity - graph->tasks >= SLACK_MAX) {
        void *rows = graph->rows;

        clo_shrink(&rows, graph->tasks * sizeof *graph->rows);
        graph->rows = rows;
    }
    clo_columns_shrink(&graph->columns, graph->tasks, SLACK_MAX);
    clo_free(graph->ends);
    graph->ends = NULL;
    if (seal->single) { /* a pair of instances is an edge */
        clo_free(graph->edge_bytes);
        graph->edge_bytes = NULL;
    }
    graph->sealed = true;
}

/* Of a graph whose edges are all there. */
static clo_status seal_edges(clo_graph *graph)
{
    struct seal seal = {
        .graph = graph, .instances = (uint32_t)graph->instances_open, .in_width = clo_ids_width(graph->tasks)};

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
    if (status == CLO_OK && !seal.forward && fill_task_order(&seal) < graph->tasks)
        status = fail_cycle(&seal);
    if (status == CLO_OK && !seal.single)
        fill_order(&seal);
    if (status == CLO_OK)
        status = clo_graph_control_flow_seal(graph, seal.in_first);
    if (status == CLO_OK)
        status = clo_graph_waves_seal(graph->waves, graph->tasks);
    if (status == CLO_OK) {
        copy_specials(&seal);
        commit(graph, &seal);
    } else {
        clo_free(seal.block);
    }
    clo_free(seal.scratch);
    return status;
}

clo_status clo_graph_seal(clo_graph *graph)
{
    if (graph == NULL)
        return clo_fail_null("clo_graph_seal", "graph");
    if (graph->sealed)
        return clo_fail(CLO_ERR_STATE, "graph \"%.60s\" is sealed already; seal once", graph->name);
    if (graph->tasks == 0)
        return clo_fail(CLO_ERR_ARGUMENT, "graph \"%.60s\" has no tasks; add at least one", graph->name);
    if (graph->work_open > INT64_MAX)
        return clo_fail(CLO_ERR_LIMIT, "graph \"%.60s\": the total work exceeds 2^63 ns; use a coarser unit",
                        graph->name);
    clo_status status = clo_graph_derive(graph);
    if (status != CLO_OK)
        return status;
    status = seal_edges(graph);
    if (status == CLO_OK)
        clo_graph_derive_keep(graph);
    else
        clo_graph_derive_undo(graph);
    return status;
}
