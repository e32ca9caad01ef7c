/* test_es.c - evolution strategies against their definition, and the network of the policy "residual": what its model
 * says in integers beside what it is in real numbers. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"
#include "train/models/residual.h"
#include "train/search/es.h"

#include <math.h>
#include <string.h>

static es begun(uint32_t numbers)
{
    es e = {.numbers = numbers,
            .seed = 7,
            .sigma = 0.1,
            .rate_first = 0.05,
            .rate_last = 0.005,
            .generations = 200,
            .best_score = INFINITY};

    return e;
}

static void pairs_lie_on_both_sides_of_the_mean(void **state)
{
    static es e;
    double up[40], down[40], mean[40], sum = 0, squares = 0;

    (void)state;
    e = begun(40);
    for (uint32_t n = 0; n < 40; n++)
        e.mean[n] = n;
    es_sample(&e, 0, 0, mean);
    assert_memory_equal(mean, e.mean, sizeof mean);
    for (uint32_t pair = 0; pair < 500; pair++) {
        es_sample(&e, pair, 1, up);
        es_sample(&e, pair, -1, down);
        for (uint32_t n = 0; n < 40; n++) {
            assert_true(fabs(up[n] + down[n] - 2.0 * n) < 1e-9);
            sum += (up[n] - n) / e.sigma;
            squares += (up[n] - n) * (up[n] - n) / (e.sigma * e.sigma);
        }
    }
    assert_true(fabs(sum / 20000) < 0.03 && fabs(squares / 20000 - 1) < 0.05);
}

/* The first step of Adam is the rate, against the sign of sum(difference * noise). */
static void an_update_is_the_step_of_its_definition(void **state)
{
    static es e, was;
    double differences[6] = {0.3, -0.1, 0.2, 0, -0.4, 0.1}, sample[10], slope[10] = {0};

    (void)state;
    e = was = begun(10);
    for (uint32_t p = 0; p < 6; p++) {
        es_sample(&e, p, 1, sample);
        for (uint32_t n = 0; n < 10; n++)
            slope[n] += differences[p] * (sample[n] - e.mean[n]);
    }
    es_update(&e, differences, 6);
    for (uint32_t n = 0; n < 10; n++)
        assert_true(fabs(e.mean[n] - (slope[n] > 0 ? -0.05 : 0.05)) < 1e-6);
    assert_int_equal(e.generation, 1);
    e = was;
    memset(differences, 0, sizeof differences);
    es_update(&e, differences, 6);
    assert_memory_equal(e.mean, was.mean, sizeof e.mean);
    assert_int_equal(e.generation, 1);
}

static double bowl(const double *x)
{
    double sum = 0;

    for (int n = 0; n < 10; n++)
        sum += (x[n] - 0.1 * n) * (x[n] - 0.1 * n) * (1 + n);
    return sum;
}

static void it_finds_the_bottom_of_a_bowl(void **state)
{
    static es e;

    (void)state;
    e = begun(10);
    double first = bowl(e.mean);
    while (e.generation < e.generations) {
        double differences[8], up[10], down[10];
        for (uint32_t p = 0; p < 8; p++) {
            es_sample(&e, p, 1, up);
            es_sample(&e, p, -1, down);
            differences[p] = bowl(up) - bowl(down);
        }
        es_update(&e, differences, 8);
    }
    assert_true(bowl(e.mean) < 0.01 * first);
}

static void what_is_written_is_read_and_nothing_else(void **state)
{
    static es e, read, other;
    static const char *const wrong[] = {"",
                                        "generation 3\n",
                                        "generation 3\nsteps 2\nbest 1 x\n",
                                        "generation 3\nsteps 2\nbest 1 0.5\nnumber 1 2 3 4\n",
                                        "generation 3\nsteps 2\nbest 1 0.5\nnumber 1 2 -3 4\nnumber 1 2 3 4\n",
                                        "generation 3\nsteps 2\nbest 1 0.5\nnumber nan 2 3 4\nnumber 1 2 3 4\n",
                                        "generation 3\nsteps 2\nbest 1 0.5\nnumber 1 2 3 4 5\nnumber 1 2 3 4\n"};
    double differences[4] = {0.3, -0.1, 0.2, 0.7};
    char text[4096] = "";

    (void)state;
    e = begun(2);
    es_update(&e, differences, 4);
    FILE *file = fmemopen(text, sizeof text, "w");
    assert_true(es_write(&e, file));
    fclose(file);
    read = begun(2);
    file = fmemopen(text, sizeof text, "r");
    assert_true(es_read(&read, file));
    fclose(file);
    assert_memory_equal(&read, &e, sizeof e);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        snprintf(text, sizeof text, "%s", wrong[i]);
        file = fmemopen(text, sizeof text, "r");
        other = begun(2);
        assert_false(es_read(&other, file));
        fclose(file);
        assert_int_equal(other.generation, 0);
    }
}

