/* driver.h - for tests of bodies that finish later: a thread that gets tokens by a list, and completes them. Tokens
 * that may have become stale (token.h) are drained before their runtime is freed. */
#ifndef CLO_TEST_DRIVER_H
#define CLO_TEST_DRIVER_H

#include "support.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define DRIVER_TOKENS 16384u

typedef struct driver {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    clo_token tokens[DRIVER_TOKENS];
    uint64_t *outputs[DRIVER_TOKENS];
    uint32_t given, taken;
    /* Completes nothing before so many were given. */
    uint32_t wanted;
    bool stops;
    _Atomic uint32_t completed, stale;
} driver;

static inline void *driver_main(void *argument)
{
    driver *d = argument;

    pthread_mutex_lock(&d->lock);
    for (;;) {
        while (!d->stops && (d->taken == d->given || d->given < d->wanted))
            pthread_cond_wait(&d->changed, &d->lock);
        if (d->taken == d->given)
            break;
        clo_token token = d->tokens[d->taken % DRIVER_TOKENS];
        uint64_t *output = d->outputs[d->taken++ % DRIVER_TOKENS];
        pthread_mutex_unlock(&d->lock);
        if (output != NULL)
            (*output)++; /* travels with the completion */
        atomic_fetch_add(clo_token_complete(token, 0) == CLO_OK ? &d->completed : &d->stale, 1);
        pthread_mutex_lock(&d->lock);
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

static inline void driver_start(driver *d, uint32_t wanted)
{
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->changed, NULL);
    d->given = d->taken = 0;
    d->wanted = wanted;
    d->stops = false;
    atomic_store(&d->completed, 0);
    atomic_store(&d->stale, 0);
    assert_int_equal(pthread_create(&d->thread, NULL, driver_main, d), 0);
}

static inline void driver_give(driver *d, clo_token token, uint64_t *output)
{
    pthread_mutex_lock(&d->lock);
    d->tokens[d->given % DRIVER_TOKENS] = token;
    d->outputs[d->given++ % DRIVER_TOKENS] = output;
    pthread_cond_signal(&d->changed);
    pthread_mutex_unlock(&d->lock);
}

/* All that was given is completed, and the driver leaves it alone. Beside no body that gives more. */
static inline void driver_drain(driver *d)
{
    for (bool is_over = false; !is_over; sched_yield()) {
        pthread_mutex_lock(&d->lock);
        is_over = atomic_load(&d->completed) + atomic_load(&d->stale) == d->given;
        pthread_mutex_unlock(&d->lock);
    }
}

/* Completes what was given, and ends. */
static inline void driver_stop(driver *d)
{
    pthread_mutex_lock(&d->lock);
    d->stops = true;
    pthread_cond_signal(&d->changed);
    pthread_mutex_unlock(&d->lock);
    pthread_join(d->thread, NULL);
    pthread_cond_destroy(&d->changed);
    pthread_mutex_destroy(&d->lock);
}

#endif
