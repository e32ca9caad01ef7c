/* whiten.h - directions to train the network of the policy "residual" along: for each of its questions the principal
 * components of the features that it met there, each as large as makes what the network adds vary by one octave
 * (whitening). So a step changes decisions by as much along each of them, which no step of single weights does:
 * features move together. Along them the network is a line through the features, without bends. */
#ifndef CLO_TOOLS_TRAIN_MODELS_WHITEN_H
#define CLO_TOOLS_TRAIN_MODELS_WHITEN_H

#include "train/models/residual.h"

/* For each of four questions a constant and a component for each feature, at most. */
enum { WHITEN_DIRECTIONS = 4 * (CLO_RESIDUAL_LIMIT_FEATURES + 1) };

typedef struct residual_directions {
    uint32_t count;
    /* What one unit of direction d adds to the weights of the sums, in the order of residual_last. */
    double of[WHITEN_DIRECTIONS][RESIDUAL_LAST];
} residual_directions;

/* From rows [count][CLO_RESIDUAL_FEATURES] of features. Components that hardly vary are left out, and all of a question
 * that was met too seldom to know them. */
void residual_whiten(const residual_seen *seen, const int16_t *rows, uint32_t count, residual_directions *out);

#endif
