/* R1, no memory is asked for after the start: neither of malloc and its kin (counted by the linker's --wrap, library
 * included) nor of the system (a seccomp filter kills the process at mmap, brk, munmap, mremap, madvise, mprotect).
 * Mutation: clo_free(clo_allocate(1, 1)) in clo_job_run_start fails the first test; a body that calls mmap is killed
 * in the third, which shows that the filter works. */
#define _GNU_SOURCE
#include "support.h"

#include "fault.h"
#include "rt.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void nothing_is_allocated_between_create_and_destroy(void **state)
{
    (void)state;
    for (int way = 0; way < RT_WAYS; way++)
        for (int is_periodic = 0; is_periodic <= 1; is_periodic++) {
            clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
            clo_job_config job = CLO_JOB_CONFIG_INIT;
            clo_job_timing timing = CLO_JOB_TIMING_INIT;
            rt_scene s;

            runtime.trace = 1;
            runtime.recorder_events = 256;
            job.period_ns = is_periodic ? 50000 : 0;
            job.releases = is_periodic ? 200 : 0;
            rt_open(&s, way, &runtime, &job);
            fault_fail_nth(0); /* counts from here */
            for (int run = 0; run < (is_periodic ? 2 : 300); run++) {
                ok(clo_job_submit(s.job));
                ok(clo_job_wait(s.job, NULL));
                ok(clo_job_timing_read(s.job, &timing));
            }
            assert_int_equal(fault_count(), 0);
            rt_close(&s);
        }
}

/* Policies that plan each job in `prepare` take memory for that, on the thread that makes the job or swaps. */
static bool plans(const clo_policy *policy)
{
    return strncmp(policy->name, "graphene", 8) == 0 || strcmp(policy->name, "replan") == 0;
}

/* In the real-time profile nothing is allocated after clo_runtime_create for the scheduler, its policies and their
 * exchange; the job has memory of its own. */
static void nothing_is_allocated_for_policies_and_their_swaps(void **state)
{
    static _Alignas(64) char memory[256 << 10];
    clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config job = CLO_JOB_CONFIG_INIT;
    rt_scene s;

    (void)state;
    runtime.real_time = CLO_REAL_TIME_TRY;
    runtime.policy_bytes = 1 << 20; /* networks */
    job.memory = memory;
    job.memory_bytes = sizeof memory;
    rt_open(&s, RT_POLICY, &runtime, &job);
    fault_fail_nth(0);
    for (uint32_t round = 0; round < 10; round++) { /* the last job is gone each time, and the scheduler with it */
        job.policy = plans(policy_at(round % policies_count())) ? policy_at(0) : policy_at(round % policies_count());
        ok(clo_job_create(s.runtime, s.cost, &job, &s.job));
        for (uint32_t p = 0; p < 2 * policies_count(); p++) {
            if (plans(policy_at(p % policies_count())))
                continue;
            ok(clo_job_submit(s.job));
            ok(clo_runtime_swap_policy(s.runtime, policy_at(p % policies_count()), NULL));
            ok(clo_job_wait(s.job, NULL));
        }
        clo_job_destroy(s.job);
        s.job = NULL;
    }
    assert_int_equal(fault_count(), 0);
    rt_close(&s);
}

#if defined(__x86_64__)
#define THIS_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#if defined(THIS_ARCHITECTURE) && !SANITIZED
#define DENY(name) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

/* For all threads of the process. */
static int forbid_memory_calls(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCHITECTURE, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        DENY(mmap),
        DENY(brk),
        DENY(munmap),
        DENY(mremap),
        DENY(madvise),
        DENY(mprotect),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof rules[0], rules};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0;
}

static int map_something(const clo_call *call)
{
    (void)call;
    return mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED;
}

/* Runs in a child, which the filter ends for good; 77: the filter is not permitted. */
static int run_filtered(int way, clo_task_fn body)
{
    pid_t child = fork();

    if (child == 0) {
        clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
        clo_job_config job = CLO_JOB_CONFIG_INIT;
        rt_scene s;

        job.period_ns = way == RT_STEAL ? 50000 : 0; /* the watchdog too */
        job.releases = way == RT_STEAL ? 200 : 0;
        rt_open(&s, way, &runtime, &job);
        if (body != NULL) { /* the same with another body */
            clo_job_destroy(s.job);
            clo_cost_destroy(s.cost);
            clo_graph_destroy(s.graph);
            s.graph = rt_graph(body);
            ok(clo_cost_create(s.graph, s.platform, &s.cost));
            ok(clo_job_create(s.runtime, s.cost, NULL, &s.job));
        }
        if (forbid_memory_calls() != 0)
            _exit(77);
        for (int run = 0; run < 100; run++)
            if (clo_job_submit(s.job) != CLO_OK || clo_job_wait(s.job, NULL) != CLO_OK)
                _exit(1);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void no_system_call_for_memory_is_made(void **state)
{
    (void)state;
    for (int way = 0; way < RT_WAYS; way++) {
        int status = run_filtered(way, NULL);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
            skip_because("a seccomp filter is not permitted", "run outside of a container that forbids it");
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

static void the_filter_would_have_seen_one(void **state)
{
    int status = run_filtered(RT_REPLAY, map_something);

    (void)state;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip_because("a seccomp filter is not permitted", "run outside of a container that forbids it");
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSYS);
}
#define SYSTEM_TESTS \
    cmocka_unit_test(no_system_call_for_memory_is_made), cmocka_unit_test(the_filter_would_have_seen_one),
#else
#define SYSTEM_TESTS
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {SYSTEM_TESTS cmocka_unit_test(nothing_is_allocated_between_create_and_destroy),
                                       cmocka_unit_test(nothing_is_allocated_for_policies_and_their_swaps)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
