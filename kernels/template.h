/* kernels/template.h - the loops of the vector variants, written once. An instruction set defines its primitives, then
 * includes this file, which gives it static functions under the names of the table.
 *
 * Types       V32: 16 int32, one a lane. X8, X16: a quad of inputs for 16 lanes, made ready for dot8 and dot16.
 * GROUP       outputs that are summed at once, 4 or 16: as many as the registers hold.
 * START       the bias that dot8 wants: layer->bias, or layer->folded where X8 is unsigned.
 * v32_...     load, store, set1, add, max, clamp(v, lo, hi), load_s8 and load_s16 (16 numbers, widened)
 * x8_load, x16_load          a quad of rows of a block
 * dot8_lanes, dot16_lanes    acc + inputs of 16 lanes * one output's quad of weights
 * WIDE        weights as words are used: WIDE_GROUP outputs are summed at once; of one candidate NODE_GROUPS * 16 (at
 *             least 32), in NODE_SUMS sums;
 *             pairs_load: a pair of rows of a block; dot_wide: acc + pair * one output's pair of weights;
 *             dot_wide_node: acc + 16 outputs' pairs of weights * one pair of inputs
 * dot8_node, dot16_node      acc + 16 outputs' quads of weights * one quad of inputs
 * quads_store, pairs_store   the rule on 4 (2) outputs of 16 lanes, to int8 (int16) lanes
 * node_store_s8, node_store_s16    the rule on 16 outputs of one candidate
 * narrow_s8, narrow_s16      stores 16 numbers that fit
 * mask_bits   bits of the lanes whose byte of the mask is not 0
 * v32_keep    lanes whose bit is set; INT32_MIN elsewhere
 * v32_equal   bits of the lanes equal to a number; v32_top: the highest lane */
#ifndef CLO_KERNELS_TEMPLATE_H
#define CLO_KERNELS_TEMPLATE_H

#include "kernels/arithmetic.h"

#define INLINE static inline __attribute__((always_inline))

INLINE void group_pairs(const clo_rule *rule, uint32_t count, const V32 *acc, int16_t *y)
{
    for (uint32_t i = 0; i + 2 <= count; i += 2)
        pairs_store(rule, i, acc + i, y + (size_t)i * CLO_LANES);
}

/* Asks once what the rule has, so that pairs_store need not ask for each pair. */
INLINE void group_store_s16(clo_rule rule, uint32_t count, const V32 *acc, int16_t *y)
{
    if (rule.lo > -INT16_MAX || rule.hi < INT16_MAX) {
        group_pairs(&rule, count, acc, y);
        return;
    }
    rule.lo = -INT16_MAX;
    rule.hi = INT16_MAX;
    if (rule.leaky != CLO_LEAKY_NONE) {
        group_pairs(&rule, count, acc, y);
    } else {
        rule.leaky = CLO_LEAKY_NONE;
        group_pairs(&rule, count, acc, y);
    }
}

/* A group of outputs n .. n + count - 1 of one block, count a constant. From here on outputs count from n, so that
 * their distances are constants too. */
INLINE void group_store(const clo_rule *given, uint32_t n, uint32_t count, const V32 *acc, void *block)
{
    clo_rule rule = *given;

    if (rule.out == CLO_S32) {
        int32_t *y = (int32_t *)block + (size_t)n * CLO_LANES;

        for (uint32_t i = 0; i < count; i++)
            v32_store(y + (size_t)i * CLO_LANES, acc[i]);
        return;
    }
    rule.pre += n;
    rule.m += n;
    if (rule.out == CLO_S16)
        group_store_s16(rule, count, acc, (int16_t *)block + (size_t)n * CLO_LANES);
    else
        for (uint32_t i = 0; i + 4 <= count; i += 4)
            quads_store(&rule, i, acc + i, (int8_t *)block + (size_t)(n + i) * CLO_LANES);
}

