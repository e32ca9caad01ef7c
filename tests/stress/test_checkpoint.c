/* Runs of which a part is done already: the rest runs once, under every dispatch, on the outputs that were kept. */
#include "support.h"

#include "planner_named.h"
#include "running.h"

#include <string.h>

#define LAYERS 6u
#define WIDTH 5u
#define TASKS (LAYERS * WIDTH)

static _Atomic uint32_t ran[TASKS];

static int sum(const clo_call *call)
{
    atomic_fetch_add(&ran[call->task], 1);
    return sum_inputs(call);
}

static clo_graph *layers(int64_t demand, uint8_t duplicable)
{
    clo_task task = {.body = sum, .work_ns = 1000, .output_bytes = 64, .duplicable = duplicable, .demand = {demand}};

    return scene_layers(LAYERS, WIDTH, &task);
}

static bool is_done(const uint64_t *done, uint32_t task)
{
    return (done[task / 64] >> task % 64 & 1) != 0;
}

static clo_job *job_with(const fixture *f, const clo_policy *policy, const clo_plan *plan, const uint64_t *done,
                         const void *const *outputs)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *job;

    config.policy = policy;
    config.plan = plan;
    config.done = done;
    config.done_outputs = outputs;
    ok(clo_job_create(f->runtime, f->cost, &config, &job));
    return job;
}

static void check_trace(const fixture *f, const clo_job *job)
{
    clo_trace *trace;
    clo_plan *plan;

    ok(clo_job_trace(job, &trace));
    ok(clo_trace_to_plan(trace, f->cost, &plan));
    ok(clo_plan_check(plan, f->cost, CLO_CHECK_MEASURED));
    clo_plan_destroy(plan);
    clo_trace_destroy(trace);
}

/* Twice; the second time with another plan, where there is one. */
static void run(const fixture *f, clo_job *job, const clo_plan *other, const uint64_t *done, uint64_t wanted)
{
    clo_job_result result = CLO_JOB_RESULT_INIT;
    uint32_t left = 0;

    for (uint32_t t = 0; t < TASKS; t++)
        left += !is_done(done, t);
    for (int again = 0; again < 2; again++) {
        memset(ran, 0, sizeof ran);
        if (again && other != NULL)
            ok(clo_job_swap_plan(job, other));
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, &result));
        assert_int_equal(result.executed - result.duplicates_run, left);
        for (uint32_t t = 0; t < TASKS; t++)
            if (is_done(done, t))
                assert_int_equal(atomic_load(&ran[t]), 0);
            else
                assert_true(atomic_load(&ran[t]) >= 1);
        assert_true(clo_job_output_hash(job) == wanted);
        check_trace(f, job);
    }
    clo_job_destroy(job);
}

static void runs_go_on_where_others_stopped_under_every_dispatch(void **state)
{
    (void)state;
    for (int how = 0; how < 2; how++) {
        fixture f = start(3, layers(how, how == 0), CLO_CLOCK_REAL);
        clo_job *whole = make_job(&f, NULL, NULL);
        const void *outputs[TASKS];
        clo_plan *plan, *other;
        clo_plan_config config = CLO_PLAN_CONFIG_INIT;
        config.planner = planner_named(how == 0 ? "deft" : "heft");
        ok(clo_plan_create(f.cost, &config, &plan));
        config.planner = &clo_planner_etf;
        ok(clo_plan_create(f.cost, &config, &other));
        ok(clo_job_submit(whole));
        ok(clo_job_wait(whole, NULL));
        uint64_t wanted = clo_job_output_hash(whole);
        for (uint32_t t = 0; t < TASKS; t++)
            outputs[t] = clo_job_output(whole, t, 0, NULL);
        /* nothing; a front; all; some that come after what is not done */
        const uint64_t sets[] = {0, (1u << 12) - 1, UINT64_MAX, 0x2aaaaaaa, 0x1};
        for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++) {
            uint64_t done[1] = {sets[s]};
            run(&f, job_with(&f, NULL, NULL, done, outputs), NULL, done, wanted);
            run(&f, job_with(&f, NULL, plan, done, outputs), other, done, wanted);
            run(&f, job_with(&f, clo_policy_find("fifo"), NULL, done, outputs), NULL, done, wanted);
            run(&f, job_with(&f, clo_policy_find("deft"), NULL, done, outputs), NULL, done, wanted);
        }
        clo_plan_destroy(plan);
        clo_plan_destroy(other);
        clo_job_destroy(whole);
        stop(&f);
    }
}

/* The bitmap is the caller's again after create, and outputs that are not given are zeros. */
static void what_is_done_is_copied_and_needs_the_real_clock(void **state)
{
    (void)state;
    uint64_t done[1] = {1};
    unsigned char text[64], zeros[64] = {0};
    const void *outputs[TASKS] = {text};
    fixture f = start(2, layers(0, 0), CLO_CLOCK_REAL), v = start(2, layers(0, 0), CLO_CLOCK_VIRTUAL);
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *job;

    memset(text, 7, sizeof text);
    job = job_with(&f, NULL, NULL, done, outputs);
    done[0] = 0;
    memset(text, 8, sizeof text);
    memset(ran, 0, sizeof ran);
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, NULL));
    assert_int_equal(atomic_load(&ran[0]), 0);
    memset(text, 7, sizeof text);
    assert_memory_equal(clo_job_output(job, 0, 0, NULL), text, 64);
    clo_job_destroy(job);
    done[0] = 2;
    job = job_with(&f, NULL, NULL, done, NULL);
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, NULL));
    assert_memory_equal(clo_job_output(job, 1, 0, NULL), zeros, 64);
    clo_job_destroy(job);
    config.done_outputs = outputs;
    fails(CLO_ERR_ARGUMENT, "done_outputs without done", clo_job_create(f.runtime, f.cost, &config, &job));
    config.done = done;
    config.policy = clo_policy_find("fifo");
    fails(CLO_ERR_UNSUPPORTED, "done needs the real clock", clo_job_create(v.runtime, v.cost, &config, &job));
    stop(&v);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_go_on_where_others_stopped_under_every_dispatch),
        cmocka_unit_test(what_is_done_is_copied_and_needs_the_real_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
