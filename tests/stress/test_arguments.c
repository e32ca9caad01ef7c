/* Every public call with NULL and with numbers out of range: a status that names the call, or the value that says
 * nothing, never a crash. tests/headers/arguments.py holds that no call of the headers is missing here
 * and in test_arguments_streams.c. */
#include "support.h"

#include "planner_named.h"
#include "running.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define NEVER_WRITTEN "/tmp/clotho-never-written"

/* The call must refuse, and say who it is. */
#define refuses(call, ...) fails(CLO_ERR_ARGUMENT, #call, call(__VA_ARGS__))
/* The same where an earlier check words it. */
#define refuses_somehow(call, ...) fails(CLO_ERR_ARGUMENT, "", call(__VA_ARGS__))

/* One of each object; all are used read-only. */
static struct scene {
    fixture f;
    clo_graph *open;
    clo_plan *plan;
    clo_job *job;
    clo_trace *trace;
} s;

static int set_up(void **state)
{
    (void)state;
    clo_task task = {.body = count_call, .work_ns = 1000};

    s.f = start(2, scene_layers(2, 2, &task), CLO_CLOCK_REAL);
    ok(clo_graph_create(NULL, &s.open));
    ok(clo_plan_create(s.f.cost, NULL, &s.plan));
    s.job = make_job(&s.f, NULL, s.plan);
    ok(clo_job_submit(s.job));
    ok(clo_job_wait(s.job, NULL));
    ok(clo_job_trace(s.job, &s.trace));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    clo_trace_destroy(s.trace);
    clo_plan_destroy(s.plan);
    clo_graph_destroy(s.open);
    stop(&s.f);
    return 0;
}

static void bodies(void **state)
{
    (void)state;
    clo_command empty = {0};
    /* fields that cannot be: no inputs, no output, a time without end */
    clo_call call = {.argument = &empty, .inputs_count = 3, .output_bytes = 8};

    assert_int_not_equal(clo_body_spin(NULL), 0);
    assert_int_equal(clo_body_command(NULL), 127);
    assert_int_equal(clo_body_spin(&call), 0);
    assert_int_equal(clo_body_command(&call), 127);
    call.argument = NULL;
    assert_int_equal(clo_body_command(&call), 127);
}

static void statuses(void **state)
{
    (void)state;
    assert_string_equal(clo_status_text((clo_status)-1000), "unknown status");
    assert_non_null(clo_last_error());
    assert_non_null(clo_version());
}

static void written_files(void **state)
{
    (void)state;
    fails(CLO_ERR_ARGUMENT, "clo_file_write: path or data is NULL", clo_file_write(NULL, "x", 1));
    fails(CLO_ERR_ARGUMENT, "path or data is NULL", clo_file_write("/dev/null", NULL, 1));
    fails(CLO_ERR_ARGUMENT, "needs a name", clo_file_write("", "x", 1));
    fails(CLO_ERR_IO, "no/such/file", clo_file_write("no/such/file", "x", 1));
    ok(clo_file_write("/dev/null", NULL, 0));
}

static void registries(void **state)
{
    (void)state;
    clo_entry entry = CLO_ENTRY_INIT, unset = {0};

    assert_false(clo_registry_entry("planners", UINT32_MAX, &entry));
    assert_null(entry.name);
    assert_false(clo_registry_entry(NULL, UINT32_MAX, &entry));
    assert_false(clo_registry_entry("planners", 0, NULL));
    assert_string_equal(clo_last_error(), "clo_registry_entry: out is NULL");
    assert_false(clo_registry_entry("planners", 0, &unset));
    assert_string_equal(clo_last_error(), "clo_entry.size is 0; initialise it with its ..._INIT");
    assert_false(clo_registry_entry("cats", 0, &entry));
    assert_string_equal(clo_last_error(), "clo_registry_entry: no registry is called 'cats'; NULL lists them");
    assert_true(clo_registry_entry("planners", 0, &entry));
}

