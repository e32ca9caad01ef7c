/* run/records/timing.h - counters that more than one file reads. */
#ifndef CLO_RUN_RECORDS_TIMING_H
#define CLO_RUN_RECORDS_TIMING_H

#include <clotho/runtime.h>

/* How often workers have gone to sleep, all together. */
uint64_t clo_runtime_parks(const clo_runtime *runtime);

/* Minor and major page faults of one thread of this process; zeros where the kernel does not tell. */
void clo_thread_faults(int32_t tid, uint64_t faults[2]);

#endif
