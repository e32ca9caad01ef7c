/* What the policies that also place choose, on streams small enough to be worked out by hand; and what they take for
 * an argument. */
#include "policy/packing/packing.h"
#include "policy_scene.h"

static void make_unlike(policy_scene *s)
{
    scene_open(s, 2);
    for (uint32_t c = 0; c < CLO_CLASSES_BUILTIN; c++)
        s->executors[1].speed_q16[c] = CLO_SPEED_ONE / 10;
}

/* A task of 50 waits for the fast executor, which is busy until 100, though one ten times slower is free. */
static void two_phases_place_what_another_policy_selects(void **state)
{
    uint32_t executor = CLO_NONE;
    policy_scene s;

    (void)state;
    make_unlike(&s);
    scene_job(&s, 0, 100, 1);
    scene_job(&s, 1, 50, 1);
    scene_run(&s, "sjf");
    assert_int_equal(scene_start(&s, 1, 0, 0, &executor), 1);
    assert_int_equal(executor, 1);
    scene_run(&s, "eft:sjf");
    assert_int_equal(scene_start(&s, 1, 0, 0, &executor), 100);
    assert_int_equal(executor, 0);
    scene_close(&s);

    scene_open(&s, 1);
    scene_job(&s, 0, 100, 1);
    scene_job(&s, 1, 60, 1);
    scene_job(&s, 2, 50, 1);
    scene_run(&s, "eft:fifo");
    assert_int_equal(s.outcomes[1].start_ns, 100);
    static const char *const shortest[] = {"eft:sjf", "deft:sjf-cp", "eft:hrrn", "deft:wfair:-2", "eft:wfair:-1"};
    for (size_t i = 0; i < sizeof shortest / sizeof shortest[0]; i++) {
        scene_run(&s, shortest[i]);
        assert_int_equal(s.outcomes[2].start_ns, 100);
    }
    scene_close(&s);
}

/* Transfers take 1000: the second child runs elsewhere, with its parent repeated there. */
static void deft_duplicates_under_any_selection(void **state)
{
    clo_task tasks[3] = {{.work_ns = 10, .duplicable = 1}, {.work_ns = 100}, {.work_ns = 100}};
    policy_scene s;

    (void)state;
    scene_open(&s, 2);
    s.executors[1].memory = 1;
    for (uint32_t i = 0; i < 4; i++)
        s.latency_ns[i] = 1000;
    s.desc.latency_ns = s.latency_ns;
    clo_graph *graph = scene_graph(&s, tasks, 3);
    ok(clo_graph_add_edge(graph, 0, 1, 8));
    ok(clo_graph_add_edge(graph, 0, 2, 8));
    scene_add(&s, graph, (clo_workload_job){0});
    scene_run(&s, "deft:rank");
    assert_int_equal(s.result.duplicates, 1);
    assert_int_equal(s.result.makespan_ns, 120); /* 10 and 10 again, then 100 */
    scene_run(&s, "eft:rank");
    assert_int_equal(s.result.duplicates, 0);
    assert_int_equal(s.result.makespan_ns, 210);
    scene_close(&s);
}

/* One machine of 10; 8 fits better than 2. A job with ten times the work must not go first for that. */
static void tetris_packs_and_weighs_the_remaining_work(void **state)
{
    clo_task all = {.work_ns = 5, .demand = {10}}, small = {.work_ns = 10, .demand = {3}}, large = {.work_ns = 10};
    policy_scene s;

    (void)state;
    large.demand[0] = 8;
    scene_open(&s, 4);
    s.capacities[0] = 10;
    scene_add(&s, scene_graph(&s, &all, 1), (clo_workload_job){0});
    scene_add(&s, scene_graph(&s, &small, 1), (clo_workload_job){.arrival_ns = 1});
    scene_add(&s, scene_graph(&s, &large, 1), (clo_workload_job){.arrival_ns = 2});
    static const char *const policies[] = {"tetris", "graphene"};
    for (int p = 0; p < 2; p++) {
        scene_run(&s, policies[p]);
        assert_int_equal(s.outcomes[2].start_ns, 5);
        assert_int_equal(s.outcomes[1].start_ns, 15);
    }
    scene_close(&s);

    scene_open(&s, 4);
    s.capacities[0] = 10;
    large.work_ns = 300;
    scene_add(&s, scene_graph(&s, &all, 1), (clo_workload_job){0});
    scene_add(&s, scene_graph(&s, &large, 1), (clo_workload_job){.arrival_ns = 1});
    scene_add(&s, scene_graph(&s, &small, 1), (clo_workload_job){.arrival_ns = 2});
    scene_run(&s, "tetris");
    assert_int_equal(s.outcomes[2].start_ns, 5);
    assert_int_equal(s.outcomes[1].start_ns, 15);
    scene_run(&s, "graphene:srpt=0"); /* the fit alone decides */
    assert_int_equal(s.outcomes[1].start_ns, 5);
    scene_run(&s, "graphene:srpt=3");
    assert_int_equal(s.outcomes[2].start_ns, 5);
    scene_close(&s);
}

