/* run/body/hedge.h - hedges: second executions of instances that take long (clo_job_config.hedge_after_ns).
 *
 * A body that may be hedged arms its worker's timeout (sync/sleep/timeout_slot.h). When that is due before the body has
 * ended, the watchdog claims it and puts the hedge into the mailbox of another worker (clo_worker.hedge), which runs it
 * next. From there it is taken back where its first is over before. The job's end counts each pair once
 * (clo_pairs_begin), so a hedge or a loser that is still about keeps the job. */
#ifndef CLO_RUN_BODY_HEDGE_H
#define CLO_RUN_BODY_HEDGE_H

#include "run/state/pair.h"
#include "run/state/runtime.h"
#include "run/state/worker.h"

/* Copies what the config says, if anything, or refuses it. Everything lies in `arena`. */
clo_status clo_hedges_create(clo_job *job, const clo_job_config *config, clo_arena *arena);

/* Before an execution of a pair is run; a hedge takes what it demands, if that fits at once (*holds). False: it is a
 * hedge that will not begin. */
bool clo_hedge_begin(clo_worker *worker, clo_job *job, uint32_t execution, bool *holds);

/* Right before the body of the first of a pair. Wait-free; at most one system call. */
void clo_hedge_arm(clo_worker *worker, const clo_job *job, uint32_t execution);

/* What the end of an execution of a pair leaves to be done, in this order. */
typedef struct clo_hedge_end {
    /* Release whom `first` releases. */
    bool releases;
    /* Count the pair as over, with clo_job_count_end. Unless this is set the job may be gone after the release. */
    bool is_last;
    uint32_t first;
} clo_hedge_end;

/* The execution of a pair is over: worker->pair_code and pair_is_cut say how. Tells the other one if it has lost. */
clo_hedge_end clo_hedge_finish(clo_worker *worker, clo_job *job, uint32_t execution);

/* The watchdog: hands out the hedges that are due. Returns when the next one will be. O(workers), and for each hedge
 * until it has seen enough workers that can run it: at most 1024. */
int64_t clo_hedges_look(clo_runtime *runtime, int64_t now_ns);

#endif
