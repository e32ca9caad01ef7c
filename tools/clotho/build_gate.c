/* build_gate.c - see build_gate.h. */
#define _DEFAULT_SOURCE /* getloadavg */
#include "build_gate.h"

#include <assert.h>
#include <stdlib.h>
#include <time.h>

enum { LOOK_AGAIN_MS = 50 }; /* nobody tells when the load falls, or when the gate is shut */

void build_gate_open(build_gate *g, jobserver *jobs, double load_most)
{
    *g = (build_gate){.jobs = jobs, .load_most = load_most};
    pthread_mutex_init(&g->lock, NULL);
}

/* ninja's rule: one step runs at any load, so that the build goes on. */
static bool is_calm(const build_gate *g)
{
    double load;

    return g->load_most <= 0 || g->running == 0 || getloadavg(&load, 1) != 1 || load < g->load_most;
}

/* Under the lock. */
static bool try_to_enter(build_gate *g)
{
    if (!is_calm(g))
        return false;
    if (g->running == 0)
        jobserver_mend(g->jobs); /* all tokens may be lost: then nobody would ever write one */
    if (!jobserver_take(g->jobs))
        return false;
    g->running++;
    return true;
}

bool build_gate_enter(build_gate *g)
{
    for (;;) { /* ends: tokens come back when jobs end, load falls, or the build is stopped */
        pthread_mutex_lock(&g->lock);
        bool is_shut = g->is_shut, is_in = !is_shut && try_to_enter(g);
        bool waits_for_token = !is_in && is_calm(g);
        pthread_mutex_unlock(&g->lock);
        if (is_in || is_shut)
            return is_in;
        if (waits_for_token)
            jobserver_wait(g->jobs, LOOK_AGAIN_MS);
        else
            nanosleep(&(struct timespec){0, LOOK_AGAIN_MS * 1000000}, NULL);
    }
}

void build_gate_leave(build_gate *g)
{
    pthread_mutex_lock(&g->lock);
    assert(g->running > 0);
    g->running--;
    jobserver_give(g->jobs);
    pthread_mutex_unlock(&g->lock);
}

void build_gate_shut(build_gate *g)
{
    pthread_mutex_lock(&g->lock);
    g->is_shut = true;
    pthread_mutex_unlock(&g->lock);
}

void build_gate_close(build_gate *g)
{
    if (g->running == 0)
        jobserver_mend(g->jobs);
    pthread_mutex_destroy(&g->lock);
}
