/* Decima's network in training: slopes, what is left out, the teacher, and what choices were worth. */
#define _POSIX_C_SOURCE 200809L
#include "base/numbers/crc.h"
#include "learn/format/format.h"
#include "support.h"
#include "train/agent/agent.h"
#include "train/agent/returns.h"
#include "train/models/decima.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { STAGES_ASKED = 5, CHECKED = 60 };

typedef struct setting {
    decima_case drawn;
    decision d;
    uint32_t candidates[CLO_MODEL_GOLDEN_ROWS_MAX];
    double *numbers, *gradient;
    network net;
    agent_room room;
} setting;

static void open_setting(setting *s, uint64_t seed, const agent_parts *parts)
{
    const decima_weights by = {.executors = 50, .tasks_scale = 200, .work_scale_ms = 1e5};

    memset(s, 0, sizeof *s);
    do
        decima_draw(&s->drawn, &by, seed++);
    while (s->drawn.shape.stages < 3 * STAGES_ASKED || s->drawn.shape.child_begin[s->drawn.shape.stages] == 0);
    for (uint32_t k = 0; k < STAGES_ASKED; k++)
        s->candidates[k] = k * (s->drawn.shape.stages / STAGES_ASKED);
    s->d = (decision){.shape = s->drawn.shape,
                      .inputs = s->drawn.numbers,
                      .candidates = s->candidates,
                      .candidates_count = STAGES_ASKED,
                      .candidate = 2,
                      .limit = 3};
    s->numbers = calloc(agent_numbers(), sizeof *s->numbers);
    s->gradient = calloc(agent_numbers(), sizeof *s->gradient);
    assert_non_null(s->numbers);
    assert_non_null(s->gradient);
    agent_init(s->numbers, parts, seed);
    agent_network(s->numbers, 50, &s->net);
}

static void close_setting(setting *s)
{
    agent_room_free(&s->room);
    free(s->numbers);
    free(s->gradient);
}

static double loss_of(setting *s, const agent_wish *wish)
{
    agent_learned found;

    assert_true(agent_learn(&s->net, s->numbers, &s->d, wish, &s->room, NULL, &found));
    return -wish->weight * found.log_p - wish->entropy * found.entropy;
}

/* Against differences of the loss itself, at numbers of all layers. */
static void slopes_are_those_of_the_loss(void **state)
{
    const agent_wish wish = {.weight = 1.5, .entropy = 0.3};
    setting *s = calloc(1, sizeof *s);
    agent_learned found;
    uint32_t other = 0;

    (void)state;
    assert_non_null(s);
    open_setting(s, 7, &(agent_parts){0});
    assert_true(agent_learn(&s->net, s->numbers, &s->d, &wish, &s->room, s->gradient, &found));
    for (uint32_t k = 0; k < CHECKED; k++) {
        uint32_t at = (uint32_t)((uint64_t)k * agent_numbers() / CHECKED);
        double was = s->numbers[at], step = 1e-5;
        s->numbers[at] = was + step;
        double above = loss_of(s, &wish);
        s->numbers[at] = was - step;
        double below = loss_of(s, &wish);
        s->numbers[at] = was;
        assert_true(fabs((above - below) / (2 * step) - s->gradient[at]) < 1e-5 * (1 + fabs(s->gradient[at])));
        other += s->gradient[at] != 0;
    }
    assert_true(other > CHECKED / 4);
    close_setting(s);
    free(s);
}

/* Only the scores of candidates are computed; they are those of the whole network. */
static void wanted_scores_are_those_of_all(void **state)
{
    setting *s = calloc(1, sizeof *s);
    double scores[CLO_MODEL_GOLDEN_ROWS_MAX], limits[CLO_MODEL_GOLDEN_ROWS_MAX];

    (void)state;
    assert_non_null(s);
    open_setting(s, 40, &(agent_parts){0});
    (void)loss_of(s, &(agent_wish){.weight = 1});
    assert_true(network_run(&s->net, &s->drawn.real, scores, limits));
    for (uint32_t k = 0; k < STAGES_ASKED; k++)
        assert_true(s->room.tape.rows[s->net.score][s->candidates[k]] == scores[s->candidates[k]]);
    assert_true(s->room.tape.rows[s->net.score][s->candidates[1] + 1] == 0);
    for (uint32_t l = 0; l < s->d.shape.limits; l++)
        assert_true(s->room.tape.rows[s->net.limit][l] == limits[l]);
    close_setting(s);
    free(s);
}

