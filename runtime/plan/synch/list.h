/* plan/synch/list.h - the preemptive list scheduler behind preempt.h. */
#ifndef CLO_PLAN_SYNCH_LIST_H
#define CLO_PLAN_SYNCH_LIST_H

#include "plan/synch_lp/problem.h"

#define CLO_SYNCH_PROGRESS_ONE (INT64_C(1) << 40)

/* A stretch of one task (a unit: tasks are numbered over all kinds, those of one kind in a row) on one executor. */
typedef struct clo_synch_run {
    uint32_t kind, index, executor;
    int64_t start_ns, finish_ns;
} clo_synch_run;

typedef struct clo_synch_runs {
    clo_synch_run *run;
    size_t count, room;
} clo_synch_runs;

/* One task on one group, at most for limit_ns. */
typedef struct clo_synch_entry {
    uint32_t unit, group;
    int64_t limit_ns;
    int64_t spent_ns; /* written by the scheduler; 0 before */
} clo_synch_entry;

typedef struct clo_synch_list {
    const clo_synch_problem *problem;
    const uint32_t *kind_of;  /* [problem->tasks] kind of each unit */
    const uint32_t *index_of; /* [problem->tasks] its number among the units of the kind */
    clo_synch_entry *entries; /* by falling priority; every unit has one without limit (INT64_MAX) */
    size_t count;
    bool
        is_psrs; /* what runs goes on, but for the first task that takes more than half of a machine's resource: once it
                     has been the first of these for 2.8 of its times it goes before all */
} clo_synch_list;

/* Schedules all units. `runs` receives the stretches in order of their ends; on a failure nothing is in it. */
clo_status clo_synch_list_run(clo_synch_list *list, clo_synch_runs *runs);

#endif
