/* R4, bounded turns: an input of the scheduler (a completion; a piece of an arrival, of a cancellation, of a swap) with
 * all that follows costs what it changes, plus a bounded number of bounded decisions. Counted in steps
 * (clo_job_result.turn_steps), so the same on every machine: one completion with 10 000 successors, 10 000 jobs that
 * wait; the arrival of 100 000 tasks, their cancellation, and a new policy while they wait, which come in pieces of
 * CLO_LOG_PIECE. The times that are printed are of this machine, and nothing depends on them.
 * Mutation: let release_stage of engine/scheduler/scheduler.c look at every executor once more for each stage (the
 * first test), let piece_of or leave_piece of engine/scheduler/enter.c or show_piece of engine/scheduler/show.c go
 * through all that is left, or let clo_choose walk over the live jobs, counting steps (the second). */
#include "support.h"

#include "base/clock.h"
#include "engine/scheduler/scheduler.h"
#include "scene.h"

#include <clotho/stream.h>

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* Under sanitizers a tenth. The chain that every policy schedules to its end has 20 000 tasks: most bounds are below 7000
 * steps, so a turn that goes through all of them exceeds them. The bounds of policies that fill queues are above 100 000,
 * which the arrival is for. */
enum {
    EXECUTORS = 3,
    STEPS = 64,
    LESS = SANITIZED ? 10 : 1,
    SUCCESSORS = 10000 / LESS,
    TASKS = 100000 / LESS,
    OF_A_CHAIN = 20000 / LESS,
    JOBS = 10000 / LESS
};

/* Of one decision: the policy's steps and the rule's, executors and inputs that are looked at, calls. */
enum { DECISION = 2 * STEPS * (1 + EXECUTORS) + 4 * EXECUTORS + 16 };

/* What an input may cost that changes so many stages. Decisions: one for each executor and band; where the policy fills
 * queues, one for each of their entries too (64 for each executor). */
static uint64_t bound(uint64_t changed, const clo_policy *policy)
{
    uint64_t decisions = EXECUTORS + CLO_BANDS_MAX + (policy->commits ? 64 * EXECUTORS : 0);

    return 3 * changed + decisions * DECISION;
}

static int do_nothing(const clo_call *call)
{
    (void)call;
    return 0;
}

/* `tasks` of them: all behind the first (a star), each behind the one before (a chain), or behind nobody. */
enum { STAR, CHAIN, FREE };

static clo_graph *graph_of(uint32_t tasks, int shape)
{
    clo_task task = {.body = do_nothing, .work_ns = 1000};
    clo_graph *graph;

    ok(clo_graph_create("turns", &graph));
    for (uint32_t t = 0; t < tasks; t++) {
        ok(clo_graph_add_task(graph, &task, NULL));
        if (t > 0 && shape != FREE)
            ok(clo_graph_add_edge(graph, shape == STAR ? 0 : t - 1, t, 0));
    }
    ok(clo_graph_seal(graph));
    return graph;
}

/* 0: the policy refuses a job with so many tasks. */
static uint64_t turn_steps(const clo_cost *cost, const clo_policy *policy)
{
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;

    config.policy = policy;
    config.steps_max = STEPS;
    clo_status status = clo_simulate(cost, &config, &result, NULL, NULL);
    if (status == CLO_ERR_LIMIT)
        return 0;
    ok(status);
    assert_int_equal(result.refused, 0);
    return result.turn_steps;
}

static void a_turn_costs_what_it_changes(void **state)
{
    static const struct {
        const char *what;
        uint32_t tasks, changed;
        int shape;
    } cases[] = {{"a completion with 10 000 successors", SUCCESSORS + 1, SUCCESSORS, STAR},
                 {"a chain of 20 000", OF_A_CHAIN, 1, CHAIN},
                 {"an arrival of 100 000", TASKS, CLO_LOG_PIECE, FREE}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        clo_graph *graph = graph_of(cases[i].tasks, cases[i].shape);
        clo_platform *platform = scene_platform(EXECUTORS, 0);
        clo_cost *cost;
        ok(clo_cost_create(graph, platform, &cost));
        for (uint32_t p = 0; policy_at(p) != NULL; p++) {
            uint64_t steps = turn_steps(cost, policy_at(p));
            if (steps == 0 && strcmp(policy_at(p)->name, "lachesis") == 0)
                continue;
            print_message("%-40s %-8s %7llu steps, at most %llu\n", cases[i].what, policy_at(p)->name,
                          (unsigned long long)steps, (unsigned long long)bound(cases[i].changed, policy_at(p)));
            assert_true(steps >= cases[i].changed); /* it is counted */
            assert_true(steps <= bound(cases[i].changed, policy_at(p)));
        }
        clo_cost_destroy(cost);
        clo_platform_destroy(platform);
        clo_graph_destroy(graph);
    }
}

