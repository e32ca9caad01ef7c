/* Drawn arrivals: the same on every machine, of the right distribution, and a longer stream only adds to a shorter. */
#include "base/numbers/noise.h"
#include "fault.h"
#include "support.h"
#include "workload/workload.h"

#include <math.h>
#include <string.h>

/* Jobs "0" .. "n-1" at the given arrivals, which share one graph. */
static clo_workload *trace(const int64_t *arrivals_ns, uint32_t count)
{
    clo_workload *workload;
    clo_graph *graph;
    clo_task task = {.work_ns = 5};

    ok(clo_graph_create("g", &graph));
    ok(clo_graph_add_task(graph, &task, NULL));
    ok(clo_graph_seal(graph));
    ok(clo_workload_create("t", &workload));
    ok(clo_workload_adopt(workload, graph));
    for (uint32_t i = 0; i < count; i++) {
        char name[2] = {(char)('0' + i), 0};
        clo_workload_job job = {.size = sizeof job,
                                .graph = graph,
                                .name = name,
                                .arrival_ns = arrivals_ns[i],
                                .deadline_ns = 10 + i,
                                .weight = 1 + i,
                                .group = i};
        ok(clo_workload_add(workload, &job));
    }
    return workload;
}

static clo_workload *drawn(const clo_workload *from, clo_arrivals_config config)
{
    clo_workload *made;

    config.size = sizeof config;
    ok(clo_workload_arrivals(from, &config, &made));
    assert_true(made->is_sorted);
    assert_null(clo_workload_platform(made));
    assert_string_equal(clo_workload_name(made), clo_workload_name(from));
    return made;
}

static void expect(const clo_workload *w, const char *names, const int64_t *arrivals_ns)
{
    assert_int_equal(clo_workload_jobs(w), strlen(names));
    for (uint32_t j = 0; names[j] != '\0'; j++) {
        const clo_workload_job *job = clo_workload_get(w, j);
        assert_int_equal(job->name[0], names[j]);
        assert_int_equal(job->weight, names[j] - '0' + 1); /* the rest of the row goes with it */
        assert_int_equal(job->deadline_ns, names[j] - '0' + 10);
        assert_int_equal(job->arrival_ns, arrivals_ns[j]);
    }
}

static void a_batch_arrives_at_once(void **state)
{
    clo_workload *from = trace((const int64_t[]){5, 9, 9}, 3), *all, *more;

    (void)state;
    ok(clo_workload_arrivals(from, NULL, &all));
    expect(all, "012", (const int64_t[]){0, 0, 0});
    more = drawn(from, (clo_arrivals_config){.jobs = 7});
    expect(more, "0120120", (const int64_t[]){0, 0, 0, 0, 0, 0, 0});
    clo_workload_destroy(more);
    more = drawn(from, (clo_arrivals_config){.jobs = 2});
    expect(more, "01", (const int64_t[]){0, 0});
    clo_workload_destroy(more);
    clo_workload_destroy(all);
    clo_workload_destroy(from);
}

static void a_trace_repeats_after_one_mean_gap(void **state)
{
    clo_workload *from = trace((const int64_t[]){5, 9, 17}, 3), *more;
    const clo_arrivals_config config = {.kind = CLO_ARRIVALS_TRACE, .jobs = 7};

    (void)state;
    more = drawn(from, config); /* the span is 12, the mean gap 6 */
    expect(more, "0120120", (const int64_t[]){5, 9, 17, 23, 27, 35, 41});
    clo_workload_destroy(more);
    clo_workload_destroy(from);
    from = trace((const int64_t[]){4}, 1);
    more = drawn(from, config);
    expect(more, "0000000", (const int64_t[]){4, 8, 12, 16, 20, 24, 28});
    clo_workload_destroy(more);
    clo_workload_destroy(from);
}

static void an_unsorted_workload_is_read_in_the_order_of_arrivals(void **state)
{
    clo_workload *from = trace((const int64_t[]){9, 5, 9, 1}, 4), *made;

    (void)state;
    made = drawn(from, (clo_arrivals_config){.kind = CLO_ARRIVALS_TRACE});
    expect(made, "3102", (const int64_t[]){1, 5, 9, 9});
    assert_false(from->is_sorted);
    assert_int_equal(clo_workload_get(from, 0)->arrival_ns, 9);
    clo_workload_destroy(made);
    clo_workload_destroy(from);
}

