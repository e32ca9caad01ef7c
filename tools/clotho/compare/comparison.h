/* comparison.h - contenders beside each other on the same cases: planners on graphs, policies on seeds.
 *
 * A case has one value for each contender and figure (a makespan, say), NAN where there is none; below, a figure is
 * compared with that of one of the contenders, the baseline, case by case, so that how cases differ cancels out. */
#ifndef CLO_TOOLS_CLOTHO_COMPARE_COMPARISON_H
#define CLO_TOOLS_CLOTHO_COMPARE_COMPARISON_H

#include "clotho/common/options.h"
#include "clotho/compare/statistics.h"

enum { COMPARISON_FIGURES_MAX = 4 };

typedef struct contender {
    const char *name;
    uint32_t index;                         /* as it was asked for, whatever comparison_rank does */
    double *values[COMPARISON_FIGURES_MAX]; /* [figures][cases] */
    size_t failed;                          /* cases without a value; counted by the caller */
    /* The rest by comparison_summarise. */
    paired_ratio ratios[COMPARISON_FIGURES_MAX];
    size_t done; /* cases with a value */
    size_t best; /* of them those where no other's first figure is lower */
} contender;

typedef struct comparison {
    contender *rows; /* [count] */
    uint32_t count, figures;
    uint32_t baseline; /* index into rows */
    size_t cases, capacity;
} comparison;

/* Begins one without cases. The names are borrowed. False: no memory; comparison_close is safe all the same. */
bool comparison_open(comparison *c, const option_list *names, uint32_t baseline, uint32_t figures);

/* Adds a case without values, the last one. False: no memory. */
bool comparison_add_case(comparison *c);
/* Takes the last case back. */
void comparison_drop_case(comparison *c);

void comparison_summarise(comparison *c);
/* Sorts the rows by their first ratio, those without one last. */
void comparison_rank(comparison *c);
void comparison_close(comparison *c);

/* The index of `asked` among the names; NULL: that of `usual`, else 0. kind: "planner". Returns an exit code, after an
 * error line where it is not among them. */
int comparison_baseline(const option_list *names, const char *asked, const char *usual, const char *kind,
                        uint32_t *index);

#endif
