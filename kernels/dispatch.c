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
static const clo_variant variants[] = {
    {"scalar", 0},
#if CLO_KERNELS_X86
    {"avx2", CLO_ISA_AVX2},
    {"avxvnni", CLO_ISA_AVX2 | CLO_ISA_AVXVNNI},
    {"avx512vnni", CLO_ISA_AVX2 | CLO_ISA_AVX512 | CLO_ISA_VNNI512},
    {"avx512vbmi", CLO_ISA_AVX2 | CLO_ISA_AVX512 | CLO_ISA_VNNI512 | CLO_ISA_VBMI},
#elif CLO_KERNELS_ARM
    {"neon", CLO_ISA_NEON},
    {"neondot", CLO_ISA_NEON | CLO_ISA_DOTPROD},
#elif CLO_KERNELS_RISCV
    {"rvv", CLO_ISA_RVV},
#endif
};

enum { VARIANTS = sizeof variants / sizeof variants[0] };

_Static_assert(sizeof installs / sizeof installs[0] == VARIANTS, "one install function for each variant");

void clo_kernels_select(clo_kernels *table, uint32_t isa)
{
    table->isa = 0;
    for (uint32_t i = 0; i < VARIANTS; i++) {
        if ((variants[i].needs & isa) != variants[i].needs)
            continue;
        installs[i].install(table);
        table->isa |= variants[i].needs;
    }
}

const clo_variant *clo_kernels_variants(uint32_t *count)
{
    *count = VARIANTS;
    return variants;
}
