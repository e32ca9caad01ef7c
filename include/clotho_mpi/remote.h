/* clotho_mpi/remote.h - one plan over several machines, with MPI. Library clotho_mpi, beside clotho.
 *
 * A rank is a machine of the cluster (clotho/cluster.h), in order, and has a runtime of its own. Each rank makes graph,
 * cost and plan for itself; before a run the ranks compare whether all have the same. Each rank runs what the plan
 * gives to its machine. Outputs that another machine needs are sent as soon as they exist, once to each machine, the
 * most urgent first (rank_u of the consumer). Nothing is decided at run time, and nothing moves from machine to machine
 * but what the plan says.
 *
 * The calling thread makes all calls of MPI (MPI_THREAD_FUNNELED), and handles the messages during a run: it polls
 * while a message is due; otherwise it sleeps for 50 us at a time. It is one thread more than there are executors.
 *
 * Ranks that die or stop. Ranks send each other heartbeats. If a rank waits for another rank and hears nothing from
 * it for clo_remote_config.silence_ns, the call returns CLO_ERR_TIMEOUT, and clo_last_error names the other rank and
 * the task whose output is awaited. Bodies and messages of this rank may still be under way then, so after a failure of
 * clo_remote_run only clo_remote_abort may be called. Not promised: that the run goes on. */
#ifndef CLOTHO_MPI_REMOTE_H
#define CLOTHO_MPI_REMOTE_H

#include <clotho/cluster.h>
#include <clotho/plan.h>
#include <clotho/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clo_remote clo_remote; /* opaque: owns communicators */

/* Opens the library on this rank. Initialises MPI, unless it is initialised already. If nobody handles SIGPIPE, the process
 * ignores it from here on: MPI writes into connections that a lost rank has left.
 *
 *   argc, argv  of main, for MPI_Init_thread; may be NULL.
 *   out         owned by the caller.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (out is NULL), CLO_ERR_SYSTEM (MPI fails, or cannot be used beside threads) or
 * CLO_ERR_MEMORY.
 * Threads: one in the whole process, the same for all calls of this header. Real time: no. All ranks must call. */
CLO_API CLO_NODISCARD clo_status clo_remote_open(int *argc, char ***argv, clo_remote **out);

/* Waits until all ranks have called it, so that no rank exits while others still write files.
 *
 *   timeout_ns  a rank that sends no heartbeat for this long is lost; 0: 120 s. Outside the calls of this header a rank
 *               sends none.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_TIMEOUT or CLO_ERR_SYSTEM.
 * Threads: as clo_remote_open. Real time: no. Blocks. All ranks must call. */
CLO_API CLO_NODISCARD clo_status clo_remote_barrier(clo_remote *remote, int64_t timeout_ns);

/* Closes the library on this rank, and finalises MPI if clo_remote_open initialised it. NULL is allowed. Not allowed
 * after a failure of clo_remote_run.
 * Threads: as clo_remote_open. Real time: no. All ranks must call. */
CLO_API void clo_remote_close(clo_remote *remote);

/* Ends all ranks at once (MPI_Abort), without cleaning up; if MPI does not run, only this process. Does not return.
 *
 *   remote  may be NULL.
 *
 * Threads: as clo_remote_open. Real time: no. */
CLO_API void clo_remote_abort(clo_remote *remote, int code);

/* This rank, and their number; 0 for NULL.
 * Threads: any. Real time: yes, O(1). */
CLO_API uint32_t clo_remote_rank(const clo_remote *remote);
CLO_API uint32_t clo_remote_ranks(const clo_remote *remote);

/* Name and version of the MPI library, one line; static.
 * Threads: as clo_remote_open. Real time: no. */
CLO_API const char *clo_remote_engine(void);

