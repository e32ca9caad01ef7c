/* Policies on workers under the virtual clock: event for event what the simulator says, for one job and for streams. */
#include "support.h"

#include "random.h"
#include "sample.h"

#include <clotho/log.h>
#include <clotho/stream.h>

#include <string.h>

#define SEEDS sample_size(SANITIZED ? 20 : 60, 2)
#define JOBS 4
#define PAUSE_NS 900

typedef struct late_state {
    int64_t next_ns;  /* nothing starts before */
    int64_t asked_ns; /* the timer that was asked for */
} late_state;

static size_t late_bytes(const clo_limits *limits, const void *argument)
{
    (void)limits;
    (void)argument;
    return sizeof(late_state);
}

/* Starts no two instances within PAUSE_NS: waits for its timer in between. */
static bool late_decide(void *memory, const clo_view *view, clo_choice *choice)
{
    late_state *state = memory;
    int64_t now_ns = clo_view_now_ns(view);

    if (now_ns < state->next_ns) {
        if (state->asked_ns == state->next_ns)
            return false;
        *choice = (clo_choice){CLO_NONE, CLO_NONE, 0, CLO_NONE, CLO_NONE, 0, state->next_ns};
        state->asked_ns = state->next_ns;
        return true;
    }
    for (clo_ready_stage at = clo_view_first_ready(view); at.job != CLO_NONE; at = clo_view_next_ready(view, at)) {
        const clo_live_job *job = clo_view_job(view, at.job);
        uint32_t executor = clo_view_free_for(view, at.job, at.stage);
        if (executor == CLO_NONE || job->running + job->committed >= job->limit)
            continue;
        *choice = (clo_choice){at.job, at.stage, 1, executor, CLO_NONE, 0, 0};
        state->next_ns = now_ns + PAUSE_NS;
        return true;
    }
    return false;
}

static const clo_policy late = {
    .size = sizeof(clo_policy), .name = "late", .state_bytes = late_bytes, .decide = late_decide};

static const clo_policy *policy_of(uint32_t index)
{
    return index == policies_count() ? &late : policy_at(index);
}

typedef struct scene {
    clo_graph *graphs[JOBS];
    clo_cost *costs[JOBS];
    clo_platform *platform;
} scene;

static scene make_scene(uint64_t seed)
{
    static const unsigned features[JOBS] = {RANDOM_ALL | RANDOM_UNTIMED, RANDOM_ALL | RANDOM_SMALL,
                                            RANDOM_STAGES | RANDOM_DUPLICABLE, RANDOM_SMALL | RANDOM_DEMANDS};
    scene s = {.platform = random_platform(seed, RANDOM_ALL)};

    for (int j = 0; j < JOBS; j++) {
        s.graphs[j] = random_graph(seed, features[j]);
        ok(clo_cost_create(s.graphs[j], s.platform, &s.costs[j]));
    }
    return s;
}

static void drop_scene(scene *s)
{
    for (int j = 0; j < JOBS; j++) {
        clo_cost_destroy(s->costs[j]);
        clo_graph_destroy(s->graphs[j]);
    }
    clo_platform_destroy(s->platform);
}

static clo_runtime *make_runtime(const scene *s)
{
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_runtime *runtime;

    config.clock = CLO_CLOCK_VIRTUAL;
    config.trace = config.unpinned = config.copy_always = 1;
    ok(clo_runtime_create(s->platform, &config, &runtime));
    return runtime;
}

static const clo_trace_event *find(const clo_trace *trace, const clo_trace_event *like)
{
    size_t count;
    const clo_trace_event *events = clo_trace_events(trace, &count);

    for (size_t i = 0; i < count; i++)
        if (events[i].task == like->task && events[i].instance == like->instance &&
            events[i].executor == like->executor && events[i].start_ns == like->start_ns)
            return &events[i];
    return NULL;
}

