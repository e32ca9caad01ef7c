/* work.h - inside a service: its requests, and where they are found.
 *
 *   clo_rpc_service
 *     |- connections --> clo_rpc_connection --> works: its requests
 *     |- queue: those that wait for a unit; buckets: all, by connection and number
 *     |- methods[] --> clo_rpc_served: who answers
 *     '- applied: keys in memory; effects: the table of them */
#ifndef CLO_RPC_SERVICE_WORK_H
#define CLO_RPC_SERVICE_WORK_H

#include "rpc/service/backlog.h"
#include "rpc/store/effects.h"
#include "rpc/wire/client.h"
#include "rpc/wire/loop.h"
#include "rpc/wire/peer.h"

typedef enum clo_rpc_work_state {
    CLO_RPC_WORK_QUEUED,  /* in the backlog                                       */
    CLO_RPC_WORK_RUNNING, /* takes a unit                                         */
    CLO_RPC_WORK_POOLED,  /* takes a unit: its handler is on a thread of the pool */
    CLO_RPC_WORK_SAME,    /* takes a unit: a handler has a request of its key     */
    CLO_RPC_WORK_KEEPING, /* its effect is not durable yet                        */
    CLO_RPC_WORK_ONWARD,  /* waits for the next service of its route              */
    CLO_RPC_WORK_ENDED
} clo_rpc_work_state;

typedef struct clo_rpc_connection clo_rpc_connection;

/* A method, and who answers it. */
typedef struct clo_rpc_served {
    char method[CLO_RPC_NAME_BYTES];
    clo_rpc_handler handler;
    void *argument;
    uint32_t is_short;
} clo_rpc_served;

/* One request. */
typedef struct clo_rpc_work {
    clo_rpc_waiting wait; /* first: a request of the backlog is a request */
    clo_rpc_service *owner;
    clo_rpc_connection *from;

    /* Of its connection; of its bucket; of those that are kept, or wait for one of their key. */
    struct clo_rpc_work *next, *before, *next_in_bucket, *next_kept;
    clo_rpc_frame head;
    clo_rpc_ask what;
    clo_rpc_work_state state;
    int64_t arrived_us, began_us, expires_us;
    uint64_t onward, inputs_hash;
    clo_rpc_fault fault;

    /* Its effect has happened with this request, not with one before. */
    int is_fresh;
    unsigned char *output; /* [what.output_bytes] */
    uint32_t output_bytes; /* of them the answer   */
    uv_timer_t timer;

    /* Of its handler; the pool's thread has them while the state is POOLED. */
    const clo_rpc_served *by;
    uv_work_t pooled;
    clo_rpc_request request;
    clo_rpc_answer answer;
    clo_status status;
    unsigned char input[];
} clo_rpc_work;

struct clo_rpc_connection {
    clo_rpc_service *owner;
    clo_rpc_peer *p;
    clo_rpc_connection *next, *before;
    clo_rpc_work *works;
};

enum { CLO_RPC_WORK_BUCKETS = 1 << 12 };

struct clo_rpc_service {
    clo_rpc_service_config config;
    uv_loop_t loop;
    clo_rpc_peers peers;
    uv_tcp_t listener, turned_away; /* turned_away: a connection for which there was no memory, while it is closed */
    uv_async_t stop;
    char endpoint[CLO_RPC_NAME_BYTES];
    clo_rpc_served *methods;
    size_t methods_count, methods_capacity;
    char **allowed, *keys; /* copies of the config's */
    clo_rpc_client *onward;
    clo_rpc_keys *applied;
    clo_rpc_backlog queue;
    clo_rpc_connection *connections;
    clo_rpc_work *buckets[CLO_RPC_WORK_BUCKETS], *keeping, *same, *pooled;
    uint32_t running, waiting_onward;

    /* Keys that were added since the last commit. */
    size_t fresh;
    clo_rpc_effects effects;
    uv_prepare_t before_poll;
    uv_check_t after_poll;
    int has_run, is_closing, is_turning_away, has_waiting; /* has_waiting: another one of those waits */
};

/* Puts it where work_find sees it, and takes it away from there. */
void clo_rpc_work_link(clo_rpc_work *w);
void clo_rpc_work_unlink(clo_rpc_work *w);

/* The request of that number on the connection; NULL: it has ended. Time: O(1), as long as requests are not many times
 * CLO_RPC_WORK_BUCKETS. */
clo_rpc_work *clo_rpc_work_find(const clo_rpc_connection *from, uint64_t call);

/* One line of the log, if there is one. */
void clo_rpc_work_note(const clo_rpc_work *w, const char *event, int64_t value);

/* What a handler sees of it. */
clo_rpc_request clo_rpc_work_request(const clo_rpc_work *w);

/* CLOCK_MONOTONIC. */
static inline int64_t clo_rpc_work_now_us(void)
{
    return (int64_t)(uv_hrtime() / 1000);
}

static inline int64_t clo_rpc_work_left_us(const clo_rpc_work *w)
{
    return w->expires_us == CLO_RPC_FRAME_NO_DEADLINE ? CLO_RPC_FRAME_NO_DEADLINE
                                                      : w->expires_us - clo_rpc_work_now_us();
}

/* serve.c: how a request comes, waits for a unit, and begins; then the files below have it. */

/* Takes a request; its connection may be closed for it. */
void clo_rpc_serve_take(clo_rpc_connection *from, const clo_rpc_frame *f);

/* Begins what waits, where units are free, and keeps effects: before and after each wait of the loop. */
void clo_rpc_serve_next(clo_rpc_service *s);

/* handler.c: who answers a request, and on which thread: the loop's, or one of libuv's pool. */

/* The request has a unit, and its time to wait is over. */
void clo_rpc_handler_call(clo_rpc_work *w);

/* effect.c: an effect happens once for each key. The key goes into the table with the answer, and the answer leaves
 * when that is durable: group commit, once before and once after each wait of the loop. */

/* 1: the key was applied before, and the request has its answer or a refusal. */
int clo_rpc_effect_known(clo_rpc_work *w);

/* Its handler has answered, and the effect is to be kept. `left`: nobody waits for the answer. */
void clo_rpc_effect_have(clo_rpc_work *w);
void clo_rpc_effect_left(clo_rpc_work *w);

/* Makes durable what is to be kept; then the answers leave. */
void clo_rpc_effect_keep(clo_rpc_service *s);

/* route.c: a request with a route passes its answer on to the next service, and gives back what that answers. */

/* The answer goes on to the next service of the route, or back. */
void clo_rpc_route_proceed(clo_rpc_work *w);

/* finish.c: how a request ends: with an answer, with a refusal, at its deadline, or with nobody who waits for it. */

/* Ends it without an answer: cancelled, or its connection broke. */
void clo_rpc_finish_end(clo_rpc_work *w);

/* Ends it with an answer: a refusal, or its output. */
void clo_rpc_finish_refuse(clo_rpc_work *w, clo_rpc_reply_status status, int64_t pushback_ms, const char *text);
void clo_rpc_finish_output(clo_rpc_work *w);

/* Calls `then` after `us`; the timer's data is the request. on_deadline refuses it. */
void clo_rpc_finish_arm(clo_rpc_work *w, uv_timer_cb then, int64_t us);
void clo_rpc_finish_on_deadline(uv_timer_t *timer);

/* Frees it, when its timer is closed. */
void clo_rpc_finish_free(clo_rpc_work *w);

/* When to come again, by the work that waits. */
int64_t clo_rpc_finish_pushback_ms(const clo_rpc_work *w);

#endif
