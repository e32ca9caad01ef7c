/* tpch.h - the measured TPC-H queries of data/tpch as graphs: jobs merged into one, as LACHESIS, Hua et al. and
 * Graphene's comparisons use them. A node is a stage. */
#ifndef CLO_BENCH_TPCH_H
#define CLO_BENCH_TPCH_H

#include "common/random.h"

enum { TPCH_JOBS_MAX = 256, TPCH_STAGES_MAX = 2048, TPCH_PARENTS_MAX = 4096 };

typedef struct tpch_stage {
    uint32_t tasks; /* that Spark ran in it                                                       */
    double mean_ms; /* of a task: of later waves where there were any, else of the first, else of fresh executors */
    uint32_t parents_first, parents_count;
} tpch_stage;

typedef struct tpch_job {
    uint32_t query, size_gb, stages_first, stages_count;
} tpch_job;

typedef struct tpch {
    uint32_t jobs_count, stages_count, parents_count;
    tpch_job jobs[TPCH_JOBS_MAX];
    tpch_stage stages[TPCH_STAGES_MAX];
    uint32_t parents[TPCH_PARENTS_MAX]; /* stages of the same job, from 0 */
} tpch;

/* Reads DATA/tpch/stages.csv. NULL, with *why, where that fails; *why is static. */
tpch *tpch_open(const char *data, const char **why);
void tpch_close(tpch *t);

/* What to make of them. */
typedef struct tpch_mix {
    uint32_t jobs;          /* drawn with replacement                                                            */
    bool has_work_of_stage; /* a node takes mean time * tasks, else the mean time of one task                    */
    bool has_uniform_times; /* times U(0, 1) s instead of the measured ones                                      */
    double ccr;             /* mean transfer time at 1 byte/ns / mean time; edges carry U(0, 2) of the mean; 0: none */
    uint32_t resources;     /* each node holds U(0, demand_max) of each of so many                               */
    double demand_max;      /* of 1 */
    bool is_edge_like_producer; /* an edge carries in proportion to what its producer takes, not to the mean */
    uint32_t skip_size_gb;      /* leaves this data size out */
} tpch_mix;

/* Demands count in millionths: a machine of tpch_machine has TPCH_CAPACITY of each. */
enum { TPCH_CAPACITY = 1000000 };

/* A sealed graph; all its tasks are duplicable. NULL, with a line why, on failure. */
clo_graph *tpch_graph(const tpch *t, const tpch_mix *mix, uint64_t seed);
/* LACHESIS's cluster: 50 executors with speeds from {2.1, 2.2 .. 3.6} GHz, 2.85 GHz being the reference; equal links of
 * 1 byte/ns. */
clo_platform *tpch_cluster(uint64_t seed);
/* One machine with `resources` capacities, and executors enough never to be what is short, at most 256. */
clo_platform *tpch_machine(const clo_graph *graph, uint32_t resources);

#endif
