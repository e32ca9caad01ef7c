/* install_scalar.c - fills the whole table. */
#include "kernels/install.h"
#include "kernels/scalar/scalar.h"

void clo_kernels_install_scalar(clo_kernels *table)
{
    *table = (clo_kernels){
        .isa = 0,
        .dense_lanes_s8 = clo_dense_lanes_s8_scalar,
        .dense_lanes_s16 = clo_dense_lanes_s16_scalar,
        .dense_node_s8 = clo_dense_node_s8_scalar,
        .dense_node_s16 = clo_dense_node_s16_scalar,
        .split_lanes = clo_split_lanes_scalar,
        .split_node = clo_split_node_scalar,
        .sum_rows_s8 = clo_sum_rows_s8_scalar,
        .sum_rows_s16 = clo_sum_rows_s16_scalar,
        .clamp_s8 = clo_clamp_s8_scalar,
        .clamp_s16 = clo_clamp_s16_scalar,
        .add_s8 = clo_add_s8_scalar,
        .add_s16 = clo_add_s16_scalar,
        .rows_to_lanes = clo_rows_to_lanes_scalar,
        .lanes_to_rows = clo_lanes_to_rows_scalar,
        .lookup_s8 = clo_lookup_s8_scalar,
        .tanh_s16 = clo_tanh_s16_scalar,
        .gumbel = clo_gumbel_scalar,
        .perturb = clo_perturb_scalar,
        .argmax_s32 = clo_argmax_s32_scalar,
    };
}
