/* scenes_packing.c - scenes in which instances demand resources.
 *
 * graphene-tpch, graphene-alibaba: Graphene (Grandl et al., OSDI 2016), section 8: mean completion time, makespan and
 *   Jain's index of 5 groups of jobs, as Poisson streams at 85 % load and with all jobs at once (graphene-batch-),
 *   where the makespan says something: a stream's is about its last arrival. The paper's traces are not public, so
 *   these are TPC-H queries with four resources, each stage one instance that holds U(0, 1/2) of each, and the batch
 *   jobs of Alibaba (v2018) on one of its machines. The first machine has executors enough never to be what is short.
 * graphene-users: the TPC-H stream, but a group is a user whose jobs are of one size: the fifth with the least work,
 *   and so on. Who puts short jobs first then serves some users before others, and kappa binds.
 * memory-tpch, memory-alibaba: Decima (Mao et al., SIGCOMM 2019), Figure 11: 200 executors, a quarter each with 1/4,
 *   1/2, 3/4 and all of the memory, in Decima's environment. A TPC-H stage needs U(0, 1] of it; a stage of Alibaba what
 *   its trace says in percent of a machine, which is 0.14 to 0.97: 96 % of the work needs more than the smallest class
 *   has, so that the load is that of the executors that are large enough. Jobs of Alibaba that would keep all executors
 *   busy for longer than an hour are left out: they are 1 % of the jobs and most of the work, and would be all that a
 *   mean shows. */
#include "online/online.h"

#include <clotho/io.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESOURCES = 4, MACHINE_EXECUTORS = 64, MACHINES = 10, CLUSTER_EXECUTORS = 12 };
enum { MEMORY_EXECUTORS = 200, MEMORY_CLASSES = 4, MEMORY_ALL = 1000, MEMORY_WORK_MAX_S = 3600 * MEMORY_EXECUTORS };

static const char *const graphene_policies[] = {"tetris",
                                                "easy-sjf",
                                                "easy-parametric",
                                                "easy-residual",
                                                "conservative-sjf",
                                                "capacity",
                                                "fair",
                                                "drf",
                                                "fifo",
                                                "sjf",
                                                "graphene:kappa=0.1,srpt=0.2,order=1,large=0,geometric=0,path=0",
                                                "graphene",
                                                "graphene:srpt=0.7,area=1,scarce=1",
                                                NULL};
static const char *const users_policies[] = {"tetris",
                                             "capacity",
                                             "graphene",
                                             "graphene:kappa=10",
                                             "graphene:kappa=3",
                                             "graphene:kappa=1",
                                             "graphene:kappa=0.3",
                                             "graphene:kappa=0.1",
                                             "drf",
                                             "fair",
                                             "auto",
                                             NULL};
static const char *const memory_policies[] = {"graphene-star",
                                              "wfair:-1",
                                              "tetris",
                                              "sjf-cp",
                                              "graphene",
                                              "parametric",
                                              "parametric:stream",
                                              "parametric:1,0,0,0,0,900,1,0,1",
                                              NULL};

static const clo_executor equal = {.os_index = -1,
                                   .speed_q16 = {CLO_SPEED_ONE, CLO_SPEED_ONE, CLO_SPEED_ONE, CLO_SPEED_ONE}};

static clo_platform *make_machines(uint32_t machines)
{
    int64_t capacities[MACHINES][CLO_RESOURCES_MAX];
    clo_executor executors[MACHINES * MACHINE_EXECUTORS];
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_platform *platform = NULL;
    uint32_t each = machines > 1 ? CLUSTER_EXECUTORS : MACHINE_EXECUTORS;

    for (uint32_t m = 0; m < machines; m++)
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
            capacities[m][r] = r < RESOURCES ? TPCH_CAPACITY : -1;
    for (uint32_t e = 0; e < machines * each; e++) {
        executors[e] = equal;
        executors[e].machine = e / each;
    }
    desc.executors_count = machines * each;
    desc.executors = executors;
    desc.kinds_count = 1;
    desc.machines_count = machines;
    desc.capacities = capacities[0];
    if (clo_platform_create(&desc, &platform) != CLO_OK)
        bench_fail("machines with four resources");
    return platform;
}