static void one_job_is_what_the_simulator_says(void **state)
{
    (void)state;
    uint64_t replicas = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        scene s = make_scene(seed);
        for (uint32_t p = 0; p <= policies_count(); p++) {
            clo_sim_config sim_config = CLO_SIM_CONFIG_INIT;
            clo_job_config job_config = CLO_JOB_CONFIG_INIT;
            clo_job_result wanted = CLO_JOB_RESULT_INIT, ran = CLO_JOB_RESULT_INIT;
            clo_trace *simulated, *happened;
            clo_job *job;
            uint64_t hash;
            size_t count, other;

            sim_config.policy = job_config.policy = policy_of(p);
            sim_config.execute = 1;
            ok(clo_simulate(s.costs[0], &sim_config, &wanted, &simulated, &hash));
            clo_runtime *runtime = make_runtime(&s);
            ok(clo_job_create(runtime, s.costs[0], &job_config, &job));
            ok(clo_job_submit(job));
            ok(clo_job_wait(job, &ran));
            ok(clo_job_trace(job, &happened));
            assert_int_equal(wanted.makespan_ns, ran.makespan_ns);
            assert_int_equal(wanted.decisions, ran.decisions);
            assert_int_equal(wanted.refused, ran.refused);
            assert_int_equal(wanted.duplicates_run, ran.duplicates_run);
            assert_int_equal(wanted.transfers, ran.transfers);
            assert_int_equal(wanted.transferred_bytes, ran.transferred_bytes);
            assert_int_equal(wanted.busy_ns, ran.busy_ns);
            assert_true(hash == clo_job_output_hash(job));
            const clo_trace_event *events = clo_trace_events(simulated, &count);
            (void)clo_trace_events(happened, &other);
            assert_int_equal(count, other);
            for (size_t i = 0; i < count; i++) {
                const clo_trace_event *same = find(happened, &events[i]);
                assert_non_null(same);
                assert_int_equal(same->finish_ns, events[i].finish_ns);
                assert_int_equal(same->sequence, events[i].sequence);
                assert_int_equal(same->is_replica, events[i].is_replica);
            }
            replicas += ran.duplicates_run;
            clo_trace_destroy(simulated);
            clo_trace_destroy(happened);
            clo_job_destroy(job);
            clo_runtime_destroy(runtime);
        }
        drop_scene(&s);
    }
    assert_true(replicas > 0);
}

static clo_workload_job row_of(const scene *s, uint64_t seed, uint32_t j)
{
    clo_workload_job row = CLO_WORKLOAD_JOB_INIT;

    row.graph = s->graphs[j];
    row.arrival_ns = (int64_t)(j * (seed % 3) * 4000);
    row.deadline_ns = (int64_t)(50000 + 1000 * j);
    row.weight = 1 + j;
    row.band = seed % 2 == 0 ? 0 : j % 2;
    row.group = j % 3;
    row.limit = j == 2 && clo_platform_executors(s->platform) >= 3 ? 3 : 0;
    return row;
}

static clo_log *simulate_stream(const scene *s, uint64_t seed, const clo_policy *policy, clo_stream_outcome *outcomes)
{
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    clo_stream_result result = CLO_STREAM_RESULT_INIT;
    clo_workload *workload;
    clo_log *log;

    ok(clo_workload_create("jobs", &workload));
    for (uint32_t j = 0; j < JOBS; j++) {
        clo_workload_job row = row_of(s, seed, j);
        ok(clo_workload_add(workload, &row));
    }
    ok(clo_log_create(NULL, 0, &log));
    config.policy = policy;
    config.outcomes = outcomes;
    config.log = log;
    ok(clo_stream_simulate(workload, s->platform, &config, &result));
    clo_workload_destroy(workload);
    return log;
}

/* Every end in the log is in the trace of its job, at its time. */
static void compare_with_log(const clo_log *log, const clo_stream_outcome *outcomes, clo_trace *const *traces)
{
    size_t count, ends[JOBS] = {0}, events;
    const clo_log_record *records = clo_log_records(log, &count);

    for (size_t i = 0; i < count; i++) {
        if (records[i].what != CLO_LOG_FINISH)
            continue;
        uint64_t job = records[i].job; /* arrivals rise */
        clo_trace_event like = {.task = records[i].stage,
                                .instance = records[i].instance,
                                .executor = records[i].executor,
                                .start_ns = records[i].value - outcomes[job].arrival_ns};
        const clo_trace_event *event = find(traces[job], &like);
        assert_non_null(event);
        assert_int_equal(event->finish_ns, records[i].now_ns - outcomes[job].arrival_ns);
        ends[job]++;
    }
    for (uint32_t j = 0; j < JOBS; j++) {
        (void)clo_trace_events(traces[j], &events);
        assert_int_equal(events, ends[j]);
    }
}

