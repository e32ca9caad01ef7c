/* shapes.c - see shapes.h. Jobs of one cost share what is read here: 10 000 jobs may come from a hundred graphs. */
#include "trace/judge/shapes.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"

#include <clotho/branch.h>
#include <clotho/handle.h>

#include <stdlib.h>
#include <string.h>

/* The platform's resource for each of the graph's: the one of the same name; else, where one side has no name, the one
 * of the same index if no name took it; else CLO_NONE: not limited. */
static void match_resources(const clo_graph *graph, const clo_platform *platform, uint32_t *of)
{
    uint32_t taken = 0;

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        const char *wanted = clo_graph_resource_name(graph, r);
        of[r] = CLO_NONE;
        for (uint32_t k = 0; wanted != NULL && of[r] == CLO_NONE && k < CLO_RESOURCES_MAX; k++) {
            const char *offered = clo_platform_resource_name(platform, k);
            if (offered != NULL && strcmp(offered, wanted) == 0 && (taken >> k & 1) == 0) {
                of[r] = k;
                taken |= 1u << k;
            }
        }
    }
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        const char *offered = clo_platform_resource_name(platform, r);
        bool is_unnamed = clo_graph_resource_name(graph, r) == NULL || offered == NULL;
        bool is_by_name = offered != NULL && strncmp(offered, CLO_MEMORY_RESOURCE, strlen(CLO_MEMORY_RESOURCE)) == 0;
        if (of[r] == CLO_NONE && is_unnamed && !is_by_name && (taken >> r & 1) == 0)
            of[r] = r;
    }
}

static clo_status read_tasks(clo_judge_shape *shape, const clo_platform *platform)
{
    uint32_t of[CLO_RESOURCES_MAX];
    bool has_demands = false;
    clo_task task;

    match_resources(shape->graph, platform, of);
    for (uint32_t t = 0; t < shape->stages; t++) {
        if (clo_graph_task(shape->graph, t, &task) != CLO_OK)
            return CLO_ERR_ARGUMENT;
        shape->first_instance[t + 1] = shape->first_instance[t] + clo_graph_ranges(shape->graph, t);
        shape->duplicable[t] = task.duplicable;
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
            if (task.demand[r] > 0 && of[r] != CLO_NONE) {
                shape->demand[(size_t)t * CLO_RESOURCES_MAX + of[r]] = task.demand[r];
                has_demands = true;
            }
    }
    shape->instances = shape->first_instance[shape->stages];
    if (!has_demands) {
        clo_free(shape->demand);
        shape->demand = NULL;
    }
    return CLO_OK;
}

static uint32_t instances_of(const clo_judge_shape *shape, uint32_t stage)
{
    return shape->first_instance[stage + 1] - shape->first_instance[stage];
}

/* Counting sort of the edges by producer. */
static clo_status read_edges(clo_judge_shape *shape)
{
    clo_edge edge;

    for (uint32_t e = 0; e < shape->edges; e++) {
        if (clo_graph_edge(shape->graph, e, &edge) != CLO_OK)
            return CLO_ERR_ARGUMENT;
        shape->edges_first[edge.from + 1]++;
    }
    for (uint32_t t = 0; t < shape->stages; t++)
        shape->edges_first[t + 1] += shape->edges_first[t];
    for (uint32_t e = shape->edges; e-- > 0;) {
        if (clo_graph_edge(shape->graph, e, &edge) != CLO_OK)
            return CLO_ERR_ARGUMENT;
        uint64_t pairs = (uint64_t)instances_of(shape, edge.from) * instances_of(shape, edge.to);
        uint64_t pair_bytes = edge.bytes / pairs + (edge.bytes % pairs != 0);
        shape->edge_rows[--shape->edges_first[edge.from + 1]] =
            (clo_judge_edge){edge.from, edge.to, pair_bytes, clo_graph_edge_arm(shape->graph, e),
                             e >= clo_graph_edges_added(shape->graph)};
    }
    /* Each entry was moved down to the beginning of its row, which is one place too far right. */
    for (uint32_t t = 0; t < shape->stages; t++)
        shape->edges_first[t] = shape->edges_first[t + 1];
    shape->edges_first[shape->stages] = shape->edges;
    return CLO_OK;
}

