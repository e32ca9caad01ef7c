/* batch.h - what LACHESIS is trained on: jobs that are there at time 0, drawn from a workload and merged into one
 * graph, on a cluster of executors of unlike speeds (its figures 7 and 8). A stage counts as one task of all its work.
 *
 * The network sees the whole graph as one job, through learn/infer/lachesis_features.h. A batch is a function of its
 * seed and the law; it is read only once it is made, and any number of threads may use it. */
#ifndef CLO_TOOLS_TRAIN_BATCH_BATCH_H
#define CLO_TOOLS_TRAIN_BATCH_BATCH_H

#include "learn/infer/lachesis_features.h"
#include "train/rollout/environment.h"

enum {
    BATCH_CCRS_MAX = 8,
    BATCH_FEATURES = CLO_FEATURES_STAGE + CLO_FEATURES_JOB + CLO_FEATURES_SYSTEM,
    BATCH_WEIGHTS = CLO_FEATURES_STAGE
};

typedef struct batch_law {
    const clo_workload *workload;
    /* Number of jobs: its logarithm is uniform. */
    uint32_t jobs_first, jobs_last;
    /* Mean transfer time at 1 byte/ns / mean time, one of them for each batch. None: bytes of the workload. */
    double ccrs[BATCH_CCRS_MAX];
    uint32_t ccrs_count;
    /* An edge carries U(0, 2) times the mean: of all tasks, or of its producer. Both: half of the batches each. */
    bool has_even, has_producer;
    /* NULL: `executors` whose speeds are uniform in tenths, from speed_first to speed_last; the reference lies between.
     * Links of 1 byte/ns. */
    const clo_platform *platform;
    uint32_t executors, speed_first, speed_last;
} batch_law;

typedef struct batch {
    uint64_t seed;
    clo_graph *graph;
    clo_cost *cost;
    /* NULL: that of the law. */
    clo_platform *platform;
    /* All stages are there. */
    clo_model_case shape;
    network_case input;
    /* [tasks] how many parents; the place by falling rank_u */
    uint32_t *parents, *place;
    /* Of the planner "deft". */
    int64_t reference_ns;
} batch;

/* What the network sees of each feature. Of counts that an online policy changes, only tasks and work are seen. */
void batch_features(clo_model_feature out[BATCH_FEATURES]);

/* NULL: it cannot be made, and clo_last_error says why, or there is no memory. */
batch *batch_create(const batch_law *law, uint64_t seed);
/* NULL is allowed. */
void batch_destroy(batch *b);

/* The batches of a training; found by their seeds. */
typedef struct batch_set {
    batch **list;
    uint32_t count;
    /* Of the scores that the network adds to: prior * batch_prior. Untuned, the weight of rank-up is 1, others are
     * 0. */
    double prior, weights[BATCH_WEIGHTS];
} batch_set;

/* Sum of the weights times what the network sees of the task. */
double batch_prior(const batch *b, const double weights[BATCH_WEIGHTS], uint32_t task);

typedef struct batch_tuning {
    /* The first batches of the set; the others are those of validation. */
    uint32_t training, generations, threads;
    uint64_t seed;
    /* Mean makespan / reference of the generation's first mean, and of its new one on validation. NULL: nobody. */
    void (*told)(void *context, uint32_t generation, double training, double validation);
    void *context;
} batch_tuning;

/* Finds weights for the prior alone, by cross-entropy: the mean of the distribution that is best on validation, or
 * rank-up alone where none is better.
 *   validation  receives its makespan / reference.
 * False: no memory. The same with any number of threads. */
bool batch_tune(batch_set *set, const batch_tuning *how, double *validation);

const batch *batch_find(const batch_set *set, uint64_t seed);

/* Orders a batch: of the tasks whose parents come before, the one with the largest score comes next, and the planner
 * "deft" places them in this order. The reward is -makespan / reference.
 *   spread  of the noise that is drawn (train_environment.spread) */
train_environment batch_environment(const batch_set *set, double spread);

/* The makespan of the batch under scores[tasks] of all its tasks; -1: no memory. */
int64_t batch_makespan_ns(const batch *b, const int64_t *scores);

#endif
