/* dispatch.c - fills the table. Worst to best: each variant overwrites only the entries that it improves, so a kernel
 * without an AVX-512 version keeps its AVX2 one, and scalar fills all. */
#include "kernels/install.h"

static const struct {
    void (*install)(clo_kernels *);
} installs[] = {
    {clo_kernels_install_scalar},
#if CLO_KERNELS_X86
    {clo_kernels_install_avx2},       {clo_kernels_install_avxvnni},
    {clo_kernels_install_avx512vnni}, {clo_kernels_install_avx512vbmi},
#elif CLO_KERNELS_ARM
    {clo_kernels_install_neon},
    {clo_kernels_install_neondot},
#elif CLO_KERNELS_RISCV
    {clo_kernels_install_rvv},
#endif
};

/* Likewise in order. */
const clo_variant clo_kernels_built[] = {
    {"scalar", "plain C, the specification: on every CPU", 0},
#if CLO_KERNELS_X86
    {"avx2", "256 bits", CLO_ISA_AVX2},
    {"avxvnni", "256 bits, sums of products of bytes", CLO_ISA_AVX2 | CLO_ISA_AVXVNNI},
    {"avx512vnni", "512 bits, sums of products of bytes", CLO_ISA_AVX2 | CLO_ISA_AVX512 | CLO_ISA_VNNI512},
    {"avx512vbmi", "512 bits, look-ups in tables of bytes too",
     CLO_ISA_AVX2 | CLO_ISA_AVX512 | CLO_ISA_VNNI512 | CLO_ISA_VBMI},
#elif CLO_KERNELS_ARM
    {"neon", "128 bits", CLO_ISA_NEON},
    {"neondot", "128 bits, sums of products of bytes", CLO_ISA_NEON | CLO_ISA_DOTPROD},
#elif CLO_KERNELS_RISCV
    {"rvv", "vectors of the length that the CPU has, from 128 bits on", CLO_ISA_RVV},
#endif
    {NULL, NULL, 0},
};

enum { VARIANTS = sizeof clo_kernels_built / sizeof clo_kernels_built[0] - 1 };

_Static_assert(sizeof installs / sizeof installs[0] == VARIANTS, "one install function for each variant");

void clo_kernels_select(clo_kernels *table, uint32_t isa)
{
    table->isa = 0;
    for (uint32_t i = 0; i < VARIANTS; i++) {
        if ((clo_kernels_built[i].needs & isa) != clo_kernels_built[i].needs)
            continue;
        installs[i].install(table);
        table->isa |= clo_kernels_built[i].needs;
    }
}

const clo_variant *clo_kernels_variants(uint32_t *count)
{
    *count = VARIANTS;
    return clo_kernels_built;
}
