/* times.h - how long the kernels of a table take. */
#ifndef CHECK_TIMES_H
#define CHECK_TIMES_H

#include "kernels/kernels.h"

/* One line for each kernel that a decision spends its time in. */
void times_print(const clo_kernels *table, const char *name);

#endif
