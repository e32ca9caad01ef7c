/* avx512vnni.c - AVX-512 with VNNI: 16 int32 in a register. vpdpbusd multiplies unsigned by signed numbers: the
 * activations become unsigned by x ^ 0x80 = x + 128, and the folded bias takes 128 * weight away again. It wraps;
 * vpmaddubsw would saturate and is not used. vpdpwssd has no such restriction. */
#include "kernels/install.h"
#include "kernels/x86/x86.h"

#include <immintrin.h>
#include <string.h>

enum { GROUP = 16, WIDE_GROUP = 16, NODE_GROUPS = 4, NODE_SUMS = 8 };
#define WIDE

#define START(layer) ((layer)->folded)
#define V static inline __attribute__((always_inline))

typedef __m512i V32;
typedef __m512i X8;
typedef struct {
    __m512i first, second; /* inputs 0 and 1, 2 and 3 of each lane */
} X16;

V int32_t quad_of(const void *four_bytes)
{
    int32_t word;

    memcpy(&word, four_bytes, sizeof word);
    return word;
}

V V32 v32_load(const int32_t *p)
{
    return _mm512_loadu_si512(p);
}

V void v32_store(int32_t *p, V32 v)
{
    _mm512_storeu_si512(p, v);
}

V V32 v32_set1(int32_t value)
{
    return _mm512_set1_epi32(value);
}

V V32 v32_add(V32 a, V32 b)
{
    return _mm512_add_epi32(a, b);
}

V V32 v32_max(V32 a, V32 b)
{
    return _mm512_max_epi32(a, b);
}

V V32 v32_clamp(V32 v, int32_t lo, int32_t hi)
{
    return _mm512_min_epi32(_mm512_max_epi32(v, _mm512_set1_epi32(lo)), _mm512_set1_epi32(hi));
}

V V32 v32_load_s8(const int8_t *p)
{
    return _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)p));
}

V V32 v32_load_s16(const int16_t *p)
{
    return _mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i *)p));
}

V void narrow_s8(int8_t *p, V32 v)
{
    _mm_storeu_si128((__m128i *)p, _mm512_cvtepi32_epi8(v));
}

V void narrow_s16(int16_t *p, V32 v)
{
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi32_epi16(v));
}

V uint32_t mask_bits(const uint8_t *mask)
{
    const __m128i bytes = _mm_loadu_si128((const __m128i *)mask);

    return _mm_test_epi8_mask(bytes, bytes);
}

V V32 v32_keep(V32 v, uint32_t bits)
{
    return _mm512_mask_mov_epi32(_mm512_set1_epi32(INT32_MIN), (__mmask16)bits, v);
}

V uint32_t v32_equal(V32 v, int32_t value)
{
    return _mm512_cmpeq_epi32_mask(v, _mm512_set1_epi32(value));
}

V int32_t v32_top(V32 v)
{
    return _mm512_reduce_max_epi32(v);
}

V X8 x8_load(const int8_t *x)
{
    return _mm512_xor_si512(_mm512_loadu_si512(x), _mm512_set1_epi8(INT8_MIN));
}

/* In assembly, because gcc 12 copies each sum before it adds to it; the weights are broadcast by the same
 * instruction. */
typedef int32_t __attribute__((may_alias, aligned(1))) quad_in_memory;

