/* timeline.c - see timeline.h. A task of no time still takes its room for one nanosecond. */
#include "plan/synch/timeline.h"

#include "base/memory.h"

#include <assert.h>
#include <string.h>

static int64_t length_of(const clo_synch_problem *p, uint32_t kind, uint32_t group)
{
    int64_t time = clo_synch_time(p, kind, group);

    assert(time != CLO_TIME_NEVER);
    return time > 0 ? time : 1;
}

bool clo_synch_timeline_create(clo_synch_timeline *timeline, const clo_synch_problem *problem)
{
    uint32_t machines = clo_platform_machines(problem->platform);

    *timeline = (clo_synch_timeline){.problem = problem};
    timeline->profiles = clo_allocate(machines, sizeof *timeline->profiles);
    for (uint32_t i = 0; i < machines && timeline->profiles != NULL; i++) {
        clo_synch_profile *f = &timeline->profiles[i];
        void *time = NULL, *used = NULL;
        bool is_there = clo_grow(&time, &f->room_time, 1, sizeof *f->time) == 0 &&
                        clo_grow(&used, &f->room_used, problem->bins, sizeof *f->used) == 0;
        f->time = time;
        f->used = used;
        if (!is_there) {
            clo_synch_timeline_destroy(timeline);
            return false;
        }
        f->steps = 1;
        f->time[0] = 0;
        memset(f->used, 0, problem->bins * sizeof *f->used);
    }
    return timeline->profiles != NULL;
}

void clo_synch_timeline_destroy(clo_synch_timeline *timeline)
{
    if (timeline->profiles != NULL)
        for (uint32_t i = 0; i < clo_platform_machines(timeline->problem->platform); i++) {
            clo_free(timeline->profiles[i].time);
            clo_free(timeline->profiles[i].used);
        }
    clo_free(timeline->profiles);
    clo_free(timeline->batches);
    *timeline = (clo_synch_timeline){0};
}

/* How many tasks more fit in the step. */
static uint32_t room_in(const clo_synch_problem *p, const int64_t *used, uint32_t kind, uint32_t group, uint32_t most)
{
    for (uint32_t i = p->bin_first[group]; i < p->bin_first[group + 1] && most > 0; i++) {
        uint32_t bin = p->bin_of[i];
        int64_t use = clo_synch_use(p, kind, bin), rest = p->capacity[bin] - used[bin];
        if (use > 0 && rest / use < (int64_t)most)
            most = (uint32_t)(rest / use);
    }
    return most;
}

/* The step that holds `time`: the last one that begins no later. */
static size_t step_at(const clo_synch_profile *f, int64_t time)
{
    size_t low = 0, high = f->steps;

    while (high - low > 1) { /* halves */
        size_t middle = low + (high - low) / 2;
        if (f->time[middle] <= time)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int64_t clo_synch_timeline_find(const clo_synch_timeline *timeline, uint32_t kind, uint32_t group, int64_t from_ns,
                                uint32_t count, uint32_t *together)
{
    const clo_synch_problem *p = timeline->problem;
    const clo_synch_profile *f = &timeline->profiles[p->machine_of[group]];
    int64_t start = from_ns, length = length_of(p, kind, group);
    uint32_t most = count;

    for (size_t i = step_at(f, from_ns); i < f->steps; i++) {
        if (f->time[i] >= start + length)
            break;
        uint32_t room = room_in(p, &f->used[i * p->bins], kind, group, most);
        if (room > 0) {
            most = room;
            continue;
        }
        assert(i + 1 < f->steps); /* the last step holds nothing */
        start = f->time[i + 1];
        most = count;
    }
    *together = most;
    return start;
}

/* Makes a step begin at `time`; false: no memory. */
static bool split(clo_synch_timeline *timeline, clo_synch_profile *f, int64_t time)
{
    size_t i = step_at(f, time), bins = timeline->problem->bins;
    void *times = f->time, *used = f->used;

    if (f->time[i] == time)
        return true;
    bool is_there = clo_grow(&times, &f->room_time, f->steps + 1, sizeof *f->time) == 0;
    f->time = times;
    is_there = is_there && clo_grow(&used, &f->room_used, (f->steps + 1) * bins, sizeof *f->used) == 0;
    f->used = used;
    if (!is_there)
        return false;
    memmove(&f->time[i + 1], &f->time[i], (f->steps - i) * sizeof *f->time);
    memmove(&f->used[(i + 1) * bins], &f->used[i * bins], (f->steps - i) * bins * sizeof *f->used);
    f->time[i + 1] = time;
    f->steps++;
    return true;
}

void clo_synch_timeline_place(clo_synch_timeline *timeline, clo_synch_batch batch)
{
    const clo_synch_problem *p = timeline->problem;
    clo_synch_profile *f = &timeline->profiles[p->machine_of[batch.group]];
    int64_t end = batch.start_ns + length_of(p, batch.kind, batch.group);
    void *batches = timeline->batches;

    if (timeline->has_failed || !split(timeline, f, batch.start_ns) || !split(timeline, f, end) ||
        clo_grow(&batches, &timeline->room, timeline->count + 1, sizeof batch) != 0) {
        timeline->has_failed = true;
        return;
    }
    timeline->batches = batches;
    timeline->batches[timeline->count++] = batch;
    for (size_t i = step_at(f, batch.start_ns); f->time[i] < end; i++) /* a step begins at `end` */
        for (uint32_t b = p->bin_first[batch.group]; b < p->bin_first[batch.group + 1]; b++)
            f->used[i * p->bins + p->bin_of[b]] += clo_synch_use(p, batch.kind, p->bin_of[b]) * batch.count;
}

bool clo_synch_timeline_keep(clo_synch_timeline *to, const clo_synch_timeline *from, int64_t before_ns)
{
    if (!clo_synch_timeline_create(to, from->problem))
        return false;
    for (size_t i = 0; i < from->count; i++)
        if (from->batches[i].start_ns < before_ns)
            clo_synch_timeline_place(to, from->batches[i]);
    if (!to->has_failed)
        return true;
    clo_synch_timeline_destroy(to);
    return false;
}

int64_t clo_synch_timeline_weighted(const clo_synch_timeline *timeline, int64_t *done)
{
    const clo_synch_problem *p = timeline->problem;
    int64_t sum = 0;

    memset(done, 0, p->jobs * sizeof *done);
    for (size_t i = 0; i < timeline->count; i++) {
        const clo_synch_batch *b = &timeline->batches[i];
        int64_t finish = b->start_ns + clo_synch_time(p, b->kind, b->group);
        if (finish > done[p->job_of[b->kind]])
            done[p->job_of[b->kind]] = finish;
    }
    for (uint32_t j = 0; j < p->jobs; j++)
        sum += p->weight[j] * done[j];
    return sum;
}
