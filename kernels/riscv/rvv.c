/* rvv.c - the tables' side of loops.S: blocks, groups of four outputs, and which store the rule ends in. Sums go
 * through memory to the rule. */
#include "kernels/arithmetic.h"
#include "kernels/install.h"

#include <string.h>

enum { GROUP = 4 };

/* Sums of four outputs for 16 lanes, or of 16 outputs for one candidate; quads > 0. */
void clo_rvv_lanes_s8(const int32_t *bias, const int8_t *weights, const int8_t *x, size_t quads, int32_t *sums);
void clo_rvv_lanes_s16(const int32_t *bias, const int8_t *weights, const int16_t *x, size_t quads, int32_t *sums);
void clo_rvv_node_s8(const int32_t *bias, const int8_t *weights, const int8_t *x, size_t quads, int32_t *sums);
void clo_rvv_node_s16(const int32_t *bias, const int8_t *weights, const int16_t *x, size_t quads, int32_t *sums);
/* sums[16] += 16 numbers; `step` bytes apart, 0: the same number. */
void clo_rvv_add(int32_t *sums, const int32_t *numbers, size_t step);
void clo_rvv_add_s8(int32_t *sums, const int8_t *numbers);
void clo_rvv_add_s16(int32_t *sums, const int16_t *numbers);
/* The rule on 16 sums; pre, m and y with the bytes between two of them. ends: lo, hi, leaky. */
void clo_rvv_rule_s8(const int32_t *sums, const int32_t *pre, size_t pre_step, const int16_t *m, size_t m_step,
                     const int16_t ends[3], int8_t *y, size_t y_step);
void clo_rvv_rule_s16(const int32_t *sums, const int32_t *pre, size_t pre_step, const int16_t *m, size_t m_step,
                      const int16_t ends[3], int16_t *y, size_t y_step);
/* count > 0 */
void clo_rvv_clamp_s8(const int32_t *x, size_t count, int32_t lo, int32_t hi, int8_t *y);
void clo_rvv_clamp_s16(const int32_t *x, size_t count, int32_t lo, int32_t hi, int16_t *y);
int32_t clo_rvv_highest(const int32_t *scores, size_t count, const uint8_t *mask);

static void lanes_store(const clo_rule *rule, uint32_t n, const int32_t *sums, void *block)
{
    const int16_t ends[3] = {rule->lo, rule->hi, rule->leaky};
    const size_t at = clo_lane_index(rule->out, n, 0);

    if (rule->out == CLO_S32)
        memcpy((int32_t *)block + at, sums, CLO_LANES * sizeof *sums);
    else if (rule->out == CLO_S16)
        clo_rvv_rule_s16(sums, rule->pre + n, 0, rule->m + n, 0, ends, (int16_t *)block + at, 4);
    else
        clo_rvv_rule_s8(sums, rule->pre + n, 0, rule->m + n, 0, ends, (int8_t *)block + at, 4);
}

static void node_store(const clo_rule *rule, uint32_t n, const int32_t *sums, void *y)
{
    const int16_t ends[3] = {rule->lo, rule->hi, rule->leaky};

    if (rule->out == CLO_S32)
        memcpy((int32_t *)y + n, sums, CLO_LANES * sizeof *sums);
    else if (rule->out == CLO_S16)
        clo_rvv_rule_s16(sums, rule->pre + n, 4, rule->m + n, 2, ends, (int16_t *)y + n, 2);
    else
        clo_rvv_rule_s8(sums, rule->pre + n, 4, rule->m + n, 2, ends, (int8_t *)y + n, 1);
}

/* Weights are padded to 16 outputs, so a group of four is always whole; only the rows that there are get stored. */
static void group_store(const clo_rule *rule, uint32_t n, uint32_t rows, const int32_t *sums, void *block)
{
    for (uint32_t i = 0; i < GROUP && n + i < rows; i++)
        lanes_store(rule, n + i, sums + (size_t)i * CLO_LANES, block);
}

static void dense_lanes_s8(const clo_dense *layer, const int8_t *x, uint32_t blocks, void *y)
{
    uint32_t rows = clo_lanes_rows(layer->rule.out, layer->outputs), quads = (layer->inputs + 3) / 4;
    int32_t sums[GROUP * CLO_LANES];

    for (uint32_t b = 0; b < blocks; b++)
        for (uint32_t n = 0; n < rows; n += GROUP) {
            clo_rvv_lanes_s8(layer->bias + n, layer->weights + clo_weight_index(layer->inputs, n, 0),
                             x + (size_t)b * quads * 4 * CLO_LANES, quads, sums);
            group_store(&layer->rule, n, rows, sums, clo_block_of(y, layer->rule.out, layer->outputs, b));
        }
}

static void dense_lanes_s16(const clo_dense *layer, const int16_t *x, uint32_t blocks, void *y)
{
    uint32_t rows = clo_lanes_rows(layer->rule.out, layer->outputs), quads = (layer->inputs + 3) / 4;
    int32_t sums[GROUP * CLO_LANES];

    for (uint32_t b = 0; b < blocks; b++)
        for (uint32_t n = 0; n < rows; n += GROUP) {
            clo_rvv_lanes_s16(layer->bias + n, layer->weights + clo_weight_index(layer->inputs, n, 0),
                              x + (size_t)b * quads * 4 * CLO_LANES, quads, sums);
            group_store(&layer->rule, n, rows, sums, clo_block_of(y, layer->rule.out, layer->outputs, b));
        }
}

