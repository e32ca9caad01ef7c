/* layout.c - packing weights, checking layers, and moving candidates between lanes. None of it is on the path of a
 * decision but the moves, which touch one candidate. */
#include "kernels/arithmetic.h"

#include <assert.h>
#include <string.h>

size_t clo_weights_bytes(uint32_t inputs, uint32_t outputs)
{
    return (size_t)clo_round_up(inputs, 4) * clo_round_up(outputs, CLO_LANES);
}

void clo_weights_pack(const int8_t *rows, uint32_t inputs, uint32_t outputs, int8_t *packed)
{
    memset(packed, 0, clo_weights_bytes(inputs, outputs));
    for (uint32_t n = 0; n < outputs; n++)
        for (uint32_t k = 0; k < inputs; k++)
            packed[clo_weight_index(inputs, n, k)] = rows[(size_t)n * inputs + k];
}

static int16_t weight_of(const int8_t *packed, uint32_t inputs, uint32_t output, uint32_t input)
{
    return packed[clo_weight_index(inputs, output, input)];
}

void clo_weights_widen(const int8_t *packed, uint32_t inputs, uint32_t outputs, int16_t *wide)
{
    for (uint32_t n = 0; n < outputs; n += CLO_LANES)
        for (uint32_t k = 0; k < inputs; k += 2)
            for (uint32_t lane = 0; lane < CLO_LANES; lane++, wide += 2) {
                wide[0] = weight_of(packed, inputs, n + lane, k);
                wide[1] = weight_of(packed, inputs, n + lane, k + 1);
            }
}

void clo_dense_fold(const clo_dense *layer, int32_t *folded)
{
    for (uint32_t n = 0; n < clo_round_up(layer->outputs, CLO_LANES); n++) {
        int32_t sum = 0;

        for (uint32_t k = 0; k < clo_round_up(layer->inputs, 4); k++)
            sum = clo_wrap_add(sum, layer->weights[clo_weight_index(layer->inputs, n, k)]);
        folded[n] = (int32_t)((uint32_t)layer->bias[n] - 128u * (uint32_t)sum);
    }
}

static int64_t magnitude(int64_t value)
{
    return value < 0 ? -value : value;
}

bool clo_dense_is_safe(const clo_dense *layer, int32_t x_max)
{
    assert(x_max >= 0);
    for (uint32_t n = 0; n < layer->outputs; n++) {
        int64_t sum = 0;

        for (uint32_t k = 0; k < layer->inputs; k++) /* at most 2^32 * 2^7 */
            sum += magnitude(layer->weights[clo_weight_index(layer->inputs, n, k)]);
        if (x_max > 0 && sum > INT32_MAX / x_max)
            return false;
        if (magnitude(layer->bias[n]) + sum * x_max > INT32_MAX)
            return false;
    }
    return layer->inputs > 0 && layer->outputs > 0;
}

bool clo_rule_is_valid(const clo_rule *rule, uint32_t outputs)
{
    if (rule->out == CLO_S32)
        return true;
    for (uint32_t n = 0; n < outputs; n++)
        if (rule->pre[n] < 0 || rule->pre[n] > 31 || rule->m[n] <= 0)
            return false;
    if (rule->out == CLO_S8 && (rule->lo < INT8_MIN || rule->hi > INT8_MAX))
        return false;
    return (rule->out == CLO_S8 || rule->out == CLO_S16) && rule->lo <= rule->hi && rule->leaky >= 0 &&
           rule->leaky <= CLO_LEAKY_NONE;
}

size_t clo_lanes_bytes(clo_number number, uint32_t rows, uint32_t blocks)
{
    size_t bytes = number == CLO_S8 ? 1 : number == CLO_S16 ? 2 : 4;

    return bytes * CLO_LANES * clo_lanes_rows(number, rows) * blocks;
}

void clo_lanes_put_s32(int32_t *lanes, uint32_t rows, uint32_t candidate, const int32_t *row)
{
    int32_t *to = lanes + (size_t)(candidate / CLO_LANES) * rows * CLO_LANES + candidate % CLO_LANES;

    for (uint32_t r = 0; r < rows; r++)
        to[(size_t)r * CLO_LANES] = row[r];
}

void clo_lanes_move_s32(int32_t *lanes, uint32_t rows, uint32_t from, uint32_t to)
{
    const int32_t *source = lanes + (size_t)(from / CLO_LANES) * rows * CLO_LANES + from % CLO_LANES;
    int32_t *target = lanes + (size_t)(to / CLO_LANES) * rows * CLO_LANES + to % CLO_LANES;

    for (uint32_t r = 0; r < rows; r++)
        target[(size_t)r * CLO_LANES] = source[(size_t)r * CLO_LANES];
}

void clo_lanes_put_s8(int8_t *lanes, uint32_t rows, uint32_t candidate, const int8_t *row)
{
    int8_t *block = clo_block_of(lanes, CLO_S8, rows, candidate / CLO_LANES);

    for (uint32_t r = 0; r < clo_round_up(rows, 4); r++)
        block[clo_lane_index(CLO_S8, r, candidate % CLO_LANES)] = r < rows ? row[r] : 0;
}

void clo_lanes_put_s16(int16_t *lanes, uint32_t rows, uint32_t candidate, const int16_t *row)
{
    int16_t *block = clo_block_of(lanes, CLO_S16, rows, candidate / CLO_LANES);

    for (uint32_t r = 0; r < clo_round_up(rows, 4); r++)
        block[clo_lane_index(CLO_S16, r, candidate % CLO_LANES)] = r < rows ? row[r] : 0;
}
