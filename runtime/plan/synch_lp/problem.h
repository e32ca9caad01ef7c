/* plan/synch_lp/problem.h - a workload as SynchPack sees it: jobs, kinds of tasks, groups of executors, bins.
 *
 * A *kind* is all tasks of one job with equal times, demands and executors: `count` of them. A *group* is all executors
 * of one machine that no kind can tell apart. A *bin* is what is scarce: the executors of a group, or a resource of a
 * machine; a task on a group takes room in all bins of that group. Bins 0 .. groups-1 are the executors of the groups.
 *
 * Behind the bins of a machine's resource stand up to three that follow from it, levels 1 .. 3: dual feasible functions
 * (Fekete and Schepers 2001). With x the share of the capacity that a task demands, level k counts floor((k + 1) x) /
 * k, or x where (k + 1) x is whole. Whatever fits together in the resource fits in them too, so they forbid nothing;
 * but two tasks of 0.6 fill a machine twice there, not 1.2 times: LPs, bounds and orders see what packing costs.
 *
 * A *load* is the time for which a task fills a whole bin: time * use / capacity. */
#ifndef CLO_PLAN_SYNCH_LP_PROBLEM_H
#define CLO_PLAN_SYNCH_LP_PROBLEM_H

#include <clotho/workload.h>

/* Levels of a bin above 0. */
#define CLO_SYNCH_LEVELS 3u

typedef struct clo_synch_problem {
    const clo_workload *workload;
    const clo_platform *platform;
    uint32_t jobs, kinds, groups, bins, tasks;

    /* [jobs], kind_first [jobs + 1] */
    int64_t *weight, *arrival;
    uint32_t *kind_first;

    /* [kinds], demand [kinds * CLO_RESOURCES_MAX] by the platform's resources, time [kinds * groups],
     * member_first [kinds + 1] into member_task: the tasks of the graph that are of the kind */
    uint32_t *job_of, *count, *member_first, *member_task;
    int64_t *demand, *time;

    /* [groups]; group_first [groups + 1] into group_executor [executors] */
    uint32_t *machine_of, *group_first, *group_executor;

    /* [bins] resource: CLO_NONE for executors. bin_first [groups + 1] into bin_of: the bins of each group */
    int64_t *capacity;
    uint32_t *resource, *level, *bin_machine, *bin_first, *bin_of;

    void *block;
} clo_synch_problem;

/* What is to be planned: left[k] tasks of kind k, from now_ns on. */
typedef struct clo_synch_scope {
    const clo_synch_problem *problem;
    const uint32_t *left;
    int64_t now_ns;
} clo_synch_scope;

clo_status clo_synch_problem_create(const clo_workload *workload, const clo_platform *platform, clo_synch_problem *out);
void clo_synch_problem_destroy(clo_synch_problem *problem);

static inline int64_t clo_synch_time(const clo_synch_problem *p, uint32_t kind, uint32_t group)
{
    return p->time[(size_t)kind * p->groups + group];
}

/* What one task of the kind takes of the bin, in the unit of the bin's capacity. */
static inline int64_t clo_synch_use(const clo_synch_problem *p, uint32_t kind, uint32_t bin)
{
    if (p->resource[bin] == CLO_NONE)
        return 1;
    int64_t demand = p->demand[(size_t)kind * CLO_RESOURCES_MAX + p->resource[bin]], level = p->level[bin];
    if (level == 0)
        return demand;
    int64_t whole = p->capacity[bin] / level, times = (level + 1) * demand;
    return times % whole == 0 ? demand * level : times / whole * whole;
}

/* Earliest time at which a task of the kind may start. */
static inline int64_t clo_synch_release(const clo_synch_scope *s, uint32_t kind)
{
    int64_t arrival = s->problem->arrival[s->problem->job_of[kind]];

    return arrival > s->now_ns ? arrival : s->now_ns;
}

/* floor(a * b / c) of numbers >= 0, c > 0; INT64_MAX where that is more. */
int64_t clo_synch_ratio(int64_t a, int64_t b, int64_t c);

/* Load of `count` tasks on a bin of the group. */
int64_t clo_synch_load(const clo_synch_problem *p, uint32_t kind, uint32_t group, uint32_t bin, uint32_t count);

/* The largest load of one task over the bins of the group, and over those of level 0. */
int64_t clo_synch_largest_load(const clo_synch_problem *p, uint32_t kind, uint32_t group);
int64_t clo_synch_plain_load(const clo_synch_problem *p, uint32_t kind, uint32_t group);

/* The group with the shortest time, the first of equal ones. */
uint32_t clo_synch_fastest(const clo_synch_problem *p, uint32_t kind);

#endif
