/* avxvnni.c - AVX-VNNI, which CPUs without AVX-512 have: vpdpbusd and vpdpwssd on 256 bits. Unsigned activations and
 * the folded bias are those of avx512vnni.c. tanh and moves between rows and lanes are those of avx2.c. */
#include <immintrin.h>

static inline __attribute__((always_inline)) __m256i add_words(__m256i acc, __m256i x, __m256i w)
{
    return _mm256_dpwssd_avx_epi32(acc, x, w);
}

#include "kernels/x86/primitives256.h"

#define START(layer) ((layer)->folded)

typedef V32 X8;

V V32 add_bytes(V32 acc, V32 x, V32 w)
{
    return (V32){_mm256_dpbusd_avx_epi32(acc.low, x.low, w.low), _mm256_dpbusd_avx_epi32(acc.high, x.high, w.high)};
}

V X8 x8_load(const int8_t *x)
{
    const __m256i sign = _mm256_set1_epi8(INT8_MIN);

    return (X8){_mm256_xor_si256(load(x), sign), _mm256_xor_si256(load(x + 32), sign)};
}

V V32 dot8_lanes(V32 acc, X8 x, const int8_t *weights)
{
    return add_bytes(acc, x, v32_set1(quad_of(weights)));
}

V V32 dot8_node(V32 acc, const int8_t *weights, const int8_t *x)
{
    const V32 inputs = v32_set1((int32_t)((uint32_t)quad_of(x) ^ 0x80808080u));

    return add_bytes(acc, inputs, (V32){load(weights), load(weights + 32)});
}

#include "kernels/template.h"

void clo_kernels_install_avxvnni(clo_kernels *table)
{
    install_template(table);
}
