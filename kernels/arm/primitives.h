/* kernels/arm/primitives.h - what both NEON variants share: everything but the products of int8. 16 int32 in four
 * registers. Without dotprod, int8 is widened to int16 and each input is multiplied on its own by smlal, which is
 * exact. */
#ifndef CLO_KERNELS_ARM_PRIMITIVES_H
#define CLO_KERNELS_ARM_PRIMITIVES_H

#include "kernels/install.h"

#include <arm_neon.h>
#include <string.h>

enum { GROUP = 4 };

#define START(layer) ((layer)->bias)
#define V static inline __attribute__((always_inline))

typedef int32x4x4_t V32;

/* Four inputs, each with 16 lanes. */
typedef struct {
    int16x8x2_t input[4];
} X16;

V V32 v32_load(const int32_t *p)
{
    return (V32){{vld1q_s32(p), vld1q_s32(p + 4), vld1q_s32(p + 8), vld1q_s32(p + 12)}};
}

V void v32_store(int32_t *p, V32 v)
{
    for (int i = 0; i < 4; i++)
        vst1q_s32(p + 4 * i, v.val[i]);
}

V V32 v32_set1(int32_t value)
{
    const int32x4_t v = vdupq_n_s32(value);

    return (V32){{v, v, v, v}};
}

V V32 v32_add(V32 a, V32 b)
{
    for (int i = 0; i < 4; i++)
        a.val[i] = vaddq_s32(a.val[i], b.val[i]);
    return a;
}

V V32 v32_max(V32 a, V32 b)
{
    for (int i = 0; i < 4; i++)
        a.val[i] = vmaxq_s32(a.val[i], b.val[i]);
    return a;
}

V V32 v32_clamp(V32 v, int32_t lo, int32_t hi)
{
    for (int i = 0; i < 4; i++)
        v.val[i] = vminq_s32(vmaxq_s32(v.val[i], vdupq_n_s32(lo)), vdupq_n_s32(hi));
    return v;
}

V V32 v32_widen(int16x8_t low, int16x8_t high)
{
    return (V32){
        {vmovl_s16(vget_low_s16(low)), vmovl_high_s16(low), vmovl_s16(vget_low_s16(high)), vmovl_high_s16(high)}};
}

V V32 v32_load_s16(const int16_t *p)
{
    return v32_widen(vld1q_s16(p), vld1q_s16(p + 8));
}

V int16x8x2_t words_of_bytes(int8x16_t bytes)
{
    return (int16x8x2_t){{vmovl_s8(vget_low_s8(bytes)), vmovl_high_s8(bytes)}};
}

V V32 v32_load_s8(const int8_t *p)
{
    const int16x8x2_t words = words_of_bytes(vld1q_s8(p));

    return v32_widen(words.val[0], words.val[1]);
}

/* Saturated to int16. */
V int16x8x2_t words_of(V32 v)
{
    return (int16x8x2_t){
        {vqmovn_high_s32(vqmovn_s32(v.val[0]), v.val[1]), vqmovn_high_s32(vqmovn_s32(v.val[2]), v.val[3])}};
}

V int8x16_t bytes_of(int16x8x2_t words)
{
    return vqmovn_high_s16(vqmovn_s16(words.val[0]), words.val[1]);
}

V void narrow_s8(int8_t *p, V32 v)
{
    vst1q_s8(p, bytes_of(words_of(v)));
}

V void narrow_s16(int16_t *p, V32 v)
{
    const int16x8x2_t words = words_of(v);

    vst1q_s16(p, words.val[0]);
    vst1q_s16(p + 8, words.val[1]);
}

