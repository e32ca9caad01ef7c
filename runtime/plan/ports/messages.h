/* plan/ports/messages.h - who waits for what in a plan over several machines: inputs from the own machine, and
 * messages, one for each (instance, machine). */
#ifndef CLO_PLAN_PORTS_MESSAGES_H
#define CLO_PLAN_PORTS_MESSAGES_H

#include "graph/graph.h"
#include "platform/model/platform.h"

#include <clotho/plan.h>

/* An input that does not leave its machine: `to` starts no earlier than way_ns after the end of a placement. */
typedef struct clo_near {
    uint32_t from, to;
    int64_t way_ns;
} clo_near;

/* One consumer of a message; consumers of one message stand together. */
typedef struct clo_far {
    uint32_t instance, machine; /* what is sent, and where to */
    uint32_t from, to;          /* placements */
    int64_t arrival_ns;         /* by the plan */
    int64_t alone_ns;           /* what the transfer takes alone */
    uint64_t bytes;
    int64_t rank_u; /* of the consumer's task */
} clo_far;

typedef struct clo_message {
    uint32_t from; /* the placement that is sent */
    uint32_t from_machine, to_machine;
    uint32_t first, end; /* its consumers in `far` */
    uint64_t bytes;      /* the most that one of them takes */
    uint64_t rate_q32;   /* bytes/ns of its link */
    int64_t alone_ns;    /* the longest transfer to one of them, alone */
    int64_t latency_ns;  /* the part of it that is not bytes / rate */
    int64_t rank_u;      /* the largest of them */
} clo_message;

typedef struct clo_messages {
    const clo_graph *graph;
    const clo_platform *platform;
    const clo_placement *placements;
    uint32_t count;
    uint32_t *executions;      /* placements, instance by instance */
    uint32_t *first_execution; /* [instances + 1] */
    clo_near *near;
    uint32_t *first_near; /* [count + 1] by `from` */
    size_t near_count, near_capacity;
    clo_far *far;
    size_t far_count, far_capacity;
    clo_message *list; /* by instance and machine, so that numbers do not depend on the order of placements */
    uint32_t messages_count;
    uint32_t *sent;          /* [messages_count] messages, placement by placement, rising for each */
    uint32_t *first_message; /* [count + 1] of each placement, in `sent` */
} clo_messages;

/* placements: [count] borrowed until close. Returns CLO_OK, CLO_ERR_LIMIT or CLO_ERR_MEMORY; close it in any case. */
clo_status clo_messages_open(clo_messages *m, const clo_cost *cost, const clo_placement *placements, size_t count);
void clo_messages_close(clo_messages *m);

#endif
