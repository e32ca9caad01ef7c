/* streams.c - workloads of the shared graphs: simulated, replayed, judged. Logs of runtimes, and time that stands
 * still. */
#define _GNU_SOURCE
#include "fuzz_api.h"
#include "trace/log.h"
#include "workload/workload.h"

#include <stdlib.h>
#include <unistd.h>

enum { STREAM_JOBS = 12, REPEATS = 6 };

/* Of models that are in use: the graphs must live. */
static clo_workload *draw_workload(thread *t, const bool *used)
{
    clo_workload *workload;

    if (expect(clo_workload_create(NULL, &workload), CLO_OK) != CLO_OK)
        return NULL;
    for (uint32_t jobs = 1 + below(t, STREAM_JOBS); jobs > 0; jobs--) {
        clo_workload_job job = CLO_WORKLOAD_JOB_INIT;
        uint32_t m = below(t, MODELS);
        if (!used[m])
            continue;
        job.graph = w.models[m].graph;
        job.arrival_ns = below(t, 100000);
        job.deadline_ns = chance(t, 50) ? 0 : draw_time(t, 100000);
        job.period_ns = chance(t, 80) ? 0 : draw_time(t, 100000);
        job.releases = job.period_ns != 0 ? 1 + below(t, REPEATS) : 0;
        job.weight = below(t, 4);
        job.band = draw_count(t, 3);
        job.group = below(t, 3);
        job.limit = chance(t, 70) ? 0 : below(t, 3);
        (void)expect(clo_workload_add(workload, &job), CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_LIMIT);
    }
    (void)expect(clo_workload_sort(workload), CLO_OK);
    if (clo_workload_name(workload) == NULL || clo_workload_platform(workload) != NULL)
        broken("a sorted workload is not sorted");
    return workload;
}

#define SIMULATE_STATUSES CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_PLATFORM, CLO_ERR_STATE, CLO_ERR_LIMIT, CLO_ERR_MEMORY

/* By the jobs of a log's ARRIVE records: those of the workload. */
static void replay(const clo_workload *workload, const bool *used, const clo_log *log, uint32_t p,
                   const clo_policy *policy)
{
    const clo_cost *costs[STREAM_JOBS];
    clo_replay_policy again = {policy, NULL};
    clo_replay_config config = CLO_REPLAY_CONFIG_INIT;

    for (uint32_t j = 0; j < clo_workload_jobs(workload); j++)
        for (uint32_t m = 0; m < MODELS; m++)
            if (used[m] && w.models[m].graph == clo_workload_get(workload, j)->graph)
                costs[j] = w.models[m].costs[p];
    config.platform = w.platforms[p];
    config.costs = costs;
    config.costs_count = clo_workload_jobs(workload);
    config.policies = &again;
    config.policies_count = 1;
    clo_status status = clo_stream_replay(&config, log, NULL);
    if (status != CLO_OK)
        broken("clo_stream_replay of policy %s, jobs_max %u, steps_max %u: %s", policy->name,
               clo_log_about(log)->jobs_max, clo_log_about(log)->steps_max, clo_last_error());
}

static void simulate(thread *t, const clo_workload *workload, const bool *used, uint32_t p)
{
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    clo_stream_result result = CLO_STREAM_RESULT_INIT;
    clo_log_header header = CLO_LOG_HEADER_INIT;
    clo_log_policy name = {0};
    clo_log *log = NULL;
    bool has_periods = false;

    config.policy = draw_policy(t);
    config.seed = below(t, 10);
    config.jobs_max = chance(t, 80) ? 0 : 1 + below(t, 5);
    config.steps_max = chance(t, 80) ? 0 : draw_count(t, 1000);
    name.name = config.policy->name;
    header.policies = &name;
    header.policies_count = 1;
    if (expect(clo_log_create(&header, chance(t, 50) ? 0 : below(t, 2000), &log), CLO_OK) != CLO_OK)
        return;
    config.log = log;
    clo_status status = expect(clo_stream_simulate(workload, w.platforms[p], &config, &result), SIMULATE_STATUSES);
    for (uint32_t j = 0; j < clo_workload_jobs(workload); j++)
        has_periods |= clo_workload_get(workload, j)->period_ns > 0;
    if (status == CLO_OK && clo_log_dropped(log) == 0 && !has_periods)
        replay(workload, used, log, p, config.policy);
    if (status == CLO_OK && result.jobs_ended + result.jobs_refused != result.jobs)
        broken("of %llu jobs %llu ended and %llu were refused", (unsigned long long)result.jobs,
               (unsigned long long)result.jobs_ended, (unsigned long long)result.jobs_refused);
    clo_log_destroy(log);
}

