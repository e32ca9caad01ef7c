/* median.c - see median.h. A window of runs in order of their times: what falls out of it at either end is counted, and
 * the end at which fewer have fallen out gives way. */
#include "clotho/run/median.h"

#include <string.h>

static uint32_t room_for(const clo_trace *trace)
{
    size_t events;

    (void)clo_trace_events(trace, &events);
    size_t room = events > 0 ? MEDIAN_EVENTS_MAX / events : MEDIAN_KEPT_MAX;
    return room < 1 ? 1 : room > MEDIAN_KEPT_MAX ? MEDIAN_KEPT_MAX : (uint32_t)room;
}

static void drop(median_runs *runs, uint32_t at)
{
    clo_trace_destroy(runs->kept[at].trace);
    runs->count--;
    memmove(&runs->kept[at], &runs->kept[at + 1], (runs->count - at) * sizeof runs->kept[0]);
}

void median_keep(median_runs *runs, clo_trace *trace, int64_t makespan_ns)
{
    uint32_t at = runs->count;

    for (; at > 0 && runs->kept[at - 1].makespan_ns > makespan_ns; at--)
        runs->kept[at] = runs->kept[at - 1];
    runs->kept[at] = (median_run){trace, makespan_ns};
    if (++runs->count <= room_for(trace))
        return;
    if (runs->below < runs->above) {
        drop(runs, 0);
        runs->below++;
    } else {
        drop(runs, runs->count - 1);
        runs->above++;
    }
}

static int64_t distance(int64_t a, int64_t b)
{
    return a > b ? a - b : b - a;
}

clo_trace *median_take(median_runs *runs, int64_t median_ns)
{
    clo_trace *trace = NULL;
    uint32_t best = 0;

    for (uint32_t i = 1; i < runs->count; i++)
        if (distance(runs->kept[i].makespan_ns, median_ns) < distance(runs->kept[best].makespan_ns, median_ns))
            best = i;
    if (runs->count > 0) {
        trace = runs->kept[best].trace;
        runs->kept[best].trace = NULL;
    }
    while (runs->count > 0)
        drop(runs, runs->count - 1);
    return trace;
}
