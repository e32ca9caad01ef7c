/* scenes_cluster.c - one policy on clusters, loads and workloads of any kind, in Decima's environment (Decima, SIGCOMM
 * 2019, tables 2 and 3, figure 11a and appendix I).
 *
 * cluster-N: 150 TPC-H queries of 2 to 100 GB at once on N executors.
 * gap-S: 300 of them as a Poisson stream with a mean gap of S seconds, on 50 executors.
 * mixed-alibaba, -both, -changing: on 200 executors at a load of 85 %: jobs of Alibaba's trace; as many of these as of
 *   TPC-H, side by side; and first the ones, then the others. Without jobs that need a whole machine for an hour.
 *
 * The first contender is weighted fair sharing with what is best on the seeds from 10000 on (6 of them; 2 where N is
 * above 3000): with or without commitments, exponents of -1, -0.8, -0.5, -0.3, 0, 0.3, 0.5, 0.8 and 1. */
#include "online/online.h"

#include <stdio.h>

enum { CLUSTER_JOBS = 150, GAP_JOBS = 300, MIXED_JOBS = 200, MIXED_EXECUTORS = 200 };

static bool open_uniform(uint32_t executors, occasion *out)
{
    char spec[32];

    snprintf(spec, sizeof spec, "uniform:%u", executors);
    if (clo_platform_open(spec, &out->own) != CLO_OK)
        return bench_fail(spec);
    out->platform = out->own;
    return true;
}

static bool make_cluster(const online *o, uint64_t seed, occasion *out)
{
    return open_uniform(out->scene->executors, out) &&
           online_draw(o->decima_pool, online_jobs(o, CLUSTER_JOBS, 4), 0, seed, &out->workload);
}

static bool make_gap(const online *o, uint64_t seed, occasion *out)
{
    return open_uniform(50, out) &&
           online_draw(o->decima_pool, online_jobs(o, GAP_JOBS, 20), out->scene->gap_s, seed, &out->workload);
}

/* Adds `jobs` jobs of the pool that come from `from_ns` on, at the share of the load that is asked; *last_ns is the
 * last arrival. */
static bool add_stream(const online *o, const clo_workload *pool, uint32_t jobs, double share, uint64_t seed,
                       int64_t from_ns, occasion *out, int64_t *last_ns)
{
    double gap_s = online_mean_need_s(pool, out->platform) / online_load(o, out->scene) / share;
    clo_workload *drawn = NULL;
    bool is_good = online_draw(pool, jobs, gap_s, seed, &drawn);

    for (uint32_t i = 0; is_good && i < clo_workload_jobs(drawn); i++) {
        clo_workload_job job = *clo_workload_get(drawn, i);
        job.size = sizeof job;
        job.arrival_ns += from_ns;
        *last_ns = job.arrival_ns > *last_ns ? job.arrival_ns : *last_ns;
        is_good = clo_workload_add(out->workload, &job) == CLO_OK || bench_fail("jobs of two streams");
    }
    clo_workload_destroy(drawn);
    return is_good;
}

static bool make_mixed(const online *o, uint64_t seed, occasion *out)
{
    const scene *s = out->scene;
    uint32_t jobs = online_jobs(o, MIXED_JOBS, 20);
    int64_t last_ns = 0;

    if (!open_uniform(MIXED_EXECUTORS, out))
        return false;
    if (s == &online_mixed[0])
        return online_draw(o->alibaba_short, jobs,
                           online_mean_need_s(o->alibaba_short, out->platform) / online_load(o, s), seed,
                           &out->workload);
    bool is_changing = s == &online_mixed[2];
    if (clo_workload_create("mixed", &out->workload) != CLO_OK)
        return bench_fail("a workload");
    double share = is_changing ? 1 : 0.5;
    return add_stream(o, o->decima_pool, jobs / 2, share, seed, 0, out, &last_ns) &&
           add_stream(o, o->alibaba_short, jobs / 2, share, seed + 500, is_changing ? last_ns : 0, out, &last_ns) &&
           (clo_workload_sort(out->workload) == CLO_OK || bench_fail("a workload"));
}

#define OTHERS "decima-wfair:0", "wfair:0", "fair", "sjf-cp", "decima", "residual:stream", "parametric", "auto", NULL

static const char *const cluster_50[] = {"wfair:-0.8", OTHERS};
static const char *const cluster_200[] = {"decima-wfair:-1", OTHERS};
static const char *const cluster_1000[] = {"decima-wfair:0",  "fair",       "sjf-cp", "decima",
                                           "residual:stream", "parametric", "auto",   NULL};
static const char *const cluster_3000[] = {"decima-wfair:0.5", OTHERS};
/* Without those that take minutes a run there. */
static const char *const cluster_more[] = {"decima-wfair:0.8", "decima-wfair:0", "wfair:0", "fair",
                                           "parametric",       "auto",           NULL};
static const char *const gap_short[] = {"decima-wfair:0",    "wfair:0",         "decima", "parametric",
                                        "parametric:stream", "residual:stream", "auto",   NULL};
static const char *const gap_long[] = {"wfair:0",           "decima-wfair:0",  "decima", "parametric",
                                       "parametric:stream", "residual:stream", "auto",   NULL};
static const char *const mixed[] = {"wfair:-0.3", "wfair:-0.5", "sjf", OTHERS};
static const char *const alibaba[] = {"wfair:-1", "wfair:-0.5", "sjf", OTHERS};

#define CLUSTER(count, policies, seeds_of, title_of)                                                                \
    {                                                                                                               \
        .name = "cluster-" #count, .title = "TPC-H, 150 jobs at once, " title_of " executors (Decima, appendix I)", \
        .paper = "", .environment = "decima", .contenders = policies, .seeds = seeds_of, .quick_seeds = 1,          \
        .executors = count, .make = make_cluster,                                                                   \
    }

const scene online_cluster[CLUSTER_COUNT] = {
    CLUSTER(50, cluster_50, 30, "50"),          CLUSTER(200, cluster_200, 30, "200"),
    CLUSTER(1000, cluster_1000, 30, "1 000"),   CLUSTER(3000, cluster_3000, 30, "3 000"),
    CLUSTER(10000, cluster_more, 10, "10 000"), CLUSTER(30000, cluster_more, 4, "30 000"),
};

#define GAP(seconds, policies)                                                                                         \
    {                                                                                                                  \
        .name = "gap-" #seconds,                                                                                       \
        .title = "TPC-H, a Poisson stream with " #seconds " s between jobs, 50 executors (Decima, table 2)",           \
        .paper = "", .environment = "decima", .contenders = policies, .seeds = 30, .quick_seeds = 1, .gap_s = seconds, \
        .make = make_gap,                                                                                              \
    }

const scene online_gap[GAP_COUNT] = {
    GAP(20, gap_short), GAP(30, gap_short), GAP(45, gap_long), GAP(65, gap_long), GAP(85, gap_long),
};

#define MIXED(which, what, policies)                                                                         \
    {                                                                                                        \
        .name = "mixed-" which, .title = what ", a Poisson stream at 85 % load, 200 executors", .paper = "", \
        .environment = "decima", .contenders = policies, .seeds = 30, .quick_seeds = 1, .make = make_mixed,  \
    }

const scene online_mixed[MIXED_COUNT] = {
    MIXED("alibaba", "Alibaba v2018", alibaba),
    MIXED("both", "Alibaba v2018 and TPC-H", mixed),
    MIXED("changing", "TPC-H, then Alibaba v2018", mixed),
};
