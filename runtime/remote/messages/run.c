/* run.c - clo_remote_run: a run from the comparison of hashes to the joined trace. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "plan/ports/network.h"
#include "remote/messages/agree.h"
#include "remote/messages/join.h"

#define POSTED_MAX 10000u
#define FLOWS_MAX CLO_PORT_FLOWS
#define SLOTS_MAX 256u
#define SILENCE_NS 1000000000
#define START_NS 120000000000

/* Everything of one run. */
typedef struct running {
    clo_remote *remote;
    const clo_remote_config *config;
    clo_split split;
    clo_exchange exchange;
    clo_local *local;
    clo_runtime *runtime;
    clo_job *job;
    clo_offset *before, *after; /* [ranks] */
} running;

static void close_run(running *run)
{
    clo_job_destroy(run->job);
    clo_runtime_destroy(run->runtime);
    clo_exchange_close(&run->exchange);
    clo_local_close(run->local);
    clo_split_close(&run->split);
    clo_free(run->before);
    clo_free(run->after);
    clo_free(run);
}

static clo_status prepare(running *run, const clo_cluster *cluster, const clo_cost *cost, const clo_plan *plan)
{
    size_t ranks = (size_t)run->remote->ranks;
    clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config job = CLO_JOB_CONFIG_INIT;

    run->before = clo_allocate(ranks, sizeof *run->before);
    run->after = clo_allocate(ranks, sizeof *run->after);
    if (run->before == NULL || run->after == NULL)
        return clo_fail_memory("a run");
    clo_status status = clo_plan_check(plan, cost, CLO_CHECK_FULL);
    if (status == CLO_OK)
        status = clo_split_open(cluster, cost, plan, &run->split);
    if (status == CLO_OK)
        status = clo_local_open(&run->split, (uint32_t)run->remote->rank, run->config->slots_max,
                                &run->exchange.eventcount, &run->local);
    if (status != CLO_OK)
        return status;
    runtime.unpinned = run->config->unpinned;
    runtime.slot_workers = run->local->receives_count > 0;
    status = clo_runtime_create(run->local->platform, &runtime, &run->runtime);
    if (status != CLO_OK)
        return status;
    job.plan = run->local->plan;
    return clo_job_create(run->runtime, run->local->cost, &job, &run->job);
}

static clo_status execute(running *run)
{
    clo_exchange *x = &run->exchange;
    clo_job_result done = CLO_JOB_RESULT_INIT;
    clo_status status = clo_exchange_open(x, run->remote, run->local, run->config);

    run->remote->describe = clo_exchange_describe;
    run->remote->subject = x;
    if (status == CLO_OK)
        status = clo_clocks_compare(run->remote, run->before);
    if (status == CLO_OK)
        status = clo_remote_meet(run->remote); /* all receives are posted */
    if (status != CLO_OK)
        return status;
    x->start_ns = clo_clock_ns();
    status = clo_job_submit(run->job);
    if (status == CLO_OK)
        status = clo_exchange_run(x, run->job, &done);
    if (status == CLO_ERR_TASK && done.failed_task < run->local->tasks_count) {
        char scratch[16];
        const clo_placement *p = &run->split.placements[run->local->tasks[done.failed_task].placement];
        status = clo_fail(CLO_ERR_TASK, "rank %d (%s): task '%s' (instance %u) failed with code %d", run->remote->rank,
                          clo_remote_name(run->remote, run->remote->rank),
                          clo_graph_task_name(clo_cost_graph(run->split.cost), p->task, scratch), p->instance,
                          done.failed_code);
    }
    return status;
}

static clo_status conclude(running *run, clo_remote_result *result, clo_trace **trace)
{
    clo_status status = clo_clocks_compare(run->remote, run->after);

    if (status == CLO_OK)
        status = clo_join_counts(&run->exchange, result);
    if (status == CLO_OK)
        status = clo_join_hash(&run->exchange, &result->output_hash);
    if (status == CLO_OK)
        status = clo_join_trace(&run->exchange, run->before, run->after, result, trace);
    return status == CLO_OK ? clo_remote_meet(run->remote) : status;
}

