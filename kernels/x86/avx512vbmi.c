/* avx512vbmi.c - AVX-512 with VBMI, beside VNNI: whole tables of 256 bytes lie in registers, and vpermi2b looks 64
 * bytes up at once. Everything else is that of avx512vnni.c. */
#include "kernels/install.h"
#include "kernels/x86/x86.h"

#include <immintrin.h>

enum { AT_ONCE = 64, TANH_LEAST = 256 };

#define V static inline __attribute__((always_inline))

/* 256 bytes. */
typedef struct {
    __m512i quarters[4];
} bytes_256;

/* What stands at 64 indices. */
V __m512i look_up(const bytes_256 *t, __m512i at)
{
    const __m512i low = _mm512_permutex2var_epi8(t->quarters[0], at, t->quarters[1]);
    const __m512i high = _mm512_permutex2var_epi8(t->quarters[2], at, t->quarters[3]);

    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(at), low, high);
}

/* The low or the high bytes of 256 words. */
V bytes_256 every_other(const __m512i words[8], bool is_high)
{
    bytes_256 out;

    for (int i = 0; i < 4; i++) {
        const __m256i a = _mm512_cvtepi16_epi8(is_high ? _mm512_srli_epi16(words[2 * i], 8) : words[2 * i]);
        const __m256i b = _mm512_cvtepi16_epi8(is_high ? _mm512_srli_epi16(words[2 * i + 1], 8) : words[2 * i + 1]);
        out.quarters[i] = _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1);
    }
    return out;
}

static void lookup_s8(const int8_t table[256], const int8_t *x, uint32_t count, int8_t *y)
{
    const __m512i sign = _mm512_set1_epi8(INT8_MIN);
    bytes_256 t;

    for (int i = 0; i < 4; i++)
        t.quarters[i] = _mm512_loadu_si512(table + (size_t)i * AT_ONCE);
    for (uint32_t i = 0; i < count; i += AT_ONCE) {
        const __mmask64 mask = count - i < AT_ONCE ? (UINT64_C(1) << (count - i)) - 1 : UINT64_MAX;
        const __m512i at = _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, x + i), sign);

        _mm512_mask_storeu_epi8(y + i, mask, look_up(&t, at));
    }
}

/* A table of words, and what comes on top of each up to the next one, byte by byte. */
typedef struct {
    bytes_256 low, high, rise_low, rise_high;
} tanh_bytes;

/* False: a rise does not fit a word. */
V bool split(const int16_t table[CLO_TANH_POINTS], tanh_bytes *out)
{
    __m512i points[8], rises[8];
    __mmask32 is_too_steep = 0;

    for (int i = 0; i < 8; i++) {
        const __m512i next = _mm512_loadu_si512(table + 1 + (size_t)i * AT_ONCE / 2);

        points[i] = _mm512_loadu_si512(table + (size_t)i * AT_ONCE / 2);
        rises[i] = _mm512_sub_epi16(next, points[i]);
        is_too_steep |= _mm512_cmpneq_epi16_mask(rises[i], _mm512_subs_epi16(next, points[i]));
    }
    *out = (tanh_bytes){every_other(points, false), every_other(points, true), every_other(rises, false),
                        every_other(rises, true)};
    return is_too_steep == 0;
}

/* point + ((rise * f + 128) >> 8) is the sum of both points in proportion, and the second part is what vpmulhrsw gives
 * for f << 7. */
V void interpolate(__m512i x, __m512i point, __m512i rise, int16_t *y)
{
    const __m512i f = _mm512_srli_epi16(_mm512_slli_epi16(x, 8), 1);

    _mm512_storeu_si512(y, _mm512_add_epi16(point, _mm512_mulhrs_epi16(rise, f)));
}

/* packus puts 8 indices of the first words beside 8 of the second ones, in each quarter of the register; unpacklo and
 * unpackhi take them apart again. */
V void tanh_64(const tanh_bytes *t, const int16_t *x, int16_t *y)
{
    const __m512i a = _mm512_loadu_si512(x), b = _mm512_loadu_si512(x + AT_ONCE / 2);
    const __m512i at = _mm512_xor_si512(_mm512_packus_epi16(_mm512_srli_epi16(a, 8), _mm512_srli_epi16(b, 8)),
                                        _mm512_set1_epi8(INT8_MIN));
    const __m512i low = look_up(&t->low, at), high = look_up(&t->high, at);
    const __m512i rise_low = look_up(&t->rise_low, at), rise_high = look_up(&t->rise_high, at);

    interpolate(a, _mm512_unpacklo_epi8(low, high), _mm512_unpacklo_epi8(rise_low, rise_high), y);
    interpolate(b, _mm512_unpackhi_epi8(low, high), _mm512_unpackhi_epi8(rise_low, rise_high), y + AT_ONCE / 2);
}

static void tanh_s16(const int16_t table[CLO_TANH_POINTS], const int16_t *x, uint32_t count, int16_t *y)
{
    tanh_bytes t;
    uint32_t i = 0;

    if (count >= TANH_LEAST && split(table, &t))
        for (; i + AT_ONCE <= count; i += AT_ONCE)
            tanh_64(&t, x + i, y + i);
    clo_tanh_s16_avx512(table, x + i, count - i, y + i);
}

void clo_kernels_install_avx512vbmi(clo_kernels *table)
{
    table->tanh_s16 = tanh_s16;
    table->lookup_s8 = lookup_s8;
}
