/* drawn_model.h - models and cases drawn from a seed, with integers alone: the same on every machine. Any operations in
 * any order that a model may have: loops with and without a way around, values of leaves and of inner stages, joins of
 * every mixture of domains, values that nobody reads. */
#ifndef CLO_DRAWN_MODEL_H
#define CLO_DRAWN_MODEL_H

#include <clotho/model.h>

enum {
    DRAWN_VALUES_MAX = 100,
    DRAWN_LAYERS_MAX = 80,
    DRAWN_OPS_MAX = 100,
    DRAWN_WIDTH_MAX = 33,
    DRAWN_FEATURES_MAX = 5 * DRAWN_WIDTH_MAX
};

/* `desc` points into the rest; nothing has to be freed. Large: not for the stack. */
typedef struct drawn_model {
    clo_model_desc desc;
    clo_model_feature features[DRAWN_FEATURES_MAX];
    clo_model_value values[DRAWN_VALUES_MAX];
    clo_model_layer layers[DRAWN_LAYERS_MAX];
    clo_model_table tables[2];
    clo_model_op ops[DRAWN_OPS_MAX];
    int8_t weights[DRAWN_LAYERS_MAX][DRAWN_WIDTH_MAX * DRAWN_WIDTH_MAX];
    int32_t bias[DRAWN_LAYERS_MAX][DRAWN_WIDTH_MAX], pre[DRAWN_LAYERS_MAX][DRAWN_WIDTH_MAX];
    int16_t m[DRAWN_LAYERS_MAX][DRAWN_WIDTH_MAX], bend[257];
    int8_t look[256];
    uint8_t is_gone[DRAWN_VALUES_MAX];
    uint64_t state;
} drawn_model;

void drawn_model_draw(drawn_model *drawn, uint64_t seed);

/* Shapes of cases. */
typedef enum drawn_shape {
    DRAWN_ANY,
    /* one stage, each the only child of the one before, and none with a child */
    DRAWN_ONE,
    DRAWN_CHAIN,
    DRAWN_WIDE,
    /* each job has one stage */
    DRAWN_SINGLES,
    DRAWN_SHAPES
} drawn_shape;

enum { DRAWN_ROWS_MAX = 256, DRAWN_EDGES_MAX = 4096 };

typedef struct drawn_case {
    clo_model_case input;
    uint32_t job_of_stage[DRAWN_ROWS_MAX], child_begin[DRAWN_ROWS_MAX + 1], children[DRAWN_EDGES_MAX];
    uint32_t job_of_limit[DRAWN_ROWS_MAX];
    int16_t inputs[DRAWN_ROWS_MAX * DRAWN_FEATURES_MAX];
} drawn_case;

/* At most `stages` (1 .. DRAWN_ROWS_MAX) stages; those of a job need not stand together. Inputs within the features'
 * ranges. */
void drawn_case_draw(drawn_case *drawn, const clo_model_desc *model, drawn_shape shape, uint32_t stages, uint64_t seed);

#endif
