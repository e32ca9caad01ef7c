/* pass.h - how long does a whole pass of a graph network take? */
#ifndef BENCH_KERNELS_PASS_H
#define BENCH_KERNELS_PASS_H

#include "common/bench.h"

/* Measures and prints. Returns the exit status. */
int pass_measure(const bench_options *options);

#endif
