/* The graph families: their sizes and shapes as the literature gives them, weights, kinds, and every refusal. */
#include "support.h"

#include "base/numbers/rng.h"
#include "fault.h"
#include "graph/graph.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static clo_graph *make(const char *family, clo_generate_config config)
{
    clo_graph *graph = NULL;

    config.size = sizeof config;
    ok(clo_graph_generate(family, &config, &graph));
    assert_true(graph->sealed);
    assert_string_equal(clo_graph_name(graph), family);
    return graph;
}

static void has_size(const char *family, uint32_t wanted, uint32_t width, uint32_t tasks, uint32_t edges)
{
    clo_graph *graph = make(family, (clo_generate_config){.tasks = wanted, .width = width});

    if (clo_graph_tasks(graph) != tasks || clo_graph_edges(graph) != edges)
        fail_msg("%s %u: %u tasks and %u edges, not %u and %u", family, wanted, clo_graph_tasks(graph),
                 clo_graph_edges(graph), tasks, edges);
    clo_graph_destroy(graph);
}

static void families_round_to_the_nearest_size_they_have(void **state)
{
    (void)state;
    has_size("chain", 1, 0, 1, 0);
    has_size("chain", 17, 0, 17, 16);
    has_size("independent", 9, 0, 9, 0);
    has_size("intree", 12, 3, 12, 11);
    has_size("outtree", 1, 0, 1, 0);
    has_size("outtree", 31, 2, 31, 30);
    has_size("forkjoin", 1, 3, 5, 6); /* 1 + s * 4 */
    has_size("forkjoin", 7, 3, 5, 6); /* between 5 and 9: the smaller */
    has_size("forkjoin", 8, 3, 9, 12);
    has_size("forkjoin", 13, 4, 11, 16); /* 1 + s * 5: 11 or 16 */
    has_size("forkjoin", 14, 4, 16, 24);
    has_size("wavefront", 1, 0, 1, 0);
    has_size("wavefront", 100, 0, 100, 180);
    has_size("wavefront", 12, 0, 9, 12);
    has_size("wavefront", 13, 0, 16, 24);
    has_size("cholesky", 1, 0, 1, 0);
    has_size("cholesky", 4, 0, 4, 3);
    has_size("cholesky", 7, 0, 4, 3); /* 4 or 10: the smaller */
    has_size("cholesky", 10, 0, 10, 12);
    has_size("cholesky", 20, 0, 20, 30);
    has_size("fft", 1, 0, 5, 6); /* Topcuoglu 2002: 5, 15, 39, 95, 223 tasks */
    has_size("fft", 15, 0, 15, 22);
    has_size("fft", 39, 0, 39, 62);
    has_size("fft", 100, 0, 95, 158);
    has_size("fft", 223, 0, 223, 382);
    has_size("gauss", 2, 0, 2, 1);
    has_size("gauss", 14, 0, 14, 19);    /* Topcuoglu 2002, figure 8: m = 5 */
    has_size("gauss", 209, 0, 209, 379); /* m = 20 */
    has_size("montage", 19, 0, 19, 35);  /* 4 images on a grid of 2 x 2: 5 overlaps */
    has_size("layered", 77, 5, 77, 167); /* the edges are drawn: a change of generator shows here */
}

static const char *name_of(const clo_graph *graph, uint32_t task)
{
    char scratch[16];
    return clo_graph_task_name(graph, task, scratch);
}

static void names_say_what_a_task_is(void **state)
{
    (void)state;
    clo_graph *graph = make("cholesky", (clo_generate_config){.tasks = 10});

    assert_string_equal(name_of(graph, 0), "potrf(0)");
    assert_string_equal(name_of(graph, 5), "gemm(2,1,0)");
    assert_string_equal(name_of(graph, 9), "potrf(2)");
    clo_graph_destroy(graph);
    graph = make("montage", (clo_generate_config){.tasks = 19});
    assert_string_equal(name_of(graph, 18), "mJPEG");
    clo_graph_destroy(graph);
}

