/* edges_network.h - a network that scores tasks as the start or the end of an edge (plan/edges/steps.h). */
#ifndef CLO_TOOLS_TRAIN_MODELS_EDGES_NETWORK_H
#define CLO_TOOLS_TRAIN_MODELS_EDGES_NETWORK_H

#include "learn/infer/edges_features.h"
#include "train/numbers/network.h"

enum { EDGES_WIDTH = 8, EDGES_ROUNDS = 2, EDGES_EXPONENT = 11 };

/* How the features of list 3 are scaled: logarithms by 2^-10, shares as they are. [CLO_EDGES_FEATURES] */
extern const clo_model_feature edges_features[];

uint32_t edges_parameters(void);

/* Makes the network, which borrows parameters[edges_parameters]. */
void edges_network(const double *parameters, network *net);

#endif
