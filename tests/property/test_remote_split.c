/* 1000 random plans over up to 64 machines, cut into their parts: each output travels to a machine at most once, what
 * one machine sends another one receives, and, with few slots and executors that keep their order, all parts together
 * come to their end. The messages are those of the plan; MPI is not asked (tests/remote does). */
#include "random.h"
#include "sample.h"
#include "support.h"

#include "base/numbers/rng.h"
#include "planner_named.h"
#include "remote/split/local.h"

#include <clotho/branch.h>
#include <clotho/cluster.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = SANITIZED ? 100 : 1000 };
enum { MACHINES_MAX = 64, TEXT_BYTES = 8192 };

static clo_cluster *cluster_new(clo_rng *rng)
{
    char text[TEXT_BYTES];
    uint32_t machines = 1 + clo_rng_below(rng, MACHINES_MAX);
    clo_cluster *cluster = NULL;
    int used = snprintf(text, sizeof text, "{\"format\": \"clotho.cluster/1\", \"machines\": [");

    for (uint32_t m = 0; m < machines; m++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s{\"name\": \"m%u\", \"platform\": \"uniform:%u\"}",
                         m > 0 ? ", " : "", m, 1 + clo_rng_below(rng, 3));
    snprintf(text + used, sizeof text - (size_t)used,
             "], \"link\": {\"latency_ns\": %u, \"bandwidth_bytes_per_ns\": %s}}", clo_rng_below(rng, 3) * 500,
             clo_rng_below(rng, 3) == 0 ? "null" : "0.5");
    ok(clo_cluster_parse("drawn", text, strlen(text), &cluster));
    return cluster;
}

/* What a part has done. */
typedef struct part {
    clo_local *local;
    bool *is_done;    /* [tasks + receives] */
    uint32_t *next;   /* [executors] place in its list */
    uint32_t **list;  /* [executors][count] local tasks in order */
    uint32_t *counts; /* [executors] */
    uint32_t done, all;
} part;

static void part_open(part *p, const clo_split *split, uint32_t machine, clo_eventcount *eventcount)
{
    size_t count;

    ok(clo_local_open(split, machine, 1 + machine % 4, eventcount, &p->local));
    uint32_t executors = clo_platform_executors(p->local->platform);
    const clo_placement *placements = clo_plan_placements(p->local->plan, &count);
    p->all = p->local->tasks_count + p->local->receives_count;
    p->is_done = calloc(p->all + 1, sizeof *p->is_done);
    p->next = calloc(executors, sizeof *p->next);
    p->counts = calloc(executors, sizeof *p->counts);
    p->list = calloc(executors, sizeof *p->list);
    assert_true(p->is_done != NULL && p->next != NULL && p->counts != NULL && p->list != NULL);
    for (uint32_t e = 0; e < executors; e++) {
        p->list[e] = calloc(count + 1, sizeof **p->list);
        assert_non_null(p->list[e]);
    }
    for (size_t i = 0; i < count && p->all > 0; i++)
        p->list[placements[i].executor][p->counts[placements[i].executor]++] = placements[i].task;
    p->done = 0;
}

static void part_close(part *p)
{
    for (uint32_t e = 0; e < clo_platform_executors(p->local->platform); e++)
        free(p->list[e]);
    free(p->list);
    free(p->counts);
    free(p->next);
    free(p->is_done);
    clo_local_close(p->local);
}

static bool is_ready(const part *p, const part *parts, uint32_t task)
{
    const clo_local *local = p->local;

    if (task >= local->tasks_count) { /* a receive: its source has run where the plan says */
        const clo_transfer *t = &local->split->transfers[local->receives[task - local->tasks_count].transfer];
        const part *from = &parts[t->from];
        return from->is_done[from->local->task_of[t->source]];
    }
    size_t end = task + 1 < local->tasks_count ? local->tasks[task + 1].first_input : local->inputs_count;
    for (size_t i = local->tasks[task].first_input; i < end; i++) {
        uint32_t source = local->input_source[i];
        if (!p->is_done[source != CLO_NONE ? source : local->tasks_count + local->input_receive[i]])
            return false;
    }
    return true;
}

/* Each executor goes on as far as its list lets it. Returns whether anything has run. */
static bool advance(part *p, const part *parts)
{
    bool has_moved = false;

    for (uint32_t e = 0; e < clo_platform_executors(p->local->platform); e++)
        while (p->next[e] < p->counts[e] && is_ready(p, parts, p->list[e][p->next[e]])) {
            p->is_done[p->list[e][p->next[e]++]] = true;
            p->done++;
            has_moved = true;
        }
    return has_moved;
}

static void check_counts(const clo_split *split, const part *parts, uint32_t machines)
{
    uint64_t sends = 0, receives = 0, tasks = 0;

    for (uint32_t m = 0; m < machines; m++) {
        sends += parts[m].local->sends_count;
        receives += parts[m].local->receives_count;
        tasks += parts[m].local->tasks_count;
    }
    assert_int_equal(tasks, split->placements_count);
    assert_int_equal(sends, split->transfers_count);
    assert_int_equal(receives, split->transfers_count);
    for (uint32_t t = 0; t < split->transfers_count; t++) {
        const clo_transfer *at = &split->transfers[t];
        assert_true(at->from != at->to && clo_split_machine(split, at->source) == at->from);
        assert_int_equal(clo_split_transfer(split, at->instance, at->to), t); /* once */
    }
}

static uint32_t check_plan(const clo_cluster *cluster, const clo_cost *cost, const clo_plan *plan)
{
    static part parts[MACHINES_MAX];
    clo_split split;
    clo_eventcount eventcount = {0};
    bool has_moved = true;
    uint32_t machines = clo_cluster_machines(cluster);

    ok(clo_split_open(cluster, cost, plan, &split));
    for (uint32_t m = 0; m < machines; m++)
        part_open(&parts[m], &split, m, &eventcount);
    check_counts(&split, parts, machines);
    while (has_moved) { /* ends: every round runs something */
        has_moved = false;
        for (uint32_t m = machines; m-- > 0;)
            has_moved |= advance(&parts[m], parts);
    }
    for (uint32_t m = 0; m < machines; m++) {
        assert_int_equal(parts[m].done, parts[m].all);
        part_close(&parts[m]);
    }
    uint32_t transfers = split.transfers_count;
    clo_split_close(&split);
    return transfers;
}

static void every_part_comes_to_its_end(void **state)
{
    static const char *const planners[] = {"heft", "deft", "etf", "dfrn"};
    uint64_t transfers = 0, plans = 0, replicas = 0;

    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        clo_rng rng = sample_rng(seed);
        clo_cluster *cluster = cluster_new(&rng);
        clo_graph *graph = random_graph(seed, clo_rng_below(&rng, 512) & ~(unsigned)RANDOM_DEMANDS);
        clo_plan_config config = CLO_PLAN_CONFIG_INIT;
        clo_cost *cost = NULL;
        clo_plan *plan = NULL;
        config.planner = planner_named(planners[seed % 4]);
        if (clo_cost_create(graph, clo_cluster_platform(cluster), &cost) == CLO_OK &&
            clo_plan_create(cost, &config, &plan) == CLO_OK) {
            size_t count;
            (void)clo_plan_placements(plan, &count);
            ok(clo_plan_check(plan, cost, CLO_CHECK_FULL));
            transfers += check_plan(cluster, cost, plan);
            replicas += count - clo_graph_instances(graph);
            plans++;
        }
        clo_plan_destroy(plan);
        clo_cost_destroy(cost);
        clo_graph_destroy(graph);
        clo_cluster_destroy(cluster);
    }
    print_message("%llu plans, %llu transfers, %llu replicas\n", (unsigned long long)plans,
                  (unsigned long long)transfers, (unsigned long long)replicas);
    assert_true(plans > SEEDS / 2 && transfers > SEEDS && replicas > 0);
}

