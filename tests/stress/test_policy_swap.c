/* The policy of a runtime is replaced while its jobs run: the new one decides from then on, nothing is lost or run
 * twice. */
#include "support.h"

#include "running.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define INSTANCES 400u

/* Sanitizers take locks in malloc and free that a fork may find taken, unlike the C library. */
#define FORKS (SANITIZED ? 0u : EMULATED ? 200u : 2000u)

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

static bool choose_oldest(counting *c, const clo_view *view, clo_choice *choice)
{
    clo_ready_stage oldest = clo_view_first_ready(view);

    if (oldest.job == CLO_NONE || clo_view_next_free(view, CLO_NONE) == CLO_NONE)
        return false;
    note(c, &c->picks);
    choice->job = oldest.job;
    choice->stage = oldest.stage;
    return true;
}

#define COUNTING(which)                                                                             \
    static size_t which##_bytes(const clo_limits *limits, const void *argument)                     \
    {                                                                                               \
        (void)limits;                                                                               \
        (void)argument;                                                                             \
        return 64;                                                                                  \
    }                                                                                               \
    static size_t which##_job_bytes(const clo_cost *cost, const void *argument)                     \
    {                                                                                               \
        (void)cost;                                                                                 \
        (void)argument;                                                                             \
        return 64;                                                                                  \
    }                                                                                               \
    static clo_status which##_init(void *state, const clo_view *view)                               \
    {                                                                                               \
        (void)view;                                                                                 \
        memset(state, 1, 64);                                                                       \
        note(&which, &which.inits);                                                                 \
        return which.init_status;                                                                   \
    }                                                                                               \
    static void which##_event(void *state, const clo_view *view, const clo_event *event)            \
    {                                                                                               \
        (void)state;                                                                                \
        if (event->kind != CLO_EVENT_READY)                                                         \
            return;                                                                                 \
        assert_int_equal(clo_view_stage(view, event->job, event->stage)->unstarted, event->count);  \
        assert_int_equal(clo_view_stage(view, event->job, event->stage)->parents_left, 0);          \
        note(&which, &which.shown);                                                                 \
    }                                                                                               \
    static bool which##_decide(void *state, const clo_view *view, clo_choice *choice)               \
    {                                                                                               \
        ++*(unsigned char *)state; /* a freed state is seen by the address sanitizer */             \
        for (uint32_t j = clo_view_first_job(view); j != CLO_NONE; j = clo_view_job(view, j)->next) \
            ++*(unsigned char *)clo_view_job(view, j)->state;                                       \
        return choose_oldest(&which, view, choice);                                                 \
    }                                                                                               \
    static const clo_policy which##_policy = {.size = sizeof(clo_policy),                           \
                                              .name = #which,                                       \
                                              .state_bytes = which##_bytes,                         \
                                              .job_bytes = which##_job_bytes,                       \
                                              .init = which##_init,                                 \
                                              .event = which##_event,                               \
                                              .decide = which##_decide}

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
    ok(clo_runtime_swap_policy(f.runtime, &second_policy, NULL)); /* nobody decides now: this thread takes the turn */
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
    clo_job *job = make_job(&f, &first_policy, NULL), *other;

    (void)state;
    second.init_status = CLO_ERR_LIMIT;
    ok(clo_job_submit(job));
    while (atomic_load(&waiting) < 2)
        sched_yield();
    assert_int_equal(clo_runtime_swap_policy(f.runtime, &second_policy, NULL), CLO_ERR_LIMIT);
    atomic_store(&may_go, 1);
    ok(clo_job_wait(job, NULL));
    assert_int_equal(atomic_load(&first.picks), 12);
    assert_int_equal(atomic_load(&second.picks), 0);
    other = make_job(&f, &first_policy, NULL); /* made after the failure, under the old policy */
    ok(clo_job_submit(other));
    ok(clo_job_wait(other, NULL));
    assert_int_equal(atomic_load(&first.picks), 24);
    clo_job_destroy(other);
    clo_job_destroy(job);
    stop(&f);
}

static void a_policy_swapped_between_runs_takes_the_next_run(void **state)
{
    fixture f = prepare();
    clo_job *job = make_job(&f, &first_policy, NULL), *other;

    (void)state;
    atomic_store(&may_go, 1);
    ok(clo_runtime_swap_policy(f.runtime, &second_policy, NULL));
    assert_int_equal(atomic_load(&second.inits), 1);
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, NULL));
    assert_int_equal(atomic_load(&second.picks), 12);
    assert_int_equal(atomic_load(&first.picks), 0);
    clo_job_destroy(job);
    other = make_job(&f, NULL, NULL);
    fails(CLO_ERR_STATE, "no job with a policy", clo_runtime_swap_policy(f.runtime, &first_policy, NULL));
    clo_job_destroy(other);
    stop(&f);
}

