/* bench_footprint.c - how much memory does it take?
 *
 *   heap     bytes a task and an edge of a sealed graph, its cost, a plan and jobs: what malloc has given out before
 *            and after, on growing graphs with and without edges, fitted by least squares.
 *   process  a program that links one peer alone: wall time to start, run 10 tasks and end; and how much more memory
 *            it had at most with a larger graph, a task (with the benchmark's own arrays: the serial floor's row).
 *   library  sections of the shared library: code, text (all that is read-only), data, bss.
 *   program  the same of programs that link the least they need, statically with --gc-sections (closure.c). */
#define _GNU_SOURCE /* setenv; mallinfo2 */
#include "common/graphs.h"
#include "common/platform.h"
#include "common/temporary.h"
#include "footprint/peer_process.h"

#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GRAPH, COST, STEAL, PLAN, REPLAY, PARTS, SIZES = 8, GRAPHS = 2 * SIZES, PEERS_MAX = 16 };

/* What the design asks for: graph, cost and a job by stealing together. */
#define MUST_TASK 80.0
#define MUST_EDGE 7.0

/* closure.c, and what the design asks for: KiB of text and data; 0: nothing. */
static const struct {
    const char *file, *name;
    uint32_t must;
} programs[] = {
    {"closure-steal", "steal only", 220},       {"closure-heft", "HEFT", 300},
    {"closure-whole", "HEFT, all features", 0}, {"closure-best", "planner best", 0},
    {"closure-all", "all that has a name", 0},
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

static const char *const part_names[PARTS] = {"sealed graph", "cost", "job, steal", "plan (HEFT)", "job, replay"};

/* bytes = a_task * tasks + an_edge * edges; the few KiB that do not grow go under. */
typedef struct slopes {
    double a_task, an_edge;
} slopes;

typedef struct heap {
    double tasks[GRAPHS], edges[GRAPHS], bytes[PARTS][GRAPHS];
    slopes fit[PARTS];
    slopes all; /* graph, cost and a job by stealing: what a program needs at least */
    bool is_known;
} heap;

/* One row of the tables of processes and libraries. */
typedef struct process {
    peer_process what;
    peer_process_result result;
    double *start_ns; /* by turn */
    bench_stats start;
    double a_task; /* bytes */
    library_sizes sizes;
    bool has_sizes;
} process;

typedef struct table {
    heap heap;
    process processes[PEERS_MAX];
    library_sizes programs[PROGRAMS];
    uint32_t count;
    uint32_t tasks_small, tasks_large;
    bench_turns turns;
} table;

static size_t heap_now(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

static clo_status make_graph(const bench_graph *shape, clo_graph **graph)
{
    const clo_task task = {.work_ns = 1000};
    clo_status status = clo_graph_create("footprint", graph);

    for (uint32_t t = 0; t < shape->tasks && status == CLO_OK; t++)
        status = clo_graph_add_task(*graph, &task, NULL);
    for (uint32_t t = 0; t < shape->tasks; t++)
        for (uint32_t e = shape->pred_first[t]; e < shape->pred_first[t + 1] && status == CLO_OK; e++)
            status = clo_graph_add_edge(*graph, shape->pred[e], t, 0);
    return status == CLO_OK ? clo_graph_seal(*graph) : status;
}

/* What is made of one graph, in the order of the parts. */
typedef struct bed {
    clo_runtime *runtime;
    const clo_platform *platform;
    clo_graph *graph;
    clo_cost *cost;
    clo_plan *plan;
    clo_job *steal, *replay;
} bed;

static clo_status make_part(bed *b, int part, const bench_graph *shape)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;

    switch (part) {
    case GRAPH:
        return make_graph(shape, &b->graph);
    case COST:
        return clo_cost_create(b->graph, b->platform, &b->cost);
    case STEAL:
        return clo_job_create(b->runtime, b->cost, NULL, &b->steal);
    case PLAN:
        return clo_plan_create(b->cost, NULL, &b->plan);
    default:
        config.plan = b->plan;
        return clo_job_create(b->runtime, b->cost, &config, &b->replay);
    }
}

static bool measure_graph(heap *h, int at, bed *b, const bench_graph *shape)
{
    clo_status status = CLO_OK;

    h->tasks[at] = shape->tasks;
    h->edges[at] = shape->edges;
    for (int part = 0; part < PARTS && status == CLO_OK; part++) {
        size_t before = heap_now();

        status = make_part(b, part, shape);
        h->bytes[part][at] = (double)heap_now() - (double)before;
    }
    clo_job_destroy(b->replay);
    clo_job_destroy(b->steal);
    clo_plan_destroy(b->plan);
    clo_cost_destroy(b->cost);
    clo_graph_destroy(b->graph);
    return status == CLO_OK || bench_fail("cannot make a graph and its jobs");
}

/* What is as good as nothing is not shown as -0.0. */
static double without_minus(double value)
{
    return value < 0 && value > -0.05 ? 0 : value;
}

/* By least squares: the normal equations of two unknowns. */
static slopes fit(const double *tasks, const double *edges, const double *bytes)
{
    double tt = 0, te = 0, ee = 0, tb = 0, eb = 0, det;

    for (int i = 0; i < GRAPHS; i++) {
        tt += tasks[i] * tasks[i];
        te += tasks[i] * edges[i];
        ee += edges[i] * edges[i];
        tb += tasks[i] * bytes[i];
        eb += edges[i] * bytes[i];
    }
    det = tt * ee - te * te;
    return det > 0 ? (slopes){(tb * ee - eb * te) / det, without_minus((eb * tt - tb * te) / det)} : (slopes){0};
}

static bool measure_heap(heap *h, const bench_options *o)
{
    clo_platform *platform = bench_platform(bench_cpus() < 2 ? 1 : 2);
    clo_runtime *runtime = NULL;
    uint32_t tasks = o->quick ? 4000 : 40000;
    bool is_good = platform != NULL && clo_runtime_create(platform, NULL, &runtime) == CLO_OK;

    for (int at = 0; at < GRAPHS && is_good; at++) {
        bed b = {.runtime = runtime, .platform = platform};
        bench_graph shape;

        /* From once to 2.75 times, so that what doubling arrays have to spare is counted with its mean. */
        is_good =
            bench_graph_open(&shape, at % 2 == 0 ? "none" : "rand", tasks + (uint32_t)at / 2 * tasks / 4, o->seed) &&
            measure_graph(h, at, &b, &shape);
        bench_graph_close(&shape);
    }
    for (int part = 0; part < PARTS && is_good; part++) {
        h->fit[part] = fit(h->tasks, h->edges, h->bytes[part]);
        if (part <= STEAL) {
            h->all.a_task += h->fit[part].a_task;
            h->all.an_edge += h->fit[part].an_edge;
        }
    }
    h->is_known = h->bytes[GRAPH][0] > 0; /* an allocator of its own (a sanitizer's) tells nothing */
    clo_runtime_destroy(runtime);
    clo_platform_destroy(platform);
    return is_good;
}

/* Finds out which peers there are by running each once, which also fills the caches and StarPU's files. */
static bool open_processes(table *t, const bench_options *o)
{
    static const char *const families[] = {"clotho", "tbb", "openmp", "starpu", "serial"};
    uint32_t workers = bench_cpus() < 2 ? 1 : 2;

    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (uint32_t index = 0; t->count < PEERS_MAX; index++) {
            process *p = &t->processes[t->count];

            p->what = (peer_process){families[f], index, workers, 10};
            if (!peer_process_run(&p->what, &p->result)) {
                if (index == 0)
                    fprintf(stderr, "bench: %s is left out: it is not in this build\n", families[f]);
                break;
            }
            p->has_sizes = p->result.library[0] != '\0' && library_read_sizes(p->result.library, &p->sizes);
            p->start_ns = calloc(o->rounds, sizeof *p->start_ns);
            if (p->start_ns == NULL)
                return false;
            t->count++;
        }
    return true;
}

static bool measure_programs(table *t)
{
    char path[FILENAME_MAX];

    for (int p = 0; p < PROGRAMS; p++)
        if (!program_find(programs[p].file, path) || !library_read_sizes(path, &t->programs[p]))
            return fprintf(stderr, "bench-footprint: %s cannot be read\n", programs[p].file), false;
    return true;
}

static bool measure_start(table *t, const bench_options *o)
{
    uint64_t random = o->seed;
    uint32_t order[PEERS_MAX];
    bool is_good = true;

    for (uint32_t i = 0; i < t->count; i++)
        order[i] = i;
    t->turns.wanted = o->rounds;
    while (is_good && bench_turn_begin(&t->turns)) {
        uint32_t turn = t->turns.kept;

        bench_shuffle(order, t->count, &random);
        for (uint32_t i = 0; i < t->count && is_good; i++) {
            process *p = &t->processes[order[i]];

            is_good = peer_process_run(&p->what, &p->result);
            if (!is_good)
                fprintf(stderr, "bench-footprint: peer-%s fails\n", p->what.family);
            p->start_ns[turn] = (double)p->result.wall_ns;
        }
        bench_turn_end(&t->turns);
    }
    for (uint32_t i = 0; i < t->count; i++)
        t->processes[i].start = bench_summarise(t->processes[i].start_ns, t->turns.kept);
    return is_good;
}

static bool measure_growth(table *t, const bench_options *o)
{
    t->tasks_small = o->quick ? 20000 : 100000;
    t->tasks_large = 2 * t->tasks_small;
    for (uint32_t i = 0; i < t->count; i++) {
        process *p = &t->processes[i];
        peer_process small = p->what, large = p->what;
        peer_process_result before, after;

        small.tasks = t->tasks_small;
        large.tasks = t->tasks_large;
        if (!peer_process_run(&small, &before) || !peer_process_run(&large, &after)) {
            fprintf(stderr, "bench-footprint: %s fails with %u tasks\n", p->result.name, t->tasks_large);
            return false;
        }
        p->a_task =
            ((double)after.memory_bytes - (double)before.memory_bytes) / (double)(t->tasks_large - t->tasks_small);
    }
    return true;
}

/* A fit through blocks that the allocator rounds up says no more than hundredths. */
static bool is_within(double bytes, double must)
{
    return round(bytes * 100) <= must * 100;
}

static const char *holds(bool is_held)
{
    return is_held ? "holds" : "misses";
}

static void print_heap(const heap *h)
{
    printf("Heap of Clotho, bytes\n%-22s %9s %9s\n", "", "a task", "an edge");
    for (int part = 0; part < PARTS; part++)
        printf("%-22s %9.1f %9.1f\n", part_names[part], h->fit[part].a_task, h->fit[part].an_edge);
    printf("%-22s %9.1f %9.1f\n", "graph, cost, steal", h->all.a_task, h->all.an_edge);
    printf("%-22s %9.0f %9.0f   aim 48, 6\n", "must", MUST_TASK, MUST_EDGE);
    printf("%-22s %9s %9s\n", "", holds(is_within(h->all.a_task, MUST_TASK)),
           holds(is_within(h->all.an_edge, MUST_EDGE)));
}

static double kib(const library_sizes *sizes)
{
    return (double)(sizes->text + sizes->data) / 1024;
}

static void print_programs(const table *t)
{
    printf("\nA program with one task, linked statically, KiB\n%-22s %9s %9s %9s\n", "", "text", "data", "both");
    for (int p = 0; p < PROGRAMS; p++) {
        const library_sizes *sizes = &t->programs[p];

        printf("%-22s %9.1f %9.1f %9.1f", programs[p].name, (double)sizes->text / 1024, (double)sizes->data / 1024,
               kib(sizes));
        if (programs[p].must > 0)
            printf("  must %u: %s", programs[p].must, holds(kib(sizes) <= programs[p].must));
        printf("\n");
    }
}

static void print_text(const table *t)
{
    if (t->heap.is_known)
        print_heap(&t->heap);
    else
        printf("Heap of Clotho: this allocator does not tell\n");
    printf(
        "\nA process with one peer: start, 10 tasks, end (ms); most memory, a task more (bytes; rand, %u -> %u tasks)\n"
        "and its library (KiB)\n%-18s %8s %8s %8s %10s  %8s %8s %8s %8s  %s\n",
        t->tasks_small, t->tasks_large, "peer", "ms", "p10", "p90", "B a task", "code", "text", "data", "bss", "file");
    for (uint32_t i = 0; i < t->count; i++) {
        const process *p = &t->processes[i];
        const char *slash = strrchr(p->result.library, '/');

        printf("%-18s %8.2f %8.2f %8.2f %10.0f", p->result.name, p->start.median / 1e6, p->start.p10 / 1e6,
               p->start.p90 / 1e6, p->a_task);
        if (p->has_sizes)
            printf("  %8.1f %8.1f %8.1f %8.1f  %s", (double)p->sizes.code / 1024, (double)p->sizes.text / 1024,
                   (double)p->sizes.data / 1024, (double)p->sizes.bss / 1024, slash != NULL ? slash + 1 : "");
        printf("\n");
    }
    print_programs(t);
    bench_turns_print(&t->turns, false);
}

static void print_json(const table *t, const bench_options *o)
{
    printf("{\"bench\": \"footprint\", \"seed\": %llu, ", (unsigned long long)o->seed);
    bench_turns_print(&t->turns, true);
    printf(", \"heap\": [");
    for (int part = 0; part < PARTS && t->heap.is_known; part++)
        printf("%s{\"part\": \"%s\", \"bytes_a_task\": %.2f, \"bytes_an_edge\": %.2f}", part > 0 ? ", " : "",
               part_names[part], t->heap.fit[part].a_task, t->heap.fit[part].an_edge);
    printf("], \"processes\": [");
    for (uint32_t i = 0; i < t->count; i++) {
        const process *p = &t->processes[i];

        printf("%s{\"peer\": \"%s\", \"workers\": %u, \"start_ms\": %.3f, \"start_p10\": %.3f, \"start_p90\": %.3f, "
               "\"memory_bytes_a_task\": %.1f",
               i > 0 ? ", " : "", p->result.name, p->what.workers, p->start.median / 1e6, p->start.p10 / 1e6,
               p->start.p90 / 1e6, p->a_task);
        if (p->has_sizes)
            printf(", \"library\": {\"code\": %llu, \"text\": %llu, \"data\": %llu, \"bss\": %llu}",
                   (unsigned long long)p->sizes.code, (unsigned long long)p->sizes.text,
                   (unsigned long long)p->sizes.data, (unsigned long long)p->sizes.bss);
        printf("}");
    }
    printf("], \"programs\": [");
    for (int p = 0; p < PROGRAMS; p++)
        printf("%s{\"program\": \"%s\", \"text\": %llu, \"data\": %llu}", p > 0 ? ", " : "", programs[p].name,
               (unsigned long long)t->programs[p].text, (unsigned long long)t->programs[p].data);
    printf("], \"goals\": [");
    if (t->heap.is_known)
        printf("{\"goal\": \"bytes a task\", \"value\": %.2f, \"must\": %.0f, \"aim\": 48, \"holds\": %s}, {\"goal\": "
               "\"bytes an edge\", \"value\": %.2f, \"must\": %.0f, \"aim\": 6, \"holds\": %s}",
               t->heap.all.a_task, MUST_TASK, is_within(t->heap.all.a_task, MUST_TASK) ? "true" : "false",
               t->heap.all.an_edge, MUST_EDGE, is_within(t->heap.all.an_edge, MUST_EDGE) ? "true" : "false");
    printf("]}\n");
}

int main(int argc, char **argv)
{
    const bench_about about = {
        .name = "footprint", .question = "how much memory does it take?", .rounds = 21, .quick_rounds = 5};
    char temporary[TEMPORARY_MAX] = "";
    bench_options o;
    int exit_status = bench_options_read(&o, &about, argc, argv);
    table *t;
    bool is_good;

    if (exit_status >= 0)
        return exit_status;
    t = calloc(1, sizeof *t);
    if (t == NULL)
        return 1;
    /* StarPU keeps its measurements of the machine here, so that it makes them once, as on any machine in use. */
    if (getenv("STARPU_HOME") == NULL && temporary_make(temporary))
        setenv("STARPU_HOME", temporary, 1);
    is_good = measure_heap(&t->heap, &o) && open_processes(t, &o) && measure_start(t, &o) && measure_growth(t, &o) &&
              measure_programs(t);
    temporary_remove(temporary);
    if (is_good && o.json)
        print_json(t, &o);
    else if (is_good)
        print_text(t);
    for (uint32_t i = 0; i < PEERS_MAX; i++)
        free(t->processes[i].start_ns);
    free(t);
    return is_good ? 0 : 1;
}
