/* The log of a runtime: when it may begin, what ends it, and which policies it names. Each is of one thread; what a log
 * holds of many is in test_run_log.c. */
#include "support.h"

#include "trace/log.h"

#include <clotho/runtime.h>
#include <clotho/stream.h>
#include <string.h>

static int nothing(const clo_call *call)
{
    (void)call;
    return 0;
}

/* A runtime that writes a log, and a graph for it. */
typedef struct stage {
    clo_platform *platform;
    clo_graph *graph;
    clo_cost *cost;
    clo_runtime *runtime;
    clo_log *log;
} stage;

static stage begin(void)
{
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    stage s = {0};

    config.unpinned = 1;
    ok(clo_graph_create("log", &s.graph));
    for (uint32_t t = 0; t < 10; t++) {
        ok(clo_graph_add_task(s.graph, &(clo_task){.body = nothing, .work_ns = 1000}, NULL));
        if (t > 1)
            ok(clo_graph_add_edge(s.graph, t / 2, t, 8));
    }
    ok(clo_graph_seal(s.graph));
    ok(clo_platform_open("uniform:2", &s.platform));
    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    ok(clo_runtime_create(s.platform, &config, &s.runtime));
    ok(clo_log_create(NULL, 4000, &s.log));
    ok(clo_runtime_log_start(s.runtime, s.log));
    return s;
}

static void end(stage *s)
{
    clo_runtime_destroy(s->runtime);
    clo_log_destroy(s->log);
    clo_cost_destroy(s->cost);
    clo_graph_destroy(s->graph);
    clo_platform_destroy(s->platform);
}

static clo_status replay(const stage *s, const clo_log *log)
{
    const clo_log_header *about = clo_log_about(log);
    clo_replay_config config = CLO_REPLAY_CONFIG_INIT;
    clo_replay_policy policies[CLO_LOG_POLICIES_MAX] = {{0}};

    for (uint32_t p = 0; p < about->policies_count; p++)
        policies[p].policy = clo_policy_find(about->policies[p].name);
    config.platform = s->platform;
    config.costs = (const clo_cost *const *)&s->cost;
    config.costs_count = 1;
    config.policies = policies;
    config.policies_count = about->policies_count;
    return clo_stream_replay(&config, log, NULL);
}

static clo_job *job_of(const stage *s, const clo_policy *policy)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *job;

    config.policy = policy;
    ok(clo_job_create(s->runtime, s->cost, &config, &job));
    return job;
}

static void run_once(const stage *s, const clo_policy *policy)
{
    clo_job *job = job_of(s, policy);

    ok(clo_job_submit(job));
    ok(clo_job_wait(job, NULL));
    clo_job_destroy(job);
}

static void a_log_holds_one_policy_after_the_other_and_ends_with_its_scheduler(void **state)
{
    stage s = begin();
    size_t count, more;

    (void)state;
    run_once(&s, clo_policy_find("fifo"));
    (void)clo_log_records(s.log, &count); /* nobody writes without a job */
    run_once(&s, clo_policy_find("fifo"));
    (void)clo_log_records(s.log, &more);
    assert_true(more > count);
    run_once(&s, clo_policy_find("fair")); /* another scheduler */
    const clo_log_record *records = clo_log_records(s.log, &count);
    assert_int_equal(records[count - 1].what, CLO_LOG_END);
    ok(replay(&s, s.log));
    assert_int_equal(clo_log_about(s.log)->policies_count, 1);
    ok(clo_runtime_log_stop(s.runtime)); /* nothing to stop */
    fails(CLO_ERR_ARGUMENT, "records already", clo_runtime_log_start(s.runtime, s.log));
    end(&s);
}

static void a_log_starts_before_the_first_job_and_once(void **state)
{
    stage s = begin();
    clo_log *other;

    (void)state;
    ok(clo_log_create(NULL, 10, &other));
    fails(CLO_ERR_STATE, "has a log already", clo_runtime_log_start(s.runtime, other));
    clo_job *job = job_of(&s, clo_policy_find("fifo"));
    ok(clo_runtime_log_stop(s.runtime));
    fails(CLO_ERR_STATE, "1 jobs with a policy exist", clo_runtime_log_start(s.runtime, other));
    clo_job_destroy(job);
    ok(clo_runtime_log_start(s.runtime, other));
    run_once(&s, clo_policy_find("fifo"));
    ok(clo_runtime_log_stop(s.runtime));
    assert_true(clo_log_dropped(other) > 0);
    fails(CLO_ERR_STATE, "dropped", replay(&s, other));
    ok(replay(&s, s.log)); /* a run of nothing */
    clo_log_destroy(other);
    end(&s);
}

static void a_log_names_the_policy_of_its_header(void **state)
{
    stage s = begin();
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *job;

    (void)state;
    ok(clo_log_add_policy(s.log, "rank", NULL, NULL));
    config.policy = clo_policy_find("fifo");
    fails(CLO_ERR_ARGUMENT, "names the policy 'rank'", clo_job_create(s.runtime, s.cost, &config, &job));
    run_once(&s, clo_policy_find("rank"));
    ok(clo_runtime_log_stop(s.runtime));
    ok(replay(&s, s.log));
    config.tag = UINT64_MAX;
    fails(CLO_ERR_ARGUMENT, "tag", clo_job_create(s.runtime, s.cost, &config, &job));
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_holds_one_policy_after_the_other_and_ends_with_its_scheduler),
        cmocka_unit_test(a_log_starts_before_the_first_job_and_once),
        cmocka_unit_test(a_log_names_the_policy_of_its_header),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
