/* Deep slots on which jobs are cut short: bodies fail, periods are missed, and jobs are cancelled, while several bodies
 * are pending beside those of other jobs, some with cancel functions, some that wait for capacities. Every job ends,
 * every token is completed or stale, and what a machine has is free in the end.
 * Mutation: look_at_pending() that goes on behind the one that has ended without a look at the next. */
#define _GNU_SOURCE
#include "support.h"

#include "driver.h"
#include "running.h"

#include <unistd.h>

enum { JOBS = 4, TASKS = 12, ROUNDS = 150 };

static driver drives;
static _Atomic uint32_t told, turns;

static void tell(void *argument)
{
    atomic_fetch_add((_Atomic uint32_t *)argument, 1);
}

/* Pending, with a cancel function or without one; now and then over at once, or failed. */
static int pend(const clo_call *call)
{
    uint32_t turn = atomic_fetch_add(&turns, 1);
    clo_token token;

    if (turn % 5 == 0)
        return 0;
    if (turn % 97 == 0)
        return 3;
    if (clo_token_take(call, turn % 2 ? tell : NULL, &told, &token) != CLO_OK)
        return 2;
    driver_give(&drives, token, NULL);
    return turn % 7 == 0 ? 0 : CLO_PENDING; /* one that is over makes its token stale, unless that was quicker */
}

static clo_platform *make_platform(void)
{
    int64_t capacities[CLO_RESOURCES_MAX] = {2, -1, -1, -1, -1, -1, -1, -1};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_executor list[3];
    clo_platform *platform;

    for (uint32_t e = 0; e < 3; e++)
        list[e] = (clo_executor){0, 0, 0, e == 0 ? -1 : CLO_OS_SLOT_DEEP(5 - (int32_t)e), {65536, 65536, 65536, 65536}};
    desc.executors_count = 3;
    desc.executors = list;
    desc.kinds_count = 1;
    desc.capacities = capacities;
    ok(clo_platform_create(&desc, &platform));
    return platform;
}

/* By a plan or by work stealing; once or with a period that it cannot keep; with demands or without. */
static clo_job *make_one(clo_runtime *runtime, const clo_cost *cost, const clo_plan *plan, uint32_t which)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *job;

    config.plan = which % 2 ? plan : NULL;
    if (which >= 2) {
        config.period_ns = 30000;
        config.releases = 5;
        config.on_miss = which == 2 ? CLO_MISS_ABORT : CLO_MISS_SKIP;
    }
    ok(clo_job_create(runtime, cost, &config, &job));
    return job;
}

static void every_job_ends(void **state)
{
    clo_platform *platform = make_platform();
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_runtime *runtime;
    clo_graph *graphs[JOBS];
    clo_cost *costs[JOBS];
    clo_plan *plans[JOBS];
    clo_job *jobs[JOBS];

    (void)state;
    config.unpinned = config.trace = 1;
    ok(clo_runtime_create(platform, &config, &runtime));
    driver_start(&drives, 0);
    for (uint32_t j = 0; j < JOBS; j++) {
        graphs[j] = scene_layers(3, TASKS / 3,
                                 &(clo_task){.body = pend, .work_ns = 1000, .may_pend = 1, .demand = {j % 3 == 0}});
        ok(clo_cost_create(graphs[j], platform, &costs[j]));
        ok(clo_plan_create(costs[j], NULL, &plans[j]));
        jobs[j] = make_one(runtime, costs[j], plans[j], j);
    }
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t j = 0; j < JOBS; j++)
            ok(clo_job_submit(jobs[j]));
        if (round % 3 == 0)
            usleep(round % 10 * 20);
        for (uint32_t j = 0; j < JOBS; j++)
            if ((round + j) % 3 == 0)
                clo_job_cancel(jobs[j]);
        for (uint32_t j = 0; j < JOBS; j++)
            (void)!clo_job_wait(jobs[j], NULL);
    }
    driver_drain(&drives);
    driver_stop(&drives);
    for (uint32_t j = 0; j < JOBS; j++) {
        clo_job_destroy(jobs[j]);
        clo_plan_destroy(plans[j]);
        clo_cost_destroy(costs[j]);
        clo_graph_destroy(graphs[j]);
    }
    clo_runtime_destroy(runtime);
    clo_platform_destroy(platform);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_job_ends)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
