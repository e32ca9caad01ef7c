/* Monitors look at the jobs of a runtime while these come, run and go, and while policies and their arguments are
 * exchanged and freed. mutations.py builds this program with the grace periods left out and expects it to fail. */
#define _DEFAULT_SOURCE /* fork, usleep */
#include "support.h"

#include "running.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define MONITORS 2

static _Atomic uint32_t may_go, waiting;

static int wait_for_go(const clo_call *call)
{
    (void)call;
    atomic_fetch_add(&waiting, 1);
    while (atomic_load(&may_go) == 0)
        sched_yield();
    return 0;
}

static fixture prepare(clo_task_fn body)
{
    clo_task task = {.body = body, .work_ns = 1000};

    atomic_store(&waiting, 0);
    atomic_store(&may_go, 0);
    return start(2, scene_layers(3, 4, &task), CLO_CLOCK_REAL);
}

/* What a visit has shown. */
typedef struct shown {
    uint32_t count;
    clo_job_progress rows[8];
    char graph[8][CLO_JOB_PROGRESS_TEXT], policy[8][CLO_JOB_PROGRESS_TEXT];
} shown;

static void keep(void *argument, const clo_job_progress *job)
{
    shown *s = argument;

    assert_true(s->count < 8);
    s->rows[s->count] = *job;
    memcpy(s->graph[s->count], job->graph, sizeof s->graph[0]);
    memcpy(s->policy[s->count++], job->policy, sizeof s->policy[0]);
}

static shown visit(const clo_runtime *runtime)
{
    shown s = {0};

    ok(clo_runtime_visit_jobs(runtime, keep, &s));
    return s;
}

static void a_job_is_shown_with_what_it_does_from_its_creation_to_its_end(void **state)
{
    fixture f = prepare(wait_for_go);
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *job;

    (void)state;
    assert_int_equal(visit(f.runtime).count, 0);
    config.deadline_ns = 12345;
    ok(clo_job_create(f.runtime, f.cost, &config, &job));
    shown s = visit(f.runtime);
    assert_int_equal(s.count, 1);
    assert_int_equal(s.rows[0].id, clo_job_id(job));
    assert_string_equal(s.graph[0], "layers");
    assert_string_equal(s.policy[0], "");
    assert_int_equal(s.rows[0].mode, CLO_JOB_STEAL);
    assert_int_equal(s.rows[0].state, CLO_JOB_CREATED);
    assert_int_equal(s.rows[0].submit_ns, 0);
    assert_int_equal(s.rows[0].deadline_ns, 12345);
    assert_int_equal(s.rows[0].executed, 0);
    assert_int_equal(s.rows[0].executions, 12);
    assert_int_equal(s.rows[0].running, 0);
    ok(clo_job_submit(job));
    while (atomic_load(&waiting) < 2)
        sched_yield();
    s = visit(f.runtime);
    assert_int_equal(s.rows[0].state, CLO_JOB_RUNNING);
    assert_int_equal(s.rows[0].executed, 0);
    assert_int_equal(s.rows[0].running, 2);
    assert_true(s.rows[0].submit_ns > 0);
    clo_job_cancel(job);
    assert_int_equal(visit(f.runtime).rows[0].state, CLO_JOB_STOPPING);
    atomic_store(&may_go, 1);
    fails(CLO_ERR_CANCELLED, "cancelled", clo_job_wait(job, NULL));
    assert_int_equal(visit(f.runtime).rows[0].state, CLO_JOB_ENDED);
    assert_int_equal(visit(f.runtime).rows[0].executed, 2);
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, NULL));
    s = visit(f.runtime);
    assert_int_equal(s.rows[0].state, CLO_JOB_ENDED);
    assert_int_equal(s.rows[0].executed, 12);
    assert_int_equal(s.rows[0].running, 0);
    clo_job_destroy(job);
    assert_int_equal(visit(f.runtime).count, 0);
    stop(&f);
}

