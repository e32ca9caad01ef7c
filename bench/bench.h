/* bench.h - what every benchmark shares: options, a clock, medians, shuffling, a pinned platform. */
#ifndef CLO_BENCH_H
#define CLO_BENCH_H

#include <clotho/clotho.h>

#include "../examples/common/load.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --json --quick --seed N --rounds N --help, and one flag of the benchmark's own. */
typedef struct bench_options {
    bool json, quick, flag;
    uint64_t seed;
    uint32_t rounds;
} bench_options;

/* What the help text says. */
typedef struct bench_about {
    const char *name, *question;
    const char *flag, *flag_help; /* NULL: no flag of its own */
    uint32_t rounds, quick_rounds;
} bench_about;

/* Returns -1 to go on, else the exit status (--help: 0, bad usage: 2). */
int bench_options_read(bench_options *options, const bench_about *about, int argc, char **argv);

int64_t bench_now_ns(void);
void bench_rest(void); /* sleeps 5 ms, so that spinning threads of the peer measured before have gone to sleep */

/* splitmix64; below(bound) for bound > 0. */
uint64_t bench_random(uint64_t *state);
uint32_t bench_random_below(uint64_t *state, uint32_t bound);
void bench_shuffle(uint32_t *items, uint32_t count, uint64_t *state);

typedef struct bench_stats {
    double median, p10, p90, lowest;
} bench_stats;
bench_stats bench_summarise(double *values, size_t count); /* sorts; zeros if there are none */

/* The first `workers` executors of this machine. Prints why where it fails. NULL on failure. */
clo_platform *bench_platform(uint32_t workers);

/* Prints "bench-NAME: what: why" to stderr. Returns false. */
bool bench_fail(const char *what);

#ifdef __cplusplus
}
#endif
#endif
