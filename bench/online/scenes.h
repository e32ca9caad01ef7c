/* scenes.h - what the files of scenes share: how jobs are drawn, and how fast they arrive. */
#ifndef CLO_BENCH_ONLINE_SCENES_H
#define CLO_BENCH_ONLINE_SCENES_H

#include "online/online.h"

/* Jobs of packing scenes belong to so many groups. */
enum { ONLINE_GROUPS = 5 };

/* The load of streams: work / (platform * time). */
#define ONLINE_LOAD 0.85

/* The seconds that all of the platform needs for a mean job of the pool: by executors, or by the resource that is the
 * scarcest. All machines are as the first one. */
double online_mean_need_s(const clo_workload *pool, const clo_platform *platform);

/* Draws jobs from a pool. gap_s 0: all at once. False, with a line why, on failure. */
bool online_draw(const clo_workload *pool, uint32_t jobs, double gap_s, uint64_t seed, clo_workload **out);

/* `all`, or `quick` with --quick; at most what --jobs says. */
uint32_t online_jobs(const online *o, uint32_t all, uint32_t quick);

/* A pool of `count` TPC-H queries after the mix, a graph each; job i is of group hash(i) mod ONLINE_GROUPS. NULL, with
 * a line why, on failure. */
clo_workload *online_tpch_pool(const online *o, const tpch_mix *mix, uint32_t count, uint64_t seed);

/* Each job of the pool once, in turn. False, with a line why, on failure. */
bool online_stream(const clo_workload *pool, double gap_s, uint64_t seed, clo_workload **out);

/* The scenes of scenes.c, and those of scenes_packing.c. */
extern const scene online_decima_batch, online_decima_stream, online_lachesis_stream;
extern const scene online_graphene_tpch, online_graphene_tpch_batch, online_graphene_alibaba,
    online_graphene_alibaba_batch, online_graphene_cluster, online_graphene_cluster_batch, online_memory_tpch,
    online_memory_alibaba;

#endif
