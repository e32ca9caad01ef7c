/* R3 in the real-time profile, counted by the kernel: a seccomp filter reports each system call of each thread to a
 * supervisor in this process (seccomp_unotify(2)), which counts it for its thread and lets it go on. So calls that the
 * C library makes itself are seen, which the --wrap of test_r03 does not see.
 * Mutation: the third test is one, a body that makes a call. */
#define _GNU_SOURCE
#include "support.h"

#include "learner.h"
#include "rt.h"
#include "run/state/runtime.h"
#include "run/state/worker.h"

#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(SECCOMP_USER_NOTIF_FLAG_CONTINUE) && defined(SECCOMP_FILTER_FLAG_TSYNC_ESRCH) && !SANITIZED

#define RUNS 40u
#define THREADS_MAX 16u

/* Exit codes of the child. */
enum {
    GOOD = 0,
    TOO_MANY_WAKES = 1,
    SLEPT = 2,
    FENCED = 3,
    CALLED_OTHERS = 4,
    FAILED = 5,
    NOT_SEEN = 6,
    NOT_LEARNED = 7,
    NOT_HERE = 77
};

typedef struct row {
    uint32_t tid;
    uint32_t wakes, waits, barriers, others;
    int last_other;
} row;

/* The supervisor's alone, as long as it counts. */
static row rows[THREADS_MAX];
static _Atomic int listener = -1;
static _Atomic uint32_t counts, is_up;

#define ALLOW(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* For all threads; what the supervisor itself needs is let through. */
static int report_calls(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(ioctl),
        ALLOW(sched_yield),
        ALLOW(exit_group),
        ALLOW(exit),
        ALLOW(rt_sigreturn),
        ALLOW(clock_gettime), /* where the machine's clock is not read without the kernel */
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
    };
    struct sock_fprog program = {sizeof rules / sizeof rules[0], rules};
    unsigned flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_TSYNC_ESRCH;

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

static row *row_of(uint32_t tid)
{
    row *at = rows;

    while (at < rows + THREADS_MAX - 1 && at->tid != 0 && at->tid != tid)
        at++;
    at->tid = tid;
    return at;
}

static void note(const struct seccomp_notif *call)
{
    row *at = row_of(call->pid);
    int command = call->data.nr == __NR_futex ? (int)call->data.args[1] & FUTEX_CMD_MASK : -1;

    if (command == FUTEX_WAKE) {
        at->wakes++;
    } else if (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) {
        at->waits++;
    } else if (call->data.nr == __NR_membarrier) {
        at->barriers++;
    } else {
        at->others++;
        at->last_other = call->data.nr;
    }
}

static void raise_to(int priority)
{
    struct sched_param parameter = {.sched_priority = priority};

    (void)pthread_setschedparam(pthread_self(), SCHED_FIFO,
                                &parameter); /* where that is refused the workers have none */
}

