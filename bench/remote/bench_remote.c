/* bench_remote.c - what does one plan over several ranks cost beside StarPU-MPI?
 *
 * Both run the same graph with the same bodies, task by task on the rank that Clotho's HEFT plan names, over the same
 * MPI, with one worker a rank and a thread that looks after messages, no thread pinned. StarPU-MPI walks the whole
 * graph on each rank, finds the messages itself, and is given the placement (STARPU_EXECUTE_ON_NODE), so its own policy
 * plays no part. It is started and stopped around each run, as its workers poll. Runs of both take turns in one process
 * a rank.
 *
 * "run" is from the first body's start to the last one's end, by the clock of the machine, which all ranks share here;
 * "call" is the whole call: clo_remote_run with its comparison of hashes and clocks, and start and end of its workers;
 * for StarPU-MPI the insertion of all tasks until all have ended. Every body checks its inputs by value. */
#define _GNU_SOURCE
#include "common/bench.h"
#include "common/temporary.h"
#include "remote/remote_starpu.h"

#include <clotho/planner.h>
#include <clotho_mpi/remote.h>

#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS_MAX = 64, TEXT_BYTES = 4096 };

typedef struct contender {
    double run_ns[TURNS_MAX], call_ns[TURNS_MAX];
} contender;

typedef struct bed {
    clo_remote *remote;
    int rank, ranks;
    uint32_t turns;
    bool json;
} bed;

/* ---- Clotho ---- */

typedef struct planned {
    clo_cluster *cluster;
    clo_graph *graph;
    clo_cost *cost;
    clo_plan *plan;
} planned;

static remote_graph *the_graph; /* of the bodies, one worker a rank */

static int clotho_body(const clo_call *call)
{
    remote_body(the_graph, call->task, call->inputs, call->output);
    return 0;
}

static clo_status build(planned *p, const remote_graph *g)
{
    clo_status status = clo_graph_create("layers", &p->graph);

    for (uint32_t t = 0; t < g->tasks && status == CLO_OK; t++) {
        const clo_task task = {.body = clotho_body, .work_ns = g->work_ns, .output_bytes = g->bytes};
        status = clo_graph_add_task(p->graph, &task, NULL);
    }
    for (uint32_t t = 0; t < g->tasks; t++)
        for (uint32_t k = 0; k < g->preds_count[t] && status == CLO_OK; k++)
            status = clo_graph_add_edge(p->graph, g->preds[t][k], t, g->bytes);
    return status == CLO_OK ? clo_graph_seal(p->graph) : status;
}

