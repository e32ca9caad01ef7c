/* The end of a runtime in every state, and what goes wrong on the way: bodies that do not return or that crash,
 * threads that cannot be had, more jobs than there is room for. */
#define _GNU_SOURCE
#include "support.h"

#include "rt.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* pthread_create is wrapped by the linker: the n-th call from now fails, and threads are counted until they end. */
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*main_of)(void *),
                          void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*main_of)(void *),
                          void *argument);
static int fail_thread;
static _Atomic uint32_t alive; /* a thread that has left it touches nothing any more */

typedef struct thread_start {
    void *(*main_of)(void *);
    void *argument;
} thread_start;

static void *counted(void *data)
{
    thread_start start = *(thread_start *)data;

    free(data);
    void *result = start.main_of(start.argument);
    atomic_fetch_sub(&alive, 1);
    return result;
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*main_of)(void *), void *argument)
{
    if (fail_thread > 0 && --fail_thread == 0)
        return EAGAIN;
    thread_start *start = malloc(sizeof *start);
    *start = (thread_start){main_of, argument};
    atomic_fetch_add(&alive, 1);
    int failed = __real_pthread_create(thread, attributes, counted, start);
    if (failed) {
        atomic_fetch_sub(&alive, 1);
        free(start);
    }
    return failed;
}

static _Atomic uint32_t may_return, inside;

static int stay(const clo_call *call)
{
    (void)call;
    atomic_fetch_add(&inside, 1);
    while (atomic_load(&may_return) == 0)
        sched_yield();
    return 0;
}

typedef struct world {
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
    clo_runtime *runtime;
} world;

static world make(uint32_t workers, uint32_t tasks, clo_task_fn body, const clo_runtime_config *config)
{
    clo_task task = {.name = "culprit", .body = body, .work_ns = 1000};
    world w = {.graph = scene_layers(1, tasks, &task), .platform = scene_platform(workers, 0)};

    ok(clo_cost_create(w.graph, w.platform, &w.cost));
    ok(clo_runtime_create(w.platform, config, &w.runtime));
    return w;
}

static void drop(world *w)
{
    clo_cost_destroy(w->cost);
    clo_platform_destroy(w->platform);
    clo_graph_destroy(w->graph);
}

static clo_runtime_config unpinned(void)
{
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;

    config.unpinned = 1;
    return config;
}

static void a_task_that_does_not_return_is_named_and_a_second_close_joins_it(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        clo_runtime_config config = unpinned();
        atomic_store(&may_return, 0);
        atomic_store(&inside, 0);
        world w = make(3, 2, stay, &config);
        clo_job_config job_config = CLO_JOB_CONFIG_INIT;
        clo_job *stuck, *idle, *refused;

        job_config.policy = way == 1 ? clo_policy_find("fifo") : NULL;
        job_config.period_ns = way == 2 ? 1000000 : 0;
        job_config.task_limit_ns = way == 3 ? 1000000 : 0;
        ok(clo_job_create(w.runtime, w.cost, &job_config, &stuck));
        ok(clo_job_create(w.runtime, w.cost, NULL, &idle));
        ok(clo_job_submit(stuck));
        while (atomic_load(&inside) == 0)
            sched_yield();
        fails(CLO_ERR_TIMEOUT, "task 'culprit' on executor", clo_runtime_close(w.runtime, 1000000));
        fails(CLO_ERR_STATE, "closing", clo_job_submit(stuck));
        fails(CLO_ERR_STATE, "closing", clo_job_create(w.runtime, w.cost, NULL, &refused));
        fails(CLO_ERR_TIMEOUT, "task 'culprit' on executor", clo_runtime_close(w.runtime, -1));
        atomic_store(&may_return, 1);
        ok(clo_runtime_close(w.runtime, INT64_MAX)); /* frees the runtime and both jobs */
        assert_int_equal(atomic_load(&alive), 0);    /* nobody is left who could touch what the caller owns */
        drop(&w);
    }
}

static clo_job *other;
static _Atomic uint32_t odd;

/* Names another job until the runtime closes, and on from there. */
static int name_other(const clo_call *call)
{
    clo_job_timing timing = CLO_JOB_TIMING_INIT;

    (void)call;
    atomic_store(&inside, 1);
    for (bool is_open = true; is_open;) { /* the other one may run just now */
        clo_status status = clo_job_submit(other);
        is_open = status == CLO_OK || strstr(clo_last_error(), "closing") == NULL;
        sched_yield();
    }
    for (int i = 0; i < 2000; i++) {
        clo_job_cancel(other);
        atomic_fetch_add(&odd, clo_job_timing_read(other, &timing) != CLO_OK || clo_job_submit(other) == CLO_OK);
        sched_yield();
    }
    return 0;
}

