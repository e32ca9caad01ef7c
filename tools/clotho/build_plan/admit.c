/* admit.c - see admit.h. */
#include "clotho/build_plan/admit.h"

#include <math.h>
#include <stdlib.h>

enum { MARGINS_SHARE = 8 }; /* of the budget, that all margins take at most */

static bool is_first_of_class(const admit_step *steps, uint32_t step)
{
    for (uint32_t i = 0; i < step; i++)
        if (steps[i].runs && steps[i].class_ == steps[step].class_)
            return false;
    return true;
}

static double class_square(const step_history *h, const admit_step *steps, uint32_t count, uint32_t class_)
{
    const history_guess guess = history_guess_of(h, class_);
    uint32_t same = 0;

    for (uint32_t i = 0; i < count; i++)
        same += steps[i].runs && steps[i].class_ == class_;
    return guess.count > 0 ? guess.sure * guess.sure * history_sum_square(&guess, same) : 0;
}

static double expected_kib(const step_history *h, const admit_step *step, int64_t unmeasured_kib)
{
    if (step->class_ == ADMIT_KNOWN)
        return (double)step->need_kib;
    const history_guess guess = history_guess_of(h, step->class_);
    return guess.count > 0 ? guess.mean_kib : (double)unmeasured_kib;
}

double admit_sum_kib(const step_history *h, const admit_step *steps, uint32_t count, int64_t unmeasured_kib)
{
    double sum = 0, square = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (!steps[i].runs)
            continue;
        double expected = expected_kib(h, &steps[i], unmeasured_kib), now = (double)steps[i].now_kib;
        sum += expected > now ? expected : now;
        if (steps[i].class_ == ADMIT_KNOWN)
            square += (double)steps[i].margin_kib * (double)steps[i].margin_kib;
        else if (is_first_of_class(steps, i))
            square += class_square(h, steps, count, steps[i].class_);
    }
    return sum + sqrt(square);
}

double admit_sum_cpus(const step_history *h, const admit_step *steps, uint32_t count)
{
    double sum = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (!steps[i].runs)
            continue;
        if (steps[i].class_ == ADMIT_KNOWN) {
            sum += steps[i].cpus;
            continue;
        }
        const history_guess guess = history_guess_of(h, steps[i].class_);
        sum += guess.count > 0 ? guess.cpus : 1;
    }
    return sum;
}

int64_t admit_share_kib(const history_guess *guess, int64_t budget_kib, uint32_t jobs, int64_t unmeasured_kib)
{
    int64_t share = budget_kib;

    if (guess->count == 0)
        return unmeasured_kib;
    for (uint32_t steps = 1; steps <= jobs && history_sum_kib(guess, steps) <= (double)budget_kib; steps++)
        share = (int64_t)ceil(history_sum_kib(guess, steps) / steps);
    return share;
}

static int by_margin(const void *a, const void *b)
{
    const admit_step *x = a, *y = b;

    return (x->margin_kib < y->margin_kib) - (x->margin_kib > y->margin_kib);
}

int64_t admit_capacity_kib(admit_step *steps, uint32_t count, int64_t budget_kib, uint32_t jobs)
{
    double square = 0;
    int64_t sum = 0;

    qsort(steps, count, sizeof *steps, by_margin);
    for (uint32_t i = 0; i < count && i < jobs && sum <= budget_kib; i++) {
        sum += steps[i].need_kib;
        square += (double)steps[i].margin_kib * (double)steps[i].margin_kib;
    }
    int64_t margins = (int64_t)ceil(sqrt(square)), most = budget_kib / MARGINS_SHARE;
    return budget_kib - (margins < most ? margins : most);
}