INLINE void group_s8(const clo_dense *layer, const int8_t *x, uint32_t n, uint32_t count, void *block)
{
    const int8_t *w = layer->weights + clo_weight_index(layer->inputs, n, 0);
    const int32_t *start = START(layer) + n;
    uint32_t quads = (layer->inputs + 3) / 4;
    V32 acc[GROUP];

    for (uint32_t i = 0; i < count; i++)
        acc[i] = v32_set1(start[i]);
    for (uint32_t q = 0; q < quads; q++, w += CLO_LANES * 4, x += CLO_LANES * 4) {
        const X8 quad = x8_load(x);

        for (uint32_t i = 0; i < count; i++)
            acc[i] = dot8_lanes(acc[i], quad, w + (size_t)i * 4);
    }
    group_store(&layer->rule, n, count, acc, block);
}

INLINE void group_s16(const clo_dense *layer, const int16_t *x, uint32_t n, uint32_t count, void *block)
{
    const int8_t *w = layer->weights + clo_weight_index(layer->inputs, n, 0);
    const int32_t *start = layer->bias + n;
    uint32_t quads = (layer->inputs + 3) / 4;
    V32 acc[GROUP];

    for (uint32_t i = 0; i < count; i++)
        acc[i] = v32_set1(start[i]);
    for (uint32_t q = 0; q < quads; q++, w += CLO_LANES * 4, x += CLO_LANES * 4) {
        const X16 quad = x16_load(x);

        for (uint32_t i = 0; i < count; i++)
            acc[i] = dot16_lanes(acc[i], quad, w + (size_t)i * 4);
    }
    group_store(&layer->rule, n, count, acc, block);
}

INLINE void node_store(const clo_rule *rule, uint32_t n, V32 acc, void *y)
{
    if (rule->out == CLO_S32)
        v32_store((int32_t *)y + n, acc);
    else if (rule->out == CLO_S16)
        node_store_s16(rule, n, acc, (int16_t *)y + n);
    else
        node_store_s8(rule, n, acc, (int8_t *)y + n);
}

#ifdef WIDE
/* Few outputs would wait for each other's sums: every other pair gets sums of its own. */
INLINE void group_wide(const clo_dense *layer, const int16_t *x, uint32_t n, uint32_t count, void *block)
{
    const uint32_t pairs = (layer->inputs + 1) / 2;
    const int16_t *w = layer->wide + ((size_t)(n / CLO_LANES) * pairs * CLO_LANES + n % CLO_LANES) * 2;
    const int32_t *start = layer->bias + n;
    V32 acc[WIDE_GROUP], odd[4];
    uint32_t p = 0;

    for (uint32_t i = 0; i < count; i++)
        acc[i] = v32_set1(start[i]);
    for (uint32_t i = 0; i < 4; i++)
        odd[i] = v32_set1(0);
    for (; p + 2 <= pairs; p += 2, w += (size_t)4 * CLO_LANES, x += (size_t)4 * CLO_LANES) {
        const V32 first = pairs_load(x), second = pairs_load(x + (size_t)2 * CLO_LANES);

        for (uint32_t i = 0; i < count; i++)
            acc[i] = dot_wide(acc[i], first, w + (size_t)i * 2);
        for (uint32_t i = 0; i < count; i++)
            if (count <= 4)
                odd[i] = dot_wide(odd[i], second, w + (size_t)(CLO_LANES + i) * 2);
            else
                acc[i] = dot_wide(acc[i], second, w + (size_t)(CLO_LANES + i) * 2);
    }
    if (p < pairs)
        for (uint32_t i = 0; i < count; i++)
            acc[i] = dot_wide(acc[i], pairs_load(x), w + (size_t)i * 2);
    for (uint32_t i = 0; i < count && count <= 4; i++)
        acc[i] = v32_add(acc[i], odd[i]);
    group_store(&layer->rule, n, count, acc, block);
}

static void dense_lanes_wide(const clo_dense *given, const int16_t *x, uint32_t blocks, void *y)
{
    const clo_dense own = *given, *layer = &own;
    uint32_t rows = clo_lanes_rows(layer->rule.out, layer->outputs);

    for (uint32_t b = 0; b < blocks; b++) {
        const int16_t *in = x + (size_t)b * clo_round_up(layer->inputs, 4) * CLO_LANES;
        void *block = clo_block_of(y, layer->rule.out, layer->outputs, b);
        uint32_t n = 0;

        for (; n + WIDE_GROUP <= rows; n += WIDE_GROUP)
            group_wide(layer, in, n, WIDE_GROUP, block);
        for (; n + 4 <= rows; n += 4)
            group_wide(layer, in, n, 4, block);
        for (; n < rows; n++)
            group_wide(layer, in, n, 1, block);
    }
}

