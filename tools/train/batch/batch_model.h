/* batch_model.h - a trained network with its prior as a model file, and what integers change. */
#ifndef CLO_TOOLS_TRAIN_BATCH_BATCH_MODEL_H
#define CLO_TOOLS_TRAIN_BATCH_BATCH_MODEL_H

#include "train/batch/batch.h"
#include "train/models/lachesis.h"

typedef struct batch_model {
    /* free() it */
    void *data;
    size_t bytes;
} batch_model;

/* The model of `parameters`, which are those of `shape` without a prior, and of the set's prior; NULL: of the prior
 * alone, a rule without a network. The scales come from
 * all batches of the set; the first small ones are the golden vectors. Returns as quantize_on. */
clo_status batch_quantize(const batch_set *set, const lachesis_shape *shape, const double *parameters, const char *name,
                          batch_model *out, const char **why);

/* Greedy orders by real numbers: decisions with four candidates or more whose best one is alone, and of these where the
 * integers choose the same. Sums of makespan / reference over the batches, by real numbers and by integers. Batches of
 * more stages than a golden vector may have are left out. */
typedef struct batch_agreement {
    uint64_t decisions, same;
    uint32_t batches;
    double reals, integers;
} batch_agreement;

/* Adds batch `b` to `found`; parameters as in batch_quantize. Returns CLO_OK, or as clo_model_scores. */
clo_status batch_compare(const batch *b, const batch_set *set, const lachesis_shape *shape, const double *parameters,
                         const clo_model *model, batch_agreement *found);

#endif
