/* kernels/scalar/scalar.h - the specification of each kernel; kernels.h says what they do. */
#ifndef CLO_KERNELS_SCALAR_H
#define CLO_KERNELS_SCALAR_H

#include "kernels/kernels.h"

void clo_dense_lanes_s8_scalar(const clo_dense *layer, const int8_t *x, uint32_t blocks, void *y);
void clo_dense_lanes_s16_scalar(const clo_dense *layer, const int16_t *x, uint32_t blocks, void *y);
void clo_dense_node_s8_scalar(const clo_dense *layer, const int8_t *x, void *y);
void clo_dense_node_s16_scalar(const clo_dense *layer, const int16_t *x, void *y);
void clo_split_lanes_scalar(const clo_rule *rule, const clo_partials *partials, uint32_t blocks, void *y);
void clo_split_node_scalar(const clo_rule *rule, const clo_partials *partials, void *y);
void clo_sum_rows_s8_scalar(const clo_rows *rows, const int8_t *values, int32_t *sums);
void clo_sum_rows_s16_scalar(const clo_rows *rows, const int16_t *values, int32_t *sums);
void clo_clamp_s8_scalar(const int32_t *x, uint32_t count, int8_t lo, int8_t hi, int8_t *y);
void clo_clamp_s16_scalar(const int32_t *x, uint32_t count, int16_t lo, int16_t hi, int16_t *y);
void clo_add_s8_scalar(const int8_t *a, const int8_t *b, const int8_t *c, uint32_t count, int8_t *y);
void clo_add_s16_scalar(const int16_t *a, const int16_t *b, const int16_t *c, uint32_t count, int16_t *y);
void clo_rows_to_lanes_scalar(const clo_rows *rows, const void *values, void *lanes);
void clo_lanes_to_rows_scalar(const clo_rows *rows, const void *lanes, void *values);
void clo_lookup_s8_scalar(const int8_t table[256], const int8_t *x, uint32_t count, int8_t *y);
void clo_tanh_s16_scalar(const int16_t table[CLO_TANH_POINTS], const int16_t *x, uint32_t count, int16_t *y);
void clo_gumbel_scalar(uint64_t seed, const uint64_t *keys, uint32_t count, int32_t *noise);
void clo_perturb_scalar(const int32_t *scores, int32_t scale, const int32_t *noise, uint32_t count, int32_t *y);
uint32_t clo_argmax_s32_scalar(const clo_candidates *candidates);

#endif
