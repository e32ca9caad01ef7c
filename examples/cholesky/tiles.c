/* tiles.c - all four kernels are loops around one register block: an 8 x 2 piece of c minus a product.
 *
 * The block keeps its 16 sums in 8 vector registers for the whole depth; per step it loads one column piece of `a` and
 * two numbers of `b`. TRSM and POTRF are left-looking: a column pair is first updated by everything to its left through
 * the same block, which leaves O(size^2) work for the plain loops. The order of the additions to an element is fixed,
 * so results are the same bit for bit however tasks are scheduled. */
#include "tiles.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { ROWS = TILE_STEP, COLUMNS = 2 };

/* Two doubles: a register of SSE2 and of NEON. Wider ones would help machines that have them, but a compiler for others
 * takes them apart through memory. */
typedef double pair __attribute__((vector_size(2 * sizeof(double))));

/* memcpy, because tiles are aligned for doubles only; it compiles to one load. */
static inline void load(pair *v, const double *p)
{
    memcpy(v, p, sizeof *v);
}

/* p[8] -= v */
static inline void subtract(double *p, const pair v[ROWS / 2])
{
    for (int i = 0; i < ROWS / 2; i++) {
        pair sum;

        load(&sum, p + 2 * i);
        sum -= v[i];
        memcpy(p + 2 * i, &sum, sizeof sum);
    }
}

/* c[8 x 2] -= a[8 x depth] b[2 x depth]^T; the columns of all three are `stride` apart. */
static void block(uint32_t depth, size_t stride, const double *a, const double *b, double *c)
{
    pair left[ROWS / 2] = {{0}}, right[ROWS / 2] = {{0}};

    for (uint32_t k = 0; k < depth; k++, a += stride, b += stride)
        for (int i = 0; i < ROWS / 2; i++) {
            pair v;

            load(&v, a + 2 * i);
            left[i] += v * b[0];
            right[i] += v * b[1];
        }
    subtract(c, left);
    subtract(c + stride, right);
}

int tile_potrf(uint32_t size, double *a)
{
    const size_t stride = tile_stride(size);

    assert(size % TILE_STEP == 0);
    for (uint32_t j = 0; j < size; j += COLUMNS) {
        double *left = a + j * stride, *right = left + stride;

        for (uint32_t i = j - j % ROWS; i < size; i += ROWS)
            block(j, stride, a + i, a + j, left + i);
        if (!(left[j] > 0.0))
            return (int)j + 1;
        left[j] = sqrt(left[j]);
        for (uint32_t i = j + 1; i < size; i++)
            left[i] /= left[j];
        for (uint32_t i = j + 1; i < size; i++)
            right[i] -= left[i] * left[j + 1];
        if (!(right[j + 1] > 0.0))
            return (int)j + 2;
        right[j + 1] = sqrt(right[j + 1]);
        for (uint32_t i = j + 2; i < size; i++)
            right[i] /= right[j + 1];
    }
    return 0;
}

void tile_trsm(uint32_t size, const double *l, double *a)
{
    const size_t stride = tile_stride(size);

    assert(size % TILE_STEP == 0);
    for (uint32_t j = 0; j < size; j += COLUMNS) {
        const double *pivot = l + j * stride + j;
        double *left = a + j * stride, *right = left + stride;

        for (uint32_t i = 0; i < size; i += ROWS)
            block(j, stride, a + i, l + j, left + i);
        for (uint32_t i = 0; i < size; i++)
            left[i] /= pivot[0];
        for (uint32_t i = 0; i < size; i++)
            right[i] = (right[i] - left[i] * pivot[1]) / pivot[stride + 1];
    }
}

void tile_syrk(uint32_t size, const double *a, double *c)
{
    const size_t stride = tile_stride(size);

    assert(size % TILE_STEP == 0);
    for (uint32_t j = 0; j < size; j += COLUMNS)
        for (uint32_t i = j - j % ROWS; i < size; i += ROWS)
            block(size, stride, a + i, a + j, c + j * stride + i);
}

void tile_gemm(uint32_t size, const double *a, const double *b, double *c)
{
    const size_t stride = tile_stride(size);

    assert(size % TILE_STEP == 0);
    for (uint32_t j = 0; j < size; j += COLUMNS)
        for (uint32_t i = 0; i < size; i += ROWS)
            block(size, stride, a + i, b + j, c + j * stride + i);
}
