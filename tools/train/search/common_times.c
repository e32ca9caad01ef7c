/* common_times.c - see common_times.h. */
#include "train/search/common_times.h"

#include "train/numbers/parameters.h"

#include <stdlib.h>
#include <string.h>

typedef struct common_times {
    clo_environment inner;
    uint64_t seed, key;
} common_times;

/* The library asks for a level and for one of the times; each may be asked for once. */
static uint32_t below(void *source, uint32_t stream, uint32_t bound)
{
    const common_times *c = source;
    draws d = {draws_key(c->key, stream, 0)};

    return (uint32_t)((draws_next(&d) >> 32) * bound >> 32);
}

static int64_t time_ns(void *state, const clo_environment_execution *x)
{
    common_times *c = state;

    c->key = draws_key(draws_key(c->seed, x->job, x->stage), x->instance, 0);
    return c->inner.time_ns(c->inner.state, x);
}

static void close_times(void *state)
{
    common_times *c = state;

    clo_environment_close(&c->inner);
    free(c);
}

clo_status common_times_open(const char *name, uint64_t seed, clo_environment *out)
{
    clo_decima_config config = CLO_DECIMA_CONFIG_INIT;
    common_times *c = NULL;
    clo_status status = clo_environment_open(name, seed, out); /* refuses what is no environment */

    if (status != CLO_OK)
        return status;
    config.faithful = strncmp(out->name, "decima:faithful", strlen("decima:faithful")) == 0;
    int64_t moving_ns = config.moving_ns = out->moving_ns; /* of the configuration 0 is the default */
    clo_environment_close(out);
    c = calloc(1, sizeof *c);
    if (c == NULL)
        return CLO_ERR_MEMORY;
    c->inner = (clo_environment)CLO_ENVIRONMENT_INIT;
    c->seed = seed;
    config.below = below;
    config.source = c;
    status = clo_decima_open(&config, &c->inner);
    if (status != CLO_OK) {
        free(c);
        return status;
    }
    *out = c->inner;
    out->moving_ns = moving_ns;
    out->state = c;
    out->time_ns = time_ns;
    out->close = close_times;
    return CLO_OK;
}
