/* Capacities come back. However a job is dispatched and however it ends, the semaphores of its machines hold afterwards
 * what they held before, and a job that needs all of every capacity runs to its end. Random scenes: each has a runtime
 * with two jobs of its own kinds, which are ended in random ways again and again. */
#define _GNU_SOURCE
#include "support.h"

#include "driver.h"

#include "base/clock.h"
#include "base/numbers/rng.h"
#include "plan/facts.h"
#include "planner_named.h"
#include "run/state/runtime.h"
#include "sync/sleep/park.h"

#include <sched.h>
#include <string.h>

#define SCENES (SANITIZED ? 120u : 600u)
#define ROUNDS 12u
#define CANCELS (SANITIZED ? 400u : 2000u)
#define PATIENCE_NS 120000000000 /* what ends at all ends much sooner */

enum { EXECUTORS_MAX = 6, MACHINES_MAX = 2, TASKS_MAX = 20, RESOURCES = 2, JOBS = 2 };

enum { STEAL, REPLAY, POLICY, RELEASES, RELEASES_PLAN, DISPATCHES };

/* How a run is made to end; each beside the others: bodies fail and deadlines pass now and then. */
enum { RUN_OUT, CANCEL, SWAP_PLAN, SWAP_POLICY, DESTROY, CLOSE, ENDINGS };

typedef struct scene {
    clo_rng rng;
    uint64_t seed;
    clo_clock clock;
    bool pends, fails, has_branches;
    uint32_t executors, machines, slots;
    int64_t capacities[MACHINES_MAX * CLO_RESOURCES_MAX];
    clo_platform *platform;
    clo_graph *graph, *all;
    clo_cost *cost, *cost_of_all;
    clo_plan *plans[2], *pipeline;
    void *memory;
    clo_runtime *runtime;
    clo_job *jobs[JOBS], *after;
    int dispatch[JOBS];
    /* Of all jobs that have one. */
    const clo_policy *policy;
} scene;

static driver drives;
static _Atomic uint64_t draws;
static _Atomic int fail_one_in;
/* Tokens are completed even if their run is cut short. */
static _Atomic bool keeps_tokens;
/* Bodies wait until their jobs have been cancelled. */
static _Atomic bool is_held;
static uint64_t ended[DISPATCHES][ENDINGS], cut;

static uint32_t below(scene *s, uint32_t bound)
{
    return clo_rng_below(&s->rng, bound);
}

static uint64_t draw(void)
{
    return clo_mix64(atomic_fetch_add_explicit(&draws, 1, memory_order_relaxed));
}

static void spin(uint64_t ns)
{
    int64_t until_ns = clo_clock_ns() + (int64_t)ns;

    while (clo_clock_ns() < until_ns)
        clo_relax();
}

static void ignore(void *argument)
{
    (void)argument;
}

static int work(const clo_call *call)
{
    uint64_t way = draw();
    int one_in = atomic_load_explicit(&fail_one_in, memory_order_relaxed);
    clo_token token;

    if (call->arm != NULL)
        *call->arm = way % 2;
    while (atomic_load_explicit(&is_held, memory_order_relaxed))
        sched_yield();
    spin(way / 2 % 16 == 0 ? 20000 : way / 32 % 2000);
    if (way % 64 == 5)
        sched_yield();
    if (one_in > 0 && way / 64 % (unsigned)one_in == 0)
        return 7;
    bool is_kept = way / 8192 % 2 == 0 || atomic_load_explicit(&keeps_tokens, memory_order_relaxed);
    if (way / 4096 % 2 == 0 || clo_token_take(call, is_kept ? ignore : NULL, NULL, &token) != CLO_OK)
        return 0;
    driver_give(&drives, token, NULL);
    return CLO_PENDING;
}

static int take_all(const clo_call *call)
{
    (void)call;
    return 0;
}

static void make_platform(scene *s)
{
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_executor list[EXECUTORS_MAX];

    for (uint32_t e = 0; e < s->executors; e++) {
        int32_t os_index = e < s->executors - s->slots ? -1 : CLO_OS_SLOT;
        list[e] = (clo_executor){0, e % s->machines, 0, os_index, {65536, 65536, 65536, 65536}};
    }
    desc.executors_count = s->executors;
    desc.executors = list;
    desc.kinds_count = 1;
    desc.machines_count = s->machines;
    desc.capacities = s->capacities;
    ok(clo_platform_create(&desc, &s->platform));
}