static void modes_and_the_policy_in_use_are_shown(void **state)
{
    fixture f = prepare(count_call);
    clo_plan *plan;
    ok(clo_plan_create(f.cost, NULL, &plan));
    clo_job *jobs[] = {make_job(&f, NULL, plan), make_job(&f, NULL, NULL), make_job(&f, clo_policy_find("fifo"), NULL)};

    (void)state;
    shown s = visit(f.runtime);
    assert_int_equal(s.count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(s.rows[i].id, clo_job_id(jobs[i]));
        assert_int_equal(s.rows[i].mode, i);
    }
    assert_string_equal(s.policy[1], "");
    assert_string_equal(s.policy[2], "fifo");
    ok(clo_runtime_swap_policy(f.runtime, clo_policy_find("eft"), NULL));
    s = visit(f.runtime);
    assert_string_equal(s.policy[0], "");
    assert_string_equal(s.policy[2], "eft");
    for (uint32_t i = 0; i < 3; i++)
        clo_job_destroy(jobs[i]);
    clo_plan_destroy(plan);
    stop(&f);
}

typedef struct doomed {
    const clo_runtime *runtime;
    clo_job *job;
    uint32_t visits;
} doomed;

static void destroy_it(void *argument, const clo_job_progress *row)
{
    doomed *d = argument;

    assert_int_equal(row->id, clo_job_id(d->job));
    clo_job_destroy(d->job);
    assert_int_equal(visit(d->runtime).count, 0);
    assert_string_equal(row->graph, "layers"); /* a copy */
    d->visits++;
}

static void a_visitor_may_destroy_the_job_that_it_is_shown(void **state)
{
    fixture f = prepare(count_call);
    doomed d = {f.runtime, make_job(&f, NULL, NULL), 0};

    (void)state;
    ok(clo_runtime_visit_jobs(f.runtime, destroy_it, &d));
    assert_int_equal(d.visits, 1);
    stop(&f);
}

static const clo_runtime *monitored;
static _Atomic uint32_t is_over;

/* Takes in each byte of a row. Nothing is shared with the main thread that could order the two. */
static void look(void *argument, const clo_job_progress *job)
{
    uint64_t *sum = argument;

    assert_true(job->id > 0);
    assert_true(job->state <= CLO_JOB_ENDED && job->mode <= CLO_JOB_POLICY);
    assert_true(job->running <= 2);
    assert_int_equal(job->executions, 12);
    assert_true(strcmp(job->graph, "layers") == 0);
    assert_true(job->mode != CLO_JOB_POLICY || strncmp(job->policy, "policy ", 7) == 0);
    *sum += job->id;
}

static void *monitor_main(void *argument)
{
    uint64_t sum = 0;

    (void)argument;
    while (atomic_load_explicit(&is_over, memory_order_relaxed) == 0)
        ok(clo_runtime_visit_jobs(monitored, look, &sum));
    return NULL;
}

static void begin_monitors(const clo_runtime *runtime, pthread_t threads[MONITORS])
{
    monitored = runtime;
    atomic_store(&is_over, 0);
    for (int i = 0; i < MONITORS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, monitor_main, NULL), 0);
}

static void end_monitors(const pthread_t threads[MONITORS])
{
    atomic_store(&is_over, 1);
    for (int i = 0; i < MONITORS; i++)
        pthread_join(threads[i], NULL);
}

/* Job, cost and graph are freed at once when the destroy returns. */
static void jobs_come_run_and_go_while_monitors_look(void **state)
{
    fixture f = prepare(count_call);
    pthread_t threads[MONITORS];

    (void)state;
    begin_monitors(f.runtime, threads);
    for (int round = 0; round < 100; round++) {
        clo_task task = {.body = count_call, .work_ns = 1000};
        fixture own = {.platform = f.platform, .graph = scene_layers(3, 4, &task), .runtime = f.runtime};
        ok(clo_cost_create(own.graph, own.platform, &own.cost));
        clo_job *job = make_job(&own, NULL, NULL), *idle = make_job(&own, NULL, NULL);
        ok(clo_job_submit(job));
        if (round % 5 == 0)
            clo_job_cancel(job);
        clo_job_destroy(idle);
        clo_job_destroy(job);
        clo_cost_destroy(own.cost);
        clo_graph_destroy(own.graph);
    }
    end_monitors(threads);
    stop(&f);
}

