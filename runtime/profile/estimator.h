/* profile/estimator.h - how long something takes, from one sample after the other: integers, O(1), no allocation.
 *
 * The first samples give their median: two wild ones at the start do no harm. From the ninth on the location is an
 * exponentially weighted mean whose residuals are clamped at three deviations (Huber 1964), so that a spike moves it no
 * further than an ordinary sample. Two sums of clamped residuals (CUSUM, Page 1954) notice a level that has changed;
 * then the last nine samples, if their median agrees, take the place of all older ones.
 *
 * Deviations are mean absolute ones, times 3/2 where they come from a median. What it does to noise, spikes, bad starts
 * and steps: tests/unit/profile/test_profile_estimator.c. */
#ifndef CLO_PROFILE_ESTIMATOR_H
#define CLO_PROFILE_ESTIMATOR_H

#include <stdint.h>

enum { CLO_ESTIMATOR_WINDOW = 9 };

/* Times beyond it count as it: 52 days. So no sum here overflows. */
#define CLO_ESTIMATOR_MOST_NS (INT64_C(1) << 52)

/* All zero: no samples. Times in sixteenths of a nanosecond, but for `most_ns`. */
typedef struct clo_estimator {
    uint64_t samples;
    int64_t location, deviation;
    int64_t high;         /* 90 % of the samples are below it, about */
    int64_t above, below; /* what the residuals of late have in common, above and below the location */
    int64_t most_ns;      /* of all samples */
    uint32_t trusted;     /* samples since the level changed last, at most 255 */
    uint32_t level_changes;
    int64_t window[CLO_ESTIMATOR_WINDOW]; /* the last samples, as a ring: the next one goes to samples % 9 */
    int64_t sorted[CLO_ESTIMATOR_WINDOW]; /* the same in order */
} clo_estimator;

/* One sample; a negative one counts as 0. */
void clo_estimator_add(clo_estimator *estimator, int64_t sample_ns);

/* Rounded to ns; 0 without samples. */
int64_t clo_estimator_location_ns(const clo_estimator *estimator);
int64_t clo_estimator_spread_ns(const clo_estimator *estimator);
int64_t clo_estimator_high_ns(const clo_estimator *estimator);

#endif
