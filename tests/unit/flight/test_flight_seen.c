/* Which releases are kept (flight): the last ones, the late ones beyond them, of too many those that were most late;
 * and what is counted of the rest. Mutation: retire() that keeps late releases without a look at how late they were. */
#include "support.h"

#include "flight/seen.h"

enum { PERIOD_NS = 1000, DEADLINE_NS = 500, SUBMIT_NS = 7000, TASKS = 3 };

/* Three executions, one after the other; the last one ends so long after the release was due. */
static void add(clo_seen *seen, uint64_t release, int64_t response_ns)
{
    int64_t due_ns = SUBMIT_NS + (int64_t)release * PERIOD_NS;

    for (uint32_t t = 0; t < TASKS; t++)
        clo_seen_add(seen, &(clo_release_record){{.job = 1,
                                                  .task = t,
                                                  .executor = t,
                                                  .start_ns = due_ns + t,
                                                  .finish_ns = t + 1 < TASKS ? due_ns + t + 1 : due_ns + response_ns},
                                                 release});
}

static clo_seen open_seen(uint32_t last, uint32_t late)
{
    clo_seen seen = {
        .last = last, .late = late, .executions = TASKS, .period_ns = PERIOD_NS, .deadline_ns = DEADLINE_NS};

    ok(clo_seen_open(&seen));
    clo_seen_begin(&seen, SUBMIT_NS);
    return seen;
}

static clo_flight_counts counts_of(const clo_seen *seen)
{
    clo_flight_counts counts = CLO_FLIGHT_COUNTS_INIT;

    clo_seen_count(seen, &counts);
    return counts;
}

/* Executions of a release among what is kept. */
static uint32_t kept(const clo_seen *seen, uint64_t release)
{
    clo_trace_event events[100];
    size_t count = clo_seen_events(seen, NULL);
    uint32_t found = 0;

    assert_in_range(count, 0, 100);
    assert_int_equal(clo_seen_events(seen, events), count);
    for (size_t i = 0; i < count; i++)
        found += events[i].release == release;
    return found;
}

static void the_last_ones_and_late_ones_are_kept(void **state)
{
    (void)state;
    clo_seen seen = open_seen(4, 2);

    for (uint64_t k = 0; k < 20; k++)
        add(&seen, k, k == 3 || k == 8 ? 600 : 400);
    for (uint64_t k = 0; k < 20; k++)
        assert_int_equal(kept(&seen, k), k == 3 || k == 8 || k >= 16 ? TASKS : 0);
    const clo_flight_counts counts = counts_of(&seen);
    assert_int_equal(counts.releases, 20);
    assert_int_equal(counts.late, 2);
    assert_int_equal(counts.kept, 6);
    assert_int_equal(counts.late_kept, 2);
    assert_int_equal(counts.executions_lost, 0);
    clo_seen_begin(&seen, SUBMIT_NS); /* another series */
    assert_int_equal(clo_seen_events(&seen, NULL), 0);
    clo_seen_close(&seen);
}

static void of_too_many_those_that_were_most_late_are_kept(void **state)
{
    (void)state;
    clo_seen seen = open_seen(2, 3);

    for (uint64_t k = 0; k < 30; k++)
        add(&seen, k, k < 28 ? 501 + (int64_t)(k * 5 % 28) : 100); /* each lateness from 1 to 28 once */
    for (uint64_t k = 0; k < 28; k++)
        assert_int_equal(kept(&seen, k), k * 5 % 28 >= 25 || k >= 28 ? TASKS : 0);
    const clo_flight_counts counts = counts_of(&seen);
    assert_int_equal(counts.late, 28);
    assert_int_equal(counts.late_kept, 3);
    assert_int_equal(counts.kept, 5);
    clo_seen_close(&seen);
}

static void what_comes_too_late_or_too_often_is_counted(void **state)
{
    (void)state;
    clo_seen seen = open_seen(2, 1);

    add(&seen, 1, 600);
    add(&seen, 2, 400);
    add(&seen, 3, 400); /* 1 is among the late ones now */
    add(&seen, 4, 400); /* 2 is given up */
    assert_int_equal(counts_of(&seen).executions_lost, 0);
    add(&seen, 2, 400);
    assert_int_equal(counts_of(&seen).executions_lost, 3);
    add(&seen, 1, 400); /* that has all it can have */
    assert_int_equal(counts_of(&seen).executions_lost, 6);
    assert_int_equal(kept(&seen, 1), TASKS);
    clo_seen_close(&seen);
}

static void without_a_period_none_is_late(void **state)
{
    (void)state;
    clo_seen seen = open_seen(2, 2);

    seen.period_ns = 0;
    add(&seen, 0, 1000000);
    add(&seen, UINT64_C(1) << 52, 1);
    assert_int_equal(counts_of(&seen).late, 0);
    clo_seen_close(&seen);
}

static void a_bucket_begins_where_the_one_before_ends(void **state)
{
    (void)state;
    assert_int_equal(clo_latency_bucket_ns(0), 0);
    assert_int_equal(clo_latency_bucket_ns(63), 63);
    assert_int_equal(clo_latency_bucket_ns(64), 64);
    assert_int_equal(clo_latency_bucket_ns(65), 66);
    for (uint32_t b = 1; b < CLO_LATENCY_BUCKETS; b++)
        assert_true(clo_latency_bucket_ns(b) > clo_latency_bucket_ns(b - 1));
    assert_int_equal(clo_latency_bucket_ns(CLO_LATENCY_BUCKETS), INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_ones_and_late_ones_are_kept),
        cmocka_unit_test(of_too_many_those_that_were_most_late_are_kept),
        cmocka_unit_test(what_comes_too_late_or_too_often_is_counted),
        cmocka_unit_test(without_a_period_none_is_late),
        cmocka_unit_test(a_bucket_begins_where_the_one_before_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
