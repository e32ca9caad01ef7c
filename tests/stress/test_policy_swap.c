/* A policy is replaced while its job runs: the new one decides from then on, nothing is lost or run twice. */
#include "support.h"

#include "running.h"

#include <pthread.h>
#include <sched.h>

#define INSTANCES 400u

/* A policy that serves oldest first and counts; `after` is what must not happen once it was replaced. */
typedef struct counting {
    _Atomic uint32_t inits, shown, picks;
    _Atomic uint32_t is_out;
    _Atomic uint32_t calls_when_out;
    clo_status init_status;
} counting;

static counting first, second;

static void note(counting *c, _Atomic uint32_t *what)
{
    atomic_fetch_add(what, 1);
    if (atomic_load(&c->is_out))
        atomic_fetch_add(&c->calls_when_out, 1);
}

static uint32_t pick_oldest(counting *c, const clo_view *view)
{
    uint32_t instance = clo_view_ready_first(view);

    if (instance != CLO_NONE)
        note(c, &c->picks);
    return instance;
}

#define COUNTING(which)                                                                          \
    static size_t which##_bytes(const clo_graph *graph, const clo_platform *platform)            \
    {                                                                                            \
        (void)graph;                                                                             \
        (void)platform;                                                                          \
        return 64;                                                                               \
    }                                                                                            \
    static clo_status which##_init(void *state, const clo_view *view)                            \
    {                                                                                            \
        (void)view;                                                                              \
        memset(state, 1, 64);                                                                    \
        note(&which, &which.inits);                                                              \
        return which.init_status;                                                                \
    }                                                                                            \
    static void which##_ready(void *state, const clo_view *view, uint32_t instance, uint32_t by) \
    {                                                                                            \
        (void)state;                                                                             \
        (void)by;                                                                                \
        assert_true(clo_view_is_ready(view, instance));                                          \
        note(&which, &which.shown);                                                              \
    }                                                                                            \
    static uint32_t which##_pick(void *state, const clo_view *view, uint32_t executor)           \
    {                                                                                            \
        (void)executor;                                                                          \
        ++*(unsigned char *)state; /* a freed state is seen by the address sanitizer */          \
        return pick_oldest(&which, view);                                                        \
    }                                                                                            \
    static const clo_policy which##_policy = {.name = #which,                                    \
                                              .state_bytes = which##_bytes,                      \
                                              .init = which##_init,                              \
                                              .ready = which##_ready,                            \
                                              .pick = which##_pick}

COUNTING(first);
COUNTING(second);

static _Atomic uint32_t may_go, waiting;

static int wait_for_go(const clo_call *call)
{
    (void)call;
    atomic_fetch_add(&waiting, 1);
    while (atomic_load(&may_go) == 0)
        sched_yield();
    atomic_fetch_add(&calls, 1);
    return 0;
}

static fixture prepare(void)
{
    clo_task task = {.body = wait_for_go, .work_ns = 1000};

    memset(&first, 0, sizeof first);
    memset(&second, 0, sizeof second);
    atomic_store(&calls, 0);
    atomic_store(&waiting, 0);
    atomic_store(&may_go, 0);
    return start(2, scene_layers(4, 3, &task), CLO_CLOCK_REAL);
}

static void a_policy_swapped_in_the_middle_is_shown_what_is_ready_and_decides_from_then_on(void **state)
{
    fixture f = prepare();
    clo_job *job = make_job(&f, &first_policy, NULL);
    clo_job_result result = CLO_JOB_RESULT_INIT;

    (void)state;
    ok(clo_job_submit(job));
    while (atomic_load(&waiting) < 2)
        sched_yield();
    assert_int_equal(atomic_load(&first.picks), 2);
    ok(clo_job_swap_policy(job, &second_policy)); /* nobody decides now: this thread takes the turn */
    atomic_store(&first.is_out, 1);
    assert_int_equal(atomic_load(&second.inits), 1);
    assert_int_equal(atomic_load(&second.shown), 1); /* three are ready at first, two run */
    atomic_store(&may_go, 1);
    ok(clo_job_wait(job, &result));
    assert_int_equal(atomic_load(&calls), 12);
    assert_int_equal(result.decisions, 12);
    assert_int_equal(atomic_load(&second.picks), 10);
    assert_int_equal(atomic_load(&first.calls_when_out), 0);
    ok(clo_job_submit(job)); /* stays */
    ok(clo_job_wait(job, NULL));
    assert_int_equal(atomic_load(&second.picks), 22);
    clo_job_destroy(job);
    stop(&f);
}

static void a_policy_whose_init_fails_changes_nothing(void **state)
{
    fixture f = prepare();
    clo_job *job = make_job(&f, &first_policy, NULL);

    (void)state;
    second.init_status = CLO_ERR_LIMIT;
    ok(clo_job_submit(job));
    while (atomic_load(&waiting) < 2)
        sched_yield();
    assert_int_equal(clo_job_swap_policy(job, &second_policy), CLO_ERR_LIMIT);
    atomic_store(&may_go, 1);
    ok(clo_job_wait(job, NULL));
    assert_int_equal(atomic_load(&first.picks), 12);
    assert_int_equal(atomic_load(&second.picks), 0);
    clo_job_destroy(job);
    stop(&f);
}

static void a_policy_swapped_between_runs_takes_the_next_run(void **state)
{
    fixture f = prepare();
    clo_job *job = make_job(&f, &first_policy, NULL), *other;

    (void)state;
    atomic_store(&may_go, 1);
    ok(clo_job_swap_policy(job, &second_policy));
    assert_int_equal(atomic_load(&second.inits), 0);
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, NULL));
    assert_int_equal(atomic_load(&second.picks), 12);
    assert_int_equal(atomic_load(&first.picks), 0);
    clo_job_destroy(job);
    other = make_job(&f, NULL, NULL);
    fails(CLO_ERR_ARGUMENT, "no policy to be replaced", clo_job_swap_policy(other, &first_policy));
    clo_job_destroy(other);
    stop(&f);
}

static _Atomic uint32_t is_swapping;

static void *swap_main(void *argument)
{
    for (uint32_t i = 0; atomic_load(&is_swapping) != 0; i++)
        ok(clo_job_swap_policy(argument, policy_at(i % 4)));
    return NULL;
}

static void swaps_all_the_time_lose_nothing(void **state)
{
    clo_task task = {.body = count_call, .work_ns = 1000};
    fixture f = start(4, scene_layers(20, 20, &task), CLO_CLOCK_REAL);
    clo_job *job = make_job(&f, clo_policy_find("fifo"), NULL);
    clo_job_result result = CLO_JOB_RESULT_INIT;
    pthread_t swapper;

    (void)state;
    atomic_store(&is_swapping, 1);
    assert_int_equal(pthread_create(&swapper, NULL, swap_main, job), 0);
    for (int run = 0; run < 40; run++) {
        atomic_store(&calls, 0);
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, &result));
        assert_int_equal(atomic_load(&calls), INSTANCES);
        assert_int_equal(result.decisions, INSTANCES);
    }
    atomic_store(&is_swapping, 0);
    pthread_join(swapper, NULL);
    clo_job_destroy(job);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_policy_swapped_in_the_middle_is_shown_what_is_ready_and_decides_from_then_on),
        cmocka_unit_test(a_policy_whose_init_fails_changes_nothing),
        cmocka_unit_test(a_policy_swapped_between_runs_takes_the_next_run),
        cmocka_unit_test(swaps_all_the_time_lose_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
