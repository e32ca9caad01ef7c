/* R7, whoever submits: deadlines, limits and their actions hold where the submitting thread has a lower priority than
 * the workers and no CPU of its own, as most programs submit. Nothing is judged by the clock: bodies keep all CPUs
 * until the watchdog has spoken, so those that ran after it can be counted.
 * Mutation: ring the eventcount after the start in clo_job_submit; every first test ends with all bodies run and
 * CLO_OK.
 *
 * And what the watchdog is when create returns: ready, with its own priority, on all CPUs. Mutation: leave out the wait
 * in clo_watchdog_need, or the pthread_setaffinity_np in clo_thread_begin. */
#define _GNU_SOURCE
#include "support.h"

#include "rt.h"
#include "run/state/runtime.h"
#include "run/state/worker.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#define PRIORITY 20
#define BODIES_EACH 3u
#define WITNESS_NS 5000000
#define PATIENCE 40u /* times that the witness has run; then a body gives up. All stay below the kernel's throttling */

static _Atomic uint32_t ran, told, gave_up;
static _Atomic uint32_t witnessed;
static _Atomic bool is_over;
static _Atomic int64_t latest_ns; /* the watchdog's */

/* The library's calls come here: what RLIMIT_RTPRIO does to a user. */
static int highest_permitted = 99;

static int (*real_setschedparam)(pthread_t, int, const struct sched_param *);

int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *parameter)
{
    return parameter->sched_priority > highest_permitted ? EPERM : real_setschedparam(thread, policy, parameter);
}

/* The machine's speed, in place of a clock: a thread that sleeps as the watchdog does, with the watchdog's priority. */
static void *witness(void *unused)
{
    const struct timespec each = {.tv_nsec = WITNESS_NS};

    (void)unused;
    while (!atomic_load(&is_over)) {
        nanosleep(&each, NULL);
        atomic_fetch_add(&witnessed, 1);
    }
    return NULL;
}

static pthread_t start_witness(void)
{
    struct sched_param above = {.sched_priority = PRIORITY + 1};
    pthread_t thread;

    atomic_store(&is_over, false);
    assert_int_equal(pthread_create(&thread, NULL, witness, NULL), 0);
    assert_int_equal(real_setschedparam(thread, SCHED_FIFO, &above), 0);
    return thread;
}

/* Keeps its CPU until the watchdog has called the handler. */
static int wait_for_watchdog(const clo_call *call)
{
    uint32_t from = atomic_load(&witnessed);

    (void)call;
    atomic_fetch_add(&ran, 1);
    while (atomic_load(&told) == 0)
        if (atomic_load(&witnessed) - from > PATIENCE) {
            atomic_fetch_add(&gave_up, 1);
            break;
        }
    return 0;
}

static void tell(void *argument, clo_job *job, const clo_miss *miss)
{
    (void)argument;
    (void)job;
    if (miss->late_ns > atomic_load(&latest_ns))
        atomic_store(&latest_ns, miss->late_ns);
    atomic_fetch_add(&told, 1);
}

typedef struct scene {
    uint32_t workers;
    clo_platform *platform;
    clo_graph *graph;
    clo_cost *cost;
    clo_plan *plan;
    clo_runtime *runtime;
} scene;

static uint32_t allowed_cpus(void)
{
    cpu_set_t set;

    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    return (uint32_t)CPU_COUNT(&set);
}

/* A worker on each CPU, above us. False: that is not permitted. */
static bool open_above_us(scene *s)
{
    clo_task task = {.body = wait_for_watchdog, .work_ns = 1000};
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;

    *s = (scene){.workers = allowed_cpus() < 64 ? allowed_cpus() : 64};
    s->platform = scene_platform(s->workers, 0);
    s->graph = scene_layers(1, s->workers * BODIES_EACH, &task);
    ok(clo_cost_create(s->graph, s->platform, &s->cost));
    ok(clo_plan_create(s->cost, NULL, &s->plan));
    config.clock = CLO_CLOCK_PADDED; /* its platform has no CPUs of this machine; workers are pinned all the same */
    config.fifo_priority = PRIORITY;
    return clo_runtime_create(s->platform, &config, &s->runtime) == CLO_OK;
}

