/* test_lachesis_network.c - the network of LACHESIS: its size, its bounds, and the model file that is made of it. */
#include "support.h"
#include "train/models/lachesis.h"
#include "train/models/quantize.h"
#include "train/numbers/parameters.h"

#include <math.h>
#include <string.h>

enum { CASES = 40, STAGES = 60, PARAMETERS = 8192, FEATURES = 14, EXPONENT = 12 };

typedef struct drawn {
    clo_model_case shape;
    uint32_t job_of_stage[STAGES], child_begin[STAGES + 1], children[STAGES * STAGES / 2];
    int16_t inputs[STAGES * 7 + STAGES * 5 + 2];
} drawn;

typedef struct fixture {
    lachesis_shape shape;
    network net;
    double parameters[PARAMETERS];
    clo_model_feature features[FEATURES];
    drawn drawn[CASES];
    clo_model_case cases[CASES];
} fixture;

static void draw_case(const lachesis_shape *shape, drawn *to, uint64_t seed)
{
    draws d = {seed};
    uint32_t jobs = 1 + (uint32_t)(draws_next(&d) % 4), stages = 0, edges = 0;

    for (uint32_t j = 0; j < jobs; j++) {
        uint32_t first = stages, count = 4 + (uint32_t)(draws_next(&d) % 10);
        for (uint32_t i = 0; i < count; i++, stages++) {
            to->job_of_stage[stages] = j;
            to->child_begin[stages] = edges;
            for (uint32_t child = stages + 1; child < first + count; child++)
                if (draws_next(&d) % 4 == 0)
                    to->children[edges++] = child;
        }
    }
    to->child_begin[stages] = edges;
    uint32_t numbers = stages * shape->stage_inputs + jobs * shape->job_inputs + shape->system_inputs;
    for (uint32_t i = 0; i < numbers; i++)
        to->inputs[i] = (int16_t)(draws_next(&d) % (2u << EXPONENT));
    to->shape = (clo_model_case){stages, jobs, 0, to->job_of_stage, to->child_begin, to->children, NULL, to->inputs};
}

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    f->shape = (lachesis_shape)LACHESIS_SHAPE_INIT;
    assert_true(lachesis_parameters(&f->shape) < PARAMETERS);
    assert_true(lachesis_network(&f->shape, f->parameters, &f->net, NULL));
    parameters_init(&f->net, f->parameters, 5);
    for (uint32_t i = 0; i < FEATURES; i++)
        f->features[i] = (clo_model_feature){"feature", 1, 0, INT16_MIN, INT16_MAX};
    for (uint32_t i = 0; i < CASES; i++) {
        draw_case(&f->shape, &f->drawn[i], i + 1);
        f->cases[i] = f->drawn[i].shape;
    }
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    free(*state);
    return 0;
}

/* 3857 are those of the paper's network with ten features of stages; h has nine features more here. */
static void the_default_has_as_many_numbers_as_the_paper_says(void **state)
{
    lachesis_shape shape = LACHESIS_SHAPE_INIT;

    (void)state;
    shape.stage_inputs = 10;
    shape.job_inputs = shape.system_inputs = 0;
    assert_int_equal(lachesis_parameters(&shape), 3857 + 9 * 16);
    shape.has_critic = true;
    assert_int_equal(lachesis_parameters(&shape), 3857 + 9 * 16 + 17 * 32 + 33 * 16 + 17);
}

/* Each parameter belongs to a layer, and no two layers to one, but for slices of the head's first matrix. */
static void its_layers_fill_the_parameters(void **state)
{
    fixture *f = *state;
    static unsigned char seen[PARAMETERS];

    for (uint32_t has_critic = 0; has_critic < 2; has_critic++) {
        uint32_t critic;
        f->shape.has_critic = has_critic != 0;
        assert_true(lachesis_network(&f->shape, f->parameters, &f->net, &critic));
        assert_int_equal(critic != CLO_MODEL_NONE, has_critic);
        uint32_t count = lachesis_parameters(&f->shape);
        assert_true(network_lies_in(&f->net, f->parameters, count));
        assert_false(network_lies_in(&f->net, f->parameters, count - 1));
        memset(seen, 0, sizeof seen);
        for (uint32_t i = 0; i < f->net.layers_count; i++) {
            const network_layer *layer = &f->net.layers[i];
            for (uint32_t n = 0; n < layer->outputs && layer->bias != NULL; n++)
                seen[layer->bias + n - f->parameters]++;
            for (uint32_t n = 0; n < layer->outputs && layer->weights != NULL; n++)
                for (uint32_t k = 0; k < layer->inputs; k++)
                    seen[layer->weights + (size_t)n * layer->stride + layer->column + k - f->parameters]++;
        }
        for (uint32_t i = 0; i < PARAMETERS; i++)
            assert_int_equal(seen[i], i < count);
    }
}

