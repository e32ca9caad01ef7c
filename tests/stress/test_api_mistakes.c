/* Mistakes that programs make with graphs, platforms and costs of the C API: a row each, with the status and what its one
 * line says. A new kind of mistake is a new row. The lines may be worded anew; what they must hold is what is wrong, with its
 * place and value. */
#include "mistakes.h"
#include "running.h"

static clo_status add(clo_task task)
{
    return clo_graph_add_task(draft, &task, NULL);
}

/* What is found when the graph is sealed, where all of it is known. */
static clo_status sealed(clo_status status)
{
    return status == CLO_OK ? clo_graph_seal(draft) : status;
}

/* --- graphs --------------------------------------------------------------------------------------------------------- */

static clo_status graph_into_nothing(void)
{
    return clo_graph_create("g", NULL);
}

static clo_status task_to_no_graph(void)
{
    return clo_graph_add_task(NULL, &(clo_task){.name = "x"}, NULL);
}

static clo_status negative_time(void)
{
    return add((clo_task){.name = "x", .work_ns = -5});
}

static clo_status time_without_end(void)
{
    return sealed(add((clo_task){.name = "x", .work_ns = INT64_MAX}));
}

static clo_status negative_demand(void)
{
    return add((clo_task){.name = "x", .demand = {-1}});
}

static clo_status too_many_instances(void)
{
    return add((clo_task){.name = "x", .instances = UINT32_MAX});
}

static clo_status name_that_is_too_long(void)
{
    static char name[70000];

    memset(name, 'x', sizeof name - 1);
    return add((clo_task){.name = name});
}

static clo_status edge_to_an_unknown_task(void)
{
    return sealed(clo_graph_add_edge(draft, 0, 2, 8));
}

static clo_status edge_from_an_unknown_task(void)
{
    return sealed(clo_graph_add_edge(draft, UINT32_MAX, 1, 8));
}

static clo_status edge_to_itself(void)
{
    return sealed(clo_graph_add_edge(draft, 1, 1, 8));
}

static clo_status edges_of_which_one_is_wrong(void)
{
    return sealed(clo_graph_add_edges(draft, (clo_edge[]){{0, 1, 8}, {1, 7, 8}}, 2));
}

static clo_status edge_twice(void)
{
    ok(clo_graph_add_edge(draft, 0, 1, 8));
    ok(clo_graph_add_edge(draft, 0, 1, 8));
    return clo_graph_seal(draft);
}

static clo_status cycle(void)
{
    ok(clo_graph_add_edge(draft, 0, 1, 8));
    ok(clo_graph_add_edge(draft, 1, 0, 8));
    return clo_graph_seal(draft);
}

static clo_status no_tasks(void)
{
    clo_graph *empty;

    ok(clo_graph_create("empty", &empty));
    clo_status status = clo_graph_seal(empty);
    clo_graph_destroy(empty);
    return status;
}

static clo_status task_after_the_seal(void)
{
    ok(clo_graph_seal(draft));
    return add((clo_task){.name = "late"});
}

static clo_status edge_after_the_seal(void)
{
    ok(clo_graph_seal(draft));
    return clo_graph_add_edge(draft, 0, 1, 8);
}

static clo_status sealed_twice(void)
{
    ok(clo_graph_seal(draft));
    return clo_graph_seal(draft);
}

static clo_status time_of_an_unknown_kind(void)
{
    return clo_graph_set_time(draft, 0, 3, 5);
}

static clo_status negative_time_of_a_kind(void)
{
    uint32_t kind;

    ok(clo_graph_kind(draft, "gpu", &kind));
    return clo_graph_set_time(draft, 0, kind, -7);
}

static clo_status body_of_an_unknown_task(void)
{
    uint32_t kind;

    ok(clo_graph_kind(draft, "gpu", &kind));
    return clo_graph_set_body(draft, 9, kind, count_call);
}

static clo_status executor_that_no_platform_has(void)
{
    return clo_graph_set_executors(draft, 0, &(uint32_t){CLO_EXECUTORS_MAX}, 1);
}

