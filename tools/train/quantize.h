/* quantize.h - from a network in floating point to a model file in integers. */
#ifndef CLOTHO_TRAIN_QUANTIZE_H
#define CLOTHO_TRAIN_QUANTIZE_H

#include "network.h"

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
} quantize_config;

/* Chooses exponents from what network_run has seen, with a margin of two, and builds the model. Weights are int8,
 * symmetric, with a scale for each output; values are int16. Exponents are written into `net`.
 *
 * Returns as clo_model_build; CLO_ERR_LIMIT with `*why` set: a scale cannot be written as a rule. */
clo_status quantize(network *net, const quantize_config *config, void **out, size_t *bytes, const char **why);

#endif