enum { ROWS = 64 };

static void draw(double *numbers, int16_t *rows, uint64_t seed)
{
    residual_seen seen = {{0}, {0}};
    draws d = {seed};

    for (uint32_t f = 0; f < CLO_RESIDUAL_FEATURES; f++) {
        seen.mean[f] = 6 * draws_uniform(&d) - 3;
        seen.deviation[f] = 0.2 + 2 * draws_uniform(&d);
    }
    residual_init(&residual_of_parametric, numbers, &seen, seed);
    double gates[RESIDUAL_NUMBERS];
    memcpy(gates, numbers, sizeof gates);
    for (uint32_t i = 0; i < RESIDUAL_NUMBERS; i++)
        numbers[i] += 0.4 * draws_uniform(&d) - 0.2;
    for (uint32_t u = 0; u < RESIDUAL_HIDDEN; u++) /* the gates stay */
        for (uint32_t f = CLO_RESIDUAL_STAYS; f < CLO_RESIDUAL_FEATURES; f++)
            numbers[u * CLO_RESIDUAL_FEATURES + f] = gates[u * CLO_RESIDUAL_FEATURES + f];
    for (uint32_t i = 0; i < ROWS * CLO_RESIDUAL_FEATURES; i++)
        rows[i] = (int16_t)(160 * draws_uniform(&d) - 80);
    for (uint32_t i = 0; i < ROWS; i++) {
        rows[i * CLO_RESIDUAL_FEATURES + CLO_RESIDUAL_STAYS] = i % 3 == 1 ? 256 : 0;
        rows[i * CLO_RESIDUAL_FEATURES + CLO_RESIDUAL_WAITS] = i % 3 == 2 ? 256 : 0;
    }
}

/* Octaves of a unit of the model's scores. */
static double unit_of(const clo_model *model, bool is_limit)
{
    clo_model_info info = CLO_MODEL_INFO_INIT;
    clo_model_value value;

    ok(clo_model_inspect(model, &info));
    ok(clo_model_value_at(model, is_limit ? info.limit : info.score, &value));
    return ldexp(1, -value.exponent);
}

/* Numbers of the grid lie as near as it says: weights of hinges within half a 64th, or at its end, biases nearer,
 * weights of the sums within a part of 2^-15 of the largest one. */
static void check_grid(const double *numbers, const double *rounded)
{
    uint32_t which[RESIDUAL_LAST];
    double apart[RESIDUAL_NUMBERS];

    for (uint32_t i = 0; i < RESIDUAL_NUMBERS; i++)
        apart[i] = fabs(numbers[i] - rounded[i]);
    residual_last(&residual_of_parametric, which);
    for (uint32_t i = 0; i < RESIDUAL_LAST; i++) {
        assert_true(apart[which[i]] < 0.21 / 32768);
        apart[which[i]] = 0;
    }
    for (uint32_t i = 0; i < RESIDUAL_NUMBERS; i++)
        assert_true(apart[i] <= 0.5 / 64 || (fabs(rounded[i]) == 127.0 / 64 && fabs(numbers[i]) > 127.0 / 64));
}

/* A hinge is wrong by one rounding of 1 / 1024 and the one of its rule's multiplier, and each weight of the sum is
 * below 0.21. */
