#include "pairs.h"

#include <string.h>

static void number_instances(test_pairs *p, const clo_graph *graph)
{
    uint32_t tasks = clo_graph_tasks(graph), next = 0;

    p->instances = clo_graph_instances(graph);
    p->first_instance = calloc(tasks + (size_t)1, sizeof *p->first_instance);
    p->task_of = calloc(p->instances, sizeof *p->task_of);
    assert_true(p->first_instance != NULL && p->task_of != NULL);
    for (uint32_t t = 0; t < tasks; t++) {
        p->first_instance[t] = next;
        for (uint32_t i = 0; i < clo_graph_ranges(graph, t); i++)
            p->task_of[next++] = t;
    }
    p->first_instance[tasks] = next;
    assert_int_equal(next, p->instances);
}

/* Calls `visit` for every pair, by edge, consumer and producer. */
static void each_pair(test_pairs *p, const clo_graph *graph,
                      void (*visit)(test_pairs *p, uint32_t from, uint32_t to, uint64_t bytes))
{
    for (uint32_t e = 0; e < clo_graph_edges(graph); e++) {
        clo_edge edge = {0};
        ok(clo_graph_edge(graph, e, &edge));
        uint64_t sources = p->first_instance[edge.from + 1] - p->first_instance[edge.from];
        uint64_t all = sources * (p->first_instance[edge.to + 1] - p->first_instance[edge.to]);
        for (uint32_t to = p->first_instance[edge.to]; to < p->first_instance[edge.to + 1]; to++)
            for (uint32_t i = 0; i < sources; i++)
                visit(p, p->first_instance[edge.from] + i, to, edge.bytes / all + (edge.bytes % all != 0));
    }
}

static void count(test_pairs *p, uint32_t from, uint32_t to, uint64_t bytes)
{
    (void)bytes;
    p->before_first[to + 1]++;
    p->after_first[from + 1]++;
    p->count++;
}

/* The counts have become cursors, which end where the next list begins. */
static void put(test_pairs *p, uint32_t from, uint32_t to, uint64_t bytes)
{
    p->after[p->after_first[from]++] = to;
    p->bytes[p->before_first[to]] = bytes;
    p->before[p->before_first[to]++] = from;
}

static void move_back(uint32_t *first, uint32_t instances)
{
    memmove(first + 1, first, instances * sizeof *first);
    first[0] = 0;
}

test_pairs pairs_of(const clo_graph *graph)
{
    test_pairs p = {0};

    number_instances(&p, graph);
    p.before_first = calloc(p.instances + (size_t)1, sizeof *p.before_first);
    p.after_first = calloc(p.instances + (size_t)1, sizeof *p.after_first);
    assert_true(p.before_first != NULL && p.after_first != NULL);
    each_pair(&p, graph, count);
    for (uint32_t v = 0; v < p.instances; v++) {
        p.before_first[v + 1] += p.before_first[v];
        p.after_first[v + 1] += p.after_first[v];
    }
    p.before = calloc(p.count + (size_t)1, sizeof *p.before);
    p.after = calloc(p.count + (size_t)1, sizeof *p.after);
    p.bytes = calloc(p.count + (size_t)1, sizeof *p.bytes);
    assert_true(p.before != NULL && p.after != NULL && p.bytes != NULL);
    each_pair(&p, graph, put);
    move_back(p.before_first, p.instances);
    move_back(p.after_first, p.instances);
    return p;
}

void pairs_free(test_pairs *p)
{
    free(p->first_instance);
    free(p->task_of);
    free(p->before_first);
    free(p->before);
    free(p->bytes);
    free(p->after_first);
    free(p->after);
}
