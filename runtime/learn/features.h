/* learn/features.h - the lists of features that this library computes, by number. */
#ifndef CLO_LEARN_FEATURES_H
#define CLO_LEARN_FEATURES_H

#include "learn/opened.h"

/* CLO_OK, or CLO_ERR_UNSUPPORTED if the features of the model are not exactly those of its list. The tables are in
 * bounds. */
clo_status clo_features_check(const clo_model *model);

/* The second half of clo_model_feature's rule; product = raw * mult, within +-2^62. */
static inline int16_t clo_feature_round(int64_t product, uint32_t shift, int16_t lo, int16_t hi, bool *is_clamped)
{
    int64_t rounded = product + (shift > 0 ? INT64_C(1) << (shift - 1) : 0);
    int64_t scaled = rounded < 0 ? ~(~rounded >> shift) : rounded >> shift;

    *is_clamped = scaled < lo || scaled > hi;
    return (int16_t)(scaled < lo ? lo : scaled > hi ? hi : scaled);
}

#endif