/* Three tasks of 10 and a chain of 30 + 30 on two executors: 60 if the chain begins at once, 70 by age. */
static clo_graph *chain_and_crumbs(policy_scene *s)
{
    clo_task tasks[5] = {{.work_ns = 10}, {.work_ns = 10}, {.work_ns = 10}, {.work_ns = 30}, {.work_ns = 30}};
    clo_graph *graph = scene_graph(s, tasks, 5);

    ok(clo_graph_add_edge(graph, 3, 4, 0));
    return graph;
}

static void graphene_and_replan_follow_the_order_of_a_plan(void **state)
{
    static const char *const policies[] = {"graphene", "replan", "replan:1", "eft:replan", "deft:replan:20"};
    policy_scene s;

    (void)state;
    scene_open(&s, 2);
    scene_add(&s, chain_and_crumbs(&s), (clo_workload_job){0});
    scene_run(&s, "fifo");
    assert_int_equal(s.result.makespan_ns, 70);
    for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++) {
        scene_run(&s, policies[p]);
        assert_int_equal(scene_start(&s, 0, 3, 0, NULL), 0);
        assert_int_equal(s.result.makespan_ns, 60);
    }
    scene_close(&s);
}

/* The planned executor is the fast one; while another job holds it, the rule of eft decides. */
static void replan_goes_elsewhere_where_its_executor_is_taken(void **state)
{
    uint32_t executor = CLO_NONE;
    policy_scene s;

    (void)state;
    make_unlike(&s);
    scene_job(&s, 0, 1000, 1);
    scene_job(&s, 1, 20, 1);
    scene_run(&s, "replan");
    assert_int_equal(scene_start(&s, 0, 0, 0, &executor), 0);
    assert_int_equal(executor, 0);
    assert_int_equal(scene_start(&s, 1, 0, 0, &executor), 1);
    assert_int_equal(executor, 1);
    scene_close(&s);
}

/* Of two long tasks one can run at once, the other one after a short one: both begin together. */
static void graphene_star_holds_troublesome_stages_back(void **state)
{
    clo_task tasks[4] = {{.work_ns = 100}, {.work_ns = 10}, {.work_ns = 100}, {.work_ns = 20}};
    policy_scene s;

    (void)state;
    scene_open(&s, 2);
    clo_graph *graph = scene_graph(&s, tasks, 4);
    ok(clo_graph_add_edge(graph, 1, 2, 0));
    scene_add(&s, graph, (clo_workload_job){0});
    scene_run(&s, "graphene-star");
    assert_int_equal(scene_start(&s, 0, 1, 0, NULL), 0);
    assert_int_equal(scene_start(&s, 0, 3, 0, NULL), 0);
    assert_int_equal(scene_start(&s, 0, 0, 0, NULL), 10);
    assert_int_equal(scene_start(&s, 0, 2, 0, NULL), 20);
    scene_run(&s, "graphene-star:-1,0"); /* all are troublesome: none is held for another */
    assert_int_equal(scene_start(&s, 0, 0, 0, NULL), 0);
    scene_close(&s);
}

/* Machines of 8 and of 4: a demand of 3 goes to the smaller one. */
static void graphene_star_takes_the_machine_that_fits_best(void **state)
{
    clo_task task = {.work_ns = 10, .demand = {3}};
    uint32_t executor = CLO_NONE;
    policy_scene s;

    (void)state;
    scene_open(&s, 2);
    s.desc.machines_count = 2;
    s.executors[1].machine = 1;
    s.capacities[0] = 8, s.capacities[CLO_RESOURCES_MAX] = 4;
    scene_add(&s, scene_graph(&s, &task, 1), (clo_workload_job){0});
    scene_run(&s, "graphene-star");
    assert_int_equal(scene_start(&s, 0, 0, 0, &executor), 0);
    assert_int_equal(executor, 1);
    scene_run(&s, "tetris"); /* a fit is a share: the smaller machine's is larger */
    assert_int_equal(scene_start(&s, 0, 0, 0, &executor), 0);
    assert_int_equal(executor, 1);
    scene_close(&s);
}

