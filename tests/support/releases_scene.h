/* releases_scene.h - a random graph with a pipelined plan, and bodies that keep state from release to release and write
 * down what they see; for the tests of releases in flight. */
#ifndef CLO_TEST_RELEASES_SCENE_H
#define CLO_TEST_RELEASES_SCENE_H

#include "support.h"

#include "graph/graph.h"
#include "plan/facts.h"
#include "random.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define RELEASES_FEATURES (unsigned)(RANDOM_INSTANCES | RANDOM_MASKS | RANDOM_OUTPUTS)

typedef struct releases_scene {
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
    clo_plan *plan;
    clo_runtime *runtime;
    clo_job *job;

    /* [instances] releases that each one has seen; nothing but the order of its executor guards it. */
    uint64_t *seen, *state;
    /* [instances * releases] what it has put out. */
    uint64_t *log;
    uint64_t releases;
    /* [executors * (instances * releases)] instance and release, in the order in which they ran there. */
    uint32_t *ran;
    uint64_t *ran_count;
    /* Body `fail_instance` fails in release fail_release; CLO_NONE: none does. */
    uint32_t fail_instance;
    uint64_t fail_release;
    bool in_flight, is_virtual;
    _Atomic uint64_t wrong, calls;
} releases_scene;

static inline uint64_t releases_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static inline int releases_body(const clo_call *call)
{
    releases_scene *s = call->argument;
    uint32_t instance = s->graph->first_instance[call->task] + call->instance;
    uint64_t release = s->seen[instance]++, hash = releases_mix(instance + 1, release),
             *ran = &s->ran_count[call->executor];

    int64_t time_ns = s->is_virtual ? 0 : clo_cost_execution_ns(s->cost, call->task, call->executor);

    if ((s->in_flight && call->release != release) || (!s->in_flight && call->release != 0) ||
        call->expected_ns != time_ns)
        atomic_fetch_add_explicit(&s->wrong, 1, memory_order_relaxed);
    for (uint32_t i = 0; i < call->inputs_count; i++)
        for (size_t b = 0; b < call->inputs_bytes[i]; b++)
            hash = releases_mix(hash, ((const unsigned char *)call->inputs[i])[b]);
    s->state[instance] = releases_mix(s->state[instance], hash);
    hash = s->state[instance];
    for (size_t b = 0; b < call->output_bytes; b++)
        ((unsigned char *)call->output)[b] = (unsigned char)(hash >> b % 8 * 8);
    if (release < s->releases) {
        s->log[instance * s->releases + release] = hash;
        s->ran[(call->executor * (uint64_t)s->graph->instances * s->releases + (*ran)++)] = instance;
    }
    atomic_fetch_add_explicit(&s->calls, 1, memory_order_relaxed);
    return instance == s->fail_instance && release == s->fail_release ? 7 : 0;
}

static inline void releases_clear(releases_scene *s)
{
    uint32_t executors = clo_platform_executors(s->platform);
    size_t cells = s->graph->instances * (size_t)s->releases;

    memset(s->seen, 0, s->graph->instances * sizeof *s->seen);
    memset(s->state, 0, s->graph->instances * sizeof *s->state);
    memset(s->log, 0, cells * sizeof *s->log);
    memset(s->ran_count, 0, executors * sizeof *s->ran_count);
    atomic_store(&s->wrong, 0);
    atomic_store(&s->calls, 0);
}

/* limit: releases in flight of the plan; 0: any. */
static inline void releases_open(releases_scene *s, uint64_t seed, unsigned features, uint32_t limit, uint64_t releases,
                                 clo_clock clock)
{
    clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
    clo_pipeline_config pipeline = CLO_PIPELINE_CONFIG_INIT;

    memset(s, 0, sizeof *s);
    s->graph = random_graph(seed, features);
    s->platform = random_platform(seed, features);
    s->releases = releases;
    s->is_virtual = clock == CLO_CLOCK_VIRTUAL;
    s->fail_instance = CLO_NONE;
    uint32_t executors = clo_platform_executors(s->platform);
    size_t cells = s->graph->instances * (size_t)releases;
    s->seen = calloc(s->graph->instances, sizeof *s->seen);
    s->state = calloc(s->graph->instances, sizeof *s->state);
    s->log = calloc(cells, sizeof *s->log);
    s->ran = calloc(executors * cells, sizeof *s->ran);
    s->ran_count = calloc(executors, sizeof *s->ran_count);
    assert_true(s->seen != NULL && s->state != NULL && s->log != NULL && s->ran != NULL && s->ran_count != NULL);
    for (uint32_t t = 0; t < s->graph->tasks; t++) {
        s->graph->rows[t].body = releases_body;
        s->graph->rows[t].argument = s;
    }
    pipeline.releases_in_flight = limit;
    runtime.unpinned = 1;
    runtime.clock = clock;
    runtime.trace = seed % 2;
    runtime.copy_always = 1;
    ok(clo_cost_create(s->graph, s->platform, &s->cost));
    ok(clo_plan_pipeline(s->cost, &pipeline, &s->plan));
    ok(clo_runtime_create(s->platform, &runtime, &s->runtime));
}

static inline clo_status releases_job(releases_scene *s, uint32_t slots, uint64_t releases, int64_t period_ns)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;

    config.plan = s->plan;
    config.releases_in_flight = slots;
    config.releases = releases;
    config.period_ns = period_ns;
    s->in_flight = slots > 0;
    return clo_job_create(s->runtime, s->cost, &config, &s->job);
}

static inline void releases_close(releases_scene *s)
{
    clo_job_destroy(s->job);
    clo_runtime_destroy(s->runtime);
    clo_plan_destroy(s->plan);
    clo_cost_destroy(s->cost);
    clo_graph_destroy(s->graph);
    clo_platform_destroy(s->platform);
    free(s->seen);
    free(s->state);
    free(s->log);
    free(s->ran);
    free(s->ran_count);
}

/* So many slots as the plan needs at least. */
static inline uint32_t releases_slots(const releases_scene *s)
{
    return clo_plan_in_flight(s->plan);
}

/* Each executor went through its instances in order of their planned times over all releases, and ran all. */
static inline void releases_check_order(const releases_scene *s)
{
    uint64_t cells = (uint64_t)s->graph->instances * s->releases, sum = 0;
    int64_t *start_ns = calloc(s->graph->instances, sizeof *start_ns);
    uint64_t *next = calloc(s->graph->instances, sizeof *next);
    size_t count;
    const clo_placement *placements = clo_plan_placements(s->plan, &count);

    assert_non_null(start_ns);
    assert_non_null(next);
    for (size_t i = 0; i < count; i++)
        start_ns[s->graph->first_instance[placements[i].task] + placements[i].instance] = placements[i].start_ns;
    for (uint32_t e = 0; e < clo_platform_executors(s->platform); e++) {
        int64_t last_ns = 0;
        for (uint64_t i = 0; i < s->ran_count[e]; i++) {
            uint32_t instance = s->ran[e * cells + i];
            int64_t at_ns = start_ns[instance] + (int64_t)next[instance]++ * clo_plan_interval_ns(s->plan);
            assert_true(at_ns >= last_ns);
            last_ns = at_ns;
        }
        sum += s->ran_count[e];
    }
    assert_int_equal(sum, cells);
    free(start_ns);
    free(next);
}

#endif
