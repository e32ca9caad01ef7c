/* admit.h - whether steps fit into a budget of memory together.
 *
 * Peaks are judged as a sum, because a sum varies less than its parts: what is expected of each, and above that the
 * root of the sum of the squares of their margins. Of a step with a history the last peaks are expected, and its margin
 * is said; of others the mean of their class, as the build has learned it so far, and as many deviations as
 * history_guess says. */
#ifndef CLO_TOOLS_CLOTHO_BUILD_PLAN_ADMIT_H
#define CLO_TOOLS_CLOTHO_BUILD_PLAN_ADMIT_H

#include "ninja/logs/history.h"

#include <stdbool.h>
#include <stdint.h>

#define ADMIT_KNOWN UINT32_MAX /* no class: the step has a history */

typedef struct admit_step {
    bool runs;
    uint32_t class_;              /* index into the history's classes, or ADMIT_KNOWN */
    int64_t need_kib, margin_kib; /* of a known one */
    int64_t now_kib;              /* it takes that already */
    double cpus;                  /* that it uses; of a known one */
} admit_step;

/* What the steps that run are taken to need together. unmeasured_kib: for one whose class has not been seen. */
double admit_sum_kib(const step_history *h, const admit_step *steps, uint32_t count, int64_t unmeasured_kib);

/* How many CPUs they use; 1 for a step whose class has not been seen. */
double admit_sum_cpus(const step_history *h, const admit_step *steps, uint32_t count);

/* A step's share of that where as many steps of its class run as fit, `jobs` at most. */
int64_t admit_share_kib(const history_guess *guess, int64_t budget_kib, uint32_t jobs, int64_t unmeasured_kib);

/* What needs without margins may come to, so that any `jobs` of the known steps fit with theirs. `steps` are sorted. */
int64_t admit_capacity_kib(admit_step *steps, uint32_t count, int64_t budget_kib, uint32_t jobs);

#endif
