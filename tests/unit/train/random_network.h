/* random_network.h - networks with every operation, and jobs for them, from a seed. */
#ifndef CLO_RANDOM_NETWORK_H
#define CLO_RANDOM_NETWORK_H

#include "train/models/decima.h"
#include "train/models/lachesis.h"
#include "train/numbers/parameters.h"

enum { RANDOM_STAGES_MAX = 24, RANDOM_EDGES_MAX = 300, RANDOM_NUMBERS_MAX = 8192, RANDOM_PARAMETERS_MAX = 32768 };

typedef enum random_kind {
    /* any operations */
    RANDOM_OPS,
    RANDOM_DECIMA,
    /* with a critic */
    RANDOM_LACHESIS,
    RANDOM_KINDS
} random_kind;

typedef struct random_network {
    network net;
    uint32_t parameters_count;
    double parameters[RANDOM_PARAMETERS_MAX];
    clo_model_case shape;
    network_case input;
    uint32_t job_of_stage[RANDOM_STAGES_MAX], child_begin[RANDOM_STAGES_MAX + 1], children[RANDOM_EDGES_MAX];
    uint32_t job_of_limit[RANDOM_STAGES_MAX];
    double inputs[RANDOM_NUMBERS_MAX];
    draws d;
} random_network;

void random_network_draw(random_network *r, random_kind kind, uint64_t seed);

#endif
