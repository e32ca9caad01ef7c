/* work.h - inside a service: its requests, and where they are found. */
#ifndef RPC_WORK_H
#define RPC_WORK_H

#include "backlog.h"
#include "client.h"
#include "keys.h"
#include "peer.h"
#include "service_config.h"
#include "effects.h"

typedef enum work_state {
    WORK_QUEUED,  /* in the backlog                                     */
    WORK_RUNNING, /* takes a unit                                       */
    WORK_KEEPING, /* its effect is not durable yet                      */
    WORK_ONWARD,  /* waits for the next service of its route            */
    WORK_ENDED
} work_state;

typedef struct connection connection;
typedef struct service service; /* service.h */

/* One request. */
typedef struct work {
    waiting wait; /* first: a request of the backlog is a request */
    service *owner;
    connection *from;

    /* Of its connection; of its bucket; of those that are kept. */
    struct work *next, *before, *next_in_bucket, *next_keeping;
    frame head;
    ask what;
    work_state state;
    int64_t arrived_us, began_us, expires_us, needs_us;
    uint64_t onward, inputs_hash;

    /* Its effect has happened with this request, not with one before. */
    int is_fresh;
    unsigned char *output; /* [what.output_bytes] */
    uint32_t output_bytes; /* of them the answer   */
    uv_timer_t timer;
    unsigned char input[];
} work;

struct connection {
    service *owner;
    peer *p;
    connection *next, *before;
    work *works;
};

enum { WORK_BUCKETS = 1 << 12 };

struct service {
    service_config config;
    uv_loop_t *loop;
    client *onward;
    keys *applied;
    backlog queue;
    connection *connections;
    work *buckets[WORK_BUCKETS], *keeping;
    uint32_t running, waiting_onward;
    uint64_t served;

    /* Keys that were added since the last commit. */
    size_t fresh;
    store store;
    uv_prepare_t before_poll;
    uv_check_t after_poll;
    int is_closing;
};

/* Puts it where work_find sees it, and takes it away from there. */
void work_link(work *w);
void work_unlink(work *w);

/* The request of that number on the connection; NULL: it has ended. Time: O(1), as long as requests are not many times
 * WORK_BUCKETS. */
work *work_find(const connection *from, uint64_t call);

/* One line of the log, if there is one. */
void work_note(const work *w, const char *event, int64_t value);

/* CLOCK_MONOTONIC. */
static inline int64_t work_now_us(void)
{
    return (int64_t)(uv_hrtime() / 1000);
}

static inline int64_t work_left_us(const work *w)
{
    return w->expires_us == FRAME_NO_DEADLINE ? FRAME_NO_DEADLINE : w->expires_us - work_now_us();
}

#endif
