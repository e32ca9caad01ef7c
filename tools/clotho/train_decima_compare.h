/* train_decima_compare.h - what the integers of a model of the policy "residual" change against real numbers. */
#ifndef CLOTHO_TOOL_TRAIN_DECIMA_COMPARE_H
#define CLOTHO_TOOL_TRAIN_DECIMA_COMPARE_H

#include "train_decima_run.h"

/* Fills t->real with the model against t->best, and compared_score where there are streams for it. Returns EXIT_GOOD,
 * or an exit code after an error line. */
int decima_compare(decima_training *t);

#endif
