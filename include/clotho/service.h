/* service.h - the scheduler as a service: somebody else's cluster says what happens, the service says what to start.
 *
 *     clo_service_arrive | finish | cancel | lose | restore | advance        one event
 *     while (clo_service_next(service, &choice)) ...                     what to start, and where
 *     while (clo_service_ended(service, &end)) ...                       which jobs are over
 *
 * Nothing runs here, and no clock is read: each event carries its time, on whatever clock the caller has. All choices
 * follow from the sequence of events. The log of a service (clo_service_config.log) is one of a real run: it replays
 * (clo_stream_replay), and a new service goes on from it (clo_service_restart).
 *
 * Executors that are lost. The scheduler cannot take back an instance that it has given out. So the job of an instance
 * that ran on a lost executor ends as failed, and nothing is chosen for that executor until it is restored. An executor
 * that was idle when it was lost may be chosen once: that instance waits, and is handed out when the executor is
 * restored. A job that should not wait is cancelled.
 *
 * Library: libclotho-decide. */
#ifndef CLOTHO_SERVICE_H
#define CLOTHO_SERVICE_H

#include <clotho/cost.h>
#include <clotho/log.h>
#include <clotho/policy.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Jobs that may live at once, where nobody says otherwise. */
#define CLO_SERVICE_JOBS_DEFAULT 1024

typedef struct clo_service clo_service; /* opaque: owns memory */

typedef struct clo_service_config {
    /* Set by CLO_SERVICE_CONFIG_INIT. */
    size_t size;

    /* The policy that decides, with its argument; NULL: the policy "auto". Borrowed until clo_service_destroy. */
    const clo_policy *policy;
    const void *argument;

    /* Jobs that may live at once; 0: CLO_SERVICE_JOBS_DEFAULT. */
    uint32_t jobs_max;

    /* As clo_job_config.steps_max. */
    uint32_t steps_max;

    /* Events and choices are appended to this log, which lives as long as the service; NULL: no log. */
    clo_log *log;

    /* For the arms of branches (branch.h) that no report names: job k draws with seed + k. */
    uint64_t seed;
} clo_service_config;

#define CLO_SERVICE_CONFIG_INIT CLO_SIZED_INIT(clo_service_config)

/* A job that arrives. */
typedef struct clo_service_job {
    /* Set by CLO_SERVICE_JOB_INIT. */
    size_t size;

    /* The graph on the service's platform; borrowed until clo_service_destroy. Many jobs may have the same. */
    const clo_cost *cost;

    /* After the arrival; 0: none. */
    int64_t deadline_ns;

    /* As in clo_workload_job: 0 means 1 | 0 .. CLO_BANDS_MAX - 1 | the user or queue | 0 means any number. */
    uint32_t weight, band, group, limit;
} clo_service_job;

#define CLO_SERVICE_JOB_INIT CLO_SIZED_INIT(clo_service_job)

/* Start this now. Plain values; without a size field: choices come one after the other. */
typedef struct clo_service_choice {
    /* Number of the job: the first that arrives has 0, the next one 1 ... */
    uint64_t job;

    /* Task of its graph, and the instance of it. */
    uint32_t stage, instance;

    /* Index into the platform. */
    uint32_t executor;

    /* 1: the task is executed a second time, to save a transfer. */
    uint32_t is_replica;

    /* When it was decided; when its inputs are there, by the platform's links. */
    int64_t chosen_ns, data_ns;
} clo_service_choice;

/* A job is over. `how` is CLO_LOG_DONE_OK, _CANCELLED or _FAILED. Without a size field, as a choice. */
typedef struct clo_service_end {
    uint64_t job;
    uint32_t how;
    int64_t arrival_ns, end_ns;
} clo_service_end;

/* What became of a choice. */
typedef struct clo_service_report {
    /* Set by CLO_SERVICE_REPORT_INIT. */
    size_t size;

    /* As in the choice. */
    uint64_t job;
    uint32_t stage, instance, executor;

    /* 1: the body failed; the job ends as failed. */
    uint32_t has_failed;

    /* 0: the arm of a branch is drawn; k: it chose arm k - 1. */
    uint32_t arm;

    /* 1: start_ns says when the body began. 0: it began when it was chosen. */
    uint32_t has_start;
    int64_t start_ns;
} clo_service_report;

#define CLO_SERVICE_REPORT_INIT CLO_SIZED_INIT(clo_service_report)

/* What an executor does, to the service. */
typedef enum clo_service_state {
    CLO_SERVICE_IDLE = 0,

    /* A choice was handed out, and no report has come. */
    CLO_SERVICE_RUNS = 1,

    /* It is lost, and a choice waits until it is restored. */
    CLO_SERVICE_WAITS = 2,

    /* It is lost, and so is what ran there. */
    CLO_SERVICE_HELD = 3
} clo_service_state;

/* Makes a service without jobs.
 *
 *   platform  the cluster; borrowed until clo_service_destroy.
 *   config    NULL: all defaults. Copied.
 *   out       the service, owned by the caller.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT     unknown config fields; a policy without decide
 *   CLO_ERR_UNSUPPORTED  the platform has ports (clo_platform_desc.port_bytes_per_ns)
 *   CLO_ERR_MEMORY
 *   what the policy's init returned
 *
 * Threads: any; afterwards one at a time. Real time: no. O(executors + jobs_max). */
