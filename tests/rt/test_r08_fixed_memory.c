/* R8, memory of the caller's: runtime and job live in exactly as many bytes as were asked for beforehand, touch nothing
 * around them and take nothing of the heap; one byte less is refused with one line.
 * Mutation: forget one part in lay_out of run/control/runtime_create.c, or take one from the heap in
 * run/control/job_create.c; open the states of a swapped policy with clo_arena_open(arena, NULL, 0) in
 * run/control/attach.c, or in the place that is in use. */
#include "support.h"

#include "fault.h"
#include "rt.h"

#include <stdalign.h>
#include <stdlib.h>

#define GUARD 4096u

/* `bytes` aligned bytes between two guards. */
static char *guarded(size_t bytes, char **block)
{
    *block = aligned_alloc(64, (GUARD + bytes + GUARD + 63) / 64 * 64);
    assert_non_null(*block);
    memset(*block, 0x5a, GUARD + bytes + GUARD);
    return *block + GUARD;
}

static void guards_are_whole(const char *block, size_t bytes)
{
    for (size_t i = 0; i < GUARD; i++) {
        assert_int_equal(block[i], 0x5a);
        assert_int_equal(block[GUARD + bytes + i], 0x5a);
    }
}

static alignas(64) char placeholder[64];

static void runtime_and_job_live_in_what_was_asked_for(void **state)
{
    (void)state;
    for (int way = 0; way < RT_WAYS; way++)
        for (int extras = 0; extras <= 1; extras++) {
            clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
            clo_job_config job = CLO_JOB_CONFIG_INIT;
            char *runtime_block, *job_block;
            size_t runtime_bytes, job_bytes;
            rt_scene s;

            runtime.trace = (uint32_t)extras;
            runtime.recorder_events = extras ? 100 : 0;
            runtime.memory = placeholder; /* not yet: rt_open shall not create it */
            job.period_ns = extras ? 100000 : 0;
            job.releases = extras ? 5 : 0;
            rt_open(&s, way, &runtime, &job);
            ok(clo_runtime_memory_bytes(s.platform, &runtime, &runtime_bytes));
            runtime.memory = guarded(runtime_bytes, &runtime_block);
            runtime.memory_bytes = runtime_bytes - 1;
            fails(CLO_ERR_MEMORY, "this runtime needs", clo_runtime_create(s.platform, &runtime, &s.runtime));
            runtime.memory_bytes = runtime_bytes;
            fault_fail_nth(0);
            ok(clo_runtime_create(s.platform, &runtime, &s.runtime));
            assert_int_equal(fault_count(), 0);

            ok(clo_job_memory_bytes(s.runtime, s.cost, &job, &job_bytes));
            job.memory = guarded(job_bytes, &job_block);
            job.memory_bytes = job_bytes - 1;
            fails(CLO_ERR_MEMORY, "too few", clo_job_create(s.runtime, s.cost, &job, &s.job));
            job.memory_bytes = job_bytes;
            fault_fail_nth(0);
            ok(clo_job_create(s.runtime, s.cost, &job, &s.job));
            assert_int_equal(fault_count(), 0); /* of a job with a policy, too: its scheduler is part of the runtime */
            fault_fail_nth(0);
            for (int run = 0; run < 20; run++) {
                ok(clo_job_submit(s.job));
                ok(clo_job_wait(s.job, NULL));
            }
            clo_job_destroy(s.job);
            s.job = NULL;
            clo_runtime_destroy(s.runtime);
            s.runtime = NULL;
            assert_int_equal(fault_count(), 0);
            guards_are_whole(runtime_block, runtime_bytes);
            guards_are_whole(job_block, job_bytes);
            rt_close(&s);
            free(job_block);
            free(runtime_block);
        }
}

static void memory_that_is_not_aligned_is_refused(void **state)
{
    clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config job = CLO_JOB_CONFIG_INIT;
    rt_scene s;

    (void)state;
    rt_open(&s, RT_STEAL, &runtime, &job);
    runtime.memory = (char *)&s + 1;
    fails(CLO_ERR_ARGUMENT, "not aligned", clo_runtime_create(s.platform, &runtime, &s.runtime));
    job.memory = (char *)&s + 1;
    fails(CLO_ERR_ARGUMENT, "not aligned", clo_job_create(s.runtime, s.cost, &job, &s.job));
    runtime.memory = NULL;
    runtime.stack_bytes = 100;
    fails(CLO_ERR_ARGUMENT, "stack_bytes is 100", clo_runtime_create(s.platform, &runtime, &s.runtime));
    rt_close(&s);
}

