/* run/dispatch/unshared.h - a job that one thread has to itself: it was left for the thread that waits for it
 * (deferred.h), and nothing of it is visible to anybody else. It is small, or its run is serial (serial.h).
 *
 * So counters are plain, ends are not counted, and an item costs its body and little else. Once more is ready than the
 * thread should run by itself, or somebody calls for the worker that it has borrowed, the rest of the run takes the
 * general path: whoever gets an item from then on finds all that was done before it. */
#ifndef CLO_RUN_DISPATCH_UNSHARED_H
#define CLO_RUN_DISPATCH_UNSHARED_H

#include "run/state/job.h"
#include "run/state/worker.h"

/* Runs the item, those in the worker's deque, and what they release; of a job that may be run so
 * (clo_job_may_be_unshared). CLO_ITEM_NONE: all of the run is done, but for clo_unshared_end; else with this item the
 * general path goes on. */
uint64_t clo_unshared_run(clo_worker *worker, clo_job *job, uint64_t item);

/* How far one thread has come with a planned job. Zeroed: nothing has run. */
typedef struct clo_serial_progress {
    /* Steps of the serial plan that were run. */
    uint32_t done;
    /* Bodies take too long: their workers should have the rest. */
    bool is_long;
    /* Steps that were run when the counter was read last, and when that was. */
    uint32_t judged;
    int64_t since_ticks;
    /* What a body took before that; 0: not known. */
    int64_t window_ns;
} clo_serial_progress;

/* Goes on with a planned job (run/state/serial_plan.h) of which nothing is visible to others; the caller stands in for
 * all workers of it. True: all of it has run, but for clo_unshared_end. False: bodies are long, or somebody has called
 * for one of these workers; then go on, or: */
bool clo_unshared_run_plan(clo_job *job, clo_serial_progress *progress);

/* What has not run goes to its workers. The job may end, and be freed, as soon as the last item is given away. */
void clo_unshared_send_plan(clo_job *job, const clo_serial_progress *progress);

/* The run is over; the caller is a reader of the job (sync/protocol/phase.h). */
void clo_unshared_end(clo_worker *worker, clo_job *job);

#endif
