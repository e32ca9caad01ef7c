/* Jobs beside each other on one worker: a job that always has work may not keep another from running, whatever their
 * modes of dispatch, and a cancelled job ends though others are ahead of it. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include "scene.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#define MODES 3u
#define QUICK 4u
/* Sources * (bodies in the usual order + bodies of one chain), see run/threads/worker_loop.c, for each item that may
 * lie in the same source: the busy job has at most 8 ready. */
#define TURN_BODIES (4u * (64u + 32u) * (8u + QUICK))
#define ROUNDS 20
#define LONG_NS ((int64_t)500 * 1000000000) /* whoever is kept from the CPU for ever never ends */

static const char *const mode_names[MODES] = {"steal", "replay", "policy"};
static _Atomic uint64_t busy_bodies, quick_bodies, seen_by_quick[QUICK];
static _Atomic uint32_t is_released;

static int busy(const clo_call *call)
{
    (void)call;
    atomic_fetch_add(&busy_bodies, 1);
    for (int i = 0; i < 2000; i++)
        atomic_signal_fence(memory_order_seq_cst);
    return 0;
}

static int quick(const clo_call *call)
{
    (void)call;
    uint64_t nth = atomic_fetch_add(&quick_bodies, 1);
    if (nth < QUICK)
        atomic_store(&seen_by_quick[nth], atomic_load(&busy_bodies));
    return 0;
}

/* Holds the worker until the quick job is submitted, so that what lies before it is known. */
static int hold(const clo_call *call)
{
    (void)call;
    while (atomic_load(&is_released) == 0)
        ;
    return 0;
}

typedef struct world {
    clo_platform *platform;
    clo_graph *busy, *quick, *hold;
    clo_cost *busy_cost, *quick_cost, *hold_cost;
    clo_plan *busy_plan, *quick_plan;
    clo_runtime *runtime;
} world;

static world make(uint32_t quick_tasks)
{
    clo_task busy_task = {.body = busy, .work_ns = 1000}, quick_task = {.body = quick, .work_ns = 1000},
             hold_task = {.body = hold, .work_ns = 1000};
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    world w = {.platform = scene_platform(1, 0)};

    w.busy = scene_layers(2, 8, &busy_task);
    w.quick = scene_layers(1, quick_tasks, &quick_task);
    w.hold = scene_layers(1, 1, &hold_task);
    ok(clo_cost_create(w.busy, w.platform, &w.busy_cost));
    ok(clo_cost_create(w.quick, w.platform, &w.quick_cost));
    ok(clo_cost_create(w.hold, w.platform, &w.hold_cost));
    ok(clo_plan_create(w.busy_cost, NULL, &w.busy_plan));
    ok(clo_plan_create(w.quick_cost, NULL, &w.quick_plan));
    config.unpinned = 1;
    ok(clo_runtime_create(w.platform, &config, &w.runtime));
    return w;
}

static void drop(world *w)
{
    clo_runtime_destroy(w->runtime);
    clo_plan_destroy(w->busy_plan);
    clo_plan_destroy(w->quick_plan);
    clo_cost_destroy(w->busy_cost);
    clo_cost_destroy(w->quick_cost);
    clo_cost_destroy(w->hold_cost);
    clo_graph_destroy(w->busy);
    clo_graph_destroy(w->quick);
    clo_graph_destroy(w->hold);
    clo_platform_destroy(w->platform);
}

static clo_job *make_job(const world *w, const clo_cost *cost, const clo_plan *plan, uint32_t mode, int64_t period_ns)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *job;

    config.plan = mode == 1 ? plan : NULL;
    config.policy = mode == 2 ? clo_policy_find("fifo") : NULL;
    config.period_ns = period_ns;
    ok(clo_job_create(w->runtime, cost, &config, &job));
    return job;
}

/* Where a policy decides, a job's items wait for the thread that has the turn, too, and the system may take the CPU from
 * that one for a while: not each time. Elsewhere nobody but the worker has a say. */
static int tries_of(uint32_t pair)
{
    enum { TRIES_MAX = 100 };
    return pair / MODES == 2 || pair % MODES == 2 ? TRIES_MAX : 1;
}

/* Bodies of the busy job from one item of a quick one to the next, the most: the first also waits for the submitting
 * thread. */
static uint64_t most_between(const world *w, uint32_t mode)
{
    uint64_t most = 0;
    clo_job *late = make_job(w, w->quick_cost, w->quick_plan, mode, 0);

    atomic_store(&quick_bodies, 0);
    ok(clo_job_submit(late));
    ok(clo_job_wait_for(late, LONG_NS, NULL));
    for (uint32_t i = 1; i < QUICK; i++) {
        uint64_t between = atomic_load(&seen_by_quick[i]) - atomic_load(&seen_by_quick[i - 1]);
        most = between > most ? between : most;
    }
    clo_job_destroy(late);
    return most;
}

