/* R1, R2, R4 and R9 with learning on: a thread reads the flight recorder and learns while jobs run. R3: the tests of
 * test_r03_every_call with learning; R10: no_float.py.
 * Mutations: clo_free(clo_allocate(1, 1)) in clo_profile_learn_records (R1); a fresh page that clo_recorder_add touches now
 * and then (R2); clo_view_step that returns true always (R4). R9: the last test ends with what must differ, decisions by the
 * times that were learned meanwhile. */
#include "support.h"

#include "fault.h"
#include "learner.h"
#include "page_faults.h"
#include "rt.h"

#include <clotho/sim.h>

#include <stdlib.h>

/* Once the entries are there, learning itself takes no memory either. */
static void nothing_is_allocated_while_jobs_are_learned_from(void **state)
{
    (void)state;
    for (int way = 0; way < RT_WAYS; way++)
        for (uint32_t every = 1; every <= 8; every += 7) {
            clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
            clo_job_config job = CLO_JOB_CONFIG_INIT;
            learner l = {.publishes = false};
            rt_scene s;

            runtime.recorder_events = LEARNER_RECORDS;
            runtime.recorder_every = every;
            rt_open(&s, way, &runtime, &job);
            ok(clo_job_submit(s.job));
            ok(clo_job_wait(s.job, NULL));
            learner_start(&l, s.runtime, s.cost, s.job);
            learner_watch(&l, s.job, 50, NULL); /* threads take what they take once */
            fault_fail_nth(0);
            learner_watch(&l, s.job, 300, NULL);
            assert_int_equal(fault_count(), 0);
            learner_stop(&l);
            rt_close(&s);
        }
}

static uint64_t faults_of_runs(int way, bool *is_locked)
{
    clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config job = CLO_JOB_CONFIG_INIT;
    learner l = {.publishes = true};
    rt_scene s;

    runtime.real_time = CLO_REAL_TIME_TRY;
    runtime.recorder_events = LEARNER_RECORDS;
    rt_open(&s, way, &runtime, &job);
    *is_locked = strstr(clo_runtime_report(s.runtime), "ok    memory is locked") != NULL;
    ok(clo_job_submit(s.job)); /* the bodies' own code and data */
    ok(clo_job_wait(s.job, NULL));
    learner_start(&l, s.runtime, s.cost, s.job);
    uint64_t before = faults_of(s.runtime);
    learner_watch(&l, s.job, 1000, NULL);
    uint64_t faults = faults_of(s.runtime) - before;
    learner_stop(&l);
    rt_close(&s);
    return faults;
}

static void workers_take_no_page_fault_while_others_learn_and_publish(void **state)
{
    bool is_locked;

    (void)state;
    for (int way = 0; way < RT_WAYS; way++) {
        uint64_t faults = 1;
        for (int series = 0; series < FAULT_SERIES_MAX && faults > 0; series++) {
            faults = faults_of_runs(way, &is_locked);
            if (SANITIZED)
                skip_because("a sanitizer touches memory of its own", "./dev test");
            if (!is_locked)
                skip_because("memory cannot be locked", "ulimit -l unlimited, or run as root");
        }
        assert_int_equal(faults, 0);
    }
}

/* All tasks are ready at once, and executor 0 can run one of fifty. */
static clo_graph *all_ready(void)
{
    clo_task task = {.body = rt_body, .work_ns = 1000};
    clo_graph *graph;

    ok(clo_graph_create("all ready", &graph));
    for (uint32_t t = 0; t < 400; t++) {
        task.executors_mask = t % 50 == 49 ? 0 : ~(uint64_t)1;
        ok(clo_graph_add_task(graph, &task, NULL));
    }
    ok(clo_graph_seal(graph));
    return graph;
}

static void decisions_stay_bounded_while_jobs_are_learned_from(void **state)
{
    enum { STEPS = 7 };
    clo_platform *platform = scene_platform(2, 0);
    clo_graph *graph = all_ready();
    clo_runtime_config runtime_config = CLO_RUNTIME_CONFIG_INIT;
    clo_cost *cost;

    (void)state;
    runtime_config.unpinned = 1;
    runtime_config.recorder_events = LEARNER_RECORDS;
    ok(clo_cost_create(graph, platform, &cost));
    for (uint32_t p = 0; p < policies_count(); p++) {
        clo_job_config config = CLO_JOB_CONFIG_INIT;
        clo_job_result result = CLO_JOB_RESULT_INIT;
        learner l = {.publishes = true};
        clo_runtime *runtime;
        clo_job *job;

        ok(clo_runtime_create(platform, &runtime_config, &runtime));
        config.policy = policy_at(p);
        config.steps_max = STEPS;
        ok(clo_job_create(runtime, cost, &config, &job));
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, NULL));
        learner_start(&l, runtime, cost, job);
        learner_watch(&l, job, 3, &result);
        learner_stop(&l);
        assert_true(result.decisions > 0);
        assert_true(result.decision_steps <= STEPS);
        assert_int_equal(result.refused, 0);
        clo_job_destroy(job);
        clo_runtime_destroy(runtime);
    }
    clo_cost_destroy(cost);
    clo_graph_destroy(graph);
    clo_platform_destroy(platform);
}