static void a_body_may_name_other_jobs_while_its_runtime_closes(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        clo_runtime_config config = unpinned();
        clo_job_config job_config = CLO_JOB_CONFIG_INIT;
        clo_job *job;

        job_config.policy = round % 2 == 1 ? clo_policy_find("fifo") : NULL;
        atomic_store(&inside, 0);
        world w = make(3, 1, name_other, &config);
        clo_task task = {.work_ns = 1000};
        clo_graph *graph = scene_layers(1, 3, &task);
        clo_cost *cost;
        ok(clo_cost_create(graph, w.platform, &cost));
        ok(clo_job_create(w.runtime, cost, NULL, &other)); /* ends before the one whose body names it */
        ok(clo_job_create(w.runtime, w.cost, &job_config, &job));
        ok(clo_job_submit(other));
        ok(clo_job_submit(job));
        while (atomic_load(&inside) == 0)
            sched_yield();
        ok(clo_runtime_close(w.runtime, INT64_MAX));
        assert_int_equal(atomic_load(&odd), 0);
        clo_cost_destroy(cost);
        clo_graph_destroy(graph);
        drop(&w);
    }
}

static int nothing(const clo_call *call)
{
    (void)call;
    return 0;
}

static int failing(const clo_call *call)
{
    (void)call;
    return 3;
}

static void a_runtime_closes_in_every_state(void **state)
{
    (void)state;
    for (int which = 0; which < 7; which++)
        for (int closes = 0; closes <= 1; closes++) {
            clo_runtime_config config = unpinned();
            clo_job_config job_config = CLO_JOB_CONFIG_INIT;
            clo_job *job;

            config.spin_ns = which == 1 ? -1 : 0;
            world w = make(3, 200, which == 4 ? failing : nothing, &config);
            job_config.period_ns = which == 6 ? 100000 : 0;
            if (which == 1) /* asleep */
                nanosleep(&(struct timespec){0, 3000000}, NULL);
            if (which >= 2)
                ok(clo_job_create(w.runtime, w.cost, &job_config, &job));
            if (which >= 3)
                ok(clo_job_submit(job));
            if (which == 5)
                clo_job_cancel(job);
            if (closes)
                ok(clo_runtime_close(w.runtime, INT64_MAX));
            else
                clo_runtime_destroy(w.runtime);
            drop(&w);
        }
    ok(clo_runtime_close(NULL, 0));
}

static void a_worker_that_cannot_be_created_ends_the_creation_cleanly(void **state)
{
    clo_platform *platform = scene_platform(4, 0);
    clo_runtime_config config = unpinned();
    clo_runtime *runtime;

    (void)state;
    for (int nth = 1; nth <= 4; nth++) {
        fail_thread = nth;
        assert_int_equal(clo_runtime_create(platform, &config, &runtime), CLO_ERR_SYSTEM);
        assert_non_null(strstr(clo_last_error(), "cannot create worker"));
    }
    fail_thread = 0;
    ok(clo_runtime_create(platform, &config, &runtime));
    clo_runtime_destroy(runtime);
    clo_platform_destroy(platform);
}

static void a_watchdog_that_cannot_be_created_fails_the_job_and_can_be_tried_again(void **state)
{
    clo_runtime_config config = unpinned();
    world w = make(2, 3, nothing, &config);
    clo_job_config job_config = CLO_JOB_CONFIG_INIT;
    clo_job *job;

    (void)state;
    job_config.period_ns = 1000000;
    job_config.releases = 2;
    fail_thread = 1;
    fails(CLO_ERR_SYSTEM, "cannot create the watchdog's thread", clo_job_create(w.runtime, w.cost, &job_config, &job));
    fail_thread = 0;
    ok(clo_job_create(w.runtime, w.cost, &job_config, &job));
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, NULL));
    clo_runtime_destroy(w.runtime);
    drop(&w);
}

