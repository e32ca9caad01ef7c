/* flight.h - what is left of a long run: the last releases of a periodic job, and those that were late.
 *
 * The flight recorder (clo_runtime_config.recorder_events) holds executions until they are read; full, it drops the next
 * ones. A clo_flight reads it while the job runs, in memory of a fixed size: it keeps the last releases, and beyond them
 * those that missed their deadline, of too many those that were most late. What it could not keep it counts. In the end
 * they are one trace (clo_flight_trace), to be drawn with its deadlines (clo_trace_write_releases, clo_report_releases).
 *
 * Any thread may read, at any time, as long as the rings of the workers do not overflow meanwhile: between two reads a
 * worker may end at most recorder_events executions. All calls on one clo_flight exclude each other, and no other
 * thread may read the runtime's records.
 *
 * Library: libclotho-decide. */
#ifndef CLOTHO_FLIGHT_H
#define CLOTHO_FLIGHT_H

#include <clotho/job.h>
#include <clotho/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clo_flight clo_flight; /* opaque: owns memory */

typedef struct clo_flight_config {
    /* Set by CLO_FLIGHT_CONFIG_INIT. */
    size_t size;

    /* How many of the last releases to keep; 0: 64. More than may be in flight at once. */
    uint32_t last;

    /* How many late ones to keep beyond those; 0: 64. */
    uint32_t late;

    /* As clo_job_config.period_ns. 0: no release is due, and none is late. */
    int64_t period_ns;

    /* As clo_job_config.deadline_ns, after a release was due. 0: the period. */
    int64_t deadline_ns;

    /* Executions of one release, at most; 0: one for each instance. More where a plan has replicas, or with hedges. */
    uint32_t executions;
} clo_flight_config;

#define CLO_FLIGHT_CONFIG_INIT CLO_SIZED_INIT(clo_flight_config)

/* Most releases that a clo_flight keeps, both numbers of the config together. */
#define CLO_FLIGHT_RELEASES_MAX (1u << 20)

/* What was seen since clo_flight_begin. */
typedef struct clo_flight_counts {
    /* Set by CLO_FLIGHT_COUNTS_INIT. */
    size_t size;

    /* Releases of which an execution was seen, and those of them that were late: some execution ended after the
     * deadline. */
    uint64_t releases, late;

    /* Releases that are kept, and the late ones among them. */
    uint64_t kept, late_kept;

    /* Executions that are not in the releases that are kept, though they belong there: the workers' rings were full
     * (of all jobs), a release had more than clo_flight_config.executions, it had been given up, or the graph has no
     * such task, since the cost is of another job. */
    uint64_t executions_lost;
} clo_flight_counts;

#define CLO_FLIGHT_COUNTS_INIT CLO_SIZED_INIT(clo_flight_counts)

/* Makes one. All of its memory is taken and touched here: about 32 bytes for each execution of each release kept, and
 * 1 KiB for each worker.
 *
 *   runtime  with recorder_events; borrowed until clo_flight_destroy.
 *   cost     of the job; its graph and platform are borrowed likewise.
 *   config   NULL: all defaults. Copied.
 *   out      the flight, owned by the caller.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  also: the runtime is of another platform, negative times, unknown config fields
 *   CLO_ERR_LIMIT     more than CLO_FLIGHT_RELEASES_MAX releases
 *   CLO_ERR_MEMORY
 *
 * Threads: any. Real time: no. O(releases * executions). */
CLO_API CLO_NODISCARD clo_status clo_flight_create(clo_runtime *runtime, const clo_cost *cost,
                                                   const clo_flight_config *config, clo_flight **out);

/* Frees it. NULL is allowed.
 * Threads: one. Real time: no. O(1). */
CLO_API void clo_flight_destroy(clo_flight *flight);

/* From now on the flight is of the last submit of this job; what it had is forgotten. Records that were not read are
 * of this submit, if they are of this job and later.
 *
 *   job  of the flight's runtime, submitted; not used after this call.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (NULL, no job of the runtime) or CLO_ERR_STATE (never submitted; this process was
 * forked).
 * Threads: one at a time. Real time: no: as clo_runtime_visit_jobs. O(jobs_max + releases). */
CLO_API CLO_NODISCARD clo_status clo_flight_begin(clo_flight *flight, const clo_job *job);

/* Reads all records that there are, in order of time. Records of other jobs are dropped. Before clo_flight_begin it
 * reads nothing.
 *
 * Returns the number of executions of the job that were read; 0 for NULL.
 * Threads: one at a time. Real time: yes: no system call, no memory. O(records * workers), and O(late releases kept)
 * for each late release. */
CLO_API size_t clo_flight_read(clo_flight *flight);

/* Counts what was read.
 *
 *   out  set out->size with CLO_FLIGHT_COUNTS_INIT.
 *
 * Returns CLO_OK or CLO_ERR_ARGUMENT (also: out->size is wrong).
 * Threads: one at a time. Real time: yes. O(releases kept). */
CLO_API CLO_NODISCARD clo_status clo_flight_count(const clo_flight *flight, clo_flight_counts *out);

/* Copies the executions that are kept. Times count from the submit of the job; transfer_ns is 0, as records do not have
 * it, and is_lost too. A release whose executions have not all ended is there with those that have.
 *
 *   out  the trace, owned by the caller; it may be empty.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT or CLO_ERR_MEMORY.
 * Threads: one at a time. Real time: no. O(executions * log executions). */
CLO_API CLO_NODISCARD clo_status clo_flight_trace(const clo_flight *flight, clo_trace **out);

#ifdef __cplusplus
}
#endif
#endif
