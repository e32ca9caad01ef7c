/* trace.c - what a real run took becomes samples: of its trace, or of the flight recorder while it goes on. */

#include "trace/trace.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "cost/cost.h"
#include "platform/model/platform.h"
#include "profile/codelet.h"
#include "profile/table.h"
#include "profile/times.h"

#include <string.h>
#include <time.h>

/* One execution. */
typedef struct sample {
    uint32_t task, instance, executor;
    int64_t ns;
} sample;

/* The row of tasks that run the same on a kind: a call looks up each name once, not once a sample. */
typedef struct memo {
    uintptr_t what; /* 0: free */
    uint64_t size;
    uint32_t kind;
    uint32_t row;        /* CLO_NONE: there is none */
    int64_t expected_ns; /* by what was known before this call; 0: not enough */
} memo;

enum { MEMOS = 256, PROBES = 4, RUN_SAMPLES_MIN = 32, ROW_SAMPLES_MIN = 16 };

typedef struct learner {
    clo_profile *profile; /* locked */
    const clo_cost *cost;
    memo memos[MEMOS + PROBES]; /* from the hash of what, size and kind on */
    uint64_t evicted;           /* clo_profile.evicted, when they were right */
    uint64_t evicted_before;    /* the call */
    uint32_t first;             /* of the rows that have sums, by their run_next; CLO_NONE: none */
    int64_t now_s;
    size_t learned;
    size_t trusted; /* samples of which something was expected; both sums are of them */
    int64_t measured_ns, expected_ns;
} learner;

static void learner_open(learner *l, clo_profile *profile, const clo_cost *cost)
{
    *l = (learner){.profile = profile, .cost = cost, .first = CLO_NONE, .now_s = (int64_t)time(NULL)};
    pthread_mutex_lock(&profile->lock);
    l->evicted = l->evicted_before = profile->evicted;
}

static void learner_close(const learner *l, clo_status status, size_t *learned)
{
    pthread_mutex_unlock(&l->profile->lock);
    if (learned != NULL && status == CLO_OK)
        *learned = l->learned;
}

/* Executions of a last range that is shorter say nothing about a whole one. */
static bool is_whole(const clo_graph *graph, const sample *s)
{
    clo_graph_grain grain = clo_graph_grain_of(graph, s->task);

    return clo_graph_items_of(grain, s->instance) == grain.size;
}

static int64_t expected_of(const clo_profile_row *row)
{
    clo_profile_entry known = clo_profile_row_times(row);
    const clo_profile_time time = {.location_ns = known.location_ns,
                                   .spread_ns = known.spread_ns,
                                   .high_ns = known.high_ns,
                                   .mean_ns = known.mean_ns};

    return known.samples >= CLO_PROFILE_TRUSTED ? clo_profile_time_mean(&time) : 0;
}

/* Looks up, or makes, the row of a task. Another row may have to go: then nothing that was looked up counts. */
static clo_status find_row(learner *l, uint32_t task, memo *into)
{
    clo_profile_entry key = {.bytes = clo_profile_bytes_of(l->cost->graph, task)};
    char scratch[CLO_PROFILE_SCRATCH];

    into->row = CLO_NONE;
    if (!clo_profile_codelet_of(l->cost->graph, task, l->cost->platform->kind_names[into->kind], scratch, &key))
        return CLO_OK;
    const clo_profile_row *found = clo_profile_row_of(l->profile, &key);
    if (found == NULL)
        return clo_fail_memory("an entry of a profile");
    if (l->evicted != l->profile->evicted)
        memset(l->memos, 0, sizeof l->memos);
    l->evicted = l->profile->evicted;
    into->row = (uint32_t)(found - l->profile->rows);
    into->expected_ns = expected_of(found);
    return CLO_OK;
}

/* Its place, or that of the one to be replaced. */
static memo *place_of(learner *l, const memo *wanted)
{
    uint64_t hash = (wanted->what ^ wanted->size * 31 ^ (uint64_t)wanted->kind << 32) * UINT64_C(0x9e3779b97f4a7c15);
    memo *first = &l->memos[hash >> 56];

    for (memo *at = first; at < first + PROBES; at++)
        if (at->what == 0 || (at->what == wanted->what && at->size == wanted->size && at->kind == wanted->kind))
            return at;
    return first;
}

/* Where the sample goes. */
static clo_status place(learner *l, const sample *s, memo *out)
{
    uint32_t kind = l->cost->platform->executors[s->executor].kind;

    *out = (memo){.kind = kind};
    out->what = clo_profile_same_of(l->cost->graph, s->task, l->cost->platform->kind_names[kind], &out->size);
    if (out->what == 0)
        return find_row(l, s->task, out);
    memo *at = place_of(l, out);
    if (at->what != out->what || at->size != out->size || at->kind != kind) {
        clo_status status = find_row(l, s->task, out);
        if (status != CLO_OK)
            return status;
        *at = *out;
    }
    *out = *at;
    return CLO_OK;
}

