/* kernels/install.h - each variant overwrites the entries of the table that it has. */
#ifndef CLO_KERNELS_INSTALL_H
#define CLO_KERNELS_INSTALL_H

#include "kernels/kernels.h"

#if defined(__x86_64__)
#define CLO_KERNELS_X86 1
#elif defined(__aarch64__) && defined(__AARCH64EL__)
#define CLO_KERNELS_ARM 1
#elif defined(__riscv) && __riscv_xlen == 64
#define CLO_KERNELS_RISCV 1
#endif

void clo_kernels_install_scalar(clo_kernels *table);
void clo_kernels_install_avx2(clo_kernels *table);
void clo_kernels_install_avxvnni(clo_kernels *table);
void clo_kernels_install_avx512vnni(clo_kernels *table);
void clo_kernels_install_avx512vbmi(clo_kernels *table);
void clo_kernels_install_neon(clo_kernels *table);
void clo_kernels_install_neondot(clo_kernels *table);
void clo_kernels_install_rvv(clo_kernels *table);

#endif