void call_stream(thread *t)
{
    bool used[MODELS];
    uint32_t p = below(t, PLATFORMS);
    clo_workload *workload, *longer = NULL;

    for (uint32_t m = 0; m < MODELS; m++)
        used[m] = use_begin(&w.models[m].object, USE_SHARED);
    log_begin(t, "simulate a stream", 0);
    workload = draw_workload(t, used);
    (void)expect(clo_workload_check(workload, w.platforms[p]), CLO_OK, CLO_ERR_PLATFORM);
    is_quiet = true;
    simulate(t, workload, used, p);
    if (chance(t, 20)) {
        clo_arrivals_config config = CLO_ARRIVALS_CONFIG_INIT;
        config.kind = (clo_arrivals)below(t, 4);
        config.mean_ns = draw_time(t, 100000);
        config.jobs = below(t, STREAM_JOBS);
        if (expect(clo_workload_arrivals(workload, &config, &longer), CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_LIMIT) ==
            CLO_OK) {
            if (clo_workload_jobs(longer) <= STREAM_JOBS)
                simulate(t, longer, used, p);
            clo_workload_destroy(longer);
        }
    }
    is_quiet = false;
    clo_workload_destroy(workload);
    log_end(t, 0);
    for (uint32_t m = 0; m < MODELS; m++)
        if (used[m])
            use_end(&w.models[m].object, USE_SHARED);
}

/* Time goes on again before this returns, so a thread that waits for a job meanwhile gets on. */
void call_hold_time(thread *t)
{
    uint32_t index = below(t, RUNTIMES);
    clo_runtime *runtime;

    if (!runtime_use(index, &runtime))
        return;
    log_begin(t, "clo_runtime_hold_time", index);
    clo_status status = expect(clo_runtime_hold_time(runtime, 1), CLO_OK, CLO_ERR_UNSUPPORTED);
    if ((status == CLO_OK) != (w.runtimes[index].clock == CLO_CLOCK_VIRTUAL))
        broken("clo_runtime_hold_time under clock %d: %d", (int)w.runtimes[index].clock, (int)status);
    if (status == CLO_OK) {
        (void)usleep(below(t, 300));
        (void)expect(clo_runtime_hold_time(runtime, 0), CLO_OK);
    }
    log_end(t, status);
    use_end(&w.runtimes[index].object, USE_RUNTIME);
}

static void look_at_log(const clo_log *log)
{
    char text[160];
    size_t count;
    const clo_log_record *records = clo_log_records(log, &count);
    int64_t now_ns = INT64_MIN;

    for (size_t i = 0; i < count; i++) {
        if (records[i].what == CLO_LOG_FINISH) /* has its own time, see CLO_LOG_KINDS */
            continue;
        if (records[i].now_ns < now_ns && records[i].what != CLO_LOG_BEGIN)
            broken("record %zu of a log: %s, before one ahead of it", i,
                   clo_log_describe(&records[i], text, sizeof text));
        now_ns = records[i].now_ns;
    }
    if (clo_log_about(log) == NULL || (count > 0 && clo_log_first_difference(log, log, NULL, 0) != CLO_LOG_EQUAL))
        broken("a log differs from itself");
}

void call_log(thread *t)
{
    uint32_t index = below(t, RUNTIMES);
    clo_runtime *runtime;
    clo_log *log = NULL;

    if (!runtime_use(index, &runtime))
        return;
    log_begin(t, "log of a runtime", index);
    if (expect(clo_log_create(NULL, 1 + below(t, 5000), &log), CLO_OK) == CLO_OK) {
        clo_status status = expect(clo_runtime_log_start(runtime, log), CLO_OK, CLO_ERR_STATE);
        if (status == CLO_OK) {
            (void)usleep(below(t, 3000));
            (void)expect(clo_runtime_log_stop(runtime), CLO_OK); /* another thread may have begun none: ours ran */
            look_at_log(log);
        }
        clo_log_destroy(log);
    }
    log_end(t, 0);
    use_end(&w.runtimes[index].object, USE_RUNTIME);
}
