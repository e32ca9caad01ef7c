/* Every two public calls at once, from two threads, while bodies are pending and hedged: completions of tokens that are
 * new, old or never were, cancels, submits, waits, other plans and policies, monitors, other jobs, the end of the job.
 * Each token is completed at most once, each run ends, and what ends well has the same outputs. */
#define _GNU_SOURCE
#include "support.h"

#include "running.h"

#include "base/numbers/rng.h"

#include <pthread.h>
#include <unistd.h>

#define LAYERS 3u
#define WIDTH 4u
#define ROUNDS (SANITIZED ? 1 : 3)
#define KEPT 65536u

enum { STEAL, PLAN, POLICY, SLOTS, WAYS };

/* What a thread does again and again. */
enum { NEWEST, OLDEST, FORGED, FAILURE, CANCEL, SUBMIT, WAIT, SWAP, VISIT, READ, OTHER_JOB, OPS };

typedef struct token_slot {
    clo_token token;
    _Atomic uint32_t completed;
} token_slot;

static token_slot kept[KEPT];
static _Atomic uint32_t kept_count, draws, is_over, forged_ones_count;

typedef struct scene {
    fixture f;
    clo_job *job;
    clo_plan *plan;
    const clo_policy *policy;
    int way;
} scene;

static uint32_t draw(uint32_t below)
{
    clo_rng rng = clo_rng_seed(atomic_fetch_add(&draws, 1));

    return clo_rng_below(&rng, below);
}

static void complete(uint32_t i, int code)
{
    if (i < atomic_load(&kept_count) && i < KEPT && clo_token_complete(kept[i].token, code) == CLO_OK)
        atomic_fetch_add(&kept[i].completed, 1);
}

static void complete_at_once(void *argument)
{
    token_slot *slot = argument;

    if (clo_token_complete(slot->token, 1) == CLO_OK)
        atomic_fetch_add(&slot->completed, 1);
}

static void ignore(void *argument)
{
    (void)argument;
}

/* Bodies of one process at a time put their tokens down, so a slot is whole before it is counted. */
static pthread_mutex_t keeping = PTHREAD_MUTEX_INITIALIZER;

static int pend(const clo_call *call)
{
    static const clo_cancel_fn functions[] = {NULL, complete_at_once, ignore};
    int code = sum_inputs(call);

    pthread_mutex_lock(&keeping);
    uint32_t i = atomic_load(&kept_count);
    if (code == 0 && i < KEPT) {
        code = clo_token_take(call, functions[draw(3)], &kept[i], &kept[i].token) == CLO_OK ? CLO_PENDING : 2;
        atomic_store(&kept[i].completed, 0);
        atomic_store(&kept_count, i + 1);
    }
    pthread_mutex_unlock(&keeping);
    return draw(8) == 0 && code == CLO_PENDING ? 0 : code;
}

static void see(void *argument, const clo_job_progress *job)
{
    *(uint32_t *)argument += job->running;
}

static void make_another_job(const scene *s)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *job;

    config.policy = s->policy;
    if (clo_job_create(s->f.runtime, s->f.cost, &config, &job) == CLO_OK)
        clo_job_destroy(job);
}

static void do_once(const scene *s, int op)
{
    uint32_t newest = atomic_load(&kept_count), sum = 0;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_job_timing timing = CLO_JOB_TIMING_INIT;
    clo_token forged = newest > 0 ? kept[(newest - 1) % KEPT].token : (clo_token){0};

    switch (op) {
    case NEWEST:
        complete(newest - 1 - draw(4), 0);
        break;
    case OLDEST:
        complete(draw(newest + 1), 0);
        break;
    case FORGED:
        forged.number += UINT64_C(1) << (draw(2) == 0 ? 32 : 40); /* the low half is that of the newest */
        if (clo_token_complete(forged, 0) == CLO_OK)
            atomic_store(&forged_ones_count, 1);
        break;
    case FAILURE:
        complete(newest - 1 - draw(4), 3);
        break;
    case CANCEL:
        clo_job_cancel(s->job);
        break;
    case SUBMIT:
        (void)!clo_job_submit(s->job);
        break;
    case WAIT:
        (void)!clo_job_wait_for(s->job, draw(100000), &result);
        break;
    case SWAP:
        if (s->way == POLICY)
            (void)!clo_runtime_swap_policy(s->f.runtime, s->policy, NULL);
        else
            (void)!clo_job_swap_plan(s->job, s->plan);
        break;
    case VISIT:
        (void)!clo_runtime_visit_jobs(s->f.runtime, see, &sum);
        break;
    case READ:
        (void)!clo_job_timing_read(s->job, &timing);
        break;
    default:
        make_another_job(s);
    }
}

typedef struct actor {
    pthread_t thread;
    const scene *s;
    int op;
} actor;

static void *act(void *argument)
{
    const actor *a = argument;

    while (atomic_load(&is_over) == 0) {
        do_once(a->s, a->op);
        for (uint32_t i = draw(200); i > 0; i--)
            (void)draw(2);
    }
    return NULL;
}

