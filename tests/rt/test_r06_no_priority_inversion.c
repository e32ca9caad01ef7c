/* R6, no priority inversion: the locks of control lend their holder the waiter's priority: the watchdog's (submit),
 * that of the job slots (create) and that of the jobs with a policy (create of one). On one CPU a thread of low
 * priority holds it, one of middle priority computes, one of high priority submits or creates: it must get through
 * although the middle one never gives way.
 * Mutation: PTHREAD_PRIO_NONE in clo_lock_init; the middle thread then keeps the lock's holder from the CPU.
 *
 * And none is held while the application's code runs that may take long: a handler of misses (mutation: call it under
 * the lock in miss.c), or a policy that is being exchanged, as long as no job with a policy is made (mutation: lock
 * `control` in clo_runtime_swap_policy). These wait for what the other thread does meanwhile; PATIENCE is how long
 * until they give up and the test fails.
 * Where a thread would keep the CPU for ever, its own CPU time says when to give up: other programs are not in it.
 *
 * A thread that submits hands the scheduler's turn over (mutation: OWN_MAX of combining.c at UINT32_MAX).
 *
 * Whoever destroys a job with a policy waits until the combiner has let go of it: asleep, so that a combiner of lower
 * priority has the CPU. Mutation: sched_yield in place of clo_futex_doze in clo_job_destroy. */
#define _GNU_SOURCE
#include "support.h"

#include "rt.h"
#include "run/state/runtime.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <time.h>

#define PATIENCE_S 200

static rt_scene scene;
static _Atomic uint32_t is_held, is_spinning, asks, has_submitted, was_in_time;
/* What the low thread holds, and what the high one wants. */
static pthread_mutex_t *wanted;
static clo_job *made;

#define GIVE_UP_S 3 /* of CPU time */

static double seconds(clockid_t clock)
{
    struct timespec now = {0};

    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void *low_main(void *argument)
{
    (void)argument;
    pthread_mutex_lock(wanted);
    atomic_store(&is_held, 1);
    double until = seconds(CLOCK_THREAD_CPUTIME_ID) + 0.05; /* work under the lock; reached only if we get the CPU */
    while (seconds(CLOCK_THREAD_CPUTIME_ID) < until || atomic_load(&is_spinning) == 0)
        ;
    pthread_mutex_unlock(wanted);
    return NULL;
}

static void *middle_main(void *argument)
{
    (void)argument;
    atomic_store(&is_spinning, 1);
    while (atomic_load(&asks) == 0)
        ; /* never gives way; the high one, on the same CPU, goes on past it until it waits for the lock */
    double until = seconds(CLOCK_THREAD_CPUTIME_ID) + GIVE_UP_S;
    while (seconds(CLOCK_THREAD_CPUTIME_ID) < until && atomic_load(&has_submitted) == 0)
        ;
    if (atomic_load(&has_submitted) != 0)
        atomic_store(&was_in_time, 1);
    return NULL;
}

static void *high_main(void *argument)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;

    (void)argument;
    atomic_store(&asks, 1);
    if (wanted == &scene.runtime->watchdog.lock) {
        ok(clo_job_submit(scene.job));
    } else {
        config.policy = wanted == &scene.runtime->control ? NULL : clo_policy_find("fifo");
        ok(clo_job_create(scene.runtime, scene.cost, &config, &made));
    }
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

static void get_past_the_middle_one(void)
{
    pthread_t low, middle, high;
    int cpu = first_cpu();

    atomic_store(&is_held, 0);
    atomic_store(&is_spinning, 0);
    atomic_store(&asks, 0);
    atomic_store(&has_submitted, 0);
    atomic_store(&was_in_time, 0);
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
    assert_int_equal(atomic_load(&was_in_time), 1);
}

static void a_high_thread_gets_the_lock_of_a_low_one_past_a_busy_middle_one(void **state)
{
    clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config job = CLO_JOB_CONFIG_INIT;
    struct sched_param top = {.sched_priority = 50};
    struct sched_param usual = {.sched_priority = 0};

    (void)state;
    job.period_ns = 1000000;
    job.releases = 3;
    rt_open(&scene, RT_STEAL, &runtime, &job);
    if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &top) != 0) {
        rt_close(&scene);
        skip_because("SCHED_FIFO is not permitted", "ulimit -r 99, or run as root");
    }
    pthread_mutex_t *const locks[] = {&scene.runtime->watchdog.lock, &scene.runtime->control,
                                      &scene.runtime->scheduling.coming};
    for (size_t i = 0; i < sizeof locks / sizeof locks[0]; i++) {
        wanted = locks[i];
        get_past_the_middle_one();
        clo_job_destroy(made);
        made = NULL;
    }
    pthread_setschedparam(pthread_self(), SCHED_OTHER, &usual);
    ok(clo_job_wait(scene.job, NULL));
    rt_close(&scene);
}