static void graphs_being_built(void **state)
{
    (void)state;
    clo_task task = CLO_TASK_INIT;
    clo_edge edge = {0, 1, 0};
    uint32_t id = 7;

    refuses(clo_graph_create, "x", NULL);
    clo_graph_destroy(NULL);
    refuses(clo_graph_add_task, NULL, &task, &id);
    refuses(clo_graph_add_task, s.open, NULL, &id);
    refuses(clo_graph_add_edge, NULL, 0, 1, 0);
    refuses(clo_graph_add_tasks, NULL, &task, 1, &id);
    refuses(clo_graph_add_tasks, s.open, NULL, 1, &id);
    refuses(clo_graph_add_edges, NULL, &edge, 1);
    refuses(clo_graph_add_edges, s.open, NULL, 1);
    refuses(clo_graph_kind, NULL, "k", &id);
    refuses(clo_graph_kind, s.open, NULL, &id);
    refuses(clo_graph_kind, s.open, "k", NULL);
    refuses(clo_graph_set_body, NULL, 0, 0, count_call);
    refuses_somehow(clo_graph_set_body, s.open, 99, 0, count_call);
    refuses_somehow(clo_graph_set_body, s.open, 0, 99, NULL);
    refuses(clo_graph_set_time, NULL, 0, 0, 1);
    refuses_somehow(clo_graph_set_time, s.open, 99, 99, -1);
    refuses(clo_graph_set_executors, NULL, 0, NULL, 0);
    refuses(clo_graph_set_executors, s.open, 0, NULL, 1);
    refuses_somehow(clo_graph_set_executors, s.open, 99, NULL, 0);
    refuses(clo_graph_set_resource, NULL, 0, "r");
    refuses_somehow(clo_graph_set_resource, s.open, 0, NULL);
    refuses_somehow(clo_graph_set_resource, s.open, 99, "r");
    clo_handle handle = {.bytes = 0};
    refuses(clo_graph_add_handle, NULL, &handle, &id);
    refuses(clo_graph_add_handle, s.open, NULL, &id);
    refuses_somehow(clo_graph_add_handle, s.open, &handle, &id);
    refuses(clo_graph_add_access, NULL, 0, 0, 0);
    refuses_somehow(clo_graph_add_access, s.open, 99, 99, 99);
    refuses(clo_graph_add_module, NULL, s.f.graph, NULL, &id);
    refuses(clo_graph_add_module, s.open, NULL, NULL, &id);
    refuses_somehow(clo_graph_add_module, s.open, s.open, NULL, &id);
    refuses(clo_graph_seal, NULL);
    refuses_somehow(clo_graph_seal, s.open);
    refuses_somehow(clo_graph_generate, NULL, NULL, &s.open);
    refuses(clo_graph_generate, "chain", NULL, NULL);
    refuses_somehow(clo_graph_generate, "no such family", NULL, &s.open);
    assert_int_equal(id, 7);
}

static void handles_of_graphs(void **state)
{
    (void)state;
    clo_handle handle = {.bytes = 7};
    clo_access access = {.mode = 7};
    size_t bytes = 7;

    assert_int_equal(clo_graph_handles(NULL), 0);
    assert_int_equal(clo_graph_accesses(NULL), 0);
    assert_int_equal(clo_graph_edges_added(NULL), 0);
    assert_int_equal(clo_graph_ranges(NULL, 0), 0);
    assert_int_equal(clo_graph_ranges(s.f.graph, UINT32_MAX), 0);
    assert_int_equal(clo_graph_pinned_by(NULL, 0), CLO_NONE);
    assert_int_equal(clo_graph_pinned_by(s.f.graph, UINT32_MAX), CLO_NONE);
    refuses(clo_graph_handle, NULL, 0, &handle);
    refuses(clo_graph_handle, s.f.graph, 0, NULL);
    refuses_somehow(clo_graph_handle, s.f.graph, 0, &handle);
    refuses(clo_graph_access, NULL, 0, &access);
    refuses(clo_graph_access, s.f.graph, 0, NULL);
    refuses_somehow(clo_graph_access, s.f.graph, 0, &access);
    assert_null(clo_job_data(NULL, 0, &bytes));
    assert_int_equal(bytes, 0);
    assert_null(clo_job_data(s.job, UINT32_MAX, NULL));
    assert_int_equal(handle.bytes, 7);
    assert_int_equal(access.mode, 7);
}

