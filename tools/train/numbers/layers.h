/* layers.h - puts a network together, operation by operation, from parameters in one array: what
 * train/models/lachesis.c and train/models/edges_network.c have in common. Limits of network.h and model.h are the
 * caller's. */
#ifndef CLO_TOOLS_TRAIN_NUMBERS_LAYERS_H
#define CLO_TOOLS_TRAIN_NUMBERS_LAYERS_H

#include "train/numbers/network.h"

/* Slope of every layer but the last, for negative numbers. */
#define LAYERS_SLOPE 0.2

/* Width of the first layer over the features of a stage. */
enum { LAYERS_PREP = 16 };

typedef struct layers {
    network *net;
    /* NULL: only `used` is counted. */
    const double *parameters;
    uint32_t used;
} layers;

/* Each returns the index of the value or layer that it has added. `group`: network_value.group. */

uint32_t layers_value(layers *b, clo_model_domain domain, uint32_t width, int group);
/* CLO_MODEL_NONE for width 0. One unit of the model's input is 2^-exponent. */
uint32_t layers_input(layers *b, clo_model_domain domain, uint32_t width, int exponent);
void layers_op(layers *b, clo_model_operation op, uint32_t out, const uint32_t in[3], uint32_t argument);

/* A matrix and its biases, from the next parameters. */
uint32_t layers_matrix(layers *b, uint32_t inputs, uint32_t outputs, double leaky);
/* The value that a matrix makes of `in`. */
uint32_t layers_dense(layers *b, uint32_t in, uint32_t matrix, int group);
/* The same with a matrix of its own. */
uint32_t layers_new_dense(layers *b, uint32_t in, uint32_t outputs, double leaky, int group);

/* Embeddings of stages, of which all values that see children are in `group`:
 *   prep  x -> 16 -> width                  e(0) = prep
 *   e(l+1) = g(sum of the children's e(l)) + h(x) + prep,   g and h the same in all rounds
 * Returns the last e. */
uint32_t layers_embed(layers *b, uint32_t x, uint32_t width, uint32_t rounds, int group);

/* What columns `column` on of the matrix `whole` make of `in`: a part of join `join`. The part of column 0 has the
 * biases. */
uint32_t layers_part(layers *b, network_layer whole, uint32_t in, uint32_t column, int join);
/* The sum of parts[3], CLO_MODEL_NONE: none, as a part of join `join`; NETWORK_NONE: with the slope behind it. */
uint32_t layers_join(layers *b, clo_model_domain domain, const uint32_t parts[3], int join);

#endif
