/* R6, no priority inversion: the only lock that a job's submit takes, the watchdog's, lends its holder the waiter's
 * priority. On one CPU a thread of low priority holds it, one of middle priority computes, one of high priority
 * submits: it must get through although the middle one never gives way.
 * Mutation: PTHREAD_PRIO_NONE in clo_watchdog_init; the middle thread then keeps the lock's holder from the CPU.
 *
 * Whoever destroys a job with a policy waits until the combiner has let go of it: asleep, so that a combiner of lower
 * priority has the CPU. Mutation: sched_yield in place of clo_futex_doze in clo_job_destroy. */
#define _GNU_SOURCE
#include "support.h"

#include "rt.h"
#include "run/runtime.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <time.h>

static rt_scene scene;
static _Atomic uint32_t is_held, is_spinning, has_submitted, was_in_time;

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void *low_main(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&scene.runtime->watchdog.lock);
    atomic_store(&is_held, 1);
    double until = seconds() + 0.05; /* work under the lock; reached only if we get the CPU */
    while (seconds() < until || atomic_load(&is_spinning) == 0)
        ;
    pthread_mutex_unlock(&scene.runtime->watchdog.lock);
    return NULL;
}

static void *middle_main(void *argument)
{
    double until = seconds() + 3;

    (void)argument;
    atomic_store(&is_spinning, 1);
    while (seconds() < until && atomic_load(&has_submitted) == 0)
        ; /* never gives way */
    if (atomic_load(&has_submitted) != 0)
        atomic_store(&was_in_time, 1);
    return NULL;
}

static void *high_main(void *argument)
{
    (void)argument;
    ok(clo_job_submit(scene.job));
    atomic_store(&has_submitted, 1);
    return NULL;
}

static int start_on_cpu(pthread_t *thread, void *(*main_of)(void *), int priority, int cpu)
{
    pthread_attr_t attributes;
    struct sched_param parameter = {.sched_priority = priority};
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    pthread_attr_init(&attributes);
    pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
    pthread_attr_setschedparam(&attributes, &parameter);
    pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
    int error = pthread_create(thread, &attributes, main_of, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}

static int first_cpu(void)
{
    cpu_set_t set;
    int cpu = 0;

    sched_getaffinity(0, sizeof set, &set);
    while (!CPU_ISSET((size_t)cpu, &set))
        cpu++;
    return cpu;
}

static void a_high_thread_gets_the_lock_of_a_low_one_past_a_busy_middle_one(void **state)
{
    clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config job = CLO_JOB_CONFIG_INIT;
    struct sched_param top = {.sched_priority = 50};
    struct sched_param usual = {.sched_priority = 0};
    pthread_t low, middle, high;
    int cpu = first_cpu();

    (void)state;
    job.period_ns = 1000000;
    job.releases = 3;
    rt_open(&scene, RT_STEAL, &runtime, &job);
    if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &top) != 0) {
        rt_close(&scene);
        skip_because("SCHED_FIFO is not permitted", "ulimit -r 99, or run as root");
    }
    assert_int_equal(start_on_cpu(&low, low_main, 10, cpu), 0);
    while (atomic_load(&is_held) == 0)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    assert_int_equal(start_on_cpu(&middle, middle_main, 20, cpu), 0);
    while (atomic_load(&is_spinning) == 0)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    assert_int_equal(start_on_cpu(&high, high_main, 30, cpu), 0);
    pthread_join(high, NULL);
    pthread_join(middle, NULL);
    pthread_join(low, NULL);
    pthread_setschedparam(pthread_self(), SCHED_OTHER, &usual);
    assert_int_equal(atomic_load(&was_in_time), 1);
    ok(clo_job_wait(scene.job, NULL));
    rt_close(&scene);
}

static sem_t has_turn;
static clo_job *ended, *live;
static _Atomic uint32_t may_end, was_destroyed;

/* The combiner, of low priority, lets the high thread go in the middle of its turn. */
static void tell_of_cancel(void *state, const clo_view *view, const clo_event *event)
{
    (void)state;
    (void)view;
    if (event->kind == CLO_EVENT_CANCEL)
        sem_post(&has_turn);
}

static bool take_oldest(void *state, const clo_view *view, clo_choice *choice)
{
    clo_ready_stage oldest = clo_view_first_ready(view);

    (void)state;
    choice->job = oldest.job;
    choice->stage = oldest.stage;
    return oldest.job != CLO_NONE;
}

static const clo_policy telling = {
    .name = "telling", .size = sizeof(clo_policy), .event = tell_of_cancel, .decide = take_oldest};

static int wait_to_end(const clo_call *call)
{
    (void)call;
    while (atomic_load(&may_end) == 0)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    return 0;
}

static void *cancel_main(void *argument)
{
    (void)argument;
    clo_job_cancel(live);
    return NULL;
}

/* Its request stands behind the one that is being handled. */
static void *destroy_main(void *argument)
{
    (void)argument;
    sem_wait(&has_turn);
    clo_job_cancel(ended);
    clo_job_destroy(ended);
    atomic_store(&was_destroyed, 1);
    return NULL;
}

static clo_job *make_telling_job(const clo_cost *cost)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *job;

    config.policy = &telling;
    ok(clo_job_create(scene.runtime, cost, &config, &job));
    ok(clo_job_submit(job));
    return job;
}

static void a_high_thread_that_destroys_a_job_leaves_the_cpu_to_a_low_combiner(void **state)
{
    clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    struct sched_param top = {.sched_priority = 50}, usual = {.sched_priority = 0};
    clo_graph *graph = rt_graph(wait_to_end);
    pthread_t low, high;
    clo_cost *cost;
    int cpu = first_cpu();

    (void)state;
    rt_open(&scene, RT_STEAL, &runtime, &config);
    if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &top) != 0) {
        rt_close(&scene);
        clo_graph_destroy(graph);
        skip_because("SCHED_FIFO is not permitted", "ulimit -r 99, or run as root");
    }
    ok(clo_cost_create(graph, scene.platform, &cost));
    sem_init(&has_turn, 0, 0);
    ended = make_telling_job(scene.cost);
    ok(clo_job_wait(ended, NULL));
    live = make_telling_job(cost);
    assert_int_equal(start_on_cpu(&high, destroy_main, 30, cpu), 0);
    nanosleep(&(struct timespec){0, 20000000}, NULL); /* it waits */
    assert_int_equal(start_on_cpu(&low, cancel_main, 10, cpu), 0);
    for (int looks = 0; looks < 300 && atomic_load(&was_destroyed) == 0; looks++)
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    uint32_t was_quick = atomic_load(&was_destroyed);
    pthread_setschedparam(high, SCHED_OTHER, &usual); /* if it has kept the CPU: to end all the same */
    pthread_join(low, NULL);
    pthread_join(high, NULL);
    pthread_setschedparam(pthread_self(), SCHED_OTHER, &usual);
    assert_int_equal(was_quick, 1);
    atomic_store(&may_end, 1);
    clo_job_destroy(live);
    clo_cost_destroy(cost);
    clo_graph_destroy(graph);
    sem_destroy(&has_turn);
    rt_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_high_thread_gets_the_lock_of_a_low_one_past_a_busy_middle_one),
        cmocka_unit_test(a_high_thread_that_destroys_a_job_leaves_the_cpu_to_a_low_combiner),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
