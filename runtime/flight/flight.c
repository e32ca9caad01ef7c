/* flight.c - see clotho/flight.h. Release k has place k % last. Who comes to a place in which an earlier release stands
 * retires it: a late one changes its memory for that of a place among the late ones, any other is forgotten.
 *
 * Workers are read in pieces and merged by the ends of executions, so the releases that are seen at a time are those
 * that were in flight. */
#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "graph/graph.h"
#include "flight/seen.h"
#include "trace/trace.h"

#include <clotho/flight.h>
#include <stdlib.h>

enum { PIECE = 16, PIECES_MAX = 1 << 20, LAST = 64, LATE = 64 };

/* What was read of a worker, and is still to be sorted in. */
typedef struct feed {
    clo_release_record records[PIECE];
    uint32_t at, count;
    bool is_empty;           /* of the ring, in this call */
    uint64_t dropped, first; /* by the worker: since the runtime began, and at clo_flight_begin */
} feed;

struct clo_flight {
    clo_runtime *runtime;
    const clo_cost *cost;
    clo_seen seen;
    feed *feeds; /* [workers] */
    uint32_t workers;
    uint64_t job; /* 0: not begun */
    int64_t submit_ns;
};

static clo_status check(const clo_flight_config *config)
{
    if (config->period_ns < 0 || config->deadline_ns < 0)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_flight_config.period_ns or deadline_ns is negative; use 0 for none");
    if ((uint64_t)config->last + config->late > CLO_FLIGHT_RELEASES_MAX)
        return clo_fail(CLO_ERR_LIMIT, "clo_flight_config keeps %llu releases; at most %u",
                        (unsigned long long)config->last + config->late, CLO_FLIGHT_RELEASES_MAX);
    return CLO_OK;
}

static clo_seen seen_of(const clo_flight_config *config, const clo_graph *graph)
{
    return (clo_seen){.last = config->last > 0 ? config->last : LAST,
                      .late = config->late > 0 ? config->late : LATE,
                      .period_ns = config->period_ns,
                      .deadline_ns = config->deadline_ns > 0 ? config->deadline_ns : config->period_ns,
                      .executions = config->executions > 0 ? config->executions : clo_graph_instances(graph)};
}

clo_status clo_flight_create(clo_runtime *runtime, const clo_cost *cost, const clo_flight_config *config,
                             clo_flight **out)
{
    clo_flight_config mine = CLO_FLIGHT_CONFIG_INIT;

    if (runtime == NULL || cost == NULL || out == NULL)
        return clo_fail_null("clo_flight_create", "runtime, cost or out");
    clo_status status = clo_config_read(&mine, sizeof mine, config, "clo_flight_config");
    if (status == CLO_OK)
        status = check(&mine);
    if (status != CLO_OK)
        return status;
    if (clo_platform_executors(clo_cost_platform(cost)) != clo_runtime_workers(runtime))
        return clo_fail(CLO_ERR_ARGUMENT, "the cost is of another platform than the runtime");
    clo_flight *flight = clo_allocate(1, sizeof *flight);
    feed *feeds = clo_allocate(clo_runtime_workers(runtime), sizeof *feeds);
    if (flight != NULL && feeds != NULL) {
        *flight = (clo_flight){.runtime = runtime,
                               .cost = cost,
                               .seen = seen_of(&mine, clo_cost_graph(cost)),
                               .feeds = feeds,
                               .workers = clo_runtime_workers(runtime)};
        status = clo_seen_open(&flight->seen);
    } else {
        status = clo_fail_memory("a clo_flight");
    }
    if (status == CLO_OK) {
        *out = flight;
        return CLO_OK;
    }
    clo_free(feeds);
    clo_free(flight);
    return status;
}

void clo_flight_destroy(clo_flight *flight)
{
    if (flight == NULL)
        return;
    clo_seen_close(&flight->seen);
    clo_free(flight->feeds);
    clo_free(flight);
}

typedef struct wanted {
    uint64_t id;
    int64_t submit_ns;
    bool is_there;
} wanted;

static void look(void *argument, const clo_job_progress *progress)
{
    wanted *job = argument;

    if (progress->id != job->id)
        return;
    job->is_there = true;
    job->submit_ns = progress->submit_ns;
}

