/* tiles.h - the four tile kernels of Cholesky factorisation, in plain C.
 *
 * A tile is size x size doubles, column-major, columns TILE_PAD doubles further apart than the tile is high: powers of
 * two would map the columns of a tile onto a few cache sets. `size` is a multiple of TILE_STEP. */
#ifndef EXAMPLES_CHOLESKY_TILES_H
#define EXAMPLES_CHOLESKY_TILES_H

#include <stddef.h>
#include <stdint.h>

enum { TILE_STEP = 8, TILE_PAD = 8 };

static inline size_t tile_stride(uint32_t size)
{
    return (size_t)size + TILE_PAD;
}

/* Doubles that one tile occupies. */
static inline size_t tile_doubles(uint32_t size)
{
    return tile_stride(size) * size;
}

/* a := L with L L^T = a, lower triangle only; what stands above the diagonal is not defined afterwards.
 * Returns 0, or j + 1 if pivot j is not positive: the matrix is not positive definite. */
int tile_potrf(uint32_t size, double *a);

/* a := a L^-T, L the lower triangle of `l`. */
void tile_trsm(uint32_t size, const double *l, double *a);

/* c := c - a a^T, lower triangle only (above the diagonal: not defined). */
void tile_syrk(uint32_t size, const double *a, double *c);

/* c := c - a b^T. */
void tile_gemm(uint32_t size, const double *a, const double *b, double *c);

/* trsm, syrk and gemm in OpenCL C: the tiles, then `size` and the stride. */
extern const char tiles_program[];

#endif