static void without_messages_edges_do_not_matter(void **state)
{
    setting *s = calloc(1, sizeof *s);
    agent_learned found;
    double log_p[2][2];

    (void)state;
    assert_non_null(s);
    for (int lacks = 0; lacks < 2; lacks++)
        for (int edge = 0; edge < 2; edge++) {
            const agent_parts parts = {.lacks_messages = lacks != 0};
            open_setting(s, 90, &parts);
            uint32_t row = 0;
            while (s->drawn.child_begin[row] == s->drawn.child_begin[row + 1])
                row++;
            s->drawn.children[s->drawn.child_begin[row]] = edge ? s->d.shape.stages - 1 : row + 1; /* another child */
            assert_true(
                agent_learn(&s->net, s->numbers, &s->d, &(agent_wish){.weight = 1}, &s->room, s->gradient, &found));
            log_p[lacks][edge] = found.log_p;
            agent_freeze(s->gradient, &parts);
            close_setting(s);
        }
    assert_true(log_p[0][0] != log_p[0][1]);
    assert_true(log_p[1][0] == log_p[1][1]);
    free(s);
}

static void without_limits_all_executors_go(void **state)
{
    const agent_parts parts = {.lacks_limits = true};
    setting *s = calloc(1, sizeof *s);

    (void)state;
    assert_non_null(s);
    open_setting(s, 11, &parts);
    for (uint32_t l = 0; l < s->d.shape.limits; l++) /* they are 0, 1 ... in a decision */
        s->drawn.numbers[5 * s->d.shape.stages + 3 * s->d.shape.jobs + l] = l / 50.0;
    s->d.limit = s->d.shape.limits - 1;
    s->d.candidates_count = 1;
    s->d.candidate = 0;
    assert_true(loss_of(s, &(agent_wish){.weight = 1}) < 1e-6);
    close_setting(s);
    free(s);
}

/* Two jobs of one stage each, 4 tasks; the second has less work. */
static void the_teacher_takes_the_shorter_job_up_to_its_limit(void **state)
{
    int64_t stage_raw[] = {10, -1, 0, 4, 400000000000, 10, -1, 0, 4, 4000000000}, job_raw[] = {10, -1, 0, 10, -1, 0};
    const uint32_t jobs[] = {0, 1}, begin[] = {0, 0, 0}, candidates[] = {0, 1};
    const teacher t = teacher_for(400e9, 50);
    clo_learned_decision seen = {
        .stage_raw = stage_raw, .job_raw = job_raw, .candidates = candidates, .candidates_count = 2};
    double ranks[2], keys[2], limits[10];
    uint32_t candidate, limit;

    (void)state;
    seen.input = (clo_model_case){.stages = 2, .jobs = 2, .job_of_stage = jobs, .child_begin = begin};
    teacher_choose(&t, &seen, ranks, keys, &candidate, &limit);
    assert_int_equal(candidate, 1);
    assert_true(keys[1] > keys[0]);
    assert_true(limit + 1 < 10);
    teacher_limits(limit, 10, limits);
    for (uint32_t l = 0; l < 10; l++)
        assert_true(limits[l] <= limits[limit]);
    job_raw[5] = stage_raw[7] = 40; /* it has more than it may have */
    teacher_choose(&t, &seen, ranks, keys, &candidate, &limit);
    assert_int_equal(candidate, 0);
    job_raw[1] = stage_raw[1] = 1; /* executors of the first job; its limit lets some of them go on */
    job_raw[2] = stage_raw[2] = 10;
    teacher_choose(&t, &seen, ranks, keys, &candidate, &limit);
    assert_int_equal(candidate, 0);
}

