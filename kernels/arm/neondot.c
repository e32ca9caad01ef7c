/* neondot.c - NEON with sdot (Armv8.2 dotprod): four products of int8 at once, signed by signed, without saturation. */
#include "kernels/arm/primitives.h"

typedef int8x16x4_t X8;

V X8 x8_load(const int8_t *x)
{
    return (X8){{vld1q_s8(x), vld1q_s8(x + 16), vld1q_s8(x + 32), vld1q_s8(x + 48)}};
}

V V32 dot8_lanes(V32 acc, X8 x, const int8_t *weights)
{
    const int8x16_t w = vcombine_s8(quad_of(weights), quad_of(weights));

    for (int i = 0; i < 4; i++)
        acc.val[i] = vdotq_s32(acc.val[i], x.val[i], w);
    return acc;
}

V V32 dot8_node(V32 acc, const int8_t *weights, const int8_t *x)
{
    return dot8_lanes(acc, x8_load(weights), x);
}

#include "kernels/template.h"

void clo_kernels_install_neondot(clo_kernels *table)
{
    install_template(table);
}