static void draw_platform(scene *s)
{
    s->executors = 2 + below(s, EXECUTORS_MAX - 1);
    s->machines = 1 + below(s, MACHINES_MAX);
    s->slots = s->clock == CLO_CLOCK_REAL && below(s, 3) == 0 ? below(s, s->executors - 1) + 1 : 0;
    for (uint32_t i = 0; i < s->machines * CLO_RESOURCES_MAX; i++)
        s->capacities[i] = i % CLO_RESOURCES_MAX < RESOURCES ? 1 + (int64_t)below(s, 4) : -1;
    make_platform(s);
}

/* What every machine has at least. */
static int64_t least(const scene *s, uint32_t r)
{
    int64_t value = s->capacities[r];

    for (uint32_t m = 1; m < s->machines && m < MACHINES_MAX; m++)
        if (s->capacities[m * CLO_RESOURCES_MAX + r] < value)
            value = s->capacities[m * CLO_RESOURCES_MAX + r];
    return value;
}

static void draw_graph(scene *s)
{
    uint32_t tasks = 4 + below(s, TASKS_MAX - 4);

    ok(clo_graph_create("random", &s->graph));
    for (uint32_t t = 0; t < tasks; t++) {
        clo_task task = {.body = work, .work_ns = 100 + below(s, 3000), .duplicable = below(s, 2) == 0};
        task.instances = below(s, 4) == 0 && !(s->has_branches && t < 3) ? 1 + below(s, 6) : 1;
        task.may_pend = s->pends && below(s, 2) == 0 && !(s->has_branches && t == 0);
        task.duplicable = task.duplicable && !task.may_pend && !s->has_branches;
        for (uint32_t r = 0; r < RESOURCES; r++)
            task.demand[r] = below(s, 3) > 0 ? below(s, (uint32_t)least(s, r) + 1) : 0;
        ok(clo_graph_add_task(s->graph, &task, NULL));
    }
    if (s->has_branches) {
        ok(clo_graph_set_branch(s->graph, 0, 2, NULL));
        ok(clo_graph_add_arm(s->graph, 0, 1, 0, 0));
        ok(clo_graph_add_arm(s->graph, 0, 2, 0, 1));
    }
    for (uint32_t t = s->has_branches ? 3 : 1; t < tasks; t++) {
        uint32_t from = below(s, t), other = below(s, t);
        if (below(s, 4) > 0)
            ok(clo_graph_add_edge(s->graph, from, t, 8));
        if (other != from && below(s, 2) == 0)
            ok(clo_graph_add_edge(s->graph, other, t, 8));
    }
    ok(clo_graph_seal(s->graph));
    ok(clo_cost_create(s->graph, s->platform, &s->cost));
}

/* A task for each machine, which needs all that it has. */
static void make_graph_of_all(scene *s)
{
    ok(clo_graph_create("all", &s->all));
    for (uint32_t m = 0; m < s->machines; m++) {
        clo_task task = {.body = take_all, .work_ns = 10};
        for (uint32_t e = m; e < s->executors; e += s->machines)
            task.executors_mask |= 1ull << e;
        memcpy(task.demand, &s->capacities[m * CLO_RESOURCES_MAX], RESOURCES * sizeof *task.demand);
        ok(clo_graph_add_task(s->all, &task, NULL));
    }
    ok(clo_graph_seal(s->all));
    ok(clo_cost_create(s->all, s->platform, &s->cost_of_all));
}