/* Stored figures: any other machine must draw the same. */
static void a_seed_gives_the_same_stream_everywhere(void **state)
{
    static const int64_t wanted_ns[] = {
        47639964, 2519540325, 3345611357, 7036778734, 8932382225, 8979858771, 9877636579, 12050513977,
    };
    clo_workload *from = trace((const int64_t[]){0, 0, 0}, 3), *made, *shuffled;
    clo_arrivals_config config = {.kind = CLO_ARRIVALS_POISSON, .mean_ns = 1000000007, .seed = 42, .jobs = 8};

    (void)state;
    made = drawn(from, config);
    expect(made, "01201201", wanted_ns);
    config.shuffled = 1;
    shuffled = drawn(from, config);
    expect(shuffled, "01222222", wanted_ns);
    clo_workload_destroy(made);
    clo_workload_destroy(shuffled);
    clo_workload_destroy(from);
}

static void more_jobs_only_add_jobs(void **state)
{
    clo_workload *from = trace((const int64_t[]){0, 3, 8}, 3);

    (void)state;
    for (int kind = CLO_ARRIVALS_BATCH; kind <= CLO_ARRIVALS_TRACE; kind++) {
        clo_arrivals_config config = {.kind = (clo_arrivals)kind,
                                      .shuffled = kind != CLO_ARRIVALS_TRACE,
                                      .mean_ns = kind == CLO_ARRIVALS_POISSON ? 1000 : 0,
                                      .seed = 9,
                                      .jobs = 1000};
        clo_workload *long_one = drawn(from, config);
        config.jobs = 321;
        clo_workload *short_one = drawn(from, config);
        for (uint32_t j = 0; j < 321; j++) {
            const clo_workload_job *a = clo_workload_get(long_one, j), *b = clo_workload_get(short_one, j);
            assert_ptr_equal(a->name, b->name);
            assert_int_equal(a->arrival_ns, b->arrival_ns);
        }
        clo_workload_destroy(long_one);
        clo_workload_destroy(short_one);
    }
    clo_workload_destroy(from);
}

/* Mean, spread and tail of 200 000 gaps against the exponential distribution; all jobs are drawn alike often. */
static void gaps_are_exponential_and_jobs_uniform(void **state)
{
    enum { N = 200000 };
    const double mean = 1e6;
    clo_workload *from = trace((const int64_t[]){0, 0, 0, 0}, 4);
    clo_workload *made =
        drawn(from, (clo_arrivals_config){
                        .kind = CLO_ARRIVALS_POISSON, .shuffled = 1, .mean_ns = (int64_t)mean, .seed = 1, .jobs = N});
    double sum = 0, squares = 0, beyond[4] = {0};
    uint32_t seen[4] = {0};
    int64_t last = 0;

    (void)state;
    for (uint32_t j = 0; j < N; j++) {
        const clo_workload_job *job = clo_workload_get(made, j);
        double gap = (double)(job->arrival_ns - last) / mean;
        last = job->arrival_ns;
        sum += gap;
        squares += gap * gap;
        for (int k = 0; k < 4; k++)
            beyond[k] += gap > k + 1;
        seen[job->name[0] - '0']++;
    }
    assert_true(fabs(sum / (double)N - 1) < 0.01);
    assert_true(fabs(squares / (double)N - 2) < 0.05);
    for (int k = 0; k < 4; k++) /* five standard deviations of a binomial */
        assert_true(fabs(beyond[k] - (double)N * exp(-k - 1)) < 5 * sqrt((double)N * exp(-k - 1)));
    for (int k = 0; k < 4; k++)
        assert_in_range(seen[k], N / 4 - 1000, N / 4 + 1000);
    clo_workload_destroy(made);
    clo_workload_destroy(from);
}