/* Longest path in edges: chain n - 1, Cholesky 3 (n - 1), FFT 2 log m, Gauss 2 (m - 1) - 1, wavefront 2 (n - 1). */
static void families_have_the_depth_of_their_algorithm(void **state)
{
    (void)state;
    static const struct {
        const char *family;
        uint32_t tasks, width, depth;
    } rows[] = {{"chain", 9, 0, 8},      {"cholesky", 20, 0, 9}, {"fft", 15, 0, 4},     {"gauss", 14, 0, 7},
                {"wavefront", 25, 0, 8}, {"montage", 19, 0, 8},  {"forkjoin", 9, 3, 4}, {"independent", 9, 0, 0},
                {"intree", 31, 2, 4},    {"outtree", 13, 3, 2}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        clo_graph *graph = make(rows[i].family, (clo_generate_config){.tasks = rows[i].tasks, .width = rows[i].width});
        uint32_t levels[64], deepest = 0;
        clo_graph_levels(graph, levels);
        for (uint32_t t = 0; t < clo_graph_tasks(graph); t++)
            deepest = levels[t] > deepest ? levels[t] : deepest;
        if (deepest != rows[i].depth)
            fail_msg("%s: depth %u, not %u", rows[i].family, deepest, rows[i].depth);
        clo_graph_destroy(graph);
    }
}

static void every_task_of_a_layer_depends_on_the_layer_before(void **state)
{
    (void)state;
    clo_graph *graph = make("layered", (clo_generate_config){.tasks = 500, .seed = 3});
    uint32_t levels[500];

    clo_graph_levels(graph, levels);
    for (uint32_t t = 0; t < 500; t++) {
        unsigned layer, index;
        assert_int_equal(sscanf(name_of(graph, t), "layer(%u,%u)", &layer, &index), 2);
        assert_int_equal(levels[t], layer);
    }
    clo_graph_destroy(graph);
}

static void kernels_of_cholesky_cost_their_flops(void **state)
{
    (void)state;
    clo_graph *graph = make("cholesky", (clo_generate_config){.tasks = 20, .work_mean_ns = 1000});
    int64_t sum = 0, work[4] = {0}; /* potrf, trsm, syrk, gemm */

    for (uint32_t t = 0; t < 20; t++) {
        clo_task task;
        ok(clo_graph_task(graph, t, &task));
        work[task.name[0] == 'p' ? 0 : task.name[0] == 't' ? 1 : task.name[0] == 's' ? 2 : 3] = task.work_ns;
        assert_ptr_equal(task.body, clo_body_spin);
        assert_int_equal(task.duplicable, 0);
        assert_int_equal(task.output_bytes, 0);
        sum += task.work_ns;
    }
    assert_in_range(sum, 20000 - 20, 20000 + 20); /* rounding */
    assert_in_range(work[1], 3 * work[0] - 2, 3 * work[0] + 2);
    assert_int_equal(work[2], work[1]);
    assert_in_range(work[3], 6 * work[0] - 3, 6 * work[0] + 3);
    clo_graph_destroy(graph);
}

static double mean_bytes(const clo_graph *graph)
{
    double sum = 0;

    for (uint32_t e = 0; e < clo_graph_edges(graph); e++) {
        clo_edge edge;
        ok(clo_graph_edge(graph, e, &edge));
        sum += (double)edge.bytes;
    }
    return sum / clo_graph_edges(graph);
}

static void ccr_is_mean_bytes_over_mean_work(void **state)
{
    (void)state;
    static const char *const families[] = {"gauss", "montage", "layered"};

    for (int f = 0; f < 3; f++) {
        clo_graph *graph = make(families[f], (clo_generate_config){.tasks = 200, .work_mean_ns = 10000, .ccr = 2.5});
        double mean = mean_bytes(graph);
        if (fabs(mean - 25000) > 1)
            fail_msg("%s: mean bytes %f", families[f], mean);
        clo_graph_destroy(graph);
    }
    clo_graph *graph = make("layered", (clo_generate_config){.tasks = 200});
    assert_true(mean_bytes(graph) == 0); /* ccr 0 */
    clo_graph_destroy(graph);
}

static void work_spreads_and_kinds_differ_within_their_limits(void **state)
{
    (void)state;
    clo_graph *graph =
        make("independent",
             (clo_generate_config){
                 .tasks = 2000, .work_mean_ns = 100000, .work_spread = 0.5, .beta = 1, .kinds = 3, .duplicable = 1});
    double sum = 0;
    bool low = false, high = false;

    assert_int_equal(clo_graph_kinds(graph), 3);
    assert_string_equal(clo_graph_kind_name(graph, 2), "k2");
    for (uint32_t t = 0; t < 2000; t++) {
        clo_task task;
        ok(clo_graph_task(graph, t, &task));
        assert_in_range(task.work_ns, 50000, 150000);
        assert_int_equal(task.duplicable, 1);
        sum += (double)task.work_ns;
        for (uint32_t k = 0; k < 3; k++) {
            int64_t time_ns;
            assert_true(clo_graph_time(graph, t, k, &time_ns));
            assert_in_range(time_ns, task.work_ns / 2 - 1, task.work_ns * 3 / 2 + 1);
            low |= time_ns < task.work_ns * 6 / 10;
            high |= time_ns > task.work_ns * 14 / 10;
        }
    }
    assert_true(fabs(sum / 2000 - 100000) < 3000);
    assert_true(low && high);
    clo_graph_destroy(graph);
}