/* Two rollouts of two jobs: in the second one a job ends earlier. */
static void what_ends_earlier_was_worth_more(void **state)
{
    const clo_stream_outcome outcomes[] = {
        {.finish_ns = 40000000000}, {.finish_ns = 90000000000}, {.finish_ns = 20000000000}, {.finish_ns = 90000000000}};
    int64_t times[] = {0, 30000000000};
    decision kept[2][2] = {{{.at = 0}, {.at = 1}}, {{.at = 0}, {.at = 1}}};
    episode rollouts[2] = {{.kept = kept[0], .kept_count = 2, .times_ns = times, .decisions_count = 2},
                           {.kept = kept[1], .kept_count = 2, .times_ns = times, .decisions_count = 2}};

    (void)state;
    for (int is_near = 0; is_near < 2; is_near++) {
        assert_true(returns_to_advantages(rollouts, 2, outcomes, 2, is_near ? 10 : 0));
        assert_true(kept[1][0].advantage > 0 && kept[0][0].advantage < 0);
        assert_true(fabs(kept[1][0].advantage + kept[0][0].advantage) < 1e-9);
        /* At 30 s one of the first rollout's jobs lives 10 s more; 20 s did at 0. */
        if (is_near)
            assert_true(kept[1][1].advantage > kept[1][0].advantage);
        else
            assert_true(kept[1][1].advantage > 0 && kept[1][1].advantage < kept[1][0].advantage);
    }
}

/* Sums of products of the differences between scores, which are all that counts: of real numbers and integers. */
typedef struct products {
    double reals, both, integers;
} products;

static void compare_scores(const double *reals, const int32_t *integers, uint32_t count, products *out)
{
    for (uint32_t i = 1; i < count; i++) {
        double real = reals[i] - reals[0], whole = (double)integers[i] - integers[0];
        out->reals += real * real;
        out->both += real * whole;
        out->integers += whole * whole;
    }
}

/* The square of what integers err, in the unit that suits them best, over that of the differences. */
static double error_of(const products *p)
{
    return 1 - p->both * p->both / (p->reals * p->integers);
}

static void ask(const setting *s, const clo_model *model, const decima_case *drawn, products found[2])
{
    static double scores[CLO_MODEL_GOLDEN_ROWS_MAX], limits[CLO_MODEL_GOLDEN_ROWS_MAX];
    static int32_t whole[CLO_MODEL_GOLDEN_ROWS_MAX], whole_limits[CLO_MODEL_GOLDEN_ROWS_MAX];
    network net = s->net;

    assert_true(network_run(&net, &drawn->real, scores, limits));
    ok(clo_model_scores(model, &drawn->shape, whole, whole_limits));
    compare_scores(scores, whole, drawn->shape.stages, &found[0]);
    compare_scores(limits, whole_limits, drawn->shape.limits, &found[1]);
}

enum { FOR_SCALES = 64, ASKED = 200 };

/* The model of the setting's numbers, with scales of some drawn jobs. */
static clo_model *quantized(setting *s, void **data)
{
    const decima_weights by = {.executors = 50, .tasks_scale = 200, .work_scale_ms = 1e5};
    decima_case *list = calloc(FOR_SCALES, sizeof *list);
    decision for_scales[FOR_SCALES];
    clo_model *model;
    const char *why;
    size_t bytes;

    assert_non_null(list);
    for (uint32_t i = 0; i < FOR_SCALES; i++) {
        decima_draw(&list[i], &by, 1000 + i);
        for_scales[i] = (decision){.shape = list[i].shape, .inputs = list[i].numbers};
    }
    ok(agent_model(s->numbers, 50, "drawn", for_scales, FOR_SCALES, data, &bytes, &why));
    ok(clo_model_open("drawn", *data, bytes, &model));
    free(list);
    return model;
}

/* What the integers err on other drawn jobs: of stages, of limits. */
static void measure_errors(const setting *s, const clo_model *model, double errors[2])
{
    const decima_weights by = {.executors = 50, .tasks_scale = 200, .work_scale_ms = 1e5};
    decima_case *drawn = calloc(1, sizeof *drawn);
    products found[2] = {{0}};

    assert_non_null(drawn);
    for (uint32_t i = 0; i < ASKED; i++) {
        decima_draw(drawn, &by, 50000 + i);
        ask(s, model, drawn, found);
    }
    errors[0] = error_of(&found[0]);
    errors[1] = error_of(&found[1]);
    free(drawn);
}

