/* quantize.h - from a network in floating point to a model file in integers. */
#ifndef CLO_TOOLS_TRAIN_MODELS_QUANTIZE_H
#define CLO_TOOLS_TRAIN_MODELS_QUANTIZE_H

#include "train/numbers/measure.h"

/* Exponents around tanh, as clo_model_operation says. */
enum { QUANTIZE_TANH_IN = 12, QUANTIZE_TANH_OUT = 15 };

/* What the description of the model takes from outside the network. */
typedef struct quantize_config {
    const char *name;
    clo_model_kind kind;
    uint32_t feature_set;
    const clo_model_feature *features;
    uint32_t features_count;
    /* Golden vectors. */
    const clo_model_case *cases;
    uint32_t cases_count;
    /* Numbers of stages may get so many times as large as what was seen; 0: 3. A smaller one is finer, and wants many
     * cases. */
    double margin;
    /* There is room for sums as they are before the slope: it is there that they saturate. False: only for the numbers
     * behind it, where a negative one is a fifth. */
    bool has_room_before_slope;
} quantize_config;

/* Chooses exponents and units from what was seen, and builds the model. Weights are int8, symmetric, with a scale for
 * each output; values are int16. Exponents are written into `net`, which is the one that was measured.
 *
 * Returns as clo_model_build; CLO_ERR_LIMIT with `*why` set: a scale cannot be written as a rule. */
clo_status quantize(network *net, const measure *seen, const quantize_config *config, void **out, size_t *bytes,
                    const char **why);

/* Jobs for scales and golden vectors, in integers; the real numbers are made of them by the inputs' exponents. */
typedef struct quantize_cases {
    const clo_model_case *list;
    uint32_t count;
    /* Of the first ones are golden vectors; CLO_MODEL_GOLDEN_MAX at most. */
    uint32_t golden;
} quantize_cases;

/* Runs the network on all cases, then `quantize`, whose `config->cases` are not looked at. The
 * exponents of the inputs stand in `net`. Returns as quantize, and CLO_ERR_MEMORY. */
clo_status quantize_on(network *net, const quantize_config *config, const quantize_cases *cases, void **out,
                       size_t *bytes, const char **why);

/* How often the integers choose what the real numbers choose: in each job of each case with four stages or more, the
 * stage with the largest score; jobs where two stages share it in the real numbers do not count. */
typedef struct quantize_agreement {
    uint64_t choices, same;
} quantize_agreement;

/* Adds to `found`. Returns CLO_OK, or as clo_model_scores. */
clo_status quantize_compare(network *net, const clo_model *model, const quantize_cases *cases,
                            quantize_agreement *found);

#endif