/* `groups` times 16 outputs, a constant. They have NODE_SUMS sums among them, so that no multiplication waits for the
 * one before. */
INLINE void node_wide(const clo_dense *layer, const int16_t *x, uint32_t n, uint32_t groups, void *y)
{
    const uint32_t pairs = (layer->inputs + 1) / 2, each = NODE_SUMS / groups;
    const size_t apart = (size_t)pairs * CLO_LANES * 2;
    const int16_t *w = layer->wide + n / CLO_LANES * apart;
    V32 sums[NODE_SUMS];
    uint32_t p = 0;

    for (uint32_t i = 0; i < NODE_SUMS; i++)
        sums[i] = i < groups ? v32_load(layer->bias + n + (size_t)i * CLO_LANES) : v32_set1(0);
    for (; p + each <= pairs; p += each)
        for (uint32_t i = 0; i < NODE_SUMS; i++) {
            const uint32_t at = p + i / groups;
            sums[i] = dot_wide_node(sums[i], w + i % groups * apart + (size_t)at * CLO_LANES * 2, x + (size_t)at * 2);
        }
    for (; p < pairs; p++)
        for (uint32_t g = 0; g < groups; g++)
            sums[g] = dot_wide_node(sums[g], w + g * apart + (size_t)p * CLO_LANES * 2, x + (size_t)p * 2);
    for (uint32_t g = 0; g < groups; g++) {
        for (uint32_t i = g + groups; i < NODE_SUMS; i += groups)
            sums[g] = v32_add(sums[g], sums[i]);
        node_store(&layer->rule, n + g * CLO_LANES, sums[g], y);
    }
}

static void dense_node_wide(const clo_dense *given, const int16_t *x, void *y)
{
    const clo_dense own = *given, *layer = &own;
    uint32_t outputs = clo_round_up(layer->outputs, CLO_LANES), n = 0;

    for (; NODE_GROUPS > 2 && n + NODE_GROUPS * CLO_LANES <= outputs; n += NODE_GROUPS * CLO_LANES)
        node_wide(layer, x, n, NODE_GROUPS, y);
    for (; n + 2 * CLO_LANES <= outputs; n += 2 * CLO_LANES)
        node_wide(layer, x, n, 2, y);
    for (; n < outputs; n += CLO_LANES)
        node_wide(layer, x, n, 1, y);
}
#endif

/* n behind the outputs has the sum 0. */
INLINE void group_split(const clo_rule *rule, const clo_partials *p, size_t begin, uint32_t n, uint32_t count,
                        void *block)
{
    V32 acc[GROUP];

    for (uint32_t i = 0; i < count; i++) {
        size_t at = begin + (size_t)(n + i) * CLO_LANES;

        if (n + i >= p->outputs) {
            acc[i] = v32_set1(0);
            continue;
        }
        acc[i] = v32_load(p->stage + at);
        if (p->job != NULL)
            acc[i] = v32_add(acc[i], v32_load(p->job + at));
        if (p->global != NULL)
            acc[i] = v32_add(acc[i], v32_set1(p->global[n + i]));
    }
    group_store(rule, n, count, acc, block);
}

/* The layer is copied, so that the compiler need not read it again after each store. */
static void dense_lanes_s8(const clo_dense *given, const int8_t *x, uint32_t blocks, void *y)
{
    const clo_dense own = *given, *layer = &own;
    uint32_t rows = clo_lanes_rows(layer->rule.out, layer->outputs);

    for (uint32_t b = 0; b < blocks; b++) {
        const int8_t *in = x + (size_t)b * clo_round_up(layer->inputs, 4) * CLO_LANES;
        void *block = clo_block_of(y, layer->rule.out, layer->outputs, b);
        uint32_t n = 0;

        for (; n + GROUP <= rows; n += GROUP)
            group_s8(layer, in, n, GROUP, block);
        for (; n + 4 <= rows; n += 4)
            group_s8(layer, in, n, 4, block);
        for (; n < rows; n++)
            group_s8(layer, in, n, 1, block);
    }
}