/* Producers first (Kahn 1962). left: [stages] scratch, 0 before. */
static void order_stages(clo_judge_shape *shape, uint32_t *left)
{
    uint32_t count = 0;

    for (uint32_t e = 0; e < shape->edges; e++) {
        left[shape->edge_rows[e].to]++;
        shape->in_count[shape->edge_rows[e].to] += !shape->edge_rows[e].only_orders;
    }
    for (uint32_t t = 0; t < shape->stages; t++)
        if (left[t] == 0)
            shape->order[count++] = t;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t e = shape->edges_first[shape->order[i]]; e < shape->edges_first[shape->order[i] + 1]; e++)
            if (--left[shape->edge_rows[e].to] == 0)
                shape->order[count++] = shape->edge_rows[e].to;
}

static clo_status count_roots(clo_judge_shape *shape)
{
    bool *has_input = clo_allocate(shape->stages, sizeof *has_input);

    if (has_input == NULL)
        return clo_fail_memory("the check of a log");
    for (uint32_t e = 0; e < shape->edges; e++)
        has_input[shape->edge_rows[e].to] = true;
    for (uint32_t t = 0; t < shape->stages; t++)
        shape->roots += !has_input[t];
    clo_free(has_input);
    return CLO_OK;
}

static clo_status read_branches(clo_judge_shape *shape)
{
    size_t stages = shape->stages;

    if (clo_graph_branches(shape->graph) == 0)
        return CLO_OK;
    shape->arms = clo_allocate(stages, sizeof shape->arms[0]);
    shape->in_count = clo_allocate(stages, sizeof shape->in_count[0]);
    shape->order = clo_allocate(stages, sizeof shape->order[0]);
    shape->is_merge = clo_allocate(stages, sizeof shape->is_merge[0]);
    uint32_t *left = clo_allocate(stages, sizeof *left);
    if (shape->arms == NULL || shape->in_count == NULL || shape->order == NULL || shape->is_merge == NULL ||
        left == NULL) {
        clo_free(left);
        return clo_fail_memory("the check of a log");
    }
    for (uint32_t t = 0; t < shape->stages; t++) {
        shape->arms[t] = clo_graph_arms(shape->graph, t);
        shape->is_merge[t] = clo_graph_is_merge(shape->graph, t);
    }
    order_stages(shape, left);
    clo_free(left);
    return CLO_OK;
}

static clo_status read_shape(clo_judge_shape *shape, const clo_cost *cost, const clo_platform *platform)
{
    const clo_graph *graph = clo_cost_graph(cost);

    *shape = (clo_judge_shape){
        .cost = cost, .graph = graph, .stages = clo_graph_tasks(graph), .edges = clo_graph_edges(graph)};
    size_t stages = shape->stages;
    shape->first_instance = clo_allocate(stages + 1, sizeof shape->first_instance[0]);
    shape->duplicable = clo_allocate(stages, sizeof shape->duplicable[0]);
    shape->demand = clo_allocate(stages * CLO_RESOURCES_MAX, sizeof shape->demand[0]);
    shape->edges_first = clo_allocate(stages + 1, sizeof shape->edges_first[0]);
    shape->edge_rows = clo_allocate(shape->edges, sizeof shape->edge_rows[0]);
    if (shape->first_instance == NULL || shape->duplicable == NULL || shape->demand == NULL ||
        shape->edges_first == NULL || shape->edge_rows == NULL)
        return clo_fail_memory("the check of a log");
    clo_status status = read_tasks(shape, platform);
    if (status == CLO_OK)
        status = read_edges(shape);
    if (status == CLO_OK)
        status = count_roots(shape);
    return status == CLO_OK ? read_branches(shape) : status;
}

/* The jobs of one cost stand together. */
typedef struct cost_row {
    const clo_cost *cost;
    uint32_t job;
} cost_row;

static int by_cost(const void *left, const void *right)
{
    const cost_row *a = left, *b = right;

    if (a->cost != b->cost)
        return (uintptr_t)a->cost < (uintptr_t)b->cost ? -1 : 1;
    return a->job < b->job ? -1 : a->job > b->job;
}

