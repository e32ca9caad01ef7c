/* decima_compare.h - what the integers of a model of the policy "residual" change against real numbers. */
#ifndef CLO_TOOLS_CLOTHO_TRAIN_DECIMA_COMPARE_H
#define CLO_TOOLS_CLOTHO_TRAIN_DECIMA_COMPARE_H

#include "clotho/train/decima_run.h"

/* Fills t->real with the model against t->best, and compared_score where there are streams for it. Returns EXIT_GOOD,
 * or an exit code after an error line. */
int decima_compare(decima_training *t);

#endif