static void draw_extras(scene *s, int dispatch, clo_job_config *config)
{
    bool is_real = s->clock == CLO_CLOCK_REAL, is_releases = dispatch >= RELEASES;

    if (is_releases)
        config->releases_in_flight = (dispatch == RELEASES_PLAN ? clo_plan_in_flight(s->pipeline) : 1) + below(s, 4);
    if (is_real && below(s, 3) == 0) {
        config->period_ns = 2000 + below(s, 40000);
        config->releases = 1 + below(s, 30);
    } else if (is_releases) {
        config->releases = 1 + below(s, 40);
    }
    if (is_releases || !is_real)
        return;
    if (below(s, 3) == 0) {
        config->deadline_ns = 1 + below(s, 60000);
        config->on_miss = (clo_miss_action)below(s, 3);
    }
    if (below(s, 4) == 0)
        config->task_limit_ns = 1 + below(s, 5000);
}

static clo_status make_job(scene *s, uint32_t j)
{
    int dispatch = s->dispatch[j];
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    int64_t after_ns[TASKS_MAX] = {0};
    uint64_t done[4] = {draw(), draw(), draw(), draw()}; /* at most 20 tasks of at most 6 instances */

    draw_extras(s, dispatch, &config);
    config.plan = dispatch == REPLAY ? s->plans[below(s, 2)] : dispatch == RELEASES_PLAN ? s->pipeline : NULL;
    config.policy = dispatch == POLICY ? s->policy : NULL;
    config.band = config.policy != NULL ? below(s, 3) : 0;
    config.limit = config.policy != NULL ? below(s, 3) : 0;
    if (dispatch <= REPLAY && s->clock == CLO_CLOCK_REAL && below(s, 3) == 0 && !s->has_branches) {
        for (uint32_t t = 0; t < clo_graph_tasks(s->graph); t++) {
            clo_task task;
            ok(clo_graph_task(s->graph, t, &task));
            after_ns[t] = task.duplicable ? 1 + below(s, 3000) : 0;
        }
        config.hedge_after_ns = after_ns;
    }
    if (dispatch < RELEASES && s->clock == CLO_CLOCK_REAL && below(s, 6) == 0 && !s->has_branches)
        config.done = done;
    return clo_job_create(s->runtime, s->cost, &config, &s->jobs[j]);
}

/* Kinds of jobs that the scene can have. */
static int draw_dispatch(scene *s, bool can_fly)
{
    if (s->clock == CLO_CLOCK_VIRTUAL)
        return below(s, 2) == 0 ? REPLAY : POLICY;
    return (int)below(s, can_fly ? DISPATCHES : RELEASES);
}

static void make_plans(scene *s, bool can_fly)
{
    static const char *const planners[] = {"heft", "deft"};
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;

    for (uint32_t p = 0; p < 2; p++) {
        config.planner = planner_named(planners[p]);
        config.no_duplicates = s->pends;
        if (clo_plan_create(s->cost, &config, &s->plans[p]) != CLO_OK) { /* of demands, say */
            config.planner = &clo_planner_heft;
            ok(clo_plan_create(s->cost, &config, &s->plans[p]));
        }
    }
    if (can_fly)
        ok(clo_plan_pipeline(s->cost, NULL, &s->pipeline));
}

static void open_runtime(scene *s)
{
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config job = CLO_JOB_CONFIG_INIT;
    size_t bytes;

    config.unpinned = 1;
    config.clock = s->clock;
    config.trace = below(s, 2);
    config.help = (int)below(s, 3) - 1;
    config.policy_bytes = (size_t)2 << 20;
    ok(clo_runtime_memory_bytes(s->platform, &config, &bytes));
    config.memory = s->memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    config.memory_bytes = bytes;
    assert_non_null(s->memory);
    ok(clo_runtime_create(s->platform, &config, &s->runtime));
    if (s->clock == CLO_CLOCK_VIRTUAL)
        job.policy = s->policy;
    ok(clo_job_create(s->runtime, s->cost_of_all, &job, &s->after));
}

static void open_scene(scene *s, uint64_t seed)
{
    *s = (scene){.rng = clo_rng_seed(seed), .seed = seed};
    s->clock = below(s, 8) == 0 ? CLO_CLOCK_VIRTUAL : CLO_CLOCK_REAL;
    s->pends = s->clock == CLO_CLOCK_REAL && below(s, 4) == 0;
    s->fails = below(s, 3) == 0;
    s->policy = policy_at((uint32_t)(seed % policies_count()));
    s->has_branches = below(s, 5) == 0;
    draw_platform(s);
    draw_graph(s);
    make_graph_of_all(s);
    bool can_fly = s->clock == CLO_CLOCK_REAL && !s->pends && s->slots == 0 && !s->has_branches;
    make_plans(s, can_fly);
    open_runtime(s);
    atomic_store(&fail_one_in, s->fails ? 100 : 0);
    for (uint32_t j = 0; j < JOBS; j++) {
        s->dispatch[j] = draw_dispatch(s, can_fly);
        ok(make_job(s, j));
    }
}