static void outputs_are_as_large_as_the_widest_edge(void **state)
{
    (void)state;
    clo_graph *graph = make(
        "layered", (clo_generate_config){.tasks = 60, .ccr = 1, .work_mean_ns = 500, .work_spread = 1, .outputs = 1});
    uint64_t widest[60] = {0};

    for (uint32_t e = 0; e < clo_graph_edges(graph); e++) {
        clo_edge edge;
        ok(clo_graph_edge(graph, e, &edge));
        widest[edge.from] = edge.bytes > widest[edge.from] ? edge.bytes : widest[edge.from];
    }
    for (uint32_t t = 0; t < 60; t++) {
        clo_task task;
        ok(clo_graph_task(graph, t, &task));
        assert_true(task.output_bytes == widest[t]);
    }
    assert_true(graph->has_outputs);
    clo_graph_destroy(graph);
}

static uint64_t fingerprint(const clo_graph *graph, bool bytes)
{
    uint64_t hash = 0;

    for (uint32_t t = 0; t < clo_graph_tasks(graph); t++)
        hash = clo_mix64(hash ^ (uint64_t)graph->rows[t].work_ns);
    for (uint32_t e = 0; e < clo_graph_edges(graph); e++) {
        clo_edge edge;
        ok(clo_graph_edge(graph, e, &edge));
        hash = clo_mix64(hash ^ edge.from);
        hash = clo_mix64(hash ^ edge.to);
        hash = clo_mix64(hash ^ (bytes ? edge.bytes : 0));
    }
    return hash;
}

static void same_config_same_graph_and_the_seed_matters(void **state)
{
    (void)state;
    clo_generate_config config = {.tasks = 120, .work_spread = 0.3, .ccr = 1, .seed = 5};
    clo_graph *one = make("layered", config), *two = make("layered", config);

    config.ccr = 4;
    clo_graph *wider = make("layered", config);
    config.seed = 6;
    clo_graph *other = make("layered", config);
    assert_true(fingerprint(one, true) == fingerprint(two, true));
    assert_true(fingerprint(one, true) != fingerprint(wider, true));
    assert_true(fingerprint(one, false) == fingerprint(wider, false)); /* another ccr changes bytes only */
    assert_true(fingerprint(wider, false) != fingerprint(other, false));
    assert_true(fingerprint(one, true) == 0xf29a5edefdc2cba3u); /* the same on every machine */
    clo_graph_destroy(one);
    clo_graph_destroy(two);
    clo_graph_destroy(wider);
    clo_graph_destroy(other);
}

static void defaults_are_a_hundred_tasks_of_100_us(void **state)
{
    (void)state;
    clo_graph *graph = NULL;
    clo_task task;

    ok(clo_graph_generate("chain", NULL, &graph));
    assert_int_equal(clo_graph_tasks(graph), 100);
    ok(clo_graph_task(graph, 99, &task));
    assert_int_equal(task.work_ns, 100000);
    clo_graph_destroy(graph);
}

static void refuses(clo_status want, const char *text, const char *family, clo_generate_config config)
{
    clo_graph *graph = (clo_graph *)&graph;

    config.size = config.size > 0 ? config.size : sizeof config;
    fails(want, text, clo_graph_generate(family, &config, &graph));
    assert_ptr_equal(graph, &graph); /* untouched */
}

