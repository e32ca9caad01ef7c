/* lachesis.h - a network like LACHESIS's (Luo et al., 2021): stages see their children L times, jobs and the system are
 * sums, and a head scores each stage. Offline and online, with any numbers of features. */
#ifndef CLO_TOOLS_TRAIN_MODELS_LACHESIS_H
#define CLO_TOOLS_TRAIN_MODELS_LACHESIS_H

#include "train/numbers/network.h"

enum { LACHESIS_HEAD_DEPTH = 4, LACHESIS_ROUNDS_MAX = 8 };

typedef struct lachesis_shape {
    /* Features; stages have one at least. */
    uint32_t stage_inputs, job_inputs, system_inputs;
    /* D: of each embedding; L: how often stages see their children, 1 .. LACHESIS_ROUNDS_MAX. L is 0: the prior alone is
     * the score, and there is no network. */
    uint32_t width, rounds;
    /* One unit of an input of the model file is 2^-exponent. */
    int exponent;
    /* A value of all jobs together, for a critic: only while training. Its parameters are the last ones. */
    bool has_critic;
    /* 1, 3 or 5: each stage adds so many times a sum of its own features to its score, on a straight way beside the
     * network, in int32. Its weights and a constant are the last parameters; not with a critic. 0: none. */
    uint32_t prior_times;
} lachesis_shape;

/* The paper's D and L. */
#define LACHESIS_SHAPE_INIT                                                                              \
    {                                                                                                    \
        .stage_inputs = 7, .job_inputs = 5, .system_inputs = 2, .width = 16, .rounds = 3, .exponent = 12 \
    }

/* Numbers of all its weights and biases. */
uint32_t lachesis_parameters(const lachesis_shape *shape);

/* Makes the network, which borrows parameters[lachesis_parameters]. Its inputs in order: of stages, of jobs, of the
 * system; those of width 0 are not there.
 *   critic  receives the value of a critic, CLO_MODEL_NONE without one; may be NULL.
 * False: the shape is wider than the limits of model.h or train/numbers/network.h. */
bool lachesis_network(const lachesis_shape *shape, const double *parameters, network *net, uint32_t *critic);

/* What prior_times is best for a prior of this scale, whose weights are whole numbers of 1/127: then int8 holds them,
 * and one unit of the score is nearest to a power of two, as the exponent of the score has to say it. */
uint32_t lachesis_prior_times(double scale, int exponent);

/* The parameters of a network with a prior: its scores are those of `parameters`, and `scale` times the sum of
 * weights[stage_inputs] times the features of the stage.
 *
 *   shape  with prior_times: of `out`. That of `parameters` has none.
 *   out    [lachesis_parameters of the shape] */
void lachesis_with_prior(const lachesis_shape *shape, const double *parameters, const double *weights, double scale,
                         double *out);

#endif
