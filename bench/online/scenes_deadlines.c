/* scenes_deadlines.c - jobs with deadlines, compared by mean tardiness, max(0, end - deadline).
 *
 * A deadline is U(1.5, 6) times the lower bound of the job alone on the platform after its arrival; U(2, 8) times in
 * Decima's environment, where tasks take longer than their work says.
 *
 * deadlines-N: TPC-H queries of 2 to 100 GB on 50 executors, a Poisson stream at a load of N %.
 * deadlines-decima-N: the same in Decima's environment.
 * deadlines-packing: one machine with four resources, a load of 85 %, as in scenes_packing.c.
 * The baseline is earliest deadline first, in Decima's environment weighted fair sharing. */
#include "online/online.h"

enum { DEADLINE_JOBS = 200 };

static const char *const plain[] = {"edf", "fair", "fifo", "hrrn", "sjf", "wspt", "mdd", "auto", NULL};
static const char *const decima[] = {"edf",
                                     "decima-wfair:0",
                                     "wfair:-1",
                                     "sjf",
                                     "mdd",
                                     "decima",
                                     "parametric:stream",
                                     "parametric:any",
                                     "parametric:deadlines",
                                     "residual:stream",
                                     "auto",
                                     NULL};
static const char *const packing[] = {"edf",  "tetris",   "fair", "sjf",  "graphene",
                                      "wspt", "easy-sjf", "mdd",  "auto", NULL};

/* The same jobs with deadlines. */
static bool set_deadlines(occasion *out, double least, double most, uint64_t seed)
{
    clo_workload *drawn = out->workload;
    clo_bound bound = CLO_BOUND_INIT;
    uint64_t state = seed + 77;

    out->workload = NULL;
    bool is_good = clo_workload_create("deadlines", &out->workload) == CLO_OK;
    for (uint32_t i = 0; is_good && i < clo_workload_jobs(drawn); i++) {
        clo_workload_job job = *clo_workload_get(drawn, i);
        clo_cost *cost = NULL;
        double factor = least + (most - least) * bench_random_below(&state, 1000001) / 1e6;
        is_good = clo_cost_create(job.graph, out->platform, &cost) == CLO_OK && clo_cost_bound(cost, &bound) == CLO_OK;
        job.size = sizeof job;
        job.deadline_ns = (int64_t)(factor * (double)bound.best_ns) + 1;
        is_good = is_good && clo_workload_add(out->workload, &job) == CLO_OK;
        clo_cost_destroy(cost);
    }
    clo_workload_destroy(drawn);
    return is_good || bench_fail("jobs with deadlines");
}

static bool make_stream(const online *o, uint64_t seed, occasion *out)
{
    bool is_plain = out->scene->environment == NULL;

    if (clo_platform_open("uniform:50", &out->own) != CLO_OK)
        return bench_fail("uniform:50");
    out->platform = out->own;
    double gap_s = online_mean_need_s(o->decima_pool, out->platform) / online_load(o, out->scene);
    return online_draw(o->decima_pool, online_jobs(o, DEADLINE_JOBS, 20), gap_s, seed, &out->workload) &&
           set_deadlines(out, is_plain ? 1.5 : 2, is_plain ? 6 : 8, seed);
}

static bool make_packing(const online *o, uint64_t seed, occasion *out)
{
    return online_make_packing(o, seed, out) && set_deadlines(out, 1.5, 6, seed);
}

#define DEADLINES(percent)                                                                                        \
    {                                                                                                             \
        .name = "deadlines-" #percent,                                                                            \
        .title = "TPC-H with deadlines, a Poisson stream at a load of " #percent " %, 50 executors", .paper = "", \
        .by = MEASURE_TARDINESS, .contenders = plain, .seeds = 20, .quick_seeds = 2, .load = percent / 100.0,     \
        .make = make_stream,                                                                                      \
    }
#define DEADLINES_DECIMA(percent)                                                                         \
    {                                                                                                     \
        .name = "deadlines-decima-" #percent,                                                             \
        .title = "TPC-H with deadlines in Decima's environment, a Poisson stream at a load of " #percent  \
                 " %, 50 executors",                                                                      \
        .paper = "", .environment = "decima", .by = MEASURE_TARDINESS, .contenders = decima, .seeds = 20, \
        .quick_seeds = 2, .load = percent / 100.0, .make = make_stream,                                   \
    }

const scene online_deadlines[DEADLINES_COUNT] = {
    DEADLINES(70),
    DEADLINES(90),
    DEADLINES(110),
    DEADLINES_DECIMA(50),
    DEADLINES_DECIMA(75),
    {
        .name = "deadlines-packing",
        .title = "TPC-H with four resources and deadlines, a Poisson stream at 85 % load",
        .paper = "",
        .by = MEASURE_TARDINESS,
        .contenders = packing,
        .seeds = 20,
        .quick_seeds = 2,
        .make = make_packing,
    },
};
