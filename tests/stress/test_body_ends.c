/* Bodies that do not return: an exception leaves them, they call pthread_exit, their thread is cancelled, or they
 * return in the child of their own fork. In every kind of job, on workers, slot threads and waiting threads: the task
 * fails, the job ends, its runtime goes on as if nothing had been. */
#define _GNU_SOURCE
#include "support.h"

#include "ways.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

enum { TASKS = 12, ODD_TASK = 5, RELEASES = 6 };

/* How a body ends. */
enum { RETURNS, THROWS, EXITS, IS_CANCELLED, ENDS };

/* What else a job is. */
enum { PLAIN, TRACED, HEDGED, PENDING, LIMITED, IN_RELEASES, GRAIN, BRANCH, DEMANDS, MANNERS };

static _Atomic int how;
static _Atomic uint32_t dropped;

static void drop(_Unwind_Reason_Code reason, struct _Unwind_Exception *exception)
{
    (void)reason;
    free(exception);
    atomic_fetch_add(&dropped, 1);
}

/* What a throw of C++ does, without its library. */
static void throw(void)
{
    struct _Unwind_Exception *exception = calloc(1, sizeof *exception);

    assert_non_null(exception);
    exception->exception_class = 0x636c6f74686f2b2b; /* nobody's */
    exception->exception_cleanup = drop;
    (void)_Unwind_RaiseException(exception);
    abort(); /* nobody catches it */
}

/* Some frames below the body. */
static __attribute__((noinline)) int end_below(int depth)
{
    volatile char frame[64];

    memset((char *)frame, depth, sizeof frame);
    if (depth > 0)
        return end_below(depth - 1) + frame[depth];
    switch (atomic_load(&how)) {
    case THROWS:
        throw();
        break;
    case EXITS:
        pthread_exit(NULL);
    case IS_CANCELLED:
        pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
        pthread_cancel(pthread_self());
        pthread_testcancel();
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL); /* it has ended so before: such a thread ends no more */
        pthread_exit(NULL);
    default:
        break;
    }
    return 0;
}

static int odd(const clo_call *call)
{
    atomic_fetch_add(&calls, 1);
    if (call->arm != NULL)
        *call->arm = 0;
    if (call->task == ODD_TASK && call->instance == 0)
        (void)end_below(5);
    return 0;
}

static int wanted_code(int end)
{
    return end == THROWS ? CLO_FAILED_THROWN : CLO_FAILED_EXITED;
}

static void draw_task(int manner, clo_task *task)
{
    task->duplicable = manner == HEDGED;
    task->may_pend = manner == PENDING;
    task->instances = manner == GRAIN ? 20 : 1;
    task->grain = manner == GRAIN ? 7 : 0;
    task->demand[0] = manner == DEMANDS ? 2 : 0;
}

static clo_graph *make_graph(int manner)
{
    clo_task task = {.body = odd, .work_ns = 1000};
    clo_graph *graph;

    draw_task(manner, &task);
    if (manner != BRANCH)
        return scene_layers(3, TASKS / 3, &task);
    ok(clo_graph_create("branch", &graph));
    for (uint32_t t = 0; t < TASKS; t++)
        ok(clo_graph_add_task(graph, &task, NULL));
    ok(clo_graph_set_branch(graph, ODD_TASK, 2, NULL));
    ok(clo_graph_add_arm(graph, ODD_TASK, 6, 0, 0));
    ok(clo_graph_add_arm(graph, ODD_TASK, 7, 0, 1));
    ok(clo_graph_seal(graph));
    return graph;
}

static bool goes(int way, int manner)
{
    return !(manner == HEDGED && (way == POLICY || way == SLOTS_POLICY)) &&
           !(manner == IN_RELEASES && way != STEAL && way != PLAN) && !(manner == DEMANDS && way >= SLOTS);
}

