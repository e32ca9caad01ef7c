/* stream.h - a workload in virtual time: jobs arrive, one scheduler decides for all of them.
 *
 * Library: libclotho-decide; libclotho-io has clo_stream_gantt_svg. */
#ifndef CLOTHO_STREAM_H
#define CLOTHO_STREAM_H

#include <clotho/environment.h>
#include <clotho/job.h>
#include <clotho/log.h>
#include <clotho/workload.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What became of one job of a stream. Without a size field: outcomes come in an array. */
typedef struct clo_stream_outcome {
    int64_t arrival_ns;

    /* When its first body began; CLO_TIME_NEVER: none began. */
    int64_t start_ns;

    /* When it ended; CLO_TIME_NEVER: it did not end. */
    int64_t finish_ns;

    /* Sum of the times of its bodies. */
    int64_t busy_ns;

    /* Bodies, replicas included. */
    uint64_t executions;

    /* CLO_OK, or why the job was refused. CLO_ERR_LIMIT: it arrived while jobs_max jobs lived; CLO_ERR_PLATFORM: one of
     * its tasks can run nowhere (clo_stream_config.skips_misfits). */
    clo_status status;
} clo_stream_outcome;

/* Called now and then, on the calling thread. Returning non-zero stops the simulation (CLO_ERR_CANCELLED). */
typedef int (*clo_stream_progress_fn)(void *argument, uint64_t jobs_ended, uint64_t jobs, int64_t now_ns);

typedef struct clo_stream_config {
    /* Set by CLO_STREAM_CONFIG_INIT. */
    size_t size;

    /* The policy that decides, with its argument (see clo_policy); NULL: the policy "fifo". */
    const clo_policy *policy;
    const void *argument;

    /* Jobs that may live at once; a job that arrives while that many live is refused (clo_stream_outcome.status).
     * 0: any number. */
    uint32_t jobs_max;

    /* As clo_job_config.steps_max. */
    uint32_t steps_max;

    /* Inputs and decisions are appended to this log; NULL: no log. */
    clo_log *log;

    /* [jobs of the workload] receives what became of each; NULL: not wanted. */
    clo_stream_outcome *outcomes;

    clo_stream_progress_fn progress;
    void *progress_argument;

    /* 1: the time of each decision is measured (decision_p50_ns ...). */
    uint32_t times_decisions;

    /* Gives the times in place of the costs. While this call runs, nothing else may use it. A log must name it in its
     * header. NULL: the costs give the times, and executors are bound to no job. */
    const clo_environment *environment;

    /* 1: a job with a task that can run nowhere on the platform is refused when it arrives, and the others go on; the
     * log does not mention it. 0: the whole call fails (CLO_ERR_PLATFORM). */
    uint32_t skips_misfits;

    /* Seed for the arms of branches (branch.h): release n of job k of the workload uses seed + k + n, as a job with
     * clo_job_config.seed = seed + k does. */
    uint64_t seed;
} clo_stream_config;

#define CLO_STREAM_CONFIG_INIT CLO_SIZED_INIT(clo_stream_config)

/* Figures of a simulated stream. */
typedef struct clo_stream_result {
    /* Set by CLO_STREAM_RESULT_INIT. */
    size_t size;

    /* Jobs of the workload; of these, those that ended, those that were refused (clo_stream_outcome.status), and those
     * that ended after their deadline. */
    uint64_t jobs, jobs_ended, jobs_refused, jobs_late;

    /* Most jobs that lived at once. */
    uint64_t jobs_peak;

    /* Bodies that ended, replicas included; replicas among them. Skipped instances do not count. */
    uint64_t completions, duplicates;

    /* The last end. */
    int64_t makespan_ns;

    /* Job completion time, end - arrival: mean, 95 % quantile, and mean weighted by the jobs' weights, in ns. */
    double jct_mean_ns, jct_weighted_ns;
    int64_t jct_p95_ns;

    /* Busy time of all executors / (executors * makespan). */
    double utilization;

    /* Instances that were given an executor; choices that were impossible; instances that the scheduler's own rule
     * placed; most steps of one decision, and of one whole turn (an input with all that follows). */
    uint64_t decisions, refused, fallbacks, decision_steps, turn_steps;

    /* Quantiles of the time from one decision to the next; 0 without times_decisions. */
    int64_t decision_p50_ns, decision_p99_ns, decision_p999_ns, decision_max_ns;

    /* The first refusal, in one line; "": none. */
    char refusal[192];

    /* How often an executor went to another job, with an instance or before one; 0 without an environment. */
    uint64_t moves;

    /* Choices that the policy made without looking at all jobs and stages, because it had no room for them
     * (clo_view_partial). */
    uint64_t partial;

    /* Instances that were skipped because another arm of a branch was chosen. They count nowhere else. */
    uint64_t skipped;

    /* Tardiness, max(0, end - deadline): the mean over the jobs with a deadline that ended; 0: there are none. */
    double tardiness_mean_ns;
} clo_stream_result;

#define CLO_STREAM_RESULT_INIT CLO_SIZED_INIT(clo_stream_result)