/* Jobs that exist follow the runtime's policy; a new one must name it. */
static void all_jobs_of_a_runtime_follow_one_policy(void **state)
{
    fixture f = prepare();
    clo_job *job = make_job(&f, &first_policy, NULL), *other = make_job(&f, &first_policy, NULL);
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *late;

    (void)state;
    config.policy = &second_policy;
    fails(CLO_ERR_STATE, "follows the policy 'first' for 2 other jobs",
          clo_job_create(f.runtime, f.cost, &config, &late));
    atomic_store(&may_go, 1);
    ok(clo_runtime_swap_policy(f.runtime, &second_policy, NULL));
    ok(clo_runtime_swap_policy(f.runtime, &first_policy, NULL)); /* twice, while both are idle */
    ok(clo_runtime_swap_policy(f.runtime, &second_policy, NULL));
    ok(clo_job_create(f.runtime, f.cost, &config, &late));
    ok(clo_job_submit(job));
    ok(clo_job_submit(other));
    ok(clo_job_submit(late));
    ok(clo_job_wait(job, NULL));
    ok(clo_job_wait(other, NULL));
    ok(clo_job_wait(late, NULL));
    assert_int_equal(atomic_load(&second.picks), 36);
    assert_int_equal(atomic_load(&first.picks), 0);
    clo_job_destroy(job);
    clo_job_destroy(other);
    clo_job_destroy(late);
    config.policy = &first_policy; /* none is left: any will do */
    ok(clo_job_create(f.runtime, f.cost, &config, &late));
    clo_job_destroy(late);
    stop(&f);
}

/* "deft" commits stages whose inputs are not there; what it leaves in the queues must run under "fifo" too. */
static void what_one_policy_committed_runs_under_the_next(void **state)
{
    fixture f = prepare();
    clo_job *job = make_job(&f, clo_policy_find("deft"), NULL);
    clo_job_result result = CLO_JOB_RESULT_INIT;

    (void)state;
    ok(clo_job_submit(job));
    while (atomic_load(&waiting) < 2)
        sched_yield();
    ok(clo_runtime_swap_policy(f.runtime, clo_policy_find("fifo"), NULL));
    atomic_store(&may_go, 1);
    ok(clo_job_wait(job, &result));
    assert_int_equal(atomic_load(&calls), 12);
    assert_int_equal(result.decisions, 12);
    assert_int_equal(result.refused, 0);
    clo_job_destroy(job);
    stop(&f);
}

static _Atomic uint32_t is_swapping;

static void *swap_main(void *argument)
{
    for (uint32_t i = 0; atomic_load(&is_swapping) != 0; i++)
        ok(clo_runtime_swap_policy(argument, policy_at(i % policies_count()), NULL));
    return NULL;
}

static void swaps_all_the_time_lose_nothing(void **state)
{
    clo_task task = {.body = count_call, .work_ns = 1000};
    fixture f = start(4, scene_layers(20, 20, &task), CLO_CLOCK_REAL);
    clo_job *job = make_job(&f, clo_policy_find("fifo"), NULL), *other = make_job(&f, clo_policy_find("fifo"), NULL);
    clo_job_result result = CLO_JOB_RESULT_INIT;
    pthread_t swapper;

    (void)state;
    atomic_store(&is_swapping, 1);
    assert_int_equal(pthread_create(&swapper, NULL, swap_main, f.runtime), 0);
    for (int run = 0; run < 40; run++) {
        atomic_store(&calls, 0);
        ok(clo_job_submit(job));
        if (run % 3 != 0) /* in every third run it is idle meanwhile */
            ok(clo_job_submit(other));
        ok(clo_job_wait(job, &result));
        if (run % 3 != 0)
            ok(clo_job_wait(other, NULL));
        assert_int_equal(atomic_load(&calls), run % 3 != 0 ? 2 * INSTANCES : INSTANCES);
        assert_int_equal(result.decisions, INSTANCES);
        assert_int_equal(result.refused, 0);
    }
    atomic_store(&is_swapping, 0);
    pthread_join(swapper, NULL);
    clo_job_destroy(job);
    clo_job_destroy(other);
    stop(&f);
}

/* 4 executors on a machine with so much of one resource. */
static fixture start_packed(int64_t capacity)
{
    clo_task task = {.body = count_call, .work_ns = 1000, .demand = {capacity / 3}};
    int64_t capacities[CLO_RESOURCES_MAX] = {capacity, -1, -1, -1, -1, -1, -1, -1};
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    fixture f = {.graph = scene_layers(20, 20, &task)};
    clo_executor executors[4];

    for (uint32_t e = 0; e < 4; e++)
        executors[e] = (clo_executor){0, 0, 0, -1, {65536, 65536, 65536, 65536}};
    desc.executors_count = 4;
    desc.executors = executors;
    desc.kinds_count = 1;
    desc.machines_count = 1;
    desc.capacities = capacities;
    config.unpinned = 1;
    ok(clo_platform_create(&desc, &f.platform));
    ok(clo_cost_create(f.graph, f.platform, &f.cost));
    ok(clo_runtime_create(f.platform, &config, &f.runtime));
    return f;
}

static void *swap_packers(void *argument)
{
    static const char *const names[] = {"auto", "easy-residual", "easy-parametric", "easy-residual", "fifo"};

    for (uint32_t i = 0; atomic_load(&is_swapping) != 0; i++)
        ok(clo_runtime_swap_policy(argument, clo_policy_find(names[i % 5]), NULL));
    return NULL;
}