static void a_job_in_fixed_memory_refuses_what_would_need_more(void **state)
{
    clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config job = CLO_JOB_CONFIG_INIT;
    clo_job *replay, *policy;
    void *memory[2];
    size_t bytes;
    rt_scene s;

    (void)state;
    rt_open(&s, RT_REPLAY, &runtime, &job);
    ok(clo_job_memory_bytes(s.runtime, s.cost, &job, &bytes));
    job.memory = memory[0] = aligned_alloc(64, (bytes + 63) / 64 * 64);
    job.memory_bytes = bytes;
    ok(clo_job_create(s.runtime, s.cost, &job, &replay));
    fails(CLO_ERR_ARGUMENT, "no room for a second plan", clo_job_swap_plan(replay, s.plan));
    job.plan = NULL;
    job.policy = clo_policy_find("fifo");
    ok(clo_job_memory_bytes(s.runtime, s.cost, &job, &bytes));
    job.memory = memory[1] = aligned_alloc(64, (bytes + 63) / 64 * 64);
    job.memory_bytes = bytes;
    ok(clo_job_create(s.runtime, s.cost, &job, &policy));
    ok(clo_job_submit(policy));
    ok(clo_job_wait(policy, NULL));
    ok(clo_runtime_swap_policy(s.runtime, clo_policy_find("rank"), NULL)); /* the new state is the scheduler's */
    ok(clo_job_submit(policy));
    ok(clo_job_wait(policy, NULL));
    clo_job_destroy(policy);
    clo_job_destroy(replay);
    free(memory[0]);
    free(memory[1]);
    rt_close(&s);
}

/* A runtime whose memory is ours, with a job of `policy` in memory that is ours, too. */
typedef struct fixed_scene {
    rt_scene s;
    char *runtime_block, *job_block;
    size_t runtime_bytes, job_bytes;
} fixed_scene;

static clo_status open_fixed(fixed_scene *f, const clo_policy *policy, size_t policy_bytes)
{
    clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config job = CLO_JOB_CONFIG_INIT;

    *f = (fixed_scene){0};
    runtime.memory = placeholder;
    runtime.policy_bytes = policy_bytes;
    runtime.jobs_max = 8;
    rt_open(&f->s, RT_STEAL, &runtime, &job);
    ok(clo_runtime_memory_bytes(f->s.platform, &runtime, &f->runtime_bytes));
    runtime.memory = guarded(f->runtime_bytes, &f->runtime_block);
    runtime.memory_bytes = f->runtime_bytes;
    ok(clo_runtime_create(f->s.platform, &runtime, &f->s.runtime));
    job.policy = policy;
    ok(clo_job_memory_bytes(f->s.runtime, f->s.cost, &job, &f->job_bytes));
    job.memory = guarded(f->job_bytes, &f->job_block);
    job.memory_bytes = f->job_bytes;
    return clo_job_create(f->s.runtime, f->s.cost, &job, &f->s.job);
}

static void close_fixed(fixed_scene *f)
{
    clo_job_destroy(f->s.job);
    f->s.job = NULL;
    clo_runtime_destroy(f->s.runtime);
    f->s.runtime = NULL;
    guards_are_whole(f->runtime_block, f->runtime_bytes);
    guards_are_whole(f->job_block, f->job_bytes);
    rt_close(&f->s);
    free(f->runtime_block);
    free(f->job_block);
}

/* The policy, but for those that plan each job in `prepare`, and take memory for that, and for networks, which need
 * more than the default (test_r01_no_allocation.c has these). */
