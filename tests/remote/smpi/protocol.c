/* protocol.c - what the ranks of a run say to each other, with as many ranks as smpirun starts:
 *
 *   protocol plans FIRST COUNT     random plans, by seed: all end, the messages are the plan's, in their order, and the
 *                                  outputs those of one machine; one line of JSON at the end
 *   protocol ports FIRST COUNT     the same, with plans that count ports: of what a link of SMPI's cluster moves
 *   protocol silent RANK           that rank goes silent in the middle of a run
 *   protocol tags MOST             of an MPI with so few tags
 *   protocol failing RANK          a body of that rank fails
 *   protocol different WHAT RANK   that rank has another graph, platform, times, plan or pieces
 *
 * All but the first two end by clo_remote_abort; each rank prints what it has to say. */
#include "virtual.h"

#include "base/numbers/rng.h"
#include "base/status.h"
#include "graph/graph.h"
#include <clotho/planner.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_BEGIN 0xcbf29ce484222325u /* FNV-1a, as clo_job_output_hash */
#define HASH_FACTOR 0x100000001b3u
#define TEXT_BYTES 16384
#define CLOCKS_EVERY 50 /* plans; clocks are compared in one of them: that is most of the messages */

/* Of all ranks; SMPI lets one run at a time. */
static struct {
    uint64_t plans, transfers, bytes, replicas, messages, wrong, late_ppm;
    double stretch; /* sum of measured over predicted */
} totals;

/* What one rank has other than the rest, or does. */
typedef struct changes {
    const char *graph, *platform, *times, *plan, *pieces;
    bool fails, is_long, has_ports;
} changes;

typedef struct scene {
    clo_cluster *cluster;
    clo_graph *graph;
    clo_cost *cost;
    clo_plan *plan;
} scene;

static void check(clo_status status, const char *what)
{
    if (status == CLO_OK)
        return;
    printf("rank failed: %s: %s\n", what, clo_last_error());
    fflush(stdout);
    _Exit(3);
}

/* ---- bodies ---- */

static uint64_t mix_bytes(uint64_t hash, const unsigned char *bytes, size_t count)
{
    size_t at = 0;

    for (; at + 8 <= count; at += 8) {
        uint64_t word;
        memcpy(&word, bytes + at, 8);
        hash = (hash ^ word) * HASH_FACTOR;
    }
    for (; at < count; at++)
        hash = (hash ^ bytes[at]) * HASH_FACTOR;
    return clo_mix64(hash);
}

static int body(const clo_call *call)
{
    virtual_rank *rank = virtual_self();
    uint64_t hash = clo_mix64((uint64_t)call->task << 32 | call->instance);
    unsigned char *output = call->output;

    for (uint32_t i = 0; i < call->inputs_count; i++)
        hash = mix_bytes(hash ^ i, call->inputs[i], call->inputs_bytes[i]);
    for (size_t b = 0; b < call->output_bytes; b++)
        output[b] = (unsigned char)(hash >> b % 57);
    if (rank->shown_ns != 0)
        rank->shown_ns = rank->ends_ns;
    return 0;
}

static int body_that_fails(const clo_call *call)
{
    return body(call) + 7;
}

/* The hash of the outputs of one machine, task by task. */
static uint64_t hash_alone(const clo_graph *graph)
{
    unsigned char **outputs = calloc(graph->instances, sizeof *outputs);
    const void **inputs = calloc(graph->instances, sizeof *inputs);
    size_t *bytes = calloc(graph->instances, sizeof *bytes);
    uint64_t hash = HASH_BEGIN;

    for (uint32_t i = 0; i < graph->instances; i++) { /* edges go from lower to higher */
        uint32_t task = graph->task_of[i];
        clo_call call = {.task = task,
                         .instance = i - graph->first_instance[task],
                         .inputs = inputs,
                         .inputs_bytes = bytes,
                         .output_bytes = clo_graph_output(graph, task)};
        for (uint32_t k = graph->in_first[task]; k < graph->in_first[task + 1] && graph->has_outputs; k++) {
            uint32_t from = clo_graph_source(graph, k);
            for (uint32_t p = graph->first_instance[from]; p < graph->first_instance[from + 1]; p++) {
                bytes[call.inputs_count] = clo_graph_output(graph, from);
                inputs[call.inputs_count++] = outputs[p];
            }
        }
        call.output = outputs[i] = call.output_bytes > 0 ? calloc(call.output_bytes, 1) : NULL;
        (void)body(&call);
        for (size_t b = 0; b < call.output_bytes; b++)
            hash = (hash ^ outputs[i][b]) * HASH_FACTOR;
    }
    for (uint32_t i = 0; i < graph->instances; i++)
        free(outputs[i]);
    free(outputs);
    free(inputs);
    free(bytes);
    return hash;
}

/* ---- scenes ---- */

