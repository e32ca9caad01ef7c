/* plan/synch/synch.h - the plan of a workload, as the files of this module see it. */
#ifndef CLO_PLAN_SYNCH_SYNCH_H
#define CLO_PLAN_SYNCH_SYNCH_H

#include <clotho/synch.h>

const clo_workload *clo_synch_workload(const clo_synch *synch);
uint32_t clo_synch_executors(const clo_synch *synch);

#endif
