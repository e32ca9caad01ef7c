/* test_policy_residual.c - a network of zeros leaves every decision of "parametric"; one that says something changes
 * them, in the direction it says; what the policy cannot take is named in one line. */
#include "policy_scene.h"
#include "random.h"
#include "train/models/residual.h"

#include "base/numbers/rng.h"
#include "common/lachesis_model.h"

#define FILE_NAME CLO_BINARY "/tests/test_policy_residual.model"

static const residual_seen seen = {.deviation = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};

static void write_bytes(const void *data, size_t bytes)
{
    FILE *file = fopen(FILE_NAME, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

/* The network of zeros with what a test changes. */
static void write_model(const double *numbers)
{
    static const int16_t row[CLO_RESIDUAL_FEATURES];
    void *data;
    size_t bytes;

    ok(residual_model(&residual_of_parametric, numbers, NULL, "r", row, 1, &data, &bytes));
    write_bytes(data, bytes);
    free(data);
}

/* Jobs of chains of stages with a few instances each, at drawn times. */
static void draw_stream(policy_scene *s, uint64_t seed)
{
    clo_rng rng = clo_rng_seed(seed);
    int64_t at = 0;

    scene_open(s, 5);
    for (int j = 0; j < 30; j++) {
        uint32_t stages = 1 + (uint32_t)(clo_rng_next(&rng) % 4);
        clo_task tasks[4];
        for (uint32_t t = 0; t < stages; t++)
            tasks[t] = (clo_task){.work_ns = 10 + (int64_t)(clo_rng_next(&rng) % 300),
                                  .instances = 1 + (uint32_t)(clo_rng_next(&rng) % 9)};
        clo_graph *graph = scene_graph(s, tasks, stages);
        for (uint32_t t = 1; t < stages; t++)
            ok(clo_graph_add_edge(graph, (uint32_t)(clo_rng_next(&rng) % t), t, 0));
        at += (int64_t)(clo_rng_next(&rng) % 800);
        scene_add(s, graph, (clo_workload_job){.arrival_ns = at});
    }
}

/* FNV-1a of the whole log but its sums, which know the policy's name. */
static uint64_t decisions_of(const policy_scene *s)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    size_t count;
    const clo_log_record *records = clo_log_records(s->log, &count);

    for (size_t i = 0; i < count; i++) {
        if (records[i].what == CLO_LOG_SUM)
            continue;
        const uint64_t all[] = {(uint64_t)records[i].what,  records[i].job,      records[i].stage,
                                records[i].instance,        records[i].executor, (uint64_t)records[i].value,
                                (uint64_t)records[i].now_ns};
        for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
            hash = (hash ^ all[k]) * UINT64_C(1099511628211);
    }
    return hash;
}

static void a_network_of_zeros_leaves_every_decision_of_parametric(void **state)
{
    static const char *const numbers[] = {"batch", "stream", "1,2,3,0.5,0.2,0.8,0.3,0.6,-1,500ns",
                                          "1,0,5,0,0.1,2,0.3,0.3,1,100ns"};
    double zeros[RESIDUAL_NUMBERS];
    char name[2][512];

    (void)state;
    residual_init(&residual_of_parametric, zeros, &seen, 3);
    write_model(zeros);
    for (uint64_t seed = 0; seed < 8; seed++)
        for (size_t n = 0; n < sizeof numbers / sizeof numbers[0]; n++) {
            policy_scene s;
            draw_stream(&s, seed);
            snprintf(name[0], sizeof name[0], "parametric:%s", numbers[n]);
            snprintf(name[1], sizeof name[1], "residual:%s,%s", FILE_NAME, numbers[n]);
            scene_run(&s, name[0]);
            uint64_t want = decisions_of(&s), steps = s.result.decision_steps;
            scene_run(&s, name[1]);
            assert_int_equal(decisions_of(&s), want);
            assert_int_equal(s.result.decision_steps, steps);
            assert_int_equal(s.result.fallbacks, 0);
            scene_close(&s);
        }
}

/* With a value of minus the logarithm of its work for each job twice over, the largest goes first, not the smallest. */
static void what_the_network_adds_changes_who_goes_first(void **state)
{
    double numbers[RESIDUAL_NUMBERS];
    policy_scene s;

    (void)state;
    residual_init(&residual_of_parametric, numbers, &seen, 3);
    scene_open(&s, 1);
    scene_job(&s, 0, 10, 1);
    scene_job(&s, 1, 100, 1);
    scene_job(&s, 2, 50, 1);
    write_model(numbers);
    scene_run(&s, "residual:" FILE_NAME ",1,0,0,0,0,9,0,0,-1,100ns");
    assert_int_equal(s.outcomes[2].start_ns, 10);
    numbers[RESIDUAL_VALUE - RESIDUAL_HIDDEN + 2 * CLO_RESIDUAL_WORK] = 1.9;
    numbers[RESIDUAL_VALUE - RESIDUAL_HIDDEN + 2 * CLO_RESIDUAL_WORK + 1] = -1.9;
    write_model(numbers);
    scene_run(&s, "residual:" FILE_NAME ",1,0,0,0,0,9,0,0,-1,100ns");
    assert_int_equal(s.outcomes[1].start_ns, 10);
    scene_close(&s);
}

/* Four instances on four executors, limit 1; an octave more is 2, and three octaves are all. */
static void what_the_network_adds_moves_the_limit(void **state)
{
    static const double octaves[] = {0, 1, 1.9};
    static const int64_t makespan_ns[] = {40, 20, 10};
    double numbers[RESIDUAL_NUMBERS];
    policy_scene s;

    (void)state;
    scene_open(&s, 4);
    scene_job(&s, 0, 10, 4);
    for (int i = 0; i < 3; i++) {
        residual_init(&residual_of_parametric, numbers, &seen, 3);
        numbers[RESIDUAL_NUMBERS - RESIDUAL_GROUP + 2 * CLO_RESIDUAL_LIMIT_FEATURES] = octaves[i]; /* the constant */
        write_model(numbers);
        scene_run(&s, "residual:" FILE_NAME ",1,0,0,0,0,1,0,0,-1,1ns");
        assert_int_equal(s.result.makespan_ns, makespan_ns[i]);
    }
    scene_close(&s);
}

typedef struct other_network {
    const double *numbers;
    uint32_t questions;
} other_network;

static void say_nothing(void *context, const int16_t *row, int32_t *value, int32_t *limit)
{
    other_network *other = context;

    (void)row;
    *value = *limit = 0;
    other->questions++;
}

static void say_numbers(void *context, const int16_t *row, int32_t *value, int32_t *limit)
{
    other_network *other = context;

    *value = (int32_t)(65536 * residual_answer(&residual_of_parametric, other->numbers, row, false));
    *limit = (int32_t)(65536 * residual_answer(&residual_of_parametric, other->numbers, row, true));
    other->questions++;
}

static void say_too_much(void *context, const int16_t *row, int32_t *value, int32_t *limit)
{
    (void)row;
    *value = ((other_network *)context)->questions++ % 2 == 0 ? INT32_MIN : INT32_MAX;
    *limit = *value < 0 ? INT32_MAX : INT32_MIN;
}

static double mean_under(const policy_scene *s, const char *name, const void *argument)
{
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    clo_stream_result result = CLO_STREAM_RESULT_INIT;

    config.policy = clo_policy_find(name);
    config.argument = argument;
    ok(clo_stream_simulate(s->workload, s->platform, &config, &result));
    assert_int_equal(result.fallbacks, 0);
    return result.jct_mean_ns;
}

/* The model says much; who answers in its place is heard, and the model is not. */
static void another_network_may_answer_in_the_place_of_the_model(void **state)
{
    clo_residual_argument argument = CLO_RESIDUAL_ARGUMENT_INIT;
    double numbers[RESIDUAL_NUMBERS];
    static const char with[] = "1,2,3,0.5,0.2,0.8,0.3,0.6,-1,500ns";
    other_network other = {numbers, 0};
    _Alignas(16) unsigned char plain[256];
    uint32_t changed = 0;
    clo_model *model;

    (void)state;
    residual_init(&residual_of_parametric, numbers, &seen, 3);
    numbers[RESIDUAL_VALUE - RESIDUAL_HIDDEN + 2 * CLO_RESIDUAL_WORK] = 1.5;
    numbers[RESIDUAL_VALUE - RESIDUAL_HIDDEN + 2 * CLO_RESIDUAL_WORK + 1] = -1.5;
    numbers[RESIDUAL_NUMBERS - RESIDUAL_GROUP + 2 * CLO_RESIDUAL_LIMIT_FEATURES] = 1; /* the limit's constant */
    write_model(numbers);
    ok(clo_model_load(FILE_NAME, &model));
    argument.model = model;
    snprintf(argument.parametric, sizeof argument.parametric, "%s", with);
    argument.answer_context = &other;
    assert_true(clo_policy_find("parametric")->argument_bytes <= sizeof plain);
    ok(clo_policy_find("parametric")->parse(with, plain));
    for (uint64_t seed = 0; seed < 8; seed++) {
        policy_scene s;
        draw_stream(&s, seed);
        ok(clo_platform_create(&s.desc, &s.platform));
        const double parametric = mean_under(&s, "parametric", plain);
        argument.answer = NULL;
        const double says = mean_under(&s, "residual", &argument);
        argument.answer = say_nothing;
        assert_true(mean_under(&s, "residual", &argument) == parametric);
        argument.answer = say_numbers; /* numbers on the grid: exactly what the model says */
        assert_true(mean_under(&s, "residual", &argument) == says);
        argument.answer = say_too_much;
        assert_true(mean_under(&s, "residual", &argument) > 0);
        changed += says != parametric;
        scene_close(&s);
    }
    assert_true(changed > 0);
    assert_true(other.questions > 0);
    clo_model_destroy(model);
}

typedef struct extremes {
    int16_t least[CLO_RESIDUAL_FEATURES], most[CLO_RESIDUAL_FEATURES];
    bool any;
} extremes;

static void note_extremes(void *context, const int16_t *row, int32_t *value, int32_t *limit)
{
    extremes *e = context;

    *value = *limit = 0;
    for (uint32_t f = 0; f < CLO_RESIDUAL_FEATURES; f++) {
        e->least[f] = !e->any || row[f] < e->least[f] ? row[f] : e->least[f];
        e->most[f] = !e->any || row[f] > e->most[f] ? row[f] : e->most[f];
    }
    e->any = true;
}

/* In 16ths of an octave of one more each. Three executors are idle at first, one when it is asked last; what may start
 * becomes less, too. */
static void the_network_sees_idle_executors_and_startable_work_of_all_jobs(void **state)
{
    clo_residual_argument argument = CLO_RESIDUAL_ARGUMENT_INIT;
    double numbers[RESIDUAL_NUMBERS];
    extremes seen_of = {.any = false};
    clo_model *model;
    policy_scene s;

    (void)state;
    residual_init(&residual_of_parametric, numbers, &seen, 3);
    write_model(numbers);
    ok(clo_model_load(FILE_NAME, &model));
    argument.model = model;
    snprintf(argument.parametric, sizeof argument.parametric, "1,0,0,0,0,9,0,0,-1,1ns");
    argument.answer = note_extremes;
    argument.answer_context = &seen_of;
    scene_open(&s, 3);
    scene_job(&s, 0, 100, 2);
    scene_job(&s, 0, 100, 1);
    ok(clo_platform_create(&s.desc, &s.platform));
    (void)mean_under(&s, "residual", &argument);
    assert_int_equal(seen_of.most[CLO_RESIDUAL_IDLE], 2 * 16);
    assert_int_equal(seen_of.least[CLO_RESIDUAL_IDLE], 16);
    assert_true(seen_of.least[CLO_RESIDUAL_LOAD] < seen_of.most[CLO_RESIDUAL_LOAD]);
    clo_model_destroy(model);
    scene_close(&s);
}

static void refused(const char *text, const char *holds)
{
    clo_residual_argument argument;

    assert_int_not_equal(clo_policy_find("residual")->parse(text, &argument), CLO_OK);
    assert_non_null(strstr(clo_last_error(), holds));
}

static void what_it_cannot_take_is_named(void **state)
{
    double numbers[RESIDUAL_NUMBERS];
    char text[400];

    (void)state;
    residual_init(&residual_of_parametric, numbers, &seen, 0);
    write_model(numbers);
    refused("", "begins with no file");
    refused(",batch", "begins with no file");
    refused(CLO_BINARY "/tests/nothing.model", "nothing.model");
    refused(FILE_NAME ",", "'parametric'");
    refused(FILE_NAME ",fast", "is no set of numbers");
    refused(FILE_NAME ",1,2", "is missing");
    memset(text, '1', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    text[1] = ',';
    refused(text, "too long");
    size_t bytes;
    void *other = lachesis_model_draw(5, 0, &bytes);
    assert_non_null(other);
    write_bytes(other, bytes);
    free(other);
    refused(FILE_NAME, "has not list 5 of features");
    write_bytes("no model", 8);
    refused(FILE_NAME, "test_policy_residual.model");
}

static void other_numbers_need_a_model_of_their_own(void **state)
{
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    clo_residual_argument argument = CLO_RESIDUAL_ARGUMENT_INIT;
    policy_scene s;

    (void)state;
    scene_open(&s, 2);
    scene_job(&s, 0, 10, 4);
    ok(clo_platform_create(&s.desc, &s.platform));
    config.policy = clo_policy_find("residual");
    ok(clo_stream_simulate(s.workload, s.platform, &config, NULL)); /* the built-in one, for batches */
    config.argument = &argument;
    ok(clo_stream_simulate(s.workload, s.platform, &config, NULL));
    snprintf(argument.parametric, sizeof argument.parametric, "1,0,0,0,0,1,0,0,-1");
    assert_int_equal(clo_stream_simulate(s.workload, s.platform, &config, NULL), CLO_ERR_ARGUMENT);
    assert_non_null(strstr(clo_last_error(), "needs a model"));
    memset(argument.parametric, '1', sizeof argument.parametric);
    double numbers[RESIDUAL_NUMBERS];
    residual_init(&residual_of_parametric, numbers, &seen, 0);
    write_model(numbers);
    clo_model *model;
    ok(clo_model_load(FILE_NAME, &model));
    argument.model = model;
    assert_int_equal(clo_stream_simulate(s.workload, s.platform, &config, NULL), CLO_ERR_ARGUMENT);
    assert_non_null(strstr(clo_last_error(), "have no end"));
    clo_model_destroy(model);
    scene_close(&s);
}

/* Of a caller of an older header: nothing behind its size is read. */
static void what_is_behind_the_size_of_an_argument_is_not_read(void **state)
{
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    clo_residual_argument argument = CLO_RESIDUAL_ARGUMENT_INIT;
    policy_scene s;

    (void)state;
    scene_open(&s, 2);
    scene_job(&s, 0, 10, 4);
    ok(clo_platform_create(&s.desc, &s.platform));
    config.policy = clo_policy_find("residual");
    config.argument = &argument;
    argument.size = offsetof(clo_residual_argument, parametric);
    snprintf(argument.parametric, sizeof argument.parametric, "of others");
    ok(clo_stream_simulate(s.workload, s.platform, &config, NULL));
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_behind_the_size_of_an_argument_is_not_read),
        cmocka_unit_test(a_network_of_zeros_leaves_every_decision_of_parametric),
        cmocka_unit_test(what_the_network_adds_changes_who_goes_first),
        cmocka_unit_test(what_the_network_adds_moves_the_limit),
        cmocka_unit_test(another_network_may_answer_in_the_place_of_the_model),
        cmocka_unit_test(what_it_cannot_take_is_named),
        cmocka_unit_test(other_numbers_need_a_model_of_their_own),
        cmocka_unit_test(the_network_sees_idle_executors_and_startable_work_of_all_jobs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
