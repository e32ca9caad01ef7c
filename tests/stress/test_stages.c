/* Stages of many instances on real workers: every instance runs once, after all of the stage before it, and reads what
 * that has written; also when a run is cut in the middle of a stage and the next one starts. The edges between them
 * cost the sum of the instances, not the product. */
#define _POSIX_C_SOURCE 200809L
#include "running.h"

#include <clotho/planner.h>
#include <time.h>

enum { WIDTH = SANITIZED ? 700 : 5000, STAGES = 4, HUGE = 20000 };

/* Of the run in progress. */
static _Atomic uint32_t calls_of[STAGES], too_early, wrong;
static _Atomic uint8_t was_called[2 * WIDTH + 2];

/* Body to end the run from, and how. */
static struct {
    clo_job *job;
    uint32_t task, instance;
    enum { RUNS, CANCELS, FAILS } how;
} ending;

static uint32_t width_of(uint32_t task)
{
    return task == 0 || task == STAGES - 1 ? 1 : WIDTH;
}

/* Every instance of the stage before must have been here. */
static void note_call(const clo_call *call)
{
    uint32_t number = call->task == 0 ? 0 : 1 + (call->task - 1) * WIDTH + call->instance;

    if (atomic_fetch_add_explicit(&was_called[number], 1, memory_order_relaxed) != 0)
        atomic_fetch_add(&wrong, 1);
    if (call->task > 0 &&
        atomic_load_explicit(&calls_of[call->task - 1], memory_order_relaxed) != width_of(call->task - 1))
        atomic_fetch_add(&too_early, 1);
    atomic_fetch_add_explicit(&calls_of[call->task], 1, memory_order_relaxed);
}

static int end_here(const clo_call *call)
{
    if (ending.how == RUNS || call->task != ending.task || call->instance != ending.instance)
        return 0;
    if (ending.how == CANCELS)
        clo_job_cancel(ending.job);
    return ending.how == FAILS ? 7 : 0;
}

static int count_body(const clo_call *call)
{
    note_call(call);
    return end_here(call);
}

/* The output is the number of the instance; the sum of the inputs must be that of the whole stage before. */
static int sum_body(const clo_call *call)
{
    uint64_t sum = 0, sources = call->task == 0 ? 0 : width_of(call->task - 1);

    for (uint32_t i = 0; i < call->inputs_count; i++) {
        uint64_t value;
        memcpy(&value, call->inputs[i], sizeof value);
        sum += value;
        if (value != i || call->inputs_bytes[i] != sizeof value)
            atomic_fetch_add(&wrong, 1);
    }
    if (call->inputs_count != sources || (sources > 0 && sum != sources * (sources - 1) / 2))
        atomic_fetch_add(&wrong, 1);
    memcpy(call->output, &(uint64_t){call->instance}, sizeof(uint64_t));
    return count_body(call);
}

/* 1 x WIDTH x WIDTH x 1. */
static clo_graph *stages(uint64_t output_bytes)
{
    clo_graph *graph;

    ok(clo_graph_create("stages", &graph));
    for (uint32_t t = 0; t < STAGES; t++) {
        clo_task task = {.body = output_bytes > 0 ? sum_body : count_body, .work_ns = 1000, .instances = width_of(t)};
        task.output_bytes = output_bytes;
        ok(clo_graph_add_task(graph, &task, NULL));
        if (t > 0)
            ok(clo_graph_add_edge(graph, t - 1, t, output_bytes * width_of(t - 1) * width_of(t)));
    }
    ok(clo_graph_seal(graph));
    return graph;
}

typedef struct manner {
    const char *policy;
    bool is_planned, has_outputs, has_links, copies;
    clo_clock clock;
} manner;

static const manner ways[] = {
    {NULL, false, false, false, false, CLO_CLOCK_REAL},   {NULL, true, false, false, false, CLO_CLOCK_REAL},
    {"fifo", false, false, false, false, CLO_CLOCK_REAL}, {NULL, false, true, false, false, CLO_CLOCK_REAL},
    {NULL, true, true, false, false, CLO_CLOCK_REAL},     {"eft", false, true, true, true, CLO_CLOCK_REAL},
    {NULL, false, true, true, true, CLO_CLOCK_REAL},      {NULL, true, true, true, true, CLO_CLOCK_REAL},
    {NULL, true, true, true, false, CLO_CLOCK_VIRTUAL},
};
enum { WAYS = sizeof ways / sizeof ways[0] };

typedef struct running {
    fixture f;
    clo_plan *plan;
    clo_job *job;
} running;

static running open_way(const manner *way)
{
    running r = {.f = {.platform = scene_platform(4, way->has_links), .graph = stages(way->has_outputs ? 8 : 0)}};
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_plan_config planning = {.size = sizeof planning, .planner = &clo_planner_heft};

    config.unpinned = 1;
    config.clock = way->clock;
    config.copy_always = way->copies;
    ok(clo_cost_create(r.f.graph, r.f.platform, &r.f.cost));
    ok(clo_runtime_create(r.f.platform, &config, &r.f.runtime));
    if (way->is_planned)
        ok(clo_plan_create(r.f.cost, &planning, &r.plan));
    r.job = make_job(&r.f, clo_policy_find(way->policy), r.plan);
    ending.job = r.job;
    return r;
}

static void close_way(running *r)
{
    clo_job_destroy(r->job);
    clo_plan_destroy(r->plan);
    stop(&r->f);
}

