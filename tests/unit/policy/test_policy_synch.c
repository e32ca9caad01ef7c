/* The policies after SynchPack and what it compares with: orders worked out by hand, instances that are bound or wait in
 * queues, what interrupts what, and sums beside those of the planners. */
#include "sample.h"
#include "synch_case.h"

#include <clotho/stream.h>

#include <string.h>

#define SEEDS sample_size(SANITIZED ? 10 : 60, 1)

enum { JOBS_MAX = 64 };

typedef struct played {
    clo_stream_outcome outcomes[JOBS_MAX];
    clo_stream_result result;
    clo_log *log;
} played;

/* Simulates; nothing is refused, and all jobs end. `text`: the argument; NULL: none. */
static void play(const synch_case *c, const char *name, const char *text, played *out)
{
    const clo_policy *policy = clo_policy_find(name);
    const clo_log_policy row = {name, NULL};
    clo_log_header header = CLO_LOG_HEADER_INIT;
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    char argument[64] = {0};

    *out = (played){.result = CLO_STREAM_RESULT_INIT};
    header.policies = &row;
    header.policies_count = 1;
    header.clock = CLO_CLOCK_VIRTUAL;
    ok(clo_log_create(&header, 0, &out->log));
    assert_non_null(policy);
    assert_true(clo_workload_jobs(c->workload) <= JOBS_MAX && policy->argument_bytes <= sizeof argument);
    if (text != NULL)
        ok(policy->parse(text, argument));
    config.policy = policy;
    config.argument = text != NULL ? argument : NULL;
    config.outcomes = out->outcomes;
    config.log = out->log;
    if (clo_stream_simulate(c->workload, c->platform, &config, &out->result) != CLO_OK)
        fail_msg("%s: %s", name, clo_last_error());
    assert_int_equal(out->result.jobs_ended, clo_workload_jobs(c->workload));
    assert_int_equal(out->result.refused + out->result.fallbacks, 0);
}

static void end(played *p)
{
    clo_log_destroy(p->log);
}

static int64_t weighted(const synch_case *c, const played *p)
{
    int64_t sum = 0;

    for (uint32_t j = 0; j < clo_workload_jobs(c->workload); j++)
        sum += clo_workload_get(c->workload, j)->weight * p->outcomes[j].finish_ns;
    return sum;
}

/* Starts of the job on executors from `first` to `last`. */
static uint32_t starts_on(const played *p, uint64_t job, uint32_t first, uint32_t last)
{
    size_t count;
    const clo_log_record *record = clo_log_records(p->log, &count);
    uint32_t starts = 0;

    for (size_t i = 0; i < count; i++)
        starts += record[i].what == CLO_LOG_START && record[i].job == job && record[i].executor >= first &&
                  record[i].executor <= last;
    return starts;
}

static const char *const packs[] = {"synchpack-1", "synchpack-2", "synchpack-3"};

/* One executor is busy until 10; then wait 30 of weight 1, 20 of weight 2, 10 of weight 3 and 10 of weight 1. */
static void the_most_weight_for_its_load_goes_first(void **state)
{
    static const char *const policies[] = {"synchpack-1", "synchpack-2", "synchpack-3", "psrs", "tetris-weighted"};
    static const int64_t times[] = {10, 30, 20, 10, 10};
    static const uint32_t weights[] = {1, 1, 2, 3, 1};

    (void)state;
    for (uint32_t p = 0; p < 5; p++) {
        synch_case c;
        played run;
        synch_case_open(&c, 1, 1, 10);
        for (uint32_t j = 0; j < 5; j++)
            synch_case_add(&c, 1, 1, &times[j], j, weights[j]);
        play(&c, policies[p], NULL, &run);
        assert_int_equal(run.outcomes[3].start_ns, 10);
        assert_int_equal(run.outcomes[2].finish_ns <= run.outcomes[1].start_ns, 1);
        assert_int_equal(run.outcomes[4].finish_ns <= run.outcomes[1].start_ns, 1);
        end(&run);
        synch_case_close(&c);
    }
}

/* Eight instances of 10 on one executor; at 15 comes one of a heavy job. It starts when the second of them ends, and no
 * body is stopped: each takes its 10. */
static void a_heavy_job_interrupts_between_instances_and_stops_no_body(void **state)
{
    static const int64_t time[] = {10};

    (void)state;
    for (uint32_t p = 0; p < 3; p++) {
        synch_case c;
        played run;
        size_t count;
        synch_case_open(&c, 1, 1, 10);
        synch_case_add(&c, 8, 1, time, 0, 1);
        synch_case_add(&c, 1, 1, time, 15, 100);
        play(&c, packs[p], NULL, &run);
        assert_int_equal(run.outcomes[1].start_ns, 20);
        assert_int_equal(run.outcomes[1].finish_ns, 30);
        assert_int_equal(run.outcomes[0].finish_ns, 90);
        const clo_log_record *record = clo_log_records(run.log, &count);
        for (size_t i = 0; i < count; i++) {
            assert_int_not_equal(record[i].what, CLO_LOG_PREEMPT);
            if (record[i].what == CLO_LOG_FINISH)
                assert_int_equal(record[i].now_ns - record[i].value, 10);
        }
        end(&run);
        synch_case_close(&c);
    }
}

