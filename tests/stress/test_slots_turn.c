/* The scheduler's turn where slots are the workers. The submitter's thread has it until more than 64 posts were
 * handled, and nothing runs any more: so no end of a body takes it. Nor does the watchdog, which is in a handler. */
#define _GNU_SOURCE
#include "support.h"

#include "run/state/runtime.h"
#include "run/state/slot_thread.h"
#include "running.h"

#include <clotho/token.h>

#include <pthread.h>
#include <unistd.h>

enum { WIDE = 80, HANDED = WIDE + 1 };

static pthread_t submitter;
static clo_runtime *handing;
static uint32_t finishes;
static _Atomic bool handler_is_in, handler_goes, one_more_goes, stays;
static uint32_t one_more; /* the task that is begun when the first has ended */
static clo_token stays_token;

/* A job that the watchdog has found late: its handler does not return before handler_goes. */
typedef struct late {
    clo_graph *graph;
    clo_cost *cost;
    clo_job *job;
} late;

static int miss_deadline(const clo_call *call)
{
    (void)call;
    usleep(1000);
    return 0;
}

static void stay_in_handler(void *argument, clo_job *job, const clo_miss *miss)
{
    (void)argument, (void)job, (void)miss;
    atomic_store(&handler_is_in, true);
    while (!atomic_load(&handler_goes))
        usleep(100);
}

static late open_late(const fixture *f)
{
    clo_task task = {.body = miss_deadline, .work_ns = 1000};
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    late l = {.graph = scene_layers(1, 1, &task)};

    config.deadline_ns = 1;
    config.miss = stay_in_handler;
    atomic_store(&handler_is_in, false);
    atomic_store(&handler_goes, false);
    ok(clo_cost_create(l.graph, f->platform, &l.cost));
    ok(clo_job_create(f->runtime, l.cost, &config, &l.job));
    ok(clo_job_submit(l.job));
    while (!atomic_load(&handler_is_in))
        usleep(100);
    return l;
}

static void close_late(late *l)
{
    atomic_store(&handler_goes, true);
    ok(clo_job_wait(l->job, NULL));
    clo_job_destroy(l->job);
    clo_cost_destroy(l->cost);
    clo_graph_destroy(l->graph);
}

static int count_or_wait(const clo_call *call)
{
    while (call->task == one_more && !atomic_load(&one_more_goes))
        usleep(100);
    return count_call(call);
}

/* The first tasks up to `more` run at once, and that one when one of them has ended. */
static fixture start_slots(uint32_t slot_threads, uint32_t more, uint32_t tasks)
{
    clo_task task = {.body = count_or_wait, .work_ns = 1000};
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    fixture f = {.graph = scene_layers(1, tasks, &task)};

    config.help = -1;
    config.slot_workers = slot_threads;
    ok(clo_platform_open("slots:80", &f.platform));
    ok(clo_cost_create(f.graph, f.platform, &f.cost));
    ok(clo_runtime_create(f.platform, &config, &f.runtime));
    submitter = pthread_self();
    handing = f.runtime;
    finishes = 0;
    one_more = more;
    atomic_store(&one_more_goes, false);
    atomic_store(&calls, 0);
    return f;
}

/* Beside the submit itself. */
static void wait_for_posts(uint32_t count)
{
    while (atomic_load(&handing->scheduling.combining.posts) < 1 + count)
        usleep(100);
}

/* All of the first have ended before the end of one is handled, and what that one's executor is given then before the
 * others are through. */
static void hold_up(void *state, const clo_view *view, const clo_event *event)
{
    (void)state, (void)view;
    if (event->kind != CLO_EVENT_FINISH || !pthread_equal(pthread_self(), submitter))
        return;
    finishes++;
    if (finishes == 1)
        wait_for_posts(one_more);
    if (finishes != one_more)
        return;
    atomic_store(&one_more_goes, true); /* not before: its end is in no round of ours */
    wait_for_posts(one_more + 1);
}

static bool choose_all_but_slot_0(void *state, const clo_view *view, clo_choice *choice)
{
    clo_ready_stage ready = clo_view_first_ready(view);

    (void)state;
    if (ready.job == CLO_NONE)
        return false;
    choice->job = ready.job;
    choice->stage = ready.stage;
    choice->executor = clo_view_next_free(view, 0);
    if (finishes == 0 && choice->executor == CLO_NONE) /* all run; their ends are to be one round */
        wait_for_posts(one_more);
    return choice->executor != CLO_NONE;
}