static clo_job_result run(const running *r, clo_status want)
{
    clo_job_result result = CLO_JOB_RESULT_INIT;

    for (uint32_t t = 0; t < STAGES; t++)
        atomic_store(&calls_of[t], 0);
    for (uint32_t i = 0; i < sizeof was_called; i++)
        atomic_store_explicit(&was_called[i], 0, memory_order_relaxed);
    ok(clo_job_submit(r->job));
    clo_status status = clo_job_wait(r->job, &result);
    if (status != want)
        fail_msg("%s: %s", clo_status_text(status), clo_last_error());
    assert_int_equal(atomic_load(&wrong), 0);
    assert_int_equal(atomic_load(&too_early), 0);
    return result;
}

static void run_whole(const running *r, const manner *way)
{
    clo_job_result result = run(r, CLO_OK);

    for (uint32_t t = 0; t < STAGES; t++)
        assert_int_equal(atomic_load(&calls_of[t]), width_of(t));
    assert_int_equal(result.executed, 2 * WIDTH + 2);
    if (!way->has_links)
        assert_int_equal(result.transfers, 0);
    if (way->copies) /* nothing is copied twice, or into the memory where it is */
        assert_true(result.copied_bytes % 8 == 0 && result.copied_bytes <= 8 * 3 * (2 * WIDTH + 1));
}

static void every_instance_runs_once_after_the_stage_before_and_reads_all_of_it(void **state)
{
    (void)state;
    ending.how = RUNS;
    for (uint32_t w = 0; w < WAYS; w++) {
        running r = open_way(&ways[w]);
        for (int i = 0; i < 4; i++)
            run_whole(&r, &ways[w]);
        close_way(&r);
    }
}

/* In the middle of the first wide stage, at its last instance, in the middle of the second. */
static void a_run_that_is_cut_in_a_stage_leaves_whole_counters(void **state)
{
    (void)state;
    static const struct {
        uint32_t task, instance;
    } places[] = {{0, 0}, {1, WIDTH / 2}, {1, WIDTH - 1}, {2, WIDTH / 3}};

    for (uint32_t w = 0; w < WAYS; w++) {
        running r = open_way(&ways[w]);
        for (size_t p = 0; p < sizeof places / sizeof places[0]; p++) {
            ending.task = places[p].task;
            ending.instance = places[p].instance;
            ending.how = CANCELS;
            clo_job_result result = run(&r, CLO_ERR_CANCELLED);
            assert_true(result.executed < 2 * WIDTH + 2);
            ending.how = FAILS;
            result = run(&r, CLO_ERR_TASK);
            assert_int_equal(result.failed_task, places[p].task);
            assert_int_equal(result.failed_code, 7);
            ending.how = RUNS;
            run_whole(&r, &ways[w]);
        }
        close_way(&r);
    }
}

/* Of all threads of this process: what other programs do is not in it. */
static int64_t cpu_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Three runs and a simulation; returns the bytes of the job. */
static size_t run_huge(const fixture *f, const clo_policy *policy)
{
    clo_job_config config = {.size = sizeof config, .policy = policy};
    clo_sim_config sim = {.size = sizeof sim, .policy = policy};
    size_t bytes;

    ok(clo_job_memory_bytes(f->runtime, f->cost, &config, &bytes));
    assert_true(bytes < 40ull << 20); /* of which 5 * 40 000 lines are outputs and their copies */
    clo_job *job = make_job(f, policy, NULL);
    atomic_store(&calls, 0);
    for (uint32_t i = 1; i <= 3; i++) {
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, NULL));
        assert_int_equal(atomic_load(&calls), i * 2 * HUGE);
    }
    clo_job_destroy(job);
    ok(clo_simulate(f->cost, &sim, NULL, NULL, NULL));
    return bytes;
}

/* Nine runs and three simulations of 400 million pairs. */
static int64_t huge_ms(void)
{
    fixture f = {.platform = scene_platform(4, 1)};
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    int64_t begun_ms = cpu_ms();
    size_t bytes = 0;

    ok(clo_graph_create("huge", &f.graph));
    for (uint32_t t = 0; t < 2; t++) {
        clo_task task = {.body = count_call, .work_ns = 1000, .instances = HUGE, .output_bytes = 8};
        ok(clo_graph_add_task(f.graph, &task, NULL));
    }
    ok(clo_graph_add_edge(f.graph, 0, 1, 8ull * HUGE * HUGE));
    ok(clo_graph_seal(f.graph));
    ok(clo_cost_create(f.graph, f.platform, &f.cost));
    config.unpinned = config.copy_always = 1;
    ok(clo_runtime_create(f.platform, &config, &f.runtime));
    static const char *const policies[] = {NULL, "fifo", "eft"};
    for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++)
        bytes = run_huge(&f, clo_policy_find(policies[p]));
    int64_t took_ms = cpu_ms() - begun_ms;
    print_message("%lld ms of CPU time for nine runs and three simulations, %zu bytes a job\n", (long long)took_ms,
                  bytes);
    stop(&f);
    return took_ms;
}

static void a_stage_of_20000_after_one_of_20000_costs_as_much_as_40000_tasks(void **state)
{
    enum { MOST_MS = 4000, TURNS_MAX = 30 }; /* 12 times all pairs would be 5 billion steps at least */
    int64_t took_ms = INT64_MAX;

    (void)state;
    /* CPU time, too, is longer on a busy machine; not each time. */
    for (int turn = 0; turn < TURNS_MAX && took_ms >= MOST_MS; turn++)
        took_ms = SANITIZED ? (huge_ms(), 0) : huge_ms();
    assert_true(took_ms < MOST_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_instance_runs_once_after_the_stage_before_and_reads_all_of_it),
        cmocka_unit_test(a_run_that_is_cut_in_a_stage_leaves_whole_counters),
        cmocka_unit_test(a_stage_of_20000_after_one_of_20000_costs_as_much_as_40000_tasks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
