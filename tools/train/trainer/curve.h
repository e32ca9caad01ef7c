/* curve.h - how a training goes: a line for the terminal, and the learning curve as a picture. */
#ifndef CLO_TOOLS_TRAIN_TRAINER_CURVE_H
#define CLO_TOOLS_TRAIN_TRAINER_CURVE_H

#include "train/trainer/trainer.h"

#include <stdio.h>

const char *train_method_name(train_method method);

/* One line, without an end of line, of `point` in out[bytes].
 *   elapsed_s, done_here  since this process began, and the updates it made: what the time left is estimated from. */
void curve_line(const trainer *t, train_method method, const train_point *point, double elapsed_s, uint32_t done_here,
                char *out, size_t bytes);

/* Reward of the rollouts and of validation over updates, as SVG. False: it cannot be written. */
bool curve_svg(const train_point *points, uint32_t count, const char *title, FILE *out);

#endif
