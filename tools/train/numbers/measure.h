/* measure.h - what the numbers of a network are like on jobs, from which train/models/quantize.h chooses scales and
 * rounds weights. */
#ifndef CLO_TOOLS_TRAIN_NUMBERS_MEASURE_H
#define CLO_TOOLS_TRAIN_NUMBERS_MEASURE_H

#include "train/numbers/network.h"

typedef struct measure {
    /* Of each value, [width]: the largest |x| of each number. */
    double *most[NETWORK_VALUES_MAX];
    /* The same before the slope of the layer that gives the value, which makes negative numbers smaller. */
    double *most_before[NETWORK_VALUES_MAX];
    /* Of each layer with weights: rows that it read, sums of its inputs [inputs], and of the products of each two of
     * them [inputs][inputs]. */
    double rows[NETWORK_LAYERS_MAX];
    double *sums[NETWORK_LAYERS_MAX], *products[NETWORK_LAYERS_MAX];
    network_tape tape;
} measure;

/* False: no memory; then it is closed. */
bool measure_open(measure *m, const network *net);
void measure_close(measure *m);

/* Runs the network on a case. False: no memory. `most` of the network's values grows too. */
bool measure_add(measure *m, network *net, const network_case *input);

#endif
