/* fairness.c - how evenly groups of jobs are served: Jain's index (Jain, Chiu, Hawe 1984), as Graphene's evaluation
 * uses it (Grandl et al., OSDI 2016, section 8.4).
 *
 * Time is cut into windows of equal length, 64 or of so many seconds. In each window the index is taken over the groups
 * that had a live job for all of it: x is what a group held of the platform's time, (sum x)^2 / (n * sum x^2); 1: all
 * held the same. The result is the mean over all windows with two such groups and more. */
#include "online/online.h"

#include <math.h>
#include <stdlib.h>

enum { WINDOWS = 64, WINDOWS_MOST = 1 << 20 };

const double online_jain_s[JAIN_COUNT] = {0, 10, 60, 240};

typedef struct windows {
    double *held;      /* [count * groups] executor time */
    double *live;      /* [count * groups] part of the window with a live job */
    uint32_t *alive;   /* [groups] jobs */
    int64_t *alive_ns; /* [groups] since when there are any */
    uint32_t groups, count;
    int64_t from_ns, each_ns;
} windows;

/* Spreads [start, finish) over the windows of a row. */
static void spread(const windows *w, double *rows, uint32_t group, int64_t start_ns, int64_t finish_ns)
{
    for (int64_t at = start_ns; at < finish_ns;) { /* ends: at grows */
        int64_t k = (at - w->from_ns) / w->each_ns, end = w->from_ns + (k + 1) * w->each_ns;
        int64_t until = end < finish_ns ? end : finish_ns;

        if (k >= 0 && k < w->count)
            rows[(size_t)k * w->groups + group] += (double)(until - at);
        at = until;
    }
}

static double index_of(const windows *w, uint32_t window)
{
    double sum = 0, squares = 0, count = 0;

    for (uint32_t g = 0; g < w->groups; g++) {
        double x = w->held[(size_t)window * w->groups + g];
        if (w->live[(size_t)window * w->groups + g] < 0.999 * (double)w->each_ns)
            continue;
        sum += x;
        squares += x * x;
        count++;
    }
    return count >= 2 && squares > 0 ? sum * sum / (count * squares) : -1;
}

static void read_record(windows *w, const clo_log_record *r, const clo_workload *workload)
{
    if (r->job >= clo_workload_jobs(workload))
        return;
    uint32_t g = clo_workload_get(workload, (uint32_t)r->job)->group % w->groups;

    if (r->what == CLO_LOG_FINISH)
        spread(w, w->held, g, r->value, r->now_ns);
    else if (r->what == CLO_LOG_ARRIVE && w->alive[g]++ == 0)
        w->alive_ns[g] = r->now_ns;
    else if (r->what == CLO_LOG_DONE && w->alive[g] > 0 && --w->alive[g] == 0)
        spread(w, w->live, g, w->alive_ns[g], r->now_ns);
}

double online_jain(const clo_log *log, const clo_workload *workload, uint32_t groups, double window_s)
{
    size_t count;
    const clo_log_record *records = clo_log_records(log, &count);
    windows w = {.groups = groups, .count = WINDOWS};
    double sum = 0, used = 0;

    if (count < 2)
        return 0;
    w.from_ns = records[0].now_ns;
    int64_t all_ns = records[count - 1].now_ns - w.from_ns;
    if (window_s > 0) /* what is left at the end is no window */
        w.count = (uint32_t)fmin(WINDOWS_MOST, (double)all_ns / (window_s * 1e9));
    if (w.count == 0)
        return 0;
    w.each_ns = window_s > 0 ? (int64_t)(window_s * 1e9) : all_ns / WINDOWS + 1;
    size_t cells = (size_t)w.count * groups;
    w.held = calloc(2 * cells, sizeof *w.held);
    w.alive = calloc(groups, sizeof *w.alive);
    w.alive_ns = calloc(groups, sizeof *w.alive_ns);
    if (w.held != NULL && w.alive != NULL && w.alive_ns != NULL) {
        w.live = w.held + cells;
        for (size_t i = 0; i < count; i++)
            read_record(&w, &records[i], workload);
        for (uint32_t k = 0; k < w.count; k++) {
            double index = index_of(&w, k);
            sum += index >= 0 ? index : 0;
            used += index >= 0;
        }
    } else {
        sum = -1;
    }
    free(w.held);
    free(w.alive);
    free(w.alive_ns);
    return sum < 0 ? -1 : used > 0 ? sum / used : 0;
}
