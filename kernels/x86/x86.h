/* kernels/x86/x86.h - what one variant of x86 takes from another. */
#ifndef CLO_KERNELS_X86_X86_H
#define CLO_KERNELS_X86_X86_H

#include "kernels/kernels.h"

/* tanh_s16 with AVX-512, for any table and any count. */
void clo_tanh_s16_avx512(const int16_t table[CLO_TANH_POINTS], const int16_t *x, uint32_t count, int16_t *y);

#endif
