/* cases.c - C leaves the order of arguments and of initializers open, so at most one of them draws. */
#include "cases.h"

/* Room for an output, followed by bytes that nobody may write. */
enum { GUARD = 64, SIZE_MAX_OTHER = 70 };

static output room_for(size_t bytes, size_t element)
{
    return (output){draw_room((bytes + GUARD) / element, element), bytes + GUARD};
}

static void *writable(output out)
{
    return (void *)(uintptr_t)out.bytes;
}

static clo_number any_number(void)
{
    return (clo_number)draw_below(3);
}

static size_t bytes_of(clo_number number)
{
    return number == CLO_S8 ? 1 : number == CLO_S16 ? 2 : 4;
}

static uint32_t other_size(void)
{
    return 1 + draw_below(SIZE_MAX_OTHER);
}

/* Inputs or outputs take the size in turn. */
static clo_dense any_dense(style how, uint32_t size)
{
    bool is_inputs = draw_below(2) == 0;
    uint32_t other = other_size();

    return draw_dense(how, any_number(), is_inputs ? size : other, is_inputs ? other : size);
}

static output lanes_output(const clo_rule *rule, uint32_t rows, uint32_t blocks)
{
    return room_for(clo_lanes_bytes(rule->out, rows, blocks), bytes_of(rule->out));
}

static output node_output(const clo_rule *rule, uint32_t rows)
{
    return room_for(draw_up(rows, CLO_LANES) * bytes_of(rule->out), bytes_of(rule->out));
}

static output dense_lanes_s8(const clo_kernels *table, style how, uint32_t size)
{
    const clo_dense layer = any_dense(how, size);
    uint32_t blocks = 1 + draw_below(3);
    output y = lanes_output(&layer.rule, layer.outputs, blocks);

    table->dense_lanes_s8(&layer, draw_s8(how, clo_lanes_bytes(CLO_S8, layer.inputs, blocks)), blocks, writable(y));
    return y;
}

static output dense_lanes_s16(const clo_kernels *table, style how, uint32_t size)
{
    const clo_dense layer = any_dense(how, size);
    uint32_t blocks = 1 + draw_below(3);
    output y = lanes_output(&layer.rule, layer.outputs, blocks);

    table->dense_lanes_s16(&layer, draw_s16(how, clo_lanes_bytes(CLO_S8, layer.inputs, blocks)), blocks, writable(y));
    return y;
}

static output dense_node_s8(const clo_kernels *table, style how, uint32_t size)
{
    const clo_dense layer = any_dense(how, size);
    output y = node_output(&layer.rule, layer.outputs);

    table->dense_node_s8(&layer, draw_s8(how, draw_up(layer.inputs, 4)), writable(y));
    return y;
}

static output dense_node_s16(const clo_kernels *table, style how, uint32_t size)
{
    const clo_dense layer = any_dense(how, size);
    output y = node_output(&layer.rule, layer.outputs);

    table->dense_node_s16(&layer, draw_s16(how, draw_up(layer.inputs, 4)), writable(y));
    return y;
}

static output split_lanes(const clo_kernels *table, style how, uint32_t size)
{
    const clo_rule rule = draw_rule(how, any_number(), size);
    uint32_t blocks = 1 + draw_below(3), what = draw_below(4);
    size_t numbers = (size_t)size * blocks * CLO_LANES;
    clo_partials parts = {.outputs = size};
    output y = lanes_output(&rule, size, blocks);

    parts.stage = draw_s32(how, numbers);
    parts.job = (what & 1) != 0 ? draw_s32(how, numbers) : NULL;
    parts.global = (what & 2) != 0 ? draw_s32(how, draw_up(size, CLO_LANES)) : NULL;
    table->split_lanes(&rule, &parts, blocks, writable(y));
    return y;
}

static output split_node(const clo_kernels *table, style how, uint32_t size)
{
    const clo_rule rule = draw_rule(how, any_number(), size);
    uint32_t what = draw_below(4), padded = draw_up(size, CLO_LANES);
    clo_partials parts = {.outputs = size};
    output y = node_output(&rule, size);

    parts.stage = draw_s32(how, padded);
    parts.job = (what & 1) != 0 ? draw_s32(how, padded) : NULL;
    parts.global = (what & 2) != 0 ? draw_s32(how, padded) : NULL;
    table->split_node(&rule, &parts, writable(y));
    return y;
}