/* One bit for each byte that is all ones. */
V uint32_t bits_of(uint8x16_t ones)
{
    static const uint8_t powers[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t bits = vandq_u8(ones, vld1q_u8(powers));

    return (uint32_t)vaddv_u8(vget_low_u8(bits)) | (uint32_t)vaddv_u8(vget_high_u8(bits)) << 8;
}

V uint32_t mask_bits(const uint8_t *mask)
{
    const uint8x16_t bytes = vld1q_u8(mask);

    return bits_of(vtstq_u8(bytes, bytes));
}

V V32 v32_keep(V32 v, uint32_t bits)
{
    static const int32_t powers[4] = {1, 2, 4, 8};
    const int32x4_t power = vld1q_s32(powers);

    for (int i = 0; i < 4; i++)
        v.val[i] = vbslq_s32(vtstq_s32(vdupq_n_s32((int32_t)(bits >> 4 * i)), power), v.val[i], vdupq_n_s32(INT32_MIN));
    return v;
}

V uint32_t v32_equal(V32 v, int32_t value)
{
    const int32x4_t wanted = vdupq_n_s32(value);
    const uint16x8_t low = vcombine_u16(vmovn_u32(vceqq_s32(v.val[0], wanted)), vmovn_u32(vceqq_s32(v.val[1], wanted)));
    const uint16x8_t high =
        vcombine_u16(vmovn_u32(vceqq_s32(v.val[2], wanted)), vmovn_u32(vceqq_s32(v.val[3], wanted)));

    return bits_of(vcombine_u8(vmovn_u16(low), vmovn_u16(high)));
}

V int32_t v32_top(V32 v)
{
    return vmaxvq_s32(vmaxq_s32(vmaxq_s32(v.val[0], v.val[1]), vmaxq_s32(v.val[2], v.val[3])));
}

/* One input of 16 lanes times one weight, a lane of w. */
#define CLO_ADD_INPUT(acc, x, w, lane)                                               \
    ((acc).val[0] = vmlal_lane_s16((acc).val[0], vget_low_s16((x).val[0]), w, lane), \
     (acc).val[1] = vmlal_high_lane_s16((acc).val[1], (x).val[0], w, lane),          \
     (acc).val[2] = vmlal_lane_s16((acc).val[2], vget_low_s16((x).val[1]), w, lane), \
     (acc).val[3] = vmlal_high_lane_s16((acc).val[3], (x).val[1], w, lane))

V V32 add_products(V32 acc, X16 x, int16x4_t w)
{
    CLO_ADD_INPUT(acc, x.input[0], w, 0);
    CLO_ADD_INPUT(acc, x.input[1], w, 1);
    CLO_ADD_INPUT(acc, x.input[2], w, 2);
    CLO_ADD_INPUT(acc, x.input[3], w, 3);
    return acc;
}

V int8x8_t quad_of(const int8_t *four_bytes)
{
    int32_t word;

    memcpy(&word, four_bytes, sizeof word);
    return vreinterpret_s8_s32(vdup_n_s32(word));
}

/* A quad of bytes for 16 lanes, widened. */
V X16 widened(const int8_t *x)
{
    const int8x16x4_t bytes = vld4q_s8(x);

    return (X16){{words_of_bytes(bytes.val[0]), words_of_bytes(bytes.val[1]), words_of_bytes(bytes.val[2]),
                  words_of_bytes(bytes.val[3])}};
}

V X16 x16_load(const int16_t *x)
{
    const int16x8x2_t a = vld2q_s16(x), b = vld2q_s16(x + 16), c = vld2q_s16(x + 32), d = vld2q_s16(x + 48);

    return (X16){{{{a.val[0], b.val[0]}}, {{a.val[1], b.val[1]}}, {{c.val[0], d.val[0]}}, {{c.val[1], d.val[1]}}}};
}

V V32 dot16_lanes(V32 acc, X16 x, const int8_t *weights)
{
    return add_products(acc, x, vget_low_s16(vmovl_s8(quad_of(weights))));
}

V V32 dot16_node(V32 acc, const int8_t *weights, const int16_t *x)
{
    return add_products(acc, widened(weights), vld1_s16(x));
}

/* From t; the multipliers and the words have the same order. */
V int16x8_t finish(const clo_rule *rule, int16x8_t t, int16x8_t m)
{
    int16x8_t r = vqrdmulhq_s16(t, m);

    if (rule->leaky != CLO_LEAKY_NONE)
        r = vmaxq_s16(r, vqrdmulhq_n_s16(r, (int16_t)(rule->leaky * 128)));
    return vminq_s16(vmaxq_s16(r, vdupq_n_s16(rule->lo)), vdupq_n_s16(rule->hi));
}

/* One output of 16 lanes. A shift to the left by a negative number is one to the right that rounds down. */
V int16x8x2_t one_output(const clo_rule *rule, uint32_t n, V32 acc)
{
    const int32x4_t shift = vdupq_n_s32(-rule->pre[n]);
    const int16x8_t m = vdupq_n_s16(rule->m[n]);

    for (int i = 0; i < 4; i++)
        acc.val[i] = vshlq_s32(acc.val[i], shift);
    const int16x8x2_t t = words_of(acc);
    return (int16x8x2_t){{finish(rule, t.val[0], m), finish(rule, t.val[1], m)}};
}

V void quads_store(const clo_rule *rule, uint32_t n, const V32 *acc, int8_t *y)
{
    vst4q_s8(y, (int8x16x4_t){{bytes_of(one_output(rule, n, acc[0])), bytes_of(one_output(rule, n + 1, acc[1])),
                               bytes_of(one_output(rule, n + 2, acc[2])), bytes_of(one_output(rule, n + 3, acc[3]))}});
}

V void pairs_store(const clo_rule *rule, uint32_t n, const V32 *acc, int16_t *y)
{
    const int16x8x2_t first = one_output(rule, n, acc[0]), second = one_output(rule, n + 1, acc[1]);

    vst2q_s16(y, (int16x8x2_t){{first.val[0], second.val[0]}});
    vst2q_s16(y + 16, (int16x8x2_t){{first.val[1], second.val[1]}});
}

V int16x8x2_t node_finish(const clo_rule *rule, uint32_t n, V32 acc)
{
    for (int i = 0; i < 4; i++)
        acc.val[i] = vshlq_s32(acc.val[i], vnegq_s32(vld1q_s32(rule->pre + n + 4 * i)));
    const int16x8x2_t t = words_of(acc);
    return (int16x8x2_t){
        {finish(rule, t.val[0], vld1q_s16(rule->m + n)), finish(rule, t.val[1], vld1q_s16(rule->m + n + 8))}};
}

V void node_store_s8(const clo_rule *rule, uint32_t n, V32 acc, int8_t *y)
{
    vst1q_s8(y, bytes_of(node_finish(rule, n, acc)));
}

V void node_store_s16(const clo_rule *rule, uint32_t n, V32 acc, int16_t *y)
{
    const int16x8x2_t words = node_finish(rule, n, acc);

    vst1q_s16(y, words.val[0]);
    vst1q_s16(y + 8, words.val[1]);
}

#endif
