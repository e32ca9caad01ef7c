/* fft.h - discrete Fourier transform of powers of two, single precision, real and imaginary parts apart. */
#ifndef EXAMPLES_RADAR_FFT_H
#define EXAMPLES_RADAR_FFT_H

#include <stdbool.h>
#include <stdint.h>

enum { FFT_LENGTH_MAX = 16384 };

/* Complex numbers, real and imaginary parts in two arrays. */
typedef struct signal {
    float *re, *im;
} signal;

/* Twiddle factors of one length; read-only after fft_open, so any number of threads may share it. */
typedef struct fft {
    uint32_t length;
    float *cosine, *sine; /* [length] of -2 pi i / length */
} fft;

/* `length`: a power of two, 2 .. FFT_LENGTH_MAX. False if there is no memory. */
bool fft_open(fft *f, uint32_t length);
void fft_close(fft *f);

/* x[k] := sum over n of x[n] exp(-2 pi i k n / length), in place; `work` holds `length` numbers and is overwritten. */
void fft_forward(const fft *f, signal x, signal work);

/* The inverse without the factor 1 / length: sum over k of x[k] exp(+2 pi i k n / length). */
void fft_backward(const fft *f, signal x, signal work);

#endif
