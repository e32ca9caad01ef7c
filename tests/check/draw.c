#include "draw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOMS_MAX = 64, PATTERN = 0x5a };

static uint64_t state;
static void *rooms[ROOMS_MAX];
static uint32_t rooms_count;

void draw_seed(uint64_t seed)
{
    state = seed;
}

uint64_t draw_bits(void)
{
    uint64_t x = state += 0x9e3779b97f4a7c15u;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

uint32_t draw_below(uint32_t bound)
{
    return (uint32_t)(((draw_bits() >> 32) * bound) >> 32);
}

int32_t draw_number(style how, int32_t lowest, int32_t highest)
{
    int64_t span = (int64_t)highest - lowest + 1, any = lowest + (int64_t)(draw_bits() % (uint64_t)span);

    switch (how) {
    case STYLE_SMALL:
        return (int32_t)(any / 64);
    case STYLE_LOWEST:
        return lowest;
    case STYLE_HIGHEST:
        return highest;
    case STYLE_ENDS:
        return (any & 1) != 0 ? lowest : highest;
    default:
        return (int32_t)any;
    }
}

uint32_t draw_up(uint32_t count, uint32_t unit)
{
    return (count + unit - 1) / unit * unit;
}

void *draw_room(size_t count, size_t bytes)
{
    size_t offset = bytes * (1 + draw_below(3)), size = count * bytes;
    char *room = malloc(offset + size + 1); /* + 1: no size is 0 */

    if (room == NULL || rooms_count == ROOMS_MAX) {
        fprintf(stderr, "check-kernels: no room for %zu bytes\n", size);
        exit(3);
    }
    memset(room, PATTERN, offset + size);
    rooms[rooms_count++] = room;
    return room + offset;
}

void draw_free_all(void)
{
    while (rooms_count > 0)
        free(rooms[--rooms_count]);
}

int8_t *draw_s8(style how, size_t count)
{
    int8_t *numbers = draw_room(count, sizeof *numbers);

    for (size_t i = 0; i < count; i++)
        numbers[i] = (int8_t)draw_number(how, INT8_MIN, INT8_MAX);
    return numbers;
}

int16_t *draw_s16(style how, size_t count)
{
    int16_t *numbers = draw_room(count, sizeof *numbers);

    for (size_t i = 0; i < count; i++)
        numbers[i] = (int16_t)draw_number(how, INT16_MIN, INT16_MAX);
    return numbers;
}

int32_t *draw_s32(style how, size_t count)
{
    int32_t *numbers = draw_room(count, sizeof *numbers);

    for (size_t i = 0; i < count; i++)
        numbers[i] = draw_number(how, INT32_MIN, INT32_MAX);
    return numbers;
}

static int16_t draw_leaky(void)
{
    static const int16_t slopes[] = {CLO_LEAKY_NONE, CLO_LEAKY_NONE, 0, 51, 255};
    uint32_t i = draw_below(6);

    return i < 5 ? slopes[i] : (int16_t)draw_below(256);
}

clo_rule draw_rule(style how, clo_number out, uint32_t outputs)
{
    int32_t least = out == CLO_S8 ? INT8_MIN : INT16_MIN, most = out == CLO_S8 ? INT8_MAX : INT16_MAX;
    int32_t a = draw_number(how, least, most), b = draw_number(how, least, most);
    uint32_t padded = draw_up(outputs, CLO_LANES);
    int32_t *pre = draw_room(padded, sizeof *pre);
    int16_t *m = draw_room(padded, sizeof *m);

    if (draw_below(2) == 0)
        a = least, b = most;
    for (uint32_t i = 0; i < padded; i++) {
        pre[i] = i < outputs ? (int32_t)draw_below(how == STYLE_SMALL ? 8 : 32) : 0;
        m[i] = (int16_t)(i < outputs ? draw_number(how, 1, INT16_MAX) : 0);
        if (i < outputs && m[i] == 0) /* small numbers */
            m[i] = 1;
    }
    return (clo_rule){pre, m, (int16_t)(a < b ? a : b), (int16_t)(a < b ? b : a), draw_leaky(), out};
}

/* Biases are of any size: sums wrap, and saturate on their way to int16. */
clo_dense draw_dense(style how, clo_number out, uint32_t inputs, uint32_t outputs)
{
    uint32_t padded = draw_up(outputs, CLO_LANES);
    int8_t *rows = draw_s8(how, (size_t)inputs * outputs);
    int8_t *weights = draw_room(clo_weights_bytes(inputs, outputs), 1);
    int32_t *bias = draw_s32(how, padded), *folded = draw_room(padded, sizeof *folded);
    int16_t *wide = draw_below(2) == 0 ? NULL : draw_room(clo_weights_bytes(inputs, outputs), sizeof *wide);
    clo_dense layer = {inputs, outputs, weights, bias, folded, draw_rule(how, out, outputs), wide};

    for (uint32_t i = outputs; i < padded; i++)
        bias[i] = 0;
    clo_weights_pack(rows, inputs, outputs, weights);
    clo_dense_fold(&layer, folded);
    if (wide != NULL)
        clo_weights_widen(weights, inputs, outputs, wide);
    return layer;
}
