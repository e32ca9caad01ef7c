/* The scheduler alone, driven by hand: what is kept of a machine's capacity for one who may not take it. */
#include "support.h"

#include "engine/program/control_flow.h"
#include "engine/scheduler/scheduler.h"
#include "engine/state/capacity.h"
#include "engine/state/scheduler_state.h"
#include "sync/structure/semaphore.h"

#include <string.h>

enum { EXECUTORS = 3, CAPACITY = 10, JOBS = 3, JOBS_MAX = JOBS + 1 };

/* The jobs: one that may have one executor, with a stage that demands all capacity and one that demands none; one whose
 * stages demand a unit each; one that demands nothing. */
enum { LIMITED, SHARING, FREE };
enum { LARGE, COMMITTED };
enum { PASSING, QUEUED };

/* What the policy chooses next; job CLO_NONE: nothing. */
static clo_choice next_choice;

static bool decide(void *state, const clo_view *view, clo_choice *choice)
{
    (void)state;
    (void)view;
    *choice = next_choice;
    next_choice.job = CLO_NONE;
    return choice->job != CLO_NONE;
}

static const clo_policy by_hand = {.size = sizeof(clo_policy), .name = "by hand", .commits = 1, .decide = decide};

typedef struct setting {
    clo_platform *platform;
    clo_graph *graphs[JOBS_MAX];
    clo_cost *costs[JOBS_MAX];
    clo_arena arena;
    clo_scheduler *scheduler;
    clo_scheduler_job *jobs[JOBS_MAX];
    clo_order order; /* the last one */
    uint32_t orders;
    int64_t now_ns;
} setting;

static clo_platform *make_platform(void)
{
    static const int64_t capacities[CLO_RESOURCES_MAX] = {CAPACITY, -1, CAPACITY, -1, -1, -1, -1, -1};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_executor list[EXECUTORS];
    clo_platform *platform;

    for (uint32_t e = 0; e < EXECUTORS; e++)
        list[e] = (clo_executor){0, 0, 0, -1, {65536, 65536, 65536, 65536}};
    desc.executors_count = EXECUTORS;
    desc.executors = list;
    desc.kinds_count = 1;
    desc.capacities = capacities;
    ok(clo_platform_create(&desc, &platform));
    return platform;
}

static void take_orders(setting *s)
{
    clo_order order;

    for (; clo_scheduler_next(s->scheduler, &order); s->orders++)
        s->order = order;
}

static void add_job(setting *s, uint32_t job, const clo_task *tasks, uint32_t count, uint32_t limit)
{
    const clo_policy_use use = {.policy = &by_hand};
    const clo_scheduler_job_config config = {.deadline_ns = CLO_TIME_NEVER, .weight = 1, .limit = limit};

    ok(clo_graph_create("job", &s->graphs[job]));
    for (uint32_t t = 0; t < count; t++)
        ok(clo_graph_add_task(s->graphs[job], &tasks[t], NULL));
    ok(clo_graph_seal(s->graphs[job]));
    ok(clo_cost_create(s->graphs[job], s->platform, &s->costs[job]));
    ok(clo_scheduler_job_create(s->costs[job], &config, &use, &s->arena, &s->jobs[job]));
    ok(clo_scheduler_arrive(s->scheduler, s->jobs[job], 0));
    take_orders(s);
}

static void open_setting(setting *s)
{
    const clo_task limited[] = {{.work_ns = 10, .demand = {CAPACITY, INT64_MAX}}, {.work_ns = 10}};
    const clo_task sharing[] = {{.work_ns = 10, .instances = CLO_OVERTAKES_MAX + 1, .demand = {1}},
                                {.work_ns = 10, .demand = {1}}};
    const clo_task free[] = {{.work_ns = 10}};

    memset(s, 0, sizeof *s);
    next_choice.job = CLO_NONE;
    s->platform = make_platform();
    clo_arena_open(&s->arena, NULL, 0);
    const clo_scheduler_config config = {.platform = s->platform, .policy = &by_hand, .jobs_max = JOBS_MAX};
    ok(clo_scheduler_create(&config, &s->arena, &s->scheduler));
    next_choice = (clo_choice){.job = 0, .count = 1, .executor = 0, .duplicate = CLO_NONE};
    add_job(s, FREE, free, 1, CLO_NONE); /* it runs from here on: else all that is ready would be started */
    assert_int_equal(s->orders, 1);
    add_job(s, LIMITED, limited, 2, 1);
    add_job(s, SHARING, sharing, 2, CLO_NONE);
    assert_int_equal(s->orders, 1);
}

