/* online.h - policies beside each other on streams of jobs: scenes, contenders, and what the parts of bench-online
 * share.
 *
 * A scene makes a workload for each seed and says where it runs. A contender is a policy with its argument. All
 * contenders of a scene meet the same workloads, so that their results are compared in pairs. */
#ifndef CLO_BENCH_ONLINE_H
#define CLO_BENCH_ONLINE_H

#include "online/owed.h"

#include "common/platform.h"
#include "common/tpch.h"

#include <clotho/environment.h>

enum { CONTENDERS_MAX = 48, SCENES_MAX = 80, ONLINE_LABEL_BYTES = 112, CURVE_POINTS = 200, DECIMA_SIZES = 6 };

/* The first seed of a scene. Nothing was tuned on seeds 9000 to 9999. */
enum { ONLINE_SEED = 9000 };

/* A policy with its argument, as --policy NAME[:ARGUMENT] says it. */
typedef struct contender {
    char label[ONLINE_LABEL_BYTES];
    const clo_policy *policy;
    void *argument; /* owned; NULL: none */
    void *memory;   /* that a model of the argument lies in; owned; NULL: none */
} contender;

/* Reads NAME[:ARGUMENT]. False, with a line why where `why` is set, if there is no such policy, or not with that. */
bool contender_open(contender *c, const char *text, bool says_why);
void contender_close(contender *c);

/* What a scene compares by: seconds; of MEASURE_LATE, jobs that end after their deadline, percent. */
typedef enum measure {
    MEASURE_JCT,
    MEASURE_WEIGHTED,
    MEASURE_MAKESPAN,
    MEASURE_TARDINESS,
    MEASURE_P95, /* 95 % quantile of the completion times */
    MEASURE_LATE,
    MEASURES_COUNT
} measure;

/* By its name: mean, weighted, makespan, tardiness, p95, late. False, with a line, if there is no such measure. */
bool online_measure_find(const char *name, measure *out);

typedef struct online online;
typedef struct scene scene;

/* A workload with its platform, made for one seed. */
typedef struct occasion {
    const scene *scene;
    clo_workload *workload; /* owned */
    clo_workload *truth;    /* owned: the same jobs as they really are (truth.c); NULL: as `workload` says */
    clo_workload *base;     /* owned: the jobs that it was drawn from, where they were made for the occasion; or NULL */
    const char *environment; /* that of the scene, or what --environment says; NULL: the costs */
    const clo_platform *platform;
    clo_platform *own; /* `platform`, where it was made for the occasion; else NULL */
    uint32_t groups;   /* fairness among jobs of groups 0 .. groups-1 is measured; 0: not */
} occasion;

struct scene {
    const char *name;
    const char *title;
    /* What the paper says, in one line; "": nothing. */
    const char *paper;
    /* As in clo_environment_open; or "costs": the costs give the times, and jobs that arrive at one instant are known
     * together. NULL: the costs, one arrival at a time. */
    const char *environment;
    measure by;
    /* Names of contenders; those that are not registered are left out. The first one is the baseline. NULL ends it. */
    const char *const *contenders;
    /* Seeds: the first one (0: ONLINE_SEED), how many, and how many with --quick. */
    uint64_t seed;
    uint32_t seeds, quick_seeds;
    /* Of the estimates, where they are wrong: half the width of the errors, and their mean; shares of 1. */
    double error, error_mean;
    bool has_true_demands; /* only times are estimated wrongly */
    /* Of the platform, in a stream; 0: 0.85. */
    double load;
    bool has_short_jobs; /* of Alibaba: only those that do not need a whole machine for more than an hour */
    /* LACHESIS's streams: mean transfer / mean time, and the mean gap between jobs (0: what `load` asks for). */
    double ccr, gap_s;
    uint32_t jobs;      /* of LACHESIS's streams; 0: 100 */
    uint32_t executors; /* of scenes_cluster.c */
    bool shows_alone;   /* what the baseline needs for each job alone is measured, in a run of its own */
    bool shows_owed;    /* what graphene owes its groups is printed */
    /* False, with a line why, on failure. Called from several threads. */
    bool (*make)(const online *o, uint64_t seed, occasion *out);
};

/* Windows of fairness, in seconds, those of Graphene's evaluation (Grandl et al., OSDI 2016); 0: 64 windows. */
enum { JAIN_COUNT = 4 };
extern const double online_jain_s[JAIN_COUNT];

/* What one contender reached with one seed. */
typedef struct outcome {
    double by[MEASURES_COUNT];
    double utilization;
    double jain[JAIN_COUNT]; /* mean over windows, as online_jain_s says; 0: not measured */
    double alone_s;          /* the mean completion time if each job was alone; 0: not measured */
    double bound_s;          /* of the mean completion time; 0: unknown */
    double makespan_bound_s; /* 0: unknown */
    double order_s;          /* the best order of jobs is not below, by the search; 0: none was searched */
    double jobs;
    owed owed; /* of graphene */
    uint64_t completions, refused, fallbacks;
    int64_t wall_ns;
    float curve[CURVE_POINTS]; /* quantiles of the completion times, in seconds */
} outcome;

/* A scene that was played. */
typedef struct played {
    const scene *scene;
    contender contenders[CONTENDERS_MAX];
    uint32_t count, seeds;
    uint32_t load_percent; /* in place of the scene's load; 0: that one */
    const char *environment;
    measure by;
    uint64_t first_seed;
    outcome *outcomes; /* [count * seeds] */
} played;

