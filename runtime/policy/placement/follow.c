/* follow.c - see clotho/follow.h: the rows of a log as an enforced plan of all jobs. Its time is that of the log, told
 * forward by arrivals and ends (enforced.h), so no clock is read and the run's own log replays. Where nothing runs, and
 * those that go first have not come or have nothing left, it goes on to what can be done.
 *
 * The memory is that of the log's ends and jobs; what the log has of executors or jobs that there are not is left out.
 * O(ends * log ends) once; an event O(1), amortised; a decision as clo_enforced_choose, and executors for each ready
 * stage up to the first one that the log does not have. */
#include "base/numbers/saturate.h"
#include "base/order/heap.h"
#include "policy/placement/enforced.h"
#include "policy/select/policies.h"

#include "platform/model/platform.h"

#include <clotho/follow.h>

enum { JOBS_MAX = 1 << 24, LATE_PART = 32 };

typedef struct follow {
    clo_enforced plan;
    uint32_t jobs;       /* of the log */
    bool has_begun;      /* a job has come */
    uint32_t expected;   /* the first that is not known to be there or gone */
    int64_t begin_ns;    /* where the times of the log begin */
    int64_t *arrival_ns; /* [jobs] in the log */
    uint32_t *left;      /* [jobs] rows whose instances have not started */
} follow;

/* Of the log: jobs, and ends of bodies. */
typedef struct extent {
    const clo_log_record *records;
    size_t count, ends;
    uint32_t jobs;
} extent;

static bool is_row(const clo_log_record *record, uint32_t executors)
{
    return record->what == CLO_LOG_FINISH && record->job < JOBS_MAX && record->executor < executors;
}

static extent measure(const clo_follow_argument *argument, uint32_t executors)
{
    extent of = {0};

    of.records = argument != NULL ? clo_log_records(argument->plan, &of.count) : NULL;
    for (size_t i = 0; i < of.count; i++) {
        const clo_log_record *record = &of.records[i];
        of.ends += is_row(record, executors);
        if ((is_row(record, executors) || record->what == CLO_LOG_ARRIVE) && record->job >= of.jobs &&
            record->job < JOBS_MAX)
            of.jobs = (uint32_t)record->job + 1;
    }
    return of;
}

static size_t follow_bytes(const clo_limits *limits, const void *argument)
{
    extent of = measure(argument, limits->executors);

    return sizeof(follow) + of.jobs * (sizeof(int64_t) + 2 * sizeof(uint32_t)) + of.ends * sizeof(clo_heap_item) +
           clo_enforced_bytes(limits->platform, of.jobs, of.ends) + sizeof(int64_t);
}

static void fill(follow *f, const clo_platform *platform, const extent *of, clo_heap *by_start)
{
    for (uint32_t j = 0; j < of->jobs; j++)
        f->arrival_ns[j] = 0;
    for (size_t i = 0; i < of->count; i++) {
        const clo_log_record *record = &of->records[i];
        if (record->what == CLO_LOG_ARRIVE && record->job < of->jobs)
            f->arrival_ns[record->job] = record->now_ns;
        if (!is_row(record, platform->executors_count))
            continue;
        clo_heap_push(by_start, record->value, i);
        clo_enforced_count(&f->plan, platform, record->executor);
        f->left[record->job]++;
    }
    clo_enforced_counted(&f->plan, platform);
    while (by_start->count > 0) {
        const clo_log_record *record = &of->records[clo_heap_pop(by_start).id];
        clo_enforced_add(&f->plan, platform,
                         (clo_enforced_row){.start_ns = record->value,
                                            .time_ns = clo_time_sub(record->now_ns, record->value),
                                            .stage = record->stage,
                                            .executor = record->executor,
                                            .job = (uint32_t)record->job});
    }
}

static clo_status follow_init(void *state, const clo_view *view)
{
    const clo_platform *platform = clo_view_limits(view)->platform;
    extent of = measure(clo_view_argument(view), platform->executors_count);
    follow *f = state;
    clo_heap by_start = {.capacity = of.ends};

    f->jobs = of.jobs;
    f->arrival_ns = (int64_t *)(void *)(f + 1);
    by_start.items = (clo_heap_item *)(void *)(f->arrival_ns + of.jobs);
    clo_enforced_open(&f->plan, by_start.items + of.ends, platform, of.jobs, of.ends);
    f->left = f->plan.slots + of.jobs;
    f->plan.is_patient = true;
    fill(f, platform, &of, &by_start);
    clo_enforced_begin(&f->plan, platform, of.jobs);
    return CLO_OK;
}

/* The job's place in the log; CLO_NONE: it is beyond its end. */
static uint32_t place_of(const follow *f, const clo_view *view, uint32_t slot)
{
    uint64_t id = clo_view_job(view, slot)->id;

    return id < f->jobs ? (uint32_t)id : CLO_NONE;
}

