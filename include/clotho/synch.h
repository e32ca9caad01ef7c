/* synch.h - plans of whole workloads for the weighted sum of completion times: jobs of parallel tasks without
 * precedence, which demand capacities of the machine they run on and may be restricted to some executors
 * (SynchPack: "Scheduling Parallel-Task Jobs Subject to Packing and Placement Constraints").
 *
 * A job is done when all its tasks are. The objective is the sum of weight * completion time over all jobs, times
 * counted from the start of the workload. docs/SCHEDULERS.md says how each planner works and what is proven about it.
 *
 * The planners:
 *   synchpack-1       preemptive, tasks move between machines; LP1 (proven ratio 6 + eps)
 *   synchpack-2       non-preemptive; LP2, or without LP the earliest interval with room (24)
 *   synchpack-3       preemptive, every task is bound to one machine; LP3, or the primal-dual reverse rule (4)
 *   psrs              preemptive Smith ratio (Schwiegelshohn 2004): a comparator
 *   tetris-weighted   non-preemptive packing score with weights: a comparator
 *   jsq-maxweight     non-preemptive: join the shortest queue, serve the heaviest: a comparator
 *
 * Library: libclotho-decide. */
#ifndef CLOTHO_SYNCH_H
#define CLOTHO_SYNCH_H

#include <clotho/log.h>
#include <clotho/workload.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whether linear programs are solved (by CLP, which is loaded when the first one is). */
typedef enum clo_synch_lp {
    /* If CLP is available: the better plan of the forms with and without LP. Otherwise: the form without. synchpack-1
     * has only the form with LP. */
    CLO_SYNCH_LP_AUTO = 0,

    /* Only the form with LP: without CLP the call fails. */
    CLO_SYNCH_LP_ALWAYS = 1,

    /* Never. */
    CLO_SYNCH_LP_NEVER = 2
} clo_synch_lp;

typedef struct clo_synch_config {
    /* Set by CLO_SYNCH_CONFIG_INIT. */
    size_t size;

    /* One of the planners above; NULL: "synchpack-2". */
    const char *planner;

    /* clo_synch_lp. */
    uint32_t lp;

    /* Ratio of the LP's intervals: each ends this many percent later than the one before it. 0: the smallest number
     * from 10 to 100 that keeps the LP small. Any number gives a valid bound; a smaller number gives a better bound and
     * a larger LP. */
    uint32_t grid_percent;

    /* > 0: online. Jobs are planned only once they have arrived. At each arrival everything that has not started is
     * planned anew, quickly (no LP, the first order of jobs). At replan_ns, and then after intervals that grow by
     * replan_growth_percent each, it is planned thoroughly (LP as `lp` says, and improved orders of jobs). synchpack-2
     * only; the comparators that do not preempt are online in any case. 0: all jobs are known from the start, and none
     * starts before it arrives. */
    int64_t replan_ns;

    /* 0: 100, each interval is twice the one before it. */
    uint32_t replan_growth_percent;

    /* Most seconds that one LP may take; 0: 60. A solver that has not ended by then counts as having given up. */
    uint32_t lp_seconds;
} clo_synch_config;

#define CLO_SYNCH_CONFIG_INIT CLO_SIZED_INIT(clo_synch_config)

/* One stretch of one task on one executor. A task that is never preempted has one. Without a size field: pieces come in
 * an array. */
typedef struct clo_synch_piece {
    /* Index in the workload, task of its graph, instance of the task. */
    uint32_t job, task, instance;

    /* Of the platform. */
    uint32_t machine, executor;

    /* From the start of the workload. finish_ns is exclusive. */
    int64_t start_ns, finish_ns;
} clo_synch_piece;