/* The busy job is released more often than it can run, so it always has work; the period makes a backlog of runs. */
static void every_job_is_served_within_a_bounded_number_of_bodies_in_all_pairs_of_modes(void **state)
{
    (void)state;
    for (uint32_t pair = 0; pair < MODES * MODES; pair++) {
        world w = make(QUICK);
        clo_job *ahead = make_job(&w, w.busy_cost, w.busy_plan, pair / MODES, 1000);
        ok(clo_job_submit(ahead));
        for (int round = 0; round < ROUNDS; round++) {
            uint64_t most = UINT64_MAX;
            for (int i = 0; i < tries_of(pair) && most > TURN_BODIES; i++)
                most = most_between(&w, pair % MODES);
            if (most > TURN_BODIES)
                fail_msg("%s beside %s: %llu bodies of the other between two of its own", mode_names[pair % MODES],
                         mode_names[pair / MODES], (unsigned long long)most);
        }
        drop(&w);
    }
}

/* Bodies of the busy job, which has a backlog, before the first of a job that was submitted behind it. */
static uint64_t bodies_before_the_first(uint32_t pair)
{
    world w = make(QUICK);
    clo_job *holder = make_job(&w, w.hold_cost, NULL, 0, 0);
    clo_job *ahead = make_job(&w, w.busy_cost, w.busy_plan, pair / MODES, 1000);
    clo_job *late = make_job(&w, w.quick_cost, w.quick_plan, pair % MODES, 0);

    atomic_store(&is_released, 0);
    atomic_store(&quick_bodies, 0);
    ok(clo_job_submit(holder));
    ok(clo_job_submit(ahead));
    nanosleep(&(struct timespec){0, 2000000}, NULL); /* a backlog */
    ok(clo_job_submit(late));
    atomic_store(&busy_bodies, 0);
    atomic_store(&is_released, 1);
    ok(clo_job_wait_for(late, LONG_NS, NULL));
    uint64_t waited = atomic_load(&seen_by_quick[0]);
    drop(&w);
    return waited;
}

static void the_first_item_waits_no_longer_than_the_others(void **state)
{
    (void)state;
    for (uint32_t pair = 0; pair < MODES * MODES; pair++) {
        uint64_t waited = UINT64_MAX;
        for (int i = 0; i < tries_of(pair) && waited > TURN_BODIES; i++)
            waited = bodies_before_the_first(pair);
        if (waited > TURN_BODIES)
            fail_msg("%s beside %s: %llu bodies of the other before the first of its own", mode_names[pair % MODES],
                     mode_names[pair / MODES], (unsigned long long)waited);
    }
}

#define MANY 20000u

/* Bodies of the busy job until the waiting thread knows of the end of the other, which was cancelled. */
static uint64_t bodies_before_the_end(uint32_t pair)
{
    world w = make(MANY);
    clo_job *holder = make_job(&w, w.hold_cost, NULL, 0, 0);
    clo_job *ahead = make_job(&w, w.busy_cost, w.busy_plan, pair / MODES, 1000);
    clo_job *late = make_job(&w, w.quick_cost, w.quick_plan, pair % MODES, 0);

    atomic_store(&is_released, 0);
    ok(clo_job_submit(holder));
    ok(clo_job_submit(ahead));
    ok(clo_job_submit(late));
    clo_job_cancel(late);
    atomic_store(&busy_bodies, 0);
    atomic_store(&is_released, 1);
    fails(CLO_ERR_CANCELLED, "cancelled", clo_job_wait_for(late, LONG_NS, NULL));
    uint64_t waited = atomic_load(&busy_bodies);
    drop(&w);
    return waited;
}

/* On a busy machine the waiting thread may look long after the end; not each time. */
static void a_cancelled_job_of_many_items_ends_though_another_is_ahead(void **state)
{
    enum { TRIES_MAX = 100 };

    (void)state;
    for (uint32_t pair = 0; pair < MODES * MODES; pair++) {
        /* Where a policy decides, each of its instances passes through the inbox on its own. */
        uint64_t turns = pair % MODES == 2 ? MANY : MANY / 1024 + 2, most = turns * TURN_BODIES + 1000;
        uint64_t waited = UINT64_MAX;
        for (int i = 0; i < TRIES_MAX && waited > most; i++)
            waited = bodies_before_the_end(pair);
        if (waited > most)
            fail_msg("%s beside %s: cancelled, and %llu bodies of the other ran before the end",
                     mode_names[pair % MODES], mode_names[pair / MODES], (unsigned long long)waited);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_job_is_served_within_a_bounded_number_of_bodies_in_all_pairs_of_modes),
        cmocka_unit_test(the_first_item_waits_no_longer_than_the_others),
        cmocka_unit_test(a_cancelled_job_of_many_items_ends_though_another_is_ahead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
