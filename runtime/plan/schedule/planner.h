/* plan/schedule/planner.h - what a planner is. Its description stands in its own file; plan/registry.c lists them
 * all. */
#ifndef CLO_PLAN_SCHEDULE_PLANNER_H
#define CLO_PLAN_SCHEDULE_PLANNER_H

#include "plan/schedule/schedule.h"

/* Executions of each instance, on average, where the paper knows no bound. */
enum { CLO_EXECUTIONS_EACH = 4 };

typedef struct clo_planner_desc {
    const char *name, *summary;
    /* Executions of each instance, on average, that clo_schedule_open makes room for. */
    uint32_t executions_each;
    /* Gets an open, empty schedule and fills it. Returns CLO_OK or as clo_plan_create. */
    clo_status (*fill)(clo_schedule *schedule, const clo_plan_config *config);
    /* It looks at clo_plan_config.keys, and at .model. */
    bool takes_keys, takes_model;
} clo_planner_desc;

#endif
