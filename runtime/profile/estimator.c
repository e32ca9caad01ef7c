/* estimator.c - the steps of the estimator. See estimator.h. */
#include "profile/estimator.h"

#include <assert.h>
#include <stdbool.h>

enum { WINDOW = CLO_ESTIMATOR_WINDOW, HIGH_UP = 9, HIGH_DOWN = 1 };

static int64_t clamp(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

static int64_t absolute(int64_t value)
{
    return value < 0 ? -value : value;
}

/* How many samples the window holds. */
static uint32_t held(const clo_estimator *e)
{
    return e->samples < WINDOW ? (uint32_t)e->samples : WINDOW;
}

/* The sample takes the place of the oldest one. */
static void slide(clo_estimator *e, int64_t sample)
{
    uint32_t count = held(e), at = (uint32_t)(e->samples % WINDOW), i;

    if (count == WINDOW) { /* out of the sorted copy */
        for (i = 0; e->sorted[i] != e->window[at]; i++)
            assert(i + 1 < WINDOW);
        for (count--; i < count; i++)
            e->sorted[i] = e->sorted[i + 1];
    }
    for (i = count; i > 0 && e->sorted[i - 1] > sample; i--)
        e->sorted[i] = e->sorted[i - 1];
    e->sorted[i] = sample;
    e->window[at] = sample;
    e->samples++;
}

static int64_t median(const clo_estimator *e)
{
    uint32_t count = held(e);

    assert(count > 0);
    return count % 2 != 0 ? e->sorted[count / 2] : (e->sorted[count / 2 - 1] + e->sorted[count / 2]) / 2;
}

/* Median of the distances from `middle`: the samples are sorted, so the nearest ones lie around it. */
static int64_t median_distance(const clo_estimator *e, int64_t middle)
{
    uint32_t count = held(e), right = 0, left;
    int64_t distance = 0;

    while (right < count && e->sorted[right] < middle)
        right++;
    left = right;
    for (uint32_t i = 0; i <= count / 2; i++) {
        bool takes_left = right == count || (left > 0 && middle - e->sorted[left - 1] < e->sorted[right] - middle);
        distance = takes_left ? middle - e->sorted[--left] : e->sorted[right++] - middle;
    }
    return distance;
}

static int64_t least_deviation(int64_t location)
{
    return location / 128 > 0 ? location / 128 : 1;
}

/* Location and deviation from the window alone. Of a full window the largest sample may be the one wild one: it would take
 * hundreds of samples to come down from that. */
static void begin_anew(clo_estimator *e, int64_t middle)
{
    int64_t deviation = median_distance(e, middle) * 3 / 2;

    e->location = middle;
    e->deviation = deviation > least_deviation(middle) ? deviation : least_deviation(middle);
    e->high = e->sorted[held(e) - (held(e) < WINDOW ? 1 : 2)];
    e->above = e->below = 0;
    e->trusted = held(e);
}

/* The residuals of late have too much in common: is it another level, or a crowd of spikes? */
static void look_for_level(clo_estimator *e)
{
    int64_t middle = median(e);

    e->above = e->below = 0;
    if (absolute(middle - e->location) <= 2 * e->deviation)
        return;
    begin_anew(e, middle);
    e->level_changes++;
}

static int64_t at_least_zero(int64_t value)
{
    return value > 0 ? value : 0;
}

/* Nine samples are there: a clamped step towards this one. */
static void step(clo_estimator *e, int64_t sample)
{
    int64_t d = e->deviation, c = clamp(sample - e->location, -3 * d, 3 * d);

    e->above = at_least_zero(e->above + c - d);
    e->below = at_least_zero(e->below - c - d);
    if (e->above > 8 * d || e->below > 8 * d) {
        look_for_level(e);
        d = e->deviation;
        c = clamp(sample - e->location, -3 * d, 3 * d);
    }
    int shift = e->trusted < 16 ? 3 : e->trusted < 40 ? 4 : 5;
    e->location += c >> shift;
    e->deviation += (absolute(c) - d) >> 5;
    if (e->deviation < least_deviation(e->location))
        e->deviation = least_deviation(e->location);
    e->high += (sample > e->high ? HIGH_UP : -HIGH_DOWN) * (d / 32 + 1);
    e->trusted += e->trusted < 255;
}

void clo_estimator_add(clo_estimator *e, int64_t sample_ns)
{
    int64_t ns = clamp(sample_ns, 0, CLO_ESTIMATOR_MOST_NS), sample = ns * 16;
    bool is_begun = e->samples >= WINDOW;

    e->most_ns = ns > e->most_ns ? ns : e->most_ns;
    slide(e, sample);
    if (is_begun)
        step(e, sample);
    else
        begin_anew(e, median(e));
}

/* At most what a sample counts as: deviations and high values may lie above it. */
static int64_t to_ns(int64_t sixteenths)
{
    return clamp((sixteenths + 8) / 16, 0, CLO_ESTIMATOR_MOST_NS);
}

int64_t clo_estimator_location_ns(const clo_estimator *e)
{
    return to_ns(e->location);
}

int64_t clo_estimator_spread_ns(const clo_estimator *e)
{
    return e->samples > 0 ? to_ns(e->deviation) : 0;
}

int64_t clo_estimator_high_ns(const clo_estimator *e)
{
    return to_ns(e->high > e->location ? e->high : e->location);
}
