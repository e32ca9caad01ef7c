/* decision/served.h - a decision through the socket of `clotho serve`, beside a raw round trip of as many bytes and the
 * decision alone. */
#ifndef CLO_BENCH_DECISION_SERVED_H
#define CLO_BENCH_DECISION_SERVED_H

#include "common/bench.h"

enum { SERVED_EXECUTORS = 16, SERVED_JOBS = 100 };

/* Medians of rounds of the p50 of each round, in ns. `ratio`: the median over rounds of through / (raw + alone). */
typedef struct served_row {
    double through_ns, raw_ns, alone_ns, ratio;
} served_row;

/* SERVED_JOBS jobs live; an event says that an instance has ended, and one choice follows. `through`: from the first
 * byte of the event to the last one of the answer, the program `clotho` on the other side. `raw`: another process
 * sends as many bytes back. `alone`: the calls of clotho/service.h in this process. All three in turns, `samples` each,
 * on one CPU. False, after a line why, on failure; also where there is no program `clotho` beside this one. */
bool served_measure(const char *policy, uint32_t rounds, uint32_t samples, served_row *out);

#endif
