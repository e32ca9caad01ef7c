/* instance.h - inside the engine: one request of a task body, and its attempts. The driver does all of it. */
#ifndef CLO_RPC_ENGINE_INSTANCE_H
#define CLO_RPC_ENGINE_INSTANCE_H

#include "rpc/engine/method.h"
#include "rpc/engine/throttle.h"
#include "rpc/wire/client.h"
#include "rpc/wire/loop.h"

#include <clotho/token.h>
#include <pthread.h>

typedef struct clo_rpc_instance clo_rpc_instance;

typedef struct clo_rpc_attempt {
    clo_rpc_instance *of;
    uint64_t call; /* 0: not under way */
    int64_t begun_us;
    uint32_t number, replica, is_hedge;
} clo_rpc_attempt;

typedef enum clo_rpc_instance_state {
    CLO_RPC_INSTANCE_IDLE,       /* no body has posted it in this run       */
    CLO_RPC_INSTANCE_EARLY,      /* its arrival is still to come            */
    CLO_RPC_INSTANCE_COMMITTING, /* its "started" is not durable yet        */
    CLO_RPC_INSTANCE_CALLING,    /* attempts are under way, or one is to be */
    CLO_RPC_INSTANCE_DONE        /* the token is completed                  */
} clo_rpc_instance_state;

typedef struct clo_rpc_input {
    const void *at;
    size_t bytes;
} clo_rpc_input;

/* A replica that cannot be reached is left alone for a while; the first call after it finds out. */
typedef struct clo_rpc_replica_state {
    int64_t shunned_until_us;
    uint32_t failures;
} clo_rpc_replica_state;

struct clo_rpc_instance {
    /* Written by the body before it posts the request. */
    clo_rpc_engine *owner;
    const clo_rpc_method *what;
    uint32_t instance, replica, inputs_count;
    clo_rpc_input *inputs;
    void *output;
    clo_token token;

    /* Of the lists that workers append to. */
    clo_rpc_instance *next_posted, *next_cancelled, *next_committing;
    uint64_t cancelled_number;
    bool is_posted_cancelled;

    /* The driver's. */
    clo_rpc_instance_state state;
    clo_rpc_attempt attempts[CLO_RPC_ATTEMPTS_MAX];
    uint32_t begun, active, held;
    uint64_t number; /* of its token */
    int64_t arrival_us, deadline_us, hedge_us, retry_us;
    bool is_late, has_own_deadline; /* that of its call is before that of the run */
    uv_timer_t timer;
};

/* A replica is at another endpoint. */
typedef struct clo_rpc_move {
    struct clo_rpc_move *next;
    uint32_t service, replica;
    bool is_done; /* a later one is of the same replica */
    char endpoint[CLO_RPC_NAME_BYTES];
} clo_rpc_move;

/* Of a request, and of the run in which it was cancelled: the number of its token. */
typedef struct clo_rpc_cancel {
    clo_rpc_instance *of;
    uint64_t number;
} clo_rpc_cancel;

struct clo_rpc_engine {
    clo_rpc_engine_config config;
    uv_loop_t loop;
    clo_rpc_peers peers;
    uv_async_t wake;
    uv_check_t after_poll;
    uv_prepare_t before_poll;
    uv_thread_t thread;
    clo_rpc_client *calls;
    int endpoints[CLO_RPC_SERVICES_MAX][CLO_RPC_REPLICAS_MAX];
    clo_rpc_throttle throttles[CLO_RPC_SERVICES_MAX];
    clo_rpc_replica_state replicas[CLO_RPC_SERVICES_MAX][CLO_RPC_REPLICAS_MAX];
    clo_rpc_instance *requests, *committing;
    clo_rpc_cancel *cancels; /* [instances] */
    clo_rpc_input *inputs;
    int64_t *latencies_us;
    unsigned char *scratch;
    size_t scratch_bytes;
    uint64_t random;
    int64_t start_us;
    bool journal_failed;
    clo_rpc_engine_stats stats;

    /* Under `lock`: what other threads ask for. */
    pthread_mutex_t lock;
    pthread_cond_t settled;
    clo_rpc_instance *posted, **posted_end, *cancelled;
    clo_rpc_move *moves;
    uint64_t settle_asked, settle_done;
    clo_rpc_engine_stats settled_stats, here; /* here: of methods that no service answers, failures alone */
    bool is_stopping;
};

/* Of deadlines and latencies: CLOCK_MONOTONIC. */
static inline int64_t clo_rpc_engine_now_us(void)
{
    return (int64_t)(uv_hrtime() / 1000);
}

/* A body has posted it; its run is cut short; its "started" is durable. */
void clo_rpc_instance_begin(clo_rpc_instance *r);
void clo_rpc_instance_cancel(clo_rpc_instance *r);
void clo_rpc_instance_committed(clo_rpc_instance *r);

/* Ends it with a failure that is named by `status` and `why`. */
void clo_rpc_instance_fail(clo_rpc_instance *r, clo_rpc_reply_status status, const char *why);

#endif
