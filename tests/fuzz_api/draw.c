/* draw.c - random arguments: ordinary ones, and now and then one from the edges of its type. */
#define _POSIX_C_SOURCE 200809L
#include "fuzz_api.h"

#include <time.h>

bool left_out[FEATURES_COUNT];

bool with(feature_name feature)
{
    return !left_out[feature];
}

uint32_t below(thread *t, uint32_t bound)
{
    return clo_rng_below(&t->rng, bound);
}

bool chance(thread *t, uint32_t percent)
{
    return below(t, 100) < percent;
}

int64_t draw_time(thread *t, int64_t most_ns)
{
    static const int64_t edges[] = {1,         -1,         INT64_MAX,        INT64_MAX - 1,    INT64_MAX / 2,
                                    INT64_MIN, -INT64_MAX, INT64_C(1) << 62, INT64_MAX / 1000, 1000000000};

    if (with(WITH_extreme) && chance(t, 6))
        return edges[below(t, sizeof edges / sizeof edges[0])];
    return 1 + (int64_t)(clo_rng_unit(&t->rng) * (double)most_ns);
}

uint32_t draw_count(thread *t, uint32_t most)
{
    static const uint32_t edges[] = {UINT32_MAX, UINT32_MAX - 1, 1u << 31, 0};

    if (with(WITH_extreme) && chance(t, 5))
        return edges[below(t, sizeof edges / sizeof edges[0])];
    return below(t, most + 1);
}

int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
