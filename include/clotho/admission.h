/* admission.h - a test before the run: will the jobs of a workload meet their deadlines?
 *
 * The scheduler never preempts: a running body keeps its executor, even while a job of a higher band waits. The test
 * bounds the response time of each job under that rule. It follows Melani et al. (2015, DAGs under preemption) and
 * Serrano et al. (2016, limited preemption), here for executors of different speeds:
 *
 *   Start at the instance that ends last and go back to an entry, at each step to the predecessor that ended last: this
 *   is the path. While an instance of the path waits, all executors that may run it are busy: with other instances of
 *   the job, with jobs of its own or a higher band, or with a body of a lower band that began before (one for each
 *   executor, each time that the path waits). Let k be the smallest number of executors that any task of the job may
 *   run on. Then
 *
 *     response <= path + (work - path + interference(response) + blocking(path)) / k
 *
 * (Graham 1966 for one isolated job). Work is the sum of the longest times on any executor, with the longest transfers
 * of the inputs. Interference counts every release of the other jobs that may fall into the window, also releases from
 * up to one deadline before it. With CLO_ADMISSION_EDF, releases of other jobs in the same band count only if their
 * deadline is not later (as in Baruah 2007); later ones count as bodies that block.
 *
 * "Admitted" guarantees that no release of the job ends after its deadline, in virtual time, as long as three
 * conditions hold: no release comes earlier than `period_ns` after the one before it; no body takes longer than its
 * time in the cost model (plus overhead_ns); and the policy is greedy: it leaves no executor idle that could run a
 * ready instance of the band. Of the built-in policies fifo, fair, edf, rank and steal are greedy; eft and deft are
 * not. The test does not know other jobs of the runtime, work stealing or replayed plans. On real workers nothing of
 * this is a guarantee: the operating system and the machine add delays. Leave room for them in overhead_ns.
 *
 * "Refused" means that no policy can meet all deadlines of the job (the longest chain of fastest times is longer than
 * the deadline, or its releases need more time than all executors have).
 *
 * "Unknown" is everything between, and what the analysis does not cover: demands of capacities, limits of executors,
 * and periodic jobs beside an unknown job of the same or a higher band.
 *
 * Library: libclotho-decide. */
#ifndef CLOTHO_ADMISSION_H
#define CLOTHO_ADMISSION_H

#include <clotho/policy.h>
#include <clotho/workload.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum clo_admission {
    CLO_ADMISSION_UNKNOWN = 0,
    CLO_ADMISSION_ADMITTED = 1,
    CLO_ADMISSION_REFUSED = 2
} clo_admission;

/* What the test knows about the policy. */
typedef enum clo_admission_order {
    /* Greedy, in any order within a band. */
    CLO_ADMISSION_GREEDY = 0,

    /* Greedy, and the earliest deadline first: the policy "edf". */
    CLO_ADMISSION_EDF = 1
} clo_admission_order;

typedef struct clo_admission_config {
    /* Set by CLO_ADMISSION_CONFIG_INIT. */
    size_t size;

    clo_admission_order order;

    /* Added to the time of each instance, for what a real runtime costs; >= 0. */
    int64_t overhead_ns;
} clo_admission_config;

#define CLO_ADMISSION_CONFIG_INIT CLO_SIZED_INIT(clo_admission_config)

/* The answer for one job. Without a size field: they come in an array. */
typedef struct clo_admission_job {
    clo_admission verdict;

    /* Why the job is not admitted: one line, static; "" if it is admitted. */
    const char *reason;

    /* The deadline that was tested, counted from the release; for a periodic job without a deadline: its period.
     * CLO_TIME_NEVER: no deadline, so nothing can be missed. */
    int64_t deadline_ns;

    /* Bound of the response time; CLO_TIME_NEVER: none was found. If the job is not admitted, the bound is no
     * guarantee. */
    int64_t response_ns;

    /* The part of response_ns that comes from blocking: bodies that are not preempted. */
    int64_t blocking_ns;

    /* The longest chain of fastest times: no response is shorter. */
    int64_t fastest_ns;

    /* Longest work over the period; 0 for a job that is not periodic. */
    double utilization;
} clo_admission_job;

typedef struct clo_admission_result {
    /* Set by CLO_ADMISSION_RESULT_INIT. */
    size_t size;

    /* REFUSED: a job is refused, or the set as a whole (overloaded_band). ADMITTED: every job is admitted. */
    clo_admission verdict;

    /* Jobs by verdict. */
    uint32_t admitted, unknown, refused;

    /* The first band b for which the jobs of bands 0 .. b need more work done by their deadlines than all executors can
     * do in that time, under any policy (for endless periodic jobs: more than they can do in the long run, Liu and
     * Layland 1973); CLO_NONE: none. */
    uint32_t overloaded_band;

    /* By band: the sum of work / period over its periodic jobs, with the fastest and with the longest times, in
     * executors. */
    double utilization_least[CLO_BANDS_MAX], utilization_most[CLO_BANDS_MAX];
} clo_admission_result;

#define CLO_ADMISSION_RESULT_INIT CLO_SIZED_INIT(clo_admission_result)

/* Tests the jobs of a workload on a platform. Arrivals are used for the refusals only: an admitted set meets its
 * deadlines whenever its jobs arrive (a job without period: once).
 *
 *   workload  borrowed during the call.
 *   platform  likewise.
 *   config    NULL: all defaults. Read during the call only.
 *   jobs      [jobs of the workload] receives the answer for each; may be NULL.
 *   result    set result->size with CLO_ADMISSION_RESULT_INIT; may be NULL.
 *
 * Returns CLO_OK whatever the verdict is, or
 *   CLO_ERR_ARGUMENT  also: unknown config fields, an unknown order, a negative overhead, result->size is wrong, a band
 *                     that does not exist
 *   CLO_ERR_PLATFORM  a task of some job can run nowhere on the platform
 *   CLO_ERR_LIMIT     as clo_cost_create
 *   CLO_ERR_MEMORY
 *
 * Threads: any, while nobody changes the workload. Real time: no. O(jobs * (periodic jobs * steps to the fixed point +
 * tasks * executors) + edges * executors^2). */
CLO_API CLO_NODISCARD clo_status clo_admission_test(const clo_workload *workload, const clo_platform *platform,
                                                    const clo_admission_config *config, clo_admission_job *jobs,
                                                    clo_admission_result *result);

#ifdef __cplusplus
}
#endif
#endif
