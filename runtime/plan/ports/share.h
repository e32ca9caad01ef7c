/* plan/ports/share.h - messages that move at once, and how fast each does. */
#ifndef CLO_PLAN_PORTS_SHARE_H
#define CLO_PLAN_PORTS_SHARE_H

#include "plan/ports/messages.h"

#include <stdbool.h>

typedef struct clo_flow {
    uint32_t message;
    uint32_t crosses[3]; /* limits: the port that it leaves by, the one that it enters, its link */
    bool is_settled;     /* only while rates are found */
    uint64_t rate_q32;   /* bytes/ns */
    clo_u128 left_q32;   /* bytes */
} clo_flow;

/* A port or a link. */
typedef struct clo_port {
    uint64_t left_q32; /* bytes/ns that nobody has yet */
    uint32_t flows;    /* that have no rate yet */
} clo_port;

typedef struct clo_share {
    const clo_messages *messages;
    uint32_t machines;
    clo_port *ports; /* [2 * machines] out, then in */
    clo_port *links; /* [flows] of the pair of machines whose first flow stands here */
    clo_flow *flows; /* [messages_count] those that move are first */
    uint32_t flows_count;
} clo_share;

/* Returns CLO_OK or CLO_ERR_MEMORY; close it in any case. */
clo_status clo_share_open(clo_share *share, const clo_messages *messages);
void clo_share_close(clo_share *share);

/* The message begins to move. Rates are those of before until clo_share_rates. */
void clo_share_add(clo_share *share, uint32_t message);

/* Gives every flow its rate, >= 1: max-min fair. O(flows * different rates). */
void clo_share_rates(clo_share *share);

/* How long until the first flow has moved, rounded up; INT64_MAX: there is none, or it takes that long. */
int64_t clo_share_next_ns(const clo_share *share);

/* All flows move for so long. */
void clo_share_move(clo_share *share, int64_t ns);

/* Takes out one flow that has moved; its message, or CLO_NONE. */
uint32_t clo_share_take(clo_share *share);

#endif
