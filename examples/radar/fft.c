/* fft.c - Stockham's self-sorting FFT, radix 4 with one radix-2 pass where the length is an odd power of two.
 *
 * Each pass reads one array and writes the other, so no bit reversal is needed and the innermost loop runs over
 * `stride` neighbouring numbers, which a compiler turns into vector code. A pass of radix r over sub-transforms of
 * length n and `stride` of them interleaved writes sub-transforms of length n / r, r * stride of them. (Van Loan,
 * Computational Frameworks for the Fast Fourier Transform, 1992, section 1.7.) */
#include "fft.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

bool fft_open(fft *f, uint32_t length)
{
    const double turn = 6.283185307179586476925;

    assert(length >= 2 && length <= FFT_LENGTH_MAX && (length & (length - 1)) == 0);
    *f = (fft){.length = length, .cosine = calloc(length, sizeof(float)), .sine = calloc(length, sizeof(float))};
    if (f->cosine == NULL || f->sine == NULL)
        return false;
    for (uint32_t i = 0; i < length; i++) {
        f->cosine[i] = (float)cos(turn * i / length);
        f->sine[i] = (float)-sin(turn * i / length);
    }
    return true;
}

void fft_close(fft *f)
{
    free(f->cosine);
    free(f->sine);
    *f = (fft){0};
}

/* One pass: sub-transforms of length `n`, `stride` of them; n * stride is the whole length. */
static void pass_of_two(signal from, signal to, uint32_t stride)
{
    for (uint32_t q = 0; q < stride; q++) {
        float ar = from.re[q], ai = from.im[q], br = from.re[q + stride], bi = from.im[q + stride];

        to.re[q] = ar + br;
        to.im[q] = ai + bi;
        to.re[q + stride] = ar - br;
        to.im[q + stride] = ai - bi;
    }
}

/* The twiddle factors w, w^2, w^3 of one butterfly. */
typedef struct turns {
    float re[3], im[3];
} turns;

static turns turns_of(const fft *f, uint32_t step)
{
    const uint32_t mask = f->length - 1;

    return (turns){{f->cosine[step & mask], f->cosine[2 * step & mask], f->cosine[3 * step & mask]},
                   {f->sine[step & mask], f->sine[2 * step & mask], f->sine[3 * step & mask]}};
}

/* Butterflies of `stride` neighbours: from a, a + quarter, a + 2 quarter, a + 3 quarter (quarter in numbers) to four
 * runs of `stride` behind each other. restrict: `from` and `to` are the two arrays of a pass. */
static void butterflies(const float *restrict fr, const float *restrict fi, float *restrict tr, float *restrict ti,
                        size_t quarter, uint32_t stride, turns w)
{
    for (uint32_t q = 0; q < stride; q++) {
        float ar = fr[q], ai = fi[q], br = fr[q + quarter], bi = fi[q + quarter];
        float cr = fr[q + 2 * quarter], ci = fi[q + 2 * quarter], dr = fr[q + 3 * quarter], di = fi[q + 3 * quarter];
        float sum_acr = ar + cr, sum_aci = ai + ci, off_acr = ar - cr, off_aci = ai - ci;
        float sum_bdr = br + dr, sum_bdi = bi + di, off_bdr = br - dr, off_bdi = bi - di;
        /* Outputs 1, 2, 3 before their twiddles; -i (b - d) = (off_bdi, -off_bdr). */
        float er = off_acr + off_bdi, ei = off_aci - off_bdr, gr = sum_acr - sum_bdr, gi = sum_aci - sum_bdi;
        float hr = off_acr - off_bdi, hi = off_aci + off_bdr;

        tr[q] = sum_acr + sum_bdr;
        ti[q] = sum_aci + sum_bdi;
        tr[q + stride] = er * w.re[0] - ei * w.im[0];
        ti[q + stride] = er * w.im[0] + ei * w.re[0];
        tr[q + 2 * stride] = gr * w.re[1] - gi * w.im[1];
        ti[q + 2 * stride] = gr * w.im[1] + gi * w.re[1];
        tr[q + 3 * stride] = hr * w.re[2] - hi * w.im[2];
        ti[q + 3 * stride] = hr * w.im[2] + hi * w.re[2];
    }
}

static void pass_of_four(const fft *f, signal from, signal to, uint32_t n, uint32_t stride)
{
    const size_t quarter = (size_t)stride * (n / 4);

    for (uint32_t p = 0; p < n / 4; p++) {
        size_t in = (size_t)stride * p, out = 4 * in;

        butterflies(from.re + in, from.im + in, to.re + out, to.im + out, quarter, stride, turns_of(f, p * stride));
    }
}

void fft_forward(const fft *f, signal x, signal work)
{
    signal from = x, to = work;
    uint32_t n = f->length, stride = 1;

    while (n > 1) { /* n falls by a factor of 4, at last of 2 */
        signal swap = from;

        if (n >= 4)
            pass_of_four(f, from, to, n, stride);
        else
            pass_of_two(from, to, stride);
        stride *= n >= 4 ? 4 : 2;
        n /= n >= 4 ? 4 : 2;
        from = to;
        to = swap;
    }
    if (from.re != x.re) {
        memcpy(x.re, from.re, f->length * sizeof(float));
        memcpy(x.im, from.im, f->length * sizeof(float));
    }
}

/* With real and imaginary parts exchanged on both sides, the forward transform is the backward one. */
void fft_backward(const fft *f, signal x, signal work)
{
    fft_forward(f, (signal){x.im, x.re}, (signal){work.im, work.re});
}
