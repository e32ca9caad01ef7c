/* quality.h - what the parts of bench-quality share. */
#ifndef CLO_BENCH_QUALITY_H
#define CLO_BENCH_QUALITY_H

#include "quality/comparison.h"

enum { COMPARISONS_MAX = 96 };

typedef struct quality {
    bench_options options;
    const char *data, *only, *svg;
    bench_list planners, budgets;            /* as asked for; empty: the defaults */
    uint32_t jobs;                           /* of tables with several numbers of jobs, only these; 0: all */
    uint32_t instances_max;                  /* of a set; 0: its own limit        */
    candidates *candidates[COMPARISONS_MAX]; /* owned, one a part                 */
    comparison comparisons[COMPARISONS_MAX];
    uint32_t candidates_count, comparisons_count;
    bool justifies;   /* each planner with double justification, too */
    bool has_skipped; /* a part that was asked for */
} quality;

/* True if `part` is asked for: no --only, or one that `part` begins with. */
bool quality_wants(const quality *q, const char *part);
/* The planners asked for, else `planners` (NULL: all; those that are not registered are left out), with the budgets
 * asked for, else `budgets`. NULL where it fails. */
candidates *quality_candidates(quality *q, const char *const *planners, const bench_list *budgets);
/* The next comparison, opened; NULL where it fails. */
comparison *quality_comparison(quality *q, const char *name, comparison_style style, candidates *chosen,
                               const char *baseline);
/* Prints it, or, without instances, says that it is skipped. */
void quality_done(quality *q, comparison *c);
void quality_skip(quality *q, const char *part, const char *why);

#endif