static clo_cluster *cluster_new(clo_rng *rng, uint32_t machines, const changes *own)
{
    static char text[TEXT_BYTES];
    clo_cluster *cluster = NULL;
    int used = snprintf(text, sizeof text, "{\"format\": \"clotho.cluster/1\", \"machines\": [");

    for (uint32_t m = 0; m < machines; m++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s{\"name\": \"m%u\", \"platform\": \"uniform:%u\"}",
                         m > 0 ? ", " : "", m, 1 + clo_rng_below(rng, 2));
    snprintf(text + used, sizeof text - (size_t)used,
             "], %s\"link\": {\"latency_ns\": %u, \"bandwidth_bytes_per_ns\": 0.125}}",
             own->has_ports ? "\"port_bytes_per_ns\": 0.125, " : "", own->platform != NULL ? 40001 : 40000);
    check(clo_cluster_parse("drawn", text, strlen(text), &cluster), "cluster");
    return cluster;
}

/* None, short ones, and some above the limits of SMPI (rendezvous) and of exchange.c (flows). */
static uint64_t draw_bytes(clo_rng *rng)
{
    switch (clo_rng_below(rng, 4)) {
    case 0:
        return 0;
    case 1:
        return 1 + clo_rng_below(rng, 64);
    case 2:
        return clo_rng_below(rng, 20000);
    default:
        return clo_rng_below(rng, 120000);
    }
}

static clo_graph *graph_new(clo_rng *rng, const changes *own)
{
    clo_graph *graph = NULL;
    uint32_t tasks = 40 + clo_rng_below(rng, 160), width = 2 + clo_rng_below(rng, 60);

    check(clo_graph_create("drawn", &graph), "graph");
    for (uint32_t t = 0; t < tasks; t++) {
        clo_task task = {.body = own->fails ? body_that_fails : body,
                         .work_ns = 20000 + clo_rng_below(rng, 480000),
                         .output_bytes = draw_bytes(rng),
                         .instances = clo_rng_below(rng, 10) == 0 ? 1 + clo_rng_below(rng, 3) : 1,
                         .duplicable = clo_rng_below(rng, 3) > 0};
        if (own->is_long)
            task.work_ns *= 100;
        if (own->times != NULL && t == tasks - 1)
            task.work_ns++;
        if (own->graph != NULL && t == tasks - 1)
            task.output_bytes++;
        check(clo_graph_add_task(graph, &task, NULL), "task");
    }
    for (uint32_t t = 1; t < tasks; t++) {
        uint32_t edges = clo_rng_below(rng, 4), reach = t < 2 * width ? t : 2 * width, last = CLO_NONE;
        for (uint32_t k = 0; k < edges; k++) {
            uint32_t from = t - 1 - clo_rng_below(rng, reach);
            uint64_t bytes = clo_graph_output(graph, from);
            if (from < last) /* each but once */
                check(clo_graph_add_edge(graph, last = from, t, bytes), "edge");
        }
    }
    check(clo_graph_seal(graph), "seal");
    return graph;
}

static void scene_open(scene *s, uint64_t seed, uint32_t machines, const changes *own)
{
    static const char *const planners[] = {"heft", "deft", "etf", "dfrn"};
    clo_rng rng = clo_rng_seed(seed);
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;

    config.planner = clo_planner_find(planners[(seed + (own->plan != NULL)) % 4]);
    s->cluster = cluster_new(&rng, machines, own);
    s->graph = graph_new(&rng, own);
    check(clo_cost_create(s->graph, clo_cluster_platform(s->cluster), &s->cost), "cost");
    check(clo_plan_create(s->cost, &config, &s->plan), "plan");
}

static void scene_close(scene *s)
{
    clo_plan_destroy(s->plan);
    clo_cost_destroy(s->cost);
    clo_graph_destroy(s->graph);
    clo_cluster_destroy(s->cluster);
}

static clo_remote_config draw_config(uint64_t seed, const changes *own)
{
    static const uint32_t posted[] = {0, 1, 3, 1000}, slots[] = {0, 1, 2, 16};
    clo_rng rng = clo_rng_seed(seed ^ 0xc0ffee);
    clo_remote_config config = CLO_REMOTE_CONFIG_INIT;

    config.posted_max = posted[clo_rng_below(&rng, 4)];
    config.slots_max = slots[clo_rng_below(&rng, 4)];
    config.flows_max = clo_rng_below(&rng, 4);
    config.piece_bytes = clo_rng_below(&rng, 3) == 0 ? 5000 + clo_rng_below(&rng, 40000) : 0;
    if (own->pieces != NULL)
        config.piece_bytes += 4096;
    return config;
}

/* ---- plans ---- */

static void expect(virtual_rank *me, uint64_t seed, const char *what, uint64_t got, uint64_t wanted)
{
    if (got == wanted)
        return;
    printf("seed %llu, rank %d: %s is %llu, not %llu\n", (unsigned long long)seed, me->remote->rank, what,
           (unsigned long long)got, (unsigned long long)wanted);
    totals.wrong++;
}

static void run_plan(virtual_rank *me, uint64_t seed, bool has_ports)
{
    const changes none = {.has_ports = has_ports};
    clo_remote_config config = draw_config(seed, &none);
    clo_remote_result result = CLO_REMOTE_RESULT_INIT;
    scene s;
    size_t placements;

    scene_open(&s, seed, clo_remote_ranks(me->remote), &none);
    (void)clo_plan_placements(s.plan, &placements);
    me->compares_clocks = seed % CLOCKS_EVERY == 0;
    me->messages = 0;
    virtual_sleep(
        (int64_t)(clo_mix64(seed * 64 + clo_remote_rank(me->remote)) % 200000)); /* nobody begins with the others */
    check(clo_remote_run(me->remote, s.cluster, s.cost, s.plan, &config, &result, NULL), "run");
    totals.messages += me->messages;
    if (me->wrong > 0)
        printf("seed %llu, rank %d: %s\n", (unsigned long long)seed, me->remote->rank, me->what);
    totals.wrong += me->wrong;
    me->wrong = 0;
    expect(me, seed, "executed", result.executed, placements);
    expect(me, seed, "sent", result.sent, result.transfers);
    expect(me, seed, "bytes sent", result.sent_bytes, result.transferred_bytes);
    expect(me, seed, "effects before causes", result.effects_before_causes, 0);
    if (clo_remote_rank(me->remote) == 0) {
        expect(me, seed, "output hash", result.output_hash, hash_alone(s.graph));
        totals.plans++;
        totals.transfers += result.transfers;
        totals.bytes += result.transferred_bytes;
        totals.replicas += placements - clo_graph_instances(s.graph);
        totals.stretch += (double)result.makespan_ns / (double)result.predicted_ns;
    }
    scene_close(&s);
}

static int plans(virtual_rank *me, uint64_t first, uint64_t count, bool has_ports)
{
    for (uint64_t seed = first; seed < first + count; seed++)
        run_plan(me, seed, has_ports);
    check(clo_remote_barrier(me->remote, 0), "barrier"); /* all have counted */
    bool is_first = clo_remote_rank(me->remote) == 0;
    uint32_t ranks = clo_remote_ranks(me->remote);
    clo_remote_close(me->remote);
    if (!is_first)
        return 0;
    printf("{\"engine\": \"%s\", \"ranks\": %u, \"plans\": %llu, \"transfers\": %llu, \"messages\": %llu, \"bytes\": "
           "%llu, "
           "\"replicas\": %llu, \"wrong\": %llu, \"stretch\": %.4f}\n",
           clo_remote_engine(), ranks, (unsigned long long)totals.plans, (unsigned long long)totals.transfers,
           (unsigned long long)totals.messages, (unsigned long long)totals.bytes, (unsigned long long)totals.replicas,
           (unsigned long long)totals.wrong, totals.plans > 0 ? totals.stretch / (double)totals.plans : 0);
    return totals.wrong > 0;
}

/* ---- runs that must fail ---- */

static int failure(virtual_rank *me, const changes *own)
{
    clo_remote_config config = draw_config(1, own);
    clo_remote_result result = CLO_REMOTE_RESULT_INIT;
    scene s;

    scene_open(&s, 1, clo_remote_ranks(me->remote), own);
    int64_t begin_ns = virtual_clock_ns();
    clo_status status = clo_remote_run(me->remote, s.cluster, s.cost, s.plan, &config, &result, NULL);
    printf("%.3f s: %s\n", (double)(virtual_clock_ns() - begin_ns) * 1e-9,
           status == CLO_OK ? "good" : clo_last_error());
    fflush(stdout);
    me->job = NULL;
    virtual_sleep(500000000); /* so that the others can say what they see, too */
    clo_remote_abort(me->remote, 1);
    return 1;
}

static int choose(virtual_rank *me, int argc, char **argv)
{
    changes own = {0};
    bool is_it = argc > 2 && clo_remote_rank(me->remote) == (uint32_t)strtoul(argv[argc - 1], NULL, 10);

    bool has_ports = argc == 4 && strcmp(argv[1], "ports") == 0;

    if (has_ports || (argc == 4 && strcmp(argv[1], "plans") == 0))
        return plans(me, strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10), has_ports);
    own.is_long = true;
    if (argc == 3 && strcmp(argv[1], "silent") == 0)
        me->stops_after_ns = is_it ? 1000000 : 0;
    else if (argc == 3 && strcmp(argv[1], "tags") == 0)
        me->tags_max = (int)strtol(argv[2], NULL, 10);
    else if (argc == 3 && strcmp(argv[1], "failing") == 0)
        own.fails = is_it;
    else if (argc == 4 && strcmp(argv[1], "different") == 0) {
        const char **const fields[] = {&own.graph, &own.platform, &own.times, &own.plan, &own.pieces};
        static const char *const names[] = {"graph", "platform", "times", "plan", "pieces"};
        for (int i = 0; i < 5 && is_it; i++)
            if (strcmp(argv[2], names[i]) == 0)
                *fields[i] = names[i];
    } else
        return 2;
    return failure(me, &own);
}

int main(int argc, char **argv)
{
    virtual_rank me = {0};

    virtual_begin(&me);
    check(clo_remote_open(&argc, &argv, &me.remote), "open");
    return choose(&me, argc, argv);
}
