/* test_edges_training.c - the environment of edge adding, its teacher, and the model that is made of its network. */
#include "support.h"
#include "train/models/edges_cases.h"
#include "train/models/edges_network.h"
#include "train/numbers/losses.h"
#include "train/numbers/parameters.h"

#include <math.h>

enum { GRAPHS = 4, EDGES = 6, STEPS_MAX = 2 * EDGES, CASES = 40 };

typedef struct fixture {
    clo_graph *graphs[GRAPHS];
    edges_world world;
    train_environment environment;
    void *self;
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    draws d = {4};

    assert_non_null(f);
    for (uint32_t g = 0; g < GRAPHS; g++) {
        ok(clo_graph_create("job", &f->graphs[g]));
        for (uint32_t i = 0; i < 4 + g; i++)
            ok(clo_graph_add_task(f->graphs[g], &(clo_task){.work_ns = 100 + (int64_t)(draws_next(&d) % 900)}, NULL));
        for (uint32_t i = 1; i < 4 + g; i++)
            ok(clo_graph_add_edge(f->graphs[g], (uint32_t)(draws_next(&d) % i), i, 0));
        ok(clo_graph_seal(f->graphs[g]));
        f->world.graphs[g] = f->graphs[g];
    }
    f->world.graphs_count = GRAPHS;
    f->world.jobs_least = 2;
    f->world.jobs_most = 3;
    f->world.edges = EDGES;
    f->environment = edges_environment;
    f->environment.argument = &f->world;
    f->self = f->environment.create(f->environment.argument);
    assert_non_null(f->self);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;

    f->environment.destroy(f->self);
    for (uint32_t g = 0; g < GRAPHS; g++)
        clo_graph_destroy(f->graphs[g]);
    free(f);
    return 0;
}

/* Rewards of an episode with choices drawn from `draws_seed`, or the teacher's where that is 0. Returns their sum. */
static double play(fixture *f, uint64_t seed, uint64_t draws_seed, uint32_t *steps)
{
    draws d = {draws_seed};
    double total = 0;
    train_view view;

    assert_true(f->environment.reset(f->self, seed));
    for (*steps = 0; f->environment.look(f->self, &view); ++*steps) {
        assert_true(*steps < STEPS_MAX && view.stages.count > 0);
        assert_int_equal((int)view.time, *steps);
        train_choice choice = {(uint32_t)(draws_next(&d) % view.stages.count), CLO_MODEL_NONE};
        if (draws_seed == 0)
            choice = f->environment.teach(f->self);
        assert_true(choice.stage < view.stages.count);
        double reward = f->environment.step(f->self, &choice);
        assert_true(reward >= 0 && (reward == 0 || *steps % 2 == 1));
        total += reward;
    }
    return total;
}

static void the_same_seed_and_choices_are_the_same_episode(void **state)
{
    fixture *f = *state;

    for (uint64_t seed = 1; seed < 10; seed++) {
        uint32_t steps, again;
        double first = play(f, seed, 5, &steps);
        (void)play(f, seed + 50, 6, &again);
        assert_true(play(f, seed, 5, &again) == first);
        assert_int_equal(again, steps);
        assert_int_equal(steps, STEPS_MAX);
    }
}

static void the_teacher_finds_what_helps(void **state)
{
    fixture *f = *state;
    double taught = 0, drawn = 0;

    for (uint64_t seed = 1; seed < 20; seed++) {
        uint32_t steps;
        taught += play(f, seed, 0, &steps);
        drawn += play(f, seed, seed, &steps);
    }
    assert_true(taught > drawn && taught > 0);
}

/* Decisions in which the integers of a network choose as it does itself. */
static quantize_agreement agreement_of(fixture *f, network *net)
{
    edges_case cases[CASES];
    uint64_t seeds[CASES];
    void *data = NULL;
    size_t bytes = 0;
    const char *why = NULL;
    clo_model *model = NULL;
    quantize_agreement found = {0};

    for (uint64_t i = 0; i < CASES; i++)
        seeds[i] = 100 + i;
    assert_int_equal(edges_cases_collect(&f->world, seeds, CASES, 1, cases, CASES), CASES);
    ok(edges_quantize(net, "edges", cases, CASES, &data, &bytes, &why));
    ok(clo_model_open("edges", data, bytes, &model));
    ok(clo_model_verify(model));
    ok(edges_compare(net, model, cases, CASES, &found));
    assert_true(found.choices > CASES / 2);
    clo_model_destroy(model);
    edges_cases_free(cases, CASES);
    free(data);
    return found;
}

static void integers_choose_as_the_network_does(void **state)
{
    network net;
    double *parameters = calloc(edges_parameters(), sizeof *parameters);

    assert_non_null(parameters);
    edges_network(parameters, &net);
    parameters_init(&net, parameters, 3);
    const quantize_agreement found = agreement_of(*state, &net);
    assert_true(found.same * 100 >= found.choices * 95);
    free(parameters);
}

/* A first layer that gives negative numbers alone: a fifth of its sums, for which there must be room. */
static void integers_have_room_for_negative_sums(void **state)
{
    network net;
    double *parameters = calloc(edges_parameters(), sizeof *parameters);

    assert_non_null(parameters);
    edges_network(parameters, &net);
    parameters_init(&net, parameters, 3);
    const network_layer *first = &net.layers[net.ops[0].argument];
    for (uint32_t i = 0; i < first->inputs * first->outputs; i++)
        parameters[(size_t)(first->weights - parameters) + i] = -fabs(first->weights[i]);
    const quantize_agreement found = agreement_of(*state, &net);
    assert_true(found.same * 100 >= found.choices * 95);
    free(parameters);
}

static void cases_are_one_of_every_few_decisions(void **state)
{
    fixture *f = *state;
    const uint64_t seeds[] = {100, 101, 102};
    edges_case all[CASES], few[CASES];
    uint32_t all_count = edges_cases_collect(&f->world, seeds, 3, 1, all, CASES);
    uint32_t few_count = edges_cases_collect(&f->world, seeds, 3, 5, few, CASES);

    assert_true(all_count > STEPS_MAX && all_count < CASES); /* of all three */
    assert_int_equal(few_count, (all_count + 4) / 5);
    for (uint32_t i = 0; i < few_count; i++) {
        const edges_case *same = &all[(size_t)5 * i];
        assert_int_equal(few[i].shape.stages, same->shape.stages);
        assert_memory_equal(few[i].shape.inputs, same->shape.inputs,
                            (size_t)same->shape.stages * CLO_EDGES_FEATURES * sizeof *same->shape.inputs);
    }
    edges_cases_free(all, all_count);
    edges_cases_free(few, few_count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_same_seed_and_choices_are_the_same_episode, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_teacher_finds_what_helps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(integers_choose_as_the_network_does, set_up, tear_down),
        cmocka_unit_test_setup_teardown(integers_have_room_for_negative_sums, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cases_are_one_of_every_few_decisions, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