struct online {
    bench_options options;
    const char *data, *only, *svg;
    const char *environment;   /* in place of "decima" in all scenes; NULL: that one */
    const char *by, *baseline; /* a measure and a first contender in place of the scenes'; NULL: those */
    bench_list policies;
    uint32_t jobs_max, seeds; /* jobs: at most; 0: what the scene says */
    uint32_t load_percent;    /* of every stream with a load; 0: what the scene says */
    uint32_t oracle_tries;    /* simulations of a search in place of the tables (oracle.h); 0: tables */
    uint32_t from;            /* the first seed of every scene; 0: what the scene says */
    const char *skipped;      /* why nothing is played: there is no data; NULL */
    tpch *tpch;
    /* Jobs to draw from, and the files that own their graphs. */
    clo_workload *decima_pool, *decima_files[DECIMA_SIZES], *alibaba, *alibaba_short, *alibaba_file;
    clo_platform *uniform50;
    played played[SCENES_MAX];
    uint32_t played_count;
};

/* All scenes; NULL ends the list. */
extern const scene *const online_scenes[];

/* Parts of it, each in a file of its own. */
enum { WRONG_COUNT = 6 };
extern const scene online_graphene_tpch, online_graphene_tpch_batch, online_graphene_alibaba,
    online_graphene_alibaba_batch, online_graphene_short, online_graphene_short_batch, online_graphene_users,
    online_graphene_cluster, online_graphene_cluster_batch, online_memory_tpch, online_memory_alibaba;
enum { CLUSTER_COUNT = 6, GAP_COUNT = 5, MIXED_COUNT = 3, DEADLINES_COUNT = 6 };
extern const scene online_cluster[CLUSTER_COUNT], online_gap[GAP_COUNT], online_mixed[MIXED_COUNT],
    online_deadlines[DEADLINES_COUNT];
extern const scene online_wrong_decima[WRONG_COUNT], online_wrong_packing[WRONG_COUNT], online_wrong_times[WRONG_COUNT],
    online_job_order;

/* Jobs of packing scenes belong to so many groups; the load of streams is work / (platform * time). */
enum { ONLINE_GROUPS = 5 };
#define ONLINE_LOAD 0.85

/* The seconds of work of all instances. */
double online_work_s(const clo_graph *graph);

/* The seconds that all of the platform needs for a mean job of the pool: by executors, or by the resource that is the
 * scarcest on the first machine. */
double online_mean_need_s(const clo_workload *pool, const clo_platform *platform);

/* Draws jobs from a pool. gap_s 0: all at once. False, with a line why, on failure. */
bool online_draw(const clo_workload *pool, uint32_t jobs, double gap_s, uint64_t seed, clo_workload **out);

/* Each job of the pool once, in turn. False, with a line why, on failure. */
bool online_stream(const clo_workload *pool, double gap_s, uint64_t seed, clo_workload **out);

/* `all`, or `quick` with --quick; at most what --jobs says. */
uint32_t online_jobs(const online *o, uint32_t all, uint32_t quick);

/* The load of the scene's stream, a share of the platform: what --load says, or the scene. */
double online_load(const online *o, const scene *s);

/* A pool of `count` TPC-H queries after the mix, a graph each; job i is of group hash(i) mod ONLINE_GROUPS. NULL, with
 * a line why, on failure. */
clo_workload *online_tpch_pool(const online *o, const tpch_mix *mix, uint32_t count, uint64_t seed);

/* Adds a job with a graph, which the pool then owns; NULL: none could be made. False, with a line why: the pool is gone,
 * and NULL. */
bool online_pool_add(clo_workload **pool, clo_graph *graph, clo_workload_job *job);

/* The workloads of scenes; see scene.make. */
bool online_make_batch(const online *o, uint32_t jobs, uint64_t seed, occasion *out);
bool online_make_decima_batch(const online *o, uint64_t seed, occasion *out);
bool online_make_decima_stream(const online *o, uint64_t seed, occasion *out);
bool online_make_lachesis_stream(const online *o, uint64_t seed, occasion *out);
bool online_make_packing(const online *o, uint64_t seed, occasion *out);

/* What gives the times. False, with a line why, on failure. */
bool online_environment_open(const occasion *at, uint64_t seed, clo_environment *out);

/* What scenes draw from. True with `skipped` where it is not there. False, with a line why, where it is broken. */
bool online_data_open(online *o);
void online_data_close(online *o);

/* Bounds of the mean completion time (not below what `out` has) and of the makespan; 0 where stages have waves. False,
 * with a line why, on failure. */
bool online_bound(const occasion *at, outcome *out);

/* Plays a scene with all its seeds, on all CPUs. Results do not depend on the number of threads. False, with a line
 * why, if a simulation fails or its log is refused by the checker. */
bool online_play(const online *o, const scene *s, played *out);
void played_close(played *p);

/* Ratio of the sums of a measure over the seeds, contender to baseline. */
bench_interval online_ratio(const played *p, uint32_t who, uint32_t baseline, measure by);

void online_print(const played *p);
void online_print_json(const played *p);
/* A panel a scene: the distribution of the completion times, a line a contender. */
bool online_svg(const online *o, const char *path);

/* Jain's index of what the groups of a log got, by windows of window_s seconds (0: 64 windows): see fairness.c. 0: there is
 * no such window; negative: no memory. */
double online_jain(const clo_log *log, const clo_workload *workload, uint32_t groups, double window_s);

#endif