/* Jobs come in order of their numbers: those before that have not come are gone. */
static void arrive(follow *f, const clo_view *view, uint32_t slot, uint32_t job)
{
    for (; f->expected <= job; f->expected++)
        if (f->plan.slots[f->expected] == CLO_ENFORCED_LATE)
            f->plan.slots[f->expected] = CLO_ENFORCED_GONE;
    f->plan.slots[job] = slot;
    if (!f->has_begun)
        f->begin_ns = clo_time_sub(clo_view_now_ns(view), f->arrival_ns[job]);
    f->has_begun = true;
    if (f->arrival_ns[job] > f->plan.passed_ns)
        f->plan.passed_ns = f->arrival_ns[job];
}

static void follow_event(void *state, const clo_view *view, const clo_event *event)
{
    follow *f = state;
    uint32_t job = event->job != CLO_NONE ? place_of(f, view, event->job) : CLO_NONE;

    if (event->kind == CLO_EVENT_FINISH && event->executor != CLO_NONE)
        clo_enforced_finish(&f->plan, event->executor);
    if (job == CLO_NONE)
        return;
    if (event->kind == CLO_EVENT_ARRIVE)
        arrive(f, view, event->job, job);
    else if (event->kind == CLO_EVENT_START)
        f->left[job] -= event->count < f->left[job] ? event->count : f->left[job];
    else if (event->kind == CLO_EVENT_CANCEL || event->kind == CLO_EVENT_END)
        f->plan.slots[job] = CLO_ENFORCED_GONE;
}

/* The oldest ready stage of a job that the log has nothing more of; `any`: of any job. */
static bool choose_other(const follow *f, const clo_view *view, bool any, clo_choice *choice)
{
    clo_ready_stage ready = clo_view_first_ready(view);

    for (; ready.job != CLO_NONE && clo_view_step(view); ready = clo_view_next_ready(view, ready)) {
        const clo_live_job *job = clo_view_job(view, ready.job);
        uint32_t place = place_of(f, view, ready.job);
        if ((!any && place != CLO_NONE && f->left[place] > 0) || job->running + job->committed >= job->limit)
            continue;
        if (!clo_view_steps(view, clo_view_limits(view)->executors))
            return false;
        uint32_t executor = clo_view_free_for(view, ready.job, ready.stage);
        if (executor == CLO_NONE)
            continue;
        *choice = (clo_choice){ready.job, ready.stage, 1, executor, CLO_NONE, 0, 0};
        return true;
    }
    return false;
}

/* Nothing runs, and jobs that go first have not come: those that are to come at this very moment, or a little later. The
 * decision is asked for again when the first of them is late by a part of its time. */
static bool wait_for_late(const follow *f, const clo_view *view, clo_choice *choice)
{
    uint32_t machines = clo_view_limits(view)->platform->machines_count;
    int64_t wake_ns = INT64_MAX;

    for (uint32_t m = 0; m < machines && clo_view_step(view); m++) {
        const clo_enforced_row *row = &f->plan.rows[f->plan.next[m]];
        if (f->plan.next[m] == f->plan.end[m] || f->plan.slots[row->job] != CLO_ENFORCED_LATE)
            continue;
        int64_t late_ns = clo_time_add(clo_time_add(f->begin_ns, row->start_ns), row->time_ns / LATE_PART + 1);
        wake_ns = late_ns < wake_ns ? late_ns : wake_ns;
    }
    if (wake_ns <= clo_view_now_ns(view) || wake_ns == INT64_MAX)
        return false;
    *choice = (clo_choice){CLO_NONE, CLO_NONE, 1, CLO_NONE, CLO_NONE, 0, wake_ns};
    return true;
}

static bool follow_decide(void *state, const clo_view *view, clo_choice *choice)
{
    follow *f = state;
    bool is_cut = false;

    if (clo_view_next_free(view, CLO_NONE) == CLO_NONE)
        return false;
    if (f->has_begun && clo_enforced_choose(&f->plan, view, choice, &is_cut))
        return true;
    if (is_cut || choose_other(f, view, false, choice))
        return !is_cut;
    if (!f->has_begun || !clo_enforced_is_idle(view))
        return false;
    if (wait_for_late(f, view, choice))
        return true;
    if (clo_enforced_go_on(&f->plan, view) && clo_enforced_choose(&f->plan, view, choice, &is_cut))
        return true;
    return !is_cut && choose_other(f, view, true, choice);
}

static void follow_release(const void *argument)
{
    clo_log_destroy(((const clo_follow_argument *)argument)->owned);
}

const clo_policy clo_policy_follow = {
    .size = sizeof(clo_policy),
    .name = "follow",
    .summary =
        "follow:LOG: as a log has it, of a plan of all jobs (simulate --planner --log) or of another run; what it "
        "does not have, and without one: oldest first",
    .state_bytes = follow_bytes,
    .init = follow_init,
    .event = follow_event,
    .decide = follow_decide,
    .argument_bytes = sizeof(clo_follow_argument),
    .release = follow_release,
};