static void close_setting(setting *s)
{
    clo_arena_close(&s->arena);
    for (uint32_t j = 0; j < JOBS_MAX; j++) {
        clo_cost_destroy(s->costs[j]);
        clo_graph_destroy(s->graphs[j]);
    }
    clo_platform_destroy(s->platform);
}

/* The policy chooses an instance of the stage for the executor. */
static void choose(setting *s, uint32_t job, uint32_t stage, uint32_t executor)
{
    next_choice = (clo_choice){s->jobs[job]->slot, stage, 1, executor, CLO_NONE, 0, 0};
    clo_scheduler_capacity(s->scheduler, 0, s->now_ns); /* an input that changes nothing */
    take_orders(s);
}

static void finish(setting *s, uint32_t executor)
{
    clo_scheduler_finish(s->scheduler, executor, s->now_ns, s->now_ns + 1);
    s->now_ns++;
    take_orders(s);
}

/* The last order was this one, and there were `orders` so far. */
static void expect(const setting *s, uint32_t orders, uint32_t job, uint32_t stage, uint32_t executor)
{
    assert_int_equal(s->orders, orders);
    assert_ptr_equal(s->order.job, s->jobs[job]);
    assert_int_equal(s->order.stage, stage);
    assert_int_equal(s->order.executor, executor);
}

/* The large stage has waited until the machine's capacity is kept for it; one unit is in use on executor 1, and
 * executor 0 runs what demands nothing. */
static void keep_for_large(setting *s)
{
    choose(s, SHARING, PASSING, 1);
    expect(s, 2, SHARING, PASSING, 1);
    choose(s, LIMITED, LARGE, 2);
    for (uint32_t i = 0; i < CLO_OVERTAKES_MAX; i++) {
        next_choice = (clo_choice){s->jobs[SHARING]->slot, PASSING, 1, 1, CLO_NONE, 0, 0};
        finish(s, 1);
        expect(s, 3 + i, SHARING, PASSING, 1);
    }
}

/* The commitment that fills the limit of the job stands behind a stage that needs what is kept for the job's large one:
 * each would wait for the other. */
static void nothing_is_kept_for_a_job_that_waits_for_its_own_commitment(void **state)
{
    enum { BEFORE = CLO_OVERTAKES_MAX + 2 };
    setting s;

    (void)state;
    open_setting(&s);
    keep_for_large(&s);
    choose(&s, SHARING, QUEUED, 0);
    choose(&s, LIMITED, COMMITTED, 0);
    assert_int_equal(s.orders, BEFORE);
    finish(&s, 0);
    expect(&s, BEFORE + 1, SHARING, QUEUED, 0);
    finish(&s, 1);
    finish(&s, 0);
    expect(&s, BEFORE + 2, LIMITED, COMMITTED, 0);
    next_choice = (clo_choice){s.jobs[LIMITED]->slot, LARGE, 1, 2, CLO_NONE, 0, 0};
    finish(&s, 0);
    expect(&s, BEFORE + 3, LIMITED, LARGE, 2);
    finish(&s, 2);
    for (uint32_t j = 0; j < JOBS; j++)
        assert_non_null(clo_scheduler_ended(s.scheduler));
    close_setting(&s);
}

/* The large stage demands all that there is of a resource without a limit, too. */
static void what_is_unlimited_is_kept_from_nobody(void **state)
{
    const clo_task beside = {.work_ns = 10, .demand = {0, INT64_MAX, 1}};
    setting s;

    (void)state;
    open_setting(&s);
    keep_for_large(&s);
    add_job(&s, JOBS, &beside, 1, CLO_NONE);
    choose(&s, JOBS, 0, 2);
    expect(&s, CLO_OVERTAKES_MAX + 3, JOBS, 0, 2);
    close_setting(&s);
}

