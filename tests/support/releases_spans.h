/* releases_spans.h - when each execution of each release of a releases_scene began and ended: as its workers remember
 * it, or as a trace says. */
#ifndef CLO_TEST_RELEASES_SPANS_H
#define CLO_TEST_RELEASES_SPANS_H

#include "releases_scene.h"

#include "run/state/job.h"
#include "trace/trace.h"

/* [releases * instances] */
typedef struct span {
    int64_t start_ns, finish_ns;
    uint32_t executor;
} span;

static inline span *spans_of(const releases_scene *s)
{
    span *spans = calloc(s->graph->instances * s->releases, sizeof *spans);

    assert_non_null(spans);
    return spans;
}

/* What the workers remember of the last submit. An instance stays on its executor: its releases are in order there. */
static inline span *ran_spans(const releases_scene *s)
{
    const size_t cells = s->graph->instances * s->releases;
    clo_record *records = calloc(cells, sizeof *records);
    uint64_t *next = calloc(s->graph->instances, sizeof *next), dropped = 0, all = 0;
    span *spans = spans_of(s);

    assert_non_null(records);
    assert_non_null(next);
    for (uint32_t w = 0; w < clo_platform_executors(s->platform); w++) {
        size_t count = clo_runtime_record_read(s->runtime, w, records, cells, &dropped);
        assert_int_equal(dropped, 0);
        for (size_t i = 0; i < count; i++) {
            uint32_t instance = s->graph->first_instance[records[i].task] + records[i].instance;
            assert_in_range(next[instance], 0, s->releases - 1);
            spans[next[instance]++ * s->graph->instances + instance] =
                (span){records[i].start_ns - s->job->times.run_ns, records[i].finish_ns - s->job->times.run_ns, w};
        }
        all += count;
    }
    assert_int_equal(all, cells);
    free(records);
    free(next);
    return spans;
}

static inline span *simulated_spans(const releases_scene *s, const clo_trace *trace)
{
    span *spans = spans_of(s);
    size_t count;
    const clo_trace_event *events = clo_trace_events(trace, &count);

    assert_int_equal(count, s->graph->instances * s->releases);
    for (size_t i = 0; i < count; i++) {
        uint32_t instance = s->graph->first_instance[events[i].task] + events[i].instance;
        assert_in_range(events[i].release, 0, s->releases - 1);
        spans[events[i].release * s->graph->instances + instance] =
            (span){events[i].start_ns, events[i].finish_ns, events[i].executor};
    }
    return spans;
}

static inline void same_spans(const releases_scene *s, const span *a, const span *b, uint64_t seed, const char *what)
{
    for (size_t i = 0; i < s->graph->instances * s->releases; i++)
        if (a[i].start_ns != b[i].start_ns || a[i].finish_ns != b[i].finish_ns || a[i].executor != b[i].executor)
            fail_msg(
                "seed %u, release %zu, instance %zu: simulated from %lld to %lld on %u, %s from %lld to %lld on %u",
                (unsigned)seed, i / s->graph->instances, i % s->graph->instances, (long long)a[i].start_ns,
                (long long)a[i].finish_ns, a[i].executor, what, (long long)b[i].start_ns, (long long)b[i].finish_ns,
                b[i].executor);
}

#endif
