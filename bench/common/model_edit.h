/* model_edit.h - copies of a model with other weights, for controls: what is left of a result without what was
 * learned? */
#ifndef CLO_BENCH_MODEL_EDIT_H
#define CLO_BENCH_MODEL_EDIT_H

#include <clotho/model.h>

typedef enum model_edit {
    MODEL_AS_IS,
    /* The weights of each layer in another order. */
    MODEL_SHUFFLED,
    /* Of LACHESIS's network or rule (tools/train/models/lachesis.h): of the prior rank-up alone, and nothing of the
     * rest: DEFT's order. */
    MODEL_RANK_UP_ALONE,
    /* Scores of zero: a network that says nothing. */
    MODEL_SILENT,
    /* Messages of zero from children to parents: each stage is seen without those behind it. */
    MODEL_NO_MESSAGES
} model_edit;

/* NULL after a line that says why; *memory is to be freed behind the model. */
clo_model *model_edited(const clo_model *model, model_edit edit, uint64_t seed, void **memory);

/* Likewise of a built-in one. */
clo_model *model_builtin(const char *name, model_edit edit, uint64_t seed, void **memory);

#endif