V V32 dot8_lanes(V32 acc, X8 x, const int8_t *weights)
{
    __asm__("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(acc) : "v"(x), "m"(*(const quad_in_memory *)weights));
    return acc;
}

V V32 dot8_node(V32 acc, const int8_t *weights, const int8_t *x)
{
    const __m512i inputs = _mm512_set1_epi32((int32_t)((uint32_t)quad_of(x) ^ 0x80808080u));

    return _mm512_dpbusd_epi32(acc, inputs, _mm512_loadu_si512(weights));
}

V X16 x16_load(const int16_t *x)
{
    return (X16){_mm512_loadu_si512(x), _mm512_loadu_si512(x + 32)};
}

/* The words w0 w1 w2 w3 again and again; then only w0 w1, and only w2 w3. */
V V32 dot16_lanes(V32 acc, X16 x, const int8_t *weights)
{
    const __m512i words = _mm512_cvtepi8_epi16(_mm256_set1_epi32(quad_of(weights)));

    acc = _mm512_dpwssd_epi32(acc, x.first, _mm512_shuffle_epi32(words, _MM_PERM_CCAA));
    return _mm512_dpwssd_epi32(acc, x.second, _mm512_shuffle_epi32(words, _MM_PERM_DDBB));
}

V V32 dot_wide(V32 acc, __m512i x, const int16_t *pair)
{
    __asm__("vpdpwssd %2%{1to16%}, %1, %0" : "+v"(acc) : "v"(x), "m"(*(const quad_in_memory *)pair));
    return acc;
}

V V32 pairs_load(const int16_t *x)
{
    return _mm512_loadu_si512(x);
}

V V32 dot_wide_node(V32 acc, const int16_t *weights, const int16_t *pair)
{
    __asm__("vpdpwssd %2%{1to16%}, %1, %0"
            : "+v"(acc)
            : "v"(_mm512_loadu_si512(weights)), "m"(*(const quad_in_memory *)pair));
    return acc;
}

/* Bytes 0 and 2 of each quad of weights as words, then 1 and 3; the inputs in the same order. */
V V32 dot16_node(V32 acc, const int8_t *weights, const int16_t *x)
{
    const __m512i w = _mm512_loadu_si512(weights);
    const uint32_t x0 = (uint16_t)x[0], x1 = (uint16_t)x[1], x2 = (uint16_t)x[2], x3 = (uint16_t)x[3];

    acc = _mm512_dpwssd_epi32(acc, _mm512_srai_epi16(_mm512_slli_epi16(w, 8), 8),
                              _mm512_set1_epi32((int32_t)(x0 | x2 << 16)));
    return _mm512_dpwssd_epi32(acc, _mm512_srai_epi16(w, 8), _mm512_set1_epi32((int32_t)(x1 | x3 << 16)));
}

/* Sums are shifted by their own output's amount, which is read from memory as a broadcast. */
V __m512i shifted(const clo_rule *rule, uint32_t n, V32 acc)
{
    return _mm512_srav_epi32(acc, _mm512_set1_epi32(rule->pre[n]));
}

/* From t, with the multipliers of the same outputs beside them. */
V __m512i finish(const clo_rule *rule, __m512i t, __m512i m)
{
    __m512i r = _mm512_mulhrs_epi16(t, m);

    if (rule->leaky != CLO_LEAKY_NONE)
        r = _mm512_max_epi16(r, _mm512_mulhrs_epi16(r, _mm512_set1_epi16((int16_t)(rule->leaky * 128))));
    return _mm512_min_epi16(_mm512_max_epi16(r, _mm512_set1_epi16(rule->lo)), _mm512_set1_epi16(rule->hi));
}

/* packs_epi32 puts 4 lanes of one output beside the same lanes of another, in each quarter of the register: the
 * multipliers are spread likewise, and the last shuffle makes quads of the four outputs. */
V void quads_store(const clo_rule *rule, uint32_t n, const V32 *acc, int8_t *y)
{
    const __m512i spread = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3, 2, 3));
    const __m512i order = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    const __m512i t01 = _mm512_packs_epi32(shifted(rule, n, acc[0]), shifted(rule, n + 1, acc[1]));
    const __m512i t23 = _mm512_packs_epi32(shifted(rule, n + 2, acc[2]), shifted(rule, n + 3, acc[3]));
    const __m512i m01 = _mm512_shuffle_epi8(_mm512_set1_epi32(quad_of(rule->m + n)), spread);
    const __m512i m23 = _mm512_shuffle_epi8(_mm512_set1_epi32(quad_of(rule->m + n + 2)), spread);
    const __m512i bytes = _mm512_packs_epi16(finish(rule, t01, m01), finish(rule, t23, m23));

    _mm512_storeu_si512(y, _mm512_shuffle_epi8(bytes, order));
}

/* The two outputs of each lane side by side, then the rule, whose multipliers are then a pair for all lanes. t * m of
 * int16 cannot fall below -32767, so most limits of int16 need no clamp. */
