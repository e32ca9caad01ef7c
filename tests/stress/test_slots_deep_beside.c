/* Deep slots beside others, and jobs beside others on them: each slot has its own depth; what waits for a capacity gets
 * its turn on a slot that is never empty, and moves nothing in the trace of what is pending; what is pending is named.
 * Mutations, one for each test: has_deep_slot() that looks at the last slot only; next_of() that goes on when it is
 * called; run_items() that does not look at is_refused; serve() that shows what it ran last. */
#define _GNU_SOURCE
#include "support.h"

#include "driver.h"
#include "running.h"

#include <string.h>
#include <unistd.h>

enum { DEPTH = 3, TASKS = 24 };

/* Kinds of executors: a CPU, a deep slot, a slot that is not; the machine has 1 of a resource. */
enum { CPU, DEEP, FLAT, KINDS };

static clo_platform *make_platform(int32_t depth)
{
    static const char *const names[] = {"cpu", "deep", "flat"};
    static const int32_t depths[] = {0, 0, 1};
    int64_t capacities[CLO_RESOURCES_MAX] = {1, -1, -1, -1, -1, -1, -1, -1};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_executor list[KINDS];
    clo_platform *platform;

    for (uint32_t e = 0; e < KINDS; e++)
        list[e] = (clo_executor){
            e, 0, 0, e == CPU ? -1 : CLO_OS_SLOT_DEEP(e == DEEP ? depth : depths[e]), {65536, 65536, 65536, 65536}};
    desc.executors_count = desc.kinds_count = KINDS;
    desc.executors = list;
    desc.kind_names = names;
    desc.capacities = capacities;
    ok(clo_platform_create(&desc, &platform));
    return platform;
}

/* So many tasks without edges, which only that kind can run. */
static clo_graph *make_graph(uint32_t count, uint32_t on, const clo_task *task)
{
    static const char *const names[] = {"cpu", "deep", "flat"};
    clo_graph *graph;

    ok(clo_graph_create("tasks", &graph));
    for (uint32_t k = 0; k < KINDS; k++)
        ok(clo_graph_kind(graph, names[k], &(uint32_t){0}));
    for (uint32_t t = 0; t < count; t++) {
        ok(clo_graph_add_task(graph, task, NULL));
        for (uint32_t k = 0; k < KINDS; k++)
            ok(clo_graph_set_time(graph, t, k, k == on ? 1000 : CLO_TIME_NEVER));
    }
    ok(clo_graph_seal(graph));
    return graph;
}

/* A job of such a graph, by a plan. */
typedef struct part {
    clo_graph *graph;
    clo_cost *cost;
    clo_plan *plan;
    clo_job *job;
} part;

static clo_runtime *start_runtime(clo_platform *platform)
{
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_runtime *runtime;

    config.unpinned = config.trace = 1;
    ok(clo_runtime_create(platform, &config, &runtime));
    return runtime;
}

static part make_part(clo_runtime *runtime, uint32_t count, uint32_t on, const clo_task *task)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    part p = {.graph = make_graph(count, on, task)};

    ok(clo_cost_create(p.graph, clo_runtime_platform(runtime), &p.cost));
    ok(clo_plan_create(p.cost, NULL, &p.plan));
    config.plan = p.plan;
    ok(clo_job_create(runtime, p.cost, &config, &p.job));
    return p;
}

static void drop(part *p)
{
    clo_job_destroy(p->job);
    clo_plan_destroy(p->plan);
    clo_cost_destroy(p->cost);
    clo_graph_destroy(p->graph);
}

/* What a body has begun: how often, and its tokens. */
typedef struct notes {
    _Atomic uint32_t begun;
    clo_token tokens[TASKS];
} notes;

static int keep_token(const clo_call *call)
{
    notes *n = call->argument;

    if (clo_token_take(call, NULL, NULL, &n->tokens[atomic_load(&n->begun)]) != CLO_OK) /* a thread calls all */
        return 2;
    atomic_fetch_add(&n->begun, 1);
    return CLO_PENDING;
}

static void wait_for(const notes *n, uint32_t begun)
{
    while (atomic_load(&n->begun) < begun)
        usleep(50);
}

static driver drives;

static int pend(const clo_call *call)
{
    clo_token token;

    if (clo_token_take(call, NULL, NULL, &token) != CLO_OK)
        return 2;
    driver_give(&drives, token, NULL);
    return CLO_PENDING;
}

/* The driver completes nothing before DEPTH bodies are pending: a slot that begins fewer never ends. */
static void a_deep_slot_has_its_depth_beside_one_that_is_not(void **state)
{
    (void)state;
    clo_platform *platform = make_platform(DEPTH);
    clo_runtime *runtime = start_runtime(platform);
    part p = make_part(runtime, TASKS, DEEP, &(clo_task){.body = pend, .work_ns = 1000, .may_pend = 1});

    for (int run = 0; run < 10; run++) {
        driver_start(&drives, DEPTH);
        ok(clo_job_submit(p.job));
        ok(clo_job_wait(p.job, NULL));
        driver_stop(&drives);
    }
    drop(&p);
    clo_runtime_destroy(runtime);
    clo_platform_destroy(platform);
}

/* Somebody on the CPU has the resource; `waits` waits for it on the deep slot. */
typedef struct contest {
    clo_platform *platform;
    clo_runtime *runtime;
    notes has, wants;
    part holder, waits, empty;
} contest;

static int pass(const clo_call *call)
{
    (void)call;
    return 0;
}