static void a_turn_that_is_handed_over_is_taken_without_the_watchdog(void **state)
{
    static const clo_policy policy = {
        .size = sizeof(clo_policy), .name = "holds up", .event = hold_up, .decide = choose_all_but_slot_0};
    fixture f = start_slots(0, WIDE - 1, WIDE);
    late l = open_late(&f);
    clo_job *job = make_job(&f, &policy, NULL);

    (void)state;
    alarm(120); /* nobody takes it */
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, NULL));
    alarm(0);
    assert_int_equal(atomic_load(&calls), WIDE);
    close_late(&l);
    clo_job_destroy(job);
    stop(&f);
}

static int stay(const clo_call *call)
{
    if (clo_token_take(call, NULL, NULL, &stays_token) != CLO_OK)
        return 2;
    atomic_store(&stays, true);
    return CLO_PENDING;
}

/* And the slot thread sleeps, so that the turn's call is what wakes it. */
static void hold_up_until_the_slot_thread_sleeps(void *state, const clo_view *view, const clo_event *event)
{
    hold_up(state, view, event);
    while (finishes == one_more && pthread_equal(pthread_self(), submitter) &&
           !clo_parker_is_away(&handing->slot_threads[0].parker))
        usleep(100);
}

/* The submitter gives all but the last execution to the other slots; whoever has the turn then gives that to the first
 * one. */
static bool choose_the_first_slot_last(void *state, const clo_view *view, clo_choice *choice)
{
    clo_ready_stage ready = clo_view_first_ready(view);
    uint32_t after = pthread_equal(pthread_self(), submitter) ? 0 : CLO_NONE;

    (void)state;
    if (ready.job == CLO_NONE || (after == 0 && ready.stage == HANDED - 1))
        return false;
    *choice = (clo_choice){ready.job, ready.stage, 1, clo_view_next_free(view, after), CLO_NONE, 0, 0};
    if (after == 0 && finishes == 0 && choice->executor == CLO_NONE) /* all of the first run, and are one round */
        wait_for_posts(one_more);
    return choice->executor != CLO_NONE;
}

/* A job without a policy has a body pending on the slot that is called for the turn. The scheduler does not see that,
 * and gives an execution to this slot in that very turn: it is run once the body has ended. */
static void a_turn_gives_work_to_a_slot_that_another_job_holds(void **state)
{
    static const clo_policy policy = {.size = sizeof(clo_policy),
                                      .name = "first slot last",
                                      .event = hold_up_until_the_slot_thread_sleeps,
                                      .decide = choose_the_first_slot_last};
    clo_task task = {.body = stay, .work_ns = 1000, .may_pend = 1};
    fixture f = start_slots(1, WIDE - 1, HANDED), held = {.graph = scene_layers(1, 1, &task), .runtime = f.runtime};
    late l = open_late(&f);
    clo_plan *plan;
    size_t count;

    (void)state;
    ok(clo_cost_create(held.graph, f.platform, &held.cost));
    ok(clo_plan_create(held.cost, NULL, &plan));
    assert_int_equal(clo_plan_placements(plan, &count)[0].executor, 0);
    clo_job *holder = make_job(&held, NULL, plan), *job = make_job(&f, &policy, NULL);
    ok(clo_job_submit(holder));
    while (!atomic_load(&stays))
        usleep(100);
    alarm(120); /* it is lost */
    ok(clo_job_submit(job));
    while (atomic_load(&calls) < HANDED - 1)
        usleep(100);
    ok(clo_token_complete(stays_token, 0));
    ok(clo_job_wait(holder, NULL));
    ok(clo_job_wait(job, NULL));
    alarm(0);
    assert_int_equal(atomic_load(&calls), HANDED);
    close_late(&l);
    clo_job_destroy(job);
    clo_job_destroy(holder);
    clo_plan_destroy(plan);
    clo_cost_destroy(held.cost);
    clo_graph_destroy(held.graph);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_turn_that_is_handed_over_is_taken_without_the_watchdog),
        cmocka_unit_test(a_turn_gives_work_to_a_slot_that_another_job_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
