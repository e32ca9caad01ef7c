/* plan/list/flb_saga.h - FLB with SAGA's rules, for platforms that follow its conventions. */
#ifndef CLO_PLAN_LIST_FLB_SAGA_H
#define CLO_PLAN_LIST_FLB_SAGA_H

#include "plan/schedule/schedule.h"

/* Fills an empty schedule. Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_flb_saga_fill(clo_schedule *schedule);

#endif
