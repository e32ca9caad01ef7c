/* busy_time.c - see busy_time.h.
 *
 * Jobs may be left out of the machine, which makes it only faster, and count with what they take alone. Any choice of
 * them gives a bound: in a few rounds those leave that would count more alone. */
#include "online/busy_time.h"

#include <math.h>
#include <stdlib.h>

enum { ROUNDS = 6 };

typedef struct release {
    double at_s, need_s;
    uint32_t job;
} release;

typedef struct state {
    double need_s, tail_s; /* of all of the job */
    double left_s, sum_s2; /* what is there and undone; the integral of time over what was done */
    bool is_out;
} state;

static int by_time(const void *a, const void *b)
{
    const release *x = a, *y = b;

    return x->at_s != y->at_s ? (x->at_s > y->at_s) - (x->at_s < y->at_s) : (x->job > y->job) - (x->job < y->job);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* What can be done of the tasks in the last `t_s`, if all instances run at once. */
static double done_last_s(const busy_task *tasks, uint32_t count, double t_s)
{
    double sum = 0;

    for (uint32_t k = 0; k < count; k++)
        if (t_s > tasks[k].tail_s)
            sum += tasks[k].duration_s > 0 ? tasks[k].need_s * fmin(1, (t_s - tasks[k].tail_s) / tasks[k].duration_s)
                                           : tasks[k].need_s;
    return sum;
}

/* Between two times that no task begins or ends within, `most` is linear, and what is done grows by 1 a second at most
 * and not above it. Moves *done_s on; returns the integral of it. */
static double integrate(double length_s, double most_from_s, double most_to_s, double *done_s)
{
    double slope = length_s > 0 ? (most_to_s - most_from_s) / length_s : 0, from_s = *done_s;

    if (length_s <= 0)
        return 0;
    if (from_s + length_s <= most_to_s) { /* grows by 1 throughout */
        *done_s = from_s + length_s;
        return (from_s + *done_s) / 2 * length_s;
    }
    double free_s = slope < 1 ? (most_from_s - from_s) / (1 - slope) : 0; /* until it meets `most` */
    free_s = fmin(fmax(free_s, 0), length_s);
    double met_s = from_s + free_s;
    *done_s = most_to_s;
    return (from_s + met_s) / 2 * free_s + (met_s + most_to_s) / 2 * (length_s - free_s);
}

double busy_time_tail_s(const busy_task *tasks, uint32_t count)
{
    double *times_s = calloc(2 * (size_t)count + 1, sizeof *times_s), need_s = 0, done_s = 0, sum = 0, at_s = 0;
    double most_s = 0;

    if (times_s == NULL)
        return -1;
    for (uint32_t k = 0; k < count; k++) {
        times_s[2 * k] = tasks[k].tail_s;
        times_s[2 * k + 1] = tasks[k].tail_s + tasks[k].duration_s;
        need_s += tasks[k].need_s;
    }
    qsort(times_s, 2 * (size_t)count, sizeof *times_s, by_value);
    for (uint32_t i = 0; i < 2 * count && need_s > 0; i++) {
        double next_s = done_last_s(tasks, count, times_s[i]);
        double done = integrate(times_s[i] - at_s, most_s, next_s, &done_s);
        sum += times_s[i] - at_s - done / need_s;
        at_s = times_s[i];
        most_s = next_s;
    }
    free(times_s);
    double rest_s = need_s - done_s; /* the last of it: 1 a second */
    return need_s > 0 ? sum + rest_s * rest_s / (2 * need_s) : 0;
}

/* Runs the machine from `now_s` until `until_s`, always the job of the least work that is there. */
static void run_until(state *states, uint32_t count, double now_s, double until_s)
{
    while (now_s < until_s) { /* each round ends what is there of a job, or the time */
        state *least = NULL;
        for (uint32_t j = 0; j < count; j++)
            if (states[j].left_s > 0 && (least == NULL || states[j].need_s < least->need_s))
                least = &states[j];
        if (least == NULL)
            return;
        bool is_done = least->left_s <= until_s - now_s;
        double step_s = is_done ? least->left_s : until_s - now_s;
        least->sum_s2 += (now_s + step_s / 2) * step_s;
        least->left_s = is_done ? 0 : least->left_s - step_s;
        now_s += step_s;
    }
}

/* The bound with the jobs that are out as they are; then puts out those that count more alone. */
static double round_s(const busy_job *jobs, state *states, uint32_t count, const release *releases, uint32_t events)
{
    double sum = 0;

    for (uint32_t j = 0; j < count; j++)
        states[j].left_s = states[j].sum_s2 = 0;
    for (uint32_t i = 0; i < events; i++) {
        state *mine = &states[releases[i].job];
        mine->left_s += mine->is_out ? 0 : releases[i].need_s;
        run_until(states, count, releases[i].at_s, i + 1 < events ? releases[i + 1].at_s : INFINITY);
    }
    for (uint32_t j = 0; j < count; j++) {
        state *mine = &states[j];
        double busy_s = mine->is_out ? 0 : mine->sum_s2 / mine->need_s + mine->tail_s - jobs[j].arrival_s;
        sum += mine->is_out ? jobs[j].alone_s : busy_s;
        mine->is_out = mine->is_out || busy_s < jobs[j].alone_s;
    }
    return sum;
}

double busy_time_sum_s(const busy_job *jobs, uint32_t count, const busy_task *tasks)
{
    uint32_t all = 0, events = 0;
    double best = 0;

    for (uint32_t j = 0; j < count; j++)
        all += jobs[j].end_task - jobs[j].first_task;
    state *states = calloc(count + 1, sizeof *states);
    release *releases = calloc((size_t)all + 1, sizeof *releases);
    bool is_good = states != NULL && releases != NULL;
    for (uint32_t j = 0; j < count && is_good; j++) {
        for (uint32_t k = jobs[j].first_task; k < jobs[j].end_task; k++) {
            releases[events++] = (release){jobs[j].arrival_s + tasks[k].head_s, tasks[k].need_s, j};
            states[j].need_s += tasks[k].need_s;
        }
        states[j].tail_s = busy_time_tail_s(&tasks[jobs[j].first_task], jobs[j].end_task - jobs[j].first_task);
        states[j].is_out = !(states[j].need_s > 0);
        is_good = states[j].tail_s >= 0;
    }
    if (is_good && events > 0)
        qsort(releases, events, sizeof *releases, by_time);
    for (int k = 0; k < ROUNDS && is_good; k++)
        best = fmax(best, round_s(jobs, states, count, releases, events));
    free(states);
    free(releases);
    return best;
}
