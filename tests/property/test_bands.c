/* A lower band delays a task only by the bodies that run when it becomes ready, under every policy: a chain of band 0
 * comes while a job of a lower band keeps all executors and all queues busy. In virtual time, so the bound is exact:
 * each task of the chain waits for one body at most, on one executor only the first.
 * Mutation: append behind everything in start.c (eft, deft), or leave no entries to higher bands (kept_entries 0; eft,
 * deft). */
#include "support.h"

#include "scene.h"

#define CHAIN 4u
#define CHAIN_NS 100
#define CROWD_NS 1000

static int nothing(const clo_call *call)
{
    (void)call;
    return 0;
}

typedef struct scene {
    clo_platform *platform;
    clo_graph *chain, *crowd;
    clo_cost *of_chain, *of_crowd;
    uint32_t executors;
} scene;

static void open_scene(scene *s, uint32_t executors, uint32_t crowd)
{
    clo_task first = {.body = nothing, .work_ns = CHAIN_NS}, other = {.body = nothing, .work_ns = CROWD_NS};

    s->executors = executors;
    s->platform = scene_platform(executors, 0);
    s->chain = scene_layers(CHAIN, 1, &first);
    s->crowd = scene_layers(1, crowd, &other);
    ok(clo_cost_create(s->chain, s->platform, &s->of_chain));
    ok(clo_cost_create(s->crowd, s->platform, &s->of_crowd));
}

static void close_scene(scene *s)
{
    clo_cost_destroy(s->of_chain);
    clo_cost_destroy(s->of_crowd);
    clo_graph_destroy(s->chain);
    clo_graph_destroy(s->crowd);
    clo_platform_destroy(s->platform);
}

/* How long the chain takes if it comes at this moment. */
static int64_t response_ns(const scene *s, const clo_policy *policy, uint32_t band, int64_t arrival_ns)
{
    clo_runtime_config virtual = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config high = CLO_JOB_CONFIG_INIT, low = CLO_JOB_CONFIG_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_runtime *runtime;
    clo_job *chain, *crowd;

    virtual.clock = CLO_CLOCK_VIRTUAL;
    high.policy = low.policy = policy;
    high.arrival_ns = arrival_ns;
    high.band = band;
    low.band = band + 1 + (uint32_t)(arrival_ns % (CLO_BANDS_MAX - 1 - band));
    ok(clo_runtime_create(s->platform, &virtual, &runtime));
    ok(clo_job_create(runtime, s->of_crowd, &low, &crowd));
    ok(clo_job_create(runtime, s->of_chain, &high, &chain));
    ok(clo_runtime_hold_time(runtime, 1));
    ok(clo_job_submit(crowd));
    ok(clo_job_submit(chain));
    ok(clo_runtime_hold_time(runtime, 0));
    ok(clo_job_wait(chain, &result));
    ok(clo_job_wait(crowd, NULL));
    clo_runtime_destroy(runtime);
    return result.makespan_ns;
}

static void a_lower_band_delays_a_task_by_no_more_than_a_body_that_runs(void **state)
{
    static const int64_t arrivals[] = {0, 1500, 33333};
    static const uint32_t crowds[] = {3, 300};

    (void)state;
    for (uint32_t executors = 1; executors <= 3; executors++)
        for (size_t c = 0; c < sizeof crowds / sizeof crowds[0]; c++) {
            scene s;
            open_scene(&s, executors, crowds[c]);
            for (uint32_t p = 0; policy_at(p) != NULL; p++)
                for (size_t a = 0; a < sizeof arrivals / sizeof arrivals[0]; a++)
                    for (uint32_t band = 0; band < CLO_BANDS_MAX - 1; band += 5) {
                        int64_t bound_ns = CHAIN * CHAIN_NS + (executors == 1 ? 1 : CHAIN) * CROWD_NS;
                        int64_t took_ns = response_ns(&s, policy_at(p), band, arrivals[a]);
                        if (took_ns > bound_ns)
                            fail_msg("%s, %u executors, %u bodies of a lower band than %u, arrival at %d: %d ns, at "
                                     "most %d",
                                     policy_at(p)->name, executors, crowds[c], band, (int)arrivals[a], (int)took_ns,
                                     (int)bound_ns);
                    }
            close_scene(&s);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_lower_band_delays_a_task_by_no_more_than_a_body_that_runs)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