clo_status clo_flight_begin(clo_flight *flight, const clo_job *job)
{
    if (flight == NULL || job == NULL)
        return clo_fail_null("clo_flight_begin", "flight or job");
    wanted found = {.id = clo_job_id(job)};
    clo_status status = clo_runtime_visit_jobs(flight->runtime, look, &found);

    if (status != CLO_OK)
        return status;
    if (!found.is_there)
        return clo_fail(CLO_ERR_ARGUMENT, "the runtime of the clo_flight has no such job");
    if (found.submit_ns == 0)
        return clo_fail(CLO_ERR_STATE, "the job was never submitted; begin after clo_job_submit");
    clo_seen_begin(&flight->seen, found.submit_ns);
    flight->job = found.id;
    flight->submit_ns = found.submit_ns;
    for (uint32_t w = 0; w < flight->workers; w++) {
        feed *f = &flight->feeds[w];
        (void)clo_runtime_record_read_releases(flight->runtime, w, f->records, 0, &f->first);
        f->dropped = f->first;
    }
    return CLO_OK;
}

/* The next record that is to be sorted in; false: there is none now. */
static bool fill(clo_flight *flight, uint32_t w)
{
    feed *f = &flight->feeds[w];

    if (f->at < f->count)
        return true;
    if (f->is_empty)
        return false;
    f->at = 0;
    f->count = (uint32_t)clo_runtime_record_read_releases(flight->runtime, w, f->records, PIECE, &f->dropped);
    f->is_empty = f->count < PIECE;
    return f->count > 0;
}

/* The worker whose next execution ended first; CLO_NONE: none has any. */
static uint32_t next_worker(clo_flight *flight)
{
    uint32_t best = CLO_NONE;
    int64_t first_ns = INT64_MAX;

    for (uint32_t w = 0; w < flight->workers; w++)
        if (fill(flight, w)) {
            int64_t ns = flight->feeds[w].records[flight->feeds[w].at].record.finish_ns;
            if (best == CLO_NONE || ns < first_ns) {
                best = w;
                first_ns = ns;
            }
        }
    return best;
}

/* The graph of the flight has what ran: it is the job's. */
static bool is_known(const clo_flight *flight, const clo_record *record)
{
    const clo_graph *graph = clo_cost_graph(flight->cost);

    return record->task < graph->tasks && record->instance < clo_graph_instances_of(graph, record->task);
}

size_t clo_flight_read(clo_flight *flight)
{
    uint32_t w;
    size_t count = 0;

    if (flight == NULL || flight->job == 0)
        return 0;
    for (uint32_t i = 0; i < flight->workers; i++)
        flight->feeds[i].is_empty = false;
    for (uint32_t left = PIECES_MAX; left > 0 && (w = next_worker(flight)) != CLO_NONE; left--) {
        const clo_release_record *next = &flight->feeds[w].records[flight->feeds[w].at++];
        if (next->record.job != flight->job || next->record.finish_ns < flight->submit_ns)
            continue;
        count++;
        if (is_known(flight, &next->record))
            clo_seen_add(&flight->seen, next);
        else
            flight->seen.strays++;
    }
    return count;
}

clo_status clo_flight_count(const clo_flight *flight, clo_flight_counts *out)
{
    clo_flight_counts counts = CLO_FLIGHT_COUNTS_INIT;

    if (flight == NULL || out == NULL)
        return clo_fail_null("clo_flight_count", "flight or out");
    clo_status status = clo_result_check(out, CLO_BYTES_UP_TO(clo_flight_counts, executions_lost), "clo_flight_counts");
    if (status != CLO_OK)
        return status;
    clo_seen_count(&flight->seen, &counts);
    for (uint32_t w = 0; w < flight->workers; w++)
        counts.executions_lost += flight->feeds[w].dropped - flight->feeds[w].first;
    clo_result_write(out, &counts, sizeof counts);
    return CLO_OK;
}

static int by_finish(const void *left, const void *right)
{
    const clo_trace_event *a = left, *b = right;

    if (a->finish_ns != b->finish_ns)
        return a->finish_ns < b->finish_ns ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return a->executor < b->executor ? -1 : a->executor > b->executor;
}

clo_status clo_flight_trace(const clo_flight *flight, clo_trace **out)
{
    if (flight == NULL || out == NULL)
        return clo_fail_null("clo_flight_trace", "flight or out");
    size_t count = clo_seen_events(&flight->seen, NULL);
    clo_trace_event *events = clo_allocate(count, sizeof *events);

    if (events == NULL)
        return clo_fail_memory("a trace");
    (void)clo_seen_events(&flight->seen, events);
    qsort(events, count, sizeof *events, by_finish);
    for (size_t i = 0; i < count; i++)
        events[i].sequence = i;
    clo_status status = clo_trace_create(flight->cost, false, events, count, out);
    clo_free(events);
    return status;
}
