/* R6, no priority inversion: the only lock that a job's submit takes, the watchdog's, lends its holder the waiter's
 * priority. On one CPU a thread of low priority holds it, one of middle priority computes, one of high priority
 * submits: it must get through although the middle one never gives way.
 * Mutation: PTHREAD_PRIO_NONE in clo_watchdog_init; the middle thread then keeps the lock's holder from the CPU. */
#define _GNU_SOURCE
#include "support.h"

#include "rt.h"
#include "run/runtime.h"

#include <pthread.h>
#include <sched.h>
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_high_thread_gets_the_lock_of_a_low_one_past_a_busy_middle_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
