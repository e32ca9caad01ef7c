/* batch.c - see batch.h. */
#include "train/batch/batch.h"

#include "cost/features.h"
#include "train/numbers/parameters.h"

#include <clotho/planner.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* hi 0: the network does not see it. */
typedef struct seen {
    const char *name;
    int32_t mult;
    uint32_t shift;
    int16_t hi;
} seen;

static const seen features[BATCH_FEATURES] = {{"time", 1, 0, 32767},      {"input", 1, 0, 32767},
                                              {"output", 1, 0, 32767},    {"rank-up", 1, 0, 32767},
                                              {"rank-down", 1, 0, 32767}, {"children", 4, 0, 32767},
                                              {"instances", 2, 0, 32767}, {"tasks-left", 2, 0, 32767},
                                              {"work-left", 1, 5, 32767}, {"work-left-log", 1, 0, 32767},
                                              {"scale", 1, 0, 0},         {"executors", 1, 0, 0},
                                              {"jobs", 1, 0, 0},          {"free", 1, 0, 0}};

enum { UNIT = 4096, TENTHS = 10 };

void batch_features(clo_model_feature out[BATCH_FEATURES])
{
    for (int i = 0; i < BATCH_FEATURES; i++)
        out[i] = (clo_model_feature){.name = features[i].name,
                                     .mult = features[i].mult,
                                     .shift = features[i].shift,
                                     .lo = 0,
                                     .hi = features[i].hi};
}

/* 0 .. bound - 1 */
static uint32_t below(draws *d, uint32_t bound)
{
    return (uint32_t)(draws_uniform(d) * bound);
}

/* One job on its way into the merged graph. */
typedef struct part {
    const clo_graph *from;
    /* [tasks of from] their ids in the merged graph; parents that are not there yet */
    uint32_t *ids, *waiting;
} part;

/* Adds the tasks in topological order. */
static bool add_tasks(clo_graph *graph, part *p)
{
    uint32_t tasks = clo_graph_tasks(p->from), edges = clo_graph_edges(p->from), done = 0;
    clo_edge edge;
    clo_task task;

    for (uint32_t e = 0; e < edges; e++)
        if (clo_graph_edge(p->from, e, &edge) == CLO_OK)
            p->waiting[edge.to]++;
    while (done < tasks) { /* ends: a sealed graph has no cycle, so each round adds a task */
        for (uint32_t t = 0; t < tasks; t++) {
            if (p->waiting[t] != 0 || p->ids[t] != UINT32_MAX || clo_graph_task(p->from, t, &task) != CLO_OK)
                continue;
            task = (clo_task){.duplicable = 1,
                              .work_ns = task.work_ns * (task.instances > 0 ? task.instances : 1),
                              .task_class = task.task_class};
            if (clo_graph_add_task(graph, &task, &p->ids[t]) != CLO_OK)
                return false;
            done++;
            for (uint32_t e = 0; e < edges; e++)
                if (clo_graph_edge(p->from, e, &edge) == CLO_OK && edge.from == t)
                    p->waiting[edge.to]--;
        }
    }
    return true;
}

static double work_of(const clo_graph *graph, uint32_t task)
{
    clo_task row;

    return clo_graph_task(graph, task, &row) == CLO_OK ? (double)row.work_ns : 0;
}

/* mean_ns: of all tasks; 0: an edge carries what its producer's time says. ccr < 0: what it carries in the workload. */
static bool add_edges(clo_graph *graph, const part *p, double ccr, double mean_ns, draws *d)
{
    clo_edge edge;

    for (uint32_t e = 0; e < clo_graph_edges(p->from); e++) {
        if (clo_graph_edge(p->from, e, &edge) != CLO_OK)
            return false;
        uint32_t from = p->ids[edge.from];
        double bytes = 2 * draws_uniform(d) * ccr * (mean_ns > 0 ? mean_ns : work_of(graph, from));
        if (clo_graph_add_edge(graph, from, p->ids[edge.to], ccr < 0 ? edge.bytes : (uint64_t)bytes) != CLO_OK)
            return false;
    }
    return true;
}

static bool fill_graph(clo_graph *graph, const batch_law *law, part *parts, uint32_t jobs, draws *d)
{
    double mean_ns = 0, ccr = law->ccrs_count > 0 ? law->ccrs[below(d, law->ccrs_count)] : -1;
    bool is_even = law->has_even && (!law->has_producer || below(d, 2) == 0), is_good = true;

    for (uint32_t j = 0; j < jobs && is_good; j++) {
        parts[j].from = clo_workload_get(law->workload, below(d, clo_workload_jobs(law->workload)))->graph;
        uint32_t tasks = clo_graph_tasks(parts[j].from);
        parts[j].ids = malloc((tasks + 1) * sizeof *parts[j].ids);
        parts[j].waiting = calloc(tasks + 1, sizeof *parts[j].waiting);
        is_good = parts[j].ids != NULL && parts[j].waiting != NULL;
        if (is_good) {
            memset(parts[j].ids, 0xff, tasks * sizeof *parts[j].ids);
            is_good = add_tasks(graph, &parts[j]);
        }
    }
    uint32_t tasks = clo_graph_tasks(graph);
    for (uint32_t t = 0; t < tasks; t++)
        mean_ns += work_of(graph, t) / tasks;
    for (uint32_t j = 0; j < jobs && is_good; j++)
        is_good = add_edges(graph, &parts[j], ccr, is_even ? mean_ns : 0, d);
    return is_good && clo_graph_seal(graph) == CLO_OK;
}