/* gap_s per second that a mean job needs of the machine; 0: all at once. */
static bool make_tpch(const online *o, uint64_t seed, uint32_t jobs, double gap, occasion *out)
{
    const tpch_mix mix = {.jobs = 1, .resources = RESOURCES, .demand_max = 0.5};

    out->groups = ONLINE_GROUPS;
    out->base = online_tpch_pool(o, &mix, jobs, seed);
    out->own = make_machines(1);
    out->platform = out->own;
    if (out->own == NULL || out->base == NULL)
        return false;
    double gap_s = gap * online_mean_need_s(out->base, out->own);
    return gap > 0 ? online_stream(out->base, gap_s, seed, &out->workload)
                   : online_draw(out->base, jobs, 0, seed, &out->workload);
}

static bool make_tpch_stream(const online *o, uint64_t seed, occasion *out)
{
    return make_tpch(o, seed, online_jobs(o, 200, 20), 1 / online_load(o, out->scene), out);
}

typedef struct sized {
    double work_s;
    uint32_t job;
} sized;

static int by_work(const void *a, const void *b)
{
    const sized *x = a, *y = b;

    return x->work_s != y->work_s ? (x->work_s > y->work_s) - (x->work_s < y->work_s)
                                  : (x->job > y->job) - (x->job < y->job);
}

/* The same jobs, and groups by their work. */
static clo_workload *group_by_work(const clo_workload *from)
{
    uint32_t jobs = clo_workload_jobs(from), *groups = calloc((size_t)jobs + 1, sizeof *groups);
    sized *order = calloc((size_t)jobs + 1, sizeof *order);
    clo_workload *out = NULL;
    bool is_good = groups != NULL && order != NULL && clo_workload_create("users", &out) == CLO_OK;

    for (uint32_t j = 0; j < jobs && is_good; j++)
        order[j] = (sized){online_work_s(clo_workload_get(from, j)->graph), j};
    if (is_good)
        qsort(order, jobs, sizeof *order, by_work);
    for (uint32_t k = 0; k < jobs && is_good; k++)
        groups[order[k].job] = k * ONLINE_GROUPS / jobs;
    for (uint32_t j = 0; j < jobs && is_good; j++) {
        clo_workload_job job = *clo_workload_get(from, j);
        job.size = sizeof job;
        job.group = groups[j];
        is_good = clo_workload_add(out, &job) == CLO_OK;
    }
    free(groups);
    free(order);
    if (is_good)
        return out;
    clo_workload_destroy(out);
    bench_fail("groups by work");
    return NULL;
}

static bool make_tpch_users(const online *o, uint64_t seed, occasion *out)
{
    const tpch_mix mix = {.jobs = 1, .resources = RESOURCES, .demand_max = 0.5};

    out->groups = ONLINE_GROUPS;
    out->base = online_tpch_pool(o, &mix, online_jobs(o, 200, 20), seed);
    out->own = make_machines(1);
    out->platform = out->own;
    clo_workload *users = out->base != NULL && out->own != NULL ? group_by_work(out->base) : NULL;
    bool is_good =
        users != NULL && online_stream(users, online_mean_need_s(out->base, out->own) / online_load(o, out->scene),
                                       seed, &out->workload);
    clo_workload_destroy(users);
    return is_good;
}

static bool make_tpch_batch(const online *o, uint64_t seed, occasion *out)
{
    return make_tpch(o, seed, online_jobs(o, 60, 10), 0, out);
}

static bool make_alibaba(const online *o, uint64_t seed, uint32_t jobs, double gap, occasion *out)
{
    const clo_workload *pool = out->scene->has_short_jobs ? o->alibaba_short : o->alibaba;

    out->groups = ONLINE_GROUPS;
    out->platform = clo_workload_platform(o->alibaba_file);
    return online_draw(pool, jobs, gap * online_mean_need_s(pool, out->platform), seed, &out->workload);
}

static bool make_alibaba_stream(const online *o, uint64_t seed, occasion *out)
{
    return make_alibaba(o, seed, online_jobs(o, 300, 20), 1 / online_load(o, out->scene), out);
}

static bool make_alibaba_batch(const online *o, uint64_t seed, occasion *out)
{
    return make_alibaba(o, seed, online_jobs(o, 100, 20), 0, out);
}