static void integers_say_what_real_numbers_say(void **state)
{
    double numbers[RESIDUAL_NUMBERS], rounded[RESIDUAL_NUMBERS];
    int16_t rows[ROWS * CLO_RESIDUAL_FEATURES], limits[ROWS * CLO_RESIDUAL_LIMIT_FEATURES];
    int16_t inputs[ROWS * (CLO_RESIDUAL_FEATURES + CLO_RESIDUAL_LIMIT_FEATURES)];
    const uint32_t zeros[ROWS + 1] = {0};
    const double most = (double)RESIDUAL_GROUP * 0.21 / 1024;
    int32_t values[ROWS], steps[ROWS];

    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        void *data;
        size_t bytes;
        clo_model *model;
        draw(numbers, rows, seed);
        memcpy(rounded, numbers, sizeof rounded);
        residual_round(&residual_of_parametric, rounded);
        check_grid(numbers, rounded);
        ok(residual_model(&residual_of_parametric, numbers, NULL, "r", rows, ROWS, &data, &bytes));
        ok(clo_model_open("r", data, bytes, &model));
        ok(clo_model_verify(model));
        memcpy(inputs, rows, sizeof rows);
        for (uint32_t i = 0; i < ROWS; i++)
            memcpy(limits + (size_t)i * CLO_RESIDUAL_LIMIT_FEATURES, rows + (size_t)i * CLO_RESIDUAL_FEATURES,
                   CLO_RESIDUAL_LIMIT_FEATURES * sizeof *rows);
        memcpy(inputs + ROWS * CLO_RESIDUAL_FEATURES, limits, sizeof limits);
        const clo_model_case shown = {.stages = ROWS,
                                      .jobs = 1,
                                      .limits = ROWS,
                                      .job_of_stage = zeros,
                                      .child_begin = zeros,
                                      .children = zeros,
                                      .job_of_limit = zeros,
                                      .inputs = inputs};
        ok(clo_model_scores(model, &shown, values, steps));
        for (uint32_t i = 0; i < ROWS; i++) {
            const int16_t *row = rows + (size_t)i * CLO_RESIDUAL_FEATURES;
            assert_true(fabs(values[i] * unit_of(model, false) -
                             residual_answer(&residual_of_parametric, rounded, row, false)) < most);
            assert_true(fabs(steps[i] * unit_of(model, true) -
                             residual_answer(&residual_of_parametric, rounded, row, true)) < most);
        }
        clo_model_destroy(model);
        free(data);
    }
}

/* One grid for all weights of a sum would make zeros of the small ones. */
static void small_weights_of_a_sum_are_held_beside_a_large_one(void **state)
{
    static const double sums[] = {0, 1e-12, 0.0001, -0.001, 0.0625, -0.3, 0.7, 1, -1.9};
    const residual_seen seen = {.mean = {1, 2, 3}, .deviation = {1, 0, 2}};
    double numbers[RESIDUAL_NUMBERS], rounded[RESIDUAL_NUMBERS];
    uint32_t which[RESIDUAL_LAST];

    (void)state;
    residual_last(&residual_of_parametric, which);
    residual_init(&residual_of_parametric, numbers, &seen, 1);
    for (uint32_t i = 0; i < RESIDUAL_LAST; i++)
        numbers[which[i]] = sums[i % (sizeof sums / sizeof sums[0])];
    memcpy(rounded, numbers, sizeof rounded);
    residual_round(&residual_of_parametric, rounded);
    for (uint32_t i = 0; i < RESIDUAL_LAST; i++) {
        double is = numbers[which[i]], apart = fabs(rounded[which[i]] - is);
        assert_true(apart <= 1 / 64.0 / 32768 || apart <= fabs(is) / 32768);
    }
    numbers[which[0]] = 300; /* more than there is room for is cut off, and takes the others' bits */
    residual_round(&residual_of_parametric, numbers);
    assert_true(fabs(numbers[which[0]] - 127) < 0.005 && fabs(numbers[which[8]] + 1.9) < 1e-4);
}

static void it_begins_with_nothing_to_say(void **state)
{
    const residual_seen seen = {.mean = {1, 2, 3}, .deviation = {1, 0, 2}};
    double numbers[RESIDUAL_NUMBERS];
    uint32_t which[RESIDUAL_LAST];
    const int16_t row[CLO_RESIDUAL_FEATURES] = {50, -20, 7, 90, 3, 4, 5, 6, 7, 8, -9, 10, 3, 256, 0};

    (void)state;
    residual_init(&residual_of_parametric, numbers, &seen, 1);
    assert_true(residual_answer(&residual_of_parametric, numbers, row, false) == 0 &&
                residual_answer(&residual_of_parametric, numbers, row, true) == 0);
    residual_last(&residual_of_parametric, which);
    for (uint32_t i = 0; i < RESIDUAL_LAST; i++) {
        assert_true(which[i] < RESIDUAL_NUMBERS && numbers[which[i]] == 0);
        numbers[which[i]] = 0.125;
    }
    for (uint32_t i = 0; i < RESIDUAL_LAST; i++) /* each is one of its own */
        for (uint32_t k = 0; k < i; k++)
            assert_true(which[i] != which[k]);
    assert_true(residual_answer(&residual_of_parametric, numbers, row, false) != 0 &&
                residual_answer(&residual_of_parametric, numbers, row, true) != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_lie_on_both_sides_of_the_mean),
        cmocka_unit_test(an_update_is_the_step_of_its_definition),
        cmocka_unit_test(it_finds_the_bottom_of_a_bowl),
        cmocka_unit_test(what_is_written_is_read_and_nothing_else),
        cmocka_unit_test(integers_say_what_real_numbers_say),
        cmocka_unit_test(small_weights_of_a_sum_are_held_beside_a_large_one),
        cmocka_unit_test(it_begins_with_nothing_to_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
