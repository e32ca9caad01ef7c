/* x86/primitives256.h - what the variants with registers of 256 bits share: 16 int32 in two registers. The file that
 * includes this has defined
 *
 *   add_words   acc + words times words, in pairs, 8 sums
 *
 * and defines X8, x8_load, dot8_lanes, dot8_node and START itself. */
#ifndef CLO_KERNELS_X86_PRIMITIVES256_H
#define CLO_KERNELS_X86_PRIMITIVES256_H

#include "kernels/install.h"

#include <immintrin.h>
#include <string.h>

enum { GROUP = 4, WIDE_GROUP = 4, NODE_GROUPS = 2, NODE_SUMS = 4 };
#define WIDE

#define V static inline __attribute__((always_inline))

/* Lanes 0 .. 7 and 8 .. 15. */
typedef struct {
    __m256i low, high;
} V32;

/* Bytes as words, two of each lane, 8 lanes a register: bytes 0 and 2, then 1 and 3. */
typedef struct {
    V32 even, odd;
} Words;

/* Likewise inputs: 0 and 1, then 2 and 3. */
typedef struct {
    V32 first, second;
} X16;

V int32_t quad_of(const void *four_bytes)
{
    int32_t word;

    memcpy(&word, four_bytes, sizeof word);
    return word;
}

V __m256i load(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

V void store(void *p, __m256i v)
{
    _mm256_storeu_si256((__m256i *)p, v);
}

V V32 v32_load(const int32_t *p)
{
    return (V32){load(p), load(p + 8)};
}

V void v32_store(int32_t *p, V32 v)
{
    store(p, v.low);
    store(p + 8, v.high);
}

V V32 v32_set1(int32_t value)
{
    return (V32){_mm256_set1_epi32(value), _mm256_set1_epi32(value)};
}

V V32 v32_add(V32 a, V32 b)
{
    return (V32){_mm256_add_epi32(a.low, b.low), _mm256_add_epi32(a.high, b.high)};
}

V V32 v32_max(V32 a, V32 b)
{
    return (V32){_mm256_max_epi32(a.low, b.low), _mm256_max_epi32(a.high, b.high)};
}

V V32 v32_clamp(V32 v, int32_t lo, int32_t hi)
{
    const __m256i least = _mm256_set1_epi32(lo), most = _mm256_set1_epi32(hi);

    return (V32){_mm256_min_epi32(_mm256_max_epi32(v.low, least), most),
                 _mm256_min_epi32(_mm256_max_epi32(v.high, least), most)};
}

V V32 v32_load_s8(const int8_t *p)
{
    return (V32){_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)p)),
                 _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(p + 8)))};
}

V V32 v32_load_s16(const int16_t *p)
{
    return (V32){_mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)p)),
                 _mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)(p + 8)))};
}

/* Saturated to int16, in the order of the lanes. */
V __m256i words_of(V32 v)
{
    return _mm256_permute4x64_epi64(_mm256_packs_epi32(v.low, v.high), 0xd8);
}

V void words_store_s8(int8_t *p, __m256i words)
{
    _mm_storeu_si128((__m128i *)p, _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
}

V void narrow_s8(int8_t *p, V32 v)
{
    words_store_s8(p, words_of(v));
}

V void narrow_s16(int16_t *p, V32 v)
{
    store(p, words_of(v));
}

V uint32_t mask_bits(const uint8_t *mask)
{
    const __m128i zeros = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)mask), _mm_setzero_si128());

    return ~(uint32_t)_mm_movemask_epi8(zeros) & 0xffff;
}

/* All bits of a lane set where its bit is set. */
V V32 lanes_of(uint32_t bits)
{
    const __m256i low = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128), high = _mm256_slli_epi32(low, 8);
    const __m256i all = _mm256_set1_epi32((int32_t)bits);

    return (V32){_mm256_cmpeq_epi32(_mm256_and_si256(all, low), low),
                 _mm256_cmpeq_epi32(_mm256_and_si256(all, high), high)};
}

V V32 v32_keep(V32 v, uint32_t bits)
{
    const __m256i least = _mm256_set1_epi32(INT32_MIN);
    const V32 lanes = lanes_of(bits);

    return (V32){_mm256_blendv_epi8(least, v.low, lanes.low), _mm256_blendv_epi8(least, v.high, lanes.high)};
}

V uint32_t v32_equal(V32 v, int32_t value)
{
    const __m256i wanted = _mm256_set1_epi32(value);
    const __m256i words = _mm256_packs_epi32(_mm256_cmpeq_epi32(v.low, wanted), _mm256_cmpeq_epi32(v.high, wanted));
    const __m256i ordered = _mm256_permute4x64_epi64(words, 0xd8);

    return (uint32_t)_mm_movemask_epi8(
        _mm_packs_epi16(_mm256_castsi256_si128(ordered), _mm256_extracti128_si256(ordered, 1)));
}

V int32_t v32_top(V32 v)
{
    const __m256i eight = _mm256_max_epi32(v.low, v.high);
    __m128i four = _mm_max_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));

    four = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4e));
    return _mm_cvtsi128_si32(_mm_max_epi32(four, _mm_shuffle_epi32(four, 0xb1)));
}

/* Bytes 0 and 2 of each 32 bits as words; bytes 1 and 3 likewise. */
V __m256i even_of(__m256i quads)
{
    return _mm256_srai_epi16(_mm256_slli_epi16(quads, 8), 8);
}

V __m256i odd_of(__m256i quads)
{
    return _mm256_srai_epi16(quads, 8);
}