/* Executors of four classes by turns, each a machine of its own. */
static clo_platform *make_classes(void)
{
    clo_executor executors[MEMORY_EXECUTORS];
    int64_t(*capacities)[CLO_RESOURCES_MAX] = calloc(MEMORY_EXECUTORS, sizeof *capacities);
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_platform *platform = NULL;

    for (uint32_t e = 0; e < MEMORY_EXECUTORS && capacities != NULL; e++) {
        executors[e] = equal;
        executors[e].machine = e;
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
            capacities[e][r] = -1;
        capacities[e][0] = (int64_t)(e % MEMORY_CLASSES + 1) * MEMORY_ALL / MEMORY_CLASSES;
    }
    desc.executors_count = MEMORY_EXECUTORS;
    desc.executors = executors;
    desc.kinds_count = 1;
    desc.machines_count = MEMORY_EXECUTORS;
    desc.capacities = capacities != NULL ? capacities[0] : NULL;
    if (capacities == NULL || clo_platform_create(&desc, &platform) != CLO_OK)
        bench_fail("executors of four classes");
    free(capacities);
    return platform;
}

static bool copy_waves(const clo_graph *from, uint32_t task, clo_graph *to)
{
    for (uint32_t k = 0; k < clo_graph_wave_levels(from, task); k++)
        for (clo_wave wave = CLO_WAVE_FRESH; wave <= CLO_WAVE_REST; wave++) {
            uint32_t count, level = clo_graph_wave_level(from, task, k);
            const int64_t *times_ns = clo_graph_wave_times(from, task, k, wave, &count);
            if (clo_graph_add_wave(to, task, wave, level, times_ns, count) != CLO_OK)
                return false;
        }
    return true;
}

/* What instances demand: memory as drawn, or as Alibaba's trace says; or four resources, as drawn. */
typedef enum demand_law { MEMORY_DRAWN, MEMORY_OF_TRACE, FOUR_DRAWN } demand_law;

static void set_demands(clo_task *task, demand_law law, uint64_t *state)
{
    int64_t memory = law == MEMORY_OF_TRACE ? task->demand[1] : 1 + bench_random_below(state, MEMORY_ALL);

    memset(task->demand, 0, sizeof task->demand);
    if (law != FOUR_DRAWN)
        task->demand[0] = memory < MEMORY_ALL ? memory : MEMORY_ALL;
    for (uint32_t r = 0; r < RESOURCES && law == FOUR_DRAWN; r++)
        task->demand[r] = 1 + bench_random_below(state, TPCH_CAPACITY / 2);
}

/* The graph again, with demands in place of its own. */
static clo_graph *with_demands(const clo_graph *from, demand_law law, uint64_t seed)
{
    uint32_t tasks = clo_graph_tasks(from), edges = clo_graph_edges(from);
    clo_graph *to = NULL;
    bool is_good = clo_graph_create(clo_graph_name(from), &to) == CLO_OK;
    clo_edge edge;
    clo_task task;

    for (uint32_t t = 0; t < tasks && is_good; t++) {
        is_good = clo_graph_task(from, t, &task) == CLO_OK;
        set_demands(&task, law, &seed);
        is_good = is_good && clo_graph_add_task(to, &task, NULL) == CLO_OK && copy_waves(from, t, to);
    }
    for (uint32_t e = 0; e < edges && is_good; e++)
        is_good = clo_graph_edge(from, e, &edge) == CLO_OK &&
                  clo_graph_add_edge(to, edge.from, edge.to, edge.bytes) == CLO_OK;
    if (is_good && clo_graph_seal(to) == CLO_OK)
        return to;
    bench_fail("a graph with demands of memory");
    clo_graph_destroy(to);
    return NULL;
}

/* Jobs drawn from `from`, each with a graph of its own. */
static clo_workload *demanding_pool(const clo_workload *from, demand_law law, uint32_t count, uint64_t seed)
{
    uint64_t state = seed;
    clo_workload *pool = NULL;

    if (clo_workload_create("demands", &pool) != CLO_OK)
        return NULL;
    for (uint32_t i = 0; i < count;) { /* ends: most jobs are small enough */
        clo_workload_job job = *clo_workload_get(from, bench_random_below(&state, clo_workload_jobs(from)));
        if (online_work_s(job.graph) > (double)MEMORY_WORK_MAX_S)
            continue;
        clo_graph *graph = with_demands(job.graph, law, bench_random(&state));
        job.group = bench_random_below(&state, ONLINE_GROUPS);
        if (!online_pool_add(&pool, graph, &job))
            return NULL;
        i++;
    }
    return pool;
}

