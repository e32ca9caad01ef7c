/* remote/messages/join.h - what all ranks did, put together when a run has ended. */
#ifndef CLO_REMOTE_MESSAGES_JOIN_H
#define CLO_REMOTE_MESSAGES_JOIN_H

#include "remote/messages/clocks.h"
#include "remote/messages/exchange.h"

/* Adds up what ranks counted: result->busy_ns, wait_ns, executed ... All ranks must call. */
clo_status clo_join_counts(const clo_exchange *x, clo_remote_result *result);

/* The hash of all outputs in the order of instances: it goes from rank to rank with the outputs, which stay where they
 * are. All ranks must call. */
clo_status clo_join_hash(const clo_exchange *x, uint64_t *hash);

/* The executions of all ranks on the clock of rank 0, from the first start; before, after: [ranks], of rank 0. Fills
 * makespan_ns, clock_error_ns and what effects began before their causes; trace on rank 0. All ranks must call. */
clo_status clo_join_trace(const clo_exchange *x, const clo_offset *before, const clo_offset *after,
                          clo_remote_result *result, clo_trace **trace);

#endif
