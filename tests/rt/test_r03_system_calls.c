/* R3, system calls of the runtime: none while workers are hot, and at most one futex wake for each worker that sleeps.
 * Counted by the linker's --wrap of syscall(2), through which the library makes its futex and membarrier calls; that
 * it makes no others while it runs is in R1's filter and in the list of what run/ and sync/ import (nm, second test);
 * test_r03_every_call counts all calls of all threads in the kernel, in the real-time profile.
 * Mutation: drop the test of `asleep` in clo_runtime_wake_for and wake always: the first test counts a wake for each
 * hand-over. */
#define _GNU_SOURCE
#include "support.h"

#include "rt.h"

#include <linux/futex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>

static _Atomic uint64_t wakes, waits, barriers, others;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

long __wrap_syscall(long number, ...)
{
    long a[6];
    va_list arguments;

    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(arguments, long);
    va_end(arguments);
    int command = number == SYS_futex ? (int)a[1] & FUTEX_CMD_MASK : -1;
    atomic_fetch_add(command == FUTEX_WAKE                                   ? &wakes
                     : command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET ? &waits
                     : number == SYS_membarrier                              ? &barriers
                                                                             : &others,
                     1);
    return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static uint64_t parks_of(const clo_runtime *runtime)
{
    clo_worker_stats stats = CLO_WORKER_STATS_INIT;
    uint64_t parks = 0;

    for (uint32_t w = 0; w < clo_runtime_workers(runtime); w++) {
        ok(clo_runtime_worker_stats(runtime, w, &stats));
        parks += stats.parks;
    }
    return parks;
}

#define RUNS 40u

static void hot_workers_make_no_system_call_but_to_wake_who_waits_for_the_job(void **state)
{
    (void)state;
    for (int way = 0; way < RT_WAYS; way++) {
        clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
        clo_job_config job = CLO_JOB_CONFIG_INIT;
        rt_scene s;

        runtime.spin_ns = 60ll * 1000000000; /* never cold */
        rt_open(&s, way, &runtime, &job);
        uint64_t parks = parks_of(s.runtime);
        wakes = waits = barriers = others = 0;
        for (uint32_t run = 0; run < RUNS; run++) {
            ok(clo_job_submit(s.job));
            ok(clo_job_wait(s.job, NULL));
        }
        assert_int_equal(parks_of(s.runtime), parks);
        assert_true(wakes <= RUNS); /* one for each end, to the client */
        assert_int_equal(barriers, 0);
        assert_int_equal(others, 0);
        rt_close(&s);
    }
}

static void a_sleeping_worker_costs_at_most_one_wake(void **state)
{
    (void)state;
    for (int way = 0; way < RT_WAYS; way++) {
        clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
        clo_job_config job = CLO_JOB_CONFIG_INIT;
        rt_scene s;

        runtime.spin_ns = -1; /* always cold */
        runtime.real_time = CLO_REAL_TIME_TRY;
        rt_open(&s, way, &runtime, &job);
        uint64_t parks = parks_of(s.runtime);
        wakes = waits = barriers = others = 0;
        for (uint32_t run = 0; run < RUNS; run++) {
            ok(clo_job_submit(s.job));
            ok(clo_job_wait(s.job, NULL));
        }
        /* Each announcement of sleep, made before its fence, is taken back by one wake at most, whether the worker
         * got as far as to sleep or not; each run ends with one to the client. */
        assert_true(wakes <= barriers + 2 + RUNS);
        /* Each sleep looked once more behind the fence. A worker may have passed its fence, and not counted the
         * sleep yet, when the counting began. */
        assert_true(barriers + clo_runtime_workers(s.runtime) >= parks_of(s.runtime) - parks);
        assert_int_equal(others, 0);
        rt_close(&s);
    }
}

/* What runs between start and stop. */
static const char *const objects[] = {"run/threads/worker_loop",
                                      "run/sharing/share",
                                      "run/sharing/wake",
                                      "run/sharing/owner",
                                      "run/dispatch/fast_path",
                                      "run/dispatch/execute",
                                      "run/dispatch/policy",
                                      "run/body/body",
                                      "run/body/real",
                                      "run/scheduler/combining",
                                      "run/dispatch/launch",
                                      "run/job/begin",
                                      "run/job/cut",
                                      "run/job/end",
                                      "run/job/done",
                                      "run/threads/help",
                                      "run/dispatch/unshared",
                                      "run/records/stamp",
                                      "run/sharing/deferred",
                                      "run/sharing/task_time",
                                      "run/sharing/borrow",
                                      "run/extras/overrun",
                                      "engine/execution/engine",
                                      "engine/scheduler/scheduler",
                                      "engine/scheduler/choose",
                                      "engine/scheduler/start",
                                      "engine/scheduler/reservation",
                                      "engine/state/lists",
                                      "engine/execution/data",
                                      "engine/state/note",
                                      "engine/scheduler/view"};

/* None of what is banned may be imported there. */
static void the_worker_path_imports_nothing_that_allocates_prints_or_locks(void **state)
{
    static const char *const banned[] = {"malloc", "calloc",         "realloc",        "free", "printf",
                                         "fopen",  "pthread_mutex_", "pthread_create", "mmap", "nanosleep"};
    /* snprintf: the text of a policy's first mistake; the set of free executors. */
    static const char *const allowed[] = {"snprintf", "clo_start_set_free", "clo_start_next_free"};
    char line[512], module[64];

    (void)state;
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++) {
        snprintf(module, sizeof module, "%.*s", (int)(strrchr(objects[i], '/') - objects[i]), objects[i]);
        *strchr(module, '/') = '_'; /* a folder in a folder is a target of its own */
        snprintf(line, sizeof line, "nm %s/CMakeFiles/clo_%s.dir/runtime/%s.c.o 2>/dev/null", CLO_BINARY, module,
                 objects[i]);
        FILE *pipe = popen(line, "r");
        uint32_t lines = 0;
        assert_non_null(pipe);
        while (!SANITIZED && fgets(line, sizeof line, pipe) != NULL) {
            bool is_allowed = false;
            lines++;
            if (strstr(line, " U ") == NULL)
                continue; /* what it defines */
            for (size_t a = 0; a < sizeof allowed / sizeof allowed[0]; a++)
                is_allowed = is_allowed || strstr(line, allowed[a]) != NULL;
            for (size_t b = 0; b < sizeof banned / sizeof banned[0] && !is_allowed; b++)
                if (strstr(line, banned[b]) != NULL)
                    fail_msg("%s.o imports%s", objects[i], line);
        }
        pclose(pipe);
        if (SANITIZED)
            skip_because("a sanitizer brings calls of its own", "./dev test");
        if (lines == 0)
            skip_unless_ci("no nm, or the objects are elsewhere", "apt-get install binutils");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hot_workers_make_no_system_call_but_to_wake_who_waits_for_the_job),
        cmocka_unit_test(a_sleeping_worker_costs_at_most_one_wake),
        cmocka_unit_test(the_worker_path_imports_nothing_that_allocates_prints_or_locks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
