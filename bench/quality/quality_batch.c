/* quality_batch.c - Graphene's comparison on production jobs: those of the Alibaba trace, with two more resources.
 *
 * The paper's own trace is not public and has four resources or more. Here a job has a machine of an eighth of the
 * trace's for itself (12 cores, 12.5 % of the memory), so that its demands are felt; or 40 jobs, all there at time 0,
 * share a whole one. Of two further resources each task's instances hold U(0, 0.25). */
#include "quality/quality_parts.h"

#include <stdio.h>
#include <string.h>

enum { CAPACITY = 100000, CORES = 96, EXECUTORS = 96, RESOURCES = 4, WORKLOADS_MAX = 200 };

/* One table, and the workload that is being put together. */
typedef struct batch {
    uint32_t jobs;      /* in a workload                                     */
    uint32_t instances; /* of a job at most: the largest are left to other tables */
    uint32_t step;      /* every step-th job of the file is taken            */
    uint32_t share;     /* of the trace's machine: one part of so many       */
    comparison *comparison;
    clo_platform *machine;
    int64_t capacities[RESOURCES];
    uint64_t random;
    clo_graph *graph; /* NULL: none begun */
    uint32_t count;   /* jobs in it       */
    uint32_t workloads;
} batch;

static bool copy_tasks(const clo_graph *from, batch *b)
{
    clo_task task;

    for (uint32_t i = 0; i < clo_graph_tasks(from); i++) {
        if (clo_graph_task(from, i, &task) != CLO_OK)
            return false;
        for (int r = 0; r < RESOURCES; r++) {
            if (r >= 2)
                task.demand[r] = 1 + bench_random_below(&b->random, CAPACITY / 4);
            if (task.demand[r] > b->capacities[r])
                task.demand[r] = b->capacities[r];
        }
        if (clo_graph_add_task(b->graph, &task, NULL) != CLO_OK)
            return false;
    }
    return true;
}

/* first: the id of the job's first task. */
static bool copy_edges(const clo_graph *from, clo_graph *to, uint32_t first)
{
    clo_edge edge;

    for (uint32_t i = 0; i < clo_graph_edges(from); i++)
        if (clo_graph_edge(from, i, &edge) != CLO_OK ||
            clo_graph_add_edge(to, first + edge.from, first + edge.to, edge.bytes) != CLO_OK)
            return false;
    return true;
}

static bool make_machine(batch *b)
{
    clo_executor executors[EXECUTORS];
    int64_t capacities[CLO_RESOURCES_MAX] = {
        CORES * 1000 / b->share, CAPACITY / b->share, CAPACITY, CAPACITY, -1, -1, -1, -1};

    for (int e = 0; e < EXECUTORS; e++)
        executors[e] =
            (clo_executor){.os_index = -1, .speed_q16 = {CLO_SPEED_ONE, CLO_SPEED_ONE, CLO_SPEED_ONE, CLO_SPEED_ONE}};
    const clo_platform_desc desc = {.size = sizeof desc,
                                    .executors_count = EXECUTORS,
                                    .executors = executors,
                                    .kinds_count = 1,
                                    .machines_count = 1,
                                    .capacities = capacities};
    memcpy(b->capacities, capacities, sizeof b->capacities);
    if (clo_platform_create(&desc, &b->machine) == CLO_OK)
        return true;
    bench_fail("cannot make a machine");
    return false;
}

/* Plans the workload that was put together, and forgets it. */
static bool finish_workload(batch *b)
{
    clo_cost *cost = NULL;
    bool is_good = clo_graph_seal(b->graph) == CLO_OK && clo_cost_create(b->graph, b->machine, &cost) == CLO_OK;

    if (!is_good)
        bench_fail(clo_graph_name(b->graph));
    else
        is_good = comparison_add(b->comparison, clo_graph_name(b->graph), cost, 0);
    clo_cost_destroy(cost);
    clo_graph_destroy(b->graph);
    b->graph = NULL;
    b->count = 0;
    b->workloads++;
    return is_good;
}

static bool add_job(batch *b, const clo_graph *job)
{
    if (b->graph == NULL && clo_graph_create(clo_graph_name(job), &b->graph) != CLO_OK) {
        bench_fail(clo_graph_name(job));
        return false;
    }
    uint32_t first = clo_graph_tasks(b->graph);
    if (!copy_tasks(job, b) || !copy_edges(job, b->graph, first)) {
        bench_fail(clo_graph_name(job));
        return false;
    }
    return ++b->count < b->jobs || finish_workload(b);
}

/* Jobs of one task have nothing to plan. */
static bool is_fit(const batch *b, const clo_graph *job)
{
    return clo_graph_tasks(job) > 1 && clo_graph_instances(job) <= b->instances;
}

/* What is left of the file when no whole workload can be filled any more is not planned. */
static bool add_jobs(batch *b, clo_documents *documents, uint32_t workloads_max)
{
    size_t count = clo_documents_count(documents);
    bool is_good = true;
    clo_document *d;

    for (size_t at = 0; at < count && is_good && b->workloads < workloads_max; at++) {
        if (clo_documents_next(documents, &d) != CLO_OK) /* beyond the limits of a graph; told by the set "alibaba" */
            continue;
        if (at % b->step == 0 && is_fit(b, clo_document_graph(d)))
            is_good = add_job(b, clo_document_graph(d));
        clo_document_destroy(d);
    }
    return is_good;
}

static bool run(const quality *q, batch *b, clo_documents *documents)
{
    uint32_t workloads = q->options.quick ? 2 : q->instances_max > 0 ? q->instances_max : WORKLOADS_MAX;

    b->random = q->options.seed;
    bool is_good = make_machine(b) && add_jobs(b, documents, workloads);
    clo_graph_destroy(b->graph);
    clo_platform_destroy(b->machine);
    return is_good;
}

bool quality_batch(quality *q, candidates *chosen, const char *name, bool is_merged)
{
    batch b = {.jobs = is_merged ? 40 : 1,
               .instances = is_merged ? 100 : 2000,
               .step = is_merged ? 1 : 10,
               .share = is_merged ? 1 : 8,
               .comparison = quality_comparison(q, name, STYLE_PAPER, chosen, "graphene")};
    char path[4096];
    clo_documents *documents = NULL;

    if (b.comparison == NULL)
        return false;
    snprintf(path, sizeof path, "%s/alibaba/v2018_dag_sample6600.jsonl", q->data);
    if (clo_documents_open(path, NULL, &documents) != CLO_OK) {
        quality_skip(q, name, "alibaba/v2018_dag_sample6600.jsonl cannot be read (--data DIR)");
        return true;
    }
    bool is_good = run(q, &b, documents);
    clo_documents_close(documents);
    if (is_good)
        quality_done(q, b.comparison);
    return is_good;
}