/* Also of a runtime that is closed: its memory is ours. */
static bool is_whole(const scene *s)
{
    for (uint32_t m = 0; m < s->machines; m++) {
        clo_semaphore_state state;
        (void)clo_semaphore_read(&s->runtime->machines[m].semaphore, &state);
        for (uint32_t r = 0; r < RESOURCES; r++)
            if (state.available[r] != s->capacities[m * CLO_RESOURCES_MAX + r])
                return false;
        if (state.oldest != CLO_SEMAPHORE_NEW)
            return false;
    }
    return true;
}

static void check_whole(const scene *s, int ending)
{
    if (!is_whole(s))
        fail_msg("scene %llu: dispatch %d and %d, ending %d: a machine's semaphore does not hold what it held before",
                 (unsigned long long)s->seed, s->dispatch[0], s->dispatch[1], ending);
}

static void wait_for(const scene *s, clo_job *job, int ending)
{
    clo_status status = clo_job_wait_for(job, PATIENCE_NS, NULL);

    cut += status != CLO_OK;
    if (status == CLO_ERR_TIMEOUT)
        fail_msg("scene %llu: dispatch %d and %d, ending %d: %s", (unsigned long long)s->seed, s->dispatch[0],
                 s->dispatch[1], ending, clo_last_error());
}

static void swap_policy(scene *s)
{
    const clo_policy *policy = policy_at(below(s, policies_count()));

    if (clo_runtime_swap_policy(s->runtime, policy, NULL) == CLO_OK)
        s->policy = policy;
}

/* One after another, at moments of chance. */
static void end_jobs(scene *s, int ending)
{
    for (uint32_t j = 0; j < JOBS; j++) {
        if (ending == SWAP_PLAN && s->dispatch[j] == REPLAY) /* the memory is the job's, so it may */
            ok(clo_job_swap_plan(s->jobs[j], s->plans[below(s, 2)]));
        if (ending == SWAP_POLICY && s->dispatch[j] == POLICY)
            swap_policy(s);
        if (ending == CANCEL || below(s, 2) == 0)
            clo_job_cancel(s->jobs[j]);
        spin(below(s, 3000));
    }
    atomic_store(&is_held, false);
}

static void run_round(scene *s, int ending)
{
    /* Some are certainly cut, also on a machine where the bodies end before this thread goes on. */
    atomic_store(&is_held, ending == CANCEL && below(s, 2) == 0);
    for (uint32_t j = 0; j < JOBS; j++)
        ok(clo_job_submit(s->jobs[j]));
    spin(below(s, 4) == 0 ? below(s, 200000) : below(s, 20000));
    if (ending == DESTROY) {
        for (uint32_t j = 0; j < JOBS; j++) {
            clo_job_cancel(s->jobs[j]);
            clo_job_destroy(s->jobs[j]);
            ok(make_job(s, j));
        }
    } else if (ending != RUN_OUT) {
        end_jobs(s, ending);
    }
    for (uint32_t j = 0; j < JOBS && ending != DESTROY; j++)
        wait_for(s, s->jobs[j], ending);
    check_whole(s, ending);
    ok(clo_job_submit(s->after));
    if (clo_job_wait_for(s->after, PATIENCE_NS, NULL) != CLO_OK)
        fail_msg("scene %llu: dispatch %d and %d, ending %d: all of the capacities: %s", (unsigned long long)s->seed,
                 s->dispatch[0], s->dispatch[1], ending, clo_last_error());
    check_whole(s, ending);
    for (uint32_t j = 0; j < JOBS; j++)
        ended[s->dispatch[j]][ending]++;
}

/* Nobody may complete a token of a runtime that is gone: so those that are stale are completed first, and no more
 * become so. */
