/* run/sharing/serial.h - which jobs of many executions one thread runs alone, the one that waits for them (help.h,
 * unshared.h): those whose bodies are so short that other workers would slow it down.
 *
 * To share such a job moves cache lines for nearly each task, and what that costs depends on the machine and on the
 * graph. So both ways are measured from submit to end, per execution, and the quicker one is taken; now and then the
 * other one is tried again. The first run of a job is never serial: its bodies could be long. A serial run looks at the
 * clock, and gives all that is left to the workers once bodies take longer than they are worth.
 *
 * A small planned job (run/state/serial_plan.h) is serial from its first run on, since its tasks are declared short,
 * until bodies were seen to take longer; then it is tried again now and then. */
#ifndef CLO_RUN_SHARING_SERIAL_H
#define CLO_RUN_SHARING_SERIAL_H

#include "run/state/job.h"

/* Bodies that take so long are worth sharing on any machine. */
#define CLO_SERIAL_SURE_NS 200

/* Judges the last run, and decides how the next one begins. Between runs; the submitter only. */
void clo_serial_decide(clo_job *job);

/* What a serial run knows of bodies: it goes on alone. `ready`: executions that wait meanwhile. */
bool clo_serial_pays(const clo_job *job, int64_t task_time_ns, uint32_t ready);

/* A serial run has ended, or is given to the workers since an execution takes that long. Whoever runs it. */
void clo_serial_note(clo_job *job, int64_t execution_ns);

#endif
