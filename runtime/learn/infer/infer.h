/* learn/infer/infer.h - runs a model in memory that the caller gives, for policies: no allocation, no failure, and the
 * same numbers as learn/infer/run.c, bit for bit, with every variant of the kernels.
 *
 * A decision needs what all stages and jobs see (the encoder), then scores of the stages that could start, then of the
 * limits of one job (the heads):
 *
 *     size_t bytes = clo_infer_bytes(model, &sizes);
 *     clo_infer *infer = clo_infer_init(model, &kernels, &sizes, memory);
 *
 *     clo_infer_encode(infer, &input);
 *     clo_infer_score(infer, ready, ready_count, scores);
 *     clo_infer_limits(infer, job, numbers, count, limit_scores);
 *
 * Which operations belong to the heads is found from the model, when it is prepared. A model that scores within its
 * encoder works too: the heads then only pick. */
#ifndef CLO_LEARN_INFER_INFER_H
#define CLO_LEARN_INFER_INFER_H

#include "learn/format/opened.h"

/* The most rows and edges that a case will have. */
typedef struct clo_infer_sizes {
    uint32_t stages, jobs, limits, edges;
} clo_infer_sizes;

/* Lies in the caller's memory and has nothing to be freed. One thread at a time. */
typedef struct clo_infer clo_infer;

/* Bytes that clo_infer_init takes; 0: more than a size_t counts. */
size_t clo_infer_bytes(const clo_model *model, const clo_infer_sizes *sizes);

/* `memory`: clo_infer_bytes, at a multiple of 64. `model` is borrowed, `kernels` is copied. O(memory). */
clo_infer *clo_infer_init(const clo_model *model, const clo_kernels *kernels, const clo_infer_sizes *sizes,
                          void *memory);

/* All that does not belong to a head. `input` is within the sizes and keeps what clo_check_case says; it is not checked
 * again. It is borrowed until the next call of this function, its arrays too. Its limits matter to clo_infer_run
 * alone and may be 0. */
void clo_infer_encode(clo_infer *infer, const clo_model_case *input);

/* scores[i] of stage stages[i], for `count` stages (sizes.stages at most) of the case that was encoded last. */
void clo_infer_score(clo_infer *infer, const uint32_t *stages, uint32_t count, int32_t *scores);

/* scores[i] of limit i of `job`, for `count` limits (sizes.limits at most). `inputs`: all input values of limits in
 * order, each [count][width]. Zeros in a model without limits. */
void clo_infer_limits(clo_infer *infer, uint32_t job, const int16_t *inputs, uint32_t count, int32_t *scores);

/* The whole model: scores [stages], limits [limits] of the case; `limits` may be NULL. */
void clo_infer_run(clo_infer *infer, const clo_model_case *input, int32_t *scores, int32_t *limits);

/* What a policy charges: multiplications / 64, rounded up, of the encoder on so many rows, and of the heads on so many
 * stages and limits of one job, one more for each of these. It depends on the model and the counts alone. */
uint64_t clo_infer_steps_encode(const clo_infer *infer, uint32_t stages, uint32_t jobs);
uint64_t clo_infer_steps_heads(const clo_infer *infer, uint32_t stages, uint32_t limits);

#endif