V V32 add_products(V32 acc, V32 x, __m256i w)
{
    return (V32){add_words(acc.low, x.low, w), add_words(acc.high, x.high, w)};
}

V Words words_load(const int8_t *bytes)
{
    const __m256i low = load(bytes), high = load(bytes + 32);

    return (Words){{even_of(low), even_of(high)}, {odd_of(low), odd_of(high)}};
}

V X16 x16_load(const int16_t *x)
{
    return (X16){{load(x), load(x + 16)}, {load(x + 32), load(x + 48)}};
}

/* The words w0 w1 w2 w3 again and again; then only w0 w1, and only w2 w3. */
V V32 dot16_lanes(V32 acc, X16 x, const int8_t *weights)
{
    const __m256i words = _mm256_cvtepi8_epi16(_mm_set1_epi32(quad_of(weights)));

    acc = add_products(acc, x.first, _mm256_shuffle_epi32(words, 0xa0));
    return add_products(acc, x.second, _mm256_shuffle_epi32(words, 0xf5));
}

/* Weights are split into even and odd bytes, so the inputs are too. */
V V32 dot16_node(V32 acc, const int8_t *weights, const int16_t *x)
{
    const uint32_t x0 = (uint16_t)x[0], x1 = (uint16_t)x[1], x2 = (uint16_t)x[2], x3 = (uint16_t)x[3];
    const Words w = words_load(weights);

    acc = add_products(acc, w.even, _mm256_set1_epi32((int32_t)(x0 | x2 << 16)));
    return add_products(acc, w.odd, _mm256_set1_epi32((int32_t)(x1 | x3 << 16)));
}

V __m256i shifted(const clo_rule *rule, uint32_t n, __m256i acc)
{
    return _mm256_srav_epi32(acc, _mm256_set1_epi32(rule->pre[n]));
}

/* From t, with the multipliers of the same outputs beside them. */
V __m256i finish(const clo_rule *rule, __m256i t, __m256i m)
{
    __m256i r = _mm256_mulhrs_epi16(t, m);

    if (rule->leaky != CLO_LEAKY_NONE)
        r = _mm256_max_epi16(r, _mm256_mulhrs_epi16(r, _mm256_set1_epi16((int16_t)(rule->leaky * 128))));
    return _mm256_min_epi16(_mm256_max_epi16(r, _mm256_set1_epi16(rule->lo)), _mm256_set1_epi16(rule->hi));
}

/* The multipliers of two outputs, four times each, in both halves. */
V __m256i spread(const int16_t *m)
{
    return _mm256_shuffle_epi8(_mm256_set1_epi32(quad_of(m)),
                               _mm256_setr_epi8(0, 1, 0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3, 2, 3, 0, 1, 0, 1, 0, 1, 0, 1,
                                                2, 3, 2, 3, 2, 3, 2, 3));
}

/* 8 lanes of two outputs: packs_epi32 puts 4 lanes of one beside the same lanes of the other, in each half. */
V __m256i two_outputs(const clo_rule *rule, uint32_t n, __m256i first, __m256i second)
{
    return finish(rule, _mm256_packs_epi32(shifted(rule, n, first), shifted(rule, n + 1, second)), spread(rule->m + n));
}

V void quads_store(const clo_rule *rule, uint32_t n, const V32 *acc, int8_t *y)
{
    const __m256i order = _mm256_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15, 0, 4, 8, 12, 1, 5, 9,
                                           13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m256i low = _mm256_packs_epi16(two_outputs(rule, n, acc[0].low, acc[1].low),
                                           two_outputs(rule, n + 2, acc[2].low, acc[3].low));
    const __m256i high = _mm256_packs_epi16(two_outputs(rule, n, acc[0].high, acc[1].high),
                                            two_outputs(rule, n + 2, acc[2].high, acc[3].high));

    store(y, _mm256_shuffle_epi8(low, order));
    store(y + 32, _mm256_shuffle_epi8(high, order));
}

V void pairs_store(const clo_rule *rule, uint32_t n, const V32 *acc, int16_t *y)
{
    const __m256i order = _mm256_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15, 0, 1, 8, 9, 2, 3, 10,
                                           11, 4, 5, 12, 13, 6, 7, 14, 15);

    store(y, _mm256_shuffle_epi8(two_outputs(rule, n, acc[0].low, acc[1].low), order));
    store(y + 16, _mm256_shuffle_epi8(two_outputs(rule, n, acc[0].high, acc[1].high), order));
}

V __m256i node_finish(const clo_rule *rule, uint32_t n, V32 acc)
{
    const V32 t = {_mm256_srav_epi32(acc.low, load(rule->pre + n)),
                   _mm256_srav_epi32(acc.high, load(rule->pre + n + 8))};

    return finish(rule, words_of(t), load(rule->m + n));
}

V void node_store_s8(const clo_rule *rule, uint32_t n, V32 acc, int8_t *y)
{
    words_store_s8(y, node_finish(rule, n, acc));
}

V void node_store_s16(const clo_rule *rule, uint32_t n, V32 acc, int16_t *y)
{
    store(y, node_finish(rule, n, acc));
}

V V32 dot_wide(V32 acc, V32 x, const int16_t *pair)
{
    return add_products(acc, x, _mm256_set1_epi32(quad_of(pair)));
}

V V32 pairs_load(const int16_t *x)
{
    return (V32){load(x), load(x + 16)};
}

V V32 dot_wide_node(V32 acc, const int16_t *weights, const int16_t *pair)
{
    return dot_wide(acc, pairs_load(weights), pair);
}

#endif
