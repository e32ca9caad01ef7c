/* sim/time/stream_time.h - the virtual time of a scheduler: when what runs on each executor ends, and what comes next.
 *
 * At one instant ends come first, in order of their ids, then arrivals of jobs, then the scheduler's timer. Arrivals
 * are the driver's: clo_simulate has one job, clo_stream_simulate a list, and a runtime what was submitted. */
#ifndef CLO_SIM_TIME_STREAM_TIME_H
#define CLO_SIM_TIME_STREAM_TIME_H

#include "base/carve.h"
#include "base/numbers/saturate.h"
#include "base/order/tournament.h"

#include <clotho/graph.h>

typedef struct clo_stream_time {
    int64_t now_ns;
    /* By executor. */
    clo_tournament ends;
} clo_stream_time;

typedef enum clo_stream_event { CLO_STREAM_END, CLO_STREAM_ARRIVAL, CLO_STREAM_TIMER } clo_stream_event;

/* Adds to `block` what so many executors need; with the memory clo_stream_time_begin makes it time 0. */
static inline void clo_stream_time_carve(clo_stream_time *time, uint32_t executors, clo_block *block)
{
    time->ends.leaves = clo_tournament_leaves(executors);
    clo_carve(block, &time->ends.keys, time->ends.leaves);
    clo_carve(block, &time->ends.ids, time->ends.leaves);
    clo_carve(block, &time->ends.winners, 2 * (size_t)time->ends.leaves);
}

static inline void clo_stream_time_begin(clo_stream_time *time)
{
    clo_tournament *ends = &time->ends;

    time->now_ns = 0;
    clo_tournament_open(ends, ends->keys, ends->ids, ends->winners, ends->leaves);
}

/* The next event, which there must be, and its time. arrival_ns: of the next job, wake_ns: of the timer;
 * CLO_TIME_NEVER: there is none. arrivals_first: they come before ends. Time does not go on: that is the driver's. */
static inline clo_stream_event clo_stream_time_next(clo_stream_time *time, int64_t arrival_ns, int64_t wake_ns,
                                                    bool arrivals_first, int64_t *at_ns)
{
    int64_t end_ns = time->ends.count > 0 ? time->ends.keys[clo_tournament_first(&time->ends)] : CLO_TIME_NEVER;
    bool is_end = time->ends.count > 0 && (end_ns < arrival_ns || (end_ns == arrival_ns && !arrivals_first));

    if (is_end && end_ns <= wake_ns)
        return *at_ns = end_ns, CLO_STREAM_END;
    if (arrival_ns <= wake_ns)
        return *at_ns = arrival_ns, CLO_STREAM_ARRIVAL;
    return *at_ns = wake_ns, CLO_STREAM_TIMER;
}

/* Takes the first end off; returns its executor. */
static inline uint32_t clo_stream_time_take(clo_stream_time *time)
{
    uint32_t executor = clo_tournament_first(&time->ends);

    clo_tournament_clear(&time->ends, executor);
    return executor;
}

#endif