static uint64_t stream_steps(const clo_graph *graph, const clo_platform *platform, const clo_policy *policy,
                             uint32_t jobs)
{
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    clo_stream_result result = CLO_STREAM_RESULT_INIT;
    clo_workload *workload;

    ok(clo_workload_create("waiting", &workload));
    for (uint32_t j = 0; j < jobs; j++) {
        clo_workload_job job = CLO_WORKLOAD_JOB_INIT;
        job.graph = graph;
        job.band = j % 3;
        ok(clo_workload_add(workload, &job));
    }
    config.policy = policy;
    config.steps_max = STEPS;
    ok(clo_stream_simulate(workload, platform, &config, &result));
    assert_int_equal(result.jobs_ended, jobs);
    assert_int_equal(result.jobs_peak, jobs);
    clo_workload_destroy(workload);
    return result.turn_steps;
}

static void a_turn_costs_no_more_where_ten_thousand_jobs_wait(void **state)
{
    clo_graph *graph = graph_of(5, STAR);
    clo_platform *platform = scene_platform(EXECUTORS, 0);

    (void)state;
    for (uint32_t p = 0; policy_at(p) != NULL; p++) {
        uint64_t few = stream_steps(graph, platform, policy_at(p), 100);
        uint64_t many = stream_steps(graph, platform, policy_at(p), JOBS);
        print_message("%-8s a turn takes %llu steps with 100 jobs, %llu with 10 000\n", policy_at(p)->name,
                      (unsigned long long)few, (unsigned long long)many);
        assert_true(many <= bound(4, policy_at(p)));
    }
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
}

/* The scheduler alone, without a driver: what an input takes, in time and in steps. */
typedef struct bare {
    clo_platform *platform;
    clo_graph *graph;
    clo_cost *cost;
    clo_arena arena;
    clo_scheduler *scheduler;
    clo_scheduler_job *job;
    clo_order orders[EXECUTORS];
    uint32_t orders_count;
} bare;

static void open_bare(bare *b, uint32_t tasks, int shape)
{
    clo_policy_use use = {.policy = clo_policy_find("fifo")};
    clo_scheduler_job_config of_job = {.deadline_ns = CLO_TIME_NEVER, .weight = 1, .limit = CLO_NONE};

    *b = (bare){.platform = scene_platform(EXECUTORS, 0), .graph = graph_of(tasks, shape)};
    clo_arena_open(&b->arena, NULL, 0);
    ok(clo_cost_create(b->graph, b->platform, &b->cost));
    clo_scheduler_config config = {.platform = b->platform, .policy = use.policy, .jobs_max = 2, .steps_max = STEPS};
    ok(clo_scheduler_create(&config, &b->arena, &b->scheduler));
    ok(clo_scheduler_job_create(b->cost, &of_job, &use, &b->arena, &b->job));
}

static void close_bare(bare *b)
{
    clo_arena_close(&b->arena);
    clo_cost_destroy(b->cost);
    clo_graph_destroy(b->graph);
    clo_platform_destroy(b->platform);
}

/* Takes the orders of an input that began at `begun_ns`. */
static void take_orders(bare *b, const char *what, int64_t begun_ns)
{
    clo_order order;

    while (clo_scheduler_next(b->scheduler, &order)) {
        assert_true(b->orders_count < EXECUTORS);
        b->orders[b->orders_count++] = order;
    }
    print_message("%-40s %8.1f us, most steps of a turn so far %u\n", what,
                  (double)(clo_clock_ns() - begun_ns) / 1000.0, clo_scheduler_counts_of(b->scheduler)->most_turn_steps);
}

