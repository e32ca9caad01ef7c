/* beside_run.h - a training of a network beside a rule, of the policies "residual" and "easy-residual": what it is asked
 * for, and what it keeps. */
#ifndef CLO_TOOLS_CLOTHO_TRAIN_BESIDE_RUN_H
#define CLO_TOOLS_CLOTHO_TRAIN_BESIDE_RUN_H

#include "clotho/train/streams.h"
#include "clotho/train/train.h"
#include "train/models/residual.h"
#include "train/models/whiten.h"
#include "train/search/es.h"
#include "train/search/seeds.h"
#include "train/trainer/curve.h"

/* BESIDE_ROWS of features are kept to measure what features are like, one in BESIDE_SPARSE; BESIDE_GROUP rows are
 * candidates of one choice in the comparison of integers with real numbers. Ranges are those of BESIDE_RANGED streams: a
 * network is asked within them alone. */
enum {
    BESIDE_WORKLOADS_MAX = 64,
    BESIDE_ROWS = 32768,
    BESIDE_SPARSE = 13,
    BESIDE_GROUP = 4,
    BESIDE_GOLDEN = 16,
    BESIDE_RANGED = 64
};

_Static_assert((int)RESIDUAL_NUMBERS_MAX <= (int)ES_NUMBERS_MAX, "all of them may move");

/* Whose network is trained: the action of `clotho train`, the policy, and the rule that it is beside. */
typedef struct beside_kind {
    const char *action, *policy, *rule;
    const residual_shape *shape;
    bool is_ranged; /* the model says which features it has met (BESIDE_RANGED) */
} beside_kind;

typedef struct beside_options {
    const char *spec, *environment, *arrivals, *numbers, *checkpoint, *output, *svg, *name, *deadlines;
    train_seeds texts;
    uint32_t jobs, generations, pairs, each, validate_every, threads, stop;
    /* compared.count 0: no streams to compare integers with real numbers on. */
    seed_list seeds, validation, compared;
    uint64_t seed;
    double scale, sigma, rate;
    bool as_json, trains_all, is_zero, is_common, is_whitened, is_forced;
} beside_options;

/* The real numbers that integers are compared with: those that the model's integers stand for, or those that training
 * had before they were put on the grid of the integers. Neither has roundings between the layers. */
enum { BESIDE_ROUNDED, BESIDE_UNROUNDED, BESIDE_REALS };

typedef struct beside_comparison {
    /* Choices among BESIDE_GROUP rows, without ties: how many, and how often the integers choose as these do. */
    uint64_t choices;
    double agreement;
    /* Mean over the streams of (completion time of the integers / of these) - 1, and 1.96 deviations of that mean. */
    double change, change_error;
} beside_comparison;

typedef struct beside_training {
    const beside_kind *kind;
    beside_options o;
    clo_workload *jobs, *loaded[BESIDE_WORKLOADS_MAX];
    clo_platform *opened;
    train_streams streams;
    const clo_policy *policy;
    /* Of the rule, for each seed of training, then of validation; 0: not known yet. */
    double *base_ns;
    void *base_argument;
    double numbers[RESIDUAL_NUMBERS_MAX];
    /* Which of them move; with directions, how far along each of these. */
    uint32_t moved[RESIDUAL_NUMBERS_MAX], last_count;
    residual_directions directions;
    residual_range range;
    es es;
    /* Rows of features of values, [rows_count][features of the shape], with what was not kept between. */
    int16_t *rows;
    uint32_t rows_count;
    uint64_t rows_seen;
    train_point *curve;
    uint32_t curve_count;
    uint64_t hash;
    void *model;
    size_t model_bytes;
    double best[BESIDE_REALS][RESIDUAL_NUMBERS_MAX];
    beside_comparison real[BESIDE_REALS];
    /* Of the integers over the rule, on the streams to compare on. */
    double compared_score;
    int64_t begin_ns;
} beside_training;

/* Each returns EXIT_GOOD, or an exit code after an error line. */

/* Between which values each feature is on the first streams of training under the rule. */
int beside_find_range(beside_training *t);

/* Fills rows with those that the network of these numbers meets on a stream. */
int beside_collect(beside_training *t, const double *numbers, uint64_t seed);

/* Reads the checkpoint, if there is one. */
int beside_read_checkpoint(beside_training *t);

/* All generations up to o.stop; draws lines, and the curve. */
int beside_train(beside_training *t);

/* The best numbers, and the model of them. */
int beside_make_model(beside_training *t);

/* The numbers of the network with those that move put in. */
void beside_put_moved(const beside_training *t, const double *moved, double *out);

#endif
