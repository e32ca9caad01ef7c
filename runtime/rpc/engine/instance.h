/* request.h - inside the engine: one request of a task body, and its attempts. The driver does all of it. */
#ifndef RPC_REQUEST_H
#define RPC_REQUEST_H

#include "client.h"
#include "throttle.h"
#include "method.h"

#include <pthread.h>

typedef struct request request;

typedef struct attempt {
    request *of;
    uint64_t call; /* 0: not under way */
    int64_t begun_us;
    uint32_t number, replica, is_hedge;
} attempt;

typedef enum request_state {
    REQUEST_IDLE,       /* no body has posted it in this run       */
    REQUEST_EARLY,      /* its arrival is still to come            */
    REQUEST_COMMITTING, /* its "started" is not durable yet        */
    REQUEST_CALLING,    /* attempts are under way, or one is to be */
    REQUEST_DONE        /* the token is completed                  */
} request_state;

typedef struct input {
    const void *at;
    size_t bytes;
} input;

/* A replica that cannot be reached is left alone for a while; the first call after it finds out. */
typedef struct replica_state {
    int64_t shunned_until_us;
    uint32_t failures;
} replica_state;

struct request {
    /* Written by the body before it posts the request. */
    engine *owner;
    const method *what;
    uint32_t instance, replica, inputs_count;
    input *inputs;
    void *output;
    clo_token token;

    /* Of the lists that workers append to. */
    request *next_posted, *next_cancelled, *next_committing;
    uint64_t cancelled_number;
    bool is_posted_cancelled;

    /* The driver's. */
    request_state state;
    attempt attempts[ATTEMPTS_MAX];
    uint32_t begun, active, held;
    uint64_t number; /* of its token */
    int64_t arrival_us, deadline_us, hedge_us, retry_us;
    bool is_late;
    uv_timer_t timer;
};

/* Of a request, and of the run in which it was cancelled: the number of its token. */
typedef struct cancel {
    request *of;
    uint64_t number;
} cancel;

struct engine {
    engine_config config;
    uv_loop_t loop;
    uv_async_t wake;
    uv_check_t after_poll;
    uv_prepare_t before_poll;
    uv_thread_t thread;
    client *calls;
    int endpoints[SERVICES_MAX][REPLICAS_MAX];
    throttle throttles[SERVICES_MAX];
    replica_state replicas[SERVICES_MAX][REPLICAS_MAX];
    request *requests, *committing;
    cancel *cancels; /* [instances] */
    input *inputs;
    int64_t *latencies_us;
    unsigned char *scratch;
    size_t scratch_bytes;
    uint64_t random;
    int64_t start_us;
    bool journal_failed;
    engine_stats stats;

    /* Under `lock`: what other threads ask for. */
    pthread_mutex_t lock;
    pthread_cond_t settled;
    request *posted, **posted_end, *cancelled;
    uint64_t settle_asked, settle_done;
    engine_stats settled_stats;
    bool is_stopping;
};

/* Of deadlines and latencies: CLOCK_MONOTONIC. */
static inline int64_t engine_now_us(void)
{
    return (int64_t)(uv_hrtime() / 1000);
}

/* A body has posted it; its run is cut short; its "started" is durable. */
void request_begin(request *r);
void request_cancel(request *r);
void request_committed(request *r);

/* Ends it with a failure that is named by `status` and `why`. */
void request_fail(request *r, reply_status status, const char *why);

#endif