/* Figures of a plan. Weighted sums are in ns times weight. */
typedef struct clo_synch_figures {
    /* Set by CLO_SYNCH_FIGURES_INIT. */
    size_t size;

    /* The sum of weight * completion time. */
    int64_t weighted_completion;

    /* A lower bound of that sum for all schedules, preemptive or not (but see lp_bound). It is the larger of two
     * bounds: one for a single machine that pools all machines, in Smith's order; and one for each job alone, whose
     * tasks all machines share. */
    int64_t free_bound;

    /* The LP's bound; 0: no LP was solved. That of synchpack-2 holds for schedules without preemption only. */
    int64_t lp_bound;

    /* The last finish. */
    int64_t makespan_ns;

    /* Columns, rows and non-zeros of the (largest) LP; 0: none. */
    uint32_t lp_columns, lp_rows, lp_elements;

    /* Times the workload was planned thoroughly; 1 offline. */
    uint32_t rounds;

    /* 1: a task may have several pieces. */
    uint32_t is_preemptive;
} clo_synch_figures;

#define CLO_SYNCH_FIGURES_INIT CLO_SIZED_INIT(clo_synch_figures)

typedef struct clo_synch clo_synch; /* opaque: owns its pieces */

/* Plans all jobs of `workload` on `platform`.
 *
 *   workload  borrowed until clo_synch_destroy, with its graphs; must not change meanwhile.
 *   platform  borrowed likewise.
 *   config    NULL: all defaults. Read during the call only.
 *   out       the plan, owned by the caller; untouched on failure.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT     no jobs, an unknown planner or field, replan_ns with a planner that does not know it
 *   CLO_ERR_PLATFORM     no executor can run a task; synchpack-3: a task may run on more than one machine
 *   CLO_ERR_INVALID      a job does not fit the model: its graph has edges, it is periodic, has a limit, or the jobs
 *                        are of several bands. Also: the LP has no solution, or numbers that the solver cannot handle
 *   CLO_ERR_UNSUPPORTED  an LP was asked for, and CLP is not built in or not on this machine; clo_last_error says which
 *   CLO_ERR_TIMEOUT      the LP solver gave up at lp_seconds, or at its own limit of iterations
 *   CLO_ERR_LIMIT        a sum of weights and times beyond 2^62, or more than 2^24 tasks
 *   CLO_ERR_MEMORY
 * clo_last_error names the job, or the LP.
 *
 * CLO_SYNCH_LP_AUTO does not hide a failure of a solver that is there.
 *
 * Not promised: the same plan on other machines where an LP was solved (an LP has several optima). Without LP only
 * integers are used, and the plan is the same everywhere.
 * Threads: any. Real time: no. O(tasks^2), up to 512 times for orders of jobs (less often beyond 2000 tasks), online
 * once more for each arrival; and the LP. */
CLO_API CLO_NODISCARD clo_status clo_synch_create(const clo_workload *workload, const clo_platform *platform,
                                                  const clo_synch_config *config, clo_synch **out);

/* Frees a plan. NULL is allowed.
 * Threads: one. Real time: no. O(1). */
CLO_API void clo_synch_destroy(clo_synch *synch);

/* The pieces, owned by the plan, in order of their starts.
 *   count  receives their number; may be NULL.
 * Returns NULL without a plan.
 * Threads: any. Real time: yes, O(1). */
CLO_API const clo_synch_piece *clo_synch_pieces(const clo_synch *synch, size_t *count);

/* The figures of a plan.
 *   out  set out->size with CLO_SYNCH_FIGURES_INIT.
 * Returns CLO_OK or CLO_ERR_ARGUMENT.
 * Threads: any. Real time: yes, O(1). */
CLO_API CLO_NODISCARD clo_status clo_synch_measure(const clo_synch *synch, clo_synch_figures *out);

/* Writes the plan as a log, which clo_stream_check judges. Its header names no run and no policy: nobody can replay it.
 *
 *   out  the log, owned by the caller.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT or CLO_ERR_MEMORY.
 * Threads: any. Real time: no. O(n log n) in tasks. */
CLO_API CLO_NODISCARD clo_status clo_synch_log(const clo_synch *synch, clo_log **out);

/* True if this library can solve LPs here: it was built with CLP, and CLP can be loaded.
 * Threads: any. Real time: no. */
CLO_API bool clo_synch_has_lp(void);

#ifdef __cplusplus
}
#endif
#endif