static void close_scene(scene *s)
{
    clo_runtime_destroy(s->runtime);
    clo_plan_destroy(s->plan);
    clo_cost_destroy(s->cost);
    clo_graph_destroy(s->graph);
    clo_platform_destroy(s->platform);
}

static clo_job_config config_of(const scene *s, int way)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;

    config.plan = way == RT_REPLAY ? s->plan : NULL;
    config.policy = way == RT_POLICY ? clo_policy_find("edf") : NULL;
    config.miss = tell;
    return config;
}

static void run(const scene *s, const clo_job_config *config, clo_status wanted)
{
    clo_job *job;

    atomic_store(&ran, 0);
    atomic_store(&told, 0);
    atomic_store(&gave_up, 0);
    atomic_store(&latest_ns, 0);
    ok(clo_job_create(s->runtime, s->cost, config, &job));
    pthread_t thread = start_witness();
    ok(clo_job_submit(job));
    assert_int_equal(clo_job_wait(job, NULL), wanted);
    atomic_store(&is_over, true);
    pthread_join(thread, NULL);
    assert_int_equal(atomic_load(&gave_up), 0);
    print_message("all workers busy: %s told %lld us after it was due\n",
                  config->task_limit_ns > 0 ? "limit" : "deadline", (long long)atomic_load(&latest_ns) / 1000);
    clo_job_destroy(job);
}

static void a_run_is_cut_at_its_deadline_whoever_submits(void **state)
{
    scene s;

    (void)state;
    bool may = open_above_us(&s);
    for (int way = 0; way < RT_WAYS && may; way++) {
        clo_job_config config = config_of(&s, way);
        config.deadline_ns = 20000000;
        config.on_miss = CLO_MISS_ABORT;
        run(&s, &config, CLO_ERR_ABORTED);
        assert_true(atomic_load(&ran) <= s.workers); /* none has begun after the cut */
    }
    close_scene(&s);
    if (!may)
        skip_because("SCHED_FIFO is not permitted", "ulimit -r 99, or run as root");
}

static void a_deadline_and_a_limit_are_told_while_the_body_runs_whoever_submits(void **state)
{
    scene s;

    (void)state;
    bool may = open_above_us(&s);
    for (int way = 0; way < RT_WAYS && may; way++)
        for (int is_limit = 0; is_limit <= 1; is_limit++) {
            clo_job_config config = config_of(&s, way);
            *(is_limit ? &config.task_limit_ns : &config.deadline_ns) = 5000000;
            run(&s, &config, CLO_OK);
            assert_int_equal(atomic_load(&ran), s.workers * BODIES_EACH);
        }
    close_scene(&s);
    if (!may)
        skip_because("SCHED_FIFO is not permitted", "ulimit -r 99, or run as root");
}

static int priority_of(pthread_t thread)
{
    struct sched_param parameter;
    int policy;

    assert_int_equal(pthread_getschedparam(thread, &policy, &parameter), 0);
    return policy == SCHED_FIFO ? parameter.sched_priority : 0;
}

/* The creator has one CPU and a priority that nothing of the runtime can displace, so a thread that it creates does not
 * run before it waits. */
