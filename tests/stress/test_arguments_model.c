/* test_arguments_model.c - as test_arguments.c, for models. */
#include "support.h"
#include "tiny_model.h"

#include <string.h>

#define refuses(call, ...)                                     \
    do {                                                       \
        assert_int_equal(call(__VA_ARGS__), CLO_ERR_ARGUMENT); \
        assert_non_null(strstr(clo_last_error(), #call));      \
    } while (0)
#define refuses_somehow(call, ...) assert_int_equal(call(__VA_ARGS__), CLO_ERR_ARGUMENT)

static void files(void **state)
{
    (void)state;
    clo_model *model = NULL;

    refuses(clo_model_open, NULL, "", 1, &model);
    refuses(clo_model_open, "m", NULL, 1, &model);
    refuses(clo_model_open, "m", "", 1, NULL);
    refuses(clo_model_load, NULL, &model);
    refuses(clo_model_load, "m", NULL);
    refuses(clo_model_verify, NULL);
    clo_model_destroy(NULL);
    assert_null(model);
    size_t bytes = 1;
    assert_null(clo_model_builtin(NULL, &bytes));
    assert_int_equal(bytes, 0);
    assert_null(clo_model_builtin("nope", NULL));
}

static void reading(void **state)
{
    (void)state;
    tiny_model *tiny = calloc(1, sizeof *tiny);
    clo_model_info info = {0};
    clo_model_feature feature;
    clo_model_value value;
    clo_model_layer layer;
    clo_model_op op;
    clo_model *model;
    void *data = NULL;
    size_t bytes = 9;
    int32_t scores[6];

    assert_non_null(tiny);
    tiny_model_draw(tiny, 2);
    assert_null(clo_model_data(NULL, &bytes));
    assert_null(clo_model_builtin(NULL, &bytes));
    assert_int_equal(bytes, 0);
    refuses(clo_model_build, NULL, &data, &bytes);
    refuses(clo_model_build, &tiny->desc, NULL, &bytes);
    refuses(clo_model_build, &tiny->desc, &data, NULL);
    assert_int_equal(clo_model_build(&tiny->desc, &data, &bytes), CLO_OK);
    assert_int_equal(clo_model_open("m", data, bytes, &model), CLO_OK);
    assert_non_null(clo_model_data(model, NULL));
    refuses(clo_model_inspect, NULL, &info);
    refuses(clo_model_inspect, model, NULL);
    refuses_somehow(clo_model_inspect, model, &info); /* no size */
    refuses(clo_model_feature_at, NULL, 0, &feature);
    refuses(clo_model_feature_at, model, 6, &feature);
    refuses(clo_model_value_at, model, 0, NULL);
    refuses(clo_model_value_at, model, TINY_VALUES, &value);
    refuses(clo_model_layer_at, model, UINT32_MAX, &layer);
    refuses(clo_model_op_at, model, 999, &op);
    refuses(clo_model_scores, NULL, &tiny->cases[0], scores, NULL);
    refuses(clo_model_scores, model, NULL, scores, NULL);
    refuses(clo_model_scores, model, &tiny->cases[0], NULL, NULL);
    tiny->inputs[0][0] = 121;
    refuses(clo_model_scores, model, &tiny->cases[0], scores, NULL);
    for (int missing = 0; missing < 4; missing++) {
        clo_model_case input = tiny->cases[1];
        const void **const arrays[] = {(void *)&input.inputs, (void *)&input.child_begin, (void *)&input.job_of_stage,
                                       (void *)&input.job_of_limit};
        *arrays[missing] = NULL;
        fails(CLO_ERR_ARGUMENT, "an array of the input", clo_model_scores(model, &input, scores, NULL));
    }
    clo_model_destroy(model);
    free(data);
    free(tiny);
}

static void added_edges(void **state)
{
    (void)state;
    clo_edges_config config = CLO_EDGES_CONFIG_INIT;
    clo_plan *plan = NULL;
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;

    assert_int_equal(clo_graph_create("g", &graph), CLO_OK);
    assert_int_equal(clo_graph_add_task(graph, &(clo_task){.work_ns = 1}, NULL), CLO_OK);
    assert_int_equal(clo_graph_seal(graph), CLO_OK);
    assert_int_equal(clo_platform_open("uniform:2", &platform), CLO_OK);
    assert_int_equal(clo_cost_create(graph, platform, &cost), CLO_OK);
    refuses(clo_edges_plan, NULL, NULL, &plan);
    refuses(clo_edges_plan, cost, NULL, NULL);
    config.guide = (clo_edges_guide)7;
    fails(CLO_ERR_ARGUMENT, "clo_edges_config.guide is 7", clo_edges_plan(cost, &config, &plan));
    config.size = 0;
    refuses_somehow(clo_edges_plan, cost, &config, &plan);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
}

/* Each array that is missing, and numbers that name nothing. */
static void descriptions(void **state)
{
    (void)state;
    tiny_model *tiny = calloc(1, sizeof *tiny);
    void *data = NULL;
    size_t bytes;

    assert_non_null(tiny);
#define BROKEN(change)                                                \
    do {                                                              \
        tiny_model_draw(tiny, 2);                                     \
        change;                                                       \
        refuses_somehow(clo_model_build, &tiny->desc, &data, &bytes); \
    } while (0)
    BROKEN(tiny->desc.size = 0);
    BROKEN(tiny->desc.name = NULL);
    BROKEN(tiny->desc.name = "a name that is a good deal longer than it may be");
    BROKEN(tiny->desc.features = NULL);
    BROKEN(tiny->desc.values = NULL);
    BROKEN(tiny->desc.layers = NULL);
    BROKEN(tiny->desc.tables = NULL);
    BROKEN(tiny->desc.ops = NULL);
    BROKEN(tiny->desc.cases = NULL);
    BROKEN(tiny->features[0].name = NULL);
    BROKEN(tiny->values[0].width = 1000);
    BROKEN(tiny->values[0].domain = (clo_model_domain)4);
    BROKEN(tiny->layers[0].weights = NULL);
    BROKEN(tiny->layers[0].m = NULL);
    BROKEN(tiny->tables[0].points = NULL);
    BROKEN(tiny->cases[0].children = NULL);
#undef BROKEN
    assert_null(data);
    free(tiny);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(files), cmocka_unit_test(added_edges),
                                       cmocka_unit_test(reading), cmocka_unit_test(descriptions)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