/* The links that planners see: about those of shared memory and of one loopback. */
static clo_status make_plan(planned *p, remote_graph *g, int ranks)
{
    char text[TEXT_BYTES];
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    size_t count;
    int used = snprintf(text, sizeof text, "{\"format\": \"clotho.cluster/1\", \"machines\": [");

    for (int m = 0; m < ranks && used < (int)sizeof text - 256; m++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s{\"name\": \"m%d\", \"platform\": \"uniform:1\"}",
                         m > 0 ? ", " : "", m);
    snprintf(text + used, sizeof text - (size_t)used,
             "], \"link\": {\"latency_ns\": 10000, \"bandwidth_bytes_per_ns\": 1}}");
    config.planner = &clo_planner_heft;
    clo_status status = clo_cluster_parse("ranks", text, strlen(text), &p->cluster);
    if (status == CLO_OK)
        status = build(p, g);
    if (status == CLO_OK)
        status = clo_cost_create(p->graph, clo_cluster_platform(p->cluster), &p->cost);
    if (status == CLO_OK)
        status = clo_plan_create(p->cost, &config, &p->plan);
    const clo_placement *placements = status == CLO_OK ? clo_plan_placements(p->plan, &count) : NULL;
    for (size_t i = 0; placements != NULL && i < count; i++)
        g->owner[placements[i].task] = (int)placements[i].executor; /* one executor a machine */
    return status;
}

static void planned_close(planned *p)
{
    clo_plan_destroy(p->plan);
    clo_cost_destroy(p->cost);
    clo_graph_destroy(p->graph);
    clo_cluster_destroy(p->cluster);
}

/* ---- turns ---- */

/* From the first start to the last end on all ranks; a body that saw wrong inputs, or none, ends the program. */
static double span_ns(const bed *b, remote_graph *g, const char *who)
{
    int64_t mine[4] = {-(g->executed > 0 ? g->first_ns : INT64_MAX), g->last_ns, (int64_t)g->wrong, 0}, most[4];
    uint64_t executed = g->executed, all;

    MPI_Allreduce(mine, most, 4, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&executed, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (most[2] > 0 || all != g->tasks) {
        if (b->rank == 0)
            fprintf(stderr, "bench-remote: %s ran %" PRIu64 " of %u tasks, %" PRId64 " with wrong inputs\n", who, all,
                    g->tasks, most[2]);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return (double)(most[1] + most[0]);
}

static void forget(remote_graph *g)
{
    g->first_ns = g->last_ns = 0;
    g->executed = g->wrong = 0;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void run_clotho(const bed *b, remote_graph *g, const planned *p, double *run_ns, double *call_ns)
{
    clo_remote_config config = CLO_REMOTE_CONFIG_INIT;
    clo_remote_result result = CLO_REMOTE_RESULT_INIT;

    config.unpinned = 1;
    config.silence_ns = 30000000000;
    forget(g);
    int64_t begin_ns = bench_now_ns();
    if (clo_remote_run(b->remote, p->cluster, p->cost, p->plan, &config, &result, NULL) != CLO_OK) {
        fprintf(stderr, "bench-remote: %s\n", clo_last_error());
        clo_remote_abort(b->remote, 1);
    }
    *call_ns = (double)(bench_now_ns() - begin_ns);
    *run_ns = span_ns(b, g, "Clotho");
}

static void run_starpu(const bed *b, remote_graph *g, double *run_ns, double *call_ns)
{
    void *peer = remote_starpu_open(g);

    if (peer == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    forget(g);
    int64_t begin_ns = bench_now_ns();
    bool is_good = remote_starpu_run(peer);
    *call_ns = (double)(bench_now_ns() - begin_ns);
    remote_starpu_close(peer);
    if (!is_good)
        MPI_Abort(MPI_COMM_WORLD, 1);
    *run_ns = span_ns(b, g, "StarPU-MPI");
}

/* One rank after the other would run all of it: the time of all bodies on one. */
static double alone_ns(remote_graph *g)
{
    unsigned char **outputs = calloc(g->tasks, sizeof *outputs);
    const void *inputs[REMOTE_PREDS_MAX];

    for (uint32_t t = 0; t < g->tasks; t++)
        outputs[t] = calloc(1, g->bytes);
    forget(g);
    int64_t begin_ns = bench_now_ns();
    for (uint32_t t = 0; t < g->tasks; t++) {
        for (uint32_t k = 0; k < g->preds_count[t]; k++)
            inputs[k] = outputs[g->preds[t][k]];
        remote_body(g, t, inputs, outputs[t]);
    }
    double took_ns = (double)(bench_now_ns() - begin_ns);
    for (uint32_t t = 0; t < g->tasks; t++)
        free(outputs[t]);
    free(outputs);
    return took_ns;
}

static void print_row(const bed *b, const remote_graph *g, double *alone, contender *clotho, contender *starpu)
{
    double ratios[TURNS_MAX];

    for (uint32_t i = 0; i < b->turns; i++)
        ratios[i] = starpu->run_ns[i] / clotho->run_ns[i];
    bench_stats ratio = bench_summarise(ratios, b->turns), one = bench_summarise(alone, b->turns);
    bench_stats c = bench_summarise(clotho->run_ns, b->turns), s = bench_summarise(starpu->run_ns, b->turns);
    bench_stats cc = bench_summarise(clotho->call_ns, b->turns), sc = bench_summarise(starpu->call_ns, b->turns);
    const char *format = b->json
                             ? "%s{\"work_ns\": %" PRId64 ", \"bytes\": %" PRIu64
                               ", \"tasks\": %u, \"one_rank_ns\": %.0f, \"clotho_ns\": %.0f, \"starpu_ns\": %.0f, "
                               "\"ratio\": %.3f, \"ratio_p10\": %.3f, \"ratio_p90\": %.3f, \"clotho_call_ns\": %.0f, "
                               "\"starpu_call_ns\": %.0f}"
                             : "%s%9" PRId64 " %9" PRIu64 " %6u %11.0f %11.0f %11.0f %7.2f (%.2f-%.2f) %11.0f %11.0f\n";
    static bool has_begun;

    printf(format, b->json && has_begun ? ", " : "", g->work_ns, g->bytes, g->tasks, one.median, c.median, s.median,
           ratio.median, ratio.p10, ratio.p90, cc.median, sc.median);
    has_begun = true;
}

static void compare(const bed *b, uint32_t tasks, int64_t work_ns, uint64_t bytes)
{
    static contender clotho, starpu;
    static double alone[TURNS_MAX];
    remote_graph g;
    planned p = {0};

    if (!remote_graph_open(&g, tasks, 8, work_ns, bytes) || make_plan(&p, &g, b->ranks) != CLO_OK) {
        fprintf(stderr, "bench-remote: %s\n", clo_last_error());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Bcast(&g.iterations, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD); /* both as rank 0 has measured */
    the_graph = &g;
    for (uint32_t i = 0; i < b->turns; i++) {
        if (i % 2 == 0)
            run_clotho(b, &g, &p, &clotho.run_ns[i], &clotho.call_ns[i]);
        run_starpu(b, &g, &starpu.run_ns[i], &starpu.call_ns[i]);
        if (i % 2 != 0)
            run_clotho(b, &g, &p, &clotho.run_ns[i], &clotho.call_ns[i]);
        if (b->rank == 0)
            alone[i] = alone_ns(&g);
        else
            forget(&g);
    }
    if (b->rank == 0)
        print_row(b, &g, alone, &clotho, &starpu);
    planned_close(&p);
    remote_graph_close(&g);
}

static void compare_all(const bed *b, bool quick)
{
    static const int64_t works_ns[] = {20000, 200000, 2000000};
    static const uint64_t bytes[] = {64, 262144};

    for (int w = 0; w < 3; w++)
        for (int s = 0; s < 2; s++)
            if (!quick || (w == 0 && s == 0))
                compare(b, quick ? 40 : 200, works_ns[w], bytes[s]);
}

int main(int argc, char **argv)
{
    static const bench_about about = {
        "remote", "what does a plan over several ranks cost beside StarPU-MPI? Start it with mpirun", NULL, 5, 1};
    bench_options options;
    bed b = {0};
    char temporary[TEMPORARY_MAX] = "";
    int level, code = bench_options_read(&options, &about, argc, argv);

    if (code >= 0)
        return code;
    if (MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level) != MPI_SUCCESS || level < MPI_THREAD_MULTIPLE ||
        clo_remote_open(&argc, &argv, &b.remote) != CLO_OK)
        return fprintf(stderr, "bench-remote: this MPI has no MPI_THREAD_MULTIPLE, which StarPU-MPI needs\n"), 1;
    if (getenv("STARPU_HOME") == NULL && temporary_make(temporary))
        setenv("STARPU_HOME", temporary, 1); /* where it keeps measurements of the machine */
    b.rank = (int)clo_remote_rank(b.remote);
    b.ranks = (int)clo_remote_ranks(b.remote);
    b.turns = options.rounds < TURNS_MAX ? options.rounds : TURNS_MAX;
    b.json = options.json;
    if (b.rank == 0)
        printf(b.json ? "{\"ranks\": %d, \"turns\": %u, \"engine\": \"%s\", \"rows\": ["
                      : "%d ranks, %u turns, %s; ns; ratio: StarPU-MPI / Clotho, of runs (p10-p90)\n  work_ns     "
                        "bytes  tasks"
                        "    one rank      Clotho  StarPU-MPI   ratio              call: Clotho  StarPU-MPI\n",
               b.ranks, b.turns, clo_remote_engine());
    compare_all(&b, options.quick);
    if (b.rank == 0 && b.json)
        printf("]}\n");
    if (temporary[0] != '\0')
        temporary_remove(temporary);
    clo_remote_close(b.remote);
    return MPI_Finalize() == MPI_SUCCESS ? 0 : 1;
}