V void pairs_store(const clo_rule *rule, uint32_t n, const V32 *acc, int16_t *y)
{
    const __m512i order = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15));
    const __m512i t = _mm512_packs_epi32(shifted(rule, n, acc[0]), shifted(rule, n + 1, acc[1]));
    __m512i r = _mm512_mulhrs_epi16(_mm512_shuffle_epi8(t, order), _mm512_set1_epi32(quad_of(rule->m + n)));

    if (rule->leaky != CLO_LEAKY_NONE)
        r = _mm512_max_epi16(r, _mm512_mulhrs_epi16(r, _mm512_set1_epi16((int16_t)(rule->leaky * 128))));
    if (rule->lo > -INT16_MAX || rule->hi < INT16_MAX)
        r = _mm512_min_epi16(_mm512_max_epi16(r, _mm512_set1_epi16(rule->lo)), _mm512_set1_epi16(rule->hi));
    _mm512_storeu_si512(y, r);
}

V __m256i node_finish(const clo_rule *rule, uint32_t n, V32 acc)
{
    const __m512i shift = _mm512_loadu_si512(rule->pre + n);
    const __m256i t = _mm512_cvtsepi32_epi16(_mm512_srav_epi32(acc, shift));
    __m256i r = _mm256_mulhrs_epi16(t, _mm256_loadu_si256((const __m256i *)(rule->m + n)));

    if (rule->leaky != CLO_LEAKY_NONE)
        r = _mm256_max_epi16(r, _mm256_mulhrs_epi16(r, _mm256_set1_epi16((int16_t)(rule->leaky * 128))));
    return _mm256_min_epi16(_mm256_max_epi16(r, _mm256_set1_epi16(rule->lo)), _mm256_set1_epi16(rule->hi));
}

V void node_store_s8(const clo_rule *rule, uint32_t n, V32 acc, int8_t *y)
{
    _mm_storeu_si128((__m128i *)y, _mm256_cvtepi16_epi8(node_finish(rule, n, acc)));
}

V void node_store_s16(const clo_rule *rule, uint32_t n, V32 acc, int16_t *y)
{
    _mm256_storeu_si256((__m256i *)y, node_finish(rule, n, acc));
}

#include "kernels/template.h"

/* Both points of the table come with one gather; multiplied and added up in pairs. 16 numbers, those of the mask. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion" /* at -O0 the gather is a macro with a signed mask */
V void tanh_16(const int16_t *table, const int16_t *x, __mmask16 mask, int16_t *y)
{
    const __m512i v = _mm512_cvtepi16_epi32(_mm256_maskz_loadu_epi16(mask, x));
    const __m512i at = _mm512_add_epi32(_mm512_srai_epi32(v, 8), _mm512_set1_epi32(128));
    const __m512i part = _mm512_and_si512(v, _mm512_set1_epi32(255));
    const __m512i shares = _mm512_or_si512(_mm512_slli_epi32(part, 16), _mm512_sub_epi32(_mm512_set1_epi32(256), part));
    const __m512i points = _mm512_i32gather_epi32(at, table, 2);
    const __m512i sum = _mm512_add_epi32(_mm512_madd_epi16(points, shares), _mm512_set1_epi32(128));

    _mm256_mask_storeu_epi16(y, mask, _mm512_cvtepi32_epi16(_mm512_srai_epi32(sum, 8)));
}
#pragma GCC diagnostic pop

void clo_tanh_s16_avx512(const int16_t table[CLO_TANH_POINTS], const int16_t *x, uint32_t count, int16_t *y)
{
    uint32_t i = 0;

    for (; i + CLO_LANES <= count; i += CLO_LANES)
        tanh_16(table, x + i, 0xffff, y + i);
    if (i < count)
        tanh_16(table, x + i, (__mmask16)((1u << (count - i)) - 1), y + i);
}