static void *supervise(void *argument)
{
    int from;

    (void)argument;
    atomic_store(&is_up, 1);
    while ((from = atomic_load(&listener)) < 0)
        sched_yield();
    for (;;) { /* the process ends */
        struct seccomp_notif call = {0};
        struct seccomp_notif_resp answer = {.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
        if (ioctl(from, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0)
            continue;
        if (atomic_load(&counts) != 0)
            note(&call);
        answer.id = call.id;
        (void)ioctl(from, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
    return NULL;
}

static bool is_worker(const clo_runtime *runtime, uint32_t tid)
{
    for (uint32_t w = 0; w < runtime->workers_count; w++)
        if ((uint32_t)runtime->workers[w].system.tid == tid)
            return true;
    return false;
}

static int judge(const clo_runtime *runtime, bool is_hot)
{
    uint32_t wakes = 0, barriers = 0;

    for (const row *at = rows; at < rows + THREADS_MAX; at++) {
        if (!is_worker(runtime, at->tid))
            continue;
        if (at->others > 0)
            return CALLED_OTHERS;
        if (is_hot && at->waits > 0)
            return SLEPT;
        if (is_hot && at->barriers > 0)
            return FENCED;
        wakes += at->wakes;
        barriers += at->barriers;
    }
    return wakes <= RUNS + (is_hot ? 0 : barriers + runtime->workers_count) ? GOOD : TOO_MANY_WAKES;
}

static int call_the_kernel(const clo_call *call)
{
    (void)call;
    (void)syscall(SYS_getppid);
    return 0;
}

/* `learns`: the caller reads the flight recorder, learns and publishes while each run goes on. */
static int run_once(const rt_scene *s, learner *l, bool learns)
{
    if (clo_job_submit(s->job) != CLO_OK)
        return FAILED;
    if (learns)
        learner_learn(l);
    return clo_job_wait(s->job, NULL) == CLO_OK ? GOOD : FAILED;
}

/* In a child of its own: the filter stays. */
static int count_in_child(int way, bool is_periodic, bool is_hot, bool learns, clo_task_fn body)
{
    clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config job = CLO_JOB_CONFIG_INIT;
    uint32_t runs = is_periodic ? 1 : RUNS;
    learner l = {.publishes = true};
    pthread_t supervisor;
    rt_scene s;

    raise_to(85); /* above workers and watchdog, and so is the supervisor */
    runtime.real_time = CLO_REAL_TIME_TRY;
    runtime.spin_ns = is_hot ? INT64_C(600000000000) : -1;
    runtime.recorder_events = learns ? LEARNER_RECORDS : 0;
    job.period_ns = is_periodic ? 1000000 : 0;
    job.releases = is_periodic ? RUNS : 0;
    rt_open(&s, way, &runtime, &job);
    if (body != NULL) {
        clo_job_destroy(s.job);
        clo_cost_destroy(s.cost);
        s.graph = rt_graph(body);
        ok(clo_cost_create(s.graph, s.platform, &s.cost));
        ok(clo_job_create(s.runtime, s.cost, &job, &s.job));
    }
    learner_open(&l, s.runtime, s.cost, s.job);
    if (run_once(&s, &l, learns) != GOOD || pthread_create(&supervisor, NULL, supervise, NULL) != 0)
        return FAILED;
    while (atomic_load(&is_up) == 0)
        sched_yield();
    int from = report_calls();
    if (from < 0)
        return NOT_HERE;
    atomic_store(&counts, 1);
    atomic_store(&listener, from);
    for (uint32_t run = 0; run < runs; run++)
        if (run_once(&s, &l, learns) != GOOD)
            return FAILED;
    atomic_store(&counts, 0);
    (void)syscall(SYS_getppid); /* comes back once the supervisor has seen all before */
    if (row_of((uint32_t)gettid())->waits == 0 && row_of((uint32_t)gettid())->wakes == 0 && !is_hot)
        return NOT_SEEN;
    if (learns && (l.learned == 0 || l.has_failed))
        return NOT_LEARNED;
    return judge(s.runtime, is_hot);
}

static int count_calls(int way, bool is_periodic, bool is_hot, bool learns, clo_task_fn body)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0)
        _exit(count_in_child(way, is_periodic, is_hot, learns, body));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void check_all(bool is_hot, bool learns)
{
    for (int way = 0; way < RT_WAYS; way++)
        for (int is_periodic = 0; is_periodic <= 1; is_periodic++) {
            int code = count_calls(way, is_periodic != 0, is_hot, learns, NULL);
            if (code == NOT_HERE)
                skip_because("calls cannot be reported by seccomp here", "run on Linux 5.7 or later, outside of a "
                                                                         "container that forbids it");
            if (code != GOOD)
                fail_msg("way %d, %s: code %d", way, is_periodic ? "periodic" : "one run", code);
        }
}

static void hot_workers_of_the_real_time_profile_make_no_call_but_to_wake_who_waits(void **state)
{
    (void)state;
    check_all(true, false);
}

static void a_sleeping_worker_of_the_real_time_profile_costs_at_most_one_wake(void **state)
{
    (void)state;
    check_all(false, false);
}

static void so_it_is_while_the_application_learns_from_the_jobs(void **state)
{
    (void)state;
    check_all(true, true);
    check_all(false, true);
}

static void any_other_call_would_be_seen(void **state)
{
    int code = count_calls(RT_STEAL, false, true, true, call_the_kernel);

    (void)state;
    if (code == NOT_HERE)
        skip_because("calls cannot be reported by seccomp here", "run on Linux 5.7 or later, outside of a container "
                                                                 "that forbids it");
    assert_int_equal(code, CALLED_OTHERS);
}

#define COUNTED_TESTS                                                                          \
    cmocka_unit_test(hot_workers_of_the_real_time_profile_make_no_call_but_to_wake_who_waits), \
        cmocka_unit_test(a_sleeping_worker_of_the_real_time_profile_costs_at_most_one_wake),   \
        cmocka_unit_test(so_it_is_while_the_application_learns_from_the_jobs),                 \
        cmocka_unit_test(any_other_call_would_be_seen),
#else
static void nothing_is_counted(void **state)
{
    (void)state;
    skip_because("this system's headers know no reports of calls, or a sanitizer makes calls of its own", "./dev test");
}
#define COUNTED_TESTS cmocka_unit_test(nothing_is_counted),
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {COUNTED_TESTS};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
