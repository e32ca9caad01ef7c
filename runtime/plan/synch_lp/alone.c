/* alone.c - see alone.h. Integers only: rates are rounded up, so spans are rounded down. */
#include "plan/synch_lp/alone.h"

#include "base/numbers/saturate.h"
#include "platform/model/platform.h"

#include <assert.h>

#define RATE_ONE (INT64_C(1) << 20)

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static bool is_there(const clo_synch_problem *p, uint32_t kind, uint32_t group)
{
    return clo_synch_time(p, kind, group) != CLO_TIME_NEVER;
}

static int64_t fastest_of(const clo_synch_problem *p, uint32_t kind)
{
    return clo_synch_time(p, kind, clo_synch_fastest(p, kind));
}

/* How much of a task's work the group does in the time in which its fastest one does all, rounded up. */
static int64_t speed_of(const clo_synch_problem *p, uint32_t kind, uint32_t group)
{
    int64_t fastest = fastest_of(p, kind), here = clo_synch_time(p, kind, group);

    return here == fastest ? RATE_ONE : clo_synch_ratio(fastest, RATE_ONE, here) + 1;
}

/* Tasks of the kinds that the group runs at once, at most. */
static int64_t tasks_at_once(const clo_synch_scope *scope, uint32_t first, uint32_t end, uint32_t group)
{
    const clo_synch_problem *p = scope->problem;
    int64_t most = p->capacity[group];

    for (uint32_t i = p->bin_first[group]; i < p->bin_first[group + 1]; i++) {
        uint32_t bin = p->bin_of[i];
        int64_t least = INT64_MAX;
        for (uint32_t k = first; k < end; k++)
            if (scope->left[k] > 0 && is_there(p, k, group) && clo_synch_use(p, k, bin) < least)
                least = clo_synch_use(p, k, bin);
        if (p->level[bin] == 0 && least > 0 && p->capacity[bin] / least < most)
            most = p->capacity[bin] / least; /* 0: none of the kinds runs here */
    }
    return most;
}

static int64_t span_of_tasks(const clo_synch_scope *scope, uint32_t first, uint32_t end)
{
    const clo_synch_problem *p = scope->problem;
    int64_t rate = 0, work = 0;

    for (uint32_t g = 0; g < p->groups; g++) {
        int64_t speed = 0;
        for (uint32_t k = first; k < end; k++)
            if (scope->left[k] > 0 && is_there(p, k, g))
                speed = larger(speed, speed_of(p, k, g));
        rate += tasks_at_once(scope, first, end, g) * speed; /* below 2^32 executors */
    }
    for (uint32_t k = first; k < end; k++)
        work += fastest_of(p, k) * (int64_t)scope->left[k]; /* clo_synch_problem_create checked: below 2^62 */
    return rate > 0 ? clo_synch_ratio(work, RATE_ONE, rate) : 0;
}

/* Of all machines; 0: one of them has no limit. */
static int64_t pooled_capacity(const clo_synch_problem *p, uint32_t resource)
{
    int64_t sum = 0;

    for (uint32_t m = 0; m < clo_platform_machines(p->platform); m++) {
        int64_t capacity = clo_platform_capacity(p->platform, m, resource);
        if (capacity < 0 || __builtin_add_overflow(sum, capacity, &sum))
            return 0;
    }
    return sum;
}

static int64_t span_of_resource(const clo_synch_scope *scope, uint32_t first, uint32_t end, uint32_t resource)
{
    const clo_synch_problem *p = scope->problem;
    int64_t sum = 0, capacity = pooled_capacity(p, resource);

    for (uint32_t k = first; k < end && capacity > 0; k++) {
        int64_t demand = p->demand[(size_t)k * CLO_RESOURCES_MAX + resource];
        sum = clo_time_add(sum, clo_synch_ratio(fastest_of(p, k) * (int64_t)scope->left[k], demand, capacity));
    }
    return sum;
}

int64_t clo_synch_span(const clo_synch_scope *scope, uint32_t first, uint32_t end, uint32_t resource)
{
    assert(first < end);
    return resource == CLO_NONE ? span_of_tasks(scope, first, end) : span_of_resource(scope, first, end, resource);
}

/* Whole tasks of the kind that can end within the time, each on one group. */
static int64_t ends_within(const clo_synch_scope *scope, uint32_t kind, int64_t time)
{
    const clo_synch_problem *p = scope->problem;
    int64_t sum = 0;

    for (uint32_t g = 0; g < p->groups && sum < (int64_t)scope->left[kind]; g++) {
        int64_t one = clo_synch_time(p, kind, g);
        if (one == 0)
            return INT64_MAX;
        if (one <= time)
            sum = clo_time_add(sum, clo_synch_ratio(tasks_at_once(scope, kind, kind + 1, g), time / one, 1));
    }
    return sum;
}

/* The least time in which that many tasks of the kind end, none preempted. */
static int64_t whole_tasks(const clo_synch_scope *scope, uint32_t kind)
{
    int64_t one = fastest_of(scope->problem, kind);
    int64_t low = 0, high = one * (int64_t)scope->left[kind];

    while (low < high) { /* halves */
        int64_t middle = low + (high - low) / 2;
        if (ends_within(scope, kind, middle) >= (int64_t)scope->left[kind])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

int64_t clo_synch_alone(const clo_synch_scope *scope, uint32_t job, bool is_preemptive)
{
    const clo_synch_problem *p = scope->problem;
    uint32_t first = p->kind_first[job], end = p->kind_first[job + 1], kinds = 0;
    int64_t longest = 0, release = 0;

    for (uint32_t k = first; k < end; k++) {
        if (scope->left[k] == 0)
            continue;
        release = clo_synch_release(scope, k) - scope->now_ns; /* that of the job */
        int64_t one = fastest_of(p, k);
        int64_t all = is_preemptive ? clo_synch_span(scope, k, k + 1, CLO_NONE) : whole_tasks(scope, k);
        longest = larger(longest, larger(one, all));
        kinds++;
    }
    for (uint32_t r = 0; r <= CLO_RESOURCES_MAX && kinds > 1; r++)
        longest = larger(longest, clo_synch_span(scope, first, end, r < CLO_RESOURCES_MAX ? r : CLO_NONE));
    return kinds > 0 ? release + longest : 0;
}
