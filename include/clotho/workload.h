/* workload.h - a workload: jobs that arrive over time. Each job names a sealed graph; many jobs may share one.
 *
 * A workload is data: nothing runs here. Build one by hand (create, add), read one from a file (clo_workload_load in
 * io.h), or draw a longer one from it (clo_workload_arrivals). Jobs are numbered from 0 in the order in which they
 * stand in the workload; clo_workload_sort puts them into the order of their arrivals.
 *
 * Library: libclotho-decide. */
#ifndef CLOTHO_WORKLOAD_H
#define CLOTHO_WORKLOAD_H

#include <clotho/graph.h>
#include <clotho/platform.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Times of a workload, deadlines counted from its start included, stay below 2^62 ns (146 years). */
#define CLO_WORKLOAD_TIME_MAX ((INT64_C(1) << 62) - 1)

/* Jobs that one workload may hold. */
#define CLO_WORKLOAD_JOBS_MAX (UINT32_C(1) << 28)

typedef struct clo_workload clo_workload; /* opaque: owns rows, names and some of the graphs */

/* One job of a workload. As an argument: the caller sets `size` by CLO_WORKLOAD_JOB_INIT, and zero is the default of
 * every field but `graph`. As a row that the library shows: made by the library, which appends fields. */
typedef struct clo_workload_job {
    /* Set by CLO_WORKLOAD_JOB_INIT. */
    size_t size;

    /* Names need not differ. NULL: the graph's name. */
    const char *name;

    /* What the job runs; sealed. */
    const clo_graph *graph;

    /* When the job (of a periodic job: its first release) arrives, from the start of the workload; >= 0. */
    int64_t arrival_ns;

    /* After the arrival (periodic: after each release); >= 0. 0: none. */
    int64_t deadline_ns;

    /* Period of a periodic job; >= 0. 0: the job runs once. */
    int64_t period_ns;

    /* Number of releases of a periodic job; 0: until the end of the workload, see clo_workload_releases. 0 if period_ns
     * is 0. */
    uint64_t releases;

    /* How much the job counts in weighted means; 0 means 1. A row never holds 0. */
    uint32_t weight;

    /* 0 .. CLO_BANDS_MAX - 1 (policy.h); jobs of a lower number go first. */
    uint32_t band;

    /* The user or the queue that the job belongs to: fair policies share among groups. */
    uint32_t group;

    /* Most executors that the job holds at once; 0: any number. */
    uint32_t limit;

    /* Where the job stands in its file, from 1; 0: nowhere. For messages only. */
    uint64_t line;
} clo_workload_job;

#define CLO_WORKLOAD_JOB_INIT CLO_SIZED_INIT(clo_workload_job)

/* When the jobs of clo_workload_arrivals arrive. */
typedef enum clo_arrivals {
    /* All at 0. */
    CLO_ARRIVALS_BATCH = 0,

    /* A Poisson process from time 0 on: the gap before each job is exponential with the mean mean_ns. */
    CLO_ARRIVALS_POISSON = 1,

    /* As in the given workload; see clo_workload_arrivals. */
    CLO_ARRIVALS_TRACE = 2
} clo_arrivals;

typedef struct clo_arrivals_config {
    /* Set by CLO_ARRIVALS_CONFIG_INIT. */
    size_t size;

    clo_arrivals kind;

    /* 1: each job is a random one of the given workload, all with the same chance. 0: they come in turn, again from the
     * first if `jobs` is larger. Not with CLO_ARRIVALS_TRACE. */
    uint32_t shuffled;

    /* CLO_ARRIVALS_POISSON: mean gap between two arrivals, > 0. Else 0. */
    int64_t mean_ns;

    /* Fixes every random choice. Jobs and gaps are drawn independently: the gaps of a seed do not depend on `shuffled`,
     * and a larger `jobs` only adds jobs at the end. */
    uint64_t seed;

    /* Number of jobs of the new workload; 0: as many as the given one has. */
    uint32_t jobs;
} clo_arrivals_config;

#define CLO_ARRIVALS_CONFIG_INIT CLO_SIZED_INIT(clo_arrivals_config)

/* Makes an empty workload.
 *
 *   name  copied; NULL: "workload".
 *   out   the workload, owned by the caller.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT or CLO_ERR_MEMORY.
 * Threads: any. Real time: no. O(1). */
CLO_API CLO_NODISCARD clo_status clo_workload_create(const char *name, clo_workload **out);