clo_status clo_remote_read_config(clo_remote_config *config, const clo_remote_config *theirs)
{
    clo_status status = clo_config_read(config, sizeof *config, theirs, "remote config");

    if (status != CLO_OK)
        return status;
    if (config->silence_ns < 0 || config->start_ns < 0)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_remote_config: silence_ns is %lld, start_ns %lld; give times >= 0",
                        (long long)config->silence_ns, (long long)config->start_ns);
    if (config->silence_ns == 0)
        config->silence_ns = SILENCE_NS;
    if (config->start_ns == 0)
        config->start_ns = START_NS;
    if (config->posted_max == 0)
        config->posted_max = POSTED_MAX;
    if (config->flows_max == 0)
        config->flows_max = FLOWS_MAX;
    if (config->slots_max == 0)
        config->slots_max = SLOTS_MAX;
    return CLO_OK;
}

clo_status clo_remote_barrier(clo_remote *remote, int64_t timeout_ns)
{
    if (remote == NULL)
        return clo_fail_null("clo_remote_barrier", "remote");
    if (timeout_ns < 0)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_remote_barrier: timeout_ns is %lld; give one >= 0",
                        (long long)timeout_ns);
    remote->limit_ns = timeout_ns > 0 ? timeout_ns : START_NS;
    return clo_remote_meet(remote);
}

static clo_status check(const clo_remote *remote, const clo_cluster *cluster, const clo_cost *cost,
                        const clo_remote_config *config)
{
    if (clo_cluster_machines(cluster) != (uint32_t)remote->ranks)
        return clo_fail(CLO_ERR_ARGUMENT, "the cluster has %u machines, and there are %d ranks; start one for each",
                        clo_cluster_machines(cluster), remote->ranks);
    if (clo_cost_platform(cost) != clo_cluster_platform(cluster))
        return clo_fail(CLO_ERR_ARGUMENT,
                        "clo_remote_run: the cost is of another platform than clo_cluster_platform(cluster)");
    if (config->piece_bytes > INT32_MAX || config->slots_max > CLO_CLUSTER_EXECUTORS_MAX)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "clo_remote_config: piece_bytes is %llu (at most 2^31 - 1), slots_max %u (%u)",
                        (unsigned long long)config->piece_bytes, config->slots_max, CLO_CLUSTER_EXECUTORS_MAX);
    return CLO_OK;
}

static clo_status run_plan(running *run, const clo_cluster *cluster, const clo_cost *cost, const clo_plan *plan,
                           clo_remote_result *result, clo_trace **trace)
{
    run->remote->limit_ns = run->config->start_ns;
    clo_status status = clo_remote_agree(run->remote, cost, plan, run->config);
    if (status == CLO_OK)
        status = prepare(run, cluster, cost, plan);
    if (status == CLO_OK)
        status = clo_remote_meet(run->remote);
    run->remote->limit_ns = run->config->silence_ns;
    if (status == CLO_OK)
        status = execute(run);
    if (status == CLO_OK)
        status = conclude(run, result, trace);
    run->remote->describe = NULL;
    return status;
}

clo_status clo_remote_run(clo_remote *remote, const clo_cluster *cluster, const clo_cost *cost, const clo_plan *plan,
                          const clo_remote_config *config, clo_remote_result *result, clo_trace **trace)
{
    clo_remote_config mine = CLO_REMOTE_CONFIG_INIT;
    clo_remote_result found = CLO_REMOTE_RESULT_INIT;
    clo_trace *joined = NULL;

    if (remote == NULL || cluster == NULL || cost == NULL || plan == NULL || result == NULL)
        return clo_fail_null("clo_remote_run", "remote, cluster, cost, plan or result");
    clo_status status = clo_remote_read_config(&mine, config);
    if (status == CLO_OK)
        status = clo_result_check(result, CLO_BYTES_UP_TO(clo_remote_result, worst_effect_ns), "remote result");
    if (status == CLO_OK)
        status = check(remote, cluster, cost, &mine);
    running *run = status == CLO_OK ? clo_allocate(1, sizeof *run) : NULL;
    if (status == CLO_OK && run == NULL)
        status = clo_fail_memory("a run");
    if (status != CLO_OK)
        return status;
    run->remote = remote;
    run->config = &mine;
    remote->cluster = cluster;
    remote->stop = mine.stop;
    remote->words = mine.words;
    found.predicted_ns = clo_plan_makespan_ns(plan);
    status = run_plan(run, cluster, cost, plan, &found, trace != NULL ? &joined : NULL);
    remote->stop = NULL;
    remote->words = NULL;
    if (status != CLO_OK)
        return status;      /* what runs is left as it is: workers and messages may be under way */
    remote->cluster = NULL; /* the caller may destroy it before he closes */
    close_run(run);
    clo_result_write(result, &found, sizeof found);
    if (trace != NULL)
        *trace = joined;
    return CLO_OK;
}
