/* plan/ports/network.h - the messages of a plan under way: who may set out, who moves, who is there. Driven by whoever
 * keeps the time: the walk through a plan (ports.c), the simulator.
 *
 * A machine sends CLO_PORT_FLOWS messages above CLO_PORT_LARGE_BYTES at once, the most urgent first, smaller ones at
 * once. What moves shares ports and links (share.h), then travels for the latency of its link. */
#ifndef CLO_PLAN_PORTS_NETWORK_H
#define CLO_PLAN_PORTS_NETWORK_H

#include "base/order/heap.h"
#include "library.h"
#include "plan/ports/share.h"

/* A message above CLO_PORT_LARGE_BYTES is a flow; a machine sends CLO_PORT_FLOWS of these at once, if nothing else is
 * asked for (clo_remote_config.flows_max). */
#define CLO_PORT_LARGE_BYTES 65536u
#define CLO_PORT_FLOWS 4u

typedef struct clo_network {
    clo_messages messages;
    clo_share share;
    int64_t now_ns;
    clo_heap *urgent; /* [machines] large messages that wait there, the most urgent on top */
    clo_heap_item *urgent_items;
    uint32_t *flows;     /* [machines] large messages under way from it */
    int64_t *sent_ns;    /* [messages] when the execution had ended */
    clo_heap ready;      /* messages that set out once all executions of this moment have ended, by number */
    clo_heap travelling; /* messages that have left, by when they are there */
} clo_network;

/* placements: [count] of a valid plan, borrowed until close. Returns CLO_OK, CLO_ERR_UNSUPPORTED (branches),
 * CLO_ERR_LIMIT or CLO_ERR_MEMORY; close it in any case. Nothing else here allocates. */
clo_status clo_network_open(clo_network *n, const clo_cost *cost, const clo_placement *placements, size_t count);
void clo_network_close(clo_network *n);

/* The execution has ended at now_ns: its messages set out with those of others that end in this moment, in an order
 * that does not depend on that of the calls. */
void clo_network_send(clo_network *n, uint32_t placement);

/* When something happens next, if nothing else is sent; INT64_MAX: never. Finds the rates of what moves. Call it when
 * all is sent that goes at now_ns. */
int64_t clo_network_next_ns(clo_network *n);

/* Everything moves until at_ns, >= now_ns and <= clo_network_next_ns, which was called since the last change. */
void clo_network_go(clo_network *n, int64_t at_ns);

/* A message that is there now; its consumers are messages.far[first .. end). CLO_NONE: no other. */
uint32_t clo_network_take(clo_network *n);

#endif