static void open_contest(contest *c)
{
    *c = (contest){.platform = make_platform(2)};
    c->runtime = start_runtime(c->platform);
    c->holder = make_part(c->runtime, 1, CPU,
                          &(clo_task){.body = keep_token, .argument = &c->has, .may_pend = 1, .demand = {1}});
    c->waits = make_part(c->runtime, 1, DEEP,
                         &(clo_task){.body = keep_token, .argument = &c->wants, .may_pend = 1, .demand = {1}});
    c->empty = make_part(c->runtime, 1, DEEP, &(clo_task){.body = pass, .may_pend = 1});
    ok(clo_job_submit(c->holder.job));
    wait_for(&c->has, 1);
}

/* It has been refused: what comes to the slot after it has run, twice, since the slot takes the youngest first. */
static void let_it_wait(contest *c)
{
    ok(clo_job_submit(c->waits.job));
    for (int i = 0; i < 2; i++) {
        ok(clo_job_submit(c->empty.job));
        ok(clo_job_wait(c->empty.job, NULL));
    }
}

static void close_contest(contest *c)
{
    ok(clo_job_wait(c->waits.job, NULL));
    drop(&c->holder);
    drop(&c->waits);
    drop(&c->empty);
    clo_runtime_destroy(c->runtime);
    clo_platform_destroy(c->platform);
}

/* The next one is completed when the one behind it has begun, so the slot is never empty; or when none begins. */
static void what_waits_for_a_capacity_has_its_turn(void **state)
{
    static contest c;
    static notes others;

    (void)state;
    open_contest(&c);
    part p = make_part(c.runtime, TASKS, DEEP, &(clo_task){.body = keep_token, .argument = &others, .may_pend = 1});
    let_it_wait(&c);
    ok(clo_job_submit(p.job));
    wait_for(&others, 2);
    ok(clo_token_complete(c.has.tokens[0], 0));
    ok(clo_job_wait(c.holder.job, NULL)); /* there is room from now on */
    for (uint32_t t = 0; t < TASKS && atomic_load(&c.wants.begun) == 0; t++) {
        int64_t since_ns = clo_clock_ns();
        while (t + 1 < TASKS && atomic_load(&others.begun) < t + 2 && atomic_load(&c.wants.begun) == 0 &&
               clo_clock_ns() - since_ns < 100000000)
            usleep(50);
        if (atomic_load(&others.begun) > t)
            ok(clo_token_complete(others.tokens[t], 0));
        others.tokens[t].runtime = NULL; /* completed */
    }
    wait_for(&c.wants, 1);
    assert_true(atomic_load(&others.begun) < TASKS);
    ok(clo_token_complete(c.wants.tokens[0], 0));
    for (uint32_t t = 0; t < TASKS; t++) {
        wait_for(&others, t + 1);
        if (others.tokens[t].runtime != NULL)
            ok(clo_token_complete(others.tokens[t], 0));
    }
    ok(clo_job_wait(p.job, NULL));
    drop(&p);
    close_contest(&c);
}

static void what_is_refused_moves_nothing(void **state)
{
    static contest c;
    static notes others;
    clo_trace *trace;
    size_t count;

    (void)state;
    open_contest(&c);
    part p = make_part(c.runtime, 1, DEEP, &(clo_task){.body = keep_token, .argument = &others, .may_pend = 1});
    int64_t before_ns = clo_clock_ns();
    ok(clo_job_submit(p.job));
    wait_for(&others, 1);
    int64_t after_ns = clo_clock_ns();
    ok(clo_job_submit(c.waits.job));
    usleep(20000); /* it is refused, most likely */
    ok(clo_token_complete(others.tokens[0], 0));
    ok(clo_job_wait(p.job, NULL));
    ok(clo_job_trace(p.job, &trace));
    const clo_trace_event *events = clo_trace_events(trace, &count);
    assert_int_equal(count, 1);
    assert_true(events[0].start_ns <= after_ns - before_ns);
    clo_trace_destroy(trace);
    ok(clo_token_complete(c.has.tokens[0], 0));
    ok(clo_job_wait(c.holder.job, NULL));
    wait_for(&c.wants, 1);
    ok(clo_token_complete(c.wants.tokens[0], 0));
    drop(&p);
    close_contest(&c);
}

/* A time that is over names it, though another one began after it and has ended. */
static void what_is_pending_is_named(void **state)
{
    static notes first, second;

    (void)state;
    clo_platform *platform = make_platform(2);
    clo_runtime *runtime = start_runtime(platform);
    clo_task task = {.name = "stays", .body = keep_token, .argument = &first, .may_pend = 1};
    part a = make_part(runtime, 1, DEEP, &task);
    task = (clo_task){.name = "goes", .body = keep_token, .argument = &second, .may_pend = 1};
    part b = make_part(runtime, 1, DEEP, &task);

    ok(clo_job_submit(a.job));
    wait_for(&first, 1);
    ok(clo_job_submit(b.job));
    wait_for(&second, 1);
    ok(clo_token_complete(second.tokens[0], 0));
    ok(clo_job_wait(b.job, NULL));
    do /* the slot shows it once it has looked at all that is pending */
        assert_int_equal(clo_job_wait_for(a.job, 1000000, NULL), CLO_ERR_TIMEOUT);
    while (strstr(clo_last_error(), "stays") == NULL);
    ok(clo_token_complete(first.tokens[0], 0));
    ok(clo_job_wait(a.job, NULL));
    drop(&a);
    drop(&b);
    clo_runtime_destroy(runtime);
    clo_platform_destroy(platform);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deep_slot_has_its_depth_beside_one_that_is_not),
        cmocka_unit_test(what_waits_for_a_capacity_has_its_turn),
        cmocka_unit_test(what_is_refused_moves_nothing),
        cmocka_unit_test(what_is_pending_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