static void graphs(void **state)
{
    (void)state;
    char scratch[16];
    int64_t time_ns;
    uint32_t levels[4];
    clo_task task;
    clo_edge edge;

    assert_null(clo_graph_name(NULL));
    assert_int_equal(clo_graph_tasks(NULL) + clo_graph_edges(NULL) + clo_graph_instances(NULL), 0);
    assert_int_equal(clo_graph_kinds(NULL), 0);
    assert_string_equal(clo_graph_task_name(NULL, 0, scratch), "?");
    assert_string_equal(clo_graph_task_name(s.f.graph, 99, scratch), "?");
    assert_string_equal(clo_graph_task_name(s.f.graph, 0, NULL), "?");
    assert_int_equal(clo_graph_executors(NULL, 0, NULL, 0), 0);
    assert_int_equal(clo_graph_executors(s.f.graph, 99, NULL, 0), 0);
    refuses(clo_graph_task, NULL, 0, &task);
    refuses(clo_graph_task, s.f.graph, 0, NULL);
    refuses_somehow(clo_graph_task, s.f.graph, 99, &task);
    refuses(clo_graph_edge, NULL, 0, &edge);
    refuses(clo_graph_edge, s.f.graph, 0, NULL);
    refuses_somehow(clo_graph_edge, s.f.graph, 99, &edge);
    assert_null(clo_graph_kind_name(NULL, 0));
    assert_null(clo_graph_kind_name(s.f.graph, 99));
    assert_null(clo_graph_resource_name(NULL, 0));
    assert_null(clo_graph_resource_name(s.f.graph, 99));
    assert_false(clo_graph_time(NULL, 0, 0, &time_ns));
    assert_false(clo_graph_time(s.f.graph, 0, 0, NULL));
    assert_false(clo_graph_time(s.f.graph, 99, 99, &time_ns));
    clo_graph_levels(NULL, levels);
    clo_graph_levels(s.f.graph, NULL);
    clo_graph_levels(s.open, levels);
}

static void platforms(void **state)
{
    (void)state;
    const clo_platform *p = s.f.platform;
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_platform *none = NULL;
    char *text = NULL;

    refuses(clo_platform_create, NULL, &none);
    refuses(clo_platform_create, &desc, NULL);
    refuses_somehow(clo_platform_create, &desc, &none);
    refuses(clo_platform_open, NULL, &none);
    refuses(clo_platform_open, "native", NULL);
    refuses(clo_platform_native, NULL);
    clo_platform_destroy(NULL);
    assert_null(clo_platform_name(NULL));
    assert_int_equal(clo_platform_executors(NULL) + clo_platform_kinds(NULL), 0);
    assert_int_equal(clo_platform_machines(NULL) + clo_platform_memories(NULL), 0);
    assert_false(clo_platform_is_native(NULL) || clo_platform_is_coherent(NULL));
    assert_null(clo_platform_executor(NULL, 0));
    assert_null(clo_platform_executor(p, 99));
    assert_null(clo_platform_executor_name(NULL, 0));
    assert_null(clo_platform_executor_name(p, 99));
    assert_null(clo_platform_driver(NULL, 0));
    assert_null(clo_platform_driver(p, 99));
    assert_null(clo_platform_driver(p, 0));
    assert_null(clo_platform_device(NULL, 0));
    assert_null(clo_platform_device(p, UINT32_MAX));
    assert_null(clo_platform_kind_name(NULL, 0));
    assert_null(clo_platform_kind_name(p, 99));
    assert_null(clo_platform_resource_name(NULL, 0));
    assert_null(clo_platform_resource_name(p, 99));
    assert_int_equal(clo_platform_capacity(NULL, 0, 0), -1);
    assert_int_equal(clo_platform_capacity(p, 99, 0), -1);
    assert_int_equal(clo_platform_capacity(p, 0, 99), -1);
    assert_true(clo_platform_transfer_ns(NULL, 1, 0, 0) == CLO_TIME_NEVER);
    assert_true(clo_platform_transfer_ns(p, 1, 0, 99) == CLO_TIME_NEVER);
    assert_true(clo_platform_transfer_ns(p, 1, 99, 0) == CLO_TIME_NEVER);
    assert_int_equal(clo_platform_link_pieces(NULL), 0);
    assert_true(clo_platform_cut_bytes(NULL, 0) == UINT64_MAX);
    assert_true(clo_platform_cut_bytes(p, 99) == UINT64_MAX);
    refuses(clo_platform_describe, NULL, 0, &text);
    refuses(clo_platform_describe, p, 0, NULL);
    refuses(clo_platform_describe_json, NULL, &text);
    refuses(clo_platform_describe_json, p, NULL);
    refuses(clo_platform_check_host, NULL, NULL);
    assert_null(none);
    assert_null(text);
}

