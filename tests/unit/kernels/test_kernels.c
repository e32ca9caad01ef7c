/* test_kernels.c - what tests/check/ cannot show by comparing variants: the numbers themselves. */
#include "base/numbers/noise.h"
#include "kernels/arithmetic.h"
#include "support.h"

#include <string.h>

enum { INPUTS = 29, OUTPUTS = 20, PADDED = 32, CANDIDATES = 37, BLOCKS = 3 };

static clo_kernels table;

static int best_table(void **state)
{
    (void)state;
    clo_kernels_select(&table, clo_cpu_isa());
    return 0;
}

/* Exact fractions, without shifts: what the rule says. */
static void the_rule_rounds_as_it_says(void **state)
{
    (void)state;
    for (int32_t a = INT16_MIN; a <= INT16_MAX; a += 7)
        for (int32_t m = 1; m <= INT16_MAX; m += 911) {
            int64_t sum = (int64_t)a * m + 16384, down = sum / 32768 - (sum % 32768 < 0);

            assert_int_equal(clo_multiply_q15(a, m), down);
        }
    assert_int_equal(clo_shift_right(-1, 31), -1);
    assert_int_equal(clo_shift_right(INT32_MIN, 31), -1);
    assert_int_equal(clo_leaky(-256, 51), -51);
    assert_int_equal(clo_leaky(-2, 64), 0);
    assert_int_equal(clo_leaky(-3, 64), -1);
    assert_int_equal(clo_leaky(-3, CLO_LEAKY_NONE), -3);
}

static void noise_is_that_of_the_runtime_by_key(void **state)
{
    uint64_t keys[200];
    int32_t noise[200], lowest = INT32_MAX, highest = INT32_MIN;
    int64_t sum = 0;

    (void)state;
    for (uint64_t i = 0; i < 200; i++)
        keys[i] = i << 32 | (i * 7);
    table.gumbel(99, keys, 200, noise);
    for (uint32_t i = 0; i < 200; i++) {
        uint32_t bits = (uint32_t)(clo_mix64(99 + keys[i] * 0x9e3779b97f4a7c15u) >> 32) | 1;
        int32_t e = clo_minus_ln_q16(bits);

        assert_int_equal(noise[i], clo_minus_ln_q16((uint32_t)(e > 0 ? e : 1) << 11) - 5 * CLO_LN2_Q16);
        lowest = noise[i] < lowest ? noise[i] : lowest;
        highest = noise[i] > highest ? noise[i] : highest;
        sum += noise[i];
    }
    assert_true(lowest >= -210000 && highest <= 730000);
    assert_true(sum / 200 > 20000 && sum / 200 < 56000); /* the mean is 0.577 * 65536 = 37 828 */
}

static void equal_scores_go_to_the_smallest_key_wherever_it_lies(void **state)
{
    static const uint64_t keys[4] = {UINT64_C(5) << 32, UINT64_C(2) << 32 | 9, UINT64_C(2) << 32 | 3, 1};
    int32_t scores[16] = {7, 7, 7, 6, 100};
    uint8_t mask[16] = {1, 1, 1, 1};
    clo_candidates candidates = {scores, mask, keys, 4};

    (void)state;
    assert_int_equal(table.argmax_s32(&candidates), 2);
    mask[2] = 0;
    assert_int_equal(table.argmax_s32(&candidates), 1);
    mask[0] = mask[1] = 0;
    assert_int_equal(table.argmax_s32(&candidates), 3);
    scores[3] = INT32_MIN;
    assert_int_equal(table.argmax_s32(&candidates), 3);
    mask[3] = 0;
    assert_int_equal(table.argmax_s32(&candidates), CLO_CANDIDATE_NONE);
    candidates.count = 0;
    candidates.mask = NULL;
    assert_int_equal(table.argmax_s32(&candidates), CLO_CANDIDATE_NONE);
}

typedef struct layers {
    int8_t weights[2][PADDED * PADDED], rows[CANDIDATES][PADDED];
    int32_t bias[PADDED], zeros[PADDED], folded[2][PADDED], pre[PADDED];
    int16_t m[PADDED];
    clo_rule rule;
} layers;

static void layers_draw(layers *l)
{
    clo_rng rng = clo_rng_seed(4);
    int8_t weights[OUTPUTS * INPUTS];

    memset(l, 0, sizeof *l);
    for (uint32_t i = 0; i < OUTPUTS * INPUTS; i++)
        weights[i] = (int8_t)((int32_t)clo_rng_below(&rng, 256) - 128);
    for (uint32_t n = 0; n < OUTPUTS; n++) {
        l->bias[n] = (int32_t)clo_rng_below(&rng, 100000) - 50000;
        l->pre[n] = 4;
        l->m[n] = (int16_t)(1 + clo_rng_below(&rng, 2000));
    }
    for (uint32_t c = 0; c < CANDIDATES; c++)
        for (uint32_t k = 0; k < INPUTS; k++)
            l->rows[c][k] = (int8_t)((int32_t)clo_rng_below(&rng, 256) - 128);
    clo_weights_pack(weights, INPUTS, OUTPUTS, l->weights[0]);
    l->rule = (clo_rule){l->pre, l->m, -128, 127, 51, CLO_S8};
}

