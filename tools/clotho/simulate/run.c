/* run.c - one run of a workload in virtual time, and the verdict of the stream checker on its log. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/simulate/simulate.h"

#include "clotho/common/interrupt.h"
#include "clotho/stream/stream_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Instances of a run whose log is kept only to be judged: 40 bytes a record, two or three records an instance. */
#define JUDGED_INSTANCES_MAX (UINT64_C(1) << 21)

#define PROGRESS_SECONDS 2

static bool is_small(const clo_workload *workload)
{
    uint64_t instances = 0;

    for (uint32_t i = 0; i < clo_workload_jobs(workload) && instances <= JUDGED_INSTANCES_MAX; i++) {
        uint64_t of_job = clo_graph_instances(clo_workload_get(workload, i)->graph);
        uint64_t releases = clo_workload_releases(workload, i);
        instances +=
            of_job > 0 && releases > JUDGED_INSTANCES_MAX / of_job ? JUDGED_INSTANCES_MAX + 1 : of_job * releases;
    }
    return instances <= JUDGED_INSTANCES_MAX;
}

/* Which release was refused for lack of room is not known of a job with many. */
static bool numbers_are_known(const simulation *sim, const simulated_run *run)
{
    bool lacked_room = sim->options->live > 0 && run->result.jobs_refused > 0;

    for (uint32_t i = 0; i < clo_workload_jobs(run->workload) && lacked_room; i++)
        if (clo_workload_releases(run->workload, i) > 1)
            return false;
    return true;
}

typedef struct progress_state {
    uint64_t seed;
    time_t next;
} progress_state;

static int show_progress(void *argument, uint64_t ended, uint64_t jobs, int64_t now_ns)
{
    progress_state *state = argument;
    time_t now = time(NULL);
    char line[160];

    if (is_interrupted())
        return 1;
    if (now < state->next)
        return 0;
    state->next = now + PROGRESS_SECONDS;
    snprintf(line, sizeof line, "seed %llu: %llu of %llu jobs ended, %s simulated", (unsigned long long)state->seed,
             (unsigned long long)ended, (unsigned long long)jobs, show_ns(now_ns));
    progress(NULL, line);
    return 0;
}

static clo_status open_log(const simulation *sim, simulated_run *run)
{
    const clo_log_policy policy = {.name = sim->policy_name, .argument = sim->policy_text};
    clo_log_header header = CLO_LOG_HEADER_INIT;

    header.platform = sim->spec;
    header.platform_hash = sim->platform_hash;
    header.workload = sim->path;
    header.workload_hash = sim->workload_hash;
    header.seed = run->seed;
    header.arrivals_seed = sim->draws ? run->seed : 0;
    header.arrivals = sim->draws ? sim->arrivals_text : NULL;
    header.jobs = sim->draws ? clo_workload_jobs(run->workload) : 0;
    header.shuffled = sim->draws ? sim->arrivals.shuffled : 0;
    header.clock = CLO_CLOCK_VIRTUAL;
    header.scale = sim->options->input.scale != 1 ? sim->options->input.scale : 0;
    header.executors = clo_platform_executors(sim->platform);
    header.environment = sim->options->environment;
    header.policies = &policy;
    header.policies_count = 1;
    return clo_log_create(&header, 0, &run->log);
}

clo_status simulation_draw(const simulation *sim, simulated_run *run)
{
    clo_arrivals_config config = sim->arrivals;

    run->workload = sim->loaded;
    if (!sim->draws)
        return CLO_OK;
    config.seed = run->seed;
    clo_status status = clo_workload_arrivals(sim->loaded, &config, &run->drawn);
    run->workload = run->drawn;
    return status;
}

/* Busy time of all executors by part of the makespan. */
static void measure_use(const simulation *sim, simulated_run *run)
{
    double part = (double)run->result.makespan_ns / (double)SIMULATE_SAMPLES;
    size_t count;
    const clo_log_record *records = clo_log_records(run->log, &count);

    for (size_t i = 0; i < count && part > 0; i++) {
        if (records[i].what != CLO_LOG_FINISH)
            continue;
        double from = (double)records[i].value / part, to = (double)records[i].now_ns / part;
        for (int k = (int)from; k < SIMULATE_SAMPLES && k < to; k++)
            run->use[k] += (to < k + 1 ? to : k + 1) - (from > k ? from : k);
    }
    for (int k = 0; k < SIMULATE_SAMPLES; k++)
        run->use[k] /= clo_platform_executors(sim->platform);
}