static clo_job *open_job(const fixture *f, int way, int manner, clo_plan **plan)
{
    static const int64_t after_ns[TASKS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *job;

    *plan = way == PLAN ? plan_of(f, "heft") : NULL;
    config.plan = *plan;
    config.policy = way == POLICY || way == SLOTS_POLICY ? clo_policy_find("rank") : NULL;
    config.hedge_after_ns = manner == HEDGED ? after_ns : NULL;
    config.task_limit_ns = manner == LIMITED ? 1000000000 : 0;
    config.releases_in_flight = manner == IN_RELEASES ? 3 : 0;
    config.releases = manner == IN_RELEASES ? RELEASES : 0;
    ok(clo_job_create(f->runtime, f->cost, &config, &job));
    return job;
}

/* Runs it with each end, and between them as it should be: every worker is there still. */
static void end_in_turn(clo_job *job, uint32_t bodies)
{
    for (int end = THROWS; end < ENDS; end++) {
        clo_job_result result = CLO_JOB_RESULT_INIT;
        atomic_store(&how, end);
        ok(clo_job_submit(job));
        fails(CLO_ERR_TASK, end == THROWS ? "exception" : "pthread_exit", clo_job_wait(job, &result));
        assert_int_equal(result.failed_task, ODD_TASK);
        assert_int_equal(result.failed_code, wanted_code(end));
        atomic_store(&how, RETURNS);
        atomic_store(&calls, 0);
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, NULL));
        assert_true(atomic_load(&calls) >= bodies);
    }
}

static clo_platform *with_capacity(void)
{
    static const int64_t capacities[CLO_RESOURCES_MAX] = {2, -1, -1, -1, -1, -1, -1, -1};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_executor list[3];
    clo_platform *platform;

    for (uint32_t e = 0; e < 3; e++)
        list[e] = (clo_executor){0, 0, 0, -1, {65536, 65536, 65536, 65536}};
    desc.executors_count = 3;
    desc.executors = list;
    desc.kinds_count = 1;
    desc.capacities = capacities;
    ok(clo_platform_create(&desc, &platform));
    return platform;
}

static fixture start_manner(int way, int manner, int help)
{
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    fixture f = {.graph = make_graph(manner)};

    config.unpinned = 1;
    config.trace = manner == TRACED;
    config.help = help;
    if (way >= SLOTS)
        ok(clo_platform_open("slots:3", &f.platform));
    else
        f.platform = manner == DEMANDS ? with_capacity() : scene_platform(3, 0);
    ok(clo_cost_create(f.graph, f.platform, &f.cost));
    ok(clo_runtime_create(f.platform, &config, &f.runtime));
    return f;
}

static void a_body_that_does_not_return_fails_its_task_in_every_kind_of_job(void **state)
{
    (void)state;
    for (int way = 0; way < WAYS; way++)
        for (int manner = 0; manner < MANNERS; manner++) {
            if (!goes(way, manner))
                continue;
            clo_plan *plan;
            fixture f = start_manner(way, manner, 0);
            clo_job *job = open_job(&f, way, manner, &plan);
            for (int i = 0; i < 3; i++)
                end_in_turn(job, manner == IN_RELEASES ? TASKS * RELEASES : manner == BRANCH ? TASKS - 1 : TASKS);
            clo_job_destroy(job);
            clo_plan_destroy(plan);
            stop(&f);
        }
}

static void a_waiting_thread_that_runs_bodies_keeps_the_same_rule(void **state)
{
    clo_plan *plan;

    (void)state;
    for (int help = -1; help < 2; help += 2)
        for (int manner = PLAIN; manner <= TRACED; manner++) {
            fixture f = start_manner(STEAL, manner, help);
            clo_job *job = open_job(&f, STEAL, manner, &plan);
            for (int i = 0; i < 50; i++)
                end_in_turn(job, TASKS);
            clo_job_destroy(job);
            stop(&f);
        }
}

static void a_simulation_keeps_the_same_rule(void **state)
{
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    fixture f = start_manner(STEAL, PLAIN, 0);

    (void)state;
    config.execute = 1;
    for (int end = THROWS; end < ENDS; end++) {
        clo_job_result result = CLO_JOB_RESULT_INIT;
        atomic_store(&how, end);
        fails(CLO_ERR_TASK, "", clo_simulate(f.cost, &config, &result, NULL, NULL));
        assert_int_equal(result.failed_code, wanted_code(end));
        atomic_store(&how, RETURNS);
        ok(clo_simulate(f.cost, &config, &result, NULL, NULL));
    }
    stop(&f);
}

