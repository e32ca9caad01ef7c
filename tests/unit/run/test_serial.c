/* Which runs of a job one thread has alone (run/sharing/serial.c), from times that are made up. */
#include "support.h"

#include "run/sharing/borrow.h"
#include "run/sharing/serial.h"
#include "run/sharing/share_rule.h"
#include "run/state/runtime.h"

#include <string.h>

enum { EXECUTIONS = 1000, TRIES = 32 };

typedef struct world {
    clo_runtime runtime;
    clo_program program;
    clo_job job;
} world;

static world w;
static const clo_dispatch helped = {.is_helped = true};

static void make(uint32_t roots)
{
    memset(&w, 0, sizeof w);
    w.runtime.helps = true;
    w.runtime.ticks_in_us = 2000;
    w.program.executions = EXECUTIONS;
    w.program.roots_count = roots;
    w.job.runtime = &w.runtime;
    w.job.program = &w.program;
    w.job.dispatch = &helped;
    w.job.has_no_extras = true;
    atomic_store(&w.job.times.counts_ticks, true);
}

static bool is_serial(void)
{
    return atomic_load(&w.job.waiting.is_serial) != 0;
}

/* A run begins, and takes so long for each execution: with one thread alone, or shared. */
static bool run(int64_t serial_ns, int64_t shared_ns)
{
    clo_serial_decide(&w.job);
    bool was_serial = is_serial();
    if (was_serial)
        clo_serial_note(&w.job, serial_ns);
    atomic_store(&w.job.times.response,
                 (was_serial && clo_serial_pays(&w.job, serial_ns, 1) ? serial_ns : shared_ns) * EXECUTIONS * 2);
    return was_serial;
}

static uint32_t runs_alone(uint32_t runs, int64_t serial_ns, int64_t shared_ns)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < runs; i++)
        count += run(serial_ns, shared_ns);
    return count;
}

static void the_first_run_is_shared_and_the_next_two_are_not(void **state)
{
    (void)state;
    make(1);
    assert_false(run(20, 40));
    assert_true(run(20, 40));
    assert_true(run(20, 40));
    assert_true(clo_job_is_helped(&w.job));
}

static void the_quicker_way_is_taken_and_the_other_one_tried_now_and_then(void **state)
{
    (void)state;
    make(1);
    run(20, 40);
    assert_int_equal(runs_alone(10 * TRIES, 20, 40), 10 * TRIES - 10);
    make(1);
    run(100, 60); /* bodies that are worth a hand-over, which pays */
    assert_int_equal(runs_alone(10 * TRIES, 100, 60), 2 + 10);
    make(1);
    run(100, 150); /* which does not pay */
    uint32_t count = runs_alone(10 * TRIES, 100, 150);
    assert_in_range(count, 9 * TRIES, 10 * TRIES - 10);
    assert_in_range(runs_alone(2 * TRIES, 100, 60), 2, 2 * TRIES - 1); /* until it is tried again, and pays */
    assert_int_equal(runs_alone(10 * TRIES, 100, 60), 10);
}

static void one_slow_run_changes_little(void **state)
{
    (void)state;
    make(1);
    run(100, 60);
    runs_alone(2 * TRIES, 100, 60);
    run(100, 300);
    assert_in_range(runs_alone(TRIES, 100, 60), 0, 2);
    make(1);
    run(20, 40);
    runs_alone(2 * TRIES, 20, 40);
    run(100000, 40); /* the system had something else to do */
    assert_in_range(runs_alone(TRIES, 20, 40), TRIES - 1, TRIES);
}

static void bodies_of_a_fifth_of_a_us_are_always_shared(void **state)
{
    (void)state;
    make(1);
    run(200, 1000);
    assert_int_equal(runs_alone(10 * TRIES, 200, 1000), 1 + 10);
    assert_false(clo_serial_pays(&w.job, 200, 0));
}

static void long_runs_and_wide_ones_and_jobs_that_nobody_may_help_are_never_serial(void **state)
{
    (void)state;
    make(1);
    run(20, 11000); /* 11 ms */
    assert_int_equal(runs_alone(10 * TRIES, 20, 11000), 0);
    make(CLO_DEQUE_ITEMS);
    assert_int_equal(runs_alone(10 * TRIES, 20, 40), 0);
    make(1);
    w.runtime.helps = false;
    assert_int_equal(runs_alone(10 * TRIES, 20, 40), 0);
    make(1);
    w.job.is_pinned = true;
    assert_int_equal(runs_alone(10 * TRIES, 20, 40), 0);
    make(1);
    w.program.barriers = 1;
    assert_int_equal(runs_alone(10 * TRIES, 20, 40), 0);
}

/* Before any shared run is known. */
static void much_that_is_ready_is_shared_however_short(void **state)
{
    (void)state;
    make(1);
    assert_true(clo_serial_pays(&w.job, 10, CLO_WAKE_NS / 10 - 1));
    assert_false(clo_serial_pays(&w.job, 10, CLO_WAKE_NS / 10));
    assert_true(clo_serial_pays(&w.job, CLO_SERIAL_SURE_NS - 1, 1));
    assert_false(clo_serial_pays(&w.job, CLO_SERIAL_SURE_NS, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_run_is_shared_and_the_next_two_are_not),
        cmocka_unit_test(the_quicker_way_is_taken_and_the_other_one_tried_now_and_then),
        cmocka_unit_test(one_slow_run_changes_little),
        cmocka_unit_test(bodies_of_a_fifth_of_a_us_are_always_shared),
        cmocka_unit_test(long_runs_and_wide_ones_and_jobs_that_nobody_may_help_are_never_serial),
        cmocka_unit_test(much_that_is_ready_is_shared_however_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