static double mean_work_s(const clo_workload *pool)
{
    double sum = 0;

    for (uint32_t i = 0; i < clo_workload_jobs(pool); i++)
        sum += online_work_s(clo_workload_get(pool, i)->graph);
    return sum / clo_workload_jobs(pool);
}

/* What a mean job needs of the executors that have enough memory for it: of the scarcest class and all above. */
static double mean_class_need_s(const clo_workload *pool)
{
    double needs[MEMORY_CLASSES] = {0}, most = 0;
    clo_task task;

    for (uint32_t i = 0; i < clo_workload_jobs(pool); i++) {
        const clo_graph *graph = clo_workload_get(pool, i)->graph;
        for (uint32_t t = 0; t < clo_graph_tasks(graph); t++)
            for (int c = 0; c < MEMORY_CLASSES && clo_graph_task(graph, t, &task) == CLO_OK; c++)
                if (task.demand[0] * MEMORY_CLASSES > (int64_t)c * MEMORY_ALL)
                    needs[c] += (double)task.work_ns * 1e-9 * (task.instances > 0 ? task.instances : 1);
    }
    for (int c = 0; c < MEMORY_CLASSES; c++)
        most = fmax(most, needs[c] * (double)MEMORY_CLASSES / (MEMORY_EXECUTORS * (MEMORY_CLASSES - c)));
    return most / clo_workload_jobs(pool);
}

/* All machines are alike, so that a job needs of the cluster what it needs of one machine, by their number. */
static bool make_cluster(const online *o, uint64_t seed, uint32_t jobs, double gap, occasion *out)
{
    out->groups = ONLINE_GROUPS;
    out->own = make_machines(MACHINES);
    out->platform = out->own;
    out->base = demanding_pool(o->decima_pool, FOUR_DRAWN, jobs, seed);
    if (out->own == NULL || out->base == NULL)
        return false;
    if (gap <= 0)
        return online_draw(out->base, jobs, 0, seed, &out->workload);
    return online_stream(out->base, gap * online_mean_need_s(out->base, out->own) / (double)MACHINES, seed,
                         &out->workload);
}

static bool make_cluster_stream(const online *o, uint64_t seed, occasion *out)
{
    return make_cluster(o, seed, online_jobs(o, 100, 3), 1 / online_load(o, out->scene), out);
}

static bool make_cluster_batch(const online *o, uint64_t seed, occasion *out)
{
    return make_cluster(o, seed, online_jobs(o, 40, 3), 0, out);
}

static bool make_memory(const online *o, const clo_workload *from, demand_law law, uint64_t seed, occasion *out)
{
    out->own = make_classes();
    out->platform = out->own;
    out->base = demanding_pool(from, law, online_jobs(o, 400, 8), seed);
    if (out->own == NULL || out->base == NULL)
        return false;
    double need_s =
        law == MEMORY_OF_TRACE ? mean_class_need_s(out->base) : mean_work_s(out->base) / (double)MEMORY_EXECUTORS;
    return online_stream(out->base, need_s / online_load(o, out->scene), seed, &out->workload);
}

static bool make_memory_tpch(const online *o, uint64_t seed, occasion *out)
{
    return make_memory(o, o->decima_pool, MEMORY_DRAWN, seed, out);
}

static bool make_memory_alibaba(const online *o, uint64_t seed, occasion *out)
{
    return make_memory(o, o->alibaba, MEMORY_OF_TRACE, seed, out);
}

/* What the scenes of a kind have in common. */
#define GRAPHENE_CONTEST .contenders = graphene_policies, .seed = 9000, .seeds = 20, .quick_seeds = 2
#define MEMORY_CONTEST                                                                                    \
    .environment = "decima", .by = MEASURE_JCT, .contenders = memory_policies, .seed = 9000, .seeds = 10, \
    .quick_seeds = 2, .shows_alone = true

