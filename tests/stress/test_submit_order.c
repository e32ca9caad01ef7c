/* Jobs with a policy arrive at the scheduler in the order of their submits, whichever threads submit them. mutations.py
 * takes the order out and expects this program to fail. */
#include "support.h"

#include "running.h"

#include <pthread.h>
#include <sched.h>

#define JOBS 24u

static _Atomic uint32_t is_held, holds;
static uint32_t arrived[JOBS + 1], arrived_count;

static void note_arrival(void *state, const clo_view *view, const clo_event *event)
{
    (void)state;
    if (event->kind == CLO_EVENT_ARRIVE)
        arrived[arrived_count++] = clo_view_job(view, event->job)->group;
}

/* Whoever has the turn keeps it while is_held: what is submitted meanwhile waits. */
static bool hold(void *state, const clo_view *view, clo_choice *choice)
{
    clo_ready_stage oldest = clo_view_first_ready(view);

    (void)state;
    while (atomic_load(&is_held) != 0) {
        atomic_store(&holds, 1);
        sched_yield();
    }
    if (oldest.job == CLO_NONE || clo_view_next_free(view, CLO_NONE) == CLO_NONE)
        return false;
    choice->job = oldest.job;
    choice->stage = oldest.stage;
    return true;
}

static const clo_policy holding = {
    .size = sizeof(clo_policy), .name = "holding", .event = note_arrival, .decide = hold};

static void *submit_main(void *job)
{
    ok(clo_job_submit(job));
    return NULL;
}

static void submits_of_many_threads_arrive_in_their_order(void **state)
{
    clo_task task = {.body = count_call, .work_ns = 1000};
    fixture f = start(2, scene_layers(1, 1, &task), CLO_CLOCK_REAL);
    clo_job *jobs[JOBS + 1];
    pthread_t first, other;

    (void)state;
    for (uint32_t i = 0; i <= JOBS; i++) {
        clo_job_config config = CLO_JOB_CONFIG_INIT;
        config.policy = &holding;
        config.group = i;
        ok(clo_job_create(f.runtime, f.cost, &config, &jobs[i]));
    }
    for (int round = 0; round < 20; round++) {
        arrived_count = 0;
        atomic_store(&holds, 0);
        atomic_store(&is_held, 1);
        assert_int_equal(pthread_create(&first, NULL, submit_main, jobs[0]), 0);
        while (atomic_load(&holds) == 0)
            sched_yield();
        for (uint32_t i = 1; i <= JOBS; i++) /* one after another, every second one from a thread of its own */
            if (i % 2 == 0) {
                ok(clo_job_submit(jobs[i]));
            } else {
                assert_int_equal(pthread_create(&other, NULL, submit_main, jobs[i]), 0);
                pthread_join(other, NULL);
            }
        atomic_store(&is_held, 0);
        pthread_join(first, NULL);
        for (uint32_t i = 0; i <= JOBS; i++)
            ok(clo_job_wait(jobs[i], NULL));
        assert_int_equal(arrived_count, JOBS + 1);
        for (uint32_t i = 0; i <= JOBS; i++)
            assert_int_equal(arrived[i], i);
    }
    for (uint32_t i = 0; i <= JOBS; i++)
        clo_job_destroy(jobs[i]);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(submits_of_many_threads_arrive_in_their_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
