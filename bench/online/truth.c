/* truth.c - what gives the times of an occasion, and estimates that are wrong: policies and the scheduler see the jobs
 * of occasion.workload, while executions take what those of occasion.truth say, drawn by the scene's environment.
 *
 * What an execution needs is held to what it was given: one that needs more of a resource than its stage declares takes
 * longer in proportion to the resource that it lacks most. */
#include "online/online.h"

#include "online/job_order.h"

#include <stdlib.h>
#include <string.h>

/* The state of the environment that the simulator sees. */
typedef struct truth {
    clo_environment inner;
    const clo_workload *workload;
} truth;

static int64_t true_time_ns(void *state, const clo_environment_execution *execution)
{
    truth *t = state;
    clo_environment_execution x = *execution;
    clo_task seen, real;
    double share = 1;

    x.graph = clo_workload_get(t->workload, (uint32_t)x.job)->graph;
    if (clo_graph_task(execution->graph, x.stage, &seen) != CLO_OK || clo_graph_task(x.graph, x.stage, &real) != CLO_OK)
        return x.cost_ns;
    x.cost_ns = real.work_ns;
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        if (seen.demand[r] > 0 && (double)real.demand[r] > share * (double)seen.demand[r])
            share = (double)real.demand[r] / (double)seen.demand[r];
    return (int64_t)((double)t->inner.time_ns(t->inner.state, &x) * share);
}

static void close_truth(void *state)
{
    clo_environment_close(&((truth *)state)->inner);
    free(state);
}

bool online_environment_open(const occasion *at, uint64_t seed, clo_environment *out)
{
    if (strcmp(at->environment, job_order_environment.name) == 0)
        *out = job_order_environment;
    else if (clo_environment_open(at->environment, seed, out) != CLO_OK)
        return bench_fail(at->environment);
    if (at->truth == NULL)
        return true;
    truth *t = calloc(1, sizeof *t);
    if (t == NULL) {
        clo_environment_close(out);
        return bench_fail("no memory for an environment");
    }
    *t = (truth){*out, at->truth};
    *out = (clo_environment)CLO_ENVIRONMENT_INIT;
    out->name = t->inner.name;
    out->moving_ns = t->inner.moving_ns;
    out->keeps_stages = t->inner.keeps_stages;
    out->time_ns = true_time_ns;
    out->close = close_truth;
    out->state = t;
    return true;
}