static clo_status read_shapes(clo_judge *judge, cost_row *rows)
{
    uint32_t distinct = 0;

    for (uint32_t j = 0; j < judge->jobs_count; j++)
        rows[j] = (cost_row){judge->stream->jobs[j].cost, j};
    qsort(rows, judge->jobs_count, sizeof rows[0], by_cost);
    for (uint32_t j = 0; j < judge->jobs_count; j++)
        distinct += j == 0 || rows[j].cost != rows[j - 1].cost;
    judge->shapes = clo_allocate(distinct, sizeof judge->shapes[0]);
    if (judge->shapes == NULL)
        return clo_fail_memory("the check of a log");
    for (uint32_t j = 0; j < judge->jobs_count; j++) {
        if (j == 0 || rows[j].cost != rows[j - 1].cost) {
            clo_status status = read_shape(&judge->shapes[judge->shapes_count++], rows[j].cost, judge->platform);
            if (status != CLO_OK)
                return status;
        }
        judge->jobs[rows[j].job].shape = judge->shapes_count - 1;
    }
    return CLO_OK;
}

static clo_status check_job(const clo_judge *judge, uint32_t j)
{
    const clo_stream_job *job = &judge->stream->jobs[j];
    unsigned long long number = (unsigned long long)job->job;

    if (job->cost == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_stream_check: job %llu has no cost", number);
    if (clo_cost_platform(job->cost) != judge->platform)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_stream_check: the cost of job %llu is of another platform", number);
    if (!(job->weight >= 0))
        return clo_fail(CLO_ERR_ARGUMENT, "clo_stream_check: the weight of job %llu is no number >= 0", number);
    if (job->job == CLO_LOG_NO_JOB)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_stream_check: jobs[%u] has the number that stands for no job", j);
    return CLO_OK;
}

static clo_status fill_table(clo_judge *judge)
{
    clo_hash_key key = {judge->key[0], judge->key[1]};

    for (uint32_t j = 0; j < judge->jobs_count; j++) {
        uint64_t number = judge->stream->jobs[j].job;
        uint32_t at = (uint32_t)clo_hash(key, &number, sizeof number) & judge->job_mask;
        for (; judge->job_table[at] != 0; at = (at + 1) & judge->job_mask)
            if (judge->stream->jobs[judge->job_table[at] - 1].job == number)
                return clo_fail(CLO_ERR_ARGUMENT, "clo_stream_check: two jobs have the number %llu",
                                (unsigned long long)number);
        judge->job_table[at] = j + 1;
    }
    return CLO_OK;
}

static clo_status read_table(clo_judge *judge)
{
    clo_hash_key key = clo_hash_key_random();
    size_t places = 4;

    while (places < (size_t)judge->jobs_count * 2)
        places *= 2;
    judge->key[0] = key.k0;
    judge->key[1] = key.k1;
    judge->job_mask = (uint32_t)(places - 1);
    judge->job_table = clo_allocate(places, sizeof judge->job_table[0]);
    return judge->job_table != NULL ? fill_table(judge) : clo_fail_memory("the check of a log");
}

clo_status clo_judge_read_jobs(clo_judge *judge)
{
    clo_status status = CLO_OK;
    cost_row *rows = clo_allocate(judge->jobs_count, sizeof *rows);

    judge->jobs = clo_allocate(judge->jobs_count, sizeof judge->jobs[0]);
    if (rows == NULL || judge->jobs == NULL)
        status = clo_fail_memory("the check of a log");
    for (uint32_t j = 0; j < judge->jobs_count && status == CLO_OK; j++) {
        status = check_job(judge, j);
        judge->jobs[j] = (clo_judge_job){.arrive_record = CLO_NONE,
                                         .cancel_record = CLO_NONE,
                                         .done_record = CLO_NONE,
                                         .limit = judge->stream->jobs[j].limit,
                                         .highest = judge->stream->jobs[j].limit,
                                         .has_limit = judge->stream->jobs[j].limit > 0,
                                         .last_finish_ns = INT64_MIN};
    }
    if (status == CLO_OK)
        status = read_shapes(judge, rows);
    if (status == CLO_OK)
        status = read_table(judge);
    clo_free(rows);
    return status;
}

void clo_judge_free_jobs(clo_judge *judge)
{
    for (uint32_t s = 0; s < judge->shapes_count; s++) {
        clo_judge_shape *shape = &judge->shapes[s];
        clo_free(shape->first_instance);
        clo_free(shape->duplicable);
        clo_free(shape->demand);
        clo_free(shape->edges_first);
        clo_free(shape->edge_rows);
        clo_free(shape->arms);
        clo_free(shape->in_count);
        clo_free(shape->order);
        clo_free(shape->is_merge);
    }
    clo_free(judge->shapes);
    clo_free(judge->jobs);
    clo_free(judge->job_table);
}
