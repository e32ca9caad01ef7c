/* cpu.c - what the CPU offers. On x86 the compiler's run-time library asks cpuid and whether the system saves the
 * registers; elsewhere the kernel says it in the auxiliary vector. */
#include "kernels/install.h"

#if CLO_KERNELS_X86

#include <cpuid.h>

/* Bit of EAX of leaf 7, sub-leaf 1, which clang 14 has no name for. Its registers are those of AVX2. */
#define CPUID_AVXVNNI (1u << 4)

static bool has_avxvnni(void)
{
    unsigned eax = 0, ebx, ecx, edx;

    return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax & CPUID_AVXVNNI) != 0;
}

uint32_t clo_cpu_isa(void)
{
    uint32_t isa = 0;

    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2"))
        isa |= CLO_ISA_AVX2 | (has_avxvnni() ? (uint32_t)CLO_ISA_AVXVNNI : 0);
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd"))
        isa |= CLO_ISA_AVX512;
    if (__builtin_cpu_supports("avx512vnni"))
        isa |= CLO_ISA_VNNI512;
    if (__builtin_cpu_supports("avx512vbmi"))
        isa |= CLO_ISA_VBMI;
    return isa;
}

#elif CLO_KERNELS_ARM && defined(__linux__)

#include <sys/auxv.h>

/* Bits of AT_HWCAP in Linux' arch/arm64/include/uapi/asm/hwcap.h; old headers lack the second one. */
#define HWCAP_BIT_ASIMD (1ul << 1)
#define HWCAP_BIT_ASIMDDP (1ul << 20)

uint32_t clo_cpu_isa(void)
{
    unsigned long hwcap = getauxval(AT_HWCAP);

    return (hwcap & HWCAP_BIT_ASIMD ? (uint32_t)CLO_ISA_NEON : 0) |
           (hwcap & HWCAP_BIT_ASIMDDP ? (uint32_t)CLO_ISA_DOTPROD : 0);
}

#elif CLO_KERNELS_RISCV && defined(__linux__)

#include <sys/auxv.h>

/* One bit of AT_HWCAP for each letter: V 1.0, which Linux announces since 6.5. */
#define HWCAP_BIT_V (1ul << ('v' - 'a'))

uint32_t clo_cpu_isa(void)
{
    return getauxval(AT_HWCAP) & HWCAP_BIT_V ? CLO_ISA_RVV : 0;
}

#else

uint32_t clo_cpu_isa(void)
{
    return 0;
}

#endif