/* Jobs that have arrived and not ended, of a run that the checker does not see. */
static void measure_backlog(simulated_run *run)
{
    double distance = (double)run->result.makespan_ns / (SIMULATE_SAMPLES - 1);

    for (uint32_t i = 0; i < clo_workload_jobs(run->workload); i++)
        for (int k = 0; k < SIMULATE_SAMPLES; k++)
            run->backlog[k] += (double)run->outcomes[i].arrival_ns <= k * distance &&
                               k * distance < (double)run->outcomes[i].finish_ns && run->outcomes[i].status == CLO_OK;
}

static clo_status judge(const simulation *sim, simulated_run *run)
{
    clo_stream_case stream = CLO_STREAM_CASE_INIT;
    stream_case jobs;

    run->report = (clo_stream_report)CLO_STREAM_REPORT_INIT;
    clo_status status = stream_case_open(&jobs, run->workload, sim->platform, run->outcomes);
    if (status == CLO_OK) {
        stream.platform = sim->platform;
        stream.jobs = jobs.jobs;
        stream.jobs_count = jobs.jobs_count;
        stream.backlog = run->backlog;
        stream.backlog_count = SIMULATE_SAMPLES;
        stream.strict = 1;
        status = clo_stream_check(&stream, run->log, &run->report);
    }
    stream_case_close(&jobs);
    run->is_judged = status == CLO_OK || status == CLO_ERR_INVALID;
    run->is_valid = status == CLO_OK;
    if (run->is_judged)
        measure_use(sim, run);
    return status;
}

static clo_status simulate(const simulation *sim, simulated_run *run)
{
    const simulate_options *o = sim->options;
    progress_state shown = {.seed = run->seed, .next = time(NULL) + PROGRESS_SECONDS};
    clo_environment environment = CLO_ENVIRONMENT_INIT;
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;

    clo_status status = simulation_draw(sim, run);
    if (status != CLO_OK)
        return status;
    run->outcomes = calloc(clo_workload_jobs(run->workload) + (size_t)1, sizeof run->outcomes[0]);
    if (run->outcomes == NULL)
        return CLO_ERR_MEMORY;
    if (sim->keeps_log || is_small(run->workload))
        status = open_log(sim, run);
    if (status != CLO_OK)
        return status;
    config.policy = sim->policy;
    config.argument = sim->argument;
    config.jobs_max = o->live;
    config.steps_max = o->steps_max;
    config.skips_misfits = o->skips_misfits;
    config.log = run->log;
    config.seed = run->seed;
    config.outcomes = run->outcomes;
    config.progress = show_progress; /* silent but on a terminal */
    config.progress_argument = &shown;
    config.times_decisions = 1;
    if (o->environment != NULL) {
        status = clo_environment_open(o->environment, run->seed, &environment);
        config.environment = &environment;
    }
    if (status == CLO_OK)
        status = clo_stream_simulate(run->workload, sim->platform, &config, &run->result);
    clo_environment_close(&environment);
    if (status == CLO_OK && clo_log_dropped(run->log) > 0)
        return sim->keeps_log ? CLO_ERR_MEMORY : CLO_OK;
    if (status == CLO_OK && run->log != NULL && numbers_are_known(sim, run))
        return judge(sim, run);
    if (status == CLO_OK)
        measure_backlog(run);
    return status;
}

void simulation_run(const simulation *sim, simulated_run *run)
{
    run->result = (clo_stream_result)CLO_STREAM_RESULT_INIT;
    run->status = simulate(sim, run);
    if (run->status != CLO_OK)
        snprintf(run->error, sizeof run->error, "%s",
                 run->status == CLO_ERR_MEMORY ? "out of memory" : clo_last_error());
    if (!sim->keeps_log) {
        clo_log_destroy(run->log);
        run->log = NULL;
    }
}

void simulated_run_close(simulated_run *run)
{
    clo_log_destroy(run->log);
    clo_workload_destroy(run->drawn);
    free(run->outcomes);
    run->log = NULL;
    run->drawn = NULL;
    run->outcomes = NULL;
}