typedef struct clo_remote_config {
    /* Set by CLO_REMOTE_CONFIG_INIT. */
    size_t size;

    /* A rank counts as lost after this long without a heartbeat; 0: 1 s. Time during which this rank itself was stopped
     * does not count. */
    int64_t silence_ns;

    /* How much later than the first a rank may begin a run (planning, reading); 0: 120 s. */
    int64_t start_ns;

    /* Most receives that are posted before the run; later ones are taken as they come. 0: 10 000. */
    uint32_t posted_max;

    /* Most messages of more than 64 KiB that are sent at the same time; 0: 4. */
    uint32_t flows_max;

    /* Most receives that are tasks on slots at the same time; 0: 256. */
    uint32_t slots_max;

    /* 1: do not pin workers. */
    uint32_t unpinned;

    /* A message is sent in pieces of this many bytes; at most 2^31 - 1. 0: what the link carries in 1 ms, from 16 KiB
     * to 1 MiB. A piece that takes as long as silence_ns makes a rank that lives look like a lost one. */
    uint64_t piece_bytes;

    /* Checked while the rank waits: a value other than 0 ends the wait with CLO_ERR_CANCELLED, and clo_last_error says
     * what was awaited. For a signal handler. NULL: none. */
    const volatile int *stop;

    /* [CLO_REMOTE_WORDS_BYTES]; receives, ten times a second, one line that says what this rank waits for, with its end
     * of line. For a signal handler of a rank that hangs in MPI, as it may after the death of another rank. NULL:
     * none. */
    char *words;

    /* How many runs this rank will make with this configuration. All ranks must say the same, or the first run is
     * refused. 0: not said. */
    uint32_t runs;
} clo_remote_config;

#define CLO_REMOTE_WORDS_BYTES 512

#define CLO_REMOTE_CONFIG_INIT CLO_SIZED_INIT(clo_remote_config)

/* What a run did; the same on all ranks, where nothing else is said. */
typedef struct clo_remote_result {
    /* Set by CLO_REMOTE_RESULT_INIT. */
    size_t size;

    /* From the first start to the last finish, on the clock of rank 0. */
    int64_t makespan_ns;

    /* Makespan of the plan. */
    int64_t predicted_ns;

    /* Bodies run, replicas included; replicas among them; the sum of their times. */
    uint64_t executed, duplicates_run;
    int64_t busy_ns;

    /* Messages and bytes that the plan sends; messages and bytes that were handed to MPI for them. */
    uint64_t transfers, transferred_bytes;
    uint64_t sent, sent_bytes;

    /* Time during which an executor waited only for inputs from other machines; sum over all executors. */
    int64_t wait_ns;

    /* CPU time of the threads that handle messages. */
    int64_t communication_cpu_ns;

    /* As clo_job_output_hash of a run on one machine. */
    uint64_t output_hash;

    /* How much clocks may differ: half of the largest of the shortest round trips with which they were compared. */
    int64_t clock_error_ns;

    /* Executions that, by the common clock, began before the execution of one of their inputs had ended; the largest
     * such time. */
    uint64_t effects_before_causes;
    int64_t worst_effect_ns;
} clo_remote_result;

#define CLO_REMOTE_RESULT_INIT CLO_SIZED_INIT(clo_remote_result)

/* Runs a plan.
 *
 *   cluster  one machine for each rank.
 *   cost     of the graph, on clo_cluster_platform(cluster).
 *   plan     of that cost; must pass clo_plan_check. All borrowed during the call.
 *   config   NULL: all defaults. Read during the call only.
 *   result   set result->size with CLO_REMOTE_RESULT_INIT.
 *   trace    rank 0: receives what all ranks did, on its clock; owned by the caller. Else NULL. May be NULL.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT     also: not as many ranks as machines, the cost is of another platform
 *   CLO_ERR_INVALID      graph, platform, times or plan differ from rank to rank (clo_last_error says which); the plan
 *                        does not pass the checker
 *   CLO_ERR_TASK         a body of this rank failed
 *   CLO_ERR_TIMEOUT      nothing was heard from a rank
 *   CLO_ERR_CANCELLED    config->stop is not 0
 *   CLO_ERR_SYSTEM       MPI fails
 *   CLO_ERR_LIMIT        more transfers than MPI has tags (MPI_TAG_UB), too many pairs of instances, too much memory
 *   CLO_ERR_UNSUPPORTED  a task may pend, a machine is not coherent
 *   CLO_ERR_MEMORY, and what clo_runtime_create and clo_job_create return
 *
 * Threads: as clo_remote_open. Real time: no. Blocks. All ranks must call. */
CLO_API CLO_NODISCARD clo_status clo_remote_run(clo_remote *remote, const clo_cluster *cluster, const clo_cost *cost,
                                                const clo_plan *plan, const clo_remote_config *config,
                                                clo_remote_result *result, clo_trace **trace);

#ifdef __cplusplus
}
#endif
#endif
