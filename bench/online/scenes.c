/* scenes.c - the settings of the papers, as far as they are stated.
 *
 * decima-batch, decima-stream: Decima (SIGCOMM 2019), Figures 9a and 9b: TPC-H queries of 2 to 100 GB on 50 executors,
 *   20 at once or as a Poisson stream at a load of 85 %, load being work / (executors * time). Times are those of
 *   Decima's environment (clotho/environment.h); the baseline is weighted fair sharing with the exponent that is best
 *   on training seeds: for batches -0.8 (seeds 10000 to 10029), for streams 0 (10000 to 10009).
 * lachesis-stream: LACHESIS, Figure 9: up to 100 jobs, a Poisson process with a mean gap of 45 s, executors of 2.1 to
 *   3.6 GHz, one task a stage with the work of all of it, CCR 1; and denser streams, and dearer data. The baseline is
 *   DEFT, the paper's placement without its network.
 * lachesis-load-N: the same with 300 jobs at a load of N %, where it matters which job or task goes first: at 45 s
 *   between jobs the executors are busy for a fifth of the time, and all selections come to the same. The baseline is
 *   FIFO-DEFT; deft:decima is the paper's Decima-DEFT.
 * Scenes with demands stand in scenes_packing.c, those with deadlines in scenes_deadlines.c. */
#include "online/online.h"

static const char *const batch_policies[] = {"decima-wfair:-0.8",
                                             "decima-fair",
                                             "decima-fifo",
                                             "fair",
                                             "wfair:-0.5",
                                             "sjf",
                                             "sjf-cp",
                                             "hrrn",
                                             "tetris",
                                             "parametric",
                                             "auto",
                                             "residual:batch",
                                             "residual:batch,zero-residual",
                                             "residual:batch,shuffle-weights",
                                             "decima",
                                             "decima:sampled",
                                             NULL};
static const char *const stream_policies[] = {"decima-wfair:0",
                                              "decima-fifo",
                                              "fair",
                                              "wfair:0",
                                              "parametric",
                                              "parametric:stream",
                                              "auto",
                                              "residual:stream",
                                              "residual:stream,zero-residual",
                                              "residual:stream,shuffle-weights",
                                              "decima",
                                              "decima:sampled",
                                              NULL};
static const char *const lachesis_policies[] = {"deft",      "fifo",        "fair",        "rank",     "eft",
                                                "eft:rank",  "eft:sjf",     "deft:rank",   "deft:sjf", "replan",
                                                "deft:fifo", "deft:decima", "deft:replan", "lachesis", NULL};

static const scene decima_batch = {
    .name = "decima-batch",
    .title = "TPC-H, 20 jobs at once, 50 executors (Decima, Fig. 9a)",
    .paper = "Decima is 21 % below the tuned weighted fair policy",
    .environment = "decima",
    .contenders = batch_policies,
    .seeds = 100,
    .quick_seeds = 3,
    .make = online_make_decima_batch,
};

static const scene decima_stream = {
    .name = "decima-stream",
    .title = "TPC-H, a Poisson stream at 85 % load, 50 executors (Decima, Fig. 9b)",
    .paper = "Decima is 29 % below the tuned weighted fair policy",
    .environment = "decima",
    .contenders = stream_policies,
    .seeds = 30,
    .quick_seeds = 2,
    .make = online_make_decima_stream,
};

#define LACHESIS_STREAM(scene_name, scene_title, scene_ccr, scene_gap_s)                                              \
    {                                                                                                                 \
        .name = scene_name, .title = scene_title,                                                                     \
        .paper = "LACHESIS is up to 7.4 % below the best baseline in makespan, which is about the last arrival here", \
        .contenders = lachesis_policies, .seeds = 20, .quick_seeds = 2, .ccr = scene_ccr, .gap_s = scene_gap_s,       \
        .make = online_make_lachesis_stream,                                                                          \
    }

static const scene lachesis_streams[] = {
    LACHESIS_STREAM("lachesis-stream",
                    "TPC-H, a Poisson stream with 45 s between jobs, 50 unlike executors, CCR 1 (LACHESIS, Fig. 9)", 1,
                    45),
    LACHESIS_STREAM("lachesis-stream-far", "the same with CCR 5", 5, 45),
    LACHESIS_STREAM("lachesis-stream-dense", "the same with 15 s between jobs, CCR 1", 1, 15),
    LACHESIS_STREAM("lachesis-stream-dense-far", "the same with 15 s between jobs, CCR 5", 5, 15),
};

static const char *const selections[] = {"deft:fifo",      "deft:sjf",      "deft:hrrn",      "deft:rank",
                                         "deft:task-fifo", "deft:task-sjf", "deft:task-hrrn", "deft:decima",
                                         "deft",           "lachesis",      "auto",           NULL};

#define LACHESIS_LOAD(percent)                                                                                         \
    {                                                                                                                  \
        .name = "lachesis-load-" #percent,                                                                             \
        .title = "TPC-H, a Poisson stream at a load of " #percent " %, 50 unlike executors, CCR 1 (LACHESIS, Fig. 9)", \
        .paper = "", .contenders = selections, .seeds = 20, .quick_seeds = 2, .ccr = 1, .load = percent / 100.0,       \
        .jobs = 300, .make = online_make_lachesis_stream,                                                              \
    }

static const scene lachesis_loads[] = {LACHESIS_LOAD(70), LACHESIS_LOAD(85), LACHESIS_LOAD(100), LACHESIS_LOAD(120)};

#define SIX(scenes) &(scenes)[0], &(scenes)[1], &(scenes)[2], &(scenes)[3], &(scenes)[4], &(scenes)[5]

const scene *const online_scenes[] = {&decima_batch,
                                      &decima_stream,
                                      &lachesis_streams[0],
                                      &lachesis_streams[1],
                                      &lachesis_streams[2],
                                      &lachesis_streams[3],
                                      &lachesis_loads[0],
                                      &lachesis_loads[1],
                                      &lachesis_loads[2],
                                      &lachesis_loads[3],
                                      &online_graphene_tpch,
                                      &online_graphene_tpch_batch,
                                      &online_graphene_users,
                                      &online_graphene_cluster,
                                      &online_graphene_cluster_batch,
                                      &online_graphene_alibaba,
                                      &online_graphene_alibaba_batch,
                                      &online_graphene_short,
                                      &online_graphene_short_batch,
                                      &online_memory_tpch,
                                      &online_memory_alibaba,
                                      &online_job_order,
                                      SIX(online_cluster),
                                      &online_gap[0],
                                      &online_gap[1],
                                      &online_gap[2],
                                      &online_gap[3],
                                      &online_gap[4],
                                      &online_mixed[0],
                                      &online_mixed[1],
                                      &online_mixed[2],
                                      SIX(online_deadlines),
                                      SIX(online_wrong_decima),
                                      SIX(online_wrong_packing),
                                      SIX(online_wrong_times),
                                      NULL};
