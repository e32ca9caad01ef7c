/* admission.h - will the jobs of a workload meet their deadlines? An answer before anything runs.
 *
 * The scheduler never preempts: a body that runs keeps its executor, also where it is of a lower band. The test bounds
 * the response time of each job under that rule, as Melani et al. (2015) do for DAGs under preemption and Serrano et
 * al.
 * (2016) for limited preemption, here for executors of different speeds:
 *
 *   follow, from the last instance that ends back to an entry, the predecessor that ended last. While an instance of
 *   this path waits, all executors that may run it are busy: with other instances of the job, with jobs of its band and
 *   of higher ones, or with a body of a lower band that began before (one for each executor, each time that the path
 *   waits). So with k, the fewest executors that any of its tasks may run on,
 *
 *     response <= path + (work - path + interference(response) + blocking(path)) / k
 *
 * (Graham 1966 for one job alone). Work counts with the longest time on any executor, the longest transfer of the
 * inputs included. Interference counts every release of the other jobs that may fall into the window, those released up
 * to their deadline before it included. With CLO_ADMISSION_EDF a job of the same band counts only with releases whose
 * deadline is not later (as in Baruah 2007), and with later ones as a body that blocks.
 *
 * What "admitted" guarantees: no release of the job ends after its deadline, in virtual time, while no release comes
 * earlier than `period_ns` after the one before it, no body takes longer than its time in the cost model (plus
 * overhead_ns), and the policy is greedy: it leaves no executor idle that could run a ready instance of the band. Of
 * the built-in policies that is so for fifo, fair, edf, rank and steal, not for eft and deft. Other jobs of the
 * runtime, work stealing and replayed plans are not known to the test. On real workers nothing of this is a guarantee:
 * the operating system and the machine add delays. Leave room for them in overhead_ns.
 *
 * What "refused" says: no policy whatever meets all deadlines of the job (the longest chain of fastest times is longer
 * than the deadline, or its releases need more time than all executors have).
 *
 * "Unknown" is all between, and what the analysis does not cover: demands of capacities, limits of executors, periodic
 * jobs beside an unknown one in the same or a higher band. */
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

/* What is known of the policy. */
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

    /* Why it is not admitted: static, one line; "" where it is. */
    const char *reason;

    /* What was tested: the job's deadline after its release; of a periodic job without one, its period.
     * CLO_TIME_NEVER: none, nothing can be missed. */
    int64_t deadline_ns;

    /* Bound of the response time; CLO_TIME_NEVER: none was found. Of a job that is not admitted it is not a
     * guarantee. */
    int64_t response_ns;

    /* How much of it comes from bodies that block as they are not preempted. */
    int64_t blocking_ns;

    /* The longest chain of fastest times: no response is shorter. */
    int64_t fastest_ns;

    /* Longest work over the period; 0 for a job that is not periodic. */
    double utilization;
} clo_admission_job;

typedef struct clo_admission_result {
    /* Set by CLO_ADMISSION_RESULT_INIT. */
    size_t size;

    /* REFUSED: one job is, or the set as a whole (overloaded_band). ADMITTED: every job is. */
    clo_admission verdict;

    /* Jobs by verdict. */
    uint32_t admitted, unknown, refused;

    /* The first band up to which the deadlines ask for more work than all executors do in the time, whatever the
     * policy (for endless periodic jobs: more than they do in the long run, Liu and Layland 1973); CLO_NONE: none. */
    uint32_t overloaded_band;

    /* By band: work of its periodic jobs over their periods, at its fastest and at its longest, in executors. */
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