static sem_t has_begun, may_go_on;
static _Atomic uint32_t lost_patience;

static void begin_and_wait(void)
{
    struct timespec until;

    sem_post(&has_begun);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    if (sem_timedwait(&may_go_on, &until) != 0)
        atomic_fetch_add(&lost_patience, 1);
}

static clo_status init_slowly(void *state, const clo_view *view)
{
    (void)state;
    (void)view;
    begin_and_wait();
    return CLO_OK;
}

static bool choose_oldest(void *state, const clo_view *view, clo_choice *choice)
{
    clo_ready_stage oldest = clo_view_first_ready(view);

    (void)state;
    choice->job = oldest.job;
    choice->stage = oldest.stage;
    return oldest.job != CLO_NONE;
}

static const clo_policy slow_to_begin = {
    .name = "slow", .size = sizeof(clo_policy), .init = init_slowly, .decide = choose_oldest};

static void *swap_main(void *argument)
{
    (void)argument;
    ok(clo_runtime_swap_policy(scene.runtime, &slow_to_begin, NULL));
    return NULL;
}

static void jobs_are_made_and_destroyed_while_a_policy_is_exchanged(void **state)
{
    clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config config = CLO_JOB_CONFIG_INIT, plain = CLO_JOB_CONFIG_INIT;
    pthread_t swaps;
    clo_job *other;

    (void)state;
    sem_init(&has_begun, 0, 0);
    sem_init(&may_go_on, 0, 0);
    atomic_store(&lost_patience, 0);
    rt_open(&scene, RT_POLICY, &runtime, &config);
    assert_int_equal(pthread_create(&swaps, NULL, swap_main, NULL), 0);
    sem_wait(&has_begun);
    ok(clo_job_create(scene.runtime, scene.cost, &plain, &other));
    ok(clo_job_submit(other));
    ok(clo_job_wait(other, NULL));
    clo_job_destroy(other);
    sem_post(&may_go_on);
    pthread_join(swaps, NULL);
    assert_int_equal(atomic_load(&lost_patience), 0);
    rt_close(&scene);
    sem_destroy(&has_begun);
    sem_destroy(&may_go_on);
}

static void handle_slowly(void *argument, clo_job *job, const clo_miss *miss)
{
    (void)argument;
    (void)job;
    (void)miss;
    begin_and_wait();
}

static int take_a_while(const clo_call *call)
{
    (void)call;
    nanosleep(&(struct timespec){0, 5000000}, NULL);
    return 0;
}

/* By a body as by any other thread: there is no other lock. */
static void watched_jobs_are_submitted_while_a_handler_of_misses_runs(void **state)
{
    clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config config = CLO_JOB_CONFIG_INIT, late = CLO_JOB_CONFIG_INIT;
    clo_task task = {.body = take_a_while, .work_ns = 1000};
    clo_graph *graph = scene_layers(1, 1, &task);
    clo_cost *cost;
    clo_job *misses;

    (void)state;
    sem_init(&has_begun, 0, 0);
    sem_init(&may_go_on, 0, 0);
    atomic_store(&lost_patience, 0);
    config.deadline_ns = INT64_C(3600000000000);
    config.on_miss = CLO_MISS_ABORT; /* watched */
    rt_open(&scene, RT_STEAL, &runtime, &config);
    late.deadline_ns = 1000;
    late.miss = handle_slowly;
    ok(clo_cost_create(graph, scene.platform, &cost));
    ok(clo_job_create(scene.runtime, cost, &late, &misses));
    ok(clo_job_submit(misses));
    sem_wait(&has_begun);
    for (int run = 0; run < 10; run++) {
        ok(clo_job_submit(scene.job));
        ok(clo_job_wait(scene.job, NULL));
    }
    clo_job_destroy(scene.job);
    scene.job = NULL;
    sem_post(&may_go_on);
    ok(clo_job_wait(misses, NULL));
    assert_int_equal(atomic_load(&lost_patience), 0);
    clo_job_destroy(misses);
    clo_cost_destroy(cost);
    clo_graph_destroy(graph);
    rt_close(&scene);
    sem_destroy(&has_begun);
    sem_destroy(&may_go_on);
}