static void every_exception_is_destroyed(void **state)
{
    clo_plan *plan;
    fixture f = start_manner(STEAL, PLAIN, 0);
    clo_job *job = open_job(&f, STEAL, PLAIN, &plan);

    (void)state;
    atomic_store(&how, THROWS);
    atomic_store(&dropped, 0);
    for (uint32_t i = 1; i <= 20; i++) {
        ok(clo_job_submit(job));
        fails(CLO_ERR_TASK, "exception", clo_job_wait(job, NULL));
        assert_int_equal(atomic_load(&dropped), i);
    }
    clo_job_destroy(job);
    stop(&f);
}

/* A cancellation that comes while a thread waits takes effect behind the wait, wherever the bodies ran. */
static _Atomic bool is_inside, has_cancelled, has_waited;

static int waits_for_cancel(const clo_call *call)
{
    (void)call;
    atomic_store(&is_inside, true);
    while (!atomic_load(&has_cancelled))
        (void)usleep(100); /* a cancellation point */
    (void)usleep(100);
    return 0;
}

static void *wait_main(void *argument)
{
    clo_job *job = argument;

    ok(clo_job_submit(job));
    ok(clo_job_wait(job, NULL));
    atomic_store(&has_waited, true);
    for (;;) /* until cancelled */
        (void)usleep(1000);
    return NULL;
}

static void a_cancelled_thread_waits_to_the_end_and_goes_then(void **state)
{
    (void)state;
    for (int round = 0; round < 6; round++) {
        clo_task task = {.body = waits_for_cancel, .work_ns = 10};
        clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
        fixture f = {.platform = scene_platform(2, 0), .graph = scene_layers(1, 1, &task)};
        clo_job *job;
        pthread_t thread;
        void *result;
        config.unpinned = 1;
        config.help = round % 2 == 0 ? 1 : -1;
        ok(clo_cost_create(f.graph, f.platform, &f.cost));
        ok(clo_runtime_create(f.platform, &config, &f.runtime));
        ok(clo_job_create(f.runtime, f.cost, NULL, &job));
        atomic_store(&is_inside, false);
        atomic_store(&has_cancelled, false);
        atomic_store(&has_waited, false);
        assert_int_equal(pthread_create(&thread, NULL, wait_main, job), 0);
        while (!atomic_load(&is_inside))
            (void)usleep(100);
        pthread_cancel(thread);
        atomic_store(&has_cancelled, true);
        assert_int_equal(pthread_join(thread, &result), 0);
        assert_ptr_equal(result, PTHREAD_CANCELED);
        assert_true(atomic_load(&has_waited));
        clo_job_destroy(job);
        stop(&f);
    }
}

/* Forks. */
enum { CHILD_RETURNS, CHILD_LEAVES, CHILD_THROWS, CHILD_SIMULATES, CHILD_SIMULATES_AND_RETURNS, CHILD_RUNS, CHILDREN };

static int forked_status, child_kind, child_line[2];

static int count_one(const clo_call *call)
{
    (void)call;
    return 0;
}

/* In a simulation in the child. */
static int forks_again(const clo_call *call)
{
    int status = 0;

    if (call->task != 0)
        return 0;
    pid_t child = fork();
    if (child == 0)
        return dup2(open("/dev/null", O_WRONLY), STDERR_FILENO) < 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 1 ? 0 : 7;
}

/* A runtime of the child's own works. */
static int run_another(void)
{
    clo_task task = {.body = count_one, .work_ns = 10};
    clo_graph *graph = scene_layers(2, 3, &task);
    clo_platform *platform = scene_platform(2, 0);
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_runtime *runtime;
    clo_cost *cost;
    clo_job *job;

    config.unpinned = 1;
    bool is_good = clo_cost_create(graph, platform, &cost) == CLO_OK &&
                   clo_runtime_create(platform, &config, &runtime) == CLO_OK &&
                   clo_job_create(runtime, cost, NULL, &job) == CLO_OK && clo_job_submit(job) == CLO_OK &&
                   clo_job_wait(job, NULL) == CLO_OK;
    return is_good ? 0 : 9;
}