/* All of its arguments may be NULL: then it measures, for about a second, and keeps nothing. */
static void calibration(void **state)
{
    (void)state;
    clo_status status = clo_platform_calibrate(1, NULL, NULL, NULL, NULL);

    assert_true(status == CLO_OK || status == CLO_ERR_SYSTEM);
    fails(CLO_ERR_IO, "", clo_platform_calibrate(1, NULL, NULL, "/no/such/folder/file.xml", NULL));
}

static void costs(void **state)
{
    (void)state;
    const clo_cost *c = s.f.cost;
    int64_t ranks[4] = {-1, -1, -1, -1};
    uint32_t path[4];
    clo_bound bound = CLO_BOUND_INIT;
    clo_cost *none = NULL;

    refuses(clo_cost_create, NULL, s.f.platform, &none);
    refuses(clo_cost_create, s.f.graph, NULL, &none);
    refuses(clo_cost_create, s.f.graph, s.f.platform, NULL);
    fails(CLO_ERR_STATE, "open", clo_cost_create(s.open, s.f.platform, &none));
    assert_null(none);
    clo_cost_destroy(NULL);
    assert_null(clo_cost_graph(NULL));
    assert_null(clo_cost_unmatched_kind(NULL, 0));
    assert_null(clo_cost_unmatched_kind(c, UINT32_MAX));
    assert_string_equal(clo_printable("x", NULL, 5), "");
    assert_string_equal(clo_printable(NULL, (char[4]){"abc"}, 4), "");
    assert_null(clo_cost_platform(NULL));
    assert_true(clo_cost_execution_ns(NULL, 0, 0) == CLO_TIME_NEVER);
    assert_true(clo_cost_execution_ns(c, 99, 0) == CLO_TIME_NEVER);
    assert_true(clo_cost_execution_ns(c, 0, 99) == CLO_TIME_NEVER);
    assert_true(clo_cost_mean_execution_ns(NULL, 0) == CLO_TIME_NEVER);
    assert_true(clo_cost_mean_execution_ns(c, 99) == CLO_TIME_NEVER);
    assert_true(clo_cost_mean_transfer_ns(NULL, 1) == CLO_TIME_NEVER);
    clo_cost_rank_u(NULL, ranks);
    clo_cost_rank_u(c, NULL);
    clo_cost_rank_d(NULL, ranks);
    clo_cost_rank_d(c, NULL);
    assert_int_equal(ranks[0], -1);
    assert_int_equal(clo_cost_critical_path(NULL, path), 0);
    assert_int_equal(clo_cost_critical_path(c, NULL), 0);
    refuses(clo_cost_bound, NULL, &bound);
    refuses(clo_cost_bound, c, NULL);
}

