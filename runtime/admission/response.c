/* response.c - the bound of admission.h, found as a fixed point from below.
 *
 * Everything is multiplied by k, the width of the job, so that no division is rounded before the end. On a path of
 * tasks v the bound is
 *
 *   k R = sum over the path of (k - 1) C(v) + b(v)   +   W   +   I(R)
 *
 * with C(v) the longest time of an instance, W the work of the job, I the work of others that fits into a window of R,
 * and b(v) the bodies that block where v waits. A path may be longer in b than in C, so the largest sum of both is
 * taken over all paths.
 *
 * b(v): one body on each executor that may run v. Where v may run anywhere and has a predecessor, the executor of the
 * predecessor that ended last is not blocked: it was free at the moment when v became ready (Serrano et al. 2016, the
 * m - 1 largest). */
#include "admission/response.h"

#include "base/numbers/saturate.h"

/* Steps towards the fixed point; a set that needs more is "unknown". */
enum { STEPS_MAX = 10000 };

static int64_t ceiling(int64_t a, int64_t b)
{
    return a <= 0 ? 0 : (a - 1) / b + 1;
}

/* Bodies that block where `task` waits. */
static int64_t blocking_at(const clo_admission_figures *f, const clo_admission_band *band, uint32_t task)
{
    int64_t sum = 0, least = INT64_MAX;
    bool is_anywhere = true;

    for (uint32_t e = 0; e < band->executors; e++) {
        if (clo_cost_time(f->cost, task, e) == CLO_TIME_NEVER) {
            is_anywhere = false;
            continue;
        }
        sum = clo_time_add(sum, band->blocking[e]);
        least = band->blocking[e] < least ? band->blocking[e] : least;
    }
    bool is_entry = f->graph->in_first[task] == f->graph->in_first[task + 1];
    return is_anywhere && !is_entry ? sum - least : sum;
}

/* All of the bound that does not depend on it. */
static int64_t fixed_part(const clo_admission_task *task, const clo_admission_band *band, bool blocks)
{
    clo_admission_figures *f = task->figures;

    for (uint32_t t = 0; t < f->graph->tasks; t++)
        band->weights[t] =
            clo_time_add(clo_time_mul(f->longest_ns[t], (int64_t)f->width - 1), blocks ? blocking_at(f, band, t) : 0);
    return clo_time_add(clo_admission_longest_chain(f, band->weights), f->work_ns);
}

/* Releases of `other` that may run in a window of `window_ns` after a release of `task`. Those of the job itself: only
 * where one may last until the next, and not the one that is looked at. */
static int64_t releases_in(const clo_admission_task *task, const clo_admission_band *band,
                           const clo_admission_task *other, int64_t window_ns)
{
    int64_t period_ns = other->job->period_ns, count = ceiling(clo_time_add(window_ns, other->deadline_ns), period_ns);
    bool is_same = other == task, by_deadline = band->order == CLO_ADMISSION_EDF && task->job->deadline_ns > 0 &&
                                                other->job->band == task->job->band;

    if (is_same && task->deadline_ns <= period_ns)
        return 0;
    if (by_deadline && ceiling(task->deadline_ns, period_ns) < count)
        count = ceiling(task->deadline_ns, period_ns);
    count = count < other->releases ? count : other->releases;
    return is_same && count > 0 ? count - 1 : count;
}

static int64_t interference(const clo_admission_task *task, const clo_admission_band *band, int64_t window_ns)
{
    int64_t sum = band->once_ns;

    if (sum != INT64_MAX && task->job->period_ns == 0)
        sum -= task->figures->work_ns;
    for (uint32_t i = 0; i < band->periodic_count; i++) {
        const clo_admission_task *other = band->periodic[i];
        int64_t count = releases_in(task, band, other, window_ns);
        sum = clo_time_add(sum, clo_time_mul(count, other->figures->work_ns));
    }
    return sum;
}

int64_t clo_admission_response(const clo_admission_task *task, const clo_admission_band *band, bool blocks)
{
    int64_t fixed = fixed_part(task, band, blocks), bound = 0;

    for (int step = 0; step < STEPS_MAX; step++) {
        int64_t sum = clo_time_add(fixed, interference(task, band, bound));
        int64_t next = ceiling(sum, task->figures->width);
        if (sum == INT64_MAX || next > task->deadline_ns)
            return CLO_TIME_NEVER;
        if (next <= bound)
            return bound;
        bound = next;
    }
    return CLO_TIME_NEVER;
}
