/* parameters.h - the weights and biases of a network as one vector: how they begin, and how they move.
 *
 * All calls do the same arithmetic in the same order on every machine with IEEE doubles. */
#ifndef CLO_TOOLS_TRAIN_NUMBERS_PARAMETERS_H
#define CLO_TOOLS_TRAIN_NUMBERS_PARAMETERS_H

#include "train/numbers/network.h"

/* A sequence of numbers from a seed (SplitMix64; Steele, Lea, Flood 2014). */
typedef struct draws {
    uint64_t state;
} draws;

uint64_t draws_next(draws *d);
/* In [0, 1). */
double draws_uniform(draws *d);
/* A seed from three numbers, for a sequence that belongs to them alone. */
uint64_t draws_key(uint64_t a, uint64_t b, uint64_t c);

/* Fills what the network's layers have in base[], all of it (network_lies_in): weights uniform in +-sqrt(6 / (inputs +
 * outputs)), inputs and outputs of the whole matrix (Glorot, Bengio 2010), biases 0. */
void parameters_init(const network *net, double *base, uint64_t seed);

/* Zeros in the layer that writes value `value`: with a prior, training starts exactly there. */
void parameters_zero(const network *net, double *base, uint32_t value);

/* Adam (Kingma, Ba 2015) with a bound on the length of the gradient. */
typedef struct adam {
    uint32_t count;
    uint64_t steps;
    /* [count] */
    double *m, *v;
} adam;

/* Makes the gradient no longer than `most` (0: as it is), and returns how long it was. */
double gradient_clip(double *gradient, uint32_t count, double most);

/* One step down the gradient. */
void adam_step(adam *a, double *base, const double *gradient, double rate);

/* From `first` at 0 to `last` at 1, in a straight line. */
double schedule(double first, double last, double at);

#endif