/* Two machines of one executor, where an instance takes 10 and 20. Of five, synchpack-3 binds to the first the 1st, 2nd
 * (20 on both: the first) and 4th (30 there, 40 here), and to the second the 3rd; then both have 40: the first again. The
 * bound ones stay, so the second machine runs one and is idle from 20 on. */
static void synchpack_3_binds_where_it_would_be_done_first(void **state)
{
    static const int64_t times[] = {10, 20};
    synch_case c;
    played run;

    (void)state;
    synch_case_open(&c, 2, 1, 10);
    synch_case_add(&c, 5, 1, times, 0, 1);
    play(&c, "synchpack-3", NULL, &run);
    assert_int_equal(starts_on(&run, 0, 0, 0), 4);
    assert_int_equal(starts_on(&run, 0, 1, 1), 1);
    assert_int_equal(run.outcomes[0].finish_ns, 40);
    end(&run);
    synch_case_close(&c);
}

/* The same with the queues: the first joins its fast machine, the next the common queue, which is shorter, and so on. The
 * slow machine serves the common one, and the fast one both. */
static void jsq_joins_the_shortest_and_serves_the_heavier_queue(void **state)
{
    static const int64_t times[] = {10, 20}, only[] = {10, -1};
    synch_case c;
    played run;

    (void)state;
    synch_case_open(&c, 2, 1, 10);
    synch_case_add(&c, 6, 1, times, 0, 1);
    synch_case_add(&c, 2, 1, only, 1, 1); /* can run on the first machine only */
    play(&c, "jsq-maxweight", NULL, &run);
    assert_int_equal(starts_on(&run, 0, 1, 1) > 0, 1);
    assert_int_equal(starts_on(&run, 1, 0, 0), 2);
    assert_int_equal(starts_on(&run, 0, 0, 1), 6);
    end(&run);
    synch_case_close(&c);
}

/* 40 jobs of 10 that need half of the machine come, one each 5, so that two always run; a job that needs all of it comes
 * at 1 and weighs nothing beside them. Under psrs it waits for 2.8 of its times, and for the bodies that run then. */
static void psrs_lets_a_wide_task_go_first_after_a_wait(void **state)
{
    static const int64_t time[] = {10};
    static const char *const policies[] = {"psrs", "synchpack-1", "tetris-weighted"};
    int64_t starts[3];

    (void)state;
    for (uint32_t p = 0; p < 3; p++) {
        synch_case c;
        played run;
        synch_case_open(&c, 1, 2, 10);
        synch_case_add(&c, 1, 5, time, 0, 100);
        synch_case_add(&c, 1, 10, time, 1, 1);
        for (uint32_t j = 1; j < 40; j++)
            synch_case_add(&c, 1, 5, time, (int64_t)j * 5, 100);
        play(&c, policies[p], NULL, &run);
        starts[p] = run.outcomes[1].start_ns;
        end(&run);
        synch_case_close(&c);
    }
    assert_in_range(starts[0], 1 + 28, 1 + 28 + 10 + 5);
    assert_int_equal(starts[1] >= 200, 1);
    assert_int_equal(starts[2] >= 200, 1);
}

/* 5 of 10 are held until 10 and 5 until 20; a job that needs 8 is planned for 20. At 12 comes a heavy one of 400 instances
 * that need 5 each: one starts at once, one at 20, and so on, two at a time. Nothing keeps room for the job that needs 8,
 * which is planned behind them now. */
static void what_was_planned_first_keeps_no_room_in_a_new_plan(void **state)
{
    static const int64_t time[] = {10}, twice[] = {20};
    synch_case c;
    played run;

    (void)state;
    synch_case_open(&c, 1, 2, 10);
    synch_case_add(&c, 1, 5, time, 0, 50);
    synch_case_add(&c, 1, 5, twice, 0, 50);
    synch_case_add(&c, 1, 8, time, 1, 3);
    synch_case_add(&c, 400, 5, time, 12, 100000);
    play(&c, "synchpack-2", NULL, &run);
    assert_int_equal(run.outcomes[3].finish_ns, 20 + 200 * 10);
    assert_true(run.outcomes[2].start_ns >= run.outcomes[3].finish_ns);
    end(&run);
    synch_case_close(&c);
}

