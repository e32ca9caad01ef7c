/* beside_compare.h - what the integers of a model beside a rule change against real numbers. */
#ifndef CLO_TOOLS_CLOTHO_TRAIN_BESIDE_COMPARE_H
#define CLO_TOOLS_CLOTHO_TRAIN_BESIDE_COMPARE_H

#include "clotho/train/beside_run.h"

/* Fills t->real with the model against t->best, and compared_score where there are streams for it. Returns EXIT_GOOD,
 * or an exit code after an error line. */
int beside_compare(beside_training *t);

#endif
