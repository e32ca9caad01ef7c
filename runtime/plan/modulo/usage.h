/* plan/modulo/usage.h - the capacities of all machines at each offset of an interval: what is in use there by whatever
 * releases. */
#ifndef CLO_PLAN_MODULO_USAGE_H
#define CLO_PLAN_MODULO_USAGE_H

#include "cost/cost.h"

typedef struct clo_usage clo_usage;

/* *out: NULL where no task has demands; the calls below take that for room without end. */
clo_status clo_usage_open(const clo_cost *cost, clo_usage **out);
void clo_usage_close(clo_usage *usage);

/* Nothing is in use. */
void clo_usage_begin(clo_usage *usage, int64_t interval_ns);

/* The earliest moment from from_ns on, at most an interval later, when the machine of `executor` has room for an
 * instance of `task` for length_ns in every interval; -1: there is none. One without length needs room at a point.
 * O(changes of the machine's usage, of each resource that it demands, times their rounds). */
int64_t clo_usage_find(const clo_usage *usage, uint32_t task, uint32_t executor, int64_t from_ns, int64_t length_ns);

/* Takes it. False: out of memory. O(changes). */
bool clo_usage_take(clo_usage *usage, uint32_t task, uint32_t executor, int64_t start_ns, int64_t length_ns);

/* Of all resources that the instance demands, the largest share of what the machine has, Q16. */
int64_t clo_usage_share(const clo_usage *usage, uint32_t task, uint32_t executor);

#endif
