/* Rows of jobs: what is refused, what is kept, and the order. */
#include "fault.h"
#include "support.h"
#include "workload/workload.h"

#include <string.h>

static clo_graph *sealed(const char *name)
{
    clo_graph *graph;
    clo_task task = {.work_ns = 5};

    ok(clo_graph_create(name, &graph));
    ok(clo_graph_add_task(graph, &task, NULL));
    ok(clo_graph_seal(graph));
    return graph;
}

static clo_workload *empty(void)
{
    clo_workload *workload;

    ok(clo_workload_create("w", &workload));
    return workload;
}

/* A workload that owns its one graph, "g". */
static clo_workload *with_graph(clo_graph **graph)
{
    clo_workload *workload = empty();

    *graph = sealed("g");
    ok(clo_workload_adopt(workload, *graph));
    return workload;
}

static void add(clo_workload *workload, const clo_graph *graph, const char *name, int64_t arrival_ns)
{
    clo_workload_job job = CLO_WORKLOAD_JOB_INIT;

    job.graph = graph;
    job.name = name;
    job.arrival_ns = arrival_ns;
    ok(clo_workload_add(workload, &job));
}

static void a_job_keeps_what_it_was_given_and_gets_defaults(void **state)
{
    clo_graph *graph;
    clo_workload *w = with_graph(&graph);
    char name[] = "first";
    clo_workload_job job = {.size = sizeof job,
                            .name = name,
                            .graph = graph,
                            .arrival_ns = 7,
                            .deadline_ns = 8,
                            .period_ns = 9,
                            .releases = 10,
                            .weight = 11,
                            .band = 5,
                            .group = 13,
                            .limit = 14,
                            .line = 15};

    (void)state;
    ok(clo_workload_add(w, &job));
    name[0] = 'X'; /* was copied */
    add(w, graph, NULL, 7);
    add(w, graph, "g", 7);
    assert_int_equal(clo_workload_jobs(w), 3);
    assert_string_equal(clo_workload_name(w), "w");
    const clo_workload_job *row = clo_workload_get(w, 0);
    assert_string_equal(row->name, "first");
    assert_ptr_equal(row->graph, graph);
    assert_int_equal(row->size, sizeof job);
    assert_int_equal(row->arrival_ns, 7);
    assert_int_equal(row->deadline_ns, 8);
    assert_int_equal(row->period_ns, 9);
    assert_int_equal(row->releases, 10);
    assert_int_equal(row->weight, 11);
    assert_int_equal(row->band, 5);
    assert_int_equal(row->group, 13);
    assert_int_equal(row->limit, 14);
    assert_int_equal(row->line, 15);
    assert_ptr_equal(clo_workload_get(w, 1)->name, clo_graph_name(graph));
    assert_ptr_equal(clo_workload_get(w, 2)->name, clo_graph_name(graph)); /* no copy of an equal name */
    assert_int_equal(clo_workload_get(w, 1)->weight, 1);
    assert_null(clo_workload_get(w, 3));
    clo_workload_destroy(w);
}

/* A size of an older caller: what it lacks is the default. */
static void an_older_struct_has_defaults_in_its_tail(void **state)
{
    clo_graph *graph;
    clo_workload *w = with_graph(&graph);
    clo_workload_job job = {.size = offsetof(clo_workload_job, deadline_ns),
                            .graph = graph,
                            .arrival_ns = 3,
                            .deadline_ns = -1,
                            .limit = 99};
    struct {
        clo_workload_job job;
        uint64_t later;
    } newer = {{.size = sizeof newer, .graph = graph}, 0};

    (void)state;
    ok(clo_workload_add(w, &job));
    assert_int_equal(clo_workload_get(w, 0)->arrival_ns, 3);
    assert_int_equal(clo_workload_get(w, 0)->limit, 0);
    ok(clo_workload_add(w, &newer.job));
    newer.later = 1;
    fails(CLO_ERR_ARGUMENT, "clo_workload_job", clo_workload_add(w, &newer.job));
    clo_workload_destroy(w);
}

