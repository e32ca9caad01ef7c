/* compare.h - several planners on many graphs: one table, one CSV, one picture. */
#ifndef CLO_TOOLS_CLOTHO_PLAN_COMPARE_H
#define CLO_TOOLS_CLOTHO_PLAN_COMPARE_H

#include "clotho/common/paths.h"
#include "clotho/plan/make.h"

/* Plans all graphs of the files with each of o->planners, one graph after the other, and reports. A graph that cannot be
 * read, and a planner's first failure, is an error line; the others go on. Ctrl-C ends it with the graphs that are done.
 * Return an exit code. */
int plan_compare(const path_list *paths, const plan_options *o);
/* Likewise of one file that is open, of which nothing was read. */
int plan_compare_file(input *in, const plan_options *o);

#endif