static clo_status resource_out_of_range(void)
{
    return clo_graph_set_resource(draft, CLO_RESOURCES_MAX, "memory");
}

static clo_status codelet_without_a_name(void)
{
    return clo_graph_set_codelet(draft, 0, &(clo_codelet){.version = 1});
}

static clo_status handle_of_no_bytes(void)
{
    uint32_t id;

    return clo_graph_add_handle(draft, &(clo_handle){.name = "picture"}, &id);
}

static clo_status access_to_an_unknown_handle(void)
{
    return clo_graph_add_access(draft, 0, 5, 1);
}

static clo_status branch_of_no_arms(void)
{
    return sealed(clo_graph_set_branch(draft, 0, 0, NULL));
}

static clo_status arm_without_a_branch(void)
{
    return sealed(clo_graph_add_arm(draft, 0, 1, 0, 0));
}

/* --- platforms and costs -------------------------------------------------------------------------------------------- */

static clo_executor executor = {0, 0, 0, -1, {65536, 65536, 65536, 65536}};

static clo_status make_platform(clo_platform_desc desc)
{
    clo_platform *none;

    return clo_platform_create(&desc, &none);
}

static clo_status description_not_initialised(void)
{
    return make_platform((clo_platform_desc){.executors_count = 1, .executors = &executor, .kinds_count = 1});
}

static clo_status no_executors(void)
{
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;

    desc.kinds_count = 1;
    return make_platform(desc);
}

static clo_status executors_left_out(void)
{
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;

    desc.executors_count = desc.kinds_count = 1;
    return make_platform(desc);
}

static clo_status one_executor(clo_executor wrong)
{
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;

    desc.executors_count = desc.kinds_count = 1;
    desc.executors = &wrong;
    return make_platform(desc);
}

static clo_status executor_of_an_unknown_kind(void)
{
    return one_executor((clo_executor){3, 0, 0, -1, {65536, 65536, 65536, 65536}});
}

static clo_status executor_of_speed_0(void)
{
    return one_executor((clo_executor){0, 0, 0, -1, {65536, 0, 65536, 65536}});
}

static clo_status executor_of_an_unknown_machine(void)
{
    return one_executor((clo_executor){0, 5, 0, -1, {65536, 65536, 65536, 65536}});
}

static clo_status negative_latency(void)
{
    const clo_executor two[2] = {executor, executor};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;

    desc.executors_count = 2;
    desc.kinds_count = 1;
    desc.executors = two;
    desc.latency_ns = (int64_t[4]){0, -3, 5, 0};
    return make_platform(desc);
}

static clo_status open_platform(const char *spec)
{
    clo_platform *none;

    return clo_platform_open(spec, &none);
}

static clo_status platform_of_no_such_name(void)
{
    return open_platform("moon");
}

static clo_status platform_of_0_executors(void)
{
    return open_platform("uniform:0");
}

static clo_status platform_file_that_is_not_there(void)
{
    return open_platform("no/such/board.xml");
}

static clo_status cost_of(clo_graph *graph)
{
    clo_platform *platform = scene_platform(2, 1);
    clo_cost *none;
    clo_status status = clo_cost_create(graph, platform, &none);

    clo_platform_destroy(platform);
    return status;
}

static clo_status cost_of_a_graph_that_is_open(void)
{
    return cost_of(draft);
}

static clo_status cost_without_a_platform(void)
{
    clo_cost *none;

    ok(clo_graph_seal(draft));
    return clo_cost_create(draft, NULL, &none);
}

static clo_status task_of_a_kind_that_is_not_there(void)
{
    uint32_t kind;

    ok(clo_graph_kind(draft, "gpu", &kind));
    ok(add((clo_task){.name = "picky"}));
    ok(clo_graph_set_time(draft, 2, kind, 5));
    ok(clo_graph_seal(draft));
    return cost_of(draft);
}

