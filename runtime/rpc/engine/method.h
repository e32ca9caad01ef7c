/* method.h - what a workflow consists of: services with their replicas, and methods: what its tasks call. */
#ifndef CLO_RPC_ENGINE_METHOD_H
#define CLO_RPC_ENGINE_METHOD_H

#include "rpc/store/journal.h"
#include "rpc/wire/frame.h"

#include <clotho/body.h>

typedef struct clo_rpc_engine clo_rpc_engine; /* engine.h */

/* What a task calls: clo_task.argument of engine_body (engine.h). Filled by the caller; kept until engine_destroy. */
typedef struct clo_rpc_method {
    clo_rpc_engine *owner;
    const char *name;

    /* Which one of its service; what the body of a request begins with. */
    char method[CLO_RPC_NAME_BYTES];
    const void *body;
    size_t body_bytes;
    uint32_t task, service, instances;
    clo_rpc_effect effect;

    /* Replica of methods with an effect. */
    uint32_t home;

    /* Expected of one service, and from here to the end of the workflow (rank_u); services after the first. */
    uint64_t work_us, rest_us;
    uint32_t hops;

    /* From when it is ready; 0: none of its own. An attempt without an answer for so long is given up, as if its
     * connection had broken. */
    int64_t deadline_us, attempt_us;

    /* Not NULL: no service is called, and the run has this number. */
    clo_rpc_handler here;
    void *here_argument;
    uint64_t run;

    /* Of the largest answer (parcel.h). */
    uint32_t output_bytes;
    uint32_t inputs_max;

    /* Number of instance 0 among all instances. */
    uint32_t first;

    /* [instances] microseconds after the start of the run at which a request comes; NULL: at once. */
    const int64_t *arrivals_us;
} clo_rpc_method;

/* Replicas of one service. */
typedef struct clo_rpc_group {
    char name[CLO_RPC_NAME_BYTES];
    char replica[CLO_RPC_REPLICAS_MAX][CLO_RPC_NAME_BYTES];
    uint32_t replicas;
} clo_rpc_group;

typedef struct clo_rpc_engine_config {
    /* The driver's: endpoints may change (engine_move). */
    clo_rpc_group *services;
    uint32_t services_count;

    /* [executors of the platform] which replica of its service each stands for. */
    const uint32_t *replica_of;

    clo_rpc_method *methods;
    uint32_t methods_count, instances;

    uint64_t run, seed;

    /* Of a run, or of each request where methods have arrivals; 0: none. */
    int64_t deadline_us;

    uint32_t attempts, is_hedging;

    /* [instances] attempts of earlier runs: the numbers of new ones go on from there; NULL: none. */
    const uint32_t *attempts_before;

    /* While calls are under way, services of ours are asked for a sign of life so often; 0: never. */
    uint32_t beat_ms;

    /* 1: a request that fails leaves its output as zeros, and the others go on. */
    uint32_t keeps_going;

    int64_t backoff_us, backoff_max_us;

    /* When a hedge is due while too few answers are known; 0: never. */
    int64_t hedge_us;

    /* [method.hops] further endpoints of each call's route. */
    const char *hop[CLO_RPC_HOPS_MAX];

    /* NULL: none. Used by the driver alone from engine_start to engine_stop. */
    clo_rpc_journal *journal;

    /* One line an attempt and an answer; NULL: none. */
    void (*event)(void *argument, const char *line);
    void *argument;
} clo_rpc_engine_config;

typedef struct clo_rpc_engine_stats {
    uint64_t requests, calls, hedges, hedges_won, cancelled, retries, failures, payload_bytes;

    /* Hedges that the throttle or the budget did not allow. */
    uint64_t held_back;

    /* One line about the first failure; "": none. Likewise of the journal. */
    char failure[512], journal[256];
} clo_rpc_engine_stats;

#endif