/* The first hidden numbers of what is summed up over jobs get so much smaller. */
static void sink(setting *s, double by)
{
    for (uint32_t i = 0; i < s->net.ops_count; i++) {
        const clo_model_op *op = &s->net.ops[i];
        if (op->op != CLO_MODEL_DENSE || s->net.values[op->out].domain != CLO_MODEL_JOB ||
            s->net.values[op->out].is_sum || s->net.values[op->out].width != 32)
            continue;
        for (uint32_t n = 0; n < s->net.layers[op->argument].outputs; n++)
            s->numbers[s->net.layers[op->argument].bias - s->numbers + n] -= by;
    }
}

/* The errors are 0.00085 and 0.00098; without room for sums before the slope five and four times as large. */
static void integers_score_as_real_numbers(void **state)
{
    setting *s = calloc(1, sizeof *s);
    double errors[2];
    void *data;

    (void)state;
    assert_non_null(s);
    open_setting(s, 3, &(agent_parts){0});
    clo_model *model = quantized(s, &data);
    measure_errors(s, model, errors);
    assert_true(errors[0] < 0.0009);
    assert_true(errors[1] < 0.0011);
    clo_model_destroy(model);
    free(data);
    close_setting(s);
    free(s);
}

/* Negative sums are five times as large as what is behind the slope. The errors are 0.0006 and 0.0013, and 0.016 and
 * 0.076 where there is room only for the latter. */
static void negative_sums_of_jobs_have_room(void **state)
{
    setting *s = calloc(1, sizeof *s);
    double errors[2];
    void *data;

    (void)state;
    assert_non_null(s);
    open_setting(s, 3, &(agent_parts){0});
    sink(s, 20);
    clo_model *model = quantized(s, &data);
    measure_errors(s, model, errors);
    assert_true(errors[0] < 0.001);
    assert_true(errors[1] < 0.002);
    clo_model_destroy(model);
    free(data);
    close_setting(s);
    free(s);
}

/* Its numbers are those of the model: what is left is what values err. */
static void a_model_is_read_back(void **state)
{
    setting *s = calloc(1, sizeof *s);
    double errors[2];
    size_t bytes;
    void *data;

    (void)state;
    assert_non_null(s);
    open_setting(s, 3, &(agent_parts){0});
    clo_model *model = quantized(s, &data), *other;
    assert_true(agent_read(model, s->numbers));
    measure_errors(s, model, errors);
    assert_true(errors[0] < 0.0009);
    assert_true(errors[1] < 0.0011);
    const void *rule = clo_model_builtin("lachesis", &bytes);
    ok(clo_model_open("lachesis", rule, bytes, &other));
    assert_false(agent_read(other, s->numbers));
    clo_model_destroy(other);
    clo_model_destroy(model);
    free(data);
    close_setting(s);
    free(s);
}

/* A file may give any exponent; with the largest one no real number holds what a unit is worth. */
static void numbers_that_are_not_finite_are_refused(void **state)
{
    setting *s = calloc(1, sizeof *s);
    clo_model *model;
    void *data;

    (void)state;
    assert_non_null(s);
    open_setting(s, 3, &(agent_parts){0});
    clo_model_destroy(quantized(s, &data));
    clo_format_header *header = data;
    clo_format_value *values = (void *)((char *)data + header->parts[CLO_PART_VALUES].offset);
    for (uint32_t v = 0; v < header->parts[CLO_PART_VALUES].count; v++)
        values[v].exponent = INT16_MAX;
    size_t from = offsetof(clo_format_header, crc), behind = from + sizeof header->crc;
    header->crc = clo_crc32c(clo_crc32c(0, data, from), (char *)data + behind, header->bytes - behind);
    ok(clo_model_open("exponents", data, header->bytes, &model));
    assert_false(agent_read(model, s->numbers));
    clo_model_destroy(model);
    free(data);
    close_setting(s);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(slopes_are_those_of_the_loss),
                                       cmocka_unit_test(wanted_scores_are_those_of_all),
                                       cmocka_unit_test(without_messages_edges_do_not_matter),
                                       cmocka_unit_test(without_limits_all_executors_go),
                                       cmocka_unit_test(the_teacher_takes_the_shorter_job_up_to_its_limit),
                                       cmocka_unit_test(what_ends_earlier_was_worth_more),
                                       cmocka_unit_test(integers_score_as_real_numbers),
                                       cmocka_unit_test(negative_sums_of_jobs_have_room),
                                       cmocka_unit_test(a_model_is_read_back),
                                       cmocka_unit_test(numbers_that_are_not_finite_are_refused)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
