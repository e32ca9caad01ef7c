/* test_whiten.c - directions of training along which answers vary alike, and times that do not depend on the order in
 * which executions start. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"
#include "train/models/whiten.h"
#include "train/numbers/parameters.h"
#include "train/search/common_times.h"

#include <math.h>
#include <string.h>

enum { ROWS = 1999, ASKED = (ROWS + 2) / 3, PLAIN = CLO_RESIDUAL_LIMIT_FEATURES };

/* Features that go along with each other; rows of all three questions. */
static void draw_rows(int16_t *rows, residual_seen *seen)
{
    draws d = {draws_key(3, 1, 4)};

    memset(seen, 0, sizeof *seen);
    for (uint32_t i = 0; i < ROWS; i++) {
        int16_t *row = rows + (size_t)i * CLO_RESIDUAL_FEATURES;
        double common = draws_uniform(&d);
        for (uint32_t f = 0; f < PLAIN; f++)
            row[f] = (int16_t)lrint(100 * common + 60 * draws_uniform(&d) + f);
        row[CLO_RESIDUAL_STAYS] = i % 3 == 1 ? 256 : 0;
        row[CLO_RESIDUAL_WAITS] = i % 3 == 2 ? 256 : 0;
        for (uint32_t f = 0; f < PLAIN; f++)
            seen->mean[f] += row[f] / 16.0 / (double)ROWS;
    }
    for (uint32_t f = 0; f < PLAIN; f++)
        seen->deviation[f] = 2;
}

/* What the hinges answer, before anything is rounded, with direction d alone. */
static double answer(const residual_directions *all, uint32_t d, const double *begun, const int16_t *row, bool is_limit)
{
    double numbers[RESIDUAL_NUMBERS];
    uint32_t which[RESIDUAL_LAST];

    memcpy(numbers, begun, sizeof numbers);
    residual_last(&residual_of_parametric, which);
    for (uint32_t i = 0; i < RESIDUAL_LAST; i++)
        numbers[which[i]] += all->of[d][i];
    return residual_answer(&residual_of_parametric, numbers, row, is_limit);
}

static void answers_vary_by_one_along_each_direction_and_apart(void **state)
{
    static int16_t rows[ROWS * CLO_RESIDUAL_FEATURES];
    static residual_directions all;
    static double begun[RESIDUAL_NUMBERS], at[WHITEN_DIRECTIONS][ROWS];
    residual_seen seen;
    uint32_t lines = 0;

    (void)state;
    draw_rows(rows, &seen);
    residual_init(&residual_of_parametric, begun, &seen, 0);
    residual_whiten(&seen, rows, ROWS, &all);
    assert_true(all.count > 3 * 10 && all.count <= WHITEN_DIRECTIONS);
    for (uint32_t d = 0; d < all.count; d++) { /* limits come last, and are asked for in rows of the first question */
        bool is_limit = all.of[d][RESIDUAL_HIDDEN + 2 * PLAIN] != 0 || all.of[d][RESIDUAL_HIDDEN] != 0;
        double sum = 0, squares = 0;
        for (uint32_t i = 0; i < ROWS; i += 3) {
            at[d][i] = answer(&all, d, begun, rows + (size_t)i * CLO_RESIDUAL_FEATURES, is_limit);
            sum += at[d][i] / (double)ASKED;
            squares += at[d][i] * at[d][i] / (double)ASKED;
        }
        double variance = squares - sum * sum;
        if (variance < 0.5) /* of another question, or a constant */
            continue;
        lines++;
        assert_true(fabs(sum) < 0.02 && fabs(variance - 1) < 0.05);
        for (uint32_t e = 0; e < d; e++) {
            double product = 0;
            for (uint32_t i = 0; i < ROWS; i += 3)
                product += at[d][i] * at[e][i] / (double)ASKED;
            bool is_other_head = (all.of[e][RESIDUAL_HIDDEN] != 0) != (all.of[d][RESIDUAL_HIDDEN] != 0);
            assert_true(is_other_head || fabs(product) < 0.05);
        }
    }
    assert_true(lines >= 2 * 10);
}

static void questions_that_are_hardly_met_get_a_constant_alone(void **state)
{
    static int16_t rows[ROWS * CLO_RESIDUAL_FEATURES];
    residual_directions all;
    residual_seen seen;

    (void)state;
    draw_rows(rows, &seen);
    residual_whiten(&seen, rows, 40, &all);
    assert_int_equal(all.count, 3);
    residual_whiten(&seen, rows, 0, &all);
    assert_int_equal(all.count, 3);
}

/* A stage measured at two levels, with times that tell from which list they come. */
static clo_graph *measured(void)
{
    const int64_t times[2][4] = {{1, 2, 3, 4}, {11, 12, 13, 14}};
    static const clo_task task = {.work_ns = 77, .instances = 400};
    clo_graph *graph = NULL;

    ok(clo_graph_create("waves", &graph));
    ok(clo_graph_add_tasks(graph, &task, 1, NULL));
    for (uint32_t level = 0; level < 2; level++)
        for (int wave = CLO_WAVE_FRESH; wave <= CLO_WAVE_REST; wave++)
            ok(clo_graph_add_wave(graph, 0, (clo_wave)wave, level == 0 ? 5 : 10, times[level], 4));
    ok(clo_graph_seal(graph));
    return graph;
}

static int64_t time_of(clo_environment *e, const clo_graph *graph, uint64_t job, uint32_t instance, uint32_t bound)
{
    const clo_environment_execution x = {
        .graph = graph, .job = job, .instance = instance, .bound = bound, .last_stage = CLO_NONE, .cost_ns = 99};

    return e->time_ns(e->state, &x);
}

static void times_do_not_depend_on_the_order_of_the_starts(void **state)
{
    clo_graph *graph = measured();
    clo_environment one = CLO_ENVIRONMENT_INIT, two = CLO_ENVIRONMENT_INIT, other = CLO_ENVIRONMENT_INIT;
    uint32_t differ = 0, high = 0;
    int64_t first[400];

    (void)state;
    ok(common_times_open("decima", 5, &one));
    ok(common_times_open("decima", 5, &two));
    ok(common_times_open("decima", 6, &other));
    assert_int_equal(one.moving_ns, 2000000000);
    for (uint32_t i = 0; i < 400; i++)
        first[i] = time_of(&one, graph, i % 7, i, 7);
    for (uint32_t i = 400; i-- > 0;) {
        assert_int_equal(time_of(&two, graph, i % 7, i, 7), first[i]);
        differ += time_of(&other, graph, i % 7, i, 7) != first[i];
        high += first[i] > 10;
    }
    assert_true(differ > 200);
    assert_true(high > 400 * 0.3 && high < 400 * 0.5); /* (7 - 5) / (10 - 5) */
    clo_environment_close(&one);
    clo_environment_close(&two);
    clo_environment_close(&other);
    assert_int_equal(common_times_open("no such", 5, &one), CLO_ERR_ARGUMENT);
    ok(common_times_open("decima:faithful,moving=500ms", 5, &one)); /* what the name says holds here, too */
    assert_true(one.moving_ns == 500000000);
    assert_string_equal(one.name, "decima:faithful,moving=500ms");
    clo_environment_close(&one);
    ok(common_times_open("decima:moving=0", 5, &one));
    assert_true(one.moving_ns == 0);
    clo_environment_close(&one);
    clo_graph_destroy(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_vary_by_one_along_each_direction_and_apart),
        cmocka_unit_test(questions_that_are_hardly_met_get_a_constant_alone),
        cmocka_unit_test(times_do_not_depend_on_the_order_of_the_starts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