static void plans(void **state)
{
    (void)state;
    const clo_cost *c = s.f.cost;
    const clo_placement wrong = {.task = 99};
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan_metrics metrics = CLO_PLAN_METRICS_INIT;
    clo_plan *none = NULL;
    size_t count = 7;
    char *text = NULL;

    refuses(clo_plan_create, NULL, NULL, &none);
    refuses(clo_plan_create, c, NULL, NULL);
    clo_planner nameless = clo_planner_heft;
    nameless.name = NULL;
    config.planner = &nameless;
    refuses_somehow(clo_plan_create, c, &config, &none);
    refuses(clo_planner_register, NULL);
    refuses_somehow(clo_planner_register, &nameless);
    assert_null(clo_planner_find(NULL));
    config.size = 0;
    refuses_somehow(clo_plan_create, c, &config, &none);
    refuses(clo_plan_from_placements, NULL, NULL, &wrong, 1, &none);
    refuses(clo_plan_from_placements, c, NULL, NULL, 3, &none);
    refuses(clo_plan_from_placements, c, NULL, &wrong, 1, NULL);
    refuses_somehow(clo_plan_from_placements, c, NULL, &wrong, 1, &none);
    clo_plan_destroy(NULL);
    assert_null(clo_plan_planner(NULL));
    assert_int_equal(clo_plan_makespan_ns(NULL), 0);
    assert_int_equal(clo_plan_schedules(NULL), 0);
    assert_false(clo_plan_is_optimal(NULL));
    assert_null(clo_plan_placements(NULL, &count));
    assert_int_equal(count, 0);
    assert_non_null(clo_plan_placements(s.plan, NULL));
    refuses(clo_plan_check, NULL, c, CLO_CHECK_FULL);
    refuses(clo_plan_check, s.plan, NULL, CLO_CHECK_FULL);
    refuses(clo_plan_check, s.plan, c, 99);
    refuses(clo_plan_measure, NULL, c, &metrics);
    refuses(clo_plan_measure, s.plan, NULL, &metrics);
    refuses(clo_plan_measure, s.plan, c, NULL);
    refuses(clo_plan_gantt_svg, NULL, c, NULL, NEVER_WRITTEN);
    refuses(clo_plan_gantt_svg, s.plan, NULL, NULL, NEVER_WRITTEN);
    refuses(clo_plan_gantt_svg, s.plan, c, NULL, NULL);
    const clo_report_schedule schedule = {.plan = s.plan}, nothing = {.plan = NULL};
    refuses(clo_report_plans, NULL, &schedule, 1, NULL, NEVER_WRITTEN);
    refuses(clo_report_plans, c, NULL, 1, NULL, NEVER_WRITTEN);
    refuses(clo_report_plans, c, &schedule, 0, NULL, NEVER_WRITTEN);
    refuses(clo_report_plans, c, &nothing, 1, NULL, NEVER_WRITTEN);
    refuses(clo_report_plans, c, &schedule, 1, NULL, NULL);
    refuses(clo_report_releases, NULL, c, NULL, NEVER_WRITTEN);
    refuses(clo_report_releases, s.trace, NULL, NULL, NEVER_WRITTEN);
    refuses(clo_report_releases, s.trace, c, NULL, NULL);
    refuses(clo_report_svg, NULL, s.plan, NULL, NEVER_WRITTEN);
    refuses(clo_report_svg, c, NULL, NULL, NEVER_WRITTEN);
    refuses(clo_report_svg, c, s.plan, NULL, NULL);
    refuses(clo_platform_svg, NULL, NEVER_WRITTEN);
    refuses(clo_platform_svg, clo_cost_platform(c), NULL);
    refuses(clo_plan_gantt_text, NULL, c, 0, &text);
    refuses(clo_plan_gantt_text, s.plan, NULL, 0, &text);
    refuses(clo_plan_gantt_text, s.plan, c, 0, NULL);
    assert_null(none);
    assert_null(text);
}

static void traces(void **state)
{
    (void)state;
    clo_plan *none = NULL;
    size_t count = 7;

    assert_null(clo_trace_events(NULL, &count));
    assert_int_equal(count, 0);
    assert_non_null(clo_trace_events(s.trace, NULL));
    clo_trace_destroy(NULL);
    refuses(clo_trace_to_plan, NULL, s.f.cost, &none);
    refuses(clo_trace_to_plan, s.trace, NULL, &none);
    refuses(clo_trace_to_plan, s.trace, s.f.cost, NULL);
    refuses(clo_trace_write_chrome, NULL, s.f.cost, NULL, NEVER_WRITTEN);
    refuses(clo_trace_write_chrome, s.trace, NULL, NULL, NEVER_WRITTEN);
    refuses(clo_trace_write_chrome, s.trace, s.f.cost, NULL, NULL);
    assert_null(none);
}

/* A library without files refuses everything else first. */
#define refuses_io(call, ...)                                                           \
    do {                                                                                \
        clo_status io_status = call(__VA_ARGS__);                                       \
        assert_true(io_status == CLO_ERR_ARGUMENT || io_status == CLO_ERR_UNSUPPORTED); \
    } while (0)

