/* log.c - the log of a run of a workload on real workers, and the verdict of the stream checker on it. The log names a
 * job by the number that the scheduler gave it; its ARRIVE record holds the job's place in the list. */
#include "clotho/workload/stream.h"

#include <stdlib.h>

/* Bodies of a run whose log is kept only to be judged. */
#define JUDGED_INSTANCES_MAX (UINT64_C(1) << 20)

/* Records for each body and each job: with replicas, queues, timers and sums, and room to spare. */
enum { RECORDS_A_BODY = 6, RECORDS_A_JOB = 12, RECORDS_MORE = 4096 };

static uint64_t count_instances(const clo_workload *workload)
{
    uint64_t instances = 0;

    for (uint32_t i = 0; i < clo_workload_jobs(workload); i++)
        instances += clo_graph_instances(clo_workload_get(workload, i)->graph);
    return instances;
}

int run_log_open(stream_run *run)
{
    const simulation *sim = &run->sim;
    const run_options *o = run->options;
    const clo_log_policy policy = {.name = sim->policy_name, .argument = sim->policy_text};
    clo_log_header header = CLO_LOG_HEADER_INIT;
    uint64_t instances = count_instances(run->run.workload), jobs = clo_workload_jobs(run->run.workload);

    if (run->is_steal)
        return o->log == NULL ? EXIT_GOOD
                              : misuse("work stealing decides nothing that a log could hold; leave --log out");
    if (o->log == NULL && instances > JUDGED_INSTANCES_MAX)
        return EXIT_GOOD;
    header.platform = sim->spec;
    header.platform_hash = sim->platform_hash;
    header.workload = sim->path;
    header.workload_hash = sim->workload_hash;
    header.seed = o->seed;
    header.arrivals_seed = sim->draws ? o->seed : 0;
    header.arrivals = sim->draws ? sim->arrivals_text : NULL;
    header.jobs = run->run.drawn != NULL ? clo_workload_jobs(run->run.drawn) : 0;
    header.shuffled = sim->draws ? sim->arrivals.shuffled : 0;
    header.scale = o->input.scale;
    header.policies = &policy;
    header.policies_count = 1;
    clo_status status =
        clo_log_create(&header, (size_t)(RECORDS_A_BODY * instances + RECORDS_A_JOB * jobs + RECORDS_MORE), &run->log);
    return status == CLO_OK ? EXIT_GOOD : complain_status(sim->path, status);
}

static uint8_t end_of(clo_status status)
{
    if (status == CLO_ERR_CANCELLED || status == CLO_ERR_ABORTED)
        return CLO_STREAM_END_CUT;
    return status == CLO_OK         ? CLO_STREAM_END_OK
           : status == CLO_ERR_TASK ? CLO_STREAM_END_FAILED
                                    : CLO_STREAM_END_UNKNOWN;
}

/* The jobs that arrived, by the numbers of the log, and how they ended. NULL: there is no memory. */
static clo_stream_job *name_jobs(const stream_run *run, uint8_t *ends, size_t *count)
{
    size_t records_count, jobs_count = run->jobs.jobs_count;
    const clo_log_record *records = clo_log_records(run->log, &records_count);
    clo_stream_job *jobs = calloc(jobs_count > 0 ? jobs_count : 1, sizeof *jobs);

    *count = 0;
    for (size_t i = 0; i < records_count && jobs != NULL; i++) {
        if (records[i].what != CLO_LOG_ARRIVE || *count == jobs_count || (uint64_t)records[i].value >= jobs_count)
            continue;
        jobs[*count] = run->jobs.jobs[records[i].value];
        ends[*count] = end_of(run->run.outcomes[records[i].value].status);
        jobs[(*count)++].job = records[i].job;
    }
    return jobs;
}

int run_log_judge(stream_run *run)
{
    clo_stream_case stream = CLO_STREAM_CASE_INIT;

    if (run->log == NULL)
        return EXIT_GOOD;
    if (clo_log_dropped(run->log) > 0) {
        warn("%s: the log had no room for all records and is not judged", show_name(run->sim.path));
        return EXIT_GOOD;
    }
    uint8_t *ends = calloc(run->jobs.jobs_count + 1, sizeof *ends);
    clo_stream_job *jobs = ends != NULL ? name_jobs(run, ends, &stream.jobs_count) : NULL;
    if (jobs == NULL) {
        free(ends);
        return complain(run->sim.path, "out of memory for the check of the log");
    }
    stream.ends = ends;
    stream.platform = run->sim.platform;
    stream.jobs = jobs;
    run->report = (clo_stream_report)CLO_STREAM_REPORT_INIT;
    clo_status status = clo_stream_check(&stream, run->log, &run->report);
    free(jobs);
    free(ends);
    run->is_judged = status == CLO_OK || status == CLO_ERR_INVALID;
    run->is_valid = status == CLO_OK;
    return status == CLO_OK ? EXIT_GOOD : complain_status(run->sim.path, status);
}