static void more_jobs_than_there_is_room_for_are_refused_not_queued_without_end(void **state)
{
    enum { ROOM = 64 };
    clo_runtime_config config = unpinned();
    clo_job *jobs[ROOM], *one_more;

    (void)state;
    atomic_store(&may_return, 0);
    config.jobs_max = ROOM;
    world w = make(2, 1, stay, &config);
    for (uint32_t j = 0; j < ROOM; j++) {
        ok(clo_job_create(w.runtime, w.cost, NULL, &jobs[j]));
        ok(clo_job_submit(jobs[j])); /* before any has run to its end */
    }
    fails(CLO_ERR_LIMIT, "64 jobs exist already", clo_job_create(w.runtime, w.cost, NULL, &one_more));
    atomic_store(&may_return, 1);
    for (uint32_t j = 0; j < ROOM; j++) {
        ok(clo_job_wait(jobs[j], NULL));
        clo_job_destroy(jobs[j]);
    }
    ok(clo_job_create(w.runtime, w.cost, NULL, &one_more));
    clo_runtime_destroy(w.runtime);
    drop(&w);
}

static void a_hundred_thousand_jobs_pass_through_a_few_slots(void **state)
{
    enum { ROOM = 16, JOBS = 100000 };
    clo_runtime_config config = unpinned();
    clo_job *jobs[ROOM] = {NULL};
    struct rusage before, after;

    (void)state;
    config.jobs_max = ROOM;
    world w = make(2, 1, nothing, &config);
    for (uint32_t j = 0; j < JOBS; j++) {
        clo_job **place = &jobs[j % ROOM];
        if (j == 1000)
            getrusage(RUSAGE_SELF, &before);
        clo_job_destroy(*place); /* waits */
        ok(clo_job_create(w.runtime, w.cost, NULL, place));
        ok(clo_job_submit(*place));
    }
    getrusage(RUSAGE_SELF, &after);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__) /* they keep freed memory */
    assert_true(after.ru_maxrss - before.ru_maxrss < 8192);                                /* KiB */
#endif
    clo_runtime_destroy(w.runtime);
    drop(&w);
}

#if !SANITIZED
static int crash(const clo_call *call)
{
    volatile int *nowhere = NULL;

    (void)call;
    return *nowhere;
}

static int give_up(const clo_call *call)
{
    (void)call;
    abort();
}

