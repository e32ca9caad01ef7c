/* engine.h - the workflow engine: requests of task bodies become calls to services, and answers complete their tokens.
 *
 * Bodies (engine_body) run on Clotho's workers: they take a token, note where their inputs are, and hand the request to
 * the driver, the one thread with a libuv loop, which does all else: attempts, hedges, retries, deadlines, the journal.
 *
 * A request has up to `attempts` attempts under one deadline, which travels as time left. Pure methods are hedged: no
 * answer after the service's 95th percentile (throttle.h), then another attempt at another replica; the first answer
 * wins, the others are cancelled. An error that may pass makes the next attempt due: at once beside a running one, or
 * where the request has not left and another replica can be reached; else after a backoff. Methods with an effect stay at one replica, whose table of keys makes them happen once; their
 * "started" is durable before the call leaves. Nothing waits for a "finished": records become durable in their order, so
 * the "started" of whatever follows carries it. */
#ifndef RPC_ENGINE_H
#define RPC_ENGINE_H

#include "client.h"
#include "journal.h"
#include "throttle.h"

#include <clotho/clotho.h>
#include <stdio.h>

enum { ATTEMPTS_MAX = 5, REPLICAS_MAX = 64, SERVICES_MAX = 16 };

/* What an interrupted call of a method means. */
typedef enum method_effect {
    /* Nothing happened that another call does not repeat. */
    EFFECT_NONE = 0,

    /* Applied once for each key. */
    EFFECT_KEYED = 1,

    /* It may have happened: the run stops and names it. */
    EFFECT_ONCE = 2
} method_effect;

typedef struct engine engine;

/* What a task calls: clo_task.argument of engine_body. Filled by the caller; kept until engine_destroy. */
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

    uint32_t output_bytes, inputs_max;

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

    /* One line about the first failure; "": none. */
    char failure[512];
} engine_stats;

/* Starts the driver. The config is copied, what it points to is borrowed. NULL: no memory, or an endpoint that is none,
 * with one line in `error`. */
engine *engine_start(const engine_config *config, char *error, size_t error_bytes);

/* The body of all tasks; its argument is a method. */
int engine_body(const clo_call *call);

/* Sets the zero of arrivals and deadlines: just before clo_job_submit. */
void engine_begin(engine *e);

/* Waits until the driver has nothing left of a run that has ended and its journal is durable. */
void engine_settle(engine *e, engine_stats *out);

/* After engine_settle: [instances] microseconds from a request's arrival to its answer; -1: it had none. */
const int64_t *engine_latencies(const engine *e);

/* Ends the driver. No job may run. NULL is allowed. */
void engine_stop(engine *e);

/* Idempotency key, never 0. */
uint64_t engine_key(uint64_t run, uint32_t task, uint32_t instance);

#endif
