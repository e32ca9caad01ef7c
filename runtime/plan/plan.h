/* plan/plan.h - the plan as the module itself reads it. */
#ifndef CLO_PLAN_PLAN_H
#define CLO_PLAN_PLAN_H

#include "graph/graph.h"
#include "plan/facts.h"
#include "plan/schedule/schedule.h"

#include <clotho/plan.h>

/* What a run made of a task. */
typedef struct clo_plan_outcome {
    uint32_t arm; /* of a branch that ran */
    uint8_t ran, skipped;
} clo_plan_outcome;

struct clo_plan {
    const char *planner;       /* inside the same block, or `name`                            */
    char *name;                /* owned; NULL: none was given (clo_plan_set_planner)          */
    clo_placement *placements; /* [count] likewise; sorted by start, finish, executor, topological order */
    size_t count;
    int64_t makespan_ns;
    int64_t interval_ns;                  /* between releases (pipeline.h); 0: none */
    uint64_t schedules;                   /* built to find it; 0: not by a planner */
    bool is_optimal;                      /* proved                                */
    bool is_emulated;                     /* the times are of an emulated run      */
    uint32_t tasks, instances, executors; /* of the graph and platform it is for   */
    clo_plan_outcome *outcome;            /* [tasks] of a run of a graph with branches; else NULL */
    void *block;                          /* what clo_plan_destroy frees            */
};

/* A plan of what was placed; owned by the caller. Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_plan_from_schedule(const clo_schedule *schedule, const char *planner, clo_plan **out);

#endif
