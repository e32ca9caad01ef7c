/* Tokens where something ends: in cancel functions, beside the end of the runtime, in a forked process, and in a
 * runtime that lies where another one was. */
#define _GNU_SOURCE
#include "support.h"

#include "ways.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Cancel functions */

typedef struct teller {
    clo_runtime *runtime;
    clo_job *job;
    const clo_cost *cost;
    clo_token token;
    _Atomic uint32_t pends, told, odd;
} teller;

static void count_job(void *argument, const clo_job_progress *job)
{
    (void)job;
    ++*(uint32_t *)argument;
}

/* What would wait for itself is refused; the rest works, and the token is completed last. */
static void call_everything(void *argument)
{
    teller *t = argument;
    clo_token token;
    clo_job *job;
    uint32_t jobs = 0;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    const clo_call call = {.executor = t->token.executor};
    uint32_t odd = 0;

    odd += clo_token_take(&call, NULL, NULL, &token) != CLO_ERR_STATE;
    odd += clo_job_wait(t->job, &result) != CLO_ERR_STATE;
    odd += clo_job_wait_for(t->job, 0, &result) != CLO_ERR_STATE;
    odd += clo_job_submit(t->job) != CLO_ERR_STATE;
    odd += clo_runtime_close(t->runtime, 0) != CLO_ERR_STATE;
    odd += clo_runtime_swap_policy(t->runtime, clo_policy_find("fifo"), NULL) != CLO_ERR_STATE;
    odd += clo_runtime_visit_jobs(t->runtime, count_job, &jobs) != CLO_OK || jobs == 0;
    clo_job_cancel(t->job);
    if (clo_job_create(t->runtime, t->cost, NULL, &job) == CLO_OK)
        clo_job_destroy(job);
    else
        odd++;
    odd += clo_token_complete(t->token, CLO_PENDING) != CLO_ERR_ARGUMENT;
    odd += clo_token_complete(t->token, 5) != CLO_OK;
    odd += clo_token_complete(t->token, 0) != CLO_ERR_STATE;
    atomic_fetch_add(&t->odd, odd);
    atomic_fetch_add(&t->told, 1);
}

static int pend_and_be_told(const clo_call *call)
{
    teller *t = call->argument;

    if (clo_token_take(call, call_everything, t, &t->token) != CLO_OK)
        return 2;
    atomic_fetch_add(&t->pends, 1);
    return CLO_PENDING;
}

static void a_cancel_function_may_call_what_a_body_may(void **state)
{
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        teller t = {0};
        clo_task task = {.body = pend_and_be_told, .argument = &t, .work_ns = 100, .may_pend = 1};
        fixture f = start_way(way, scene_layers(1, 1, &task));
        clo_plan *plan = way == PLAN ? plan_of(&f, "heft") : NULL;
        t.runtime = f.runtime;
        t.cost = f.cost;
        t.job = make_job(&f, way == POLICY || way == SLOTS_POLICY ? clo_policy_find("fifo") : NULL, plan);
        for (uint32_t run = 1; run <= 3; run++) {
            ok(clo_job_submit(t.job));
            while (atomic_load(&t.pends) < run)
                usleep(50);
            clo_job_cancel(t.job);
            assert_int_equal(clo_job_wait(t.job, NULL), CLO_ERR_CANCELLED);
            assert_int_equal(atomic_load(&t.told), run);
            assert_int_equal(atomic_load(&t.odd), 0);
        }
        clo_job_destroy(t.job);
        clo_plan_destroy(plan);
        stop(&f);
    }
}

/* The end of a runtime */

static clo_token open_tokens[4];
static _Atomic uint32_t open_count, told_count;

static void note_told(void *argument)
{
    (void)argument;
    atomic_fetch_add(&told_count, 1);
}

static int pend_open(const clo_call *call)
{
    if (clo_token_take(call, note_told, NULL, &open_tokens[call->instance]) != CLO_OK)
        return 2;
    atomic_fetch_add(&open_count, 1);
    return CLO_PENDING;
}

/* Completes what is open, twice each, when all have been told: the last completion lets the runtime go. */
static void *complete_open(void *argument)
{
    uint32_t *stale = argument;

    while (atomic_load(&told_count) < 2)
        usleep(50);
    *stale += clo_token_complete(open_tokens[0], 0) != CLO_OK;
    *stale += clo_token_complete(open_tokens[0], 0) != CLO_ERR_STATE; /* the other one keeps the runtime */
    *stale += clo_token_complete(open_tokens[1], 3) != CLO_OK;
    return NULL;
}

