/* recorded.c - see recorded.h. */
#include "recorded.h"

#include "support.h"

void same_events(const clo_trace *a, const clo_trace *b)
{
    size_t count, other;
    const clo_trace_event *x = clo_trace_events(a, &count), *y = clo_trace_events(b, &other);

    assert_int_equal(count, other);
    for (size_t i = 0; i < count; i++) {
        const clo_trace_event *match = NULL; /* equal starts may stand in another order: the sequence differs */
        for (size_t k = 0; k < count && match == NULL; k++)
            if (y[k].task == x[i].task && y[k].instance == x[i].instance && y[k].is_replica == x[i].is_replica &&
                y[k].executor == x[i].executor)
                match = &y[k];
        assert_non_null(match);
        assert_int_equal(match->start_ns, x[i].start_ns);
        assert_int_equal(match->finish_ns, x[i].finish_ns);
        assert_int_equal(match->is_skipped, x[i].is_skipped);
        assert_int_equal(match->arm, x[i].arm);
    }
}

static clo_trace *replay(const clo_cost *cost, const clo_sim_config *config, uint64_t seed, uint64_t *hash)
{
    clo_trace *replayed;

    if (clo_simulate(cost, config, NULL, &replayed, hash) != CLO_OK)
        fail_msg("seed %u, policy %s: %s", (unsigned)seed, config->policy != NULL ? config->policy->name : "none",
                 clo_last_error());
    return replayed;
}

void record_and_replay(const clo_cost *cost, const clo_plan *plan, const clo_policy *policy, uint64_t seed,
                       void (*check)(const void *context, const clo_trace *recorded), const void *context)
{
    clo_runtime_config runtime_config = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config job_config = CLO_JOB_CONFIG_INIT;
    clo_sim_config sim_config = CLO_SIM_CONFIG_INIT;
    clo_runtime *runtime;
    clo_trace *recorded, *replayed;
    clo_job *job;
    uint64_t hash;

    runtime_config.trace = runtime_config.unpinned = 1;
    runtime_config.copy_always = 1;
    job_config.policy = sim_config.policy = policy;
    job_config.plan = sim_config.plan = plan;
    ok(clo_runtime_create(clo_cost_platform(cost), &runtime_config, &runtime));
    ok(clo_job_create(runtime, cost, &job_config, &job));
    for (int round = 0; round < 2; round++) { /* the second run uses what the first left */
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, NULL));
    }
    ok(clo_job_trace(job, &recorded));
    check(context, recorded);
    sim_config.recorded = recorded;
    replayed = replay(cost, &sim_config, seed, NULL);
    same_events(recorded, replayed);
    clo_trace_destroy(replayed);
    sim_config.execute = 1;
    sim_config.seed = 1; /* of the second run: draws the arms that bodies leave open */
    replayed = replay(cost, &sim_config, seed, &hash);
    same_events(recorded, replayed);
    assert_true(hash == clo_job_output_hash(job));
    clo_trace_destroy(replayed);
    clo_trace_destroy(recorded);
    clo_job_destroy(job);
    clo_runtime_destroy(runtime);
}