/* Which parts of a plan are skipped is not told between machines. */
static void check_is_refused(const clo_cluster *cluster, const clo_graph *graph)
{
    clo_cost *cost;
    clo_plan *plan;
    clo_split split;

    ok(clo_cost_create(graph, clo_cluster_platform(cluster), &cost));
    ok(clo_plan_create(cost, NULL, &plan));
    assert_int_equal(clo_split_open(cluster, cost, plan, &split), CLO_ERR_UNSUPPORTED);
    assert_string_equal(clo_last_error(), "graph \"g\" has branches or merges, and a run on several machines does not "
                                          "know them; use a graph without");
    clo_plan_destroy(plan);
    clo_cost_destroy(cost);
}

static void branches_and_loops_are_refused_by_one_line(void **state)
{
    const clo_task task = {.name = "t", .work_ns = 1000};
    clo_loop loop = CLO_LOOP_INIT;
    clo_rng rng = clo_rng_seed(1);
    clo_cluster *cluster = cluster_new(&rng);
    clo_graph *body, *graphs[3];

    (void)state;
    ok(clo_graph_create("body", &body));
    ok(clo_graph_add_task(body, &task, NULL));
    ok(clo_graph_seal(body));
    loop.body = body;
    loop.bound = 3;
    for (int g = 0; g < 3; g++) {
        ok(clo_graph_create("g", &graphs[g]));
        ok(clo_graph_add_task(graphs[g], &task, NULL));
    }
    ok(clo_graph_set_branch(graphs[0], 0, 2, NULL));
    ok(clo_graph_set_merge(graphs[1], 0));
    ok(clo_graph_add_loop(graphs[2], &loop, NULL, NULL));
    for (int g = 0; g < 3; g++) {
        ok(clo_graph_seal(graphs[g]));
        check_is_refused(cluster, graphs[g]);
        clo_graph_destroy(graphs[g]);
    }
    clo_graph_destroy(body);
    clo_cluster_destroy(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_part_comes_to_its_end),
                                       cmocka_unit_test(branches_and_loops_are_refused_by_one_line)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