static void dense_node_s8(const clo_dense *layer, const int8_t *x, void *y)
{
    int32_t sums[CLO_LANES];

    for (uint32_t n = 0; n < layer->outputs; n += CLO_LANES) {
        clo_rvv_node_s8(layer->bias + n, layer->weights + clo_weight_index(layer->inputs, n, 0), x,
                        (layer->inputs + 3) / 4, sums);
        node_store(&layer->rule, n, sums, y);
    }
}

static void dense_node_s16(const clo_dense *layer, const int16_t *x, void *y)
{
    int32_t sums[CLO_LANES];

    for (uint32_t n = 0; n < layer->outputs; n += CLO_LANES) {
        clo_rvv_node_s16(layer->bias + n, layer->weights + clo_weight_index(layer->inputs, n, 0), x,
                         (layer->inputs + 3) / 4, sums);
        node_store(&layer->rule, n, sums, y);
    }
}

static void split_lanes(const clo_rule *rule, const clo_partials *partials, uint32_t blocks, void *y)
{
    for (uint32_t b = 0; b < blocks; b++)
        for (uint32_t n = 0; n < clo_lanes_rows(rule->out, partials->outputs); n++) {
            size_t at = ((size_t)b * partials->outputs + n) * CLO_LANES;
            int32_t sums[CLO_LANES] = {0};

            if (n < partials->outputs) {
                clo_rvv_add(sums, partials->stage + at, sizeof *sums);
                if (partials->job != NULL)
                    clo_rvv_add(sums, partials->job + at, sizeof *sums);
                if (partials->global != NULL)
                    clo_rvv_add(sums, partials->global + n, 0);
            }
            lanes_store(rule, n, sums, clo_block_of(y, rule->out, partials->outputs, b));
        }
}

static void split_node(const clo_rule *rule, const clo_partials *partials, void *y)
{
    for (uint32_t n = 0; n < partials->outputs; n += CLO_LANES) {
        int32_t sums[CLO_LANES] = {0};

        clo_rvv_add(sums, partials->stage + n, sizeof *sums);
        if (partials->job != NULL)
            clo_rvv_add(sums, partials->job + n, sizeof *sums);
        if (partials->global != NULL)
            clo_rvv_add(sums, partials->global + n, sizeof *sums);
        node_store(rule, n, sums, y);
    }
}

static void sum_rows_s8(const clo_rows *rows, const int8_t *values, int32_t *sums)
{
    for (uint32_t d = 0; d < rows->width; d += CLO_LANES) {
        memset(sums + d, 0, CLO_LANES * sizeof *sums);
        for (uint32_t i = 0; i < rows->count; i++)
            clo_rvv_add_s8(sums + d, values + (size_t)rows->rows[i] * rows->stride + d);
    }
}

static void sum_rows_s16(const clo_rows *rows, const int16_t *values, int32_t *sums)
{
    for (uint32_t d = 0; d < rows->width; d += CLO_LANES) {
        memset(sums + d, 0, CLO_LANES * sizeof *sums);
        for (uint32_t i = 0; i < rows->count; i++)
            clo_rvv_add_s16(sums + d, values + (size_t)rows->rows[i] * rows->stride + d);
    }
}

static void clamp_s8(const int32_t *x, uint32_t count, int8_t lo, int8_t hi, int8_t *y)
{
    if (count > 0)
        clo_rvv_clamp_s8(x, count, lo, hi, y);
}

static void clamp_s16(const int32_t *x, uint32_t count, int16_t lo, int16_t hi, int16_t *y)
{
    if (count > 0)
        clo_rvv_clamp_s16(x, count, lo, hi, y);
}

/* First the best score, then the smallest key among those that have it. */
static uint32_t argmax_s32(const clo_candidates *candidates)
{
    uint32_t best = CLO_CANDIDATE_NONE;
    int32_t highest;

    if (candidates->count == 0)
        return best;
    highest = clo_rvv_highest(candidates->scores, candidates->count, candidates->mask);
    for (uint32_t i = 0; i < candidates->count; i++)
        if (candidates->scores[i] == highest && (candidates->mask == NULL || candidates->mask[i] != 0) &&
            (best == CLO_CANDIDATE_NONE || candidates->keys[i] < candidates->keys[best]))
            best = i;
    return best;
}

void clo_kernels_install_rvv(clo_kernels *table)
{
    table->dense_lanes_s8 = dense_lanes_s8;
    table->dense_lanes_s16 = dense_lanes_s16;
    table->dense_node_s8 = dense_node_s8;
    table->dense_node_s16 = dense_node_s16;
    table->split_lanes = split_lanes;
    table->split_node = split_node;
    table->sum_rows_s8 = sum_rows_s8;
    table->sum_rows_s16 = sum_rows_s16;
    table->clamp_s8 = clamp_s8;
    table->clamp_s16 = clamp_s16;
    table->argmax_s32 = argmax_s32;
}