/* A measured cost of the scene: of the snapshot after some runs. */
static clo_cost *measure(const rt_scene *s, const clo_profile *profile, uint32_t *measured)
{
    clo_measured found = CLO_MEASURED_INIT;
    clo_cost *cost;

    ok(clo_cost_create_measured(s->graph, s->platform, profile, &found, &cost));
    *measured = found.tasks_by[CLO_TIME_MEASURED];
    return cost;
}

/* Placements of HEFT's plan, and events of a run under a policy in virtual time, of real workers. */
static uint64_t decide(const rt_scene *s, const clo_cost *cost)
{
    clo_runtime_config runtime_config = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    uint64_t hash = 0xcbf29ce484222325u;
    clo_runtime *runtime;
    clo_trace *trace;
    clo_plan *plan;
    clo_job *job;
    size_t count;

    ok(clo_plan_create(cost, NULL, &plan));
    const clo_placement *placements = clo_plan_placements(plan, &count);
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ placements[i].task ^ (uint64_t)placements[i].executor << 32 ^ (uint64_t)placements[i].start_ns) *
               0x100000001b3u;
    clo_plan_destroy(plan);
    runtime_config.clock = CLO_CLOCK_VIRTUAL;
    runtime_config.trace = 1;
    config.policy = clo_policy_find("rank");
    ok(clo_runtime_create(s->platform, &runtime_config, &runtime));
    ok(clo_job_create(runtime, cost, &config, &job));
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, NULL));
    ok(clo_job_trace(job, &trace));
    const clo_trace_event *events = clo_trace_events(trace, &count);
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ events[i].task ^ (uint64_t)events[i].executor << 32 ^ (uint64_t)events[i].finish_ns) *
               0x100000001b3u;
    clo_trace_destroy(trace);
    clo_job_destroy(job);
    clo_runtime_destroy(runtime);
    return hash;
}

static void decisions_of_a_snapshot_are_the_same_whatever_is_learned_meanwhile(void **state)
{
    clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config job = CLO_JOB_CONFIG_INIT;
    learner l = {.publishes = true};
    uint32_t measured = 0;
    rt_scene s;

    (void)state;
    runtime.recorder_events = LEARNER_RECORDS;
    rt_open(&s, RT_STEAL, &runtime, &job);
    ok(clo_job_submit(s.job));
    ok(clo_job_wait(s.job, NULL));
    learner_start(&l, s.runtime, s.cost, s.job);
    learner_watch(&l, s.job, 20, NULL);
    clo_cost *cost = measure(&s, l.profile, &measured);
    assert_int_equal(measured, RT_TASKS);
    uint64_t first = decide(&s, cost);
    for (int again = 0; again < 20; again++) {
        learner_watch(&l, s.job, 20, NULL);
        assert_true(decide(&s, cost) == first);
    }
    /* Other times: what is decided by them is another thing. */
    const clo_record slow = {
        .job = clo_job_id(s.job), .task = 0, .finish_ns = INT64_C(1000000) + 1000 * clo_cost_execution_ns(cost, 0, 0)};
    for (int i = 0; i < 1000; i++)
        ok(clo_profile_learn_records(l.profile, s.cost, clo_job_id(s.job), &slow, 1, NULL));
    ok(clo_profile_publish(l.profile));
    assert_true(decide(&s, cost) == first);
    clo_cost *other = measure(&s, l.profile, &measured);
    assert_true(decide(&s, other) != first);
    clo_cost_destroy(other);
    clo_cost_destroy(cost);
    learner_stop(&l);
    rt_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_allocated_while_jobs_are_learned_from),
        cmocka_unit_test(workers_take_no_page_fault_while_others_learn_and_publish),
        cmocka_unit_test(decisions_stay_bounded_while_jobs_are_learned_from),
        cmocka_unit_test(decisions_of_a_snapshot_are_the_same_whatever_is_learned_meanwhile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
