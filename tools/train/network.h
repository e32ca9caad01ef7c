/* network.h - a network in floating point: the operations of a model file on real numbers. It is the reference that an
 * integer model is compared with, and it measures how large each value gets, which the scales are chosen from. */
#ifndef CLOTHO_TRAIN_NETWORK_H
#define CLOTHO_TRAIN_NETWORK_H

#include <clotho/clotho.h>

#include <stdbool.h>

enum { NETWORK_VALUES_MAX = 64, NETWORK_LAYERS_MAX = 64, NETWORK_OPS_MAX = 64, NETWORK_JOINS_MAX = 4 };

/* No join, no group. */
#define NETWORK_NONE (-1)

typedef struct network_value {
    clo_model_domain domain;
    uint32_t width;
    bool is_input;
    /* int32 sums. `join`: they are parts of a layer over several inputs, which share a scale for each output. */
    bool is_sum;
    int join;
    /* Values of one group get the same exponent. */
    int group;
    /* Given, or NETWORK_NONE: found from `most`, and then exponent_max at most. */
    int exponent, exponent_max;
    /* Largest |x| that was seen. */
    double most;
    /* Each number stands so many times in a row of the model: weights that are added up are finer than int8. */
    uint32_t repeat;
} network_value;

/* A slice of the columns of a matrix [outputs][stride], from `column` on. */
typedef struct network_layer {
    uint32_t inputs, outputs, stride, column;
    /* NULL: the rule alone; zeros */
    const double *weights, *bias;
    /* Slope for negative results; 1: none. */
    double leaky;
} network_layer;

typedef struct network {
    network_value values[NETWORK_VALUES_MAX];
    network_layer layers[NETWORK_LAYERS_MAX];
    /* The argument of TANH is not looked at. */
    clo_model_op ops[NETWORK_OPS_MAX];
    uint32_t values_count, layers_count, ops_count;
    uint32_t score, limit;
} network;

/* Jobs as in clo_model_case, with real inputs. */
typedef struct network_case {
    const clo_model_case *shape;
    /* All input values in order, each [rows][width]. */
    const double *inputs;
} network_case;

uint32_t network_rows(const clo_model_case *shape, clo_model_domain domain);

/* Fills scores [stages] and limits [limits], and makes `most` of each value larger where it must be. False: there is no
 * memory. */
bool network_run(network *net, const network_case *input, double *scores, double *limits);

#endif
