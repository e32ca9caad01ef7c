/* decima.h - Decima's network (Mao et al., SIGCOMM 2019) as spark-sched-sim has it, from its weights. */
#ifndef CLO_TOOLS_TRAIN_MODELS_DECIMA_H
#define CLO_TOOLS_TRAIN_MODELS_DECIMA_H

#include "train/numbers/network.h"

enum {
    DECIMA_MLPS = 7,
    DECIMA_DEPTH = 3,
    DECIMA_STAGE_FEATURES = 5,
    DECIMA_JOB_FEATURES = 3,
    /* Work is the widest: it stands as four numbers, which add up to it. */
    DECIMA_WORK_PARTS = 4,
    DECIMA_FEATURES = 12,
    DECIMA_EXPONENT = 12
};

/* In the order of decima_shapes. */
enum { DECIMA_PREP, DECIMA_MESSAGE, DECIMA_UPDATE, DECIMA_DAG, DECIMA_GLOBAL, DECIMA_STAGE, DECIMA_LIMIT };

/* Numbers of an MLP's inputs and of the outputs of its layers. */
extern const uint32_t decima_shapes[DECIMA_MLPS][DECIMA_DEPTH + 1];

typedef struct decima_weights {
    /* [outputs][inputs], [outputs] */
    double *weights[DECIMA_MLPS][DECIMA_DEPTH], *biases[DECIMA_MLPS][DECIMA_DEPTH];
    double executors, tasks_scale, work_scale_ms;
    /* Of negative numbers; 0: 0.2, as spark-sched-sim has it. */
    double slope;
} decima_weights;

/* The network borrows the weights. The features of list 4. */
void decima_network(const decima_weights *weights, network *net);
void decima_features(const decima_weights *weights, clo_model_feature features[DECIMA_FEATURES]);

/* Jobs drawn from a seed: shape, inputs as the model gets them and as real numbers. Raw numbers are counts and ns. */
typedef struct decima_case {
    clo_model_case shape;
    network_case real;
    uint32_t job_of_stage[CLO_MODEL_GOLDEN_ROWS_MAX], child_begin[CLO_MODEL_GOLDEN_ROWS_MAX + 1];
    uint32_t children[CLO_MODEL_GOLDEN_EDGES_MAX], job_of_limit[CLO_MODEL_GOLDEN_ROWS_MAX];
    int16_t integers[CLO_MODEL_GOLDEN_ROWS_MAX * DECIMA_FEATURES];
    double numbers[CLO_MODEL_GOLDEN_ROWS_MAX * DECIMA_FEATURES];
} decima_case;

void decima_draw(decima_case *drawn, const decima_weights *weights, uint64_t seed);

#endif