/* Two squares of 8 x 8 words, in the lower and in the upper half of the registers: rows become columns. */
V void transpose(__m512i v[8])
{
    const __m512i even = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13),
                  odd = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    __m512i a[8], b[8];

    for (int i = 0; i < 4; i++) {
        a[2 * i] = _mm512_unpacklo_epi32(v[2 * i], v[2 * i + 1]);
        a[2 * i + 1] = _mm512_unpackhi_epi32(v[2 * i], v[2 * i + 1]);
    }
    for (int i = 0; i < 2; i++) {
        b[4 * i] = _mm512_unpacklo_epi64(a[4 * i], a[4 * i + 2]);
        b[4 * i + 1] = _mm512_unpackhi_epi64(a[4 * i], a[4 * i + 2]);
        b[4 * i + 2] = _mm512_unpacklo_epi64(a[4 * i + 1], a[4 * i + 3]);
        b[4 * i + 3] = _mm512_unpackhi_epi64(a[4 * i + 1], a[4 * i + 3]);
    }
    for (int i = 0; i < 4; i++) {
        v[i] = _mm512_permutex2var_epi64(b[i], even, b[i + 4]);
        v[i + 4] = _mm512_permutex2var_epi64(b[i], odd, b[i + 4]);
    }
}

V __mmask8 words_left(const clo_rows *rows, uint32_t w)
{
    return (__mmask8)(rows->width - w >= 8 ? 0xff : (1u << (rows->width - w)) - 1);
}

/* 8 words of row i, or those of the mask; zeros for a row that does not exist. */
V __m256i row_load(const clo_rows *rows, const int32_t *values, uint32_t i, __mmask8 words)
{
    if (i >= rows->count)
        return _mm256_setzero_si256();
    values += (size_t)rows->rows[i] * rows->stride;
    return words == 0xff ? _mm256_loadu_si256((const __m256i *)values) : _mm256_maskz_loadu_epi32(words, values);
}

/* A store under a mask cannot be read again from the store buffer, so whole ones go without. */
V void row_store(const clo_rows *rows, int32_t *values, uint32_t i, __mmask8 words, __m256i v)
{
    if (i >= rows->count)
        return;
    values += (size_t)rows->rows[i] * rows->stride;
    if (words == 0xff)
        _mm256_storeu_si256((__m256i *)values, v);
    else
        _mm256_mask_storeu_epi32(values, words, v);
}

static void rows_to_lanes(const clo_rows *given, const void *values, void *lanes)
{
    const clo_rows own = *given, *rows = &own;
    int32_t *to = lanes;

    for (uint32_t begin = 0; begin < rows->count; begin += CLO_LANES)
        for (uint32_t w = 0; w < rows->width; w += 8) {
            const __mmask8 words = words_left(rows, w);
            __m512i v[8];
            for (uint32_t i = 0; i < 8; i++) {
                const __m256i low = row_load(rows, (const int32_t *)values + w, begin + i, words);
                const __m256i high = row_load(rows, (const int32_t *)values + w, begin + i + 8, words);
                v[i] = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
            }
            transpose(v);
            for (uint32_t i = 0; i < 8 && w + i < rows->width; i++, to += CLO_LANES)
                _mm512_storeu_si512(to, v[i]);
        }
}

static void lanes_to_rows(const clo_rows *given, const void *lanes, void *values)
{
    const clo_rows own = *given, *rows = &own;

    for (uint32_t begin = 0; begin < rows->count; begin += CLO_LANES)
        for (uint32_t w = 0; w < rows->width; w += 8) {
            const int32_t *from = (const int32_t *)lanes + ((size_t)begin * rows->width + (size_t)w * CLO_LANES);
            int32_t *to = (int32_t *)values + w;
            __mmask8 words = words_left(rows, w);
            __m512i v[8];
            for (uint32_t i = 0; i < 8; i++)
                v[i] = w + i < rows->width ? _mm512_loadu_si512(from + (size_t)i * CLO_LANES) : _mm512_setzero_si512();
            transpose(v);
            for (uint32_t i = 0; i < 8; i++) {
                row_store(rows, to, begin + i, words, _mm512_castsi512_si256(v[i]));
                row_store(rows, to, begin + i + 8, words, _mm512_extracti64x4_epi64(v[i], 1));
            }
        }
}

void clo_kernels_install_avx512vnni(clo_kernels *table)
{
    install_template(table);
    table->tanh_s16 = clo_tanh_s16_avx512;
    table->rows_to_lanes = rows_to_lanes;
    table->lanes_to_rows = lanes_to_rows;
}