static void numbers_out_of_range_are_refused(void **state)
{
    (void)state;
    refuses(CLO_ERR_ARGUMENT, "unknown graph family \"star\"; use one of chain, forkjoin", "star",
            (clo_generate_config){0});
    refuses(CLO_ERR_ARGUMENT, "clo_graph_generate: family or out is NULL", NULL, (clo_generate_config){0});
    refuses(CLO_ERR_ARGUMENT, "clo_generate_config.size is 3", "chain", (clo_generate_config){.size = 3});
    refuses(CLO_ERR_ARGUMENT, "work_mean_ns", "chain", (clo_generate_config){.work_mean_ns = -1});
    refuses(CLO_ERR_ARGUMENT, "ccr", "chain", (clo_generate_config){.ccr = -0.1});
    refuses(CLO_ERR_ARGUMENT, "ccr", "chain", (clo_generate_config){.ccr = (double)NAN});
    refuses(CLO_ERR_ARGUMENT, "ccr", "chain", (clo_generate_config){.ccr = (double)INFINITY});
    refuses(CLO_ERR_ARGUMENT, "work_spread", "chain", (clo_generate_config){.work_spread = 1.01});
    refuses(CLO_ERR_ARGUMENT, "work_spread", "chain", (clo_generate_config){.work_spread = (double)NAN});
    refuses(CLO_ERR_ARGUMENT, "beta", "chain", (clo_generate_config){.beta = 2});
    refuses(CLO_ERR_ARGUMENT, "kinds", "chain", (clo_generate_config){.kinds = 33});
    refuses(CLO_ERR_ARGUMENT, "duplicable is 2", "chain", (clo_generate_config){.duplicable = 2});
    refuses(CLO_ERR_ARGUMENT, "outputs is 2", "chain", (clo_generate_config){.outputs = 2});
    refuses(CLO_ERR_LIMIT, "tasks", "chain", (clo_generate_config){.tasks = UINT32_MAX});
    refuses(CLO_ERR_LIMIT, "width", "forkjoin", (clo_generate_config){.width = UINT32_MAX});
    refuses(CLO_ERR_LIMIT, "work_mean_ns", "chain", (clo_generate_config){.work_mean_ns = INT64_MAX});
    refuses(CLO_ERR_LIMIT, "total work", "chain", (clo_generate_config){.tasks = 100, .work_mean_ns = 1ll << 58});
    refuses(CLO_ERR_LIMIT, "ccr", "chain", (clo_generate_config){.ccr = 1e6, .work_mean_ns = 1ll << 48});
}

static void a_newer_config_is_refused_only_where_it_asks_for_more(void **state)
{
    (void)state;
    struct {
        clo_generate_config known;
        uint64_t unknown;
    } newer = {.known = {.size = sizeof newer, .tasks = 4}};
    clo_graph *graph = NULL;

    ok(clo_graph_generate("chain", &newer.known, &graph));
    assert_int_equal(clo_graph_tasks(graph), 4);
    clo_graph_destroy(graph);
    newer.unknown = 1;
    fails(CLO_ERR_ARGUMENT, "does not know", clo_graph_generate("chain", &newer.known, &graph));
}

/* Branches stay what branches may be, whatever the config asks of all tasks. */
static void switches_have_branches_with_unlikely_long_arms(void **state)
{
    (void)state;
    clo_graph *graph =
        make("switches", (clo_generate_config){.tasks = 60, .width = 3, .duplicable = 1, .instances_min = 2});
    uint32_t branches = 0;

    assert_int_equal(clo_graph_tasks(graph), 60);
    for (uint32_t t = 0; t < 60; t++) {
        clo_task task, usual, seldom;
        ok(clo_graph_task(graph, t, &task));
        if (clo_graph_arms(graph, t) == 0)
            continue;
        branches++;
        assert_int_equal(clo_graph_arms(graph, t), 3);
        assert_true(clo_graph_chance(graph, t, 2) <= CLO_CHANCES_ONE / 8);
        assert_true(task.instances == 1 && task.duplicable == 0);
        ok(clo_graph_task(graph, t + 1, &usual));
        ok(clo_graph_task(graph, t + 3, &seldom));
        assert_true(seldom.work_ns >= 4 * usual.work_ns - 4 && usual.instances == 2);
        assert_true(clo_graph_is_merge(graph, t + 4));
    }
    assert_int_equal(branches, 12);
    clo_graph_destroy(graph);
}

static void families_are_listed_with_a_summary(void **state)
{
    (void)state;
    clo_entry entry = CLO_ENTRY_INIT;
    uint32_t count = 0;

    for (; clo_registry_entry("families", count, &entry); count++)
        assert_true(strlen(entry.summary) > 10);
    assert_int_equal(count, 12);
    assert_string_equal(entry.name, "switches");
}

static clo_status generate_and_drop(void *family)
{
    clo_generate_config config = CLO_GENERATE_CONFIG_INIT;
    clo_graph *graph = NULL;

    config.tasks = 30;
    config.kinds = 2;
    config.outputs = 1;
    config.ccr = 1;
    clo_status status = clo_graph_generate(family, &config, &graph);
    if (status == CLO_OK)
        clo_graph_destroy(graph);
    return status;
}