/* What has waited for that capacity at the head of a queue begins as soon as it is kept no more. */
static void what_was_kept_for_such_a_job_is_offered_at_once(void **state)
{
    enum { BEFORE = CLO_OVERTAKES_MAX + 2 };
    setting s;

    (void)state;
    open_setting(&s);
    keep_for_large(&s);
    choose(&s, SHARING, QUEUED, 0);
    finish(&s, 0);
    assert_int_equal(s.orders, BEFORE); /* it is kept */
    choose(&s, LIMITED, COMMITTED, 1);
    expect(&s, BEFORE + 1, SHARING, QUEUED, 0);
    close_setting(&s);
}

/* An executor whose queue waits for capacity runs something else when that queue is emptied: it lacks nothing then, and
 * what is committed next finds no head. */
static void a_queue_that_is_emptied_lacks_nothing(void **state)
{
    setting s;

    (void)state;
    open_setting(&s);
    choose(&s, SHARING, PASSING, 1);
    expect(&s, 2, SHARING, PASSING, 1);
    choose(&s, LIMITED, LARGE, 0);
    finish(&s, 0); /* the large one is the head of the queue, and does not fit */
    assert_int_equal(s.orders, 2);
    assert_int_equal(s.scheduler->lacking, 1);
    choose(&s, SHARING, PASSING, 0);
    expect(&s, 3, SHARING, PASSING, 0);
    clo_scheduler_cancel(s.scheduler, s.jobs[LIMITED], false, s.now_ns);
    take_orders(&s);
    assert_int_equal(s.scheduler->lacking, 0);
    choose(&s, SHARING, QUEUED, 0);
    assert_int_equal(s.orders, 3);
    finish(&s, 0);
    expect(&s, 4, SHARING, QUEUED, 0);
    close_setting(&s);
}

/* A job with a branch and its arms, of which the first is chosen. */
static void arrive_with_arms(setting *s, uint32_t job, clo_control_flow *control_flow)
{
    const clo_policy_use use = {.policy = &by_hand};
    const clo_scheduler_job_config config = {.deadline_ns = CLO_TIME_NEVER, .weight = 1, .limit = CLO_NONE};
    clo_task task = {.work_ns = 10};

    ok(clo_graph_create("arms", &s->graphs[job]));
    for (uint32_t t = 0; t < 3; t++)
        ok(clo_graph_add_task(s->graphs[job], &task, NULL));
    ok(clo_graph_set_branch(s->graphs[job], 0, 2, NULL));
    ok(clo_graph_add_arm(s->graphs[job], 0, 1, 0, 0));
    ok(clo_graph_add_arm(s->graphs[job], 0, 2, 0, 1));
    ok(clo_graph_seal(s->graphs[job]));
    ok(clo_cost_create(s->graphs[job], s->platform, &s->costs[job]));
    ok(clo_control_flow_create(control_flow, s->graphs[job], 1, &s->arena));
    ok(clo_scheduler_job_create(s->costs[job], &config, &use, &s->arena, &s->jobs[job]));
    s->jobs[job]->control_flow = control_flow;
    ok(clo_scheduler_arrive(s->scheduler, s->jobs[job], s->now_ns));
}