static clo_graph *make_graph(const batch_law *law, draws *d)
{
    double most = log((double)law->jobs_last + 1), least = log((double)law->jobs_first);
    uint32_t jobs = (uint32_t)exp(least + (most - least) * draws_uniform(d));
    clo_graph *graph = NULL;

    jobs = jobs < law->jobs_first ? law->jobs_first : jobs > law->jobs_last ? law->jobs_last : jobs;
    part *parts = calloc(jobs, sizeof *parts);
    if (parts != NULL && clo_graph_create("batch", &graph) == CLO_OK && !fill_graph(graph, law, parts, jobs, d)) {
        clo_graph_destroy(graph);
        graph = NULL;
    }
    for (uint32_t j = 0; j < jobs && parts != NULL; j++) {
        free(parts[j].ids);
        free(parts[j].waiting);
    }
    free(parts);
    return graph;
}

/* Executors that share no memory. */
static clo_platform *make_cluster(const batch_law *law, draws *d)
{
    uint32_t n = law->executors, steps = law->speed_last - law->speed_first + 1;
    clo_executor *list = calloc(n, sizeof *list);
    double *bandwidth = calloc((size_t)n * n, sizeof *bandwidth);
    clo_platform *platform = NULL;

    for (uint32_t e = 0; e < n && list != NULL; e++) {
        uint64_t tenths = law->speed_first + below(d, steps);
        list[e] = (clo_executor){.memory = e, .os_index = -1};
        for (int c = 0; c < CLO_CLASSES_BUILTIN; c++)
            list[e].speed_q16[c] = (uint32_t)(tenths * CLO_SPEED_ONE * 2 / (law->speed_first + law->speed_last));
    }
    for (size_t i = 0; i < (size_t)n * n && bandwidth != NULL; i++)
        bandwidth[i] = 1;
    clo_platform_desc desc = {.size = sizeof desc,
                              .executors_count = n,
                              .executors = list,
                              .kinds_count = 1,
                              .bandwidth_bytes_per_ns = bandwidth};
    if (list != NULL && bandwidth != NULL && clo_platform_create(&desc, &platform) != CLO_OK)
        platform = NULL;
    free(list);
    free(bandwidth);
    return platform;
}

/* Fills the children of the shape, and the parents. */
static bool make_shape(batch *b)
{
    uint32_t tasks = clo_graph_tasks(b->graph), edges = clo_graph_edges(b->graph);
    uint32_t *begin = calloc((size_t)tasks + 2, sizeof *begin), *children = calloc((size_t)edges + 1, sizeof *children);
    uint32_t *job_of = calloc((size_t)tasks + 1, sizeof *job_of);
    clo_edge edge;

    b->parents = calloc((size_t)tasks + 1, sizeof *b->parents);
    b->shape = (clo_model_case){
        .stages = tasks, .jobs = 1, .job_of_stage = job_of, .child_begin = begin, .children = children};
    if (begin == NULL || children == NULL || job_of == NULL || b->parents == NULL)
        return false;
    for (uint32_t e = 0; e < edges; e++)
        if (clo_graph_edge(b->graph, e, &edge) == CLO_OK) {
            begin[edge.from + 2]++;
            b->parents[edge.to]++;
        }
    for (uint32_t t = 1; t <= tasks; t++)
        begin[t + 1] += begin[t];
    for (uint32_t e = 0; e < edges; e++)
        if (clo_graph_edge(b->graph, e, &edge) == CLO_OK)
            children[begin[edge.from + 1]++] = edge.to;
    return true;
}

typedef struct ranked {
    int64_t rank_ns;
    uint32_t task;
} ranked;

static int by_rank(const void *left, const void *right)
{
    const ranked *a = left, *b = right;

    if (a->rank_ns != b->rank_ns)
        return a->rank_ns > b->rank_ns ? -1 : 1;
    return a->task < b->task ? -1 : a->task > b->task;
}

static bool make_places(batch *b, const int64_t *rank_ns)
{
    uint32_t tasks = b->shape.stages;
    ranked *list = calloc((size_t)tasks + 1, sizeof *list);

    b->place = calloc((size_t)tasks + 1, sizeof *b->place);
    for (uint32_t t = 0; t < tasks && list != NULL; t++)
        list[t] = (ranked){rank_ns[t], t};
    if (list != NULL)
        qsort(list, tasks, sizeof *list, by_rank);
    for (uint32_t i = 0; i < tasks && list != NULL && b->place != NULL; i++)
        b->place[list[i].task] = i;
    free(list);
    return list != NULL && b->place != NULL;
}

