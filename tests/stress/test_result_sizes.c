/* Every public call that fills a struct: callers of this and of newer releases, and sizes that were never set. */
#include "base/status.h"
#include "support.h"

#include "running.h"

#define TAIL 24

/* Calls `call` three times on a `type`: with the right size, with more than this library knows, with a wrong size.
 * `known` is the first field that must come out the same, up to `last`. */
#define fills(type, init, last, call)                                                       \
    do {                                                                                    \
        type right = init, wrong = {0}, kept = {0};                                         \
        struct {                                                                            \
            type known;                                                                     \
            unsigned char tail[TAIL];                                                       \
        } newer;                                                                            \
        const unsigned char zeros[TAIL] = {0};                                              \
        type *out = &right;                                                                 \
        ok(call);                                                                           \
        assert_int_equal(right.size, sizeof right);                                         \
        memset(&newer, 0xaa, sizeof newer);                                                 \
        newer.known.size = sizeof newer;                                                    \
        out = &newer.known;                                                                 \
        ok(call);                                                                           \
        assert_int_equal(newer.known.size, sizeof newer);                                   \
        assert_memory_equal(newer.tail, zeros, TAIL);                                       \
        assert_memory_equal(&newer.known.last, &right.last, sizeof right.last);             \
        out = &wrong;                                                                       \
        fails(CLO_ERR_ARGUMENT, #type ".size is 0; initialise it with its ..._INIT", call); \
        assert_memory_equal(&wrong, &kept, sizeof wrong);                                   \
        wrong.size = kept.size = CLO_BYTES_UP_TO(type, last) - 1;                           \
        fails(CLO_ERR_ARGUMENT, #type ".size is ", call);                                   \
        assert_memory_equal(&wrong, &kept, sizeof wrong);                                   \
    } while (0)

static void results_are_filled_up_to_the_size_that_the_caller_sets(void **state)
{
    (void)state;
    clo_task task = {.body = count_call, .work_ns = 1000};
    fixture f = start(2, scene_layers(2, 2, &task), CLO_CLOCK_REAL);
    clo_job *job = make_job(&f, NULL, NULL);
    clo_plan *plan;

    ok(clo_plan_create(f.cost, NULL, &plan));
    ok(clo_job_submit(job));
    fills(clo_job_result, CLO_JOB_RESULT_INIT, decision_max_ns, clo_job_wait(job, out));
    fills(clo_job_result, CLO_JOB_RESULT_INIT, makespan_ns, clo_job_wait_for(job, 0, out));
    fills(clo_job_result, CLO_JOB_RESULT_INIT, executed, clo_simulate(f.cost, NULL, out, NULL, NULL));
    fills(clo_job_timing, CLO_JOB_TIMING_INIT, response_ns, clo_job_timing_read(job, out));
    fills(clo_worker_stats, CLO_WORKER_STATS_INIT, missed_wakes, clo_runtime_worker_stats(f.runtime, 0, out));
    fills(clo_bound, CLO_BOUND_INIT, best_ns, clo_cost_bound(f.cost, out));
    fills(clo_plan_metrics, CLO_PLAN_METRICS_INIT, duplicates, clo_plan_measure(plan, f.cost, out));
    clo_plan_destroy(plan);
    clo_job_destroy(job);
    stop(&f);
}

/* A wait with a struct of a wrong size waits for nothing: the result can still be had. */
static void a_wrong_size_does_not_wait(void **state)
{
    (void)state;
    clo_task task = {.body = count_call, .work_ns = 1000};
    fixture f = start(1, scene_layers(1, 1, &task), CLO_CLOCK_REAL);
    clo_job *job = make_job(&f, NULL, NULL);
    clo_job_result unset = {0}, result = CLO_JOB_RESULT_INIT;

    ok(clo_job_submit(job));
    fails(CLO_ERR_ARGUMENT, "clo_job_result.size is 0", clo_job_wait(job, &unset));
    ok(clo_job_wait(job, &result));
    assert_int_equal(result.executed, 1);
    clo_job_destroy(job);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_filled_up_to_the_size_that_the_caller_sets),
        cmocka_unit_test(a_wrong_size_does_not_wait),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
