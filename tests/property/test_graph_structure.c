/* 1 000 random graphs: what seal built says exactly what was added. */
#include "support.h"

#include "graph/graph.h"
#include "random.h"

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

/* Each instance's predecessors are the instances of the edges into its task, in order, with an even share of the
 * bytes. */
static void predecessors_are_the_edges(const clo_graph *graph)
{
    uint64_t arcs = 0;

    for (uint32_t v = 0; v < graph->instances; v++) {
        uint32_t arc = graph->pred_first[v], to = graph->task_of[v];
        for (uint32_t e = 0; e < graph->edges; e++) {
            clo_edge edge;
            ok(clo_graph_edge(graph, e, &edge));
            if (edge.to != to)
                continue;
            uint64_t sources = graph->rows[edge.from].instances, pairs = sources * graph->rows[to].instances;
            for (uint32_t i = 0; i < sources; i++, arc++) {
                assert_int_equal(graph->pred[arc], graph->first_instance[edge.from] + i);
                uint64_t share = clo_graph_arc_bytes(graph, arc);
                assert_true(share * pairs >= edge.bytes && (share == 0 || (share - 1) * pairs < edge.bytes));
            }
            arcs += sources;
        }
        assert_int_equal(arc, graph->pred_first[v + 1]);
    }
    assert_int_equal(arcs, graph->arcs);
}

static void successors_mirror_predecessors(const clo_graph *graph)
{
    unsigned char *seen = calloc(graph->arcs + 1, 1);

    assert_int_equal(graph->succ_first[graph->instances], graph->arcs);
    for (uint32_t v = 0; v < graph->instances; v++)
        for (uint32_t at = graph->succ_first[v]; at < graph->succ_first[v + 1]; at++) {
            uint32_t u = graph->succ[at], arc = graph->pred_first[u];
            while (graph->pred[arc] != v || seen[arc]) /* without bytes nothing stores it */
                arc++;
            assert_true(graph->succ_arc == NULL || graph->succ_arc[at] == arc);
            assert_int_equal(graph->pred[arc], v);
            assert_true(arc >= graph->pred_first[u] && arc < graph->pred_first[u + 1]);
            assert_int_equal(seen[arc]++, 0);
            assert_true(at == graph->succ_first[v] || graph->succ[at - 1] < u); /* by id */
        }
    free(seen);
}

static void the_order_is_topological(const clo_graph *graph)
{
    uint32_t *place = malloc(graph->instances * sizeof *place);

    memset(place, 0xff, graph->instances * sizeof *place);
    for (uint32_t i = 0; i < graph->instances; i++) {
        assert_int_equal(place[graph->order[i]], UINT32_MAX);
        place[graph->order[i]] = i;
    }
    for (uint32_t v = 0; v < graph->instances; v++)
        for (uint32_t arc = graph->pred_first[v]; arc < graph->pred_first[v + 1]; arc++)
            assert_true(place[graph->pred[arc]] < place[v]);
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
        uint32_t v = graph->order[graph->instances - 1], root = v;
        while (graph->pred_first[root] < graph->pred_first[root + 1])
            root = graph->pred[graph->pred_first[root]];
        for (uint32_t e = 0; e < graph->edges; e++) {
            clo_edge edge;
            ok(clo_graph_edge(graph, e, &edge));
            ok(clo_graph_add_edge(copy, edge.from, edge.to, 0));
        }
        if (root != v) {
            ok(clo_graph_add_edge(copy, graph->task_of[v], graph->task_of[root], 0));
            fails(CLO_ERR_CYCLE, "tasks wait for each other: \"t", clo_graph_seal(copy));
            closed++;
        }
        clo_graph_destroy(copy);
        clo_graph_destroy(graph);
    }
    assert_true(closed > SEEDS / 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sealed_graph_is_what_was_added),
        cmocka_unit_test(a_back_edge_is_always_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
