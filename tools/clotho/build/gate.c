/* gate.c - see gate.h. */
#define _DEFAULT_SOURCE /* getloadavg */
#include "clotho/build/gate.h"

#include <assert.h>
#include <stdlib.h>

void build_gate_open(build_gate *g, jobserver *jobs, double load_most)
{
    *g = (build_gate){.jobs = jobs, .load_most = load_most};
}

/* ninja's rule: one step runs at any load, so that the build goes on. */
static bool is_calm(const build_gate *g)
{
    double load;

    return g->load_most <= 0 || g->running == 0 || getloadavg(&load, 1) != 1 || load < g->load_most;
}

bool build_gate_enter(build_gate *g, bool is_elsewhere)
{
    if (!is_calm(g))
        return false;
    if (g->running == 0)
        jobserver_mend(g->jobs); /* all tokens may be lost: then nobody would ever write one */
    if (!is_elsewhere && !jobserver_take(g->jobs))
        return false;
    g->running++;
    return true;
}

void build_gate_leave(build_gate *g, bool is_elsewhere)
{
    assert(g->running > 0);
    g->running--;
    if (!is_elsewhere)
        jobserver_give(g->jobs);
}

void build_gate_close(build_gate *g)
{
    if (g->running == 0)
        jobserver_mend(g->jobs);
}
