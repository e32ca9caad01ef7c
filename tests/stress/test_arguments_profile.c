/* test_arguments_profile.c - as test_arguments.c, for codelets, measured times and predictions. */
#include "support.h"

#include <clotho/body.h>
#include <clotho/profile.h>
#include <clotho/sim.h>

#include <string.h>

enum { NAME_BYTES = 300 };

typedef struct scene {
    clo_platform *platform;
    clo_graph *graph;
    clo_cost *cost;
    clo_plan *plan;
    clo_profile *profile;
    char long_name[NAME_BYTES];
} scene;

static scene open_scene(void)
{
    scene s;

    memset(s.long_name, 'n', NAME_BYTES - 1);
    s.long_name[NAME_BYTES - 1] = '\0';
    ok(clo_platform_open("uniform:2", &s.platform));
    ok(clo_graph_create("one", &s.graph));
    ok(clo_graph_add_task(s.graph, &(clo_task){.work_ns = 5}, NULL));
    ok(clo_graph_seal(s.graph));
    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    ok(clo_plan_create(s.cost, NULL, &s.plan));
    ok(clo_profile_create(0, &s.profile));
    return s;
}

static void close_scene(scene *s)
{
    clo_profile_destroy(s->profile);
    clo_plan_destroy(s->plan);
    clo_cost_destroy(s->cost);
    clo_graph_destroy(s->graph);
    clo_platform_destroy(s->platform);
}

static void codelets(void **state)
{
    scene s = open_scene();
    clo_codelet codelet = {"kept", 0, 0};
    char *const empty[] = {s.long_name + NAME_BYTES - 1, NULL}, *const none[] = {NULL},
                *const long_one[] = {s.long_name, NULL};

    (void)state;
    fails(CLO_ERR_ARGUMENT, "NULL", clo_graph_set_codelet(NULL, 0, &codelet));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_graph_set_codelet(s.graph, 0, NULL));
    fails(CLO_ERR_STATE, "sealed", clo_graph_set_codelet(s.graph, 0, &codelet));
    assert_false(clo_graph_codelet(NULL, 0, &codelet));
    assert_false(clo_graph_codelet(s.graph, 0, NULL));
    assert_false(clo_graph_codelet(s.graph, 1, &codelet));
    assert_false(clo_body_command_codelet(NULL, &codelet));
    assert_false(clo_body_command_codelet(&(clo_command){.argv = NULL}, &codelet));
    assert_false(clo_body_command_codelet(&(clo_command){.argv = none}, &codelet));
    assert_false(clo_body_command_codelet(&(clo_command){.argv = empty}, &codelet));
    assert_false(clo_body_command_codelet(&(clo_command){.argv = long_one}, &codelet));
    assert_false(clo_body_command_codelet(&(clo_command){.argv = long_one}, NULL));
    assert_string_equal(codelet.name, "kept");
    close_scene(&s);
}

static void samples_and_entries(void **state)
{
    scene s = open_scene();
    const clo_codelet good = {"c", 0, 0}, no_name = {NULL, 0, 0}, long_one = {s.long_name, 0, 0};
    clo_profile_entry entry = {.codelet = "c", .kind = "k", .samples = 1};
    clo_profile *none = NULL;
    size_t learned = 77;

    (void)state;
    fails(CLO_ERR_ARGUMENT, "out", clo_profile_create(0, NULL));
    fails(CLO_ERR_ARGUMENT, "at most 65536", clo_profile_create(CLO_PROFILE_ENTRIES_MAX + 1, &none));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_profile_learn(NULL, &good, 0, "k", 1));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_profile_learn(s.profile, NULL, 0, "k", 1));
    fails(CLO_ERR_ARGUMENT, "1 to 255 bytes", clo_profile_learn(s.profile, &no_name, 0, "k", 1));
    fails(CLO_ERR_ARGUMENT, "1 to 255 bytes", clo_profile_learn(s.profile, &long_one, 0, "k", 1));
    fails(CLO_ERR_ARGUMENT, "1 to 255 bytes", clo_profile_learn(s.profile, &good, 0, NULL, 1));
    fails(CLO_ERR_ARGUMENT, "-1 ns", clo_profile_learn(s.profile, &good, 0, "k", -1));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_profile_add(NULL, &entry));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_profile_add(s.profile, NULL));
    entry.samples = 0;
    fails(CLO_ERR_ARGUMENT, "needs samples", clo_profile_add(s.profile, &entry));
    entry = (clo_profile_entry){.codelet = "c", .kind = "k", .samples = 1, .location_ns = INT64_MAX};
    fails(CLO_ERR_ARGUMENT, "2^52", clo_profile_add(s.profile, &entry));
    entry = (clo_profile_entry){.codelet = "c", .kind = "k", .samples = 1, .spread_ns = -1};
    fails(CLO_ERR_ARGUMENT, "2^52", clo_profile_add(s.profile, &entry));
    entry = (clo_profile_entry){.codelet = "c", .kind = "", .samples = 1};
    fails(CLO_ERR_ARGUMENT, "1 to 255 bytes", clo_profile_add(s.profile, &entry));
    const clo_run_spread spread = {.runs = 1, .location_q16 = -1}, none_yet = {.location_q16 = 65536};
    fails(CLO_ERR_ARGUMENT, "NULL", clo_profile_add_run_spread(NULL, &spread));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_profile_add_run_spread(s.profile, NULL));
    fails(CLO_ERR_ARGUMENT, "2^52", clo_profile_add_run_spread(s.profile, &spread));
    fails(CLO_ERR_ARGUMENT, "needs samples", clo_profile_add_run_spread(s.profile, &none_yet));
    assert_int_equal(clo_profile_run_spread(NULL).runs, 0);
    assert_int_equal(clo_profile_run_spread(s.profile).runs, 0);
    fails(CLO_ERR_ARGUMENT, "NULL", clo_profile_learn_trace(NULL, s.cost, NULL, &learned));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_profile_learn_trace(s.profile, s.cost, NULL, &learned));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_profile_learn_records(s.profile, NULL, 0, NULL, 0, &learned));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_profile_learn_records(s.profile, s.cost, 0, NULL, 1, &learned));
    assert_int_equal(learned, 77);
    ok(clo_profile_publish(s.profile));
    assert_int_equal(clo_profile_entries(s.profile), 0);
    clo_profile_destroy(NULL);
    close_scene(&s);
}

