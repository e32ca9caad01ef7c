/* The FFT of the radar example against the defining sum. */
#include "support.h"

#include "../radar/fft.h"

#include <math.h>
#include <stdlib.h>

static uint64_t state = 1;

static float noise(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (float)((double)(int64_t)state * 0x1p-63);
}

/* Largest distance of fft_forward from the defining sum in double precision, over the largest result. */
static double worst_error(uint32_t length)
{
    fft f;
    float *memory = calloc(4 * (size_t)length, sizeof *memory), *copy = calloc(2 * (size_t)length, sizeof *copy);
    signal x = {memory, memory + length}, work = {memory + 2 * length, memory + 3 * length};
    double worst = 0.0, largest = 0.0;

    assert_non_null(memory);
    assert_non_null(copy);
    assert_true(fft_open(&f, length));
    for (uint32_t i = 0; i < 2 * length; i++)
        memory[i] = copy[i] = noise();
    fft_forward(&f, x, work);
    for (uint32_t k = 0; k < length; k++) {
        double re = 0.0, im = 0.0;

        for (uint32_t n = 0; n < length; n++) {
            double angle = -6.283185307179586 * (double)((uint64_t)k * n % length) / length;

            re += copy[n] * cos(angle) - copy[length + n] * sin(angle);
            im += copy[n] * sin(angle) + copy[length + n] * cos(angle);
        }
        largest = fmax(largest, hypot(re, im));
        worst = fmax(worst, hypot(re - x.re[k], im - x.im[k]));
    }
    fft_close(&f);
    free(memory);
    free(copy);
    return worst / largest;
}

static void every_power_of_two_agrees_with_the_defining_sum(void **unused)
{
    (void)unused;
    for (uint32_t length = 2; length <= 1024; length *= 2)
        assert_true(worst_error(length) < 1e-6);
}

static void a_single_tone_falls_into_a_single_bin(void **unused)
{
    enum { LENGTH = 256, BIN = 37 };
    float memory[4 * LENGTH];
    signal x = {memory, memory + LENGTH}, work = {memory + 2 * LENGTH, memory + 3 * LENGTH};
    fft f;

    (void)unused;
    assert_true(fft_open(&f, LENGTH));
    for (uint32_t i = 0; i < LENGTH; i++) {
        x.re[i] = f.cosine[i * BIN % LENGTH];
        x.im[i] = -f.sine[i * BIN % LENGTH];
    }
    fft_forward(&f, x, work);
    for (uint32_t k = 0; k < LENGTH; k++)
        assert_true(fabsf(x.re[k] - (k == BIN ? LENGTH : 0)) < 1e-3f && fabsf(x.im[k]) < 1e-3f);
    fft_close(&f);
}

static void backward_undoes_forward_up_to_the_length(void **unused)
{
    enum { LENGTH = 2048 };
    static float memory[4 * LENGTH], copy[2 * LENGTH];
    signal x = {memory, memory + LENGTH}, work = {memory + 2 * LENGTH, memory + 3 * LENGTH};
    fft f;

    (void)unused;
    assert_true(fft_open(&f, LENGTH));
    for (uint32_t i = 0; i < 2 * LENGTH; i++)
        memory[i] = copy[i] = noise();
    fft_forward(&f, x, work);
    fft_backward(&f, x, work);
    for (uint32_t i = 0; i < 2 * LENGTH; i++)
        assert_true(fabsf(memory[i] / (float)LENGTH - copy[i]) < 1e-5f);
    fft_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_power_of_two_agrees_with_the_defining_sum),
                                       cmocka_unit_test(a_single_tone_falls_into_a_single_bin),
                                       cmocka_unit_test(backward_undoes_forward_up_to_the_length)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