static void shapes_out_of_bounds_are_refused(void **state)
{
    fixture *f = *state;
    lachesis_shape s = f->shape;

    s.stage_inputs = 0;
    assert_false(lachesis_network(&s, f->parameters, &f->net, NULL));
    s = f->shape;
    s.width = CLO_MODEL_WIDTH_MAX + 1;
    assert_false(lachesis_network(&s, f->parameters, &f->net, NULL));
    s = f->shape;
    s.rounds = LACHESIS_ROUNDS_MAX + 1;
    assert_false(lachesis_network(&s, f->parameters, &f->net, NULL));
    s.rounds = LACHESIS_ROUNDS_MAX;
    s.has_critic = true;
    assert_true(lachesis_network(&s, f->parameters, &f->net, NULL));
    s.prior_times = 5;
    assert_false(lachesis_network(&s, f->parameters, &f->net, NULL));
    s.has_critic = false;
    assert_true(lachesis_network(&s, f->parameters, &f->net, NULL));
    for (s.prior_times = 2; s.prior_times < 8; s.prior_times++)
        assert_int_equal(lachesis_network(&s, f->parameters, &f->net, NULL), s.prior_times == 3 || s.prior_times == 5);
}

/* As a trained one: the model that comes out opens, agrees with its golden vectors, and chooses as the network does. */
static void its_model_chooses_as_it_does(void **state)
{
    fixture *f = *state;
    const quantize_config config = {
        .name = "toy", .kind = CLO_MODEL_LACHESIS, .features = f->features, .features_count = FEATURES};
    const quantize_cases scales = {f->cases, CASES / 2, 4}, others = {f->cases + CASES / 2, CASES / 2, 0};
    quantize_agreement found = {0};
    const char *why;
    void *data = NULL, *again = NULL;
    size_t bytes, bytes_again;
    clo_model *model = NULL;
    clo_model_info info = CLO_MODEL_INFO_INIT;

    clo_status status = quantize_on(&f->net, &config, &scales, &data, &bytes, &why);
    if (status != CLO_OK)
        fail_msg("%s, %s", clo_last_error(), why != NULL ? why : "");
    assert_int_equal(clo_model_open("m", data, bytes, &model), CLO_OK);
    assert_int_equal(clo_model_verify(model), CLO_OK);
    assert_int_equal(clo_model_inspect(model, &info), CLO_OK);
    assert_int_equal(info.golden, 4);
    assert_true(bytes < 50000);
    assert_int_equal(quantize_compare(&f->net, model, &others, &found), CLO_OK);
    assert_true(found.choices >= 40);
    if (found.same * 100 < found.choices * 95)
        fail_msg("%u of %u choices", (unsigned)found.same, (unsigned)found.choices);
    clo_model_destroy(model);

    assert_true(lachesis_network(&f->shape, f->parameters, &f->net, NULL));
    assert_int_equal(quantize_on(&f->net, &config, &scales, &again, &bytes_again, &why), CLO_OK);
    assert_int_equal(bytes, bytes_again);
    assert_memory_equal(data, again, bytes);
    free(data);
    free(again);
}

/* A critic is for training: built without it, the network scores the same with the same parameters. */
static void a_critic_does_not_change_the_scores(void **state)
{
    fixture *f = *state;
    network *with = calloc(1, sizeof *with);
    uint32_t critic;
    double inputs[STAGES * 14], *scores[2];

    assert_non_null(with);
    f->shape.has_critic = true;
    assert_true(lachesis_network(&f->shape, f->parameters, with, &critic));
    parameters_init(with, f->parameters, 8);
    for (int i = 0; i < STAGES * 14; i++)
        inputs[i] = sin(i);
    for (int i = 0; i < 2; i++) {
        scores[i] = calloc(STAGES, sizeof **scores);
        assert_non_null(scores[i]);
        assert_true(network_run(i == 0 ? &f->net : with, &(network_case){&f->cases[0], inputs}, scores[i], NULL));
    }
    assert_memory_equal(scores[0], scores[1], STAGES * sizeof **scores);
    free(scores[0]);
    free(scores[1]);
    free(with);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_default_has_as_many_numbers_as_the_paper_says),
        TEST(its_layers_fill_the_parameters),
        TEST(shapes_out_of_bounds_are_refused),
        TEST(its_model_chooses_as_it_does),
        TEST(a_critic_does_not_change_the_scores),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