static void dense_lanes_s16(const clo_dense *given, const int16_t *x, uint32_t blocks, void *y)
{
    const clo_dense own = *given, *layer = &own;
    uint32_t rows = clo_lanes_rows(layer->rule.out, layer->outputs);

#ifdef WIDE
    if (layer->wide != NULL) {
        dense_lanes_wide(layer, x, blocks, y);
        return;
    }
#endif
    for (uint32_t b = 0; b < blocks; b++) {
        const int16_t *in = x + (size_t)b * clo_round_up(layer->inputs, 4) * CLO_LANES;
        void *block = clo_block_of(y, layer->rule.out, layer->outputs, b);
        uint32_t n = 0;

        for (; n + GROUP <= rows; n += GROUP)
            group_s16(layer, in, n, GROUP, block);
        for (; n + 4 <= rows; n += 4)
            group_s16(layer, in, n, 4, block);
        for (; n < rows; n++)
            group_s16(layer, in, n, 1, block);
    }
}

static void split_lanes(const clo_rule *given, const clo_partials *parts, uint32_t blocks, void *y)
{
    const clo_rule own = *given, *rule = &own;
    const clo_partials copy = *parts, *partials = &copy;
    uint32_t rows = clo_lanes_rows(rule->out, partials->outputs);

    for (uint32_t b = 0; b < blocks; b++) {
        size_t begin = (size_t)b * partials->outputs * CLO_LANES;
        void *block = clo_block_of(y, rule->out, partials->outputs, b);
        uint32_t n = 0;

        for (; n + 4 <= rows; n += 4)
            group_split(rule, partials, begin, n, 4, block);
        for (; n < rows; n++)
            group_split(rule, partials, begin, n, 1, block);
    }
}

/* Two sums, so that one multiplication need not wait for the one before. */
static void dense_node_s8(const clo_dense *layer, const int8_t *x, void *y)
{
    const int8_t *w = layer->weights;
    uint32_t quads = (layer->inputs + 3) / 4;

    for (uint32_t n = 0; n < layer->outputs; n += CLO_LANES, w += (size_t)quads * CLO_LANES * 4) {
        V32 even = v32_load(START(layer) + n), odd = v32_set1(0);
        uint32_t q = 0;

        for (; q + 2 <= quads; q += 2) {
            even = dot8_node(even, w + (size_t)q * CLO_LANES * 4, x + (size_t)q * 4);
            odd = dot8_node(odd, w + (size_t)(q + 1) * CLO_LANES * 4, x + (size_t)q * 4 + 4);
        }
        if (q < quads)
            even = dot8_node(even, w + (size_t)q * CLO_LANES * 4, x + (size_t)q * 4);
        node_store(&layer->rule, n, v32_add(even, odd), y);
    }
}

static void dense_node_s16(const clo_dense *layer, const int16_t *x, void *y)
{
    const int8_t *w = layer->weights;
    uint32_t quads = (layer->inputs + 3) / 4;

#ifdef WIDE
    if (layer->wide != NULL) {
        dense_node_wide(layer, x, y);
        return;
    }
#endif
    for (uint32_t n = 0; n < layer->outputs; n += CLO_LANES, w += (size_t)quads * CLO_LANES * 4) {
        V32 acc = v32_load(layer->bias + n);

        for (uint32_t q = 0; q < quads; q++)
            acc = dot16_node(acc, w + (size_t)q * CLO_LANES * 4, x + (size_t)q * 4);
        node_store(&layer->rule, n, acc, y);
    }
}

static void split_node(const clo_rule *rule, const clo_partials *partials, void *y)
{
    for (uint32_t n = 0; n < partials->outputs; n += CLO_LANES) {
        V32 acc = v32_load(partials->stage + n);

        if (partials->job != NULL)
            acc = v32_add(acc, v32_load(partials->job + n));
        if (partials->global != NULL)
            acc = v32_add(acc, v32_load(partials->global + n));
        node_store(rule, n, acc, y);
    }
}

static void sum_rows_s8(const clo_rows *rows, const int8_t *values, int32_t *sums)
{
    for (uint32_t d = 0; d < rows->width; d += CLO_LANES) {
        V32 acc = v32_set1(0);

        for (uint32_t i = 0; i < rows->count; i++)
            acc = v32_add(acc, v32_load_s8(values + (size_t)rows->rows[i] * rows->stride + d));
        v32_store(sums + d, acc);
    }
}

