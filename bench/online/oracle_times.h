/* oracle_times.h - times for the search of oracle.h. */
#ifndef CLO_BENCH_ORACLE_TIMES_H
#define CLO_BENCH_ORACLE_TIMES_H

#include "online/online.h"

/* What gives the times of an occasion, without luck where the environment is Decima's. False, with a line why, on
 * failure. */
bool oracle_times_open(const occasion *at, uint64_t seed, clo_environment *out);

#endif