static void close_scene(scene *s)
{
    driver_stop(&drives);
    driver_start(&drives, 0);
    atomic_store(&keeps_tokens, true);
    for (uint32_t j = 0; j < JOBS; j++) {
        ok(clo_job_submit(s->jobs[j]));
        ended[s->dispatch[j]][CLOSE]++;
    }
    spin(below(s, 20000));
    ok(clo_runtime_close(s->runtime, PATIENCE_NS));
    check_whole(s, CLOSE);
    atomic_store(&keeps_tokens, false);
    for (uint32_t p = 0; p < 2; p++)
        clo_plan_destroy(s->plans[p]);
    clo_plan_destroy(s->pipeline);
    clo_cost_destroy(s->cost);
    clo_cost_destroy(s->cost_of_all);
    clo_graph_destroy(s->graph);
    clo_graph_destroy(s->all);
    clo_platform_destroy(s->platform);
    free(s->memory);
}

static int work_briefly(const clo_call *call)
{
    (void)call;
    spin(300);
    return 0;
}

/* Four releases in flight, on four executors, whose tasks all need the one unit: one runs, the others wait. */
static void open_releases(scene *s, bool has_plan)
{
    clo_task task = {.body = work_briefly, .work_ns = 300, .demand = {1}};
    clo_job_config config = CLO_JOB_CONFIG_INIT;

    *s = (scene){.rng = clo_rng_seed(has_plan), .executors = 4, .machines = 1};
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        s->capacities[r] = r < RESOURCES ? 1 : -1;
    make_platform(s);
    ok(clo_graph_create("flight", &s->graph));
    for (uint32_t t = 0; t < 6; t++)
        ok(clo_graph_add_task(s->graph, &task, NULL));
    ok(clo_graph_seal(s->graph));
    ok(clo_cost_create(s->graph, s->platform, &s->cost));
    make_graph_of_all(s);
    ok(clo_plan_pipeline(s->cost, NULL, &s->pipeline));
    open_runtime(s);
    config.plan = has_plan ? s->pipeline : NULL;
    config.releases_in_flight = has_plan && clo_plan_in_flight(s->pipeline) > 4 ? clo_plan_in_flight(s->pipeline) : 4;
    for (uint32_t j = 0; j < JOBS; j++)
        ok(clo_job_create(s->runtime, s->cost, &config, &s->jobs[j]));
}

static void a_series_that_is_cancelled_as_it_is_given_capacity_gives_it_back(void **state)
{
    (void)state;
    driver_start(&drives, 0);
    for (int has_plan = 0; has_plan < 2; has_plan++) {
        scene s;
        open_releases(&s, has_plan != 0);
        for (uint32_t round = 0; round < CANCELS; round++) {
            ok(clo_job_submit(s.jobs[round % JOBS]));
            spin(below(&s, 60000));
            clo_job_cancel(s.jobs[round % JOBS]);
            wait_for(&s, s.jobs[round % JOBS], CANCEL);
            check_whole(&s, CANCEL);
        }
        close_scene(&s);
    }
    driver_stop(&drives);
}

static void after_every_end_of_every_kind_of_job_the_semaphores_are_whole(void **state)
{
    const char *first = getenv("CLO_TEST_SCENE");
    uint64_t seed = first != NULL ? strtoull(first, NULL, 0) : 0, end = first != NULL ? seed + 1 : SCENES;

    (void)state;
    driver_start(&drives, 0);
    for (; seed < end; seed++) {
        scene s;
        open_scene(&s, seed);
        for (uint32_t round = 0; round < ROUNDS; round++)
            run_round(&s, (int)below(&s, CLOSE));
        close_scene(&s);
    }
    driver_stop(&drives);
    for (int d = 0; d < DISPATCHES && first == NULL; d++)
        for (int e = 0; e < ENDINGS; e++)
            assert_true(ended[d][e] > 10);
    assert_true(first != NULL || cut > SCENES); /* about twice as many were held */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_series_that_is_cancelled_as_it_is_given_capacity_gives_it_back),
        cmocka_unit_test(after_every_end_of_every_kind_of_job_the_semaphores_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
