/* plan/heft/deft.h - the choice of DEFT for one instance, for other planners. */
#ifndef CLO_PLAN_HEFT_DEFT_H
#define CLO_PLAN_HEFT_DEFT_H

#include "library.h"
#include "plan/schedule/schedule.h"

/* Places one instance, whose producers are placed, by DEFT: with a duplicate of its critical parent where that lets it
 * end first. Returns CLO_OK or CLO_ERR_MEMORY. */
CLO_INTERNAL clo_status clo_deft_place(clo_schedule *schedule, uint32_t instance);

/* The same on an executor that can run it. */
CLO_INTERNAL clo_status clo_deft_place_on(clo_schedule *schedule, uint32_t instance, uint32_t executor);

/* The same, but nothing starts before available_ns[executor]; NULL: gaps are filled. */
clo_status clo_deft_place_behind(clo_schedule *schedule, uint32_t instance, const int64_t *available_ns);

/* DEFT as published, without the compaction that the planner adds. */
CLO_INTERNAL clo_status clo_deft_place_all(clo_schedule *schedule);

/* The same in the order of schedule->order, which is filled. */
CLO_INTERNAL clo_status clo_deft_place_ordered(clo_schedule *schedule);

#endif