/* A policy with its argument, all of it on the heap: freed as soon as a swap has put it out. */
#define MAGIC 0x5eed5eed5eed5eedull

typedef struct heap_policy {
    clo_policy policy;
    char name[24];
    uint64_t argument[8];
} heap_policy;

static clo_status read_argument(void *job_state, const clo_cost *cost, const void *argument)
{
    const uint64_t *words = argument;

    (void)cost;
    for (int i = 0; i < 8; i++) {
        assert_true(words[i] == MAGIC);
        if (i == 3)
            sched_yield(); /* a swap in between */
    }
    memcpy(job_state, words, sizeof *words);
    return CLO_OK;
}

static size_t word_bytes(const clo_cost *cost, const void *argument)
{
    (void)cost;
    return sizeof *(const uint64_t *)argument;
}

static bool choose_oldest(void *state, const clo_view *view, clo_choice *choice)
{
    clo_ready_stage oldest = clo_view_first_ready(view);

    (void)state;
    assert_true(*(const uint64_t *)clo_view_argument(view) == MAGIC);
    if (oldest.job == CLO_NONE || clo_view_next_free(view, CLO_NONE) == CLO_NONE)
        return false;
    assert_true(*(uint64_t *)clo_view_job(view, oldest.job)->state == MAGIC);
    choice->job = oldest.job;
    choice->stage = oldest.stage;
    return true;
}

static heap_policy *make_policy(uint32_t number)
{
    heap_policy *p = calloc(1, sizeof *p);

    assert_non_null(p);
    snprintf(p->name, sizeof p->name, "policy %u", number);
    p->policy = (clo_policy){.size = sizeof(clo_policy),
                             .name = p->name,
                             .job_bytes = word_bytes,
                             .prepare = read_argument,
                             .decide = choose_oldest};
    for (int i = 0; i < 8; i++)
        p->argument[i] = MAGIC;
    return p;
}

static fixture *swapped;
static heap_policy *_Atomic in_use;

/* Makes jobs with the policy that is in use at the moment; a swap may take it away in the middle. */
static void *maker_main(void *argument)
{
    uint32_t *made = argument;

    while (atomic_load_explicit(&is_over, memory_order_relaxed) == 0) {
        heap_policy *p = atomic_load_explicit(&in_use, memory_order_acquire);
        clo_job_config config = CLO_JOB_CONFIG_INIT;
        clo_job *job;
        config.policy = &p->policy; /* addresses alone: they are looked into only if they are those in use */
        config.argument = p->argument;
        clo_status status = clo_job_create(swapped->runtime, swapped->cost, &config, &job);
        assert_true(status == CLO_OK || status == CLO_ERR_STATE);
        if (status != CLO_OK)
            continue;
        if (++*made % 4 == 0) {
            ok(clo_job_submit(job));
            ok(clo_job_wait(job, NULL));
        }
        clo_job_destroy(job);
    }
    return NULL;
}

/* Each policy is freed as soon as the swap returns. Nobody but those asked for runs beside it, so that no other lock or
 * load orders them by chance. */
