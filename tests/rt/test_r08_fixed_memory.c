/* R8, memory of the caller's: runtime and job live in exactly as many bytes as were asked for beforehand, touch nothing
 * around them and take nothing of the heap; one byte less is refused with one line.
 * Mutation: forget one part in lay_out of run/runtime_create.c, or take one from the heap in run/job_create.c. */
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
            /* The scheduler of jobs with a policy is the runtime's, and made with the first of them. */
            assert_true(way == RT_POLICY ? fault_count() > 0 : fault_count() == 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runtime_and_job_live_in_what_was_asked_for),
        cmocka_unit_test(memory_that_is_not_aligned_is_refused),
        cmocka_unit_test(a_job_in_fixed_memory_refuses_what_would_need_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
