/* graphs.c - chain, fan, wave, rand: the shapes of the published comparison (bench/overhead/README.md); pipelines. */
#include "common/graphs.h"

#include <stdlib.h>
#include <string.h>

enum { LAYER = 256, PARENTS_MAX = 5, LANES = 16, PIPE_TOKENS = 8 };

void bench_begin(bench_builder *b, bench_graph *g, const char *name, uint32_t tasks)
{
    *b = (bench_builder){.graph = g};
    *g = (bench_graph){.name = name, .tasks = tasks, .body = bench_empty, .work_ns = 1000};
    g->pred_first = calloc(tasks + (size_t)1, sizeof *g->pred_first);
    g->seen = calloc(tasks, sizeof *g->seen);
    b->has_failed = g->pred_first == NULL || g->seen == NULL;
}

void bench_edge(bench_builder *b, uint32_t from)
{
    bench_graph *g = b->graph;

    if (g->edges == b->capacity) {
        size_t capacity = 2 * b->capacity + 64;
        uint32_t *grown = realloc(g->pred, capacity * sizeof *grown);

        if (grown == NULL) {
            b->has_failed = true;
            return;
        }
        g->pred = grown;
        b->capacity = capacity;
    }
    g->pred[g->edges++] = from;
}

void bench_task(bench_builder *b)
{
    if (!b->has_failed)
        b->graph->pred_first[++b->tasks] = b->graph->edges;
}

static bool add_successors(bench_graph *g)
{
    uint32_t *next = calloc(g->tasks + (size_t)1, sizeof *next);

    g->succ_first = calloc(g->tasks + (size_t)1, sizeof *g->succ_first);
    g->succ = calloc(g->edges + (size_t)1, sizeof *g->succ);
    if (next != NULL && g->succ_first != NULL && g->succ != NULL) {
        for (uint32_t e = 0; e < g->edges; e++)
            g->succ_first[g->pred[e] + 1]++;
        for (uint32_t t = 0; t < g->tasks; t++) {
            g->succ_first[t + 1] += g->succ_first[t];
            next[t] = g->succ_first[t];
        }
        for (uint32_t t = 0; t < g->tasks; t++)
            for (uint32_t e = g->pred_first[t]; e < g->pred_first[t + 1]; e++)
                g->succ[next[g->pred[e]]++] = t;
    }
    bool is_done = next != NULL && g->succ_first != NULL && g->succ != NULL;
    free(next);
    return is_done;
}

bool bench_end(bench_builder *b)
{
    return !b->has_failed && add_successors(b->graph);
}

static void add_parents_of_rand(bench_builder *b, uint32_t task, uint64_t *state)
{
    uint32_t first = task / LAYER * LAYER - LAYER, count = 1 + bench_random_below(state, PARENTS_MAX);
    uint32_t parents[PARENTS_MAX] = {0}, kept = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t parent = first + bench_random_below(state, LAYER), j = 0;

        while (j < kept && parents[j] != parent)
            j++;
        if (j == kept)
            parents[kept++] = parent;
    }
    for (uint32_t i = 0; i < kept; i++)
        bench_edge(b, parents[i]);
}

/* The task of a token in a stage runs after the same token's stage before and the same stage's token before; a token
 * enters once the one PIPE_TOKENS before it has left. */
static void add_parents_of_pipe(bench_builder *b, uint32_t task, uint32_t stages)
{
    if (task % stages != 0)
        bench_edge(b, task - 1);
    if (task >= stages)
        bench_edge(b, task - stages);
    if (task % stages == 0 && task >= PIPE_TOKENS * stages)
        bench_edge(b, task - PIPE_TOKENS * stages + stages - 1);
}

static void add_parents(bench_builder *b, uint32_t task, uint32_t side, uint64_t *state)
{
    const char *name = b->graph->name;

    if (strcmp(name, "chain") == 0 && task > 0) {
        bench_edge(b, task - 1);
    } else if (strcmp(name, "fan") == 0 && task == b->graph->tasks - 1) {
        for (uint32_t i = 1; i < task; i++)
            bench_edge(b, i);
    } else if (strcmp(name, "fan") == 0 && task > 0) {
        bench_edge(b, 0);
    } else if (strcmp(name, "wave") == 0) {
        if (task >= side)
            bench_edge(b, task - side);
        if (task % side != 0)
            bench_edge(b, task - 1);
    } else if (strcmp(name, "rand") == 0 && task >= LAYER) {
        add_parents_of_rand(b, task, state);
    } else if (strncmp(name, "pipe", 4) == 0) {
        add_parents_of_pipe(b, task, (uint32_t)strtoul(name + 4, NULL, 10));
    }
}

bool bench_graph_open(bench_graph *g, const char *name, uint32_t tasks, uint64_t seed)
{
    bench_builder b;
    uint32_t side = 1;

    while ((side + 1) * (side + 1) <= tasks)
        side++;
    bench_begin(&b, g, name, strcmp(name, "wave") == 0 ? side * side : tasks);
    for (uint32_t t = 0; t < g->tasks && !b.has_failed; t++) {
        add_parents(&b, t, side, &seed);
        bench_task(&b);
    }
    return bench_end(&b);
}

void bench_graph_close(bench_graph *g)
{
    free(g->pred_first);
    free(g->pred);
    free(g->succ_first);
    free(g->succ);
    free(g->seen);
    *g = (bench_graph){0};
}

void bench_empty(bench_graph *graph, uint32_t task)
{
    (void)graph;
    (void)task;
}

void bench_visit(bench_graph *g, uint32_t task)
{
    uint32_t visits = ++g->seen[task];

    /* Plain reads: whoever dispatches must have ordered them behind the predecessors' writes. */
    for (uint32_t e = g->pred_first[task]; e < g->pred_first[task + 1]; e++)
        if (g->seen[g->pred[e]] != visits)
            __atomic_fetch_add(&g->violations, 1, __ATOMIC_RELAXED);
}

/* Not inlined: all callers run the same instructions, the calibration too. */
__attribute__((noinline)) double bench_compute(uint64_t iterations)
{
    double lane[LANES], sum = 0;

    for (int i = 0; i < LANES; i++)
        lane[i] = 0.5 + 0.01 * i;
    for (uint64_t n = 0; n < iterations; n++)
        for (int i = 0; i < LANES; i++)
            lane[i] = lane[i] * 0.75 + 0.25; /* goes to 1, so never into slow numbers */
    for (int i = 0; i < LANES; i++)
        sum += lane[i];
    return sum;
}

void bench_work(bench_graph *g, uint32_t task)
{
    volatile double kept = bench_compute(g->iterations);

    (void)kept;
    (void)task;
}

uint64_t bench_iterations(int64_t ns)
{
    enum { SAMPLES = 20, EACH = 100000 };
    double lowest = 0;

    for (int i = 0; i < SAMPLES; i++) {
        int64_t start_ns = bench_now_ns();
        volatile double kept = bench_compute(EACH);
        double each_ns = (double)(bench_now_ns() - start_ns) / (double)EACH;

        (void)kept;
        lowest = i == 0 || each_ns < lowest ? each_ns : lowest;
    }
    return lowest > 0 && (double)ns > lowest ? (uint64_t)((double)ns / lowest) : 1;
}

void bench_graph_reset(bench_graph *g)
{
    memset(g->seen, 0, g->tasks * sizeof *g->seen);
    g->violations = 0;
}

bool bench_graph_is_right(const bench_graph *g, uint32_t runs)
{
    for (uint32_t t = 0; t < g->tasks; t++)
        if (g->seen[t] != runs)
            return false;
    return g->violations == 0;
}