static void run_stream(const scene *s, uint64_t seed, const clo_policy *policy)
{
    clo_stream_outcome outcomes[JOBS];
    clo_log *log = simulate_stream(s, seed, policy, outcomes);
    clo_runtime *runtime = make_runtime(s);
    clo_trace *traces[JOBS];
    clo_job *jobs[JOBS];

    ok(clo_runtime_hold_time(runtime, 1));
    for (uint32_t j = 0; j < JOBS; j++) {
        clo_workload_job row = row_of(s, seed, j);
        clo_job_config config = CLO_JOB_CONFIG_INIT;
        config.policy = policy;
        config.arrival_ns = row.arrival_ns;
        config.deadline_ns = row.deadline_ns;
        config.weight = row.weight;
        config.band = row.band;
        config.group = row.group;
        config.limit = row.limit;
        ok(clo_job_create(runtime, s->costs[j], &config, &jobs[j]));
        ok(clo_job_submit(jobs[j]));
    }
    ok(clo_runtime_hold_time(runtime, 0));
    for (uint32_t j = 0; j < JOBS; j++) {
        clo_job_result result = CLO_JOB_RESULT_INIT;
        ok(clo_job_wait(jobs[j], &result));
        if (result.makespan_ns != outcomes[j].finish_ns - outcomes[j].arrival_ns)
            fail_msg("seed %u, policy %s, job %u: %lld ns, not %lld", (unsigned)seed, policy->name, j,
                     (long long)result.makespan_ns, (long long)(outcomes[j].finish_ns - outcomes[j].arrival_ns));
        assert_int_equal(result.executed, outcomes[j].executions);
        ok(clo_job_trace(jobs[j], &traces[j]));
    }
    compare_with_log(log, outcomes, traces);
    for (uint32_t j = 0; j < JOBS; j++) {
        clo_trace_destroy(traces[j]);
        clo_job_destroy(jobs[j]);
    }
    clo_log_destroy(log);
    clo_runtime_destroy(runtime);
}

static void a_stream_is_what_the_simulator_says(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        scene s = make_scene(seed);
        for (uint32_t p = 0; p <= policies_count(); p++)
            run_stream(&s, seed, policy_of(p));
        drop_scene(&s);
    }
}

static void jobs_are_cancelled_before_and_after_their_arrival(void **state)
{
    (void)state;
    scene s = make_scene(3);
    clo_runtime *runtime = make_runtime(&s);
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *job;

    config.policy = clo_policy_find("fifo");
    config.arrival_ns = 1000;
    ok(clo_job_create(runtime, s.costs[0], &config, &job));
    for (int round = 0; round < 60; round++) {
        ok(clo_runtime_hold_time(runtime, round % 2 == 0));
        ok(clo_job_submit(job));
        if (round % 3 != 0)
            clo_job_cancel(job);
        ok(clo_runtime_hold_time(runtime, 0));
        clo_status status = clo_job_wait(job, NULL);
        assert_true(status == CLO_OK || (round % 3 != 0 && status == CLO_ERR_CANCELLED));
        assert_true(status != CLO_OK || round % 6 != 2);
    }
    clo_job_destroy(job);
    clo_runtime_destroy(runtime);
    drop_scene(&s);
}

static void arrivals_and_held_time_are_for_the_virtual_clock(void **state)
{
    (void)state;
    scene s = make_scene(1);
    clo_runtime_config runtime_config = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_runtime *runtime;
    clo_job *job;

    runtime_config.unpinned = 1;
    ok(clo_runtime_create(s.platform, &runtime_config, &runtime));
    fails(CLO_ERR_UNSUPPORTED, "virtual clock only", clo_runtime_hold_time(runtime, 1));
    fails(CLO_ERR_ARGUMENT, "runtime", clo_runtime_hold_time(NULL, 1));
    config.policy = clo_policy_find("fifo");
    config.arrival_ns = 5;
    fails(CLO_ERR_UNSUPPORTED, "arrival_ns", clo_job_create(runtime, s.costs[0], &config, &job));
    config.arrival_ns = -1;
    fails(CLO_ERR_ARGUMENT, "negative", clo_job_create(runtime, s.costs[0], &config, &job));
    clo_runtime_destroy(runtime);
    drop_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_job_is_what_the_simulator_says),
        cmocka_unit_test(a_stream_is_what_the_simulator_says),
        cmocka_unit_test(jobs_are_cancelled_before_and_after_their_arrival),
        cmocka_unit_test(arrivals_and_held_time_are_for_the_virtual_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
