/* device/kernel.h - kernels on tasks: their body, and where operands are. */
#ifndef CLO_DEVICE_KERNEL_H
#define CLO_DEVICE_KERNEL_H

#include "device/state.h"

/* The body of every kernel; clo_call.argument is the clo_kernel. */
int clo_kernel_body(const clo_call *call);

/* What the fallback gives; CLO_FAILED_DEVICE without one. */
int clo_kernel_fallback(const clo_kernel *kernel, const clo_call *call);

/* Operand `index` of a task with so many inputs and handles: as listed, else inputs, handles, the output. */
clo_operand clo_kernel_operand_at(const clo_kernel *kernel, uint32_t inputs, uint32_t data, uint32_t index);

/* Operand `index` of a call; their number is clo_kernel_operands. False: the call has no such input or handle. */
uint32_t clo_kernel_operands(const clo_kernel *kernel, const clo_call *call);
bool clo_kernel_operand(const clo_kernel *kernel, const clo_call *call, uint32_t index, clo_operand_view *out);

#endif
