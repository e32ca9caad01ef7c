/* quantiles.c - the distribution that an entry stands for (times.h): drawn from, and summed up by its mean. */
#include "base/numbers/saturate.h"
#include "profile/times.h"

__extension__ typedef __int128 wide;

/* At quantiles 0, 1/2, 9/10 and 1. */
typedef struct corners {
    int64_t least, location, high, most;
} corners;

static corners corners_of(const clo_profile_time *time)
{
    int64_t high = time->high_ns > time->location_ns ? time->high_ns : time->location_ns;
    int64_t least = time->location_ns - 2 * time->spread_ns;

    return (corners){least > 0 ? least : 0, time->location_ns, high, clo_time_add(high, high - time->location_ns)};
}

/* From a at u = 0 to b at u = width. */
static int64_t between(int64_t a, int64_t b, uint32_t u, uint32_t width)
{
    return a + (int64_t)((wide)(b - a) * u / width);
}

/* The mean of the straight lines. */
static int64_t mean_of(const corners *c)
{
    return (int64_t)((5 * ((wide)c->least + c->location) + 4 * ((wide)c->location + c->high) + (wide)c->high + c->most +
                      10) /
                     20);
}

static int64_t quantile_of(const corners *c, uint32_t quantile)
{
    const uint32_t one = 1u << CLO_QUANTILE_BITS, half = one / 2, high = one / 10 * 9;

    if (quantile < half)
        return between(c->least, c->location, quantile, half);
    if (quantile < high)
        return between(c->location, c->high, quantile - half, high - half);
    return between(c->high, c->most, quantile - high, one - high);
}

int64_t clo_profile_time_at(const clo_profile_time *time, uint32_t quantile)
{
    const corners c = corners_of(time);
    int64_t ns = quantile_of(&c, quantile), mean_ns = time->mean_ns > 0 ? mean_of(&c) : 0;

    if (mean_ns == 0)
        return ns;
    wide scaled = (wide)ns * time->mean_ns / mean_ns;
    return scaled > INT64_MAX ? INT64_MAX : (int64_t)scaled;
}

int64_t clo_profile_time_mean(const clo_profile_time *time)
{
    const corners c = corners_of(time);

    return time->mean_ns > 0 ? time->mean_ns : mean_of(&c);
}
