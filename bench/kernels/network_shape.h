/* network_shape.h - the operations of the published Decima network, as "clotho model show" prints them. */
#ifndef BENCH_KERNELS_NETWORK_SHAPE_H
#define BENCH_KERNELS_NETWORK_SHAPE_H

#include <clotho/clotho.h>
#include <stdbool.h>

enum { NETWORK_VALUES = 44, NETWORK_LAYERS = 33, NETWORK_OPS = 45, NETWORK_WIDTH = 64 };

typedef struct network_value {
    clo_model_domain domain;
    uint32_t width;
    bool is_sum, is_input;
} network_value;

/* inputs 0: the rule alone */
typedef struct network_layer {
    uint32_t inputs, outputs;
    bool is_sum, is_leaky;
} network_layer;

extern const network_value network_values[NETWORK_VALUES];
extern const network_layer network_layers[NETWORK_LAYERS];
extern const clo_model_op network_ops[NETWORK_OPS];

/* Operations from here on belong to the head of stages, and of limits; but those of jobs and of all. */
enum { NETWORK_HEADS_BEGIN = 25, NETWORK_SCORE = 33, NETWORK_LIMIT = 43 };

#endif