/* Two chains of two, of which one stage fits at a time: the second stage of the first job is what that job lacks. */
static void graphene_ends_a_job_before_it_begins_another(void **state)
{
    clo_task tasks[2] = {{.work_ns = 10, .demand = {6}}, {.work_ns = 10, .demand = {6}}};
    policy_scene s;

    (void)state;
    scene_open(&s, 4);
    s.capacities[0] = 10;
    for (int j = 0; j < 2; j++) {
        clo_graph *graph = scene_graph(&s, tasks, 2);
        ok(clo_graph_add_edge(graph, 0, 1, 0));
        scene_add(&s, graph, (clo_workload_job){.arrival_ns = j});
    }
    scene_run(&s, "graphene");
    assert_int_equal(s.outcomes[0].finish_ns, 20);
    assert_int_equal(s.outcomes[1].finish_ns, 40);
    scene_run(&s, "graphene:kappa=0.1,srpt=0.2,order=1,large=0,geometric=0,path=0"); /* the paper's rule */
    assert_int_equal(s.outcomes[1].start_ns, 10);
    assert_true(s.outcomes[0].finish_ns >= 30);
    scene_close(&s);
}

/* A machine of 10 of two resources, all held until 5 and half from then on: {3, 3} fits better than {5, 0}, by less
 * than their squares differ. */
static void graphene_counts_large_instances_more(void **state)
{
    clo_task all = {.work_ns = 5, .demand = {10, 10}}, half = {.work_ns = 10, .demand = {5, 5}},
             even = {.work_ns = 10, .demand = {3, 3}}, large = {.work_ns = 10, .demand = {5}};
    policy_scene s;

    (void)state;
    scene_open(&s, 4);
    s.capacities[0] = 10, s.capacities[1] = 10;
    scene_add(&s, scene_graph(&s, &all, 1), (clo_workload_job){0});
    scene_add(&s, scene_graph(&s, &half, 1), (clo_workload_job){.arrival_ns = 1});
    scene_add(&s, scene_graph(&s, &even, 1), (clo_workload_job){.arrival_ns = 1});
    scene_add(&s, scene_graph(&s, &large, 1), (clo_workload_job){.arrival_ns = 1});
    scene_run(&s, "graphene:srpt=0");
    assert_int_equal(s.outcomes[3].start_ns, 5);
    assert_int_equal(s.outcomes[2].start_ns, 15); /* of the first resource nothing is left */
    scene_run(&s, "graphene:srpt=0,large=0");
    assert_int_equal(s.outcomes[2].start_ns, 5);
    scene_close(&s);
}

/* A resource that only the graph has is not limited. Where policies weigh resources, it has no weight to look up. */
static void a_resource_that_the_platform_lacks_counts_nothing(void **state)
{
    static const char *const policies[] = {"graphene", "graphene:scarce=1", "graphene-star", "tetris", "drf",
                                           "parametric:1,1,1,1,1,1,1,1,1,fit=1"};
    static const char *const names[CLO_RESOURCES_MAX] = {"memory"};
    clo_task both = {.work_ns = 10, .demand = {7, 4}};

    (void)state;
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        policy_scene s;
        scene_open(&s, 4);
        s.capacities[0] = 10;
        s.desc.resource_names = names;
        for (uint32_t j = 0; j < 3; j++) {
            clo_graph *graph = scene_graph(&s, &both, 1);
            ok(clo_graph_set_resource(graph, 0, "absent"));
            ok(clo_graph_set_resource(graph, 1, "memory"));
            scene_add(&s, graph, (clo_workload_job){0});
        }
        scene_run(&s, policies[i]);
        assert_int_equal(s.result.makespan_ns, 20); /* 4 of memory each: two at once */
        scene_close(&s);
    }
}

static void one_huge_job_does_not_move_the_typical_work(void **state)
{
    clo_candidate list[3] = {{.remaining_ns = 1000}, {.remaining_ns = 1000}, {.remaining_ns = INT64_C(1) << 62}};

    (void)state;
    assert_in_range(clo_packing_typical_ns(list, 2), 999, 1001);
    assert_int_equal(clo_packing_mean_ns(list, 2), 1000);
    assert_true(clo_packing_typical_ns(list, 3) < INT64_C(200000000)); /* 1000^(2/3) * 2^(62/3) is 1.66e8 */
    assert_true(clo_packing_mean_ns(list, 3) > INT64_C(1) << 60);
    assert_true(clo_packing_typical_ns(&list[2], 1) > INT64_C(1) << 61);
    list[0].remaining_ns = 1;
    assert_int_equal(clo_packing_typical_ns(list, 1), 1);
}

