/* network.h - a network of Decima's shape with drawn weights, as a model and in floating point, and jobs for it. Times
 * depend on shapes alone. */
#ifndef BENCH_KERNELS_NETWORK_H
#define BENCH_KERNELS_NETWORK_H

#include <clotho/clotho.h>

enum {
    NETWORK_JOBS = 20,
    NETWORK_STAGES = 180,
    NETWORK_LIMITS_EACH = 5,
    NETWORK_LIMITS = NETWORK_JOBS * NETWORK_LIMITS_EACH,
    NETWORK_EDGES_MAX = NETWORK_JOBS * 36
};

/* Jobs as tools/train/models/decima.c draws them, of 9 stages each: an edge with one chance in four. */
typedef struct network_jobs {
    clo_model_case input;
    uint32_t job_of_stage[NETWORK_STAGES], child_begin[NETWORK_STAGES + 1], children[NETWORK_EDGES_MAX];
    uint32_t job_of_limit[NETWORK_LIMITS];
    int16_t numbers[NETWORK_STAGES * 5 + NETWORK_JOBS * 3 + NETWORK_LIMITS];
    /* Stages without a parent: what a policy scores. */
    uint32_t ready[NETWORK_STAGES], ready_count;
} network_jobs;

void network_jobs_draw(network_jobs *jobs, uint64_t seed);

/* Values of int16 or int8. NULL: clo_last_error says why. `data` is to be freed after the model. */
clo_model *network_model(clo_model_number number, uint64_t seed, void **data);

/* The same operations in float, row by row. */
typedef struct network_float network_float;
network_float *network_float_open(uint64_t seed);
void network_float_close(network_float *network);
/* Scores of the stages, then of the limits. With `is_all` false, of the stages that are ready and of the limits of job
 * 0 alone. */
void network_float_run(network_float *network, const network_jobs *jobs, bool is_all, float *scores, float *limits);

/* Multiplications of a row by domain, of the encoder and of the heads. */
extern const uint32_t network_encoder[4], network_heads[4];

#endif
