/* service_config.h - what a service is told when it starts. */
#ifndef RPC_SERVICE_CONFIG_H
#define RPC_SERVICE_CONFIG_H

#include <stdint.h>
#include <stdio.h>

enum { ALLOWED_MAX = 64 };

typedef struct service_config {
    uint32_t slots, queue;
    uint64_t seed;

    /* Times of requests are multiplied by this, and have this spread. */
    double pace, sigma;

    /* Stalls in a thousand requests, and their length. */
    uint32_t stall_permille, stall_ms;

    /* After so many requests all take `slow` times as long. */
    double slow;
    uint64_t slow_after;

    /* In a thousand answers, those that are sent twice: a fault that callers must bear. */
    uint32_t twice_permille;

    /* One line an event, one an effect that is applied; NULL: none. */
    FILE *log, *effects;

    /* Path of the table of keys and effects (store.h); NULL: keys are in memory only. */
    const char *keys;

    /* 1: the table survives a loss of power. */
    uint32_t is_durable;

    /* How often the next service of a route is asked for a sign of life; 0: never. */
    uint32_t beat_ms;

    /* Patterns of fnmatch: the endpoints that a route may pass on to. None: requests with a route are refused. */
    const char *allowed[ALLOWED_MAX];
    uint32_t allowed_count;

    /* What all connections together may hold that is not sent yet. */
    size_t unsent_max;
} service_config;

#endif
