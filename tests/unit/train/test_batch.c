/* test_batch.c - what LACHESIS is trained on is what the planner does: the same inputs, the same scores, and DEFT's
 * plan where nothing was learned. */
#include "plan/learned/scores.h"
#include "support.h"
#include "train/batch/batch_model.h"
#include "train/numbers/parameters.h"
#include "train/rollout/rollout_order.h"
#include "train/trainer/trainer.h"

#include <clotho/planner.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS = 6, BATCHES = 8, TRAINING = 5, WIDTH = 4 };

typedef struct fixture {
    clo_graph *graphs[JOBS];
    clo_workload *workload;
    batch_law law;
    batch_set set;
    lachesis_shape shape;
    network net;
    double *parameters;
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    clo_workload_job job = CLO_WORKLOAD_JOB_INIT;

    assert_non_null(f);
    ok(clo_workload_create("jobs", &f->workload));
    for (uint32_t j = 0; j < JOBS; j++) {
        const clo_generate_config how = {.size = sizeof how,
                                         .tasks = 6 + 3 * j,
                                         .seed = j,
                                         .work_spread = 0.8,
                                         .instances_min = 1,
                                         .instances_max = 3};
        ok(clo_graph_generate("layered", &how, &f->graphs[j]));
        job.graph = f->graphs[j];
        ok(clo_workload_add(f->workload, &job));
    }
    f->law = (batch_law){.workload = f->workload,
                         .jobs_first = 1,
                         .jobs_last = 4,
                         .ccrs = {5},
                         .ccrs_count = 1,
                         .has_even = true,
                         .has_producer = true,
                         .executors = 6,
                         .speed_first = 21,
                         .speed_last = 36};
    f->set = (batch_set){.list = calloc(BATCHES, sizeof *f->set.list), .prior = 20};
    f->set.weights[CLO_FEATURE_RANK_UP] = 1;
    assert_non_null(f->set.list);
    for (uint32_t i = 0; i < BATCHES; i++) {
        f->set.list[i] = batch_create(&f->law, 100 + i);
        assert_non_null(f->set.list[i]);
        f->set.count++;
    }
    f->shape = (lachesis_shape)LACHESIS_SHAPE_INIT;
    f->shape.width = WIDTH;
    f->parameters = calloc(lachesis_parameters(&f->shape), sizeof *f->parameters);
    assert_non_null(f->parameters);
    assert_true(lachesis_network(&f->shape, f->parameters, &f->net, NULL));
    parameters_init(&f->net, f->parameters, 3);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;

    for (uint32_t i = 0; i < f->set.count; i++)
        batch_destroy(f->set.list[i]);
    free(f->set.list);
    free(f->parameters);
    clo_workload_destroy(f->workload);
    for (uint32_t j = 0; j < JOBS; j++)
        clo_graph_destroy(f->graphs[j]);
    free(f);
    return 0;
}

static clo_model *make_model(const fixture *f, batch_model *made)
{
    const char *why;
    clo_model *model;

    ok(batch_quantize(&f->set, &f->shape, f->parameters, "test", made, &why));
    ok(clo_model_open("test", made->data, made->bytes, &model));
    ok(clo_model_verify(model));
    return model;
}

static int64_t plan_ns(const batch *b, const clo_model *model, uint64_t schedules)
{
    clo_plan_config config = {
        .size = sizeof config, .planner = &clo_planner_lachesis, .argument = model, .schedules_max = schedules};
    clo_plan *plan;

    ok(clo_plan_create(b->cost, &config, &plan));
    ok(clo_plan_check(plan, b->cost, CLO_CHECK_FULL));
    int64_t makespan_ns = clo_plan_makespan_ns(plan);
    clo_plan_destroy(plan);
    return makespan_ns;
}

static void a_batch_is_a_function_of_its_seed(void **state)
{
    const fixture *f = *state;
    batch *again = batch_create(&f->law, 103);
    const batch *first = batch_find(&f->set, 103);

    assert_non_null(again);
    assert_int_equal(again->shape.stages, first->shape.stages);
    assert_int_equal(again->reference_ns, first->reference_ns);
    assert_memory_equal(again->shape.inputs, first->shape.inputs,
                        again->shape.stages * CLO_FEATURES_STAGE * sizeof *first->shape.inputs);
    assert_null(batch_find(&f->set, 99));
    batch_destroy(again);
}

