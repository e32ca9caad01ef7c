/* The tile kernels of the Cholesky example against the formulas, element by element. */
#include "support.h"

#include "../cholesky/tiles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES = 4 };
static const uint32_t sizes[SIZES] = {8, 24, 64, 136};

typedef struct fixture {
    double *a, *b, *c, *before;
} fixture;

static uint64_t state = 1;

static double noise(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)state * 0x1p-63;
}

static int setup(void **out)
{
    static fixture f;

    f.a = calloc(tile_doubles(136), sizeof(double));
    f.b = calloc(tile_doubles(136), sizeof(double));
    f.c = calloc(tile_doubles(136), sizeof(double));
    f.before = calloc(tile_doubles(136), sizeof(double));
    *out = &f;
    return f.a && f.b && f.c && f.before ? 0 : -1;
}

static int teardown(void **out)
{
    fixture *f = *out;

    free(f->a);
    free(f->b);
    free(f->c);
    free(f->before);
    return 0;
}

static void fill(fixture *f, uint32_t size)
{
    for (size_t i = 0; i < tile_doubles(size); i++) {
        f->a[i] = noise();
        f->b[i] = noise();
        f->c[i] = f->before[i] = noise();
    }
}

static double at(const double *tile, uint32_t size, uint32_t i, uint32_t j)
{
    return tile[j * tile_stride(size) + i];
}

static void near(double got, double want, uint32_t size)
{
    assert_true(fabs(got - want) <= 1e-13 * size * (1 + fabs(want)));
}

static double product(const double *a, const double *b, uint32_t size, uint32_t i, uint32_t j)
{
    double sum = 0.0;

    for (uint32_t k = 0; k < size; k++)
        sum += at(a, size, i, k) * at(b, size, j, k);
    return sum;
}

static void gemm_subtracts_a_product_and_leaves_the_padding_alone(void **context)
{
    fixture *f = *context;

    for (int s = 0; s < SIZES; s++) {
        uint32_t size = sizes[s];

        fill(f, size);
        tile_gemm(size, f->a, f->b, f->c);
        for (uint32_t j = 0; j < size; j++) {
            for (uint32_t i = 0; i < size; i++)
                near(at(f->c, size, i, j), at(f->before, size, i, j) - product(f->a, f->b, size, i, j), size);
            for (uint32_t i = size; i < size + TILE_PAD; i++)
                assert_true(at(f->c, size, i, j) == at(f->before, size, i, j));
        }
    }
}

static void syrk_subtracts_a_square_below_the_diagonal(void **context)
{
    fixture *f = *context;

    for (int s = 0; s < SIZES; s++) {
        uint32_t size = sizes[s];

        fill(f, size);
        tile_syrk(size, f->a, f->c);
        for (uint32_t j = 0; j < size; j++)
            for (uint32_t i = j; i < size; i++)
                near(at(f->c, size, i, j), at(f->before, size, i, j) - product(f->a, f->a, size, i, j), size);
    }
}

/* Positive definite, with rubbish above the diagonal that must not matter. */
static void fill_definite(fixture *f, uint32_t size)
{
    fill(f, size);
    for (uint32_t j = 0; j < size; j++)
        f->c[j * tile_stride(size) + j] = f->before[j * tile_stride(size) + j] = size + 1 + noise();
}

static void potrf_factors_and_trsm_divides_by_the_factor(void **context)
{
    fixture *f = *context;

    for (int s = 0; s < SIZES; s++) {
        uint32_t size = sizes[s];

        fill_definite(f, size);
        assert_int_equal(tile_potrf(size, f->c), 0);
        for (uint32_t j = 0; j < size; j++)
            for (uint32_t i = j; i < size; i++) {
                double sum = 0.0;

                for (uint32_t k = 0; k <= j; k++)
                    sum += at(f->c, size, i, k) * at(f->c, size, j, k);
                near(sum, at(f->before, size, i, j), size);
            }
        memcpy(f->b, f->a, tile_doubles(size) * sizeof(double));
        tile_trsm(size, f->c, f->a);
        for (uint32_t j = 0; j < size; j++)
            for (uint32_t i = 0; i < size; i++) {
                double sum = 0.0;

                for (uint32_t k = 0; k <= j; k++)
                    sum += at(f->a, size, i, k) * at(f->c, size, j, k);
                near(sum, at(f->b, size, i, j), size);
            }
    }
}

static void potrf_names_the_pivot_that_is_not_positive(void **context)
{
    fixture *f = *context;

    for (uint32_t pivot = 0; pivot < 64; pivot += 7) {
        fill_definite(f, 64);
        f->c[pivot * tile_stride(64) + pivot] = pivot % 2 ? -1.0 : NAN;
        assert_int_equal(tile_potrf(64, f->c), (int)pivot + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gemm_subtracts_a_product_and_leaves_the_padding_alone),
                                       cmocka_unit_test(syrk_subtracts_a_square_below_the_diagonal),
                                       cmocka_unit_test(potrf_factors_and_trsm_divides_by_the_factor),
                                       cmocka_unit_test(potrf_names_the_pivot_that_is_not_positive)};

    return cmocka_run_group_tests(tests, setup, teardown);
}
