/* dense_scalar.c - dense layers and split first layers, one multiplication at a time. The last row of an output of int8
 * or int16 is followed by rows that the padding of the layer gives, so that the next layer reads whole quads. */
#include "kernels/arithmetic.h"
#include "kernels/scalar/scalar.h"

/* Rows that a layer writes for one candidate alone. */
static uint32_t node_rows(uint32_t outputs)
{
    return clo_round_up(outputs, CLO_LANES);
}

static void put(const clo_rule *rule, uint32_t output, int32_t sum, void *y, size_t index)
{
    if (rule->out == CLO_S32)
        ((int32_t *)y)[index] = sum;
    else if (rule->out == CLO_S16)
        ((int16_t *)y)[index] = (int16_t)clo_requantize(rule, output, sum);
    else
        ((int8_t *)y)[index] = (int8_t)clo_requantize(rule, output, sum);
}

static void put_lanes(const clo_rule *rule, uint32_t output, const int32_t sums[CLO_LANES], void *block)
{
    for (uint32_t lane = 0; lane < CLO_LANES; lane++)
        put(rule, output, sums[lane], block, clo_lane_index(rule->out, output, lane));
}

static inline int32_t number_at(clo_number number, const void *x, size_t index)
{
    return number == CLO_S8 ? ((const int8_t *)x)[index] : ((const int16_t *)x)[index];
}

/* x holds int8 or int16, as `number` says. */
static inline void dense_lanes(const clo_dense *layer, clo_number number, const void *x, uint32_t blocks, void *y)
{
    const size_t in_block = (size_t)clo_round_up(layer->inputs, 4) * CLO_LANES;

    for (uint32_t b = 0; b < blocks; b++) {
        void *out = clo_block_of(y, layer->rule.out, layer->outputs, b);

        for (uint32_t n = 0; n < clo_lanes_rows(layer->rule.out, layer->outputs); n++) {
            int32_t sums[CLO_LANES];

            for (uint32_t lane = 0; lane < CLO_LANES; lane++)
                sums[lane] = layer->bias[n];
            for (uint32_t k = 0; k < layer->inputs; k++) {
                const int8_t w = layer->weights[clo_weight_index(layer->inputs, n, k)];

                for (uint32_t lane = 0; lane < CLO_LANES; lane++) {
                    const size_t at = b * in_block + clo_lane_index(number, k, lane);

                    sums[lane] = clo_wrap_add(sums[lane], w * number_at(number, x, at));
                }
            }
            put_lanes(&layer->rule, n, sums, out);
        }
    }
}

static inline void dense_node(const clo_dense *layer, clo_number number, const void *x, void *y)
{
    for (uint32_t n = 0; n < node_rows(layer->outputs); n++) {
        int32_t sum = layer->bias[n];

        for (uint32_t k = 0; k < layer->inputs; k++)
            sum = clo_wrap_add(sum, layer->weights[clo_weight_index(layer->inputs, n, k)] * number_at(number, x, k));
        put(&layer->rule, n, sum, y, n);
    }
}

void clo_dense_lanes_s8_scalar(const clo_dense *layer, const int8_t *x, uint32_t blocks, void *y)
{
    dense_lanes(layer, CLO_S8, x, blocks, y);
}

void clo_dense_lanes_s16_scalar(const clo_dense *layer, const int16_t *x, uint32_t blocks, void *y)
{
    dense_lanes(layer, CLO_S16, x, blocks, y);
}

void clo_dense_node_s8_scalar(const clo_dense *layer, const int8_t *x, void *y)
{
    dense_node(layer, CLO_S8, x, y);
}

void clo_dense_node_s16_scalar(const clo_dense *layer, const int16_t *x, void *y)
{
    dense_node(layer, CLO_S16, x, y);
}

static int32_t split_sum(const clo_partials *partials, uint32_t output, size_t at)
{
    int32_t sum = partials->stage[at];

    if (partials->job != NULL)
        sum = clo_wrap_add(sum, partials->job[at]);
    return partials->global != NULL ? clo_wrap_add(sum, partials->global[output]) : sum;
}

/* Rows of int8 and int16 behind the last output have the sum 0. */
void clo_split_lanes_scalar(const clo_rule *rule, const clo_partials *partials, uint32_t blocks, void *y)
{
    for (uint32_t b = 0; b < blocks; b++) {
        size_t begin = (size_t)b * partials->outputs * CLO_LANES;
        void *out = clo_block_of(y, rule->out, partials->outputs, b);

        for (uint32_t n = 0; n < clo_lanes_rows(rule->out, partials->outputs); n++) {
            int32_t sums[CLO_LANES] = {0};

            for (uint32_t lane = 0; lane < CLO_LANES && n < partials->outputs; lane++)
                sums[lane] = split_sum(partials, n, begin + (size_t)n * CLO_LANES + lane);
            put_lanes(rule, n, sums, out);
        }
    }
}

void clo_split_node_scalar(const clo_rule *rule, const clo_partials *partials, void *y)
{
    for (uint32_t n = 0; n < node_rows(partials->outputs); n++)
        put(rule, n, split_sum(partials, n, n), y, n);
}
