/* tuned.h - the policies whose numbers `clotho train parametric` can find: what they are called in the argument, where
 * a search begins, and in which range it stays. */
#ifndef CLO_TOOLS_CLOTHO_TRAIN_TUNED_H
#define CLO_TOOLS_CLOTHO_TRAIN_TUNED_H

#include "clotho/common/report.h"
#include "train/search/cem.h"

enum { TUNED_ARGUMENT_BYTES = 512 };

typedef struct tuned_number {
    const char *key; /* with its "="; "": the number stands by its place, in front of all that have keys */
    double mean, sigma, least_sigma; /* of a number that is searched as its logarithm: of that */
    double least, most;              /* of what the policy is given */
    bool is_log;
    bool for_sizes;   /* searched only where platforms differ in their executors */
    bool for_classes; /* only where machines differ in their capacities; such ones stand last */
} tuned_number;

typedef struct tuned {
    const char *policy;
    const tuned_number *numbers;
    uint32_t count;
    /* Behind the numbers stands a unit of time, which the policy learns, and before it what they are for. */
    bool has_unit;
    const char *example;
} tuned;

/* NULL, after an error line: there is no such policy, or it has no numbers that are searched. */
const tuned *tuned_find(const char *policy);

/* Of those that numbers are searched for: machines differ in their capacities; the numbers of executors differ. */
typedef struct tuned_platforms {
    bool has_classes, has_sizes;
} tuned_platforms;

/* Begins a search: numbers, mean, sigma, least_sigma. `start`: an argument with some or all of the numbers; NULL: none.
 * Returns EXIT_GOOD, or an exit code after an error line. */
int tuned_begin(const tuned *t, const char *start, tuned_platforms on, cem *out);

/* The policy's argument as text, each number within its range. `goal`: "p95", "late"; NULL: deadlines as for the mean. */
void tuned_text(const tuned *t, const cem *search, const double *numbers, const char *goal,
                char out[TUNED_ARGUMENT_BYTES]);

#endif