static const clo_policy *plain_policy_at(uint32_t index)
{
    const clo_policy *policy = policy_at(index % policies_count());
    bool plans = strncmp(policy->name, "graphene", 8) == 0 || strcmp(policy->name, "replan") == 0 ||
                 strcmp(policy->name, "synchpack-2") == 0;
    bool is_network = strcmp(policy->name, "decima") == 0 || strcmp(policy->name, "lachesis") == 0;

    return plans || is_network ? policy_at(0) : policy;
}

static void policies_are_swapped_in_the_memory_that_was_given(void **state)
{
    fixed_scene f;

    (void)state;
    ok(open_fixed(&f, policy_at(0), 0));
    fault_fail_nth(0);
    for (uint32_t round = 0; round < 3 * policies_count(); round++) {
        ok(clo_job_submit(f.s.job));
        ok(clo_runtime_swap_policy(f.s.runtime, plain_policy_at(round + 1), NULL)); /* beside the run */
        ok(clo_job_wait(f.s.job, NULL));
        ok(clo_runtime_swap_policy(f.s.runtime, plain_policy_at(round), NULL));
        ok(clo_job_submit(f.s.job));
        ok(clo_job_wait(f.s.job, NULL));
    }
    assert_int_equal(fault_count(), 0);
    close_fixed(&f);
}

/* Networks need more than the default, and take no more than what is given. */
static void networks_are_swapped_in_the_memory_that_was_given(void **state)
{
    static const char *const names[] = {"decima", "lachesis", "fifo"};
    fixed_scene f;

    (void)state;
    ok(open_fixed(&f, policy_at(0), 8 << 20));
    fault_fail_nth(0);
    for (uint32_t round = 0; round < 9; round++) {
        ok(clo_job_submit(f.s.job));
        ok(clo_runtime_swap_policy(f.s.runtime, clo_policy_find(names[round % 3]), NULL)); /* beside the run */
        ok(clo_job_wait(f.s.job, NULL));
        ok(clo_job_submit(f.s.job));
        ok(clo_job_wait(f.s.job, NULL));
    }
    assert_int_equal(fault_count(), 0);
    close_fixed(&f);
}

/* Two policies of our own: a small one, and one that needs `wide_bytes` and as much again for each job. */
static size_t wide_bytes;

static size_t wide_state_bytes(const clo_limits *limits, const void *argument)
{
    (void)limits;
    (void)argument;
    return wide_bytes;
}

static size_t wide_job_bytes(const clo_cost *cost, const void *argument)
{
    (void)cost;
    (void)argument;
    return wide_bytes;
}

static clo_status wide_prepare(void *job_state, const clo_cost *cost, const void *argument)
{
    (void)cost;
    (void)argument;
    memset(job_state, 1, wide_bytes);
    return CLO_OK;
}

static clo_status wide_init(void *state, const clo_view *view)
{
    (void)view;
    memset(state, 1, wide_bytes);
    return CLO_OK;
}

static bool take_oldest(void *state, const clo_view *view, clo_choice *choice)
{
    clo_ready_stage oldest = clo_view_first_ready(view);

    (void)state;
    choice->job = oldest.job;
    choice->stage = oldest.stage;
    return oldest.job != CLO_NONE;
}

static const clo_policy narrow = {.name = "narrow", .size = sizeof(clo_policy), .decide = take_oldest};
static const clo_policy wide = {.name = "wide",
                                .size = sizeof(clo_policy),
                                .state_bytes = wide_state_bytes,
                                .job_bytes = wide_job_bytes,
                                .prepare = wide_prepare,
                                .init = wide_init,
                                .decide = take_oldest};