static void a_runtime_that_ends_waits_for_tokens_that_were_told(void **state)
{
    (void)state;
    for (int way = 0; way < WAYS; way++)
        for (int closes = 0; closes < 2; closes++) {
            clo_task task = {.name = "open", .body = pend_open, .instances = 2, .work_ns = 100, .may_pend = 1};
            fixture f = start_way(way, scene_layers(1, 1, &task));
            clo_plan *plan = way == PLAN ? plan_of(&f, "heft") : NULL;
            clo_job *job = make_job(&f, way == POLICY || way == SLOTS_POLICY ? clo_policy_find("fifo") : NULL, plan);
            uint32_t wrong = 0;
            pthread_t completer;
            atomic_store(&open_count, 0);
            atomic_store(&told_count, 0);
            ok(clo_job_submit(job));
            while (atomic_load(&open_count) < 2)
                usleep(50);
            if (closes)
                fails(CLO_ERR_TIMEOUT, "task 'open'", clo_runtime_close(f.runtime, 1000000));
            assert_int_equal(pthread_create(&completer, NULL, complete_open, &wrong), 0);
            stop(&f);
            pthread_join(completer, NULL);
            assert_int_equal(wrong, 0);
            clo_plan_destroy(plan);
        }
}

/* A token goes along with a fork, its execution does not. */
static void a_forked_process_completes_nothing(void **state)
{
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        clo_task task = {.name = "open", .body = pend_open, .work_ns = 100, .may_pend = 1};
        fixture f = start_way(way, scene_layers(1, 1, &task));
        clo_plan *plan = way == PLAN ? plan_of(&f, "heft") : NULL;
        clo_job *job = make_job(&f, way == POLICY || way == SLOTS_POLICY ? clo_policy_find("fifo") : NULL, plan);
        int status = -1;
        atomic_store(&open_count, 0);
        ok(clo_job_submit(job));
        while (atomic_load(&open_count) < 1)
            usleep(50);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            bool is_refused =
                clo_token_complete(open_tokens[0], 0) == CLO_ERR_STATE && strstr(clo_last_error(), "forked") != NULL;
            _exit(is_refused ? 0 : 1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        assert_int_equal(clo_job_wait_for(job, 0, NULL), CLO_ERR_TIMEOUT);
        ok(clo_token_complete(open_tokens[0], 0));
        ok(clo_job_wait(job, NULL));
        clo_job_destroy(job);
        clo_plan_destroy(plan);
        stop(&f);
    }
}

static void a_token_of_a_runtime_that_was_here_before_is_stale(void **state)
{
    (void)state;
    clo_task task = {.name = "open", .body = pend_open, .work_ns = 100, .may_pend = 1};
    fixture f = {.platform = scene_platform(1, 0), .graph = scene_layers(1, 1, &task)};
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_token before[20];
    size_t bytes;

    config.unpinned = 1;
    ok(clo_cost_create(f.graph, f.platform, &f.cost));
    ok(clo_runtime_memory_bytes(f.platform, &config, &bytes));
    config.memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    config.memory_bytes = bytes;
    assert_non_null(config.memory);
    for (uint32_t round = 0; round < 20; round++) {
        ok(clo_runtime_create(f.platform, &config, &f.runtime));
        clo_job *job = make_job(&f, NULL, NULL);
        atomic_store(&open_count, 0);
        ok(clo_job_submit(job));
        while (atomic_load(&open_count) < 1)
            usleep(50);
        before[round] = open_tokens[0];
        for (uint32_t i = 0; i < round; i++) {
            assert_ptr_equal(before[i].runtime, before[round].runtime);
            assert_int_equal(clo_token_complete(before[i], 7), CLO_ERR_STATE);
        }
        ok(clo_token_complete(before[round], 0));
        ok(clo_job_wait(job, NULL));
        clo_job_destroy(job);
        clo_runtime_destroy(f.runtime);
    }
    f.runtime = NULL;
    stop(&f);
    free(config.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cancel_function_may_call_what_a_body_may),
        cmocka_unit_test(a_runtime_that_ends_waits_for_tokens_that_were_told),
        cmocka_unit_test(a_forked_process_completes_nothing),
        cmocka_unit_test(a_token_of_a_runtime_that_was_here_before_is_stale),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