/* When the executor is expected to be done: what is skipped takes no time, and between jobs it is on its way. */
static void the_end_of_a_queue_counts_ways_and_leaves_out_what_is_skipped(void **state)
{
    enum { A, B, ARMS, WAY_NS = 1000 };
    const clo_task tasks[] = {{.work_ns = 10}, {.work_ns = 20, .instances = 4}};
    setting s = {.platform = make_platform()};
    const clo_scheduler_config config = {
        .platform = s.platform, .policy = &by_hand, .jobs_max = JOBS, .moving_ns = WAY_NS};
    clo_control_flow control_flow;

    (void)state;
    next_choice.job = CLO_NONE;
    clo_arena_open(&s.arena, NULL, 0);
    ok(clo_scheduler_create(&config, &s.arena, &s.scheduler));
    next_choice = (clo_choice){.job = 0, .count = 1, .executor = 0, .duplicate = CLO_NONE};
    add_job(&s, A, tasks, 2, CLO_NONE);
    assert_int_equal(s.orders, 1);
    add_job(&s, B, tasks, 2, CLO_NONE);
    int64_t end_ns = WAY_NS + 10;
    assert_int_equal(clo_view_available_ns(s.scheduler, 0), end_ns);
    choose(&s, A, 1, 0);
    assert_int_equal(clo_view_available_ns(s.scheduler, 0), end_ns += 20);
    choose(&s, B, 1, 0);
    assert_int_equal(clo_view_available_ns(s.scheduler, 0), end_ns += WAY_NS + 20);
    choose(&s, B, 0, 0);
    assert_int_equal(clo_view_available_ns(s.scheduler, 0), end_ns += 10);
    choose(&s, A, 1, 0);
    assert_int_equal(clo_view_available_ns(s.scheduler, 0), end_ns += WAY_NS + 20);

    arrive_with_arms(&s, ARMS, &control_flow);
    choose(&s, ARMS, 0, 1);
    expect(&s, 2, ARMS, 0, 1);
    assert_int_equal(clo_control_flow_choose(&control_flow, 0, 0), 0);
    finish(&s, 1);
    choose(&s, ARMS, 1, 0);
    assert_int_equal(clo_view_available_ns(s.scheduler, 0), end_ns += WAY_NS + 10);
    choose(&s, ARMS, 2, 0);
    assert_int_equal(clo_view_available_ns(s.scheduler, 0), end_ns);
    close_setting(&s);
}

static void ignore(void *driver, uint32_t machine)
{
    (void)driver;
    (void)machine;
}

static void ignore_report(void *driver, uint32_t machine, bool again)
{
    (void)driver;
    (void)machine;
    (void)again;
}

/* A job whose root demands little, and what follows excludes each other: different amounts, none as little. */
static void add_exclusive(setting *s, const clo_policy_use *use, uint32_t tasks)
{
    const clo_task root = {.work_ns = 10, .demand = {1}};
    const clo_scheduler_job_config config = {.deadline_ns = CLO_TIME_NEVER, .weight = 1, .limit = CLO_NONE};

    ok(clo_graph_create("job", &s->graphs[0]));
    for (uint32_t t = 0; t < tasks; t++) {
        const clo_task other = {.work_ns = 10, .demand = {CAPACITY / 2 + 1 + t % (CAPACITY / 2)}};
        ok(clo_graph_add_task(s->graphs[0], t == 0 ? &root : &other, NULL));
    }
    for (uint32_t t = 1; t < tasks; t++)
        ok(clo_graph_add_edge(s->graphs[0], 0, t, 0));
    ok(clo_graph_seal(s->graphs[0]));
    ok(clo_cost_create(s->graphs[0], s->platform, &s->costs[0]));
    ok(clo_scheduler_job_create(s->costs[0], &config, use, &s->arena, &s->jobs[0]));
    ok(clo_scheduler_arrive(s->scheduler, s->jobs[0], 0));
    clo_scheduler_go_on_to_end(s->scheduler);
    take_orders(s);
}

/* Once one holds all, the others are not looked at one by one for each that has ended: in semaphores of the scheduler's
 * own, and in those that others use; in order of readiness, of rank, and the newest first, where what is passed is kept
 * for who waits. */