static void every_failed_allocation_is_reported_and_leaks_nothing(void **state)
{
    (void)state;
    for (uint32_t f = 0; name_at("families", f) != NULL; f++) {
        char name[32];
        snprintf(name, sizeof name, "%s", name_at("families", f));
        assert_true(fault_each(generate_and_drop, name) >= 8);
    }
}

/* Of each resource 1 to CLO_GENERATE_WHOLE, over all of that range; instances over all of theirs. */
static void demands_and_instances_are_drawn_beside_the_rest(void **state)
{
    (void)state;
    clo_generate_config config = {.tasks = 400, .ccr = 1, .work_spread = 0.5, .kinds = 2, .beta = 1};
    clo_graph *plain = make("layered", config);
    config.demands = 3;
    config.instances_min = 2;
    config.instances_max = 9;
    clo_graph *full = make("layered", config);
    int64_t least = INT64_MAX, most = 0, sum = 0;
    uint64_t seen = 0;

    assert_int_equal(clo_graph_edges(plain), clo_graph_edges(full));
    for (uint32_t t = 0; t < clo_graph_tasks(full); t++) {
        clo_task one = CLO_TASK_INIT, other = CLO_TASK_INIT;
        ok(clo_graph_task(plain, t, &one));
        ok(clo_graph_task(full, t, &other));
        assert_int_equal(one.work_ns, other.work_ns);
        assert_true(other.instances >= 2 && other.instances <= 9);
        seen |= 1ull << other.instances;
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
            assert_int_equal(one.demand[r], 0);
            if (r >= 3) {
                assert_int_equal(other.demand[r], 0);
                continue;
            }
            least = other.demand[r] < least ? other.demand[r] : least;
            most = other.demand[r] > most ? other.demand[r] : most;
            sum += other.demand[r];
        }
    }
    assert_true(seen == 0x3fc);
    assert_true(least >= 1 && least < 20 && most <= CLO_GENERATE_WHOLE && most > CLO_GENERATE_WHOLE - 20);
    assert_true(sum / (3 * 400) > 450 && sum / (3 * 400) < 550);
    assert_string_equal(clo_graph_resource_name(full, 2), "r2");
    clo_graph_destroy(plain);
    clo_graph_destroy(full);
}

static void demands_and_instances_out_of_range_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint32_t demands, least, most, tasks;
        clo_status status;
    } rows[] = {{CLO_RESOURCES_MAX + 1, 0, 0, 0, CLO_ERR_ARGUMENT},
                {0, 3, 2, 0, CLO_ERR_ARGUMENT},
                {0, 0, 1000001, 0, CLO_ERR_LIMIT},
                {0, 1000001, 0, 0, CLO_ERR_LIMIT},
                {0, 1, 1000000, 5000, CLO_ERR_LIMIT}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        clo_generate_config config = CLO_GENERATE_CONFIG_INIT;
        clo_graph *graph = NULL;
        config.demands = rows[i].demands;
        config.instances_min = rows[i].least;
        config.instances_max = rows[i].most;
        config.tasks = rows[i].tasks;
        assert_int_equal(clo_graph_generate("chain", &config, &graph), rows[i].status);
        assert_null(graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(demands_and_instances_are_drawn_beside_the_rest),
        cmocka_unit_test(demands_and_instances_out_of_range_are_refused),
        cmocka_unit_test(families_round_to_the_nearest_size_they_have),
        cmocka_unit_test(names_say_what_a_task_is),
        cmocka_unit_test(families_have_the_depth_of_their_algorithm),
        cmocka_unit_test(every_task_of_a_layer_depends_on_the_layer_before),
        cmocka_unit_test(kernels_of_cholesky_cost_their_flops),
        cmocka_unit_test(ccr_is_mean_bytes_over_mean_work),
        cmocka_unit_test(work_spreads_and_kinds_differ_within_their_limits),
        cmocka_unit_test(outputs_are_as_large_as_the_widest_edge),
        cmocka_unit_test(same_config_same_graph_and_the_seed_matters),
        cmocka_unit_test(defaults_are_a_hundred_tasks_of_100_us),
        cmocka_unit_test(numbers_out_of_range_are_refused),
        cmocka_unit_test(a_newer_config_is_refused_only_where_it_asks_for_more),
        cmocka_unit_test(switches_have_branches_with_unlikely_long_arms),
        cmocka_unit_test(families_are_listed_with_a_summary),
        cmocka_unit_test(every_failed_allocation_is_reported_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