/* So do its own simulations, whose bodies fork in turn: not they end it, only its own child that returns from them. */
static int simulate_another(void)
{
    clo_task task = {.body = forks_again, .work_ns = 10};
    clo_graph *graph = scene_layers(2, 3, &task);
    clo_platform *platform = scene_platform(2, 0);
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_cost *cost;

    config.execute = 1;
    bool is_good = clo_cost_create(graph, platform, &cost) == CLO_OK &&
                   clo_simulate(cost, &config, &result, NULL, NULL) == CLO_OK && result.executed == 6;
    return is_good ? 0 : 9;
}

static int forks(const clo_call *call)
{
    sigset_t mask;

    if (call->task != 0)
        return atomic_fetch_add(&calls, 1), 0;
    pid_t child = fork();
    if (child == 0) {
        alarm(60); /* a child that lives on is seen as such */
        dup2(child_line[1], STDERR_FILENO);
        pthread_sigmask(SIG_SETMASK, NULL, &mask);
        if (sigismember(&mask, SIGTERM) || sigismember(&mask, SIGINT) || !sigismember(&mask, SIGUSR2))
            _exit(8);
        if (child_kind == CHILD_LEAVES)
            _exit(0);
        if (child_kind == CHILD_RUNS)
            _exit(run_another());
        if (child_kind == CHILD_SIMULATES)
            _exit(simulate_another());
        if (child_kind == CHILD_SIMULATES_AND_RETURNS && simulate_another() != 0)
            _exit(9);
        if (child_kind == CHILD_THROWS)
            throw();
        return 0;
    }
    waitpid(child, &forked_status, 0);
    return 0;
}

/* What the child of a body has printed, and how it has ended. */
static void check_child(int kind)
{
    char line[300] = "";

    close(child_line[1]);
    ssize_t bytes = read(child_line[0], line, sizeof line - 1);
    close(child_line[0]);
    bool returns = kind == CHILD_RETURNS || kind == CHILD_THROWS || kind == CHILD_SIMULATES_AND_RETURNS;
    assert_true(WIFEXITED(forked_status));
    assert_int_equal(WEXITSTATUS(forked_status), returns ? 1 : 0);
    assert_int_equal(bytes > 0, returns);
    if (returns) /* one line */
        assert_ptr_equal(strchr(line, '\n'), line + bytes - 1);
    assert_int_equal(atomic_load(&calls), 3); /* none of them in the child, whose memory is its own, or twice */
}

static void fork_in_a_body(int help, int way, int kind)
{
    clo_task task = {.body = forks, .work_ns = 1000};
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    fixture f = {.graph = scene_layers(2, 2, &task)};
    clo_job_config job_config = CLO_JOB_CONFIG_INIT;
    clo_job *job;

    ok(clo_platform_open(way == SLOTS ? "slots:2" : "uniform:2", &f.platform));
    config.unpinned = 1;
    config.help = help;
    ok(clo_cost_create(f.graph, f.platform, &f.cost));
    ok(clo_runtime_create(f.platform, &config, &f.runtime));
    clo_plan *plan = way == PLAN ? plan_of(&f, "heft") : NULL;
    job_config.plan = plan;
    job_config.policy = way == POLICY ? clo_policy_find("rank") : NULL;
    ok(clo_job_create(f.runtime, f.cost, &job_config, &job));
    assert_int_equal(pipe(child_line), 0);
    child_kind = kind;
    atomic_store(&calls, 0);
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, NULL));
    check_child(kind);
    clo_job_destroy(job);
    clo_plan_destroy(plan);
    stop(&f);
}

