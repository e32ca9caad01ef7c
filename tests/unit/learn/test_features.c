/* test_features.c - the numbers of list 2: ranges, normalisation, and what happens at the ends of the types. */
#include "base/numbers/rng.h"
#include "cost/features.h"
#include "learn/infer/lachesis_features.h"
#include "random.h"
#include "scene.h"

#include <string.h>

enum { STAGES = 4 };

__extension__ typedef __int128 wide;

typedef struct figures {
    int64_t times[5][STAGES];
    uint32_t children[STAGES], instances[STAGES];
    clo_stage_figures rows;
} figures;

static void figures_open(figures *f)
{
    memset(f, 0, sizeof *f);
    f->rows =
        (clo_stage_figures){f->times[0], f->times[1], f->times[2], f->times[3], f->times[4], f->children, f->instances};
}

static void the_longest_path_gives_the_scale(void **state)
{
    figures f;
    int32_t out[STAGES][CLO_FEATURES_STAGE], scale;

    (void)state;
    for (int bits = 0; bits < 63; bits++) {
        figures_open(&f);
        f.rows.rank_u_ns[2] = INT64_C(1) << bits;
        f.rows.time_ns[1] = (INT64_C(1) << bits) / 2;
        assert_int_equal(clo_features_stages(&f.rows, STAGES, &scale, out[0]), 0);
        assert_int_equal(scale, bits + 1);
        assert_int_equal(out[2][CLO_FEATURE_RANK_UP], 2048);
        assert_int_equal(out[1][CLO_FEATURE_TIME], bits > 0 ? 1024 : 0);
    }
    figures_open(&f);
    assert_int_equal(clo_features_stages(&f.rows, STAGES, &scale, out[0]), 0);
    assert_int_equal(scale, 0);
    assert_int_equal(out[0][CLO_FEATURE_RANK_UP], 0);
}

static void times_at_the_ends_of_int64_are_clamped_and_counted(void **state)
{
    figures f;
    int32_t out[STAGES][CLO_FEATURES_STAGE], row[CLO_FEATURES_JOB], scale;

    (void)state;
    figures_open(&f);
    f.rows.rank_u_ns[0] = f.rows.time_ns[0] = f.rows.rank_d_ns[0] = INT64_MAX;
    f.rows.instances[0] = f.rows.children[0] = UINT32_MAX;
    assert_int_equal(clo_features_stages(&f.rows, STAGES, &scale, out[0]), 0);
    assert_int_equal(scale, 63);
    assert_int_equal(out[0][CLO_FEATURE_RANK_UP], 4095);
    assert_int_equal(out[0][CLO_FEATURE_INSTANCES], 32 * 256);
    figures_open(&f);
    f.rows.rank_u_ns[0] = 1;
    f.rows.time_ns[0] = INT64_MAX;
    f.rows.input_ns[1] = INT64_MIN;
    f.rows.output_ns[1] = -1;
    assert_int_equal(clo_features_stages(&f.rows, STAGES, &scale, out[0]), 3);
    assert_int_equal(out[0][CLO_FEATURE_TIME], CLO_FEATURE_TIME_MAX);
    assert_int_equal(out[1][CLO_FEATURE_INPUT], 0);
    assert_int_equal(out[1][CLO_FEATURE_OUTPUT], 0);

    clo_job_figures job = {
        .scale = 0, .executors_used = 9, .executors = 3, .tasks_left = UINT64_MAX, .work_left_ns = INT64_MAX};
    assert_int_equal(clo_features_job(&job, row), 2); /* work, and more executors than there are */
    assert_int_equal(row[CLO_FEATURE_WORK_LEFT], CLO_FEATURE_WORK_MAX);
    assert_in_range(row[CLO_FEATURE_TASKS_LEFT], 0, CLO_FEATURE_LOG_MAX);
    assert_in_range(row[CLO_FEATURE_WORK_LEFT_LOG], 0, CLO_FEATURE_LOG_MAX);
    assert_int_equal(row[CLO_FEATURE_EXECUTORS], CLO_FEATURE_SHARE_ONE);
    job = (clo_job_figures){.scale = -1, .work_left_ns = INT64_MIN};
    assert_int_equal(clo_features_job(&job, row), 2);
    assert_int_equal(row[CLO_FEATURE_WORK_LEFT], 0);
    assert_int_equal(row[CLO_FEATURE_SCALE], 0);
    job = (clo_job_figures){.scale = INT32_MAX, .executors = UINT32_MAX, .executors_used = UINT32_MAX};
    assert_int_equal(clo_features_job(&job, row), 1);
    assert_int_equal(row[CLO_FEATURE_EXECUTORS], CLO_FEATURE_SHARE_ONE);
}