/* Up to 40 rows of a matrix of 9, so rows repeat. */
static clo_rows any_rows(uint32_t width)
{
    uint32_t count = draw_below(41), *rows = draw_room(count, sizeof *rows);

    for (uint32_t i = 0; i < count; i++)
        rows[i] = draw_below(9);
    return (clo_rows){rows, count, width, draw_up(width, CLO_LANES) + draw_below(5)};
}

static output sum_rows_s8(const clo_kernels *table, style how, uint32_t size)
{
    const clo_rows rows = any_rows(size);
    output sums = room_for((size_t)draw_up(size, CLO_LANES) * 4, 4);

    table->sum_rows_s8(&rows, draw_s8(how, (size_t)rows.stride * 9), writable(sums));
    return sums;
}

static output sum_rows_s16(const clo_kernels *table, style how, uint32_t size)
{
    const clo_rows rows = any_rows(size);
    output sums = room_for((size_t)draw_up(size, CLO_LANES) * 4, 4);

    table->sum_rows_s16(&rows, draw_s16(how, (size_t)rows.stride * 9), writable(sums));
    return sums;
}

static output clamp_s8(const clo_kernels *table, style how, uint32_t size)
{
    const clo_rule rule = draw_rule(how, CLO_S8, 1);
    output y = room_for(size, 1);

    table->clamp_s8(draw_s32(how, size), size, (int8_t)rule.lo, (int8_t)rule.hi, writable(y));
    return y;
}

static output clamp_s16(const clo_kernels *table, style how, uint32_t size)
{
    const clo_rule rule = draw_rule(how, CLO_S16, 1);
    output y = room_for((size_t)size * 2, 2);

    table->clamp_s16(draw_s32(how, size), size, rule.lo, rule.hi, writable(y));
    return y;
}

static output add_s8(const clo_kernels *table, style how, uint32_t size)
{
    const int8_t *a = draw_s8(how, size), *b = draw_s8(how, size), *c = draw_below(2) == 0 ? NULL : draw_s8(how, size);
    output y = room_for(size, 1);

    table->add_s8(a, b, c, size, writable(y));
    return y;
}

static output add_s16(const clo_kernels *table, style how, uint32_t size)
{
    const int16_t *a = draw_s16(how, size), *b = draw_s16(how, size);
    const int16_t *c = draw_below(2) == 0 ? NULL : draw_s16(how, size);
    output y = room_for((size_t)size * 2, 2);

    table->add_s16(a, b, c, size, writable(y));
    return y;
}

/* Rows and words take the size in turn. */
static clo_rows any_words(uint32_t size)
{
    bool is_width = draw_below(2) == 0;
    uint32_t other = 1 + draw_below(40), count = is_width ? other : size, width = is_width ? size : other;
    uint32_t *rows = draw_room(count, sizeof *rows);

    for (uint32_t i = 0; i < count; i++)
        rows[i] = count - 1 - i;
    return (clo_rows){rows, count, width, width + draw_below(3)};
}

static output rows_to_lanes(const clo_kernels *table, style how, uint32_t size)
{
    const clo_rows rows = any_words(size);
    output y = room_for((size_t)draw_up(rows.count, CLO_LANES) * rows.width * 4, 4);
    size_t numbers = (size_t)(rows.count - 1) * rows.stride + rows.width;

    table->rows_to_lanes(&rows, draw_s32(how, numbers), writable(y));
    return y;
}

static output lanes_to_rows(const clo_kernels *table, style how, uint32_t size)
{
    const clo_rows rows = any_words(size);
    output y = room_for(((size_t)(rows.count - 1) * rows.stride + rows.width) * 4, 4);

    table->lanes_to_rows(&rows, draw_s32(how, (size_t)draw_up(rows.count, CLO_LANES) * rows.width), writable(y));
    return y;
}

