/* cost/source.h - which execution of a producer an input comes from, by the times of a plan: the one rule of the
 * compiled plan (engine/program/replay.c), of the ports (plan/ports/messages.c) and of several machines
 * (remote/split/split.c).
 *
 * Of the executions that stand before the consumer, by start, finish and the order of the graph, the one whose data
 * arrive first (LACHESIS eq. 9), as if alone. Of equal ones, one on the consumer's executor, then one on its machine,
 * which needs no message; then the original, then the replica that the plan has last. */
#ifndef CLO_COST_SOURCE_H
#define CLO_COST_SOURCE_H

#include "platform/model/platform.h"

#include <clotho/plan.h>

typedef struct clo_source {
    int64_t arrival_ns; /* where the consumer runs */
    uint32_t executor;
} clo_source;

/* The producer of the consumer: it comes first in the order of the graph. */
static inline bool clo_source_stands_before(const clo_placement *producer, const clo_placement *consumer)
{
    if (producer->start_ns != consumer->start_ns)
        return producer->start_ns < consumer->start_ns;
    return producer->finish_ns <= consumer->finish_ns;
}

static inline int clo_source_closeness(const clo_platform *platform, uint32_t source, uint32_t executor)
{
    if (source == executor)
        return 2;
    return platform->executors[source].machine == platform->executors[executor].machine;
}

/* True if `a` is to be taken and not `b`, by a consumer on `executor`. */
static inline bool clo_source_is_nearer(const clo_platform *platform, clo_source a, clo_source b, uint32_t executor)
{
    if (a.arrival_ns != b.arrival_ns)
        return a.arrival_ns < b.arrival_ns;
    return clo_source_closeness(platform, a.executor, executor) > clo_source_closeness(platform, b.executor, executor);
}

#endif
