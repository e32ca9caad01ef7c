/* predict.h - the two halves of bench-predict. */
#ifndef BENCH_PREDICT_H
#define BENCH_PREDICT_H

#include "common/bench.h"

/* Work that is not stopped by a clock: its times are learned in one process, predictions written in a second one, and the
 * graphs, which are others than those that were learned from, run in a third. Prints its rows, in JSON as members that follow
 * others. False after an error line. */
bool predict_real(const bench_options *options);

#endif
