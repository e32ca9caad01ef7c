/* plan/edges/guide.h - which edges are tried: scores of a network, a prior, or chance. */
#ifndef CLO_PLAN_EDGES_GUIDE_H
#define CLO_PLAN_EDGES_GUIDE_H

#include "base/numbers/rng.h"
#include "learn/infer/infer.h"
#include "plan/edges/state.h"

typedef struct clo_edges_guided {
    clo_edges_guide by;
    /* Gumbel noise on the scores: candidates come as if drawn. */
    bool is_drawn;
    clo_rng rng;
    /* The rest: by a model only. */
    const clo_model *model;
    clo_model_feature features[CLO_EDGES_FEATURES];
    int32_t score_exponent;
    clo_kernels kernels;
    clo_infer *infer;
    void *memory, *own_model;
    int16_t *inputs;
    int32_t *scores;
    uint32_t *stages;
    void *block;
    /* [tasks] in Q16 */
    int64_t *values;
} clo_edges_guided;

/* model: NULL: the built-in one, or the prior where there is none. CLO_OK, CLO_ERR_ARGUMENT (a model with other
 * features), CLO_ERR_UNSUPPORTED or CLO_ERR_MEMORY. */
clo_status clo_edges_guided_open(clo_edges_guided *guided, const clo_edges_room *room, clo_edges_guide by,
                                 const clo_model *model, uint64_t seed);
void clo_edges_guided_close(clo_edges_guided *guided);

/* The `most` candidates of the view that come first, as rows, into out[]. Returns how many. Ties: the lower row. */
uint32_t clo_edges_guided_choose(clo_edges_guided *guided, const clo_edges_view *view, uint32_t most, uint32_t *out);

#endif
