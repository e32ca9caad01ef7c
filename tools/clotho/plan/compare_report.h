/* compare_report.h - what a comparison of planners has found: table, JSON, CSV, picture. */
#ifndef CLO_TOOLS_CLOTHO_PLAN_COMPARE_REPORT_H
#define CLO_TOOLS_CLOTHO_PLAN_COMPARE_REPORT_H

#include "clotho/compare/comparison.h"
#include "clotho/plan/make.h"

#include <stdio.h>

/* The rows of a CSV, as text: the file is written whole at the end. */
typedef struct csv_rows {
    FILE *file; /* into `text`; NULL: there was no memory */
    char *text;
    size_t bytes;
    long graph; /* where the rows of the last graph begin */
} csv_rows;

/* Sums over the plans of a planner. */
typedef struct plan_tally {
    double over_bound_logs;     /* logarithms of makespan / lower bound      */
    double over_published_logs; /* of makespan / published makespan, where there is one */
    size_t published;           /* graphs that have one                      */
    double plan_ns;
    size_t failed;
} plan_tally;

typedef struct plan_comparison {
    const plan_options *options;
    comparison comparison;               /* of makespans in ns, at least 1 */
    plan_tally tallies[OPTION_LIST_MAX]; /* by contender.index             */
    csv_rows rows;
    size_t unread; /* graphs, files and operands with an error line */
    /* For the progress line: graph of the file, file of all. */
    size_t graph, file, files;
    char platform[256]; /* ""; they differ, or there is no graph yet */
} plan_comparison;

/* The makespan that is published of the graph on its platform, in ns; 0: none. */
double published_ns(const input *in);

/* `path`: where they will be written; NULL: nowhere. False: no memory. */
bool rows_open(csv_rows *rows, const char *path);
void rows_begin_graph(csv_rows *rows);
/* Takes the rows back that were added since rows_begin_graph. */
void rows_drop_graph(csv_rows *rows);
/* made: NULL: there is no plan. error: NULL: none. */
void rows_add(csv_rows *rows, const input *in, const char *planner, const planned *made, const char *error);
void rows_close(csv_rows *rows);

/* Ranks the planners, prints, and writes --csv and --svg. Returns an exit code. */
int plan_compare_report(plan_comparison *p);

#endif
