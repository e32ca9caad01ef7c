/* R5, latencies are always recorded, in fixed memory, without waiting: quantiles against a sorted list of the same
 * values, and a reader beside the writer.
 * Mutation: shift the bucket by one in clo_histogram_bucket, or count only every second record: the first test
 * fails. */
#include "support.h"

#include "base/numbers/rng.h"
#include "rt.h"
#include "sync/structure/histogram.h"

#include <pthread.h>
#include <stdlib.h>

_Static_assert(sizeof(clo_histogram) <= 8192, "8 KiB each");

#define VALUES 20000u

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void quantiles_are_those_of_the_sorted_values_within_a_thirty_second(void **state)
{
    static const double shares[] = {0.5, 0.9, 0.99, 0.999, 0.9999, 1};
    static clo_histogram h;
    int64_t *values = malloc(VALUES * sizeof *values);

    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        clo_rng rng = clo_rng_seed(seed);
        clo_histogram_clear(&h);
        for (uint32_t i = 0; i < VALUES; i++) {
            values[i] = (int64_t)(clo_rng_next(&rng) >> (20 + clo_rng_below(&rng, 40)));
            clo_histogram_record(&h, values[i]);
        }
        qsort(values, VALUES, sizeof *values, by_value);
        for (size_t s = 0; s < sizeof shares / sizeof shares[0]; s++) {
            uint32_t rank = (uint32_t)(shares[s] * VALUES);
            int64_t exact = values[rank > 0 ? rank - 1 : 0], got = clo_histogram_quantile(&h, shares[s]);
            assert_true(got >= exact);
            assert_true(got - exact <= exact / 32);
        }
        assert_int_equal(atomic_load(&h.max_ns), values[VALUES - 1]);
    }
    free(values);
}

static clo_histogram shared;
static _Atomic uint32_t is_recording;

static void *record_main(void *argument)
{
    (void)argument;
    for (int64_t i = 0; i < 1000000; i++)
        clo_histogram_record(&shared, i % 1000);
    atomic_store(&is_recording, 0);
    return NULL;
}

static void a_reader_beside_the_writer_sees_counts_that_only_grow(void **state)
{
    pthread_t writer;
    uint64_t last = 0;

    (void)state;
    atomic_store(&is_recording, 1);
    assert_int_equal(pthread_create(&writer, NULL, record_main, NULL), 0);
    while (atomic_load(&is_recording) != 0) {
        uint64_t now = atomic_load(&shared.count);
        assert_true(now >= last && clo_histogram_quantile(&shared, 0.5) < 1000);
        last = now;
    }
    pthread_join(writer, NULL);
    assert_int_equal(atomic_load(&shared.count), 1000000);
}

static void every_release_is_recorded_and_readable_while_the_series_runs(void **state)
{
    (void)state;
    for (int way = 0; way < RT_WAYS; way++) {
        clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
        clo_job_config job = CLO_JOB_CONFIG_INIT;
        clo_job_timing timing = CLO_JOB_TIMING_INIT;
        rt_scene s;

        job.period_ns = 100000;
        job.releases = 300;
        rt_open(&s, way, &runtime, &job);
        ok(clo_job_submit(s.job));
        do
            ok(clo_job_timing_read(s.job, &timing));
        while (timing.response_ns.count < 150);
        ok(clo_job_wait(s.job, NULL));
        ok(clo_job_timing_read(s.job, &timing));
        assert_int_equal(timing.response_ns.count, 300);
        assert_int_equal(timing.start_ns.count, 300);
        assert_int_equal(timing.jitter_ns.count, 300);
        assert_true(timing.response_ns.p50_ns <= timing.response_ns.p99_ns);
        assert_true(timing.response_ns.p9999_ns <= timing.response_ns.max_ns);
        assert_true(timing.start_ns.p50_ns <= timing.response_ns.p50_ns);
        rt_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_those_of_the_sorted_values_within_a_thirty_second),
        cmocka_unit_test(a_reader_beside_the_writer_sees_counts_that_only_grow),
        cmocka_unit_test(every_release_is_recorded_and_readable_while_the_series_runs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