static void files(void **state)
{
    (void)state;
    clo_document *document = NULL;
    clo_graph *graph = NULL;
    uint32_t count = 1;
    clo_documents *none = NULL;
    clo_plan *plan = NULL;

    refuses_io(clo_document_load, NULL, NULL, &document);
    refuses_io(clo_document_load, "x", NULL, NULL);
    refuses_io(clo_document_parse, NULL, "{}", 2, NULL, &document);
    refuses_io(clo_document_parse, "x", NULL, 2, NULL, &document);
    refuses_io(clo_document_parse, "x", "{}", 2, NULL, NULL);
    clo_document_destroy(NULL);
    refuses_io(clo_document_create, NULL, NULL, &document);
    refuses_io(clo_document_create, s.open, NULL, NULL);
    clo_status status = clo_document_create(s.open, NULL, &document); /* not sealed */
    assert_true(status == CLO_ERR_STATE || status == CLO_ERR_UNSUPPORTED);
    assert_null(document);
    assert_null(clo_document_graph(NULL));
    assert_null(clo_document_platform(NULL));
    assert_null(clo_document_format(NULL));
    assert_null(clo_document_references(NULL, &count));
    assert_int_equal(count, 0);
    assert_null(clo_document_references(NULL, NULL));
    assert_null(clo_document_note(NULL));
    assert_null(clo_workload_note(NULL));
    assert_true(clo_document_unit_ns(NULL) == 0);
    assert_int_equal(clo_document_line(NULL), 0);
    ok(clo_graph_generate("chain", NULL, &graph));
    if (clo_document_create(graph, NULL, &document) != CLO_OK)
        clo_graph_destroy(graph);
    refuses_io(clo_documents_open, NULL, NULL, &none);
    refuses_io(clo_documents_open, "x", NULL, NULL);
    assert_int_equal(clo_documents_count(NULL), 0);
    refuses_io(clo_documents_next, NULL, &document);
    clo_documents_close(NULL);
    refuses_io(clo_document_save, NULL, NULL, NEVER_WRITTEN);
    refuses_io(clo_document_save, document, NULL, NULL);
    refuses_io(clo_document_save, document, "nope", NEVER_WRITTEN);
    clo_document_destroy(document);
    refuses_io(clo_plan_save, NULL, s.f.cost, NEVER_WRITTEN);
    refuses_io(clo_plan_save, s.plan, NULL, NEVER_WRITTEN);
    refuses_io(clo_plan_save, s.plan, s.f.cost, NULL);
    refuses_io(clo_plan_load, NULL, s.f.cost, &plan);
    refuses_io(clo_plan_load, "x", NULL, &plan);
    refuses_io(clo_plan_load, "x", s.f.cost, NULL);
    assert_null(none);
    assert_null(plan);
    assert_null(fopen(NEVER_WRITTEN, "r"));
}

static void show_nothing(void *argument, const clo_job_progress *job)
{
    (void)argument;
    (void)job;
}

static void runtimes(void **state)
{
    (void)state;
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_runtime *none = NULL;
    clo_worker_stats stats = CLO_WORKER_STATS_INIT;
    clo_record record;
    size_t bytes;

    refuses(clo_runtime_create, NULL, NULL, &none);
    refuses(clo_runtime_create, s.f.platform, NULL, NULL);
    config.size = 0;
    refuses_somehow(clo_runtime_create, s.f.platform, &config, &none);
    refuses_somehow(clo_runtime_create_with, NULL, NULL, NULL, &none);
    refuses_somehow(clo_runtime_create_with, s.f.platform, NULL, NULL, NULL);
    refuses(clo_runtime_memory_bytes, NULL, NULL, &bytes);
    refuses(clo_runtime_memory_bytes, s.f.platform, NULL, NULL);
    clo_runtime_destroy(NULL);
    ok(clo_runtime_close(NULL, 0));
    assert_string_equal(clo_runtime_report(NULL), "");
    refuses(clo_runtime_worker_stats, NULL, 0, &stats);
    refuses(clo_runtime_worker_stats, s.f.runtime, 0, NULL);
    refuses_somehow(clo_runtime_worker_stats, s.f.runtime, 99, &stats);
    refuses(clo_runtime_visit_jobs, NULL, show_nothing, NULL);
    refuses(clo_runtime_visit_jobs, s.f.runtime, NULL, NULL);
    assert_int_equal(clo_runtime_record_read(NULL, 0, &record, 1, NULL), 0);
    assert_int_equal(clo_runtime_record_read(s.f.runtime, 0, NULL, 1, NULL), 0);
    assert_int_equal(clo_runtime_record_read(s.f.runtime, 99, &record, 1, NULL), 0);
    assert_null(clo_runtime_platform(NULL));
    assert_int_equal(clo_runtime_workers(NULL), 0);
    assert_null(none);
}

