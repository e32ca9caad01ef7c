/* learn/features.h - the lists of features that this library computes, by number. */
#ifndef CLO_LEARN_FEATURES_H
#define CLO_LEARN_FEATURES_H

#include "learn/opened.h"

/* CLO_OK, or CLO_ERR_UNSUPPORTED if the features of the model are not exactly those of its list. The tables are in
 * bounds. */
clo_status clo_features_check(const clo_model *model);

#endif