static void the_child_of_a_fork_in_a_body_ends_where_it_returns(void **state)
{
    sigset_t block, before;

    (void)state;
    sigemptyset(&block);
    sigaddset(&block, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &block, &before); /* so it is in the child */
    for (int kind = 0; kind < CHILDREN; kind++) {
        if (SANITIZED && kind == CHILD_RUNS) /* threads in the child of a process with threads: not there */
            continue;
        for (int way = 0; way <= SLOTS; way++)
            fork_in_a_body(-1, way, kind);
        fork_in_a_body(1, STEAL, kind);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* By an event heap, by a plan, with releases in flight; on a thread that may have no runtime at all. */
static void a_child_of_a_simulated_body_ends_there_too(void **state)
{
    sigset_t block, before;
    clo_task task = {.body = forks, .work_ns = 1000};
    fixture f = {.graph = scene_layers(2, 2, &task), .platform = scene_platform(2, 0)};

    (void)state;
    sigemptyset(&block);
    sigaddset(&block, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &block, &before);
    ok(clo_cost_create(f.graph, f.platform, &f.cost));
    clo_plan *plan = plan_of(&f, "heft");
    for (int kind = 0; kind < CHILDREN; kind++)
        for (int in_flight = -1; in_flight < 2; in_flight++) {
            clo_sim_config config = CLO_SIM_CONFIG_INIT;
            clo_job_result result = CLO_JOB_RESULT_INIT;
            if (SANITIZED && kind == CHILD_RUNS)
                continue;
            config.execute = 1;
            config.plan = in_flight >= 0 ? plan : NULL;
            config.releases_in_flight = in_flight > 0 ? 2 : 0;
            config.releases = in_flight > 0 ? 1 : 0;
            assert_int_equal(pipe(child_line), 0);
            child_kind = kind;
            atomic_store(&calls, 0);
            ok(clo_simulate(f.cost, &config, &result, NULL, NULL));
            check_child(kind);
        }
    clo_plan_destroy(plan);
    clo_cost_destroy(f.cost);
    clo_platform_destroy(f.platform);
    clo_graph_destroy(f.graph);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

#if defined(__x86_64__) && !SANITIZED
/* A body without unwind tables, as a code generator may make it: pthread_exit cannot be ended there. */
int bare_exit(const clo_call *call);
__asm__(".text\n"
        "bare_exit:\n"
        "    subq $8, %rsp\n"
        "    xorl %edi, %edi\n"
        "    call pthread_exit@PLT\n");

static void a_worker_that_is_lost_ends_the_process_with_one_line(void **state)
{
    char line[300] = "";
    int status;

    (void)state;
    assert_int_equal(pipe(child_line), 0);
    pid_t child = fork();
    if (child == 0) {
        clo_task task = {.body = bare_exit, .work_ns = 10};
        clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
        fixture f = {.platform = scene_platform(2, 0), .graph = scene_layers(1, 1, &task)};
        clo_job *job;
        dup2(child_line[1], STDERR_FILENO);
        signal(SIGABRT, SIG_DFL); /* without the message of the test's own handler */
        config.unpinned = 1;
        config.help = -1;
        if (clo_cost_create(f.graph, f.platform, &f.cost) != CLO_OK ||
            clo_runtime_create(f.platform, &config, &f.runtime) != CLO_OK ||
            clo_job_create(f.runtime, f.cost, NULL, &job) != CLO_OK || clo_job_submit(job) != CLO_OK)
            _exit(9);
        alarm(60);
        _exit(clo_job_wait(job, NULL) == CLO_OK ? 8 : 7);
    }
    close(child_line[1]);
    ssize_t bytes = read(child_line[0], line, sizeof line - 1);
    close(child_line[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    assert_true(bytes > 0);
    assert_non_null(strstr(line, "it must return"));
    assert_ptr_equal(strchr(line, '\n'), line + bytes - 1);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_of_a_simulated_body_ends_there_too), /* first: no runtime yet */
        cmocka_unit_test(a_body_that_does_not_return_fails_its_task_in_every_kind_of_job),
        cmocka_unit_test(a_waiting_thread_that_runs_bodies_keeps_the_same_rule),
        cmocka_unit_test(a_simulation_keeps_the_same_rule),
        cmocka_unit_test(every_exception_is_destroyed),
        cmocka_unit_test(a_cancelled_thread_waits_to_the_end_and_goes_then),
        cmocka_unit_test(the_child_of_a_fork_in_a_body_ends_where_it_returns),
#if defined(__x86_64__) && !SANITIZED
        cmocka_unit_test(a_worker_that_is_lost_ends_the_process_with_one_line),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