/* On jobs that come over time, the sums of the policies are those of the planners that see the same, or near. */
static void sums_are_near_those_of_the_planners_online(void **state)
{
    static const struct {
        const char *name;
        int64_t most_percent;
    } rows[] = {{"synchpack-2", 103}, {"tetris-weighted", 102}, {"jsq-maxweight", 106}};

    (void)state;
    for (uint32_t r = 0; r < 3; r++) {
        int64_t of_policy = 0, of_planner = 0;
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            clo_synch_figures figures = CLO_SYNCH_FIGURES_INIT;
            clo_synch_config config = {.size = sizeof config, .planner = rows[r].name, .lp = CLO_SYNCH_LP_NEVER};
            clo_synch *plan = NULL;
            synch_case c;
            played run;
            synch_case_random(&c, seed, seed % 2 == 0, 400);
            ok(clo_workload_sort(c.workload));
            config.replan_ns = r == 0 ? 100 : 0;
            ok(clo_synch_create(c.workload, c.platform, &config, &plan));
            ok(clo_synch_measure(plan, &figures));
            play(&c, rows[r].name, NULL, &run);
            of_policy += weighted(&c, &run);
            of_planner += figures.weighted_completion;
            end(&run);
            clo_synch_destroy(plan);
            synch_case_close(&c);
        }
        if (of_policy > of_planner / 100 * rows[r].most_percent)
            fail_msg("%s: %lld, the planner %lld", rows[r].name, (long long)of_policy, (long long)of_planner);
    }
}

/* More orders are never worse when all is known, and one is enough. */
static void synchpack_2_takes_a_number_of_orders(void **state)
{
    static const char *const bad[] = {"", "0", "4097", "x", "8,", "-1", "99999999999"};
    const clo_policy *policy = clo_policy_find("synchpack-2");
    int64_t sums[2] = {0, 0};
    char argument[64];

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(policy->parse(bad[i], argument), CLO_ERR_ARGUMENT);
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        for (int many = 0; many < 2; many++) {
            synch_case c;
            played run;
            synch_case_random(&c, seed, false, 400);
            ok(clo_workload_sort(c.workload));
            play(&c, "synchpack-2", many ? "64" : "1", &run);
            sums[many] += weighted(&c, &run);
            end(&run);
            synch_case_close(&c);
        }
    assert_true(sums[1] <= sums[0]);
}

/* The weighted sum of the heavy job stops at the end of int64_t; the job behind it is in the plan all the same, its longer
 * stage first. */
static void a_sum_that_stops_leaves_no_job_out_of_the_plan(void **state)
{
    static const int64_t soon[] = {10}, heavy[] = {1000000000000};
    const clo_task stages[] = {{.work_ns = 1000, .instances = 1}, {.work_ns = 3000, .instances = 1}};
    clo_workload_job job = CLO_WORKLOAD_JOB_INIT;
    clo_graph *graph = NULL;
    synch_case c;
    played run;
    size_t count;

    (void)state;
    synch_case_open(&c, 1, 1, 10);
    synch_case_add(&c, 1, 1, soon, 0, 1);
    synch_case_add(&c, 1, 1, heavy, 1, UINT32_MAX);
    ok(clo_graph_create("light", &graph));
    for (uint32_t t = 0; t < 2; t++)
        ok(clo_graph_add_task(graph, &stages[t], NULL));
    ok(clo_graph_seal(graph));
    ok(clo_workload_adopt(c.workload, graph));
    job.graph = graph;
    job.arrival_ns = 1;
    ok(clo_workload_add(c.workload, &job));
    play(&c, "synchpack-2", NULL, &run);
    const clo_log_record *record = clo_log_records(run.log, &count);
    for (size_t i = 0, starts = 0; i < count; i++)
        if (record[i].what == CLO_LOG_START && ++starts == 3) {
            assert_int_equal(record[i].job, 2);
            assert_int_equal(record[i].stage, 1);
        }
    end(&run);
    synch_case_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_most_weight_for_its_load_goes_first),
        cmocka_unit_test(a_heavy_job_interrupts_between_instances_and_stops_no_body),
        cmocka_unit_test(synchpack_3_binds_where_it_would_be_done_first),
        cmocka_unit_test(jsq_joins_the_shortest_and_serves_the_heavier_queue),
        cmocka_unit_test(psrs_lets_a_wide_task_go_first_after_a_wait),
        cmocka_unit_test(what_was_planned_first_keeps_no_room_in_a_new_plan),
        cmocka_unit_test(sums_are_near_those_of_the_planners_online),
        cmocka_unit_test(synchpack_2_takes_a_number_of_orders),
        cmocka_unit_test(a_sum_that_stops_leaves_no_job_out_of_the_plan),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
