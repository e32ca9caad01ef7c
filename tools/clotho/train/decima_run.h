/* decima_run.h - a training of the network of the policy "residual": what it is asked for, and what it keeps. */
#ifndef CLO_TOOLS_CLOTHO_TRAIN_DECIMA_RUN_H
#define CLO_TOOLS_CLOTHO_TRAIN_DECIMA_RUN_H

#include "clotho/train/streams.h"
#include "clotho/train/train.h"
#include "learn/infer/residual_features.h"
#include "train/models/residual.h"
#include "train/models/whiten.h"
#include "train/search/es.h"
#include "train/search/seeds.h"
#include "train/trainer/curve.h"

/* DECIMA_ROWS of features are kept to measure what features are like, one in DECIMA_SPARSE; DECIMA_GROUP rows are
 * candidates of one choice in the comparison of integers with real numbers. */
enum { DECIMA_WORKLOADS_MAX = 64, DECIMA_ROWS = 32768, DECIMA_SPARSE = 13, DECIMA_GROUP = 4, DECIMA_GOLDEN = 16 };

_Static_assert((int)RESIDUAL_NUMBERS <= (int)ES_NUMBERS_MAX, "all of them may move");

typedef struct decima_options {
    const char *spec, *environment, *arrivals, *numbers, *checkpoint, *output, *svg, *name, *deadlines;
    train_seeds texts;
    uint32_t jobs, generations, pairs, each, validate_every, threads, stop;
    /* compared.count 0: no streams to compare integers with real numbers on. */
    seed_list seeds, validation, compared;
    uint64_t seed;
    double scale, sigma, rate;
    bool as_json, trains_all, is_zero, is_common, is_whitened, is_forced;
} decima_options;

/* The real numbers that integers are compared with: those that the model's integers stand for, or those that training
 * had before they were put on the grid of the integers. Neither has roundings between the layers. */
enum { DECIMA_ROUNDED, DECIMA_UNROUNDED, DECIMA_REALS };

typedef struct decima_comparison {
    /* Choices among DECIMA_GROUP rows, without ties: how many, and how often the integers choose as these do. */
    uint64_t choices;
    double agreement;
    /* Mean over the streams of (completion time of the integers / of these) - 1, and 1.96 deviations of that mean. */
    double change, change_error;
} decima_comparison;

typedef struct decima_training {
    decima_options o;
    clo_workload *jobs, *loaded[DECIMA_WORKLOADS_MAX];
    clo_platform *opened;
    train_streams streams;
    const clo_policy *policy;
    /* Of "parametric", for each seed of training, then of validation; 0: not known yet. */
    double *base_ns;
    void *base_argument;
    double numbers[RESIDUAL_NUMBERS];
    /* Which of them move; with directions, how far along each of these. */
    uint32_t moved[RESIDUAL_NUMBERS];
    residual_directions directions;
    es es;
    /* Rows of features of values, [rows_count][CLO_RESIDUAL_FEATURES], with what was not kept between. */
    int16_t *rows;
    uint32_t rows_count;
    uint64_t rows_seen;
    train_point *curve;
    uint32_t curve_count;
    uint64_t hash;
    void *model;
    size_t model_bytes;
    double best[DECIMA_REALS][RESIDUAL_NUMBERS];
    decima_comparison real[DECIMA_REALS];
    /* Of the integers over "parametric", on the streams to compare on. */
    double compared_score;
    int64_t begin_ns;
} decima_training;

/* Each returns EXIT_GOOD, or an exit code after an error line. */

/* Fills rows with those that the network of these numbers meets on a stream. */
int decima_collect(decima_training *t, const double *numbers, uint64_t seed);

/* Reads the checkpoint, if there is one. */
int decima_read_checkpoint(decima_training *t);

/* All generations up to o.stop; draws lines, and the curve. */
int decima_train(decima_training *t);

/* The best numbers, and the model of them. */
int decima_make_model(decima_training *t);

/* The numbers of the network with those that move put in. */
void decima_put_moved(const decima_training *t, const double *moved, double *out);

#endif