static void what_cannot_be_is_refused_and_changes_nothing(void **state)
{
    clo_graph *graph, *open;
    clo_workload *w = with_graph(&graph);
    const struct {
        clo_workload_job job;
        clo_status status;
        const char *error;
    } rows[] = {
        {{.graph = NULL}, CLO_ERR_ARGUMENT, "clo_workload_add: graph of the job is NULL"},
        {{.graph = graph, .arrival_ns = -1}, CLO_ERR_ARGUMENT, "job \"g\": arrival_ns is -1; give a number >= 0"},
        {{.graph = graph, .deadline_ns = -7}, CLO_ERR_ARGUMENT, "job \"g\": deadline_ns is -7; give a number >= 0"},
        {{.graph = graph, .period_ns = INT64_MIN}, CLO_ERR_ARGUMENT, "job \"g\": period_ns is -9223372036854775808;"},
        {{.graph = graph, .arrival_ns = INT64_MAX},
         CLO_ERR_LIMIT,
         "job \"g\": arrival_ns is 9223372036854775807, more"},
        {{.graph = graph, .arrival_ns = CLO_WORKLOAD_TIME_MAX, .deadline_ns = 1},
         CLO_ERR_LIMIT,
         "job \"g\": arrival_ns + deadline_ns is more than 146 years; give less"},
        {{.graph = graph, .period_ns = 1, .releases = UINT64_MAX},
         CLO_ERR_LIMIT,
         "job \"g\": releases is 18446744073709551615; give at most 268435456"},
        {{.graph = graph, .period_ns = CLO_WORKLOAD_TIME_MAX / 2, .releases = 4},
         CLO_ERR_LIMIT,
         "job \"g\": its last release + deadline_ns is more than 146 years; give less"},
        {{.graph = graph, .arrival_ns = 1, .period_ns = CLO_WORKLOAD_TIME_MAX - 2, .releases = 2, .deadline_ns = 2},
         CLO_ERR_LIMIT,
         "job \"g\": its last release + deadline_ns is more than 146 years; give less"},
        {{.graph = graph, .band = CLO_BANDS_MAX, .name = "n"}, CLO_ERR_ARGUMENT, "job \"n\": band is 8; use 0 to 7"},
        {{.graph = graph, .releases = 4, .name = "n"},
         CLO_ERR_ARGUMENT,
         "job \"n\": has 4 releases but no period_ns; give one"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        clo_workload_job job = rows[i].job;
        job.size = sizeof job;
        fails(rows[i].status, rows[i].error, clo_workload_add(w, &job));
    }
    clo_workload_job unset = {0};
    fails(CLO_ERR_ARGUMENT, "clo_workload_job.size is 0", clo_workload_add(w, &unset));
    ok(clo_graph_create("open", &open));
    clo_workload_job job = {.size = sizeof job, .graph = open};
    fails(CLO_ERR_STATE, "clo_workload_add: graph \"open\" is not sealed", clo_workload_add(w, &job));
    fails(CLO_ERR_STATE, "clo_workload_adopt: graph \"open\" is not sealed", clo_workload_adopt(w, open));
    clo_graph_destroy(open);
    assert_int_equal(clo_workload_jobs(w), 0);
    job = (clo_workload_job){.size = sizeof job, .graph = graph, .arrival_ns = CLO_WORKLOAD_TIME_MAX};
    ok(clo_workload_add(w, &job));
    clo_workload_destroy(w);
}

static void sorting_keeps_the_order_of_jobs_that_arrive_together(void **state)
{
    static const char *const wanted[] = {"a", "b", "c", "d", "e"};
    clo_graph *graph;
    clo_workload *w = with_graph(&graph);

    (void)state;
    assert_true(w->is_sorted);
    add(w, graph, "c", 5);
    assert_true(w->is_sorted);
    add(w, graph, "a", 2);
    assert_false(w->is_sorted);
    add(w, graph, "d", 5);
    add(w, graph, "e", 5);
    add(w, graph, "b", 2);
    assert_string_equal(clo_workload_get(w, 0)->name, "c");
    ok(clo_workload_sort(w));
    assert_true(w->is_sorted);
    for (uint32_t j = 0; j < 5; j++)
        assert_string_equal(clo_workload_get(w, j)->name, wanted[j]);
    ok(clo_workload_sort(w));
    add(w, graph, "f", 5); /* sorted workloads may grow */
    assert_true(w->is_sorted);
    assert_int_equal(clo_workload_jobs(w), 6);
    clo_workload_destroy(w);
}

static void releases_that_are_not_counted_go_on_to_the_end_of_the_workload(void **state)
{
    clo_graph *graph;
    clo_workload *w = with_graph(&graph), *drawn;
    clo_arrivals_config config = CLO_ARRIVALS_CONFIG_INIT;
    clo_workload_job job = {.size = sizeof job, .graph = graph, .arrival_ns = 3, .period_ns = 10};

    (void)state;
    ok(clo_workload_add(w, &job));
    assert_int_equal(clo_workload_releases(w, 0), 1); /* nothing comes later */
    add(w, graph, NULL, 22);
    assert_int_equal(clo_workload_releases(w, 0), 2); /* at 3 and 13 */
    add(w, graph, NULL, 23);
    assert_int_equal(clo_workload_releases(w, 0), 3); /* the one at 23 comes with the last arrival */
    assert_int_equal(clo_workload_releases(w, 1), 1);
    job.releases = 7;
    ok(clo_workload_add(w, &job)); /* the last at 63 */
    assert_int_equal(clo_workload_releases(w, 0), 7);
    assert_int_equal(clo_workload_releases(w, 3), 7);
    assert_int_equal(clo_workload_releases(w, 4), 0);
    assert_int_equal(clo_workload_releases(NULL, 0), 0);
    ok(clo_workload_sort(w)); /* the jobs that arrive at 3 first */
    assert_int_equal(clo_workload_releases(w, 0), 7);
    config.kind = CLO_ARRIVALS_BATCH;
    ok(clo_workload_arrivals(w, &config, &drawn));
    assert_int_equal(clo_workload_releases(drawn, 0), 7);
    clo_workload_destroy(drawn);
    job.releases = 2;
    job.period_ns = CLO_WORKLOAD_TIME_MAX - job.arrival_ns; /* the last release may come */
    ok(clo_workload_add(w, &job));
    assert_int_equal(clo_workload_releases(w, 0), 1 + (uint64_t)((CLO_WORKLOAD_TIME_MAX - 3) / 10));
    config.kind = CLO_ARRIVALS_POISSON;
    config.mean_ns = 1000;
    config.jobs = clo_workload_jobs(w);
    fails(CLO_ERR_LIMIT, "would arrive, be released, or miss its deadline, after more than 146 years",
          clo_workload_arrivals(w, &config, &drawn));
    clo_workload_destroy(w);
}

static void a_limit_beyond_the_platform_is_named(void **state)
{
    clo_graph *graph;
    clo_workload *w = with_graph(&graph);
    clo_platform *platform;
    clo_workload_job job = {.size = sizeof job, .graph = graph, .limit = 4};

    (void)state;
    ok(clo_platform_open("uniform:4", &platform));
    ok(clo_workload_add(w, &job));
    ok(clo_workload_check(w, platform));
    job.limit = 5;
    job.name = "wide";
    ok(clo_workload_add(w, &job));
    fails(CLO_ERR_PLATFORM,
          "job 1 \"wide\": limit is 5, but the platform has 4 executors; write at most that, or 0 for no limit",
          clo_workload_check(w, platform));
    assert_null(clo_workload_platform(w));
    clo_workload_set_platform(w, platform);
    assert_ptr_equal(clo_workload_platform(w), platform);
    clo_workload_set_platform(w, platform); /* the same one again */
    clo_workload_set_platform(w, NULL);
    assert_null(clo_workload_platform(w));
    clo_workload_destroy(w);
}

static clo_status build_and_drop(void *context)
{
    clo_workload *w = NULL;
    clo_graph *graph = context;
    clo_workload_job job = {.size = sizeof job, .graph = graph, .name = "other", .arrival_ns = 9};
    clo_status status = clo_workload_create(NULL, &w);

    for (; job.arrival_ns > 0 && status == CLO_OK; job.arrival_ns--)
        status = clo_workload_add(w, &job);
    if (status == CLO_OK)
        status = clo_workload_sort(w);
    if (status == CLO_OK)
        assert_int_equal(clo_workload_get(w, 0)->arrival_ns, 1);
    clo_workload_destroy(w);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    clo_graph *graph = sealed("g");

    (void)state;
    assert_true(fault_each(build_and_drop, graph) > 10);
    clo_graph_destroy(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_keeps_what_it_was_given_and_gets_defaults),
        cmocka_unit_test(an_older_struct_has_defaults_in_its_tail),
        cmocka_unit_test(what_cannot_be_is_refused_and_changes_nothing),
        cmocka_unit_test(sorting_keeps_the_order_of_jobs_that_arrive_together),
        cmocka_unit_test(releases_that_are_not_counted_go_on_to_the_end_of_the_workload),
        cmocka_unit_test(a_limit_beyond_the_platform_is_named),
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests_name("workload", tests, NULL, NULL);
}