/* Runs the body in a child; its stderr comes back in `text`. */
static int run_in_child(clo_task_fn body, char *text, size_t bytes)
{
    int pipes[2], status = 0;

    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        clo_runtime_config config = unpinned();
        struct rlimit none = {0, 0};
        clo_job *job;

        setrlimit(RLIMIT_CORE, &none);
        signal(SIGSEGV, SIG_DFL); /* CMocka's own handlers */
        signal(SIGABRT, SIG_DFL);
        dup2(pipes[1], STDERR_FILENO);
        config.name_signals = 1;
        world w = make(2, 1, body, &config);
        if (clo_job_create(w.runtime, w.cost, NULL, &job) == CLO_OK && clo_job_submit(job) == CLO_OK)
            (void)!clo_job_wait(job, NULL);
        _exit(0);
    }
    close(pipes[1]);
    size_t used = 0;
    for (ssize_t got; used + 1 < bytes && (got = read(pipes[0], text + used, bytes - 1 - used)) > 0;)
        used += (size_t)got;
    text[used] = '\0';
    close(pipes[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void a_signal_in_a_body_names_the_task_and_keeps_its_meaning(void **state)
{
    char text[1024];
    int status = run_in_child(crash, text, sizeof text);

    (void)state;
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSEGV);
    assert_non_null(strstr(text, "clotho: SIGSEGV in task 'culprit' on worker "));
    status = run_in_child(give_up, text, sizeof text);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    assert_non_null(strstr(text, "clotho: SIGABRT in task 'culprit' on worker "));
}
#define SIGNAL_TESTS cmocka_unit_test(a_signal_in_a_body_names_the_task_and_keeps_its_meaning),
#else
#define SIGNAL_TESTS
#endif

static void earlier_signal_handlers_are_back_after_the_last_runtime(void **state)
{
    clo_platform *platform = scene_platform(1, 0);
    clo_runtime_config config = unpinned();
    struct sigaction before, within, after;
    clo_runtime *a, *b;

    (void)state;
    config.name_signals = 1;
    sigaction(SIGFPE, NULL, &before);
    ok(clo_runtime_create(platform, &config, &a));
    ok(clo_runtime_create(platform, &config, &b));
    clo_runtime_destroy(a);
    sigaction(SIGFPE, NULL, &within);
    assert_true(within.sa_handler != before.sa_handler);
    clo_runtime_destroy(b);
    sigaction(SIGFPE, NULL, &after);
    assert_true(after.sa_handler == before.sa_handler);
    clo_platform_destroy(platform);
}

static void the_recorder_gives_every_execution_once_or_counts_it_as_dropped(void **state)
{
    (void)state;
    for (int way = 0; way < RT_WAYS; way++) {
        clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
        clo_job_config job_config = CLO_JOB_CONFIG_INIT;
        clo_record records[100];
        uint64_t total = 0, dropped, lost = 0;
        rt_scene s;

        config.recorder_events = 200; /* 256 */
        rt_open(&s, way, &config, &job_config);
        for (int run = 0; run < 30; run++) {
            ok(clo_job_submit(s.job));
            ok(clo_job_wait(s.job, NULL));
        }
        for (uint32_t w = 0; w < 2; w++) {
            int64_t last_ns = 0;
            for (size_t count; (count = clo_runtime_record_read(s.runtime, w, records, 100, &dropped)) > 0;
                 total += count)
                for (size_t i = 0; i < count; i++) {
                    assert_true(records[i].start_ns <= records[i].finish_ns && records[i].start_ns >= last_ns - 1000);
                    assert_true(records[i].task < RT_TASKS && records[i].executor == w);
                    assert_true(records[i].job == clo_job_id(s.job));
                    last_ns = records[i].start_ns;
                }
            lost += dropped;
        }
        assert_int_equal(total + lost, 30 * RT_TASKS);
        assert_true(total <= 512 && lost > 0);
        assert_int_equal(clo_runtime_record_read(s.runtime, 7, records, 100, NULL), 0);
        rt_close(&s);
    }
}

/* As a user who may do nothing of this. */
static int try_as_nobody(void)
{
    clo_runtime_config config = unpinned();
    clo_platform *platform = scene_platform(1, 0);
    struct rlimit none = {0, 0};
    clo_runtime *runtime;

    if (setrlimit(RLIMIT_MEMLOCK, &none) != 0 || setrlimit(RLIMIT_RTPRIO, &none) != 0 || setuid(65534) != 0)
        return 77;
    config.real_time = CLO_REAL_TIME_REQUIRE;
    if (clo_runtime_create(platform, &config, &runtime) != CLO_ERR_SYSTEM ||
        strstr(clo_last_error(), "memory cannot be locked") == NULL)
        return 1;
    config.real_time = CLO_REAL_TIME_TRY;
    if (clo_runtime_create(platform, &config, &runtime) != CLO_OK)
        return 2;
    const char *report = clo_runtime_report(runtime);
    if (strstr(report, "lack  memory cannot be locked") == NULL ||
        strstr(report, "lack  SCHED_FIFO is refused to the workers") == NULL ||
        strstr(report, "lack  SCHED_FIFO is refused to the watchdog") == NULL)
        return 3;
    clo_runtime_destroy(runtime);
    config.real_time = CLO_REAL_TIME_OFF;
    config.fifo_priority = 10;
    if (clo_runtime_create(platform, &config, &runtime) != CLO_ERR_SYSTEM)
        return 4;
    return 0;
}

static void real_time_that_is_refused_is_told_or_fails_as_asked(void **state)
{
    int status = 0;

    (void)state;
    if (SANITIZED)
        skip_because("sanitizers make mlock do nothing", "./dev test");
    pid_t child = fork();
    if (child == 0)
        _exit(try_as_nobody());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip_because("this user cannot become another", "run as root");
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SIGNAL_TESTS cmocka_unit_test(real_time_that_is_refused_is_told_or_fails_as_asked),
        cmocka_unit_test(a_task_that_does_not_return_is_named_and_a_second_close_joins_it),
        cmocka_unit_test(a_body_may_name_other_jobs_while_its_runtime_closes),
        cmocka_unit_test(a_runtime_closes_in_every_state),
        cmocka_unit_test(a_worker_that_cannot_be_created_ends_the_creation_cleanly),
        cmocka_unit_test(a_watchdog_that_cannot_be_created_fails_the_job_and_can_be_tried_again),
        cmocka_unit_test(more_jobs_than_there_is_room_for_are_refused_not_queued_without_end),
        cmocka_unit_test(a_hundred_thousand_jobs_pass_through_a_few_slots),
        cmocka_unit_test(earlier_signal_handlers_are_back_after_the_last_runtime),
        cmocka_unit_test(the_recorder_gives_every_execution_once_or_counts_it_as_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
