/* learn/infer/features.h - the lists of features that this library computes, by number. */
#ifndef CLO_LEARN_INFER_FEATURES_H
#define CLO_LEARN_INFER_FEATURES_H

#include "learn/format/opened.h"

enum { CLO_FEATURES_DECIMA = 1, CLO_FEATURES_DECIMA_FINE = 4 };

/* CLO_OK, or CLO_ERR_UNSUPPORTED if the features of the model are not exactly those of its list. The tables are in
 * bounds. */
clo_status clo_features_check(const clo_model *model);

static inline int16_t clo_feature_cut(int64_t sum, uint32_t shift, int16_t lo, int16_t hi, bool *is_clamped)
{
    int64_t scaled = sum < 0 ? ~(~sum >> shift) : sum >> shift;

    *is_clamped = scaled < lo || scaled > hi;
    return (int16_t)(scaled < lo ? lo : scaled > hi ? hi : scaled);
}

/* The second half of clo_model_feature's rule; product = raw * mult, within +-2^62. */
static inline int16_t clo_feature_round(int64_t product, uint32_t shift, int16_t lo, int16_t hi, bool *is_clamped)
{
    return clo_feature_cut(product + (shift > 0 ? INT64_C(1) << (shift - 1) : 0), shift, lo, hi, is_clamped);
}

/* List 4 has work as so many numbers. */
enum { CLO_WORK_PARTS_LOG2 = 2, CLO_WORK_PARTS = 1 << CLO_WORK_PARTS_LOG2 };

/* Part i of work, 0 .. CLO_WORK_PARTS - 1: (2i + 1) / 8 is added in place of a half. The parts add up to
 * (product * 4 + half) >> shift (Hermite's identity), so together they are two bits finer than one number, whose range
 * they have. shift >= 3. */
static inline int16_t clo_feature_part(int64_t product, uint32_t shift, uint32_t i, int16_t lo, int16_t hi,
                                       bool *is_clamped)
{
    int64_t share = (int64_t)(2 * i + 1) << (shift - CLO_WORK_PARTS_LOG2 - 1);

    return clo_feature_cut(product + share, shift, lo, hi, is_clamped);
}

#endif
