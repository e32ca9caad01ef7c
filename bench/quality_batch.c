/* quality_batch.c - Graphene's comparison on production jobs: those of the Alibaba trace, with two more resources.
 *
 * The paper's own trace is not public and has four resources or more. Here a job has a machine of an eighth of the
 * trace's for itself (12 cores, 12.5 % of the memory), so that its demands are felt; of two further resources each
 * task's instances hold U(0, 0.25). */
#include "quality.h"

#include <stdio.h>
#include <string.h>

enum {
    CAPACITY = 100000,
    CORES = 12,
    EXECUTORS = 96,
    RESOURCES = 4,
    TASKS_MAX = 2000,
    JOBS_READ = 300,
    QUICK_READ = 20
};

static const int64_t capacities[CLO_RESOURCES_MAX] = {CORES * 1000, CAPACITY / 8, CAPACITY, CAPACITY, -1, -1, -1, -1};

static bool copy_tasks(const clo_graph *from, clo_graph *to, uint64_t *state)
{
    clo_task task;

    for (uint32_t i = 0; i < clo_graph_tasks(from); i++) {
        if (clo_graph_task(from, i, &task) != CLO_OK)
            return false;
        for (int r = 0; r < RESOURCES; r++) {
            if (r >= 2)
                task.demand[r] = 1 + bench_random_below(state, CAPACITY / 4);
            if (task.demand[r] > capacities[r])
                task.demand[r] = capacities[r];
        }
        if (clo_graph_add_task(to, &task, NULL) != CLO_OK)
            return false;
    }
    return true;
}

static bool copy_edges(const clo_graph *from, clo_graph *to)
{
    clo_edge edge;

    for (uint32_t i = 0; i < clo_graph_edges(from); i++)
        if (clo_graph_edge(from, i, &edge) != CLO_OK ||
            clo_graph_add_edge(to, edge.from, edge.to, edge.bytes) != CLO_OK)
            return false;
    return true;
}

static clo_platform *make_machine(void)
{
    clo_executor executors[EXECUTORS];
    clo_platform *platform = NULL;

    for (int e = 0; e < EXECUTORS; e++)
        executors[e] =
            (clo_executor){.os_index = -1, .speed_q16 = {CLO_SPEED_ONE, CLO_SPEED_ONE, CLO_SPEED_ONE, CLO_SPEED_ONE}};
    const clo_platform_desc desc = {.size = sizeof desc,
                                    .executors_count = EXECUTORS,
                                    .executors = executors,
                                    .kinds_count = 1,
                                    .machines_count = 1,
                                    .capacities = capacities};
    if (clo_platform_create(&desc, &platform) != CLO_OK)
        bench_fail("cannot make a machine");
    return platform;
}

static bool add_job(contest *c, const clo_graph *job, const clo_platform *machine, uint64_t *state)
{
    clo_graph *graph = NULL;
    clo_cost *cost = NULL;
    bool is_good = clo_graph_create(clo_graph_name(job), &graph) == CLO_OK && copy_tasks(job, graph, state) &&
                   copy_edges(job, graph) && clo_graph_seal(graph) == CLO_OK &&
                   clo_cost_create(graph, machine, &cost) == CLO_OK;

    if (!is_good)
        bench_fail(clo_graph_name(job));
    else
        is_good = contest_add(c, clo_graph_name(job), cost, 0);
    clo_cost_destroy(cost);
    clo_graph_destroy(graph);
    return is_good;
}

/* Jobs of one task have nothing to plan, and the largest are left to other tables. */
static bool is_fit(const clo_graph *job)
{
    return clo_graph_tasks(job) > 1 && clo_graph_instances(job) <= TASKS_MAX;
}

static bool add_jobs(const quality *q, contest *c, clo_documents *documents, const clo_platform *machine)
{
    size_t count = clo_documents_count(documents), limit = q->options.quick ? QUICK_READ : JOBS_READ;
    size_t step = count > limit ? count / limit : 1;
    uint64_t state = q->options.seed;
    bool is_good = true;
    clo_document d;

    for (size_t at = 0; at < count && is_good; at++) {
        if (clo_documents_next(documents, &d) != CLO_OK) /* beyond the limits of a graph; told by the set "alibaba" */
            continue;
        if (at % step == 0 && is_fit(d.graph))
            is_good = add_job(c, d.graph, machine, &state);
        clo_document_destroy(&d);
    }
    return is_good;
}

bool quality_batch(quality *q, field *f, const char *name)
{
    char path[4096];
    clo_documents *documents = NULL;
    contest *c = quality_contest(q, name, STYLE_PAPER, f, "graphene");

    if (c == NULL)
        return false;
    snprintf(path, sizeof path, "%s/alibaba/v2018_dag_sample6600.jsonl", q->data);
    if (clo_documents_open(path, NULL, &documents) != CLO_OK) {
        quality_skip(q, name, "alibaba/v2018_dag_sample6600.jsonl cannot be read (--data DIR)");
        return true;
    }
    clo_platform *machine = make_machine();
    bool is_good = machine != NULL && add_jobs(q, c, documents, machine);
    clo_platform_destroy(machine);
    clo_documents_close(documents);
    if (is_good)
        quality_done(q, c);
    return is_good;
}
