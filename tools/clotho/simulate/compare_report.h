/* compare_report.h - what a comparison of policies has found: table, JSON, CSV, picture. */
#ifndef CLO_TOOLS_CLOTHO_SIMULATE_COMPARE_REPORT_H
#define CLO_TOOLS_CLOTHO_SIMULATE_COMPARE_REPORT_H

#include "clotho/compare/comparison.h"
#include "clotho/simulate/simulate.h"

/* What one policy came to with one seed. */
typedef struct compared_run {
    bool is_done;
    uint64_t seed;
    double mean_ns, p95_ns, weighted_ns, makespan_ns, utilization;
    uint64_t late;
    double tardiness_ns; /* the mean of the jobs with a deadline */
} compared_run;

typedef struct policy_runs {
    compared_run *runs; /* [seeds] */
    compared_run mean;  /* of those that are done */
} policy_runs;

typedef struct policy_comparison {
    char *workload, *platform;             /* names; NULL: not known yet        */
    const char *arrivals;                  /* NULL: as in the file */
    bool has_same_runs;                    /* nothing but the policy's own random choices differs from seed to seed */
    comparison comparison;                 /* a case for each seed; figures as in the table */
    policy_runs policies[OPTION_LIST_MAX]; /* by contender.index */
    uint64_t first;                        /* seed */
    size_t seeds;
} policy_comparison;

/* p->first and p->seeds are there. False: no memory; policy_comparison_close is safe all the same. */
bool policy_comparison_open(policy_comparison *p, const option_list *names, uint32_t baseline);
/* The runs of a policy are over: they go into the comparison. failed: how many of them failed. */
void policy_comparison_take(policy_comparison *p, uint32_t index, size_t failed);
/* Prints, and writes --csv and --svg. Returns an exit code. */
int policy_comparison_report(policy_comparison *p, const simulate_options *options);
void policy_comparison_close(policy_comparison *p);

#endif
