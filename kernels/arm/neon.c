/* neon.c - NEON as every aarch64 has it. */
#include "kernels/arm/primitives.h"

typedef X16 X8;

V X8 x8_load(const int8_t *x)
{
    return widened(x);
}

V V32 dot8_lanes(V32 acc, X8 x, const int8_t *weights)
{
    return dot16_lanes(acc, x, weights);
}

V V32 dot8_node(V32 acc, const int8_t *weights, const int8_t *x)
{
    return add_products(acc, widened(weights), vget_low_s16(vmovl_s8(quad_of(x))));
}

#include "kernels/template.h"

void clo_kernels_install_neon(clo_kernels *table)
{
    install_template(table);
}
