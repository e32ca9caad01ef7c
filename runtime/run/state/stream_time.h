/* run/state/stream_time.h - the virtual time of a runtime's scheduler: its events to come.
 *
 * The bodies run on the workers, side by side; what happens when is decided by the combiner, with the events of
 * sim/stream.c in the same order: at one instant ends come first, in order of executors, then arrivals, in the order in
 * which the jobs were submitted, then the scheduler's timer. An end is handled once its body has really ended, and no
 * event before an earlier one. So decisions and times are those of clo_stream_simulate, and of clo_simulate for one
 * job. */
#ifndef CLO_RUN_STATE_STREAM_TIME_H
#define CLO_RUN_STATE_STREAM_TIME_H

#include "base/arena.h"
#include "base/order/heap.h"

#include <clotho/status.h>

/* What runs on an executor, on the scheduler's clock. */
typedef struct clo_timed_body {
    int64_t start_ns, finish_ns;
    /* Its body has ended. */
    bool has_run;
} clo_timed_body;

/* The combiner's, but for `bodies`: the times of what a worker runs are its own to read. */
typedef struct clo_stream_time {
    /* Executors, by the end of what they run; jobs, by arrival. */
    clo_heap ends, arrivals;
    /* [executors] */
    clo_timed_body *bodies;
    int64_t now_ns;
    /* Jobs that came so far. */
    uint32_t submitted;
} clo_stream_time;

typedef enum clo_stream_event {
    /* Nothing, or nothing before a body that still runs. */
    CLO_STREAM_NONE,
    CLO_STREAM_END,
    CLO_STREAM_ARRIVAL,
    CLO_STREAM_TIMER
} clo_stream_event;

/* What clo_stream_time_create takes of an arena; SIZE_MAX: more than there can be. */
size_t clo_stream_time_bytes(uint32_t executors, uint32_t jobs_max);

/* Everything lies in `arena`. Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_stream_time_create(uint32_t executors, uint32_t jobs_max, clo_arena *arena, clo_stream_time **out);

/* The executor begins something, to last for time_ns. */
void clo_stream_time_start(clo_stream_time *time, uint32_t executor, int64_t start_ns, int64_t time_ns);

/* The job in the slot is to arrive. */
void clo_stream_time_submit(clo_stream_time *time, uint32_t slot, int64_t arrival_ns);

/* Takes the next event off, and goes to its time. *which: the executor, or the job's slot. wake_ns: of the scheduler's
 * timer; CLO_TIME_NEVER: none. */
clo_stream_event clo_stream_time_next(clo_stream_time *time, int64_t wake_ns, uint32_t *which);

#endif
