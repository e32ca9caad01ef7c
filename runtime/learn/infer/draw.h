/* learn/infer/draw.h - drawing a choice with the probabilities of softmax: the arg-max of scores with Gumbel noise. The
 * noise of a choice depends on the seed, on the number of the decision and on the key of the candidate alone. */
#ifndef CLO_LEARN_INFER_DRAW_H
#define CLO_LEARN_INFER_DRAW_H

#include "base/status.h"
#include "learn/format/opened.h"

/* Seeds of decisions lie 2^64 / golden ratio apart. */
static inline uint64_t clo_draw_seed(uint64_t seed, uint64_t decision)
{
    return seed + UINT64_C(0x9e3779b97f4a7c15) * decision;
}

/* What clo_kernels.perturb wants: one unit of the value, 2^-exponent, in Q32. CLO_OK, or CLO_ERR_ARGUMENT where that is
 * no int32 > 0. */
static inline clo_status clo_draw_scale(const clo_model *model, uint32_t value, int32_t *scale)
{
    int32_t exponent = model->values[value].exponent;

    if (exponent < 2 || exponent > 32)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "the model '%.32s': its scores have the exponent %d, and can be drawn from with 2 to 32 only; "
                        "leave 'sampled' out",
                        model->header->name, exponent);
    *scale = (int32_t)(INT64_C(1) << (32 - exponent));
    return CLO_OK;
}

#endif
