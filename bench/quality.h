/* quality.h - what the parts of bench-quality share. */
#ifndef CLO_BENCH_QUALITY_H
#define CLO_BENCH_QUALITY_H

#include "contest.h"

enum { CONTESTS_MAX = 96 };

typedef struct quality {
    bench_options options;
    const char *data, *only, *svg;
    bench_list planners, budgets; /* as asked for; empty: the defaults */
    uint32_t instances_max;       /* of a set; 0: its own limit        */
    field *fields[CONTESTS_MAX];  /* owned, one a part                 */
    contest contests[CONTESTS_MAX];
    uint32_t fields_count, contests_count;
    bool has_skipped; /* a part that was asked for */
} quality;

/* True if `part` is asked for: no --only, or one that `part` begins with. */
bool quality_wants(const quality *q, const char *part);
/* A field of the planners asked for, else of `planners` (NULL: all; those that are not registered are left out), with
 * the budgets asked for, else `budgets`. NULL where it fails. */
field *quality_field(quality *q, const char *const *planners, const bench_list *budgets);
/* The next contest, opened; NULL where it fails. */
contest *quality_contest(quality *q, const char *name, contest_style style, field *f, const char *baseline);
/* Prints it, or, without instances, says that it is skipped. */
void quality_done(quality *q, contest *c);
void quality_skip(quality *q, const char *part, const char *why);

/* The data sets with their published results (quality_sets.c). */
bool quality_sets(quality *q);
/* The tables of papers that need no arrivals (quality_papers.c). */
bool quality_papers(quality *q);
/* Graphene's comparison on batch jobs, one by one or 40 at a time (quality_batch.c). */
bool quality_batch(quality *q, field *f, const char *name, bool is_merged);
/* A picture: for each contest the planners as dots of ratio to the baseline, sorted (quality_svg.c). */
bool quality_draw(const quality *q, const char *path);

#endif
