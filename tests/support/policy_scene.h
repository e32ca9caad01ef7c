/* policy_scene.h - small streams on small platforms, and what a policy makes of them: when each job and each of its
 * instances starts. */
#ifndef CLO_TEST_POLICY_SCENE_H
#define CLO_TEST_POLICY_SCENE_H

#include "support.h"

#include <clotho/environment.h>
#include <clotho/log.h>
#include <clotho/stream.h>
#include <stdio.h>
#include <string.h>

enum { SCENE_JOBS_MAX = 64, SCENE_EXECUTORS_MAX = 32, SCENE_RECORDS = 20000 };

typedef struct policy_scene {
    clo_platform_desc desc;
    clo_executor executors[SCENE_EXECUTORS_MAX];
    int64_t capacities[4 * CLO_RESOURCES_MAX];
    int64_t latency_ns[SCENE_EXECUTORS_MAX * SCENE_EXECUTORS_MAX];
    clo_platform *platform;
    clo_workload *workload;
    const clo_environment *environment; /* NULL: the costs give the times */
    uint32_t jobs;
    clo_stream_outcome outcomes[SCENE_JOBS_MAX];
    clo_stream_result result;
    clo_log *log;
} policy_scene;

/* Equal executors on one machine; what a test wants else it sets before the first run. */
static inline void scene_open(policy_scene *s, uint32_t executors)
{
    *s = (policy_scene){.desc = CLO_PLATFORM_DESC_INIT};
    for (uint32_t e = 0; e < executors; e++)
        s->executors[e] = (clo_executor){0, 0, 0, -1, {CLO_SPEED_ONE, CLO_SPEED_ONE, CLO_SPEED_ONE, CLO_SPEED_ONE}};
    memset(s->capacities, 0xff, sizeof s->capacities);
    s->desc.executors_count = executors;
    s->desc.executors = s->executors;
    s->desc.kinds_count = 1;
    s->desc.machines_count = 1;
    s->desc.capacities = s->capacities;
    ok(clo_workload_create("scene", &s->workload));
}

static inline clo_graph *scene_graph(policy_scene *s, const clo_task *tasks, uint32_t count)
{
    clo_graph *graph;

    ok(clo_graph_create("g", &graph));
    for (uint32_t t = 0; t < count; t++)
        ok(clo_graph_add_task(graph, &tasks[t], NULL));
    (void)s;
    return graph;
}

/* Adds a job of a graph that is not sealed yet. `row` says all else. */
static inline void scene_add(policy_scene *s, clo_graph *graph, clo_workload_job row)
{
    ok(clo_graph_seal(graph));
    ok(clo_workload_adopt(s->workload, graph));
    row.size = sizeof row;
    row.graph = graph;
    ok(clo_workload_add(s->workload, &row));
    s->jobs++;
}

/* A job of one stage. */
static inline void scene_job(policy_scene *s, int64_t arrival_ns, int64_t work_ns, uint32_t instances)
{
    clo_task task = {.work_ns = work_ns, .instances = instances};

    scene_add(s, scene_graph(s, &task, 1), (clo_workload_job){.arrival_ns = arrival_ns});
}

/* Simulates under "NAME" or "NAME:ARGUMENT". */
static inline void scene_run(policy_scene *s, const char *text)
{
    _Alignas(16) unsigned char argument[256];
    char name[64];
    size_t length = strcspn(text, ":");
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    clo_log_header header = CLO_LOG_HEADER_INIT;

    snprintf(name, sizeof name, "%.*s", (int)length, text);
    config.policy = clo_policy_find(name);
    assert_non_null(config.policy);
    if (text[length] == ':') {
        assert_true(config.policy->argument_bytes <= sizeof argument);
        ok(config.policy->parse(text + length + 1, argument));
        config.argument = argument;
    }
    if (s->platform == NULL)
        ok(clo_platform_create(&s->desc, &s->platform));
    clo_log_policy named = {.name = name};
    header.clock = CLO_CLOCK_VIRTUAL;
    header.executors = s->desc.executors_count;
    header.environment = s->environment != NULL ? s->environment->name : NULL;
    header.policies = &named;
    header.policies_count = 1;
    clo_log_destroy(s->log);
    ok(clo_log_create(&header, SCENE_RECORDS, &s->log));
    config.log = s->log;
    config.environment = s->environment;
    config.outcomes = s->outcomes;
    s->result = (clo_stream_result)CLO_STREAM_RESULT_INIT;
    ok(clo_stream_simulate(s->workload, s->platform, &config, &s->result));
    if (config.argument != NULL && config.policy->release != NULL)
        config.policy->release(config.argument);
    assert_int_equal(s->result.refused, 0);
    assert_int_equal(s->result.jobs_ended, s->jobs);
}

/* When the instance started; its executor. -1: not found. */
static inline int64_t scene_start(const policy_scene *s, uint32_t job, uint32_t stage, uint32_t instance,
                                  uint32_t *executor)
{
    size_t count;
    const clo_log_record *records = clo_log_records(s->log, &count);

    for (size_t i = 0; i < count; i++)
        if (records[i].what == CLO_LOG_FINISH && records[i].job == job && records[i].stage == stage &&
            records[i].instance == instance) {
            if (executor != NULL)
                *executor = records[i].executor;
            return records[i].value;
        }
    return -1;
}

/* Instances of the job that started at `at_ns`. */
static inline uint32_t scene_started(const policy_scene *s, uint32_t job, int64_t at_ns)
{
    size_t count;
    const clo_log_record *records = clo_log_records(s->log, &count);
    uint32_t started = 0;

    for (size_t i = 0; i < count; i++)
        started += records[i].what == CLO_LOG_FINISH && records[i].job == job && records[i].value == at_ns;
    return started;
}

static inline void scene_close(policy_scene *s)
{
    clo_log_destroy(s->log);
    clo_workload_destroy(s->workload);
    clo_platform_destroy(s->platform);
}

#endif
