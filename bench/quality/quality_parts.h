/* quality_parts.h - the parts of bench-quality. False where one fails. */
#ifndef CLO_BENCH_QUALITY_PARTS_H
#define CLO_BENCH_QUALITY_PARTS_H

#include "quality/quality.h"

/* The data sets with their published results (quality_sets.c). */
bool quality_sets(quality *q);
/* The tables of papers that need no arrivals (quality_papers.c). */
bool quality_papers(quality *q);
/* Graphene's comparison on batch jobs, one by one or 40 at a time (quality_batch.c). */
bool quality_batch(quality *q, candidates *chosen, const char *name, bool is_merged);
/* Graphs with branches, in the mean over outcomes and where all arms run (quality_branches.c). */
bool quality_branches(quality *q);
/* A picture: for each comparison the planners as dots of ratio to the baseline, sorted (quality_svg.c). */
bool quality_draw(const quality *q, const char *path);

#endif