static void the_watchdog_is_ready_above_its_workers_and_unpinned_when_create_returns(void **state)
{
    struct sched_param top = {.sched_priority = 50}, usual = {.sched_priority = 0};
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    cpu_set_t all, one, watchdogs;
    clo_platform *platform = scene_platform(1, 0);
    clo_runtime *runtime;
    int cpu = 0;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    while (!CPU_ISSET((size_t)cpu, &all))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &top) != 0) {
        clo_platform_destroy(platform);
        skip_because("SCHED_FIFO is not permitted", "ulimit -r 99, or run as root");
    }
    config.clock = CLO_CLOCK_PADDED;
    config.fifo_priority = PRIORITY;
    ok(clo_runtime_create(platform, &config, &runtime));
    assert_int_equal(priority_of(runtime->watchdog.thread), PRIORITY + 1);
    assert_int_equal(priority_of(runtime->workers[0].system.thread), PRIORITY);
    assert_non_null(strstr(clo_runtime_report(runtime), "ok    the watchdog has SCHED_FIFO priority 21\n"));
    clo_runtime_destroy(runtime);
    /* Without priorities it comes with the first job that needs it, here from a thread that is pinned. */
    clo_graph *graph = rt_graph(rt_body);
    clo_cost *cost;
    clo_job *job;
    clo_job_config periodic = CLO_JOB_CONFIG_INIT;
    periodic.period_ns = 1000000;
    periodic.releases = 1;
    config.fifo_priority = 0;
    ok(clo_cost_create(graph, platform, &cost));
    ok(clo_runtime_create(platform, &config, &runtime));
    assert_int_equal(pthread_setaffinity_np(pthread_self(), sizeof one, &one), 0);
    ok(clo_job_create(runtime, cost, &periodic, &job));
    assert_int_equal(pthread_getaffinity_np(runtime->watchdog.thread, sizeof watchdogs, &watchdogs), 0);
    assert_true(CPU_EQUAL(&watchdogs, &all));
    assert_int_equal(pthread_setaffinity_np(pthread_self(), sizeof all, &all), 0);
    pthread_setschedparam(pthread_self(), SCHED_OTHER, &usual);
    clo_runtime_destroy(runtime);
    clo_cost_destroy(cost);
    clo_graph_destroy(graph);
    clo_platform_destroy(platform);
}

static void a_priority_that_the_watchdog_is_refused_is_told_or_fails_as_asked(void **state)
{
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_platform *platform = scene_platform(1, 0);
    clo_runtime *runtime;

    (void)state;
    config.clock = CLO_CLOCK_PADDED;
    config.fifo_priority = PRIORITY;
    if (clo_runtime_create(platform, &config, &runtime) != CLO_OK) {
        clo_platform_destroy(platform);
        skip_because("SCHED_FIFO is not permitted", "ulimit -r 99, or run as root");
    }
    clo_runtime_destroy(runtime);
    highest_permitted = PRIORITY;
    fails(CLO_ERR_SYSTEM, "cannot give the watchdog SCHED_FIFO priority 21: Operation not permitted",
          clo_runtime_create(platform, &config, &runtime)); /* alone it is an order */
    config.real_time = CLO_REAL_TIME_TRY;
    ok(clo_runtime_create(platform, &config, &runtime));
    assert_non_null(strstr(clo_runtime_report(runtime), "ok    workers have SCHED_FIFO priority 20\n"));
    assert_non_null(
        strstr(clo_runtime_report(runtime), "lack  SCHED_FIFO is refused to the watchdog (priority 21): Operation"));
    bool is_locked = strstr(clo_runtime_report(runtime), "ok    memory is locked") != NULL;
    clo_runtime_destroy(runtime);
    config.real_time = CLO_REAL_TIME_REQUIRE;
    fails(CLO_ERR_SYSTEM, is_locked ? "SCHED_FIFO is refused to the watchdog" : "memory cannot be locked",
          clo_runtime_create(platform, &config, &runtime));
    highest_permitted = 99;
    clo_platform_destroy(platform);
}

static void a_priority_that_leaves_none_for_the_watchdog_is_refused(void **state)
{
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_platform *platform = scene_platform(1, 0);
    clo_runtime *runtime;

    (void)state;
    config.fifo_priority = sched_get_priority_max(SCHED_FIFO);
    fails(CLO_ERR_ARGUMENT, "fifo_priority is 99; use 0, or 1 to 98", clo_runtime_create(platform, &config, &runtime));
    clo_platform_destroy(platform);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_cut_at_its_deadline_whoever_submits),
        cmocka_unit_test(a_deadline_and_a_limit_are_told_while_the_body_runs_whoever_submits),
        cmocka_unit_test(the_watchdog_is_ready_above_its_workers_and_unpinned_when_create_returns),
        cmocka_unit_test(a_priority_that_the_watchdog_is_refused_is_told_or_fails_as_asked),
        cmocka_unit_test(a_priority_that_leaves_none_for_the_watchdog_is_refused),
    };

    *(void **)&real_setschedparam = dlsym(RTLD_NEXT, "pthread_setschedparam"); /* before there are threads */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
