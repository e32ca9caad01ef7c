/* measure.h - what the steps of a hand-over cost on this machine. */
#ifndef CLO_BENCH_HAND_OVER_MEASURE_H
#define CLO_BENCH_HAND_OVER_MEASURE_H

#include "hand_over/play.h"

/* Replaces in *costs what two threads can measure: hit, line, give, take, push, steal, look, pause, call and wake.
 * Needs two CPUs. `rounds`: of each. False: a thread cannot be started. */
bool measure_costs(uint32_t rounds, play_costs *costs);

#endif
