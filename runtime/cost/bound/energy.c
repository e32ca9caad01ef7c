/* cost/bound/energy.c - energetic reasoning (Erschler and Lopez 1990; Baptiste, Le Pape and Nuijten 1999) as a
 * destructive lower bound (Klein and Scholl 1999): a makespan is tried, and refuted where some stretch of time cannot
 * hold what must happen in it.
 *
 * Why it holds, with bound.c's reading of replicas. If M is the makespan, the first-finishing execution of t lies
 * between head(t) and M - tail(t) and takes fastest(t) or more. So in [a, b) it is busy for at least
 *     min(fastest, head + fastest - a, b - (M - tail - fastest), b - a), if that is above 0.
 * Summed over all tasks, times what each holds of a resource (or of the executors: one), this may not exceed
 * (b - a) * capacity. What is refuted for M is refuted for less: windows only shrink.
 *
 * For one a, what a task adds as b grows is a ramp: from max(a, M - tail - fastest) on, as long as it is busy in [a,
 * ..) when it runs as early as it can. The sum over its own line can only be crossed first where a ramp ends. a is a
 * head or a latest start: with those ends as b, the intervals that matter, but for few. Cost: a * tasks * log tasks a
 * makespan. */
#include "cost/bound/energy.h"

#include "base/order/sort.h"

#include <assert.h>

enum {
    VISITS = 1 << 20,      /* a * tasks in all, and */
    VISITS_EACH = 1 << 16, /* for one makespan */
    STEPS = 4096           /* the first step up from a bound is this part of it */
};

typedef struct trial {
    const clo_bound_work *work;
    const clo_bound_orders *orders;
    clo_bound_ramp *starts, *ends; /* [tasks] */
    uint64_t capacity;
    uint64_t visits; /* left */
} trial;

static int by_time(const void *left, const void *right)
{
    const clo_bound_ramp *a = left, *b = right;

    return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

/* Fills the ramps for a; returns how many there are. */
static uint32_t fill_ramps(const trial *t, int64_t makespan_ns, int64_t a)
{
    const clo_bound_work *work = t->work;
    uint32_t count = 0;

    for (uint32_t i = 0; i < work->cost->graph->tasks; i++) {
        uint32_t task = t->orders->by_latest[i].task;
        int64_t fastest = work->fastest[task], busy = work->head[task] + fastest - a;
        if (work->use[task] == 0 || fastest == 0 || busy <= 0)
            continue;
        int64_t start = makespan_ns - work->rest[task];
        start = start > a ? start : a;
        busy = busy < fastest ? busy : fastest;
        uint64_t use = work->use[task] * work->cost->graph->rows[task].instances;
        t->starts[count] = (clo_bound_ramp){start, use};
        t->ends[count++] = (clo_bound_ramp){start + busy, use};
    }
    return count;
}

/* True if some [a, b) cannot hold what must happen in it. */
static bool is_overfull_from(const trial *t, int64_t makespan_ns, int64_t a)
{
    uint32_t count = fill_ramps(t, makespan_ns, a), started = 0;
    clo_u128 energy = 0;
    uint64_t slope = 0;
    int64_t now = a;

    clo_sort(t->ends, count, sizeof t->ends[0], by_time);
    for (uint32_t i = 0; i < count; i++) {
        for (; started < count && t->starts[started].time_ns < t->ends[i].time_ns; started++) {
            energy += (clo_u128)slope * (uint64_t)(t->starts[started].time_ns - now);
            now = t->starts[started].time_ns;
            slope += t->starts[started].use;
        }
        energy += (clo_u128)slope * (uint64_t)(t->ends[i].time_ns - now);
        now = t->ends[i].time_ns;
        if (energy > (clo_u128)t->capacity * (uint64_t)(now - a))
            return true;
        slope -= t->ends[i].use;
    }
    return false;
}

static bool is_overfull(trial *t, int64_t makespan_ns)
{
    const clo_bound_work *work = t->work;
    uint32_t tasks = work->cost->graph->tasks, samples = VISITS_EACH / tasks < tasks ? VISITS_EACH / tasks : tasks;
    int64_t last_head = -1, last_latest = -1;

    for (uint32_t k = 0; k < samples; k++) {
        uint32_t at = (uint32_t)((uint64_t)k * tasks / samples), late = t->orders->by_latest[at].task;
        int64_t head = work->head[t->orders->by_head[tasks - 1 - at].task];
        int64_t latest = makespan_ns - work->rest[late];
        t->visits = t->visits > 2 * tasks ? t->visits - 2 * tasks : 0;
        if (head != last_head && is_overfull_from(t, makespan_ns, head))
            return true;
        if (latest != last_latest && is_overfull_from(t, makespan_ns, latest))
            return true;
        last_head = head;
        last_latest = latest;
    }
    return false;
}

/* False where the total of all uses leaves no room for sums. */
static bool fits(const clo_bound_work *work)
{
    uint64_t sum = 0, all;

    for (uint32_t t = 0; t < work->cost->graph->tasks; t++)
        if (__builtin_mul_overflow(work->use[t], work->cost->graph->rows[t].instances, &all) ||
            __builtin_add_overflow(sum, all, &sum))
            return false;
    return true;
}

int64_t clo_bound_energy(const clo_bound_work *work, const clo_bound_orders *orders, uint64_t capacity, int64_t grid_ns,
                         int64_t lower_ns)
{
    trial t = {work, orders, orders->ramps, orders->ramps + work->cost->graph->tasks, capacity, VISITS};
    int64_t low = lower_ns, high = lower_ns, step = grid_ns;

    assert(grid_ns > 0);
    if (lower_ns / STEPS > grid_ns)
        step = lower_ns / STEPS / grid_ns * grid_ns;
    if (!fits(work) || !is_overfull(&t, low))
        return lower_ns;
    for (bool refuted = true; refuted && t.visits > 0; step *= 2) { /* ends: windows grow wider than all work */
        high = low + step;
        refuted = is_overfull(&t, high);
        low = refuted ? high : low;
    }
    while (high - low > grid_ns && t.visits > 0) {
        int64_t middle = low + (high - low) / grid_ns / 2 * grid_ns;
        if (is_overfull(&t, middle))
            low = middle;
        else
            high = middle;
    }
    return low + grid_ns; /* makespans are multiples of the grid, and low is refuted */
}
