/* flight/seen.h - releases as they are seen: the last ones, and late ones beyond them, in fixed memory. */
#ifndef CLO_TRACE_FLIGHT_SEEN_H
#define CLO_TRACE_FLIGHT_SEEN_H

#include <clotho/flight.h>

/* An execution that is kept. */
typedef struct clo_seen_execution {
    uint32_t task, instance, executor, is_replica;
    int64_t start_ns, finish_ns; /* since the submit */
} clo_seen_execution;

typedef struct clo_seen_release {
    uint64_t number; /* 1 + the release; 0: none */
    uint32_t count;
    bool is_late;
    int64_t end_ns;                 /* of the last one so far */
    clo_seen_execution *executions; /* [clo_seen.executions] */
} clo_seen_release;

typedef struct clo_seen {
    /* Given. */
    uint32_t last, late, executions;
    int64_t period_ns, deadline_ns;

    int64_t submit_ns;
    clo_seen_release *releases; /* [last + late] the last ones by number % last, behind them the late ones */
    uint32_t late_count;
    clo_seen_execution *memory; /* of all */
    uint64_t releases_seen, late_seen, strays;
} clo_seen;

/* Takes the memory of what is given. Returns CLO_OK or CLO_ERR_MEMORY, with nothing to be closed. */
clo_status clo_seen_open(clo_seen *seen);
void clo_seen_close(clo_seen *seen);

/* Forgets all. */
void clo_seen_begin(clo_seen *seen, int64_t submit_ns);

/* One more, not much older than the ones before. O(1); O(late) where a late release is retired. */
void clo_seen_add(clo_seen *seen, const clo_release_record *next);

void clo_seen_count(const clo_seen *seen, clo_flight_counts *counts);

/* events: receives what is kept; NULL: nobody wants it. Returns how many these are. */
size_t clo_seen_events(const clo_seen *seen, clo_trace_event *events);

#endif