static void the_system_is_seen_in_logarithms_and_shares(void **state)
{
    int32_t row[CLO_FEATURES_SYSTEM];

    (void)state;
    assert_int_equal(clo_features_system(&(clo_system_figures){7, 2, 8}, row), 0);
    assert_int_equal(row[CLO_FEATURE_JOBS], 3 * 256);
    assert_int_equal(row[CLO_FEATURE_FREE], 1024);
    assert_int_equal(clo_features_system(&(clo_system_figures){UINT32_MAX, UINT32_MAX, 1}, row), 1);
    assert_int_equal(row[CLO_FEATURE_FREE], CLO_FEATURE_SHARE_ONE);
    assert_int_equal(clo_features_system(&(clo_system_figures){0, 0, 0}, row), 0);
    assert_int_equal(row[CLO_FEATURE_JOBS] + row[CLO_FEATURE_FREE], 0);
}

/* As docs/MODELS.md writes it down. */
static void a_model_scales_and_clamps_each_number(void **state)
{
    static const int32_t ends[] = {INT32_MIN, INT32_MIN + 1, -1, 0, 1, INT32_MAX};
    clo_rng rng = clo_rng_seed(1);

    (void)state;
    for (int i = 0; i < 20000; i++) {
        const clo_model_feature f = {"x", i % 7 == 0 ? INT32_MAX : 1 + (int32_t)clo_rng_below(&rng, 5000),
                                     (uint32_t)clo_rng_below(&rng, 63), -100, 120};
        int32_t raw = i % 3 == 0 ? ends[clo_rng_below(&rng, 6)] : (int32_t)clo_rng_next(&rng);
        wide half = f.shift > 0 ? (wide)1 << (f.shift - 1) : 0, one = (wide)1 << f.shift;
        wide sum = (wide)raw * f.mult + half, wanted = sum / one - (sum % one < 0);
        int16_t out;
        uint64_t clamped = clo_features_scale(&f, 1, &raw, &out);
        assert_int_equal(clamped, wanted < f.lo || wanted > f.hi);
        assert_int_equal(out, wanted < f.lo ? f.lo : wanted > f.hi ? f.hi : (int16_t)wanted);
    }
}

static void the_figures_of_a_cost_are_those_of_its_calls(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 30; seed++) {
        clo_graph *graph = random_graph(seed, RANDOM_ALL);
        clo_platform *platform = random_platform(seed, RANDOM_DEMANDS);
        uint32_t stages = clo_graph_tasks(graph);
        int64_t *times = calloc(5 * (size_t)stages, sizeof *times), *rank = calloc(stages, sizeof *rank);
        uint32_t *counts = calloc(2 * (size_t)stages, sizeof *counts);
        int32_t *rows = calloc((size_t)stages * CLO_FEATURES_STAGE, sizeof *rows), scale;
        clo_stage_figures f = {times,  times + stages, times + 2 * stages, times + 3 * stages, times + 4 * stages,
                               counts, counts + stages};
        clo_cost *cost;

        ok(clo_cost_create(graph, platform, &cost));
        clo_cost_figures(cost, f.time_ns, f.children);
        clo_cost_rank_u(cost, rank);
        assert_memory_equal(f.rank_u_ns, rank, stages * sizeof *rank);
        clo_cost_rank_d(cost, rank);
        assert_memory_equal(f.rank_d_ns, rank, stages * sizeof *rank);
        for (uint32_t s = 0; s < stages; s++)
            assert_int_equal(f.time_ns[s], clo_cost_mean_execution_ns(cost, s));
        assert_int_equal(clo_features_stages(&f, stages, &scale, rows), 0); /* all is within the longest path */
        for (uint32_t s = 0; s < stages; s++)
            for (uint32_t k = 0; k <= CLO_FEATURE_RANK_DOWN; k++)
                assert_in_range(rows[s * CLO_FEATURES_STAGE + k], 0, CLO_FEATURE_TIME_UNITS);
        clo_cost_destroy(cost);
        clo_platform_destroy(platform);
        clo_graph_destroy(graph);
        free(times);
        free(rank);
        free(counts);
        free(rows);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_path_gives_the_scale),
        cmocka_unit_test(times_at_the_ends_of_int64_are_clamped_and_counted),
        cmocka_unit_test(the_system_is_seen_in_logarithms_and_shares),
        cmocka_unit_test(a_model_scales_and_clamps_each_number),
        cmocka_unit_test(the_figures_of_a_cost_are_those_of_its_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
