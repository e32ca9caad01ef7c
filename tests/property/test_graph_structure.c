/* 1 000 random graphs: what seal built says exactly what was added. */
#include "support.h"

#include "../fuzz/same.h"
#include "base/numbers/rng.h"
#include "graph/graph.h"
#include "pairs.h"
#include "random.h"
#include "sample.h"

#include <stdlib.h>
#include <string.h>

#define SEEDS 1000

static void instances_are_numbered_by_task(const clo_graph *graph)
{
    uint32_t next = 0;

    for (uint32_t t = 0; t < graph->tasks; t++) {
        clo_task task;
        ok(clo_graph_task(graph, t, &task));
        assert_int_equal(graph->first_instance[t], next);
        for (uint32_t i = 0; i < task.instances; i++)
            assert_int_equal(graph->task_of[next++], t);
    }
    assert_int_equal(graph->first_instance[graph->tasks], next);
    assert_int_equal(clo_graph_instances(graph), next);
}

/* A task's predecessors are the edges into it, in order, with the even share of the bytes of a pair. */
static void predecessors_are_the_edges(const clo_graph *graph)
{
    for (uint32_t t = 0; t < graph->tasks; t++) {
        uint32_t at = graph->in_first[t];
        for (uint32_t e = 0; e < graph->edges; e++) {
            clo_edge edge;
            ok(clo_graph_edge(graph, e, &edge));
            if (edge.to != t)
                continue;
            uint64_t pairs = (uint64_t)graph->rows[edge.from].instances * graph->rows[t].instances;
            uint64_t share = clo_graph_in_bytes(graph, at);
            assert_int_equal(clo_graph_pairs(graph, edge.from, t), pairs);
            assert_true(share * pairs >= edge.bytes && (share == 0 || (share - 1) * pairs < edge.bytes));
            assert_int_equal(clo_graph_source(graph, at++), edge.from);
        }
        assert_int_equal(at, graph->in_first[t + 1]);
    }
    assert_int_equal(graph->in_first[graph->tasks], graph->edges);
}

static void successors_mirror_predecessors(const clo_graph *graph)
{
    unsigned char *seen = calloc(graph->edges + (size_t)1, 1);

    assert_int_equal(graph->out_first[graph->tasks], graph->edges);
    for (uint32_t t = 0; t < graph->tasks; t++)
        for (uint32_t at = graph->out_first[t]; at < graph->out_first[t + 1]; at++) {
            uint32_t u = graph->out[at], edge = graph->in_first[u];
            while (clo_graph_source(graph, edge) != t || seen[edge]) /* without bytes nothing stores it */
                edge++;
            assert_true(graph->out_edge == NULL || graph->out_edge[at] == edge);
            assert_int_equal(clo_graph_source(graph, edge), t);
            assert_true(edge >= graph->in_first[u] && edge < graph->in_first[u + 1]);
            assert_int_equal(seen[edge]++, 0);
            assert_true(at == graph->out_first[t] || graph->out[at - 1] < u); /* by id */
        }
    free(seen);
}

static void the_order_is_topological(const clo_graph *graph)
{
    uint32_t *place = malloc(graph->instances * sizeof *place), next = 0;
    test_pairs p = pairs_of(graph);

    memset(place, 0xff, graph->instances * sizeof *place);
    for (uint32_t i = 0; i < graph->instances; i++) {
        assert_int_equal(place[graph->order[i]], UINT32_MAX);
        place[graph->order[i]] = i;
    }
    for (uint32_t v = 0; v < graph->instances; v++)
        for (uint32_t k = p.before_first[v]; k < p.before_first[v + 1]; k++)
            assert_true(place[p.before[k]] < place[v]);
    for (uint32_t i = 0; i < graph->tasks; i++) /* the same order of tasks, all instances of each in a row */
        for (uint32_t v = 0; v < graph->rows[graph->task_order[i]].instances; v++)
            assert_int_equal(graph->order[next++], graph->first_instance[graph->task_order[i]] + v);
    pairs_free(&p);
    free(place);
}

static void a_sealed_graph_is_what_was_added(void **state)
{
    (void)state;
    uint64_t expanded = 0, largest = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        clo_graph *graph = random_graph(seed, RANDOM_ALL);
        instances_are_numbered_by_task(graph);
        predecessors_are_the_edges(graph);
        successors_mirror_predecessors(graph);
        the_order_is_topological(graph);
        expanded += graph->instances > graph->tasks;
        largest = graph->tasks > largest ? graph->tasks : largest;
        clo_graph_destroy(graph);
    }
    assert_true(expanded > SEEDS / 3); /* the sample is worth something */
    assert_true(largest > 100);
}