/* Candidates come in lanes, the last one moves into the first lane; the first layer whole, in lanes and one by one, and
 * in three parts, gives the same bytes. */
static void a_split_first_layer_is_the_whole_one(void **state)
{
    static layers l;
    static int8_t x[BLOCKS * 16 * 32], whole[BLOCKS * 16 * OUTPUTS], split[BLOCKS * 16 * OUTPUTS], node[PADDED];
    static int32_t stage[BLOCKS * 16 * OUTPUTS], part[PADDED];
    clo_dense layer, parts;

    (void)state;
    layers_draw(&l);
    layer = (clo_dense){INPUTS, OUTPUTS, l.weights[0], l.bias, l.folded[0], l.rule, NULL};
    parts = (clo_dense){INPUTS, OUTPUTS, l.weights[0], l.zeros, l.folded[1], {.out = CLO_S32}, NULL};
    clo_dense_fold(&layer, l.folded[0]);
    clo_dense_fold(&parts, l.folded[1]);
    for (uint32_t c = 0; c < CANDIDATES; c++) {
        clo_lanes_put_s8(x, INPUTS, c, l.rows[c]);
        table.dense_node_s8(&parts, l.rows[c], part);
        clo_lanes_put_s32(stage, OUTPUTS, c, part);
    }
    clo_lanes_put_s8(x, INPUTS, 0, l.rows[CANDIDATES - 1]);
    clo_lanes_move_s32(stage, OUTPUTS, CANDIDATES - 1, 0);
    table.dense_lanes_s8(&layer, x, BLOCKS, whole);
    table.split_lanes(&l.rule, &(clo_partials){OUTPUTS, stage, NULL, l.bias}, BLOCKS, split);
    for (uint32_t c = 0; c + 1 < CANDIDATES; c++) {
        table.dense_node_s8(&layer, l.rows[c == 0 ? CANDIDATES - 1 : c], node);
        for (uint32_t n = 0; n < OUTPUTS; n++) {
            size_t at = (size_t)(c / 16) * 16 * OUTPUTS + clo_lane_index(CLO_S8, n, c % 16);

            assert_int_equal(whole[at], node[n]);
            assert_int_equal(split[at], node[n]);
        }
    }
}

static void a_layer_whose_sums_could_overflow_is_unsafe(void **state)
{
    static int8_t weights[PADDED * 16];
    static int32_t bias[16], pre[16] = {3, 32};
    static int16_t m[16] = {1, 1};
    clo_dense layer = {2, 1, weights, bias, bias, {pre, m, -128, 127, CLO_LEAKY_NONE, CLO_S8}, NULL};

    (void)state;
    weights[0] = weights[1] = -128;
    assert_true(clo_dense_is_safe(&layer, 32768));
    bias[0] = INT32_MAX - 2 * 128 * 32768;
    assert_true(clo_dense_is_safe(&layer, 32768));
    bias[0] = -bias[0] - 1;
    assert_false(clo_dense_is_safe(&layer, 32768));
    layer.outputs = 0;
    assert_false(clo_dense_is_safe(&layer, 0));
    assert_true(clo_rule_is_valid(&layer.rule, 1));
    assert_false(clo_rule_is_valid(&layer.rule, 2));
    layer.rule.hi = 128;
    assert_false(clo_rule_is_valid(&layer.rule, 1));
    layer.rule.out = CLO_S16;
    assert_true(clo_rule_is_valid(&layer.rule, 1));
    m[0] = 0;
    assert_false(clo_rule_is_valid(&layer.rule, 1));
}

/* Only what this CPU has is installed: the functions that do it are made of those instructions too. */
static void a_table_uses_only_what_it_is_given(void **state)
{
    clo_kernels scalar, masked;
    uint32_t count, here = clo_cpu_isa();
    const clo_variant *variants = clo_kernels_variants(&count);

    (void)state;
    clo_kernels_select(&scalar, 0);
    assert_int_equal(scalar.isa, 0);
    assert_int_equal(variants[0].needs, 0);
    for (uint32_t i = 1; i < count; i++) {
        if ((variants[i].needs & ~here) != 0)
            continue;
        clo_kernels_select(&masked, variants[i].needs & ~(variants[i].needs & -variants[i].needs)); /* one bit less */
        assert_true((masked.isa & variants[i].needs) != variants[i].needs);
        clo_kernels_select(&masked, variants[i].needs);
        assert_int_equal(masked.isa & variants[i].needs, variants[i].needs);
        assert_true(masked.dense_lanes_s8 != scalar.dense_lanes_s8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rule_rounds_as_it_says),
        cmocka_unit_test(noise_is_that_of_the_runtime_by_key),
        cmocka_unit_test(equal_scores_go_to_the_smallest_key_wherever_it_lies),
        cmocka_unit_test(a_split_first_layer_is_the_whole_one),
        cmocka_unit_test(a_layer_whose_sums_could_overflow_is_unsafe),
        cmocka_unit_test(a_table_uses_only_what_it_is_given),
    };

    return cmocka_run_group_tests(tests, best_table, NULL);
}