static clo_status task_of_an_executor_that_is_not_there(void)
{
    ok(clo_graph_set_executors(draft, 1, &(uint32_t){40}, 1));
    ok(clo_graph_seal(draft));
    return cost_of(draft);
}

static clo_status demand_beyond_every_machine(void)
{
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_platform *small;
    clo_cost *none;

    desc.executors_count = desc.kinds_count = desc.machines_count = 1;
    desc.executors = &executor;
    desc.capacities = (int64_t[CLO_RESOURCES_MAX]){100};
    ok(clo_platform_create(&desc, &small));
    ok(add((clo_task){.name = "large", .work_ns = 5, .demand = {200}}));
    ok(clo_graph_seal(draft));
    clo_status status = clo_cost_create(draft, small, &none);
    clo_platform_destroy(small);
    return status;
}

static clo_status family_of_no_name(void)
{
    clo_graph *none;

    return clo_graph_generate(NULL, NULL, &none);
}

static clo_status planner_as_a_policy(void)
{
    return clo_policy_find("heft") == NULL ? CLO_ERR_ARGUMENT : CLO_OK;
}

static clo_status model_of_text(void)
{
    static _Alignas(16) const char text[256] = "{\"format\": \"clotho.plan/1\"}";
    clo_model *model;

    return clo_model_open("mine", text, sizeof text, &model);
}

static clo_status model_at_odd_address(void)
{
    static _Alignas(16) const char text[257] = "";
    clo_model *model;

    return clo_model_open("mine", text + 1, sizeof text - 1, &model);
}

