/* avx2.c - AVX2: int8 is widened to int16 and multiplied in pairs by vpmaddwd, which is exact; vpmaddubsw would
 * saturate and is not used. */
#include <immintrin.h>

static inline __attribute__((always_inline)) __m256i add_words(__m256i acc, __m256i x, __m256i w)
{
    return _mm256_add_epi32(acc, _mm256_madd_epi16(x, w));
}

#include "kernels/x86/primitives256.h"

#define START(layer) ((layer)->bias)

typedef Words X8;

V X8 x8_load(const int8_t *x)
{
    return words_load(x);
}

V V32 dot8_lanes(V32 acc, X8 x, const int8_t *weights)
{
    const __m256i w = _mm256_set1_epi32(quad_of(weights));

    return add_products(add_products(acc, x.even, even_of(w)), x.odd, odd_of(w));
}

V V32 dot8_node(V32 acc, const int8_t *weights, const int8_t *x)
{
    return dot8_lanes(acc, x8_load(weights), x);
}

#include "kernels/template.h"

/* Both points of the table come with one gather; multiplied and added up in pairs. 8 numbers as int32. */
V __m256i tanh_8(const int16_t *table, __m256i v)
{
    const __m256i at = _mm256_add_epi32(_mm256_srai_epi32(v, 8), _mm256_set1_epi32(128));
    const __m256i part = _mm256_and_si256(v, _mm256_set1_epi32(255));
    const __m256i shares = _mm256_or_si256(_mm256_slli_epi32(part, 16), _mm256_sub_epi32(_mm256_set1_epi32(256), part));
    const __m256i points = _mm256_i32gather_epi32((const int *)table, at, 2);

    return _mm256_srai_epi32(_mm256_add_epi32(_mm256_madd_epi16(points, shares), _mm256_set1_epi32(128)), 8);
}

static void tanh_s16(const int16_t table[CLO_TANH_POINTS], const int16_t *x, uint32_t count, int16_t *y)
{
    for (uint32_t i = 0; i < count; i += CLO_LANES) {
        uint32_t mine = count - i < CLO_LANES ? count - i : CLO_LANES;
        int16_t rest[CLO_LANES] = {0};
        V32 v;

        if (mine < CLO_LANES)
            memcpy(rest, x + i, mine * sizeof *x);
        v = v32_load_s16(mine < CLO_LANES ? rest : x + i);
        v = (V32){tanh_8(table, v.low), tanh_8(table, v.high)};
        narrow_s16(mine < CLO_LANES ? rest : y + i, v);
        if (mine < CLO_LANES)
            memcpy(y + i, rest, mine * sizeof *y);
    }
}

/* A square of 8 x 8 words: rows become columns. */
V void transpose(__m256i v[8])
{
    __m256i a[8], b[8];

    for (int i = 0; i < 4; i++) {
        a[2 * i] = _mm256_unpacklo_epi32(v[2 * i], v[2 * i + 1]);
        a[2 * i + 1] = _mm256_unpackhi_epi32(v[2 * i], v[2 * i + 1]);
    }
    for (int i = 0; i < 2; i++) {
        b[4 * i] = _mm256_unpacklo_epi64(a[4 * i], a[4 * i + 2]);
        b[4 * i + 1] = _mm256_unpackhi_epi64(a[4 * i], a[4 * i + 2]);
        b[4 * i + 2] = _mm256_unpacklo_epi64(a[4 * i + 1], a[4 * i + 3]);
        b[4 * i + 3] = _mm256_unpackhi_epi64(a[4 * i + 1], a[4 * i + 3]);
    }
    for (int i = 0; i < 4; i++) {
        v[i] = _mm256_permute2x128_si256(b[i], b[i + 4], 0x20);
        v[i + 4] = _mm256_permute2x128_si256(b[i], b[i + 4], 0x31);
    }
}

/* All bits of the first words set, 8 at most. */
V __m256i words_left(uint32_t words)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(words < 8 ? (int32_t)words : 8),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

static void rows_to_lanes(const clo_rows *given, const void *values, void *lanes)
{
    const clo_rows own = *given, *rows = &own;

    for (uint32_t begin = 0; begin < clo_round_up(rows->count, CLO_LANES); begin += 8)
        for (uint32_t w = 0; w < rows->width; w += 8) {
            const __m256i words = words_left(rows->width - w);
            int32_t *to = (int32_t *)lanes + (size_t)(begin / CLO_LANES) * rows->width * CLO_LANES +
                          (size_t)w * CLO_LANES + begin % CLO_LANES;
            __m256i v[8];

            for (uint32_t i = 0; i < 8; i++)
                v[i] = begin + i < rows->count
                           ? _mm256_maskload_epi32(
                                 (const int *)values + (size_t)rows->rows[begin + i] * rows->stride + w, words)
                           : _mm256_setzero_si256();
            transpose(v);
            for (uint32_t i = 0; i < 8 && w + i < rows->width; i++, to += CLO_LANES)
                store(to, v[i]);
        }
}

static void lanes_to_rows(const clo_rows *given, const void *lanes, void *values)
{
    const clo_rows own = *given, *rows = &own;

    for (uint32_t begin = 0; begin < rows->count; begin += 8)
        for (uint32_t w = 0; w < rows->width; w += 8) {
            const __m256i words = words_left(rows->width - w);
            const int32_t *from = (const int32_t *)lanes + (size_t)(begin / CLO_LANES) * rows->width * CLO_LANES +
                                  (size_t)w * CLO_LANES + begin % CLO_LANES;
            __m256i v[8];

            for (uint32_t i = 0; i < 8; i++)
                v[i] = w + i < rows->width ? load(from + (size_t)i * CLO_LANES) : _mm256_setzero_si256();
            transpose(v);
            for (uint32_t i = 0; i < 8 && begin + i < rows->count; i++)
                _mm256_maskstore_epi32((int *)values + (size_t)rows->rows[begin + i] * rows->stride + w, words, v[i]);
        }
}

void clo_kernels_install_avx2(clo_kernels *table)
{
    install_template(table);
    table->tanh_s16 = tanh_s16;
    table->rows_to_lanes = rows_to_lanes;
    table->lanes_to_rows = lanes_to_rows;
}