static scene start_scene(int way)
{
    clo_task task = {.body = pend, .work_ns = 1000, .output_bytes = 64, .may_pend = 1, .duplicable = 1};
    scene s = {.way = way};
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    int64_t delays[LAYERS * WIDTH];

    if (way == SLOTS) {
        clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
        runtime.unpinned = runtime.trace = 1;
        s.f.graph = scene_layers(LAYERS, WIDTH, &task);
        ok(clo_platform_open("slots:5", &s.f.platform));
        ok(clo_cost_create(s.f.graph, s.f.platform, &s.f.cost));
        ok(clo_runtime_create(s.f.platform, &runtime, &s.f.runtime));
    } else {
        s.f = start(2, scene_layers(LAYERS, WIDTH, &task), CLO_CLOCK_REAL);
    }
    s.policy = way == POLICY ? clo_policy_find("fifo") : NULL;
    if (way == PLAN)
        ok(clo_plan_create(s.f.cost, NULL, &s.plan));
    for (uint32_t t = 0; t < LAYERS * WIDTH; t++)
        delays[t] = t % 3 == 0 ? 100000 : INT64_MAX;
    config.plan = s.plan;
    config.policy = s.policy;
    config.hedge_after_ns = way != POLICY ? delays : NULL;
    ok(clo_job_create(s.f.runtime, s.f.cost, &config, &s.job));
    atomic_store(&kept_count, 0);
    atomic_store(&is_over, 0);
    return s;
}

static void check_tokens(void)
{
    assert_int_equal(atomic_load(&forged_ones_count), 0);
    for (uint32_t i = 0; i < atomic_load(&kept_count); i++)
        assert_true(atomic_load(&kept[i].completed) <= 1);
}

/* To its end, however that comes about: what nobody completes, this does. */
static clo_status finish(const scene *s)
{
    clo_status status;

    while ((status = clo_job_wait_for(s->job, 500000, NULL)) == CLO_ERR_TIMEOUT) {
        uint32_t newest = atomic_load(&kept_count);
        for (uint32_t i = newest > 64 ? newest - 64 : 0; i < newest; i++)
            complete(i, 0);
    }
    return status;
}

static uint64_t wanted[WAYS];

static void run_pair(scene *s, int first, int second)
{
    actor actors[2] = {{.s = s, .op = first}, {.s = s, .op = second}};
    bool is_quiet = first != SUBMIT && second != SUBMIT;

    atomic_store(&is_over, 0);
    for (int a = 0; a < 2; a++)
        assert_int_equal(pthread_create(&actors[a].thread, NULL, act, &actors[a]), 0);
    for (int round = 0; round < ROUNDS; round++) {
        clo_status status = clo_job_submit(s->job);
        assert_true(status == CLO_OK || status == CLO_ERR_STATE);
        status = finish(s);
        assert_true(status == CLO_OK || status == CLO_ERR_CANCELLED || status == CLO_ERR_TASK ||
                    status == CLO_ERR_STATE);
        if (is_quiet && status == CLO_OK)
            assert_true(clo_job_output_hash(s->job) == wanted[s->way]);
    }
    atomic_store(&is_over, 1);
    for (int a = 0; a < 2; a++)
        pthread_join(actors[a].thread, NULL);
    (void)finish(s); /* a submit may have been the last */
    check_tokens();
}

static void every_two_calls_at_once_leave_each_token_completed_once_and_the_job_whole(void **state)
{
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        scene s = start_scene(way);
        uint32_t tokens = 0;
        ok(clo_job_submit(s.job));
        ok(finish(&s));
        wanted[way] = clo_job_output_hash(s.job);
        for (int first = 0; first < OPS; first++)
            for (int second = first; second < OPS; second++) {
                tokens += atomic_load(&kept_count);
                atomic_store(&kept_count, 0);
                run_pair(&s, first, second);
            }
        print_message("way %d: %u tokens\n", way, tokens);
        clo_job_destroy(s.job);
        clo_plan_destroy(s.plan);
        stop(&s.f);
    }
}

/* Two threads complete, while the third ends the job. */
static void a_job_may_be_destroyed_while_its_tokens_are_completed(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS * 4; round++) {
        scene s = start_scene(round % WAYS);
        actor actors[3] = {{.s = &s, .op = NEWEST}, {.s = &s, .op = OLDEST}, {.s = &s, .op = FORGED}};
        ok(clo_job_submit(s.job));
        while (atomic_load(&kept_count) == 0)
            usleep(100);
        for (int a = 0; a < 3; a++)
            assert_int_equal(pthread_create(&actors[a].thread, NULL, act, &actors[a]), 0);
        clo_job_destroy(s.job);
        atomic_store(&is_over, 1); /* tokens are the runtime's */
        for (int a = 0; a < 3; a++)
            pthread_join(actors[a].thread, NULL);
        check_tokens();
        stop(&s.f);
        clo_plan_destroy(s.plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_two_calls_at_once_leave_each_token_completed_once_and_the_job_whole),
        cmocka_unit_test(a_job_may_be_destroyed_while_its_tokens_are_completed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