const scene online_graphene_tpch = {
    .name = "graphene-tpch",
    .title = "TPC-H with four resources, a Poisson stream at 85 % load, 5 groups (Graphene, section 8)",
    .paper = "Graphene is 25 % below Tetris in median completion time on traces that are not public",
    .by = MEASURE_JCT,
    GRAPHENE_CONTEST,
    .make = make_tpch_stream,
};

const scene online_graphene_tpch_batch = {
    .name = "graphene-batch-tpch",
    .title = "TPC-H with four resources, 60 jobs at once, 5 groups",
    .paper = "Graphene's throughput is 30 % above Tetris's on traces that are not public",
    .by = MEASURE_MAKESPAN,
    GRAPHENE_CONTEST,
    .make = make_tpch_batch,
};

const scene online_graphene_users = {
    .name = "graphene-users",
    .title = "TPC-H with four resources, a Poisson stream at 85 % load, 5 users with jobs of 5 sizes",
    .paper = "",
    .by = MEASURE_JCT,
    .contenders = users_policies,
    .seed = 9000,
    .seeds = 20,
    .quick_seeds = 2,
    .shows_owed = true,
    .make = make_tpch_users,
};

const scene online_graphene_alibaba = {
    .name = "graphene-alibaba",
    .title = "Alibaba v2018 jobs on one machine, a Poisson stream at 85 % load, 5 groups",
    .paper = "",
    .by = MEASURE_JCT,
    GRAPHENE_CONTEST,
    .make = make_alibaba_stream,
};

const scene online_graphene_alibaba_batch = {
    .name = "graphene-batch-alibaba",
    .title = "Alibaba v2018 jobs on one machine, 100 at once, 5 groups",
    .paper = "",
    .by = MEASURE_MAKESPAN,
    GRAPHENE_CONTEST,
    .make = make_alibaba_batch,
};

const scene online_graphene_short = {
    .name = "graphene-short",
    .title = "Alibaba v2018 jobs of at most an hour of one machine, a Poisson stream at 85 % load, 5 groups",
    .paper = "",
    .by = MEASURE_JCT,
    GRAPHENE_CONTEST,
    .has_short_jobs = true,
    .make = make_alibaba_stream,
};

const scene online_graphene_short_batch = {
    .name = "graphene-batch-short",
    .title = "Alibaba v2018 jobs of at most an hour of one machine, 100 at once, 5 groups",
    .paper = "",
    .by = MEASURE_MAKESPAN,
    GRAPHENE_CONTEST,
    .has_short_jobs = true,
    .make = make_alibaba_batch,
};

const scene online_graphene_cluster = {
    .name = "graphene-cluster",
    .title = "TPC-H, stages of many instances, ten machines, a Poisson stream at 85 % load, 5 groups",
    .paper = "Graphene is 25 % below Tetris in median completion time on traces that are not public",
    .by = MEASURE_JCT,
    GRAPHENE_CONTEST,
    .make = make_cluster_stream,
};

const scene online_graphene_cluster_batch = {
    .name = "graphene-batch-cluster",
    .title = "TPC-H, stages of many instances, ten machines, 40 jobs at once, 5 groups",
    .paper = "Graphene's throughput is 30 % above Tetris's on traces that are not public",
    .by = MEASURE_MAKESPAN,
    GRAPHENE_CONTEST,
    .make = make_cluster_batch,
};

const scene online_memory_tpch = {
    .name = "decima-memory-tpch",
    .title = "TPC-H, a Poisson stream at 60 % load, 200 executors of four memory classes (Decima, Fig. 11b)",
    .paper = "Decima is 43 % below Graphene*",
    MEMORY_CONTEST,
    .load = 0.6, /* its environment makes tasks longer than their work says */
    .make = make_memory_tpch,
};

const scene online_memory_alibaba = {
    .name = "decima-memory-alibaba",
    .title =
        "Alibaba v2018, a Poisson stream at 85 % load of the scarcest classes, 200 executors of four memory classes "
        "(Decima, Fig. 11a)",
    .paper = "Decima is 32 % below Graphene*",
    MEMORY_CONTEST,
    .make = make_memory_alibaba,
};