static void jobs(void **state)
{
    (void)state;
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_policy empty = {0};
    clo_job_timing timing = CLO_JOB_TIMING_INIT;
    clo_job *none = NULL;
    clo_trace *trace = NULL;
    size_t bytes = 7;

    refuses(clo_job_create, NULL, s.f.cost, NULL, &none);
    refuses(clo_job_create, s.f.runtime, NULL, NULL, &none);
    refuses(clo_job_create, s.f.runtime, s.f.cost, NULL, NULL);
    refuses(clo_job_memory_bytes, NULL, s.f.cost, NULL, &bytes);
    refuses(clo_job_memory_bytes, s.f.runtime, NULL, NULL, &bytes);
    refuses(clo_job_memory_bytes, s.f.runtime, s.f.cost, NULL, NULL);
    config.policy = &empty;
    refuses_somehow(clo_job_create, s.f.runtime, s.f.cost, &config, &none);
    config.size = 0;
    refuses_somehow(clo_job_create, s.f.runtime, s.f.cost, &config, &none);
    refuses(clo_job_submit, NULL);
    refuses(clo_job_wait, NULL, NULL);
    refuses(clo_job_wait_for, NULL, 0, NULL);
    refuses(clo_job_timing_read, NULL, &timing);
    refuses(clo_job_timing_read, s.job, NULL);
    assert_int_equal(clo_job_id(NULL), 0);
    refuses(clo_job_swap_plan, NULL, s.plan);
    refuses(clo_job_swap_plan, s.job, NULL);
    refuses(clo_runtime_swap_policy, NULL, policy_at(0), NULL);
    refuses(clo_runtime_swap_policy, s.f.runtime, NULL, NULL);
    refuses_somehow(clo_runtime_swap_policy, s.f.runtime, &empty, NULL);
    refuses(clo_runtime_hold_time, NULL, 1);
    clo_job_cancel(NULL);
    refuses(clo_token_take, NULL, NULL, NULL, NULL);
    refuses(clo_token_complete, (clo_token){0}, 0);
    clo_job_destroy(NULL);
    assert_null(clo_job_output(NULL, 0, 0, &bytes));
    assert_int_equal(bytes, 0);
    assert_null(clo_job_output(s.job, 99, 99, NULL));
    assert_int_equal(clo_job_output_hash(NULL), 0);
    refuses(clo_job_trace, NULL, &trace);
    refuses(clo_job_trace, s.job, NULL);
    refuses(clo_simulate, NULL, NULL, NULL, NULL, NULL);
    assert_null(none);
    assert_null(trace);
}

/* /proc cannot be read without a free file descriptor: the counts since the start are 0 then, not 2^64 - 4. */
static void page_faults_that_cannot_be_read_are_none(void **state)
{
    (void)state;
    struct rlimit before, none;
    clo_worker_stats stats = CLO_WORKER_STATS_INIT;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    clo_status status = clo_runtime_worker_stats(s.f.runtime, 0, &stats);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(status, CLO_OK);
    assert_int_equal(stats.minor_faults + stats.major_faults, 0);
}

static void workload_files(void **state)
{
    clo_workload *workload, *none = NULL;

    (void)state;
    ok(clo_workload_create("w", &workload));
    refuses_io(clo_workload_load, NULL, NULL, &none);
    refuses_io(clo_workload_load, "x", NULL, NULL);
    refuses_io(clo_workload_save, NULL, NEVER_WRITTEN);
    refuses_io(clo_workload_save, workload, NULL);
    assert_null(none);
    assert_null(fopen(NEVER_WRITTEN, "r"));
    clo_workload_destroy(workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies),
        cmocka_unit_test(statuses),
        cmocka_unit_test(files),
        cmocka_unit_test(registries),
        cmocka_unit_test(graphs_being_built),
        cmocka_unit_test(handles_of_graphs),
        cmocka_unit_test(graphs),
        cmocka_unit_test(platforms),
        cmocka_unit_test(calibration),
        cmocka_unit_test(costs),
        cmocka_unit_test(plans),
        cmocka_unit_test(traces),
        cmocka_unit_test(files),
        cmocka_unit_test(written_files),
        cmocka_unit_test(workload_files),
        cmocka_unit_test(runtimes),
        cmocka_unit_test(jobs),
        cmocka_unit_test(page_faults_that_cannot_be_read_are_none),
    };
    return cmocka_run_group_tests_name("arguments", tests, set_up, tear_down);
}
