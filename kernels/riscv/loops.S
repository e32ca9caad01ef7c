/* loops.S - RISC-V with V 1.0, any length of its registers: 16 int32 are four registers of 128 bits, the shortest there are.
 *
 * In assembly, because gcc 12 knows the instructions but has neither intrinsics nor names for the registers. The C side is
 * rvv.c, with the declarations and what the arguments mean. Bytes of a quad are taken apart by shifts and multiplied one
 * input at a time by vmacc.vx, which is exact. All vector registers are the callee's to change. */

.macro begin name
    .globl \name
    .hidden \name
    .type \name, @function
\name:
.endm

.macro end name
    ret
    .size \name, . - \name
.endm

.macro lanes32
    vsetivli zero, 16, e32, m4, ta, ma
.endm

/* 64 bytes, wherever they lie, as 16 lanes of 32 bits: v16 .. v19. */
.macro load_quads pointer
    li t0, 64
    vsetvli zero, t0, e8, m4, ta, ma
    vle8.v v16, (\pointer)
    lanes32
.endm

.macro load_pairs pointer
    li t0, 32
    vsetvli zero, t0, e16, m4, ta, ma
    vle16.v v16, (\pointer)
    lanes32
.endm

/* A part of the 32 bits of each lane, widened: v20 .. v23. */
.macro part left, right
    vsll.vi v20, v16, \left
    vsra.vi v20, v20, \right
.endm

/* One input of 16 lanes times the weights of four outputs, at a1. */
.macro four_outputs at
    lb t0, \at(a1)
    lb t1, \at+4(a1)
    lb t2, \at+8(a1)
    lb t3, \at+12(a1)
    vmacc.vx v0, t0, v20
    vmacc.vx v4, t1, v20
    vmacc.vx v8, t2, v20
    vmacc.vx v12, t3, v20
.endm

.macro four_biases
    lanes32
    lw t0, 0(a0)
    lw t1, 4(a0)
    lw t2, 8(a0)
    lw t3, 12(a0)
    vmv.v.x v0, t0
    vmv.v.x v4, t1
    vmv.v.x v8, t2
    vmv.v.x v12, t3
.endm

.macro four_stores
    vse32.v v0, (a4)
    addi a4, a4, 64
    vse32.v v4, (a4)
    addi a4, a4, 64
    vse32.v v8, (a4)
    addi a4, a4, 64
    vse32.v v12, (a4)
.endm

    .text
    .balign 4

/* bias a0, weights a1, x a2, quads a3, sums a4 */
begin clo_rvv_lanes_s8
    four_biases
1:  load_quads a2
    part 24, 24
    four_outputs 0
    part 16, 24
    four_outputs 1
    part 8, 24
    four_outputs 2
    vsra.vi v20, v16, 24
    four_outputs 3
    addi a2, a2, 64
    addi a1, a1, 64
    addi a3, a3, -1
    bnez a3, 1b
    four_stores
end clo_rvv_lanes_s8

begin clo_rvv_lanes_s16
    four_biases
1:  load_pairs a2
    part 16, 16
    four_outputs 0
    vsra.vi v20, v16, 16
    four_outputs 1
    addi a2, a2, 64
    load_pairs a2
    part 16, 16
    four_outputs 2
    vsra.vi v20, v16, 16
    four_outputs 3
    addi a2, a2, 64
    addi a1, a1, 64
    addi a3, a3, -1
    bnez a3, 1b
    four_stores
end clo_rvv_lanes_s16

/* 16 outputs' quads of weights in v16 times the four inputs in t1 .. t4. */
.macro node_quad
    part 24, 24
    vmacc.vx v0, t1, v20
    part 16, 24
    vmacc.vx v0, t2, v20
    part 8, 24
    vmacc.vx v0, t3, v20
    vsra.vi v20, v16, 24
    vmacc.vx v0, t4, v20
    addi a1, a1, 64
    addi a3, a3, -1
.endm

begin clo_rvv_node_s8
    lanes32
    vle32.v v0, (a0)
1:  load_quads a1
    lb t1, 0(a2)
    lb t2, 1(a2)
    lb t3, 2(a2)
    lb t4, 3(a2)
    addi a2, a2, 4
    node_quad
    bnez a3, 1b
    vse32.v v0, (a4)
end clo_rvv_node_s8

begin clo_rvv_node_s16
    lanes32
    vle32.v v0, (a0)
1:  load_quads a1
    lh t1, 0(a2)
    lh t2, 2(a2)
    lh t3, 4(a2)
    lh t4, 6(a2)
    addi a2, a2, 8
    node_quad
    bnez a3, 1b
    vse32.v v0, (a4)
end clo_rvv_node_s16

