/* think.c - see think.h. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/build_plan/think.h"
#include "clotho/common/clock.h"
#include "ninja/step/cpus.h"

#include <stdlib.h>
#include <time.h>

/* One search, and the part of the build's time that it may take, as the end of the build waits for it; all of them
 * after a change; one where the steps need all CPUs, and from there to the next. */
enum { SEARCH_SHARE = 8 };
static const int64_t SEARCH_NS = 40000000, SEARCH_LEAST_NS = 100000, SEARCHES_NS = 400000000, SHORT_NS = 2000000,
                     REST_NS = 50000000;

/* What others do does not count: they and this thread share what the steps leave. */
static bool is_cpu_free(const build_think *t)
{
    return live_cpus(t->live) + 1 <= t->cpus;
}

static void wait_until(build_think *t, int64_t at_ns)
{
    const struct timespec at = {at_ns / 1000000000, at_ns % 1000000000};

    pthread_cond_timedwait(&t->changed, &t->lock, &at);
}

/* One search, with the lock but for the search itself. Returns how long it took. */
static int64_t search(build_think *t, build_rest *copy, int64_t most_ns)
{
    int64_t begun_ns = monotonic_ns(), part_ns = (begun_ns - t->opened_ns) / SEARCH_SHARE + SEARCH_LEAST_NS;

    int64_t behind_ns = t->behind_ns;

    rest_copy(copy, t->rest);
    pthread_mutex_unlock(&t->lock);
    rest_improve(copy, begun_ns - behind_ns, part_ns < most_ns ? part_ns : most_ns);
    pthread_mutex_lock(&t->lock);
    if (!t->is_over)
        rest_adopt(t->rest, copy, monotonic_ns() - t->behind_ns);
    return monotonic_ns() - begun_ns;
}

static void *think(void *of)
{
    build_think *t = of;
    build_rest copy = {0};
    uint64_t seen = 0;
    int64_t spent_ns = 0, next_ns = 0;

    pthread_mutex_lock(&t->lock);
    while (!t->is_over) {
        bool is_new = t->rest != NULL && t->changes != seen;
        int64_t now_ns = monotonic_ns();
        if (is_new) {
            seen = t->changes;
            spent_ns = 0;
        }
        if (t->rest == NULL || spent_ns >= SEARCHES_NS || t->rest->waiting < 2) {
            pthread_cond_wait(&t->changed, &t->lock);
        } else if (is_cpu_free(t)) {
            spent_ns += search(t, &copy, SEARCH_NS);
        } else if (now_ns < next_ns) {
            wait_until(t, next_ns);
        } else {
            search(t, &copy, SHORT_NS);
            spent_ns = SEARCHES_NS;
            next_ns = now_ns + REST_NS;
        }
    }
    pthread_mutex_unlock(&t->lock);
    rest_free_copy(&copy);
    return NULL;
}

void think_open(build_think *t, build_live *live)
{
    pthread_condattr_t attributes;

    *t = (build_think){.live = live, .opened_ns = monotonic_ns(), .cpus = cpus_usable()};
    pthread_mutex_init(&t->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&t->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    t->has_thread = !live->is_cpu_bound && pthread_create(&t->thread, NULL, think, t) == 0;
}

void think_close(build_think *t)
{
    pthread_mutex_lock(&t->lock);
    t->is_over = true;
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
    if (t->has_thread)
        pthread_join(t->thread, NULL);
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
}

void think_again(build_think *t, build_rest *rest, int64_t now_ns)
{
    t->rest = rest;
    t->behind_ns = monotonic_ns() - now_ns;
    t->changes++;
    pthread_cond_signal(&t->changed);
}
