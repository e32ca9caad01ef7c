/* plan/ports/share.h - messages that move at once, and how fast each does. */
#ifndef CLO_PLAN_PORTS_SHARE_H
#define CLO_PLAN_PORTS_SHARE_H

#include "base/order/heap.h"
#include "plan/ports/messages.h"

#include <stdbool.h>

/* The limits that a message crosses: the port that it leaves by, the one that it enters, the link between the two
 * machines, and its own rate, which all messages with that rate on the link have. */
#define CLO_SHARE_CROSSES 4

typedef struct clo_flow {
    uint32_t message;
    bool is_settled;   /* only while rates are found */
    uint64_t rate_q32; /* bytes/ns */
    clo_u128 left_q32; /* bytes */
} clo_flow;

/* A port, a link, or a rate. */
typedef struct clo_limit {
    uint64_t left_q32;   /* bytes/ns that nobody has yet; UINT64_MAX: no limit */
    uint32_t flows;      /* that have no rate yet; 0 but while rates are found */
    uint32_t first, end; /* its flows, in `crossing` */
} clo_limit;

typedef struct clo_share {
    const clo_messages *messages;
    uint32_t machines;
    uint32_t (*crosses)[CLO_SHARE_CROSSES]; /* [messages_count] limits of each message */
    clo_limit *limits;                      /* [limits_count] ports out, then in; then links; then rates */
    uint32_t limits_count, first_link, first_rate;
    clo_flow *flows; /* [messages_count] those that move are first */
    uint32_t flows_count;
    bool has_changed; /* since rates were found */

    /* Only while rates are found. */
    uint32_t *crossing; /* [CLO_SHARE_CROSSES * messages_count] flows, limit by limit */
    uint32_t *list;     /* [limits_count] limits that are crossed; later: those that leave least */
    uint64_t *marks;    /* [messages_count / 64 + 1] a bit for each flow of these */
    clo_heap heap;      /* limits by what each leaves to a flow, or once left: it only grows */
} clo_share;

/* Returns CLO_OK or CLO_ERR_MEMORY; close it in any case. O(messages * log messages). */
clo_status clo_share_open(clo_share *share, const clo_messages *messages);
void clo_share_close(clo_share *share);

/* The message begins to move. Rates are those of before until clo_share_rates. */
void clo_share_add(clo_share *share, uint32_t message);

/* Gives every flow its rate, >= 1: max-min fair. O(flows * log flows + flows / 64 * different rates). */
void clo_share_rates(clo_share *share);

/* How long until the first flow has moved, rounded up; INT64_MAX: there is none, or it takes that long. */
int64_t clo_share_next_ns(const clo_share *share);

/* All flows move for so long. */
void clo_share_move(clo_share *share, int64_t ns);

/* Takes out one flow that has moved; its message, or CLO_NONE. */
uint32_t clo_share_take(clo_share *share);

#endif
