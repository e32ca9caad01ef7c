/* test_policy_easy_residual.c - a network of zeros leaves every decision of "easy-parametric"; one that says something
 * changes them, in the direction it says; nobody is held back for ever. Worked out by hand. */
#include "policy_scene.h"
#include "random.h"
#include "train/models/residual.h"

#include "base/numbers/rng.h"
#include "common/lachesis_model.h"

#define FILE_NAME CLO_BINARY "/tests/test_policy_easy_residual.model"

/* Nothing of the rule counts. */
#define NOTHING "fit=0,work=0,area=0,time=0,behind=0,ready=0,pass=0,wait=0,first=0,length=0,left=0"

static const residual_seen seen = {.deviation = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};

static void write_bytes(const void *data, size_t bytes)
{
    FILE *file = fopen(FILE_NAME, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

static void write_model(const double *numbers)
{
    static const int16_t row[CLO_EASY_FEATURES];
    void *data;
    size_t bytes;

    ok(residual_model(&residual_of_easy, numbers, NULL, "r", row, 1, &data, &bytes));
    write_bytes(data, bytes);
    free(data);
}

/* A network that says `slope` times the feature for scores, or with is_limit for whether one may start; the constant where
 * it is CLO_EASY_FEATURES. */
static void write_line(uint32_t feature, double slope, bool is_limit)
{
    double numbers[RESIDUAL_NUMBERS_MAX];
    uint32_t last[RESIDUAL_LAST_MAX], first = is_limit ? residual_of_easy.hidden : 0;

    residual_init(&residual_of_easy, numbers, &seen, 3);
    assert_int_equal(residual_last(&residual_of_easy, last), 2 * residual_of_easy.hidden);
    numbers[last[first + 2 * feature]] = slope;
    if (feature < CLO_EASY_FEATURES)
        numbers[last[first + 2 * feature + 1]] = -slope;
    write_model(numbers);
}

/* A job of one stage that holds so much of the machine's 10. */
static void holder(policy_scene *s, int64_t arrival_ns, int64_t work_ns, int64_t demand)
{
    clo_task task = {.work_ns = work_ns, .demand = {demand}};

    scene_add(s, scene_graph(s, &task, 1), (clo_workload_job){.arrival_ns = arrival_ns});
}

static void open_machine(policy_scene *s)
{
    scene_open(s, 8);
    s->capacities[0] = 10;
}

/* Jobs of trees of stages that hold a part of the machine, at drawn times. */
static void draw_stream(policy_scene *s, uint64_t seed)
{
    clo_rng rng = clo_rng_seed(seed);
    int64_t at = 0;

    open_machine(s);
    for (int j = 0; j < 30; j++) {
        uint32_t stages = 1 + (uint32_t)(clo_rng_next(&rng) % 4);
        clo_task tasks[4];
        for (uint32_t t = 0; t < stages; t++)
            tasks[t] = (clo_task){.work_ns = 10 + (int64_t)(clo_rng_next(&rng) % 300),
                                  .demand = {1 + (int64_t)(clo_rng_next(&rng) % 9)},
                                  .instances = 1 + (uint32_t)(clo_rng_next(&rng) % 3)};
        clo_graph *graph = scene_graph(s, tasks, stages);
        for (uint32_t t = 1; t < stages; t++)
            ok(clo_graph_add_edge(graph, (uint32_t)(clo_rng_next(&rng) % t), t, 0));
        at += (int64_t)(clo_rng_next(&rng) % 500);
        scene_add(s, graph, (clo_workload_job){.arrival_ns = at});
    }
}

static void a_network_of_zeros_leaves_every_decision_of_easy_parametric(void **state)
{
    static const char *const numbers[] = {"", "wait=1,first=-1,pass=0,length=0,left=0", "fit=-1,work=2,ready=1",
                                          NOTHING};
    double zeros[RESIDUAL_NUMBERS_MAX];
    clo_stream_outcome by_rule[SCENE_JOBS_MAX];
    char name[512];

    (void)state;
    residual_init(&residual_of_easy, zeros, &seen, 3);
    write_model(zeros);
    for (uint64_t seed = 0; seed < 8; seed++)
        for (size_t n = 0; n < sizeof numbers / sizeof numbers[0]; n++) {
            const char *comma = *numbers[n] != '\0' ? "," : "", *colon = *numbers[n] != '\0' ? ":" : "";
            policy_scene s;
            draw_stream(&s, seed);
            snprintf(name, sizeof name, "easy-parametric%s%s", colon, numbers[n]);
            scene_run(&s, name);
            memcpy(by_rule, s.outcomes, sizeof by_rule);
            uint64_t fallbacks = s.result.fallbacks;
            snprintf(name, sizeof name, "easy-residual:%s%s%s", FILE_NAME, comma, numbers[n]);
            scene_run(&s, name);
            assert_int_equal(s.result.fallbacks, fallbacks);
            for (uint32_t j = 0; j < 30; j++) {
                assert_int_equal(s.outcomes[j].start_ns, by_rule[j].start_ns);
                assert_int_equal(s.outcomes[j].finish_ns, by_rule[j].finish_ns);
            }
            scene_close(&s);
        }
}

/* Two jobs that do not fit together wait until 100. */
static bool second_goes_first(policy_scene *s)
{
    scene_run(s, "easy-residual:" FILE_NAME "," NOTHING ",pass=-9");
    assert_true(s->outcomes[1].start_ns == 100 || s->outcomes[2].start_ns == 100);
    return s->outcomes[2].start_ns == 100;
}

static void what_it_adds_to_scores_says_who_goes_first(void **state)
{
    static const struct {
        uint32_t feature;
        bool second_has_more;
    } cases[] = {{CLO_EASY_WORK, false},   {CLO_EASY_RELATIVE, false}, {CLO_EASY_AREA, false},  {CLO_EASY_TIME, false},
                 {CLO_EASY_BEHIND, false}, {CLO_EASY_FIT, true},       {CLO_EASY_DEMAND, true}, {CLO_EASY_REST, false}};
    policy_scene s;

    (void)state;
    open_machine(&s);
    holder(&s, 0, 100, 9);
    holder(&s, 1, 100, 8); /* area: 80 and 45, and an executor of 8 for each */
    holder(&s, 2, 50, 9);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_line(cases[i].feature, 1.5, false);
        assert_int_equal(second_goes_first(&s), cases[i].second_has_more);
        write_line(cases[i].feature, -1.5, false);
        assert_int_equal(second_goes_first(&s), !cases[i].second_has_more);
    }
    scene_close(&s);
}

/* In octaves of time and of the time until something ends. */
static void hold_back(double of_time, double of_next)
{
    double numbers[RESIDUAL_NUMBERS_MAX];
    uint32_t last[RESIDUAL_LAST_MAX], first = residual_of_easy.hidden;

    residual_init(&residual_of_easy, numbers, &seen, 3);
    (void)residual_last(&residual_of_easy, last);
    numbers[last[first + 2 * CLO_EASY_TIME]] = of_time;
    numbers[last[first + 2 * CLO_EASY_TIME + 1]] = -of_time;
    numbers[last[first + 2 * CLO_EASY_NEXT]] = of_next;
    numbers[last[first + 2 * CLO_EASY_NEXT + 1]] = -of_next;
    write_model(numbers);
}

/* RUNS takes 100. LONG has room from 1 on, but takes 16 times as long as RUNS. */
static void who_has_room_may_have_to_wait_for_what_ends_soon(void **state)
{
    policy_scene s;

    (void)state;
    open_machine(&s);
    holder(&s, 0, 100, 5);
    holder(&s, 1, 1600, 4);
    hold_back(0, 0);
    scene_run(&s, "easy-residual:" FILE_NAME);
    assert_int_equal(s.outcomes[1].start_ns, 1);
    hold_back(-1.5, 1.5); /* time / next end is 2^4: 6 below zero, beyond 2 */
    scene_run(&s, "easy-residual:" FILE_NAME);
    assert_int_equal(s.outcomes[1].start_ns, 100);
    assert_int_equal(s.result.fallbacks, 0);
    hold_back(1.5, -1.5);
    scene_run(&s, "easy-residual:" FILE_NAME);
    assert_int_equal(s.outcomes[1].start_ns, 1);
    scene_close(&s);
}

static int64_t first_is_late(void *state, const clo_environment_execution *e)
{
    (void)state;
    return e->cost_ns == 100 ? 100 * e->cost_ns : e->cost_ns;
}

/* RUNS ends at 10 000. LONG, which was held back for it, starts as soon as that is late; or later, if somebody comes for
 * whom room is kept, where by the numbers it may delay him. */
static void nobody_waits_for_what_is_late(void **state)
{
    clo_environment late = CLO_ENVIRONMENT_INIT;
    policy_scene s;

    (void)state;
    late.name = "late";
    late.time_ns = first_is_late;
    open_machine(&s);
    s.environment = &late;
    holder(&s, 0, 100, 5);
    holder(&s, 1, 1600, 4);
    hold_back(-1.5, 1.5);
    scene_run(&s, "easy-residual:" FILE_NAME);
    assert_int_equal(s.outcomes[1].start_ns, 101);
    scene_close(&s);
    open_machine(&s);
    s.environment = &late;
    holder(&s, 0, 100, 5);
    holder(&s, 500, 1600, 4);
    holder(&s, 500, 10, 9);
    scene_run(&s, "easy-residual:" FILE_NAME "," NOTHING ",pass=1");
    assert_int_equal(s.outcomes[1].start_ns, 500);
    scene_close(&s);
}

/* Again RUNS and LONG, and a job of a lower band that has no room: the scheduler would start LONG by its own rule. */
static void nobody_is_held_back_while_a_lower_band_waits(void **state)
{
    clo_task task = {.work_ns = 50, .demand = {9}};
    policy_scene s;

    (void)state;
    open_machine(&s);
    holder(&s, 0, 100, 5);
    holder(&s, 1, 1600, 4);
    scene_add(&s, scene_graph(&s, &task, 1), (clo_workload_job){.arrival_ns = 1, .band = 1});
    hold_back(-1.5, 1.5);
    scene_run(&s, "easy-residual:" FILE_NAME);
    assert_int_equal(s.outcomes[1].start_ns, 1);
    assert_int_equal(s.result.fallbacks, 0);
    scene_close(&s);
}

/* Whatever it says: where nothing runs, somebody starts. */
static void nobody_waits_for_nothing(void **state)
{
    double numbers[RESIDUAL_NUMBERS_MAX];
    uint32_t last[RESIDUAL_LAST_MAX], first = residual_of_easy.hidden;

    (void)state;
    residual_init(&residual_of_easy, numbers, &seen, 3);
    (void)residual_last(&residual_of_easy, last);
    for (uint32_t u = 0; u < residual_of_easy.hidden_limit; u++)
        numbers[last[first + u]] = -1.9;
    write_model(numbers);
    for (uint64_t seed = 0; seed < 8; seed++) {
        policy_scene s;
        draw_stream(&s, seed);
        scene_run(&s, "easy-residual:" FILE_NAME);
        assert_int_equal(s.result.fallbacks, 0);
        assert_int_equal(s.result.jobs_ended, 30);
        scene_close(&s);
    }
}

static void refused(const char *text, const char *holds)
{
    clo_residual_argument argument;

    assert_int_not_equal(clo_policy_find("easy-residual")->parse(text, &argument), CLO_OK);
    assert_non_null(strstr(clo_last_error(), holds));
}

static void what_it_cannot_take_is_named(void **state)
{
    double numbers[RESIDUAL_NUMBERS_MAX];
    char text[400];
    size_t bytes;

    (void)state;
    residual_init(&residual_of_easy, numbers, &seen, 0);
    write_model(numbers);
    refused("", "begins with no file");
    refused(",fit=1", "begins with no file");
    refused(CLO_BINARY "/tests/nothing.model", "nothing.model");
    refused(FILE_NAME ",", "easy-parametric");
    refused(FILE_NAME ",fast", "'fast' sets nothing");
    memset(text, '1', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    text[1] = ',';
    refused(text, "too long");
    void *other = lachesis_model_draw(5, 0, &bytes);
    assert_non_null(other);
    write_bytes(other, bytes);
    free(other);
    refused(FILE_NAME, "has not list 6 of features");
}

/* Then the state has no bytes, and nothing may be written there (AddressSanitizer). */
static void wrong_numbers_of_an_argument_are_named(void **state)
{
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    clo_residual_argument argument = CLO_RESIDUAL_ARGUMENT_INIT;
    policy_scene s;

    (void)state;
    open_machine(&s);
    holder(&s, 0, 10, 4);
    ok(clo_platform_create(&s.desc, &s.platform));
    config.policy = clo_policy_find("easy-residual");
    config.argument = &argument;
    ok(clo_stream_simulate(s.workload, s.platform, &config, NULL));
    snprintf(argument.parametric, sizeof argument.parametric, "fast=1");
    assert_int_equal(clo_stream_simulate(s.workload, s.platform, &config, NULL), CLO_ERR_ARGUMENT);
    assert_non_null(strstr(clo_last_error(), "'fast=1' sets nothing"));
    memset(argument.parametric, '1', sizeof argument.parametric);
    assert_int_equal(clo_stream_simulate(s.workload, s.platform, &config, NULL), CLO_ERR_ARGUMENT);
    assert_non_null(strstr(clo_last_error(), "have no end"));
    argument = (clo_residual_argument){.size = sizeof(size_t) - 1};
    assert_int_equal(clo_stream_simulate(s.workload, s.platform, &config, NULL), CLO_ERR_ARGUMENT);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_numbers_of_an_argument_are_named),
        cmocka_unit_test(a_network_of_zeros_leaves_every_decision_of_easy_parametric),
        cmocka_unit_test(what_it_adds_to_scores_says_who_goes_first),
        cmocka_unit_test(who_has_room_may_have_to_wait_for_what_ends_soon),
        cmocka_unit_test(nobody_waits_for_what_is_late),
        cmocka_unit_test(nobody_is_held_back_while_a_lower_band_waits),
        cmocka_unit_test(nobody_waits_for_nothing),
        cmocka_unit_test(what_it_cannot_take_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
