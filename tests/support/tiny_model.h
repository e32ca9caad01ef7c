/* tiny_model.h - a small model that uses every operation, and cases for it. Weights are drawn from a fixed seed. */
#ifndef CLO_TINY_MODEL_H
#define CLO_TINY_MODEL_H

#include <clotho/model.h>

/* Values of the model. */
enum {
    TINY_X,       /* stage, 3 features, int16 */
    TINY_J,       /* job, 2 features, int8 */
    TINY_L,       /* limit, 1 feature, int16 */
    TINY_PREP,    /* stage, 5 */
    TINY_SUM,     /* stage, 5: of the children's messages */
    TINY_H,       /* stage, 5 */
    TINY_UPDATE,  /* stage, 5 */
    TINY_MESSAGE, /* stage, 5 */
    TINY_DAG,     /* job, 5, int32 */
    TINY_DAG16,   /* job, 5, int16 */
    TINY_ALL,     /* global, 5, int16 */
    TINY_PART_H,  /* stage, 17, int32 */
    TINY_PART_J,  /* job, 17, int32 */
    TINY_PART_G,  /* global, 17, int32 */
    TINY_HIDDEN,  /* stage, 17, int8 */
    TINY_LOOKED,  /* stage, 17, int8 */
    TINY_SCORE,   /* stage, 1, int32 */
    TINY_PART_L,  /* limit, 17, int32 */
    TINY_WIDE,    /* limit, 17, int16 */
    TINY_BENT,    /* limit, 17, int16 */
    TINY_LIMIT,   /* limit, 1, int32 */
    TINY_VALUES
};

/* A description that owns nothing; valid until the next call. It may be changed before it is built. */
typedef struct tiny_model {
    clo_model_desc desc;
    clo_model_feature features[6];
    clo_model_value values[TINY_VALUES];
    clo_model_layer layers[16];
    clo_model_table tables[2];
    clo_model_op ops[32];
    clo_model_case cases[3];
    int8_t weights[16][17 * 17];
    int32_t bias[16][17], pre[16][17];
    int16_t m[16][17], bend[257];
    int8_t look[256];
    int16_t inputs[3][64];
} tiny_model;

void tiny_model_draw(tiny_model *tiny, uint64_t seed);

#endif