/* Simulates the jobs of a workload, in the order of their arrivals, under one policy. The same arguments give the same
 * result and the same log on every machine (but for the times of decisions).
 *
 *   workload  borrowed during the call. A periodic job arrives as often as clo_workload_releases says.
 *   platform  where they run; borrowed likewise.
 *   config    NULL: all defaults.
 *   result    may be NULL.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT   no jobs, unknown config fields, a policy without decide, an environment without time_ns, with a
 *                      negative moving_ns, or not named by the log; result->size is wrong
 *   CLO_ERR_PLATFORM   a task of some job can run nowhere on the platform, and skips_misfits is 0; a job's limit is
 *                      above the number of executors
 *   CLO_ERR_UNSUPPORTED  the platform has ports (clo_platform_desc.port_bytes_per_ns)
 *   CLO_ERR_CANCELLED  the progress function returned non-zero
 *   CLO_ERR_STATE      a job waits for capacity that is never free again
 *   CLO_ERR_LIMIT      more jobs and releases than CLO_WORKLOAD_JOBS_MAX; an end beyond all times (292 years)
 *   CLO_ERR_MEMORY
 *   what the policy's prepare or init returned
 *
 * Threads: any. Real time: no. O(completions * (log executors + decision) + jobs * stages). */
CLO_API CLO_NODISCARD clo_status clo_stream_simulate(const clo_workload *workload, const clo_platform *platform,
                                                     const clo_stream_config *config, clo_stream_result *result);

/* A policy with its argument. Without a size field: they come in an array. */
typedef struct clo_replay_policy {
    const clo_policy *policy;
    const void *argument;
} clo_replay_policy;

typedef struct clo_replay_config {
    /* Set by CLO_REPLAY_CONFIG_INIT. */
    size_t size;

    /* The platform of the run. */
    const clo_platform *platform;

    /* [costs_count] costs on that platform, indexed by the values of the log's ARRIVE records (in a real run the jobs'
     * tags). */
    const clo_cost *const *costs;
    size_t costs_count;

    /* [policies_count] in the order of the log's header. NULL: the built-in policies that the header names, with the
     * arguments in it. */
    const clo_replay_policy *policies;
    uint32_t policies_count;
} clo_replay_config;

#define CLO_REPLAY_CONFIG_INIT CLO_SIZED_INIT(clo_replay_config)

typedef struct clo_replay_result {
    /* Set by CLO_REPLAY_RESULT_INIT. */
    size_t size;

    /* Records that were equal, and the inputs and decisions (instances that were given an executor) among them. */
    uint64_t records, inputs, decisions;
} clo_replay_result;

#define CLO_REPLAY_RESULT_INIT CLO_SIZED_INIT(clo_replay_result)

/* Repeats the run of a log: the same scheduler gets the log's inputs, in order, at the log's times. Each record that it
 * writes must be equal to the log's: each decision, and the sums of the inputs. No body is called, and no time is
 * computed: this works for real runs and simulated ones alike.
 *
 * A policy that changes the state of a job (clo_live_job.state) must set it anew at CLO_EVENT_ARRIVE: in a real run a
 * job that is submitted again keeps it.
 *
 *   config  borrowed during the call.
 *   log     complete, from BEGIN to END; borrowed likewise.
 *   result  may be NULL. Filled for CLO_OK and CLO_ERR_INVALID.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_INVALID   something is not equal; clo_last_error names the first difference, with both records
 *   CLO_ERR_STATE     the log dropped records, was cut, or does not say what its jobs are (it was written before logs
 *                     had JOB records)
 *   CLO_ERR_ARGUMENT  also: unknown config fields, a cost of another platform, a platform with another number of
 *                     executors, an unknown policy, or one whose argument the log does not give; fewer policies than
 *                     the log has
 *   CLO_ERR_MEMORY
 *   what the policies' parse, prepare or init returned
 *
 * Threads: any. Real time: no. O(records + decisions + jobs * stages). */
CLO_API CLO_NODISCARD clo_status clo_stream_replay(const clo_replay_config *config, const clo_log *log,
                                                   clo_replay_result *result);

/* Draws a log as SVG: a row for each executor, time from left to right, a colour for each job in turn. The picture has
 * at most 8000 boxes, or 48 for each executor if that is more. If there are more bodies, a box has the colour of the
 * job with most of its time, and is pale if the executor is mostly idle.
 *
 *   log       of a simulated or a real run; borrowed during the call.
 *   platform  that of the run; borrowed likewise.
 *   title     NULL: "stream".
 *   path      written whole or not at all; "-": standard output.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  also: a FINISH record on no executor of the platform, or that ends before it begins
 *   CLO_ERR_STATE     the log dropped records
 *   CLO_ERR_IO, CLO_ERR_MEMORY
 *
 * Threads: any, while no thread writes the log. Real time: no. O(records + executors). */
CLO_API CLO_NODISCARD clo_status clo_stream_gantt_svg(const clo_log *log, const clo_platform *platform,
                                                      const char *title, const char *path);

#ifdef __cplusplus
}
#endif
#endif
