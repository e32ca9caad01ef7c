/* model_edit.h - copies of a model file with other weights, for controls: what is left of a result without what was
 * learned? */
#ifndef CLO_BENCH_MODEL_EDIT_H
#define CLO_BENCH_MODEL_EDIT_H

#include <clotho/model.h>

/* What is left is the prior, and of it rank-up alone: the order of DEFT. The last layer of the scores keeps its last
 * weight, and the numbers that carry the prior (tools/train/lachesis.h) one feature. */
void *model_without_residual(const clo_model *model);
/* The weights of each layer in another order. */
void *model_shuffled(const clo_model *model, uint64_t seed);

/* Both: bytes as many as the model's, at a multiple of 16; free them. NULL, with a line why, on failure. */

#endif