/* Frees a workload with all that it owns: names, adopted graphs, the platform. NULL is allowed.
 * Threads: one; nobody may use its graphs any more, nor a workload that clo_workload_arrivals made of it.
 * Real time: no. O(jobs + tasks of its own graphs). */
CLO_API void clo_workload_destroy(clo_workload *workload);

/* Adds a job at the end.
 *
 *   job  copied, its name too. job->graph is borrowed until clo_workload_destroy, see clo_workload_adopt.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  no graph; a negative time; releases without a period; a band that does not exist; unknown fields
 *   CLO_ERR_STATE     the graph is not sealed
 *   CLO_ERR_LIMIT     a time beyond CLO_WORKLOAD_TIME_MAX, the deadline of the last release too; more jobs or releases
 *                     than CLO_WORKLOAD_JOBS_MAX
 *   CLO_ERR_MEMORY
 * On a failure the workload is as before.
 *
 * Not promised: that arrivals rise. clo_workload_sort sorts them.
 * Threads: one. Real time: no. Amortised O(length of name). */
CLO_API CLO_NODISCARD clo_status clo_workload_add(clo_workload *workload, const clo_workload_job *job);

/* Gives a graph to the workload, which destroys it in clo_workload_destroy. Any number of jobs may name it.
 *
 *   graph  owned by the workload from now on; on a failure the caller still owns it.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_STATE (the graph is not sealed) or CLO_ERR_MEMORY.
 * Threads: one. Real time: no. Amortised O(1). */
CLO_API CLO_NODISCARD clo_status clo_workload_adopt(clo_workload *workload, clo_graph *graph);

/* Puts the jobs into the order of their arrivals; jobs that arrive together keep theirs.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT or CLO_ERR_MEMORY (the order is as before).
 * Threads: one. Real time: no. O(jobs log jobs); O(jobs) if they are in order. */
CLO_API CLO_NODISCARD clo_status clo_workload_sort(clo_workload *workload);

/* Makes another workload from the jobs of this one, with new arrivals. Everything else of a job stays: its graph, name,
 * weight, deadline, period, releases, band, group and limit.
 *
 * CLO_ARRIVALS_TRACE with more jobs than the workload has repeats it. Each repetition begins one mean gap of the
 * workload after the last arrival of the one before it; the mean gap is (last - first arrival) / (jobs - 1), or for a
 * single job its arrival.
 *
 * The same arguments give the same workload on every machine: integers only. The exponential gaps are exact up to
 * rounding to 2^-32 of the mean, then to whole nanoseconds (von Neumann's comparison method, 1951).
 *
 *   workload  its jobs are read in the order of their arrivals. The new workload shares its graphs: it must outlive the
 *             new one, and must not change meanwhile.
 *   config    NULL: all defaults. Read during the call only.
 *   out       the new workload, owned by the caller. Its jobs stand in the order of their arrivals. Has no platform.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  no jobs, unknown kind, a mean that is not > 0, a mean or `shuffled` for a kind that takes none
 *   CLO_ERR_LIMIT     too many jobs, or an arrival beyond CLO_WORKLOAD_TIME_MAX
 *   CLO_ERR_MEMORY
 *
 * Threads: any. Real time: no. O(jobs of both), and of clo_workload_sort if the given one is not sorted. */
CLO_API CLO_NODISCARD clo_status clo_workload_arrivals(const clo_workload *workload, const clo_arrivals_config *config,
                                                       clo_workload **out);

/* Reading a workload. All calls below this line:
 * Threads: any, while nobody changes the workload. Real time: yes, O(1). */

/* The name, owned by the workload. */
CLO_API const char *clo_workload_name(const clo_workload *workload);

/* Number of jobs. */
CLO_API uint32_t clo_workload_jobs(const clo_workload *workload);

/* Job `index`, owned by the workload and valid until the next add or sort; NULL for an unknown one. Its name is never
 * NULL, its weight never 0. */
CLO_API const clo_workload_job *clo_workload_get(const clo_workload *workload, uint32_t index);

/* How often job `index` runs: 1, or the releases of a periodic job. One whose `releases` is 0 is released until the end
 * of the workload: as long as its release comes no later than the last arrival of a job, or the last release of a
 * periodic job whose releases are counted. 0 for an unknown job. */
CLO_API uint64_t clo_workload_releases(const clo_workload *workload, uint32_t index);

/* The platform that came with the workload, owned by it; NULL: none. */
CLO_API const clo_platform *clo_workload_platform(const clo_workload *workload);

#ifdef __cplusplus
}
#endif
#endif