/* Times of a simulation are not learned. */
static void emulated_times(void **state)
{
    scene s = open_scene();
    clo_trace *trace;
    size_t learned = 77;

    (void)state;
    ok(clo_simulate(s.cost, NULL, NULL, &trace, NULL));
    fails(CLO_ERR_STATE, "emulated", clo_profile_learn_trace(s.profile, s.cost, trace, &learned));
    assert_int_equal(learned, 77);
    clo_trace_destroy(trace);
    close_scene(&s);
}

static void snapshots_and_files(void **state)
{
    scene s = open_scene();
    clo_profile_entry entry;

    (void)state;
    fails(CLO_ERR_ARGUMENT, "NULL", clo_profile_publish(NULL));
    assert_int_equal(clo_profile_entries(NULL), 0);
    assert_int_equal(clo_profile_snapshot(NULL), 0);
    assert_int_equal(clo_profile_evicted(NULL), 0);
    fails(CLO_ERR_ARGUMENT, "NULL", clo_profile_entry_at(NULL, 0, &entry));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_profile_entry_at(s.profile, 0, NULL));
    fails(CLO_ERR_ARGUMENT, "does not exist", clo_profile_entry_at(s.profile, 0, &entry));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_profile_load(NULL, "x", 0));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_profile_load(s.profile, NULL, 0));
    fails(CLO_ERR_ARGUMENT, "flags", clo_profile_load(s.profile, "x", 2));
    fails(CLO_ERR_IO, "no/such", clo_profile_load(s.profile, "/no/such/file", 0));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_profile_save(NULL, "x"));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_profile_save(s.profile, NULL));
    fails(CLO_ERR_IO, "no/such", clo_profile_save(s.profile, "/no/such/file"));
    close_scene(&s);
}

static void costs(void **state)
{
    scene s = open_scene();
    clo_measured measured = CLO_MEASURED_INIT;
    clo_graph *unsealed;
    clo_cost *cost = NULL;

    (void)state;
    fails(CLO_ERR_ARGUMENT, "NULL", clo_cost_create_measured(NULL, s.platform, s.profile, NULL, &cost));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_cost_create_measured(s.graph, NULL, s.profile, NULL, &cost));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_cost_create_measured(s.graph, s.platform, NULL, NULL, &cost));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_cost_create_measured(s.graph, s.platform, s.profile, NULL, NULL));
    measured.size = 3;
    fails(CLO_ERR_ARGUMENT, "clo_measured", clo_cost_create_measured(s.graph, s.platform, s.profile, &measured, &cost));
    ok(clo_graph_create("open", &unsealed));
    fails(CLO_ERR_STATE, "clo_graph_seal", clo_cost_create_measured(unsealed, s.platform, s.profile, NULL, &cost));
    assert_null(cost);
    clo_graph_destroy(unsealed);
    close_scene(&s);
}

static void predictions(void **state)
{
    scene s = open_scene();
    clo_prediction p = CLO_PREDICTION_INIT;
    clo_sim_config config = CLO_SIM_CONFIG_INIT;

    (void)state;
    fails(CLO_ERR_ARGUMENT, "NULL", clo_profile_predict(NULL, s.cost, NULL, &p));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_profile_predict(s.profile, NULL, NULL, &p));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_profile_predict(s.profile, s.cost, NULL, NULL));
    p.samples = 0;
    fails(CLO_ERR_ARGUMENT, "samples is 0", clo_profile_predict(s.profile, s.cost, NULL, &p));
    p.samples = 100001;
    fails(CLO_ERR_ARGUMENT, "100000", clo_profile_predict(s.profile, s.cost, NULL, &p));
    p.samples = 1;
    config.execute = 1;
    fails(CLO_ERR_ARGUMENT, "execute", clo_profile_predict(s.profile, s.cost, &config, &p));
    config.execute = 0;
    config.plan = s.plan;
    config.policy = clo_policy_find("fifo");
    fails(CLO_ERR_ARGUMENT, "plan", clo_profile_predict(s.profile, s.cost, &config, &p));
    p.size = 4;
    fails(CLO_ERR_ARGUMENT, "clo_prediction", clo_profile_predict(s.profile, s.cost, NULL, &p));
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(codelets),       cmocka_unit_test(samples_and_entries),
                                       cmocka_unit_test(emulated_times), cmocka_unit_test(snapshots_and_files),
                                       cmocka_unit_test(costs),          cmocka_unit_test(predictions)};

    return cmocka_run_group_tests_name("arguments_profile", tests, NULL, NULL);
}