/* Of look-ups: large counts too, where a variant may keep the table in registers. */
static uint32_t many(uint32_t size)
{
    return draw_below(2) == 0 ? size : size * 9;
}

static output lookup_s8(const clo_kernels *table, style how, uint32_t size)
{
    const uint32_t count = many(size);
    const int8_t *values = draw_s8(STYLE_ANY, 256), *x = draw_s8(how, count);
    output y = room_for(count, 1);

    table->lookup_s8(values, x, count, writable(y));
    return y;
}

static output tanh_s16(const clo_kernels *table, style how, uint32_t size)
{
    const uint32_t count = many(size);
    const int16_t *points = draw_below(2) == 0 ? clo_tanh_table : draw_s16(how, CLO_TANH_POINTS);
    output y = room_for((size_t)count * 2, 2);

    table->tanh_s16(points, draw_s16(draw_below(2) == 0 ? how : STYLE_ANY, count), count, writable(y));
    return y;
}

static uint64_t *any_keys(uint32_t count)
{
    uint64_t *keys = draw_room(count, sizeof *keys);

    for (uint32_t i = 0; i < count; i++) /* in no order, none twice */
        keys[i] = (draw_bits() & ~(uint64_t)127) | i;
    return keys;
}

static output gumbel(const clo_kernels *table, style how, uint32_t size)
{
    uint64_t seed = draw_bits(), *keys = any_keys(size);
    output noise = room_for((size_t)size * 4, 4);

    (void)how;
    table->gumbel(seed, keys, size, writable(noise));
    return noise;
}

static output perturb(const clo_kernels *table, style how, uint32_t size)
{
    int32_t scale = draw_number(how, 1, INT32_MAX), *noise = draw_room(size, sizeof *noise);
    output y = room_for((size_t)size * 4, 4);

    for (uint32_t i = 0; i < size; i++)
        noise[i] = draw_number(how, 1 - (1 << 30), (1 << 30) - 1);
    table->perturb(draw_s32(how, size), scale > 0 ? scale : 1, noise, size, writable(y));
    return y;
}

/* Small scores tie often; so do extreme ones. */
static output argmax_s32(const clo_kernels *table, style how, uint32_t size)
{
    int32_t *scores = draw_s32(how, draw_up(size, CLO_LANES));
    uint8_t *mask = draw_below(2) == 0 ? NULL : (uint8_t *)draw_s8(STYLE_ANY, draw_up(size, CLO_LANES));
    const clo_candidates candidates = {scores, mask, any_keys(size), size};
    output y = room_for(4, 4);
    uint32_t density = draw_below(4);

    for (uint32_t i = 0; mask != NULL && i < draw_up(size, CLO_LANES); i++)
        mask[i] = (uint8_t)(draw_below(3) < density ? mask[i] : 0);
    for (uint32_t i = 0; how == STYLE_SMALL && i < size; i++)
        scores[i] = draw_number(STYLE_ANY, -2, 2);
    *(uint32_t *)writable(y) = table->argmax_s32(&candidates);
    return y;
}

#define CASES(X)       \
    X(dense_lanes_s8)  \
    X(dense_lanes_s16) \
    X(dense_node_s8)   \
    X(dense_node_s16)  \
    X(split_lanes)     \
    X(split_node)      \
    X(sum_rows_s8)     \
    X(sum_rows_s16)    \
    X(clamp_s8)        \
    X(clamp_s16)       \
    X(add_s8)          \
    X(add_s16)         \
    X(rows_to_lanes)   \
    X(lanes_to_rows)   \
    X(lookup_s8)       \
    X(tanh_s16)        \
    X(gumbel)          \
    X(perturb)         \
    X(argmax_s32)

#define X(name)                                                 \
    static void (*entry_##name(const clo_kernels *table))(void) \
    {                                                           \
        return (void (*)(void))table->name;                     \
    }
CASES(X)
#undef X

static const kernel_case all[] = {
#define X(name) {#name, name, entry_##name},
    CASES(X)
#undef X
};

const kernel_case *cases_all(uint32_t *count)
{
    *count = sizeof all / sizeof all[0];
    return all;
}