/* Two groups; the first one's jobs are short and would always go first. */
static void graphene_is_fair_among_groups_as_far_as_kappa_says(void **state)
{
    clo_task all = {.work_ns = 5, .instances = 2}, quick = {.work_ns = 10, .instances = 40},
             slow = {.work_ns = 10, .instances = 60};
    policy_scene s;

    (void)state;
    scene_open(&s, 2);
    scene_add(&s, scene_graph(&s, &all, 1), (clo_workload_job){.group = 1});
    scene_add(&s, scene_graph(&s, &quick, 1), (clo_workload_job){.arrival_ns = 1, .group = 1});
    scene_add(&s, scene_graph(&s, &slow, 1), (clo_workload_job){.arrival_ns = 1, .group = 2});
    scene_run(&s, "graphene:kappa=100,srpt=1");
    assert_int_equal(s.outcomes[2].start_ns, 205); /* after all 40 of the other */
    scene_run(&s, "graphene:kappa=0,srpt=1");
    assert_int_equal(s.outcomes[2].start_ns, 5); /* by turns */
    assert_int_equal(s.outcomes[1].finish_ns, 405);
    scene_run(&s, "graphene:kappa=2,srpt=1"); /* 2 of the cluster are 4 executors; half of each grant is owed */
    assert_true(s.outcomes[2].start_ns > 5 && s.outcomes[2].start_ns <= 55);
    scene_close(&s);
}

static void arguments_are_read_or_refused_with_a_reason(void **state)
{
    static const struct {
        const char *policy, *text, *says;
    } bad[] = {
        {"wfair", "", "begins with no number"},
        {"wfair", "2.01", "from -2.00 to 2.00"},
        {"wfair", "-3", "from -2.00 to 2.00"},
        {"wfair", "99999999999999", "from -2.00 to 2.00"},
        {"wfair", "1.0000000001", "at most 9 decimals"},
        {"wfair", "1x", "nothing may follow"},
        {"wfair", ".", "begins with no number"},
        {"eft", "", "selects nothing"},
        {"eft", "steal", "selects nothing"},
        {"deft", "sj", "selects nothing"},
        {"deft", "sjf:1", "takes no argument"},
        {"deft", "wfair:7", "from -2.00 to 2.00"},
        {"replan", "0", "from 1 to 1000000"},
        {"replan", "1000001", "from 1 to 1000000"},
        {"replan", "99999999999", "from 1 to 1000000"},
        {"replan", "7 ", "from 1 to 1000000"},
        {"graphene", "", "sets nothing"},
        {"graphene", "kappa=", "begins with no number"},
        {"graphene", "kappa=0.1,", "sets nothing"},
        {"graphene", "kappa=10001", "from 0.00 to 10000.00"},
        {"graphene", "order=1.5", "from 0.00 to 1.00"},
        {"graphene", "large=11", "from 0.00 to 10.00"},
        {"graphene", "geometric=2", "from 0.00 to 1.00"},
        {"graphene", "path=11", "from 0.00 to 10.00"},
        {"graphene", "remote=1.5", "from 0.00 to 1.00"},
        {"graphene", "srpt=0.1;", "nothing may follow"},
        {"easy-parametric", "", "sets nothing"},
        {"easy-parametric", "fit=1,wait", "sets nothing"},
        {"easy-parametric", "left=1000", "from -999.00 to 999.00"},
        {"graphene-star", "1,", "begins with no number"},
        {"graphene-star", "1,1.1", "from 0.00 to 1.00"},
        {"graphene-star", "3", "from -2.00 to 2.00"},
        {"graphene-star", "1,0.5,1", "nothing may follow"},
    };
    _Alignas(16) unsigned char argument[256];

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        memset(argument, 0x5a, sizeof argument);
        fails(CLO_ERR_ARGUMENT, bad[i].says, clo_policy_find(bad[i].policy)->parse(bad[i].text, argument));
        if (strcmp(bad[i].policy, "wfair") != 0)
            assert_int_equal(argument[0], 0x5a);
    }
    ok(clo_policy_find("wfair")->parse("-.5", argument));
    assert_int_equal(*(const int32_t *)(const void *)argument, -32768);
    ok(clo_policy_find("wfair")->parse("+1.", argument));
    assert_int_equal(*(const int32_t *)(const void *)argument, 65536);
    ok(clo_policy_find("graphene")->parse("srpt=0,kappa=1.5", argument));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_phases_place_what_another_policy_selects),
        cmocka_unit_test(deft_duplicates_under_any_selection),
        cmocka_unit_test(tetris_packs_and_weighs_the_remaining_work),
        cmocka_unit_test(graphene_and_replan_follow_the_order_of_a_plan),
        cmocka_unit_test(replan_goes_elsewhere_where_its_executor_is_taken),
        cmocka_unit_test(graphene_star_holds_troublesome_stages_back),
        cmocka_unit_test(graphene_star_takes_the_machine_that_fits_best),
        cmocka_unit_test(graphene_ends_a_job_before_it_begins_another),
        cmocka_unit_test(graphene_counts_large_instances_more),
        cmocka_unit_test(a_resource_that_the_platform_lacks_counts_nothing),
        cmocka_unit_test(one_huge_job_does_not_move_the_typical_work),
        cmocka_unit_test(graphene_is_fair_among_groups_as_far_as_kappa_says),
        cmocka_unit_test(arguments_are_read_or_refused_with_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
