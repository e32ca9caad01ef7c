/* sums_scalar.c - aggregation, clamps and tables. */
#include "kernels/arithmetic.h"
#include "kernels/scalar/scalar.h"

#include <string.h>

void clo_sum_rows_s8_scalar(const clo_rows *rows, const int8_t *values, int32_t *sums)
{
    uint32_t width = clo_round_up(rows->width, CLO_LANES);

    memset(sums, 0, width * sizeof *sums);
    for (uint32_t i = 0; i < rows->count; i++)
        for (uint32_t d = 0; d < width; d++)
            sums[d] = clo_wrap_add(sums[d], values[(size_t)rows->rows[i] * rows->stride + d]);
}

void clo_sum_rows_s16_scalar(const clo_rows *rows, const int16_t *values, int32_t *sums)
{
    uint32_t width = clo_round_up(rows->width, CLO_LANES);

    memset(sums, 0, width * sizeof *sums);
    for (uint32_t i = 0; i < rows->count; i++)
        for (uint32_t d = 0; d < width; d++)
            sums[d] = clo_wrap_add(sums[d], values[(size_t)rows->rows[i] * rows->stride + d]);
}

void clo_clamp_s8_scalar(const int32_t *x, uint32_t count, int8_t lo, int8_t hi, int8_t *y)
{
    for (uint32_t i = 0; i < count; i++)
        y[i] = (int8_t)clo_clamp(x[i], lo, hi);
}

void clo_clamp_s16_scalar(const int32_t *x, uint32_t count, int16_t lo, int16_t hi, int16_t *y)
{
    for (uint32_t i = 0; i < count; i++)
        y[i] = (int16_t)clo_clamp(x[i], lo, hi);
}

void clo_add_s8_scalar(const int8_t *a, const int8_t *b, const int8_t *c, uint32_t count, int8_t *y)
{
    for (uint32_t i = 0; i < count; i++)
        y[i] = (int8_t)clo_clamp(a[i] + b[i] + (c != NULL ? c[i] : 0), INT8_MIN, INT8_MAX);
}

void clo_add_s16_scalar(const int16_t *a, const int16_t *b, const int16_t *c, uint32_t count, int16_t *y)
{
    for (uint32_t i = 0; i < count; i++)
        y[i] = (int16_t)clo_clamp(a[i] + b[i] + (c != NULL ? c[i] : 0), INT16_MIN, INT16_MAX);
}

enum { WORD = sizeof(int32_t) };

void clo_rows_to_lanes_scalar(const clo_rows *rows, const void *values, void *lanes)
{
    for (uint32_t i = 0; i < clo_round_up(rows->count, CLO_LANES); i++) {
        char *to = (char *)lanes + ((size_t)(i / CLO_LANES) * rows->width * CLO_LANES + i % CLO_LANES) * WORD;
        const char *from = i < rows->count ? (const char *)values + (size_t)rows->rows[i] * rows->stride * WORD : NULL;

        for (uint32_t w = 0; w < rows->width; w++, to += CLO_LANES * WORD) {
            if (from != NULL)
                memcpy(to, from + (size_t)w * WORD, WORD);
            else
                memset(to, 0, WORD);
        }
    }
}

void clo_lanes_to_rows_scalar(const clo_rows *rows, const void *lanes, void *values)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        const char *from =
            (const char *)lanes + ((size_t)(i / CLO_LANES) * rows->width * CLO_LANES + i % CLO_LANES) * WORD;
        char *to = (char *)values + (size_t)rows->rows[i] * rows->stride * WORD;

        for (uint32_t w = 0; w < rows->width; w++, from += CLO_LANES * WORD)
            memcpy(to + (size_t)w * WORD, from, WORD);
    }
}

void clo_lookup_s8_scalar(const int8_t table[256], const int8_t *x, uint32_t count, int8_t *y)
{
    for (uint32_t i = 0; i < count; i++)
        y[i] = table[x[i] + 128];
}

void clo_tanh_s16_scalar(const int16_t table[CLO_TANH_POINTS], const int16_t *x, uint32_t count, int16_t *y)
{
    for (uint32_t i = 0; i < count; i++) {
        int32_t at = clo_shift_right(x[i], 8) + 128, part = x[i] & 255;

        y[i] = (int16_t)clo_shift_right(table[at] * (256 - part) + table[at + 1] * part + 128, 8);
    }
}