/* Of two runtimes at once, the jobs of one in two bands. */
static void swaps_of_policies_that_hold_back_lose_nothing(void **state)
{
    fixture f[2] = {start_packed(10), start_packed(INT64_MAX)};
    clo_job *jobs[2][2];
    pthread_t swappers[2];

    (void)state;
    atomic_store(&is_swapping, 1);
    for (uint32_t i = 0; i < 2; i++) {
        for (uint32_t j = 0; j < 2; j++) {
            clo_job_config config = CLO_JOB_CONFIG_INIT;
            config.policy = clo_policy_find("auto");
            config.band = i * j;
            ok(clo_job_create(f[i].runtime, f[i].cost, &config, &jobs[i][j]));
        }
        assert_int_equal(pthread_create(&swappers[i], NULL, swap_packers, f[i].runtime), 0);
    }
    for (int run = 0; run < 20; run++) {
        atomic_store(&calls, 0);
        for (uint32_t i = 0; i < 4; i++)
            ok(clo_job_submit(jobs[i / 2][i % 2]));
        for (uint32_t i = 0; i < 4; i++)
            ok(clo_job_wait(jobs[i / 2][i % 2], NULL));
        assert_int_equal(atomic_load(&calls), 4 * INSTANCES);
    }
    atomic_store(&is_swapping, 0);
    for (uint32_t i = 0; i < 2; i++) {
        pthread_join(swappers[i], NULL);
        clo_job_destroy(jobs[i][0]);
        clo_job_destroy(jobs[i][1]);
        stop(&f[i]);
    }
}

/* A model that was swapped out is destroyed at once, while the job runs under the next one. */
static void a_model_may_be_destroyed_when_another_has_taken_its_place(void **state)
{
    clo_task task = {.body = count_call, .work_ns = 1000};
    fixture f = start(4, scene_layers(20, 20, &task), CLO_CLOCK_REAL);
    clo_job *job = make_job(&f, clo_policy_find("fifo"), NULL);
    clo_learned_argument arguments[2] = {CLO_LEARNED_ARGUMENT_INIT, CLO_LEARNED_ARGUMENT_INIT};
    clo_job_result result = CLO_JOB_RESULT_INIT;
    size_t bytes;
    const void *data = clo_model_builtin("decima", &bytes);

    (void)state;
    for (uint32_t run = 0; run < 10; run++) {
        atomic_store(&calls, 0);
        ok(clo_job_submit(job));
        for (uint32_t i = 0; i < 4; i++) {
            clo_model *model, *before = arguments[i % 2].owned;
            ok(clo_model_open("decima", data, bytes, &model));
            arguments[(i + 1) % 2].model = arguments[(i + 1) % 2].owned = model;
            arguments[(i + 1) % 2].is_sampled = i % 3 == 0;
            ok(clo_runtime_swap_policy(f.runtime, clo_policy_find("decima"), &arguments[(i + 1) % 2]));
            clo_model_destroy(before);
            arguments[i % 2].model = arguments[i % 2].owned = NULL;
        }
        ok(clo_job_wait(job, &result));
        assert_int_equal(atomic_load(&calls), INSTANCES);
        assert_int_equal(result.refused, 0);
    }
    clo_job_destroy(job);
    stop(&f);
    clo_model_destroy(arguments[0].owned);
}

static void *swap_all_the_time(void *runtime)
{
    for (uint32_t i = 0; atomic_load(&may_go) == 0; i++)
        ok(clo_runtime_swap_policy(runtime, i % 2 == 0 ? &second_policy : &first_policy, NULL));
    return NULL;
}

/* The child frees all or, in the middle of a swap, nothing; the allocator would see what is freed twice. */
static void a_process_that_is_forked_in_a_swap_may_free(void **state)
{
    fixture f = prepare();
    clo_job *job = make_job(&f, &first_policy, NULL);
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, swap_all_the_time, f.runtime), 0);
    for (uint32_t i = 0; i < FORKS; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            alarm(60);
            clo_job_destroy(i % 2 == 0 ? job : NULL);
            clo_runtime_destroy(f.runtime);
            free(malloc(1000));
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    atomic_store(&may_go, 1);
    pthread_join(thread, NULL);
    clo_job_destroy(job);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_policy_swapped_in_the_middle_is_shown_what_is_ready_and_decides_from_then_on),
        cmocka_unit_test(a_policy_whose_init_fails_changes_nothing),
        cmocka_unit_test(a_policy_swapped_between_runs_takes_the_next_run),
        cmocka_unit_test(all_jobs_of_a_runtime_follow_one_policy),
        cmocka_unit_test(what_one_policy_committed_runs_under_the_next),
        cmocka_unit_test(swaps_all_the_time_lose_nothing),
        cmocka_unit_test(swaps_of_policies_that_hold_back_lose_nothing),
        cmocka_unit_test(a_process_that_is_forked_in_a_swap_may_free),
        cmocka_unit_test(a_model_may_be_destroyed_when_another_has_taken_its_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