static void swap_and_free(uint32_t makers_count, bool has_monitors, uint32_t swaps)
{
    fixture f = prepare(count_call);
    heap_policy *p = make_policy(0);
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    pthread_t threads[MONITORS], makers[2];
    uint32_t made[2] = {0};
    clo_job *job;

    config.policy = &p->policy;
    config.argument = p->argument;
    ok(clo_job_create(f.runtime, f.cost, &config, &job)); /* from now on there is always one */
    swapped = &f;
    atomic_store(&in_use, p);
    atomic_store(&is_over, 0);
    if (has_monitors)
        begin_monitors(f.runtime, threads);
    for (uint32_t i = 0; i < makers_count; i++)
        assert_int_equal(pthread_create(&makers[i], NULL, maker_main, &made[i]), 0);
    for (uint32_t round = 1; round < swaps; round++) {
        heap_policy *next = make_policy(round);
        ok(clo_runtime_swap_policy(f.runtime, &next->policy, next->argument));
        atomic_store_explicit(&in_use, next, memory_order_release);
        memset(p, 0xdd, sizeof *p);
        free(p);
        p = next;
        if (round % 8 == 0)
            ok(clo_job_submit(job));
        if (round % 8 == 0)
            ok(clo_job_wait(job, NULL));
        sched_yield();
    }
    atomic_store(&is_over, 1);
    if (has_monitors)
        end_monitors(threads);
    for (uint32_t i = 0; i < makers_count; i++)
        pthread_join(makers[i], NULL);
    clo_job_destroy(job);
    free(p);
    stop(&f);
}

static void a_policy_is_freed_after_a_swap_while_monitors_read_its_name(void **state)
{
    (void)state;
    swap_and_free(0, true, 100);
}

static void an_argument_is_freed_after_a_swap_while_jobs_are_made_with_it(void **state)
{
    (void)state;
    swap_and_free(1, false, 4000); /* few swaps meet a maker in the moment that nothing else orders */
}

static void policies_are_freed_while_all_look_and_make(void **state)
{
    (void)state;
    swap_and_free(2, true, 100);
}

#if !SANITIZED /* the thread sanitizer allows no threads in a child of threads */
/* In the child nobody is left to end the sections of the parent's monitors. */
static int child_main(const clo_runtime *parents, const clo_platform *platform, const clo_cost *cost)
{
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_runtime *runtime;
    clo_job *job;
    uint64_t sum = 0;

    config.unpinned = 1;
    if (clo_runtime_visit_jobs(parents, look, &sum) != CLO_ERR_STATE)
        return 1;
    if (clo_runtime_create(platform, &config, &runtime) != CLO_OK)
        return 2;
    if (clo_job_create(runtime, cost, NULL, &job) != CLO_OK || clo_runtime_visit_jobs(runtime, look, &sum) != CLO_OK)
        return 3;
    clo_job_destroy(job);
    clo_runtime_destroy(runtime);
    return 0;
}

static void a_forked_process_does_not_wait_for_monitors_that_it_does_not_have(void **state)
{
    fixture f = prepare(count_call);
    clo_job *jobs[4];
    pthread_t threads[MONITORS];

    (void)state;
    for (int i = 0; i < 4; i++)
        jobs[i] = make_job(&f, NULL, NULL);
    begin_monitors(f.runtime, threads);
    for (int round = 0; round < 20; round++) {
        int status;
        pid_t child = fork();
        if (child == 0)
            _exit(child_main(f.runtime, f.platform, f.cost));
        for (int i = 0; waitpid(child, &status, WNOHANG) == 0; i++) { /* a child that hangs has all signals blocked */
            if (i == 300000)
                kill(child, SIGKILL);
            usleep(1000);
        }
        assert_int_equal(status, 0);
    }
    end_monitors(threads);
    for (int i = 0; i < 4; i++)
        clo_job_destroy(jobs[i]);
    stop(&f);
}
#define FORKS cmocka_unit_test(a_forked_process_does_not_wait_for_monitors_that_it_does_not_have),
#else
#define FORKS
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_job_is_shown_with_what_it_does_from_its_creation_to_its_end),
                                       cmocka_unit_test(modes_and_the_policy_in_use_are_shown),
                                       cmocka_unit_test(a_visitor_may_destroy_the_job_that_it_is_shown),
                                       cmocka_unit_test(jobs_come_run_and_go_while_monitors_look),
                                       cmocka_unit_test(a_policy_is_freed_after_a_swap_while_monitors_read_its_name),
                                       cmocka_unit_test(an_argument_is_freed_after_a_swap_while_jobs_are_made_with_it),
                                       cmocka_unit_test(policies_are_freed_while_all_look_and_make),
                                       FORKS};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
