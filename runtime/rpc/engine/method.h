/* workflow.h - what a workflow consists of: services with their replicas, and methods: what its tasks call. */
#ifndef RPC_WORKFLOW_H
#define RPC_WORKFLOW_H

#include "frame.h"
#include "journal.h"

#include <clotho/clotho.h>
#include <stdio.h>

enum { ATTEMPTS_MAX = 5, REPLICAS_MAX = 64, SERVICES_MAX = 16 };

/* What an interrupted call of a method means. */
typedef enum method_effect {
    /* Nothing happened that another call does not repeat. */
    EFFECT_NONE = 0,

    /* Applied once for each key. */
    EFFECT_KEYED = 1,

    /* It may have happened: it is not sent again, and the run stops and names it. */
    EFFECT_ONCE = 2
} method_effect;

typedef struct engine engine; /* engine.h */

/* What a task calls: clo_task.argument of engine_body (engine.h). Filled by the caller; kept until engine_destroy. */
typedef struct method {
    engine *owner;
    const char *name;
    uint32_t task, service, instances;
    method_effect effect;

    /* Replica of methods with an effect. */
    uint32_t home;

    /* Expected of one service, and from here to the end of the workflow (rank_u); services after the first. */
    uint64_t work_us, rest_us;
    uint32_t hops;

    /* Of the largest answer (parcel.h). */
    uint32_t output_bytes;
    uint32_t inputs_max;

    /* Number of instance 0 among all instances. */
    uint32_t first;

    /* [instances] microseconds after the start of the run at which a request comes; NULL: at once. */
    const int64_t *arrivals_us;
} method;

/* Replicas of one service. */
typedef struct service_group {
    char name[64];
    char replica[REPLICAS_MAX][ENDPOINT_MAX];
    uint32_t replicas;
} service_group;

typedef struct engine_config {
    const service_group *services;
    uint32_t services_count;

    /* [executors of the platform] which replica of its service each stands for. */
    const uint32_t *replica_of;

    method *methods;
    uint32_t methods_count, instances;

    uint64_t run, seed;

    /* Of a run, or of each request where methods have arrivals; 0: none. */
    int64_t deadline_us;

    uint32_t attempts, is_hedging;

    /* [instances] attempts of earlier runs: the numbers of new ones go on from there; NULL: none. */
    const uint32_t *attempts_before;

    /* An attempt without an answer for so long is given up, as if its connection had broken. */
    int64_t attempt_us;

    /* While calls are under way, services of ours are asked for a sign of life so often; 0: never. */
    uint32_t beat_ms;

    /* 1: a request that fails leaves its output as zeros, and the others go on. */
    uint32_t keeps_going;

    int64_t backoff_us, backoff_max_us;

    /* [method.hops] further endpoints of each call's route. */
    const char *hop[HOPS_MAX];

    /* NULL: none. Used by the driver alone from engine_start to engine_stop. */
    journal *journal;

    /* One line an attempt and an answer; NULL: none. */
    FILE *events;
} engine_config;

typedef struct engine_stats {
    uint64_t requests, calls, hedges, hedges_won, cancelled, retries, failures, payload_bytes;

    /* Hedges that the throttle or the budget did not allow. */
    uint64_t held_back;

    /* One line about the first failure; "": none. Likewise of the journal. */
    char failure[512], journal[256];
} engine_stats;

#endif