/* Also: parents come before their children, as a case of a model wants it. */
static void stages_count_as_one_task_of_all_their_work(void **state)
{
    const fixture *f = *state;
    const batch *b = f->set.list[0];

    assert_int_equal(clo_graph_instances(b->graph), clo_graph_tasks(b->graph));
    for (uint32_t t = 0; t < b->shape.stages; t++)
        for (uint32_t c = b->shape.child_begin[t]; c < b->shape.child_begin[t + 1]; c++)
            assert_true(b->shape.children[c] > t);
}

static void a_prior_beside_the_network_adds_up_to_the_same_scores(void **state)
{
    fixture *f = *state;
    lachesis_shape with = f->shape;
    network *net = calloc(1, sizeof *net);

    f->set.weights[CLO_FEATURE_TIME] = 0.5;
    f->set.weights[CLO_FEATURE_OUTPUT] = -0.75;
    assert_non_null(net);
    for (with.prior_times = 1; with.prior_times <= 5; with.prior_times += 2) {
        double *all = calloc(lachesis_parameters(&with), sizeof *all);
        assert_non_null(all);
        lachesis_with_prior(&with, f->parameters, f->set.weights, f->set.prior, all);
        assert_true(lachesis_network(&with, all, net, NULL));
        for (uint32_t i = 0; i < BATCHES; i++) {
            const batch *b = f->set.list[i];
            network_tape alone = {0}, both = {0};
            assert_true(network_tape_fit(&alone, &f->net, &b->shape));
            assert_true(network_tape_fit(&both, net, &b->shape));
            network_forward(&f->net, &b->input, &alone);
            network_forward(net, &b->input, &both);
            for (uint32_t t = 0; t < b->shape.stages; t++) {
                double want = alone.rows[f->net.score][t] + f->set.prior * batch_prior(b, f->set.weights, t);
                assert_true(fabs(both.rows[net->score][t] - want) < 1e-9 * (1 + fabs(want)));
            }
            network_tape_free(&alone);
            network_tape_free(&both);
        }
        free(all);
    }
    free(net);
}

/* One unit of the score of a prior of 20 is then 1.008 times a power of two; with int16 on the way scores would be
 * equal where these are not. Weights of both signs, and sums of both. */
static void integers_of_a_prior_alone_are_its_sums(void **state)
{
    static const int whole[CLO_FEATURES_STAGE] = {38, -7, -120, 127, 4, 1, -90};
    fixture *f = *state;
    batch_model made;
    uint32_t negative = 0, odd = 0;

    assert_int_equal(lachesis_prior_times(20, 12), 5);
    assert_int_equal(lachesis_prior_times(127.0 / 8, 12), 1);
    for (int k = 0; k < CLO_FEATURES_STAGE; k++)
        f->set.weights[k] = whole[k] / 127.0;
    parameters_zero(&f->net, f->parameters, f->net.score);
    clo_model *model = make_model(f, &made);
    for (uint32_t i = 0; i < BATCHES; i++) {
        const batch *b = f->set.list[i];
        int32_t got[CLO_MODEL_GOLDEN_ROWS_MAX];
        ok(clo_model_scores(model, &b->shape, got, NULL));
        for (uint32_t t = 0; t < b->shape.stages; t++) {
            int32_t want = 0;
            for (int k = 0; k < CLO_FEATURES_STAGE; k++)
                want += 5 * whole[k] * b->shape.inputs[t * CLO_FEATURES_STAGE + (uint32_t)k];
            assert_int_equal(got[t], want);
            negative += want < 0;
            odd += want / 5 % 2 != 0;
        }
    }
    assert_true(negative > 0 && odd > 0);
    clo_model_destroy(model);
    free(made.data);
}

static void the_planner_scores_what_the_trainer_does(void **state)
{
    const fixture *f = *state;
    batch_model made;
    clo_model *model = make_model(f, &made);

    for (uint32_t i = 0; i < BATCHES; i++) {
        const batch *b = f->set.list[i];
        int32_t want[CLO_MODEL_GOLDEN_ROWS_MAX], got[CLO_MODEL_GOLDEN_ROWS_MAX];
        clo_task_scores scores = {.scores = got};
        assert_true(b->shape.stages <= CLO_MODEL_GOLDEN_ROWS_MAX);
        ok(clo_model_scores(model, &b->shape, want, NULL));
        ok(clo_score_tasks(b->cost, model, &scores));
        assert_memory_equal(want, got, b->shape.stages * sizeof *want);
        assert_true(scores.drawn_scale > 0);
    }
    clo_model_destroy(model);
    free(made.data);
}