/* To the sum of the run for the row. */
static void add_up(learner *l, uint32_t number, int64_t ns)
{
    clo_profile_row *row = &l->profile->rows[number];

    if (row->run_samples++ == 0) {
        row->run_next = l->first;
        l->first = number;
    }
    row->run_ns = clo_time_add(row->run_ns, ns);
}

static clo_status learn(learner *l, const sample *s)
{
    memo found;
    clo_status status = place(l, s, &found);

    if (status != CLO_OK || found.row == CLO_NONE || !is_whole(l->cost->graph, s))
        return status;
    clo_profile_row_learn(&l->profile->rows[found.row], s->ns, l->now_s);
    l->learned++;
    if (found.expected_ns > 0) {
        l->trusted++;
        l->measured_ns = clo_time_add(l->measured_ns, s->ns);
        l->expected_ns = clo_time_add(l->expected_ns, found.expected_ns);
        add_up(l, found.row, s->ns);
    }
    return CLO_OK;
}

/* Rows lose their sums. Where a row had to go, the list of them may be cut: then nothing is learned of them. */
static void learn_rows(learner *l, bool is_run)
{
    bool is_cut = l->evicted_before != l->profile->evicted;
    uint32_t next;

    for (uint32_t r = is_cut ? CLO_NONE : l->first; r != CLO_NONE; r = next) {
        clo_profile_row *row = &l->profile->rows[r];
        next = row->run_next;
        if (is_run && row->run_samples >= ROW_SAMPLES_MIN)
            clo_profile_row_learn_run(row, row->run_ns / row->run_samples);
        row->run_samples = 0;
        row->run_ns = 0;
    }
    for (uint32_t r = 0; r < l->profile->rows_count && is_cut; r++) {
        l->profile->rows[r].run_samples = 0;
        l->profile->rows[r].run_ns = 0;
    }
}

/* All samples were of one run. */
static void learn_run(learner *l)
{
    if (l->trusted < RUN_SAMPLES_MIN)
        return;
    clo_u128 factor_q16 = ((clo_u128)(uint64_t)l->measured_ns << 16) / (uint64_t)l->expected_ns;
    clo_profile_row_learn(&l->profile->runs,
                          factor_q16 > CLO_ESTIMATOR_MOST_NS ? CLO_ESTIMATOR_MOST_NS : (int64_t)factor_q16, l->now_s);
}

clo_status clo_profile_learn_trace(clo_profile *profile, const clo_cost *cost, const clo_trace *trace, size_t *learned)
{
    if (profile == NULL || cost == NULL || trace == NULL)
        return clo_fail_null("clo_profile_learn_trace", "profile, cost or trace");
    clo_status status = clo_trace_matches(trace, cost);
    learner l;

    if (status != CLO_OK)
        return status;
    if (trace->is_emulated)
        return clo_fail(CLO_ERR_STATE, "a profile learns from the real clock; the times of this trace are emulated");
    learner_open(&l, profile, cost);
    for (size_t i = 0; i < trace->count && status == CLO_OK; i++) {
        const clo_trace_event *event = &trace->events[i];
        const sample s = {event->task, event->instance, event->executor, event->finish_ns - event->start_ns};
        if (!event->is_lost && !event->is_skipped)
            status = learn(&l, &s);
    }
    if (status == CLO_OK)
        learn_run(&l);
    learn_rows(&l, status == CLO_OK);
    learner_close(&l, status, learned);
    return status;
}

/* The record can be of the job. */
static clo_status check_record(const clo_cost *cost, const clo_record *record)
{
    const clo_graph *graph = cost->graph;

    if (record->task < graph->tasks && record->instance < clo_graph_instances_of(graph, record->task) &&
        record->executor < cost->platform->executors_count && record->finish_ns >= record->start_ns)
        return CLO_OK;
    return clo_fail(CLO_ERR_ARGUMENT,
                    "task %u, instance %u on executor %u: the record is of another graph or platform than the cost",
                    record->task, record->instance, record->executor);
}

clo_status clo_profile_learn_records(clo_profile *profile, const clo_cost *cost, uint64_t job,
                                     const clo_record *records, size_t count, size_t *learned)
{
    if (profile == NULL || cost == NULL || (records == NULL && count > 0))
        return clo_fail_null("clo_profile_learn_records", "profile, cost or records");
    clo_status status = CLO_OK;
    learner l;

    learner_open(&l, profile, cost);
    for (size_t i = 0; i < count && status == CLO_OK; i++) {
        const clo_record *record = &records[i];
        if (record->job != job)
            continue;
        const sample s = {record->task, record->instance, record->executor, record->finish_ns - record->start_ns};
        status = check_record(cost, record);
        if (status == CLO_OK)
            status = learn(&l, &s);
    }
    learn_rows(&l, false);
    learner_close(&l, status, learned);
    return status;
}
