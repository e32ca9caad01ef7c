/* comparison.h - planners beside each other on the same instances, and the tables that come of it.
 *
 * Candidates are the planners that take part; a comparison is one data set on which they are compared. Every plan
 * passes clo_plan_check before it counts, and one that does not is an error. */
#ifndef CLO_BENCH_COMPARISON_H
#define CLO_BENCH_COMPARISON_H

#include "common/platform.h"

enum { CANDIDATES_MAX = 96, NAME_MAX_BYTES = 64, NOTE_MAX_BYTES = 1024 };

/* A planner with its budget. */
typedef struct candidate {
    char label[NAME_MAX_BYTES];
    const char *planner;
    uint64_t schedules_max;
    int64_t budget_ns;
    uint32_t justify;                 /* clo_plan_config.justify */
    double slowest_ns, slowest_pairs; /* its slowest plan so far, and the instances x executors of that */
} candidate;

typedef struct candidates {
    candidate items[CANDIDATES_MAX];
    uint32_t count;
    uint64_t seed;
    int64_t limit_ns; /* a planner that would take longer for a plan is left out there */
} candidates;

/* Adds `planner`; one that takes a budget once for each of `budgets` ("1000": schedules, "100ms"). Not twice the same.
 * Prints why and returns false where a name or a budget is unknown. */
bool candidates_add(candidates *chosen, const char *planner, const bench_list *budgets);
/* Adds all that are registered. */
bool candidates_add_all(candidates *chosen, const bench_list *budgets);
/* Each of them once more, "NAME justified": its plans after double justification. */
bool candidates_justify(candidates *chosen);
bool is_planner(const char *name);
/* Index by label; CLO_NONE if there is none. */
uint32_t candidates_find(const candidates *chosen, const char *label);

/* What one candidate reached on one instance. */
typedef struct entry {
    bool is_measured;
    int64_t makespan_ns, plan_ns;
    double gap, speedup, slr;
} entry;

typedef struct instance {
    char name[NAME_MAX_BYTES];
    int64_t bound_ns;     /* our lower bound                                                       */
    int64_t reference_ns; /* the published optimum or upper bound, at least bound_ns; 0: none      */
} instance;

typedef enum comparison_style {
    STYLE_SET,  /* ratio, gap to the bound, gap to what is published */
    STYLE_PAPER /* and reduction, speedup, SLR, decision times       */
} comparison_style;

typedef struct comparison {
    char name[NAME_MAX_BYTES];
    comparison_style style;
    candidates *candidates;
    uint32_t baseline; /* the candidate that the others are compared with */
    uint32_t instances, capacity;
    instance *list; /* [instances] */
    entry *entries; /* [instances * candidates->count] */
    uint32_t impossible;
    uint32_t
        outcomes; /* above 0: a makespan is the mean of so many simulations, each with other arms of the branches */
    char note[NOTE_MAX_BYTES]; /* what a reader of the table must know; "" */
} comparison;

/* What is said of one candidate over all instances. Means are over the instances on which it took part. */
typedef struct summary {
    uint32_t plans, references, reached, beaten; /* reached: not above what is published; beaten: below it */
    double ratio;                                /* geometric mean of makespan / baseline's                 */
    double reduction;                            /* mean of 1 - makespan / baseline's                       */
    double gain;                             /* median of 1 - baseline's / makespan: what the baseline gains on it */
    double gap, reference_gap, speedup, slr; /* means */
    double makespan_ms;                      /* mean */
    double room;                             /* mean of 1 - bound / makespan: more nobody can take away */
    double plan_ms, plan_ms_p98;             /* median, and 98th percentile */
    double within[3];                        /* share of plans at most 1, 5, 10 % above the bound */
} summary;

/* `baseline` is the label of a candidate. */
bool comparison_open(comparison *c, const char *name, comparison_style style, candidates *chosen, const char *baseline);
void comparison_close(comparison *c);
void comparison_note(comparison *c, const char *format, ...);
/* Everybody plans. reference_ns: 0 for none. False, with a line why, if a plan is invalid. */
bool comparison_add(comparison *c, const char *name, const clo_cost *cost, int64_t reference_ns);
/* False if there is no memory. */
bool comparison_summarise(const comparison *c, uint32_t who, summary *out);
/* A table, best first. JSON: one object. */
void comparison_print(const comparison *c);
void comparison_print_json(const comparison *c);
/* The candidates that took part, by rising ratio, into order[CANDIDATES_MAX]; returns how many. */
uint32_t comparison_rank(const comparison *c, summary *all, uint32_t *order);

#endif