/* One edge turned around so that it closes a cycle: found, named, and everything in the name is really on a cycle. */
static void a_back_edge_is_always_found(void **state)
{
    (void)state;
    uint32_t closed = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        clo_graph *graph = random_graph(seed, RANDOM_INSTANCES | RANDOM_UNNAMED), *copy = NULL;
        if (seed % 3 == 2 || graph->edges == 0) {
            clo_graph_destroy(graph);
            continue;
        }
        ok(clo_graph_create("copy", &copy));
        for (uint32_t t = 0; t < graph->tasks; t++)
            ok(clo_graph_add_task(copy, &(clo_task){.instances = graph->rows[t].instances}, NULL));
        /* from the last task of the order back to a task that some edge leads from it to: its first ancestor */
        uint32_t last = graph->task_order[graph->tasks - 1], root = last;
        while (graph->in_first[root] < graph->in_first[root + 1])
            root = clo_graph_source(graph, graph->in_first[root]);
        for (uint32_t e = 0; e < graph->edges; e++) {
            clo_edge edge;
            ok(clo_graph_edge(graph, e, &edge));
            ok(clo_graph_add_edge(copy, edge.from, edge.to, 0));
        }
        if (root != last) {
            ok(clo_graph_add_edge(copy, last, root, 0));
            fails(CLO_ERR_CYCLE, "tasks wait for each other: \"t", clo_graph_seal(copy));
            closed++;
        }
        clo_graph_destroy(copy);
        clo_graph_destroy(graph);
    }
    assert_true(closed > SEEDS / 3);
}

/* The tasks and edges of `graph` once more, in arrays of random lengths. */
static clo_graph *copy_in_arrays(const clo_graph *graph, uint64_t seed)
{
    clo_rng rng = sample_rng(seed);
    uint32_t tasks_count = clo_graph_tasks(graph), edges_count = clo_graph_edges(graph), first, kind;
    clo_task *tasks = test_calloc(tasks_count, sizeof *tasks);
    clo_edge *edges = test_calloc(edges_count + 1, sizeof *edges);
    clo_graph *copy = NULL;
    clo_codelet codelet;

    ok(clo_graph_create(clo_graph_name(graph), &copy));
    for (uint32_t t = 0; t < tasks_count; t++)
        ok(clo_graph_task(graph, t, &tasks[t]));
    for (uint32_t e = 0; e < edges_count; e++)
        ok(clo_graph_edge(graph, e, &edges[e]));
    for (uint32_t at = 0, count; at < tasks_count; at += count) {
        count = 1 + clo_rng_below(&rng, tasks_count - at);
        ok(clo_graph_add_tasks(copy, tasks + at, count, &first));
        assert_int_equal(first, at);
    }
    for (uint32_t at = 0, count; at < edges_count; at += count) {
        count = 1 + clo_rng_below(&rng, edges_count - at);
        ok(clo_graph_add_edges(copy, edges + at, count));
    }
    for (uint32_t t = 0; t < tasks_count; t++) {
        uint32_t executors[64], count = clo_graph_executors(graph, t, executors, 64);
        assert_true(count <= 64);
        if (count > 0)
            ok(clo_graph_set_executors(copy, t, executors, count));
        if (clo_graph_codelet(graph, t, &codelet))
            ok(clo_graph_set_codelet(copy, t, &codelet));
    }
    for (uint32_t k = 0; k < clo_graph_kinds(graph); k++)
        ok(clo_graph_kind(copy, clo_graph_kind_name(graph, k), &kind));
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        if (clo_graph_resource_name(graph, r) != NULL)
            ok(clo_graph_set_resource(copy, r, clo_graph_resource_name(graph, r)));
    for (size_t i = 0; i < graph->specials_count; i++) {
        const clo_graph_special *s = &graph->specials[i];
        if (s->body != NULL)
            ok(clo_graph_set_body(copy, s->task, s->kind, s->body));
        if (s->time_ns >= 0)
            ok(clo_graph_set_time(copy, s->task, s->kind, s->time_ns));
    }
    ok(clo_graph_seal(copy));
    test_free(tasks);
    test_free(edges);
    return copy;
}

static void arrays_give_the_same_graph_as_one_by_one(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        clo_graph *graph = random_graph(seed, seed % 512), *copy = copy_in_arrays(graph, seed);

        if (!same_graph(graph, copy))
            fail_msg("seed %llu differs", (unsigned long long)seed);
        assert_int_equal(copy->edges, graph->edges);
        assert_memory_equal(copy->order, graph->order, graph->instances * sizeof *graph->order);
        for (uint32_t e = 0; e < graph->edges; e++)
            assert_int_equal(clo_graph_source(copy, e), clo_graph_source(graph, e));
        assert_memory_equal(copy->out, graph->out, graph->edges * sizeof *graph->out);
        clo_graph_destroy(copy);
        clo_graph_destroy(graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sealed_graph_is_what_was_added),
        cmocka_unit_test(a_back_edge_is_always_found),
        cmocka_unit_test(arrays_give_the_same_graph_as_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