#define MANY_TASKS 20000u
#define POSTS_MAX 64u /* OWN_MAX of combining.c */
#define LOOKS_MAX 2000u

static pthread_t submitter;
static _Atomic uint32_t ended_bodies, chosen;
static uint32_t asked_here, seen_bodies, looks_left; /* the submitter's */

static int count_body(const clo_call *call)
{
    (void)call;
    atomic_fetch_add(&ended_bodies, 1);
    return 0;
}

/* The workers may have the CPU; not for ever. */
static bool look_away(void)
{
    return looks_left > 0 && looks_left-- > 0 && nanosleep(&(struct timespec){0, 20000}, NULL) == 0;
}

/* On the submitter's thread it waits for the end of a body that runs and for its post, so that there is one more to be
 * handled. */
static bool choose_and_wait(void *state, const clo_view *view, clo_choice *choice)
{
    if (pthread_equal(pthread_self(), submitter)) {
        asked_here++;
        while (atomic_load(&ended_bodies) == seen_bodies && atomic_load(&chosen) > seen_bodies && look_away())
            continue;
        seen_bodies = atomic_load(&ended_bodies);
        (void)look_away();
    }
    bool is_one = choose_oldest(state, view, choice);
    atomic_fetch_add(&chosen, is_one);
    return is_one;
}

static const clo_policy waiting = {.name = "waiting", .size = sizeof(clo_policy), .decide = choose_and_wait};

static void a_thread_that_submits_does_not_decide_for_the_whole_job(void **state)
{
    clo_task task = {.body = count_body, .work_ns = 100};
    clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config none = CLO_JOB_CONFIG_INIT, config = CLO_JOB_CONFIG_INIT;
    clo_graph *graph = scene_layers(1, MANY_TASKS, &task);
    clo_cost *cost;
    clo_job *job;

    (void)state;
    submitter = pthread_self();
    rt_open(&scene, RT_STEAL, &runtime, &none);
    ok(clo_cost_create(graph, scene.platform, &cost));
    config.policy = &waiting;
    ok(clo_job_create(scene.runtime, cost, &config, &job));
    for (int run = 0; run < 5; run++) {
        atomic_store(&ended_bodies, 0);
        atomic_store(&chosen, 0);
        asked_here = seen_bodies = 0;
        looks_left = LOOKS_MAX;
        ok(clo_job_submit(job));
        /* Each post is followed by a decision for each executor, and one that finds nothing; each round may handle as
         * many posts as there are workers beyond the bound, and each of the pieces in which the job enters is followed
         * by decisions, too. */
        uint32_t pieces = MANY_TASKS / 256 + 1;
        assert_true(asked_here <= (POSTS_MAX + 2 + pieces) * 4);
        ok(clo_job_wait(job, NULL));
        assert_int_equal(atomic_load(&ended_bodies), MANY_TASKS);
    }
    clo_job_destroy(job);
    clo_cost_destroy(cost);
    clo_graph_destroy(graph);
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

static const clo_policy telling = {
    .name = "telling", .size = sizeof(clo_policy), .event = tell_of_cancel, .decide = choose_oldest};

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
    clockid_t clock_of_high;
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
    assert_int_equal(pthread_getcpuclockid(high, &clock_of_high), 0);
    nanosleep(&(struct timespec){0, 20000000}, NULL); /* it waits */
    assert_int_equal(start_on_cpu(&low, cancel_main, 10, cpu), 0);
    while (atomic_load(&was_destroyed) == 0 && seconds(clock_of_high) < GIVE_UP_S)
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
        cmocka_unit_test(jobs_are_made_and_destroyed_while_a_policy_is_exchanged),
        cmocka_unit_test(watched_jobs_are_submitted_while_a_handler_of_misses_runs),
        cmocka_unit_test(a_thread_that_submits_does_not_decide_for_the_whole_job),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