/* sums a0 += 16 int32 from a1 on, a2 bytes apart. */
begin clo_rvv_add
    lanes32
    vle32.v v0, (a0)
    vlse32.v v4, (a1), a2
    vadd.vv v0, v0, v4
    vse32.v v0, (a0)
end clo_rvv_add

begin clo_rvv_add_s8
    lanes32
    vle32.v v0, (a0)
    vle8.v v4, (a1)
    vsext.vf4 v8, v4
    vadd.vv v0, v0, v8
    vse32.v v0, (a0)
end clo_rvv_add_s8

begin clo_rvv_add_s16
    lanes32
    vle32.v v0, (a0)
    vle16.v v4, (a1)
    vsext.vf2 v8, v4
    vadd.vv v0, v0, v8
    vse32.v v0, (a0)
end clo_rvv_add_s16

/* v0 = the rule on 16 sums at a0: pre at a1, a2 bytes apart, m at a3, a4 bytes apart; lo, hi and leaky at a5. */
.macro rule
    lanes32
    vle32.v v0, (a0)
    vlse32.v v4, (a1), a2
    vsra.vv v0, v0, v4
    li t0, -32768
    li t1, 32767
    vmax.vx v0, v0, t0
    vmin.vx v0, v0, t1
    vlse16.v v8, (a3), a4
    vsext.vf2 v4, v8
    vmul.vv v0, v0, v4
    li t0, 0x4000
    vadd.vx v0, v0, t0
    vsra.vi v0, v0, 15
    lh t0, 4(a5)
    li t1, 256
    beq t0, t1, 1f
    vmul.vx v4, v0, t0
    li t1, 128
    vadd.vx v4, v4, t1
    vsra.vi v4, v4, 8
    vmax.vv v0, v0, v4
1:  lh t0, 0(a5)
    lh t1, 2(a5)
    vmax.vx v0, v0, t0
    vmin.vx v0, v0, t1
    vsetivli zero, 16, e16, m2, ta, ma
    vnsrl.wi v4, v0, 0
.endm

/* To y a6, a7 bytes apart. */
begin clo_rvv_rule_s8
    rule
    vsetivli zero, 16, e8, m1, ta, ma
    vnsrl.wi v0, v4, 0
    vsse8.v v0, (a6), a7
end clo_rvv_rule_s8

begin clo_rvv_rule_s16
    rule
    vsse16.v v4, (a6), a7
end clo_rvv_rule_s16

/* x a0, count a1, lo a2, hi a3, y a4 */
begin clo_rvv_clamp_s8
1:  vsetvli t0, a1, e32, m4, ta, ma
    vle32.v v0, (a0)
    vmax.vx v0, v0, a2
    vmin.vx v0, v0, a3
    vsetvli zero, zero, e16, m2, ta, ma
    vnsrl.wi v4, v0, 0
    vsetvli zero, zero, e8, m1, ta, ma
    vnsrl.wi v0, v4, 0
    vse8.v v0, (a4)
    sub a1, a1, t0
    add a4, a4, t0
    slli t0, t0, 2
    add a0, a0, t0
    bnez a1, 1b
end clo_rvv_clamp_s8

begin clo_rvv_clamp_s16
1:  vsetvli t0, a1, e32, m4, ta, ma
    vle32.v v0, (a0)
    vmax.vx v0, v0, a2
    vmin.vx v0, v0, a3
    vsetvli zero, zero, e16, m2, ta, ma
    vnsrl.wi v4, v0, 0
    vse16.v v4, (a4)
    sub a1, a1, t0
    slli t1, t0, 1
    add a4, a4, t1
    slli t0, t0, 2
    add a0, a0, t0
    bnez a1, 1b
end clo_rvv_clamp_s16

/* The highest of the scores a0, count a1, that the bytes at a2 allow (0: all); INT32_MIN if none. */
begin clo_rvv_highest
    li t1, -2147483648
    vsetivli zero, 1, e32, m1, ta, ma
    vmv.s.x v16, t1
1:  vsetvli t0, a1, e32, m4, ta, ma
    vle32.v v4, (a0)
    beqz a2, 2f
    vle8.v v8, (a2)
    vsetvli zero, zero, e8, m1, ta, ma
    vmseq.vi v0, v8, 0
    vsetvli zero, zero, e32, m4, ta, ma
    vmerge.vxm v4, v4, t1, v0
    add a2, a2, t0
2:  vredmax.vs v16, v4, v16
    sub a1, a1, t0
    slli t0, t0, 2
    add a0, a0, t0
    bnez a1, 1b
    vmv.x.s a0, v16
end clo_rvv_highest

    .section .note.GNU-stack, "", @progbits
