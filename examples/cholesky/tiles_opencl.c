/* tiles_opencl.c - three of the tile kernels for devices. Sums run in the order of tiles.c, and nothing is contracted, so a
 * device that rounds as IEEE 754 says gives the same bytes. potrf stays on CPUs: its columns follow each other. */
#include "tiles.h"

const char tiles_program[] =
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    "#pragma OPENCL FP_CONTRACT OFF\n"
    "double product(__global const double *a, __global const double *b, uint depth, uint stride)\n"
    "{\n"
    "    double sum = 0;\n"
    "    for (uint k = 0; k < depth; k++)\n"
    "        sum += a[k * stride] * b[k * stride];\n"
    "    return sum;\n"
    "}\n"
    /* A work item is an element. */
    "__kernel void gemm(__global const double *a, __global const double *b, __global double *c, uint size, uint "
    "stride)\n"
    "{\n"
    "    uint i = get_global_id(0), j = get_global_id(1);\n"
    "    c[j * stride + i] -= product(a + i, b + j, size, stride);\n"
    "}\n"
    "__kernel void syrk(__global const double *a, __global double *c, uint size, uint stride)\n"
    "{\n"
    "    uint i = get_global_id(0), j = get_global_id(1);\n"
    "    if (i >= j - j % 8)\n"
    "        c[j * stride + i] -= product(a + i, a + j, size, stride);\n"
    "}\n"
    /* A work item is a row: its columns follow each other, two at a time. */
    "__kernel void trsm(__global const double *l, __global double *a, uint size, uint stride)\n"
    "{\n"
    "    uint i = get_global_id(0);\n"
    "    for (uint j = 0; j < size; j += 2) {\n"
    "        double left = a[j * stride + i] - product(a + i, l + j, j, stride);\n"
    "        double right = a[(j + 1) * stride + i] - product(a + i, l + j + 1, j, stride);\n"
    "        left /= l[j * stride + j];\n"
    "        a[j * stride + i] = left;\n"
    "        a[(j + 1) * stride + i] = (right - left * l[j * stride + j + 1]) / l[(j + 1) * stride + j + 1];\n"
    "    }\n"
    "}\n";
