/* running.h - a runtime on a small platform with links, and bodies that count and sum; for the tests of run/. */
#ifndef CLO_TEST_RUNNING_H
#define CLO_TEST_RUNNING_H

#include "base/clock.h"
#include "scene.h"

#include <stdatomic.h>
#include <string.h>

/* Who has a run, the workers or the thread that waits for it, is decided by measured times. A test repeats until what
 * it is about has happened; on a machine so slow that it does not happen, it ends with a word about what it has not
 * seen. */
static inline bool may_still_happen(int64_t since_ns)
{
    return clo_clock_ns() - since_ns < 30000000000;
}

#define skip_unless_seen(has_happened, what)                                        \
    do {                                                                            \
        if (!(has_happened))                                                        \
            skip_because("in 30 s " what, "try it on a machine that is less busy"); \
    } while (0)

static _Atomic uint32_t calls;

static inline int count_call(const clo_call *call)
{
    (void)call;
    atomic_fetch_add(&calls, 1);
    return 0;
}

typedef struct fixture {
    clo_platform *platform;
    clo_graph *graph;
    clo_cost *cost;
    clo_runtime *runtime;
} fixture;

static inline fixture start(uint32_t executors, clo_graph *graph, clo_clock clock)
{
    fixture f = {.platform = scene_platform(executors, 1), .graph = graph};
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;

    config.unpinned = 1;
    config.clock = clock;
    config.trace = 1;
    config.copy_always = 1;
    ok(clo_cost_create(graph, f.platform, &f.cost));
    ok(clo_runtime_create(f.platform, &config, &f.runtime));
    return f;
}

static inline void stop(fixture *f)
{
    clo_runtime_destroy(f->runtime);
    clo_cost_destroy(f->cost);
    clo_graph_destroy(f->graph);
    clo_platform_destroy(f->platform);
}

static inline clo_job *make_job(const fixture *f, const clo_policy *policy, const clo_plan *plan)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *job;

    config.policy = policy;
    config.plan = plan;
    ok(clo_job_create(f->runtime, f->cost, &config, &job));
    return job;
}

static inline int sum_inputs(const clo_call *call)
{
    uint64_t sum = call->task + call->instance;

    for (uint32_t i = 0; i < call->inputs_count; i++) {
        uint64_t value;
        if (call->inputs_bytes[i] != 64)
            return 1;
        memcpy(&value, call->inputs[i], sizeof value);
        sum = sum * 31 + value;
    }
    memset(call->output, 0, call->output_bytes);
    memcpy(call->output, &sum, sizeof sum);
    return 0;
}

#endif