static void with_a_zero_last_layer_the_plan_is_that_of_deft(void **state)
{
    fixture *f = *state;
    batch_model made;

    parameters_zero(&f->net, f->parameters, f->net.score);
    clo_model *model = make_model(f, &made);
    train_environment environment = batch_environment(&f->set, 1);
    for (uint32_t i = 0; i < BATCHES; i++) {
        const batch *b = f->set.list[i];
        batch_agreement found = {0};
        assert_int_equal(plan_ns(b, model, 1), b->reference_ns);
        ok(batch_compare(b, &f->set, &f->shape, f->parameters, model, &found));
        assert_int_equal(found.batches, 1);
        assert_int_equal(found.same, found.decisions);
        assert_true(found.reals == 1 && found.integers == 1);
    }
    void *room = environment.create(environment.argument);
    assert_non_null(room);
    assert_false(environment.reset(room, 99));
    assert_true(environment.reset(room, 104));
    environment.destroy(room);
    clo_model_destroy(model);
    free(made.data);
}

/* Of no parameters: no layer of zeros either, and the plans of the network that adds nothing. */
static void without_a_network_the_model_is_the_prior(void **state)
{
    fixture *f = *state;
    batch_model made, rule;
    clo_model_info info = CLO_MODEL_INFO_INIT;
    const char *why;
    clo_model *alone;

    parameters_zero(&f->net, f->parameters, f->net.score);
    clo_model *model = make_model(f, &made);
    ok(batch_quantize(&f->set, &f->shape, NULL, "rule", &rule, &why));
    ok(clo_model_open("rule", rule.data, rule.bytes, &alone));
    ok(clo_model_verify(alone));
    ok(clo_model_inspect(alone, &info));
    assert_true(info.layers <= 3);
    assert_true(rule.bytes < made.bytes);
    for (uint32_t i = 0; i < BATCHES; i++) {
        const batch *b = f->set.list[i];
        batch_agreement found = {0};
        assert_int_equal(plan_ns(b, alone, 1), plan_ns(b, model, 1));
        assert_int_equal(plan_ns(b, alone, 8), plan_ns(b, model, 8));
        ok(batch_compare(b, &f->set, &f->shape, NULL, alone, &found));
        assert_int_equal(found.same, found.decisions);
    }
    clo_model_destroy(alone);
    clo_model_destroy(model);
    free(rule.data);
    free(made.data);
}

static void more_schedules_are_never_worse(void **state)
{
    const fixture *f = *state;
    batch_model made;
    clo_model *model = make_model(f, &made);

    for (uint32_t i = 0; i < BATCHES; i++) {
        const batch *b = f->set.list[i];
        int64_t before_ns = plan_ns(b, model, 1);
        assert_true(plan_ns(b, model, 2) <= b->reference_ns);
        for (uint64_t schedules = 2; schedules <= 32; schedules *= 2) {
            int64_t now_ns = plan_ns(b, model, schedules);
            assert_true(now_ns <= before_ns);
            before_ns = now_ns;
        }
        assert_int_equal(plan_ns(b, model, 32), before_ns);
    }
    clo_model_destroy(model);
    free(made.data);
}