static void cancelling_a_job_costs_what_is_ready_of_it(void **state)
{
    bare b;

    (void)state;
    open_bare(&b, TASKS, FREE);
    int64_t begun_ns = clo_clock_ns();
    ok(clo_scheduler_arrive(b.scheduler, b.job, 0));
    take_orders(&b, "an arrival of 100 000, first piece", begun_ns);
    clo_scheduler_go_on_to_end(b.scheduler);
    take_orders(&b, "an arrival of 100 000", begun_ns);
    assert_true(clo_scheduler_counts_of(b.scheduler)->most_turn_steps <= bound(CLO_LOG_PIECE, clo_policy_find("fifo")));
    begun_ns = clo_clock_ns();
    clo_scheduler_cancel(b.scheduler, b.job, false, 1);
    take_orders(&b, "a cancellation of 100 000, first piece", begun_ns);
    clo_scheduler_go_on_to_end(b.scheduler);
    take_orders(&b, "a cancellation of 100 000", begun_ns);
    assert_true(clo_scheduler_counts_of(b.scheduler)->most_turn_steps <= bound(CLO_LOG_PIECE, clo_policy_find("fifo")));
    assert_true(b.orders_count == EXECUTORS);
    for (uint32_t i = 0; i < EXECUTORS; i++)
        clo_scheduler_finish(b.scheduler, b.orders[i].executor, 0, 2);
    assert_ptr_equal(clo_scheduler_ended(b.scheduler), b.job);
    close_bare(&b);

    open_bare(&b, SUCCESSORS + 1, STAR);
    ok(clo_scheduler_arrive(b.scheduler, b.job, 0));
    take_orders(&b, "an arrival of one", clo_clock_ns());
    begun_ns = clo_clock_ns();
    clo_scheduler_finish(b.scheduler, b.orders[--b.orders_count].executor, 0, 1);
    take_orders(&b, "a completion with 10 000 successors", begun_ns);
    assert_true(clo_scheduler_counts_of(b.scheduler)->most_turn_steps <= bound(SUCCESSORS, clo_policy_find("fifo")));
    close_bare(&b);
}

static void a_new_policy_is_shown_a_piece_at_a_time(void **state)
{
    static const char *const names[] = {"fair", "eft"}; /* eft wants other stages listed than fifo does */
    bare b;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        clo_policy_use use = {.policy = clo_policy_find(names[i])};
        open_bare(&b, TASKS, FREE);
        ok(clo_scheduler_arrive(b.scheduler, b.job, 0));
        clo_scheduler_go_on_to_end(b.scheduler);
        take_orders(&b, "an arrival of 100 000", clo_clock_ns());
        use.bytes = clo_policy_state_bytes(&use, clo_view_limits(b.scheduler));
        use.state = clo_arena_take(&b.arena, use.bytes, 1);
        assert_non_null(use.state);
        ok(clo_scheduler_job_prepare(b.job, &use, 1, &b.arena));
        int64_t begun_ns = clo_clock_ns();
        ok(clo_scheduler_swap(b.scheduler, &use, 1, 0));
        take_orders(&b, "a swap with 100 000, first piece", begun_ns);
        clo_scheduler_go_on_to_end(b.scheduler);
        take_orders(&b, "a swap with 100 000", begun_ns);
        assert_true(clo_scheduler_counts_of(b.scheduler)->most_turn_steps <=
                    bound(CLO_LOG_PIECE, clo_policy_find(names[i])));
        close_bare(&b);
    }
}

/* The same figure of a real run, where workers and clients take the turn. */
static void a_real_run_counts_the_steps_of_its_turns(void **state)
{
    clo_graph *graph = graph_of(SUCCESSORS + 1, STAR);
    clo_platform *platform = scene_platform(2, 0);
    clo_runtime_config runtime_config = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_runtime *runtime;
    clo_cost *cost;
    clo_job *job;

    (void)state;
    runtime_config.unpinned = 1;
    ok(clo_cost_create(graph, platform, &cost));
    ok(clo_runtime_create(platform, &runtime_config, &runtime));
    config.policy = clo_policy_find("fair");
    config.steps_max = STEPS;
    ok(clo_job_create(runtime, cost, &config, &job));
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, &result));
    assert_true(result.turn_steps >= SUCCESSORS && result.turn_steps <= bound(SUCCESSORS, config.policy));
    clo_runtime_destroy(runtime);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_turn_costs_what_it_changes),
        cmocka_unit_test(a_turn_costs_no_more_where_ten_thousand_jobs_wait),
        cmocka_unit_test(cancelling_a_job_costs_what_is_ready_of_it),
        cmocka_unit_test(a_new_policy_is_shown_a_piece_at_a_time),
        cmocka_unit_test(a_real_run_counts_the_steps_of_its_turns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
