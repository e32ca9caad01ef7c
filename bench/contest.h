/* contest.h - planners beside each other on the same instances, and the tables that come of it.
 *
 * A field is the list of those that take part; a contest is one data set on which they are compared. Every plan passes
 * clo_plan_check before it counts, and one that does not is an error. */
#ifndef CLO_BENCH_CONTEST_H
#define CLO_BENCH_CONTEST_H

#include "platform.h"

enum { CONTENDERS_MAX = 96, NAME_MAX_BYTES = 64, NOTE_MAX_BYTES = 1024 };

/* A planner with its budget. */
typedef struct contender {
    char label[NAME_MAX_BYTES];
    const char *planner;
    uint64_t schedules_max;
    int64_t budget_ns;
    double slowest_ns, slowest_pairs; /* its slowest plan so far, and the instances x executors of that */
} contender;

typedef struct field {
    contender items[CONTENDERS_MAX];
    uint32_t count;
    uint64_t seed;
    int64_t limit_ns; /* a planner that would take longer for a plan is left out there */
} field;

/* Adds `planner`; one that takes a budget once for each of `budgets` ("1000": schedules, "100ms"). Not twice the same.
 * Prints why and returns false where a name or a budget is unknown. */
bool field_add(field *f, const char *planner, const bench_list *budgets);
/* Adds all that are registered. */
bool field_add_all(field *f, const bench_list *budgets);
bool is_planner(const char *name);
/* Index by label; CLO_NONE if there is none. */
uint32_t field_find(const field *f, const char *label);

/* What one contender reached on one instance. */
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

typedef enum contest_style {
    STYLE_SET,  /* ratio, gap to the bound, gap to what is published */
    STYLE_PAPER /* and reduction, speedup, SLR, decision times       */
} contest_style;

typedef struct contest {
    char name[NAME_MAX_BYTES];
    contest_style style;
    field *field;
    uint32_t baseline; /* the contender that the others are compared with */
    uint32_t instances, capacity;
    instance *list; /* [instances] */
    entry *entries; /* [instances * field->count] */
    uint32_t impossible;
    char note[NOTE_MAX_BYTES]; /* what a reader of the table must know; "" */
} contest;

/* What is said of one contender over all instances. Means are over the instances on which it took part. */
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

/* `baseline` is a label of the field. */
bool contest_open(contest *c, const char *name, contest_style style, field *f, const char *baseline);
void contest_close(contest *c);
void contest_note(contest *c, const char *format, ...);
/* Everybody plans. reference_ns: 0 for none. False, with a line why, if a plan is invalid. */
bool contest_add(contest *c, const char *name, const clo_cost *cost, int64_t reference_ns);
/* False if there is no memory. */
bool contest_summarise(const contest *c, uint32_t who, summary *out);
/* A table, best first. JSON: one object. */
void contest_print(const contest *c);
void contest_print_json(const contest *c);
/* The contenders that took part, by rising ratio, into order[CONTENDERS_MAX]; returns how many. */
uint32_t contest_rank(const contest *c, summary *all, uint32_t *order);

#endif