static void what_cannot_fit_is_not_looked_at_again(void **state)
{
    enum { TASKS = 2000 };
    static const char *const names[] = {"fifo", "rank", "steal"};

    (void)state;
    for (int way = 0; way < 6; way++) {
        bool shared = way % 2 != 0, is_in_order = way < 4;
        clo_policy_use use = {.policy = clo_policy_find(names[way / 2])};
        setting s = {.platform = make_platform()};
        clo_semaphore semaphore, *semaphores = &semaphore;
        clo_arena_open(&s.arena, NULL, 0);
        clo_semaphore_page *pages = clo_arena_take(&s.arena, clo_capacity_pages(s.platform, 1), sizeof *pages);
        const clo_scheduler_room room = {&semaphores, 0, NULL, ignore, ignore_report};
        const clo_scheduler_config config = {
            .platform = s.platform, .policy = use.policy, .jobs_max = 1, .room = shared ? &room : NULL};
        clo_capacity_open(s.platform, 0, &semaphore, &pages, 1);
        ok(clo_scheduler_create(&config, &s.arena, &s.scheduler));
        add_exclusive(&s, &use, TASKS);
        for (uint32_t t = 0; t < TASKS; t++) {
            if (is_in_order)
                expect(&s, t + 1, 0, t, 0);
            finish(&s, 0);
        }
        assert_int_equal(s.orders, TASKS);
        assert_true(clo_scheduler_counts_of(s.scheduler)->looks <= 8 * TASKS);
        close_setting(&s);
    }
}

/* What waits in an executor's queue lacks a capacity that somebody else holds, and nothing runs: a policy that waits for
 * it leaves executors idle for a reason, though the rule starts what may. */
static void who_waits_for_what_others_hold_is_not_to_blame(void **state)
{
    const clo_task free = {.work_ns = 10}, demanding = {.work_ns = 10, .demand = {1}};
    const int64_t all[CLO_RESOURCES_MAX] = {CAPACITY};
    setting s = {.platform = make_platform()};
    clo_semaphore semaphore, *semaphores = &semaphore;
    enum { US, OTHERS, THREADS };

    (void)state;
    next_choice.job = CLO_NONE;
    clo_arena_open(&s.arena, NULL, 0);
    clo_semaphore_page *pages = clo_arena_take(&s.arena, clo_capacity_pages(s.platform, THREADS), sizeof *pages);
    const clo_scheduler_room room = {&semaphores, US, NULL, ignore, ignore_report};
    const clo_scheduler_config config = {.platform = s.platform, .policy = &by_hand, .jobs_max = JOBS, .room = &room};
    clo_capacity_open(s.platform, 0, &semaphore, &pages, THREADS);
    ok(clo_scheduler_create(&config, &s.arena, &s.scheduler));
    assert_true(clo_semaphore_acquire(&semaphore, all, OTHERS));
    next_choice = (clo_choice){.job = 0, .count = 1, .executor = 0, .duplicate = CLO_NONE};
    add_job(&s, 0, &free, 1, CLO_NONE);
    next_choice = (clo_choice){.job = 1, .count = 1, .executor = 0, .duplicate = CLO_NONE};
    add_job(&s, 1, &demanding, 1, CLO_NONE);
    finish(&s, 0); /* what is queued behind it does not fit */
    expect(&s, 1, 0, 0, 0);
    add_job(&s, 2, &free, 1, CLO_NONE); /* the policy has nothing to say about it */
    assert_int_equal(s.orders, 2);
    assert_int_equal(clo_scheduler_counts_of(s.scheduler)->fallbacks, 1);
    assert_int_equal(clo_scheduler_counts_of(s.scheduler)->refused, 0);
    finish(&s, s.order.executor);
    clo_semaphore_release(&semaphore, all, OTHERS);
    clo_scheduler_capacity(s.scheduler, 0, s.now_ns);
    take_orders(&s);
    expect(&s, 3, 1, 0, 0);
    close_setting(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_kept_for_a_job_that_waits_for_its_own_commitment),
        cmocka_unit_test(what_is_unlimited_is_kept_from_nobody),
        cmocka_unit_test(what_was_kept_for_such_a_job_is_offered_at_once),
        cmocka_unit_test(a_queue_that_is_emptied_lacks_nothing),
        cmocka_unit_test(the_end_of_a_queue_counts_ways_and_leaves_out_what_is_skipped),
        cmocka_unit_test(what_cannot_fit_is_not_looked_at_again),
        cmocka_unit_test(who_waits_for_what_others_hold_is_not_to_blame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