static void a_policy_that_needs_more_is_refused_and_told_how_much(void **state)
{
    fixed_scene f;

    (void)state;
    wide_bytes = 6400;
    ok(open_fixed(&f, &narrow, 6400));
    ok(clo_job_submit(f.s.job));
    fails(CLO_ERR_LIMIT, "the policy 'wide' need 12800 bytes, the runtime has 6400",
          clo_runtime_swap_policy(f.s.runtime, &wide, NULL));
    ok(clo_job_wait(f.s.job, NULL)); /* under the policy of before */
    close_fixed(&f);

    ok(open_fixed(&f, &narrow, 12800)); /* so much is enough, and it is not the swaps before that it is taken from */
    for (int i = 0; i < 5; i++) {
        ok(clo_runtime_swap_policy(f.s.runtime, &wide, NULL));
        ok(clo_job_submit(f.s.job));
        ok(clo_job_wait(f.s.job, NULL));
    }
    wide_bytes = 6401;
    fails(CLO_ERR_LIMIT, "need 12928 bytes, the runtime has 12800", clo_runtime_swap_policy(f.s.runtime, &wide, NULL));
    wide_bytes = 6400;
    ok(clo_job_submit(f.s.job));
    ok(clo_job_wait(f.s.job, NULL));
    close_fixed(&f);

    wide_bytes = 12801;
    assert_int_equal(open_fixed(&f, &wide, 12800), CLO_ERR_LIMIT);
    assert_non_null(strstr(clo_last_error(), "need 12864 bytes, the runtime has 12800"));
    close_fixed(&f);
}

/* Where states come from the heap, each of these allocations may fail, and nothing is lost. */
static clo_status run_and_swap(void *context)
{
    rt_scene *s = context;
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *job = NULL;

    config.policy = clo_policy_find("fifo");
    clo_status status = clo_job_create(s->runtime, s->cost, &config, &job);
    if (status == CLO_OK)
        status = clo_runtime_swap_policy(s->runtime, clo_policy_find("steal"), NULL);
    if (status == CLO_OK)
        status = clo_runtime_swap_policy(s->runtime, &wide, NULL);
    if (job != NULL) {
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, NULL));
    }
    clo_job_destroy(job);
    return status;
}

static void each_allocation_of_a_policy_and_its_swap_may_fail(void **state)
{
    clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config job = CLO_JOB_CONFIG_INIT;
    rt_scene s;

    (void)state;
    wide_bytes = 100;
    rt_open(&s, RT_STEAL, &runtime, &job);
    assert_true(fault_each(run_and_swap, &s) > 4);
    rt_close(&s);
}

/* Plans each job in the scratch of that job, once it has made one of its own. */
static clo_runtime *preparing;

static clo_status make_a_job_and_replan(void *job_state, const clo_cost *cost, const void *argument)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *job = NULL;

    ok(clo_job_create(preparing, cost, &config, &job));
    clo_job_destroy(job);
    return clo_policy_find("replan")->prepare(job_state, cost, argument);
}

static void a_job_that_is_made_in_prepare_leaves_the_outer_one_its_memory(void **state)
{
    clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config job = CLO_JOB_CONFIG_INIT;
    clo_policy nesting = *clo_policy_find("replan");
    size_t bytes, wanted;
    char *block;
    rt_scene s;

    (void)state;
    job.memory = placeholder; /* not yet: rt_open shall not create it */
    rt_open(&s, RT_STEAL, &runtime, &job);
    job.policy = clo_policy_find("replan");
    for (int time = 0; time < 2; time++) /* the first one takes more, to find what the costs then keep */
        ok(clo_job_memory_bytes(s.runtime, s.cost, &job, &wanted));
    preparing = s.runtime;
    nesting.prepare = make_a_job_and_replan;
    job.policy = &nesting;
    ok(clo_job_memory_bytes(s.runtime, s.cost, &job, &bytes));
    assert_int_equal(bytes, wanted);
    job.memory = guarded(bytes, &block);
    job.memory_bytes = bytes;
    ok(clo_job_create(s.runtime, s.cost, &job, &s.job));
    ok(clo_job_submit(s.job));
    ok(clo_job_wait(s.job, NULL));
    rt_close(&s);
    guards_are_whole(block, bytes);
    free(block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runtime_and_job_live_in_what_was_asked_for),
        cmocka_unit_test(memory_that_is_not_aligned_is_refused),
        cmocka_unit_test(a_job_in_fixed_memory_refuses_what_would_need_more),
        cmocka_unit_test(policies_are_swapped_in_the_memory_that_was_given),
        cmocka_unit_test(networks_are_swapped_in_the_memory_that_was_given),
        cmocka_unit_test(a_policy_that_needs_more_is_refused_and_told_how_much),
        cmocka_unit_test(each_allocation_of_a_policy_and_its_swap_may_fail),
        cmocka_unit_test(a_job_that_is_made_in_prepare_leaves_the_outer_one_its_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