/* Large means keep their precision, and too late is an error, not an overflow. */
static void huge_means_end_in_an_error(void **state)
{
    clo_workload *from = trace((const int64_t[]){0, CLO_WORKLOAD_TIME_MAX - 100}, 2), *made = NULL;
    clo_arrivals_config config = {
        .size = sizeof config, .kind = CLO_ARRIVALS_POISSON, .mean_ns = INT64_MAX, .jobs = 99};

    (void)state;
    fails(CLO_ERR_LIMIT, "would arrive, be released, or miss its deadline, after more than 146 years",
          clo_workload_arrivals(from, &config, &made));
    config.mean_ns = CLO_WORKLOAD_TIME_MAX / 64;
    config.jobs = 9;
    made = drawn(from, config);
    clo_workload_destroy(made);
    made = NULL;
    config = (clo_arrivals_config){.size = sizeof config, .kind = CLO_ARRIVALS_TRACE, .jobs = 3};
    fails(CLO_ERR_LIMIT, "job 2 would arrive", clo_workload_arrivals(from, &config, &made));
    config.jobs = CLO_WORKLOAD_JOBS_MAX + 1;
    fails(CLO_ERR_LIMIT, "jobs is 268435457; use at most 268435456", clo_workload_arrivals(from, &config, &made));
    assert_null(made);
    clo_workload_destroy(from);
}

static void what_cannot_be_is_refused(void **state)
{
    clo_workload *from = trace((const int64_t[]){0}, 1), *none = trace(NULL, 0), *made = NULL;
    const struct {
        clo_arrivals_config config;
        const char *error;
    } rows[] = {
        {{.kind = CLO_ARRIVALS_POISSON}, "mean_ns is 0; give a number > 0"},
        {{.kind = CLO_ARRIVALS_POISSON, .mean_ns = -5}, "mean_ns is -5; give a number > 0"},
        {{.kind = CLO_ARRIVALS_BATCH, .mean_ns = 5}, "mean_ns is 5, but kind is not CLO_ARRIVALS_POISSON; give 0"},
        {{.kind = CLO_ARRIVALS_TRACE, .shuffled = 1}, "shuffled is 1; give 0 or 1, with a trace 0"},
        {{.shuffled = 2}, "shuffled is 2; give 0 or 1, with a trace 0"},
        {{.kind = (clo_arrivals)3}, "kind is 3; use a CLO_ARRIVALS_..."},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        clo_arrivals_config config = rows[i].config;
        config.size = sizeof config;
        fails(CLO_ERR_ARGUMENT, rows[i].error, clo_workload_arrivals(from, &config, &made));
    }
    fails(CLO_ERR_ARGUMENT, "workload \"t\" has no jobs; add one", clo_workload_arrivals(none, NULL, &made));
    assert_null(made);
    clo_workload_destroy(none);
    clo_workload_destroy(from);
}

static clo_status draw_and_drop(void *context)
{
    clo_arrivals_config config = {.size = sizeof config, .kind = CLO_ARRIVALS_POISSON, .mean_ns = 50, .jobs = 99};
    clo_workload *made = NULL;
    clo_status status = clo_workload_arrivals(context, &config, &made);

    clo_workload_destroy(made);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    clo_workload *from = trace((const int64_t[]){7, 2}, 2);

    (void)state;
    assert_true(fault_each(draw_and_drop, from) > 5);
    clo_workload_destroy(from);
}

/* von Neumann's method is exact: the mean of 2^20 numbers is within four standard deviations of 1. */
static void the_exponential_of_noise_has_mean_one(void **state)
{
    clo_rng rng = clo_rng_seed(3);
    double sum = 0;

    (void)state;
    for (int i = 0; i < 1 << 20; i++) {
        uint64_t drawn_q32 = clo_exponential_q32(&rng);
        assert_true(drawn_q32 >> 32 <= CLO_EXPONENTIAL_WHOLE_MAX);
        sum += (double)drawn_q32 * 0x1p-32;
    }
    assert_true(fabs(sum / (1 << 20) - 1) < 4.0 / 1024);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_arrives_at_once),
        cmocka_unit_test(a_trace_repeats_after_one_mean_gap),
        cmocka_unit_test(an_unsorted_workload_is_read_in_the_order_of_arrivals),
        cmocka_unit_test(a_seed_gives_the_same_stream_everywhere),
        cmocka_unit_test(more_jobs_only_add_jobs),
        cmocka_unit_test(gaps_are_exponential_and_jobs_uniform),
        cmocka_unit_test(huge_means_end_in_an_error),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(the_exponential_of_noise_has_mean_one),
    };

    return cmocka_run_group_tests_name("workload_arrivals", tests, NULL, NULL);
}
