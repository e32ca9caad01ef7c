/* oracle_times.c - Decima's environment with common random numbers: the time of an instance is drawn from the seed, its
 * job, its stage and its number, not in the order of starts. As tools/train has it for its samples. */
#include "online/oracle_times.h"

#include <stdlib.h>
#include <string.h>

typedef struct times {
    clo_environment inner;
    uint64_t seed, state;
} times;

/* The library asks for a level and for one of the times. */
static uint32_t below(void *source, uint32_t stream, uint32_t bound)
{
    times *t = source;
    uint64_t state = t->state + stream;

    return bench_random_below(&state, bound);
}

static int64_t time_ns(void *state, const clo_environment_execution *x)
{
    times *t = state;
    uint64_t mixed = t->seed;

    mixed = bench_random(&mixed) ^ x->job;
    mixed = bench_random(&mixed) ^ x->stage;
    mixed = bench_random(&mixed) ^ x->instance;
    t->state = bench_random(&mixed);
    return t->inner.time_ns(t->inner.state, x);
}

static void close_times(void *state)
{
    times *t = state;

    clo_environment_close(&t->inner);
    free(t);
}

bool oracle_times_open(const occasion *at, uint64_t seed, clo_environment *out)
{
    clo_decima_config config = CLO_DECIMA_CONFIG_INIT;

    if (at->environment == NULL || strncmp(at->environment, "decima", strlen("decima")) != 0 || at->truth != NULL)
        return online_environment_open(at, seed, out);
    if (clo_environment_open(at->environment, seed, out) != CLO_OK)
        return bench_fail(at->environment);
    config.faithful = strncmp(out->name, "decima:faithful", strlen("decima:faithful")) == 0;
    int64_t moving_ns = config.moving_ns = out->moving_ns;
    clo_environment_close(out);
    times *t = calloc(1, sizeof *t);
    if (t == NULL)
        return bench_fail("no memory for an environment");
    t->inner = (clo_environment)CLO_ENVIRONMENT_INIT;
    t->seed = seed;
    config.below = below;
    config.source = t;
    if (clo_decima_open(&config, &t->inner) != CLO_OK) {
        free(t);
        return bench_fail("an environment");
    }
    *out = t->inner;
    out->moving_ns = moving_ns;
    out->state = t;
    out->time_ns = time_ns;
    out->close = close_times;
    return true;
}