static const mistake mistakes[] = {
    MISTAKE(planner_as_a_policy, CLO_ERR_ARGUMENT, "unknown policy 'heft'", "clotho list policies"),
    MISTAKE(family_of_no_name, CLO_ERR_ARGUMENT, "clo_graph_generate", "family or out is NULL"),
    MISTAKE(graph_into_nothing, CLO_ERR_ARGUMENT, "clo_graph_create: out is NULL"),
    MISTAKE(task_to_no_graph, CLO_ERR_ARGUMENT, "clo_graph_add_task: graph or task is NULL"),
    MISTAKE(negative_time, CLO_ERR_ARGUMENT, "task 2: work_ns is -5", ">= 0"),
    MISTAKE(time_without_end, CLO_ERR_LIMIT, "\"open\"", "exceeds 2^63 ns", "use a coarser unit"),
    MISTAKE(negative_demand, CLO_ERR_ARGUMENT, "task 2: demand[0] is -1", ">= 0"),
    MISTAKE(too_many_instances, CLO_ERR_LIMIT, "task 2", "4294967294 instances", "use fewer"),
    MISTAKE(name_that_is_too_long, CLO_ERR_LIMIT, "task 2", "at most 65535 bytes"),
    MISTAKE(edge_to_an_unknown_task, CLO_ERR_ARGUMENT, "0 -> 2", "task 2 does not exist", "has 2 tasks"),
    MISTAKE(edge_from_an_unknown_task, CLO_ERR_ARGUMENT, "task 4294967295 does not exist", "has 2 tasks"),
    MISTAKE(edge_to_itself, CLO_ERR_ARGUMENT, "\"b\" (1) depends on itself", "remove"),
    MISTAKE(edges_of_which_one_is_wrong, CLO_ERR_ARGUMENT, "edge 1 (1 -> 7)", "task 7 does not exist"),
    MISTAKE(edge_twice, CLO_ERR_ARGUMENT, "edges 0 and 1", "\"a\" to \"b\"", "merge"),
    MISTAKE(cycle, CLO_ERR_CYCLE, "\"a\" -> \"b\" -> \"a\"", "remove one"),
    MISTAKE(no_tasks, CLO_ERR_ARGUMENT, "\"empty\" has no tasks", "add"),
    MISTAKE(task_after_the_seal, CLO_ERR_STATE, "\"open\" is sealed", "before clo_graph_seal"),
    MISTAKE(edge_after_the_seal, CLO_ERR_STATE, "\"open\" is sealed", "before clo_graph_seal"),
    MISTAKE(sealed_twice, CLO_ERR_STATE, "\"open\" is sealed already", "once"),
    MISTAKE(time_of_an_unknown_kind, CLO_ERR_ARGUMENT, "kind 3 does not exist", "clo_graph_kind"),
    MISTAKE(negative_time_of_a_kind, CLO_ERR_ARGUMENT, "task 0, kind 0", "-7", "CLO_TIME_NEVER"),
    MISTAKE(body_of_an_unknown_task, CLO_ERR_ARGUMENT, "task 9 does not exist", "has 2"),
    MISTAKE(executor_that_no_platform_has, CLO_ERR_ARGUMENT, "executors[0] is 65536", "0 to 65535"),
    MISTAKE(resource_out_of_range, CLO_ERR_ARGUMENT, "resource 8", "below 8"),
    MISTAKE(codelet_without_a_name, CLO_ERR_ARGUMENT, "task 0", "needs a name"),
    MISTAKE(handle_of_no_bytes, CLO_ERR_ARGUMENT, "\"picture\"", "bytes >= 1"),
    MISTAKE(access_to_an_unknown_handle, CLO_ERR_ARGUMENT, "handle 5 does not exist", "add it"),
    MISTAKE(branch_of_no_arms, CLO_ERR_ARGUMENT, "0"),
    MISTAKE(arm_without_a_branch, CLO_ERR_ARGUMENT, "\"a\" (0), which is no branch", "clo_graph_set_branch"),
    MISTAKE(description_not_initialised, CLO_ERR_ARGUMENT, "size is 0", "_INIT"),
    MISTAKE(no_executors, CLO_ERR_ARGUMENT, "without executors", "at least one"),
    MISTAKE(executors_left_out, CLO_ERR_ARGUMENT, "without executors", "at least one"),
    MISTAKE(executor_of_an_unknown_kind, CLO_ERR_ARGUMENT, "executor 0: kind 3 of 1"),
    MISTAKE(executor_of_speed_0, CLO_ERR_ARGUMENT, "executor 0: speed 0", "65536"),
    MISTAKE(executor_of_an_unknown_machine, CLO_ERR_ARGUMENT, "executor 0: machine 5 of 1"),
    MISTAKE(negative_latency, CLO_ERR_ARGUMENT, "link 0 -> 1", "-3 ns", "use 0 .."),
    MISTAKE(platform_of_no_such_name, CLO_ERR_ARGUMENT, "\"moon\"", "uniform:P"),
    MISTAKE(platform_of_0_executors, CLO_ERR_ARGUMENT, "uniform:0", "1 to 65536"),
    MISTAKE(platform_file_that_is_not_there, CLO_ERR_IO, "no/such/board.xml: No such file"),
    MISTAKE(cost_of_a_graph_that_is_open, CLO_ERR_STATE, "\"open\" is open", "clo_graph_seal"),
    MISTAKE(cost_without_a_platform, CLO_ERR_ARGUMENT, "clo_cost_create", "platform"),
    MISTAKE(task_of_a_kind_that_is_not_there, CLO_ERR_PLATFORM, "\"picky\" (2)", "kind \"gpu\"", "give it work"),
    MISTAKE(task_of_an_executor_that_is_not_there, CLO_ERR_PLATFORM, "\"b\" (1)", "from 40 on", "0 .. 1"),
    MISTAKE(demand_beyond_every_machine, CLO_ERR_PLATFORM, "\"large\" (2)", "needs 200", "more than 100"),
    MISTAKE(model_of_text, CLO_ERR_FORMAT, "mine: is no model", "clotho train"),
    MISTAKE(model_at_odd_address, CLO_ERR_ARGUMENT, "mine: ", "multiple of 16 bytes; align it"),
};

static void each_mistake_has_its_status_and_one_line_that_says_what_is_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++)
        check_mistake(&mistakes[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_mistake_has_its_status_and_one_line_that_says_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