CLO_API CLO_NODISCARD clo_status clo_service_create(const clo_platform *platform, const clo_service_config *config,
                                                    clo_service **out);

/* Frees a service. The log has no END unless clo_service_end_log was called. NULL is allowed.
 * Threads: one. Real time: no. O(live jobs). */
CLO_API void clo_service_destroy(clo_service *service);

/* The events. now_ns is when it happened: >= 0, at most CLO_WORKLOAD_TIME_MAX, never before that of the event before.
 * First the policy's timers up to that time go off, each at its own time. All choices and ends of an event must be
 * taken before the next event. Each returns CLO_OK, or, with nothing changed,
 *   CLO_ERR_ARGUMENT  time runs backwards, or what each event says
 *   CLO_ERR_LIMIT     a time that is too large, or what each event says
 *   CLO_ERR_STATE     choices or ends were left; clo_service_end_log was called
 *   CLO_ERR_MEMORY
 * Threads: one. Real time: no. O(out-degree + decisions). */

/* A job arrives.
 *
 *   job     copied.
 *   number  receives its number; may be NULL.
 *
 * Also CLO_ERR_ARGUMENT (no cost, or one of another platform; a band that does not exist; a negative deadline),
 * CLO_ERR_PLATFORM (a limit above the number of executors), CLO_ERR_LIMIT (jobs_max jobs live), CLO_ERR_INVALID (a task
 * that fits no machine), or what the policy's prepare returned. */
CLO_API CLO_NODISCARD clo_status clo_service_arrive(clo_service *service, const clo_service_job *job, int64_t now_ns,
                                                    uint64_t *number);

/* What was chosen has ended. Also CLO_ERR_ARGUMENT: nothing like it runs there (it was reported already, or never
 * chosen), the executor is lost, an arm that the branch does not have, a start before the choice or after the end. */
CLO_API CLO_NODISCARD clo_status clo_service_finish(clo_service *service, const clo_service_report *report,
                                                    int64_t now_ns);

/* Nothing of the job is started any more. What runs of it must still be reported; then it is over. Also
 * CLO_ERR_ARGUMENT: no such job lives, or it was cancelled already. */
CLO_API CLO_NODISCARD clo_status clo_service_cancel(clo_service *service, uint64_t job, int64_t now_ns);

/* The executor is lost, see above. Also CLO_ERR_ARGUMENT: there is none of this number, or it is lost already. */
CLO_API CLO_NODISCARD clo_status clo_service_lose(clo_service *service, uint32_t executor, int64_t now_ns);

/* The executor is there again, and idle. Also CLO_ERR_ARGUMENT: there is none of this number, or it is not lost. */
CLO_API CLO_NODISCARD clo_status clo_service_restore(clo_service *service, uint32_t executor, int64_t now_ns);

/* Only time has passed. */
CLO_API CLO_NODISCARD clo_status clo_service_advance(clo_service *service, int64_t now_ns);

/* Goes on from the log of another service: repeats its events and compares each record. Afterwards the service stands
 * where the other one stood at the last record, and its own log holds the same records. Which executors were lost is
 * not in a log: here they run what they were given, until somebody reports or loses them.
 *
 *   service  without events so far, with the platform, the policy and the bounds of the other; with a log.
 *   log      an END record at its end is passed over; borrowed during the call.
 *   costs    [costs_count] of the jobs in order of their numbers; borrowed as in clo_service_job.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  a job has no cost; the service has no log
 *   CLO_ERR_STATE     the service has seen events; the log dropped records
 *   CLO_ERR_INVALID   it decides otherwise than the log says, or the log is of no service; only to be destroyed now
 *   CLO_ERR_MEMORY
 *
 * Threads: one. Real time: no. O(records + decisions). */
CLO_API CLO_NODISCARD clo_status clo_service_restart(clo_service *service, const clo_log *log,
                                                     const clo_cost *const *costs, size_t costs_count);

/* What an event has led to. False: there is no more, and `out` is untouched; also for NULL.
 * Threads: one. Real time: yes, O(1). */
CLO_API bool clo_service_next(clo_service *service, clo_service_choice *out);
CLO_API bool clo_service_ended(clo_service *service, clo_service_end *out);

/* Writes the last record of the log; no event follows. Without a log nothing but the latter. NULL is allowed.
 * Threads: one. Real time: no. O(1). */
CLO_API void clo_service_end_log(clo_service *service);

/* Looking at a service. All calls below:
 * Threads: one. Real time: yes, O(1). */

/* What the executor does; CLO_SERVICE_IDLE also where there is none of this number.
 *   choice   receives what it runs, unless it is idle; may be NULL.
 *   is_lost  receives whether it is lost; may be NULL. */
CLO_API clo_service_state clo_service_executor(const clo_service *service, uint32_t executor,
                                               clo_service_choice *choice, bool *is_lost);

/* Jobs that have arrived so far. 0 for NULL. */
CLO_API uint64_t clo_service_jobs(const clo_service *service);

/* The job has arrived, and its end was not handed out. */
CLO_API bool clo_service_is_live(const clo_service *service, uint64_t job);

/* Time of the last event; 0 for NULL. */
CLO_API int64_t clo_service_now_ns(const clo_service *service);

/* When the policy wants to be asked again (clo_service_advance); CLO_TIME_NEVER: no wish. */
CLO_API int64_t clo_service_wake_ns(const clo_service *service);

#ifdef __cplusplus
}
#endif
#endif