/* What the network sees when nothing has begun. */
static void scale_inputs(batch *b, const clo_stage_figures *figures, int32_t *raw, int16_t *inputs)
{
    clo_model_feature list[BATCH_FEATURES];
    clo_job_figures job = {.executors = 1, .tasks_left = b->shape.stages};
    const clo_system_figures system = {.jobs = 1, .executors_free = 1, .executors = 1};
    int32_t row[BATCH_FEATURES];
    uint32_t stages = b->shape.stages;

    batch_features(list);
    (void)clo_features_stages(figures, stages, &job.scale, raw);
    for (uint32_t t = 0; t < stages; t++) {
        job.work_left_ns += figures->time_ns[t];
        (void)clo_features_scale(list, CLO_FEATURES_STAGE, raw + (size_t)t * CLO_FEATURES_STAGE,
                                 inputs + (size_t)t * CLO_FEATURES_STAGE);
    }
    (void)clo_features_job(&job, row);
    (void)clo_features_system(&system, row + CLO_FEATURES_JOB);
    (void)clo_features_scale(list + CLO_FEATURES_STAGE, CLO_FEATURES_JOB + CLO_FEATURES_SYSTEM, row,
                             inputs + (size_t)stages * CLO_FEATURES_STAGE);
}

static bool make_inputs(batch *b)
{
    size_t tasks = b->shape.stages;
    size_t numbers = tasks * CLO_FEATURES_STAGE + CLO_FEATURES_JOB + CLO_FEATURES_SYSTEM;
    int64_t *times = calloc(5 * tasks + 1, sizeof *times);
    uint32_t *counts = calloc(2 * tasks + 1, sizeof *counts);
    int32_t *raw = calloc(tasks * CLO_FEATURES_STAGE + 1, sizeof *raw);
    int16_t *inputs = calloc(numbers, sizeof *inputs);
    double *reals = calloc(numbers, sizeof *reals);
    bool is_good = times != NULL && counts != NULL && raw != NULL && inputs != NULL && reals != NULL;

    b->shape.inputs = inputs;
    b->input.shape = &b->shape;
    b->input.inputs = reals;
    if (is_good) {
        const clo_stage_figures figures = {
            times, times + tasks, times + 2 * tasks, times + 3 * tasks, times + 4 * tasks, counts, counts + tasks};
        clo_cost_figures(b->cost, times, counts);
        is_good = make_places(b, figures.rank_u_ns);
        if (is_good)
            scale_inputs(b, &figures, raw, inputs);
        for (size_t i = 0; i < numbers; i++)
            reals[i] = (double)inputs[i] / (double)UNIT;
    }
    free(times);
    free(counts);
    free(raw);
    return is_good;
}

batch *batch_create(const batch_law *law, uint64_t seed)
{
    batch *b = calloc(1, sizeof *b);
    draws d = {draws_key(seed, 0, 0)};

    if (b == NULL)
        return NULL;
    b->seed = seed;
    b->graph = make_graph(law, &d);
    if (law->platform == NULL)
        b->platform = make_cluster(law, &d);
    const clo_platform *platform = law->platform != NULL ? law->platform : b->platform;
    if (b->graph != NULL && platform != NULL && clo_cost_create(b->graph, platform, &b->cost) == CLO_OK &&
        make_shape(b) && make_inputs(b)) {
        b->reference_ns = batch_makespan_ns(b, NULL);
        if (b->reference_ns > 0)
            return b;
    }
    batch_destroy(b);
    return NULL;
}

void batch_destroy(batch *b)
{
    if (b == NULL)
        return;
    clo_cost_destroy(b->cost);
    clo_platform_destroy(b->platform);
    clo_graph_destroy(b->graph);
    free((void *)(uintptr_t)b->shape.child_begin);
    free((void *)(uintptr_t)b->shape.children);
    free((void *)(uintptr_t)b->shape.job_of_stage);
    free((void *)(uintptr_t)b->shape.inputs);
    free((void *)(uintptr_t)b->input.inputs);
    free(b->parents);
    free(b->place);
    free(b);
}

int64_t batch_makespan_ns(const batch *b, const int64_t *scores)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *plan = NULL;
    int64_t found_ns = -1;

    config.planner = &clo_planner_deft;
    config.argument = scores;
    if (clo_plan_create(b->cost, &config, &plan) == CLO_OK)
        found_ns = clo_plan_makespan_ns(plan);
    clo_plan_destroy(plan);
    return found_ns;
}

const batch *batch_find(const batch_set *set, uint64_t seed)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (set->list[i]->seed == seed)
            return set->list[i];
    return NULL;
}
