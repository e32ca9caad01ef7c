/* entry.S - what runs before the kernel on the emulated board. Makes CPUs 0 .. 3 Cortex-A55 and 4 .. 7 Cortex-A76.
 *
 * QEMU's machine "virt" has CPUs of one kind. What the kernel reads as MIDR_EL1 at EL1 is VPIDR_EL2, which a hypervisor
 * may set. QEMU enters this at EL2 on CPU 0. It starts the other CPUs (PSCI CPU_ON), and each CPU sets VPIDR_EL2 and
 * goes on at EL1: CPU 0 in the kernel, the others in `pen`, where they wait for the kernel's word ("spin-table" of the
 * device tree, Documentation/arm64/booting.rst). Nobody returns to EL2.
 *
 * This is linked at no address. boot.py puts it before the kernel, which begins KERNEL bytes behind `head`. */
#define KERNEL 0x200000     /* kernels are aligned to 2 MiB */
#define PSCI_CPU_ON 0xc4000003
#define CORTEX_A55 0x412fd050 /* r2p0, that of the RK3588 */
#define CORTEX_A76 0x414fd0b1 /* r4p1, QEMU's */
#define CPUS 8
#define LITTLE 4

        .text
head:                   /* of a kernel's image, as QEMU and boot loaders read it */
        b       first
        .long   0
        .quad   0       /* text offset */
        .quad   0       /* bytes of the image: boot.py */
        .quad   0xa     /* little-endian, 4 KiB pages, anywhere */
        .quad   0, 0, 0
        .ascii  "ARM\x64"
        .long   0

        .org    0x100   /* board.dts has these addresses */
release:                /* where the kernel writes what each CPU shall run */
        .fill   CPUS, 8, 0

first:                  /* x0: the device tree */
        mov     x20, x0
        mov     x21, #1
1:      ldr     x0, =PSCI_CPU_ON
        mov     x1, x21
        adr     x2, other
        mov     x3, xzr
        smc     #0
        add     x21, x21, #1
        cmp     x21, #CPUS
        b.ne    1b
        mov     x0, x20
        adr     x19, head
        add     x19, x19, #KERNEL
        b       leave_el2

other:
        adr     x19, pen

leave_el2:              /* to x19, x0 as it is */
        mrs     x1, mpidr_el1
        msr     vmpidr_el2, x1
        and     x1, x1, #0xff
        ldr     w2, =CORTEX_A55
        ldr     w3, =CORTEX_A76
        cmp     x1, #LITTLE
        csel    w1, w2, w3, lo
        msr     vpidr_el2, x1
        mov     x1, #(1 << 31)          /* RW: EL1 is 64-bit; nothing is trapped */
        msr     hcr_el2, x1
        msr     hstr_el2, xzr
        mov     x1, #0x33ff             /* all RES1: floating point is not trapped */
        msr     cptr_el2, x1
        mov     x1, #3                  /* EL1 may use counter and timer */
        msr     cnthctl_el2, x1
        msr     cntvoff_el2, xzr
        mrs     x1, pmcr_el0
        ubfx    x1, x1, #11, #5         /* EL1 has all event counters */
        msr     mdcr_el2, x1
        ldr     x1, =0x30d00800         /* all RES1: MMU and caches off */
        msr     sctlr_el1, x1
        mov     x1, #0x3c5              /* EL1h, interrupts masked */
        msr     spsr_el2, x1
        msr     elr_el2, x19
        mov     x1, xzr                 /* the kernel wants them so */
        mov     x2, xzr
        mov     x3, xzr
        eret

pen:
        mrs     x1, mpidr_el1
        and     x1, x1, #0xff
        adr     x2, release
        add     x2, x2, x1, lsl #3
1:      wfe
        ldr     x1, [x2]
        cbz     x1, 1b
        br      x1
        .ltorg
        .org    KERNEL