static void sum_rows_s16(const clo_rows *rows, const int16_t *values, int32_t *sums)
{
    for (uint32_t d = 0; d < rows->width; d += CLO_LANES) {
        V32 acc = v32_set1(0);

        for (uint32_t i = 0; i < rows->count; i++)
            acc = v32_add(acc, v32_load_s16(values + (size_t)rows->rows[i] * rows->stride + d));
        v32_store(sums + d, acc);
    }
}

static void clamp_s8(const int32_t *x, uint32_t count, int8_t lo, int8_t hi, int8_t *y)
{
    uint32_t i = 0;

    for (; i + CLO_LANES <= count; i += CLO_LANES)
        narrow_s8(y + i, v32_clamp(v32_load(x + i), lo, hi));
    for (; i < count; i++)
        y[i] = (int8_t)clo_clamp(x[i], lo, hi);
}

static void clamp_s16(const int32_t *x, uint32_t count, int16_t lo, int16_t hi, int16_t *y)
{
    uint32_t i = 0;

    for (; i + CLO_LANES <= count; i += CLO_LANES)
        narrow_s16(y + i, v32_clamp(v32_load(x + i), lo, hi));
    for (; i < count; i++)
        y[i] = (int16_t)clo_clamp(x[i], lo, hi);
}

static void add_s8(const int8_t *a, const int8_t *b, const int8_t *c, uint32_t count, int8_t *y)
{
    uint32_t i = 0;

    for (; i + CLO_LANES <= count; i += CLO_LANES) {
        V32 sum = v32_add(v32_load_s8(a + i), v32_load_s8(b + i));

        if (c != NULL)
            sum = v32_add(sum, v32_load_s8(c + i));
        narrow_s8(y + i, v32_clamp(sum, INT8_MIN, INT8_MAX));
    }
    for (; i < count; i++)
        y[i] = (int8_t)clo_clamp(a[i] + b[i] + (c != NULL ? c[i] : 0), INT8_MIN, INT8_MAX);
}

static void add_s16(const int16_t *a, const int16_t *b, const int16_t *c, uint32_t count, int16_t *y)
{
    uint32_t i = 0;

    for (; i + CLO_LANES <= count; i += CLO_LANES) {
        V32 sum = v32_add(v32_load_s16(a + i), v32_load_s16(b + i));

        if (c != NULL)
            sum = v32_add(sum, v32_load_s16(c + i));
        narrow_s16(y + i, v32_clamp(sum, INT16_MIN, INT16_MAX));
    }
    for (; i < count; i++)
        y[i] = (int16_t)clo_clamp(a[i] + b[i] + (c != NULL ? c[i] : 0), INT16_MIN, INT16_MAX);
}

/* Bits of the lanes of a block that may be taken. */
INLINE uint32_t allowed(const clo_candidates *c, uint32_t block)
{
    uint32_t left = c->count - block * CLO_LANES;
    uint32_t bits = left < CLO_LANES ? (1u << left) - 1 : 0xffff;

    return c->mask == NULL ? bits : bits & mask_bits(c->mask + (size_t)block * CLO_LANES);
}

/* First the best score, then the smallest key among those that have it. */
static uint32_t argmax_s32(const clo_candidates *c)
{
    uint32_t blocks = (c->count + CLO_LANES - 1) / CLO_LANES, best = CLO_CANDIDATE_NONE;
    V32 top = v32_set1(INT32_MIN);
    int32_t highest;

    for (uint32_t b = 0; b < blocks; b++)
        top = v32_max(top, v32_keep(v32_load(c->scores + (size_t)b * CLO_LANES), allowed(c, b)));
    highest = v32_top(top);
    for (uint32_t b = 0; b < blocks; b++) {
        uint32_t hits = allowed(c, b) & v32_equal(v32_load(c->scores + (size_t)b * CLO_LANES), highest);

        for (; hits != 0; hits &= hits - 1) {
            uint32_t i = b * CLO_LANES + (uint32_t)__builtin_ctz(hits);

            if (best == CLO_CANDIDATE_NONE || c->keys[i] < c->keys[best])
                best = i;
        }
    }
    return best;
}

INLINE void install_template(clo_kernels *table)
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
    table->add_s8 = add_s8;
    table->add_s16 = add_s16;
    table->argmax_s32 = argmax_s32;
}

#endif