static void train(fixture *f, uint32_t threads, double *best)
{
    const uint64_t seeds[] = {100, 101, 102, 103, 104}, validation[] = {105, 106, 107};
    train_environment environment = batch_environment(&f->set, 1);
    train_phase phase = TRAIN_PHASE_INIT;
    uint32_t count = lachesis_parameters(&f->shape);
    trainer_config config = {.environment = &environment,
                             .net = &f->net,
                             .parameters = f->parameters,
                             .parameters_count = count,
                             .critic = CLO_MODEL_NONE,
                             .phases = &phase,
                             .phases_count = 1,
                             .seeds = seeds,
                             .validation = validation,
                             .seeds_count = 5,
                             .validation_count = 3,
                             .validate_every = 2,
                             .seed = 1,
                             .threads = threads};
    char why[TRAINER_WHY_BYTES];
    train_point point;

    phase.instances = 5;
    phase.rollouts = 8;
    phase.updates = 6;
    phase.rate_first = 0.02;
    parameters_init(&f->net, f->parameters, 3);
    parameters_zero(&f->net, f->parameters, f->net.score);
    trainer *t = trainer_create(&config, why);
    assert_non_null(t);
    do
        assert_true(trainer_update(t, &point, why));
    while (trainer_updates_done(t) < trainer_updates(t));
    double reward;
    memcpy(best, trainer_best(t, &reward, NULL), count * sizeof *best);
    assert_true(reward >= -1);
    assert_true(isfinite(point.gradient) && point.gradient > 0);
    trainer_destroy(t);
    memcpy(best + count, f->parameters, count * sizeof *best);
}

static void any_number_of_threads_trains_the_same(void **state)
{
    fixture *f = *state;
    uint32_t count = 2 * lachesis_parameters(&f->shape);
    double *one = calloc(count, sizeof *one), *three = calloc(count, sizeof *three);

    assert_non_null(one);
    assert_non_null(three);
    train(f, 1, one);
    train(f, 3, three);
    assert_memory_equal(one, three, count * sizeof *one);
    free(one);
    free(three);
}

/* The slope of REINFORCE for a normal distribution: noise / deviation, by which scores must rise if it was good. */
static void what_went_well_gets_higher_scores(void **state)
{
    fixture *f = *state;
    train_environment environment = batch_environment(&f->set, 0.5);
    uint32_t count = lachesis_parameters(&f->shape);
    const rollout_plan plan = {.environment = &environment,
                               .net = &f->net,
                               .critic = CLO_MODEL_NONE,
                               .parameters = f->parameters,
                               .parameters_count = count,
                               .how = ROLLOUT_DRAWN,
                               .method = TRAIN_REINFORCE};
    rollout r = {.seed = 101, .draws_seed = 9, .gradient = calloc(count, sizeof(double))};
    rollout_room room = {0};
    double length = 0;

    assert_non_null(r.gradient);
    rollout_order_play(&plan, &room, &r);
    assert_false(r.failed);
    assert_int_equal(r.count, 1);
    r.steps[0].advantage = 1;
    rollout_order_learn(&plan, &room, &r);
    double *gradient = calloc(count, sizeof *gradient);
    assert_non_null(gradient);
    memcpy(gradient, r.gradient, count * sizeof *gradient);
    r.steps[0].advantage = -2;
    rollout_order_learn(&plan, &room, &r);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(fabs(r.gradient[i] + 2 * gradient[i]) <= 1e-9 * (1 + fabs(gradient[i])));
        length += gradient[i] * gradient[i];
    }
    assert_true(length > 0);
    free(gradient);
    rollout_room_free(&plan, &room);
    rollout_free(&r);
}

static void a_tuned_prior_is_not_worse_on_validation_than_rank_u(void **state)
{
    fixture *f = *state;
    batch_tuning how = {.training = TRAINING, .generations = 3, .threads = 1, .seed = 4};
    double one, three, weights[CLO_FEATURES_STAGE];

    assert_true(batch_tune(&f->set, &how, &one));
    assert_true(one <= 1);
    memcpy(weights, f->set.weights, sizeof weights);
    how.threads = 3;
    assert_true(batch_tune(&f->set, &how, &three));
    assert_true(one == three);
    assert_memory_equal(weights, f->set.weights, sizeof weights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_batch_is_a_function_of_its_seed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stages_count_as_one_task_of_all_their_work, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_prior_beside_the_network_adds_up_to_the_same_scores, set_up, tear_down),
        cmocka_unit_test_setup_teardown(integers_of_a_prior_alone_are_its_sums, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_planner_scores_what_the_trainer_does, set_up, tear_down),
        cmocka_unit_test_setup_teardown(with_a_zero_last_layer_the_plan_is_that_of_deft, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_a_network_the_model_is_the_prior, set_up, tear_down),
        cmocka_unit_test_setup_teardown(more_schedules_are_never_worse, set_up, tear_down),
        cmocka_unit_test_setup_teardown(any_number_of_threads_trains_the_same, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_went_well_gets_higher_scores, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_tuned_prior_is_not_worse_on_validation_than_rank_u, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
