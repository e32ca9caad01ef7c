/* run/threads/help.h - a thread that waits for a short job helps: it borrows what a sleeping worker has
 * (sync/sleep/park.h) and runs tasks of the job as that worker, which sleeps on. So a job that one thread submits and
 * waits for needs neither a wake-up on its way out nor one on its way back. A job that lies still where it was left is
 * the thread's alone (unshared.h), until it has something to spare. Of jobs that are not small it runs those that are
 * quicker so (serial.h), and leaves them to the workers then.
 *
 * The thread runs tasks of its own job only: a body of another job could take long, or wait for this very thread. It
 * gives the worker back when the job is over, when there has been nothing to do for spin_ns, and when somebody calls
 * for the worker on behalf of other jobs. Of a short planned job it borrows all workers, and runs the whole
 * (run/state/serial_plan.h) or nothing. Only jobs that the fast path runs and whose tasks may run anywhere, or have a
 * plan, are helped, without periods or policies; only clo_job_wait helps, not waits with a time limit; and threads that
 * are workers or watchdogs, of any runtime, never do. */
#ifndef CLO_RUN_THREADS_HELP_H
#define CLO_RUN_THREADS_HELP_H

#include "run/state/job.h"

/* Runs tasks of the job on the calling thread, if it may. True: the job is over, and the calling thread reads what it
 * left (sync/protocol/phase.h); false: it may be over or not. */
bool clo_job_help(clo_job *job);

#endif
