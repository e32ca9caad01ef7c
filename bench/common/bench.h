/* bench.h - what every benchmark shares: options, a clock, medians, shuffling, and samples taken in turns of which the
 * disturbed ones are dropped. Knows nothing of Clotho, so that the peers' programs can use it. */
#ifndef CLO_BENCH_H
#define CLO_BENCH_H

#include "../../examples/common/load.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BENCH_LIST_MAX = 64 };

/* The values of an option that may be given several times; owned by argv. */
typedef struct bench_list {
    const char *items[BENCH_LIST_MAX];
    uint32_t count;
} bench_list;

/* An option of a benchmark's own: a flag, or one with a value, or one that may be given BENCH_LIST_MAX times. */
typedef struct bench_flag {
    const char *name, *help;
    bool *is_set;       /* or one of these, then the name is "NAME VALUE" */
    const char **value; /* owned by argv */
    bench_list *list;
} bench_flag;

/* What the help text says, and the options beside --json --quick --seed N --rounds N --help. */
typedef struct bench_about {
    const char *name, *question;
    const bench_flag *flags; /* ends with a row whose name is NULL; NULL: none */
    uint32_t rounds, quick_rounds;
} bench_about;

typedef struct bench_options {
    bool json, quick;
    uint64_t seed;
    uint32_t rounds;
} bench_options;

/* Returns -1 to go on, else the exit status (--help: 0, bad usage: 2). */
int bench_options_read(bench_options *options, const bench_about *about, int argc, char **argv);

int64_t bench_now_ns(void);
int64_t bench_cpu_now_ns(void); /* of this thread: programs beside it do not count */
void bench_rest(void);     /* sleeps 5 ms, so that spinning threads of the peer measured before have gone to sleep */
uint32_t bench_cpus(void); /* that this process may use */

/* splitmix64; below(bound) for bound > 0. */
uint64_t bench_random(uint64_t *state);
uint32_t bench_random_below(uint64_t *state, uint32_t bound);
void bench_shuffle(uint32_t *items, uint32_t count, uint64_t *state);

typedef struct bench_stats {
    double median, p10, p90, lowest;
} bench_stats;
bench_stats bench_summarise(double *values, size_t count); /* sorts; zeros if there are none */

/* Of sorted values, the smallest that a share of `q` does not exceed; 0 if there are none. */
double bench_quantile(const double *sorted, size_t count, double q);
void bench_sort(double *values, size_t count);

/* The ratio of the sums of values that come in pairs, with its 95 % interval: paired bootstrap, 2000 samples, the same each
 * time. 1 where both sums are 0, 1e9 where theirs alone is. */
typedef struct bench_interval {
    double ratio, low, high;
} bench_interval;
bench_interval bench_ratio(const double *mine, const double *theirs, uint32_t count);

/* A turn is one sample of every peer. The system counts CPU time in ticks of 10 ms, too coarse for one sample: so a
 * turn is what is kept or dropped as a whole, which also leaves every peer with the same turns. */
typedef struct bench_turns {
    uint32_t wanted, kept, dropped;
    uint32_t kept_loaded; /* kept although other programs ran, as too many were dropped before */
    double load_sum;      /* of those kept */
    load before;
} bench_turns;

/* Most CPU time that other programs may use, as a share of all CPUs. */
#define BENCH_LOAD_MAX 0.10

/* False when enough turns are kept. Else one begins. */
bool bench_turn_begin(bench_turns *turns);
/* True if the samples of this turn count. At most twice `wanted` turns are dropped; then three good ones are enough,
 * and where there are fewer the loaded ones are taken. A single wanted turn is taken as it comes: `--rounds 1` shows that
 * figures come out, and the tests run it beside other programs. */
bool bench_turn_end(bench_turns *turns);
/* Adds the counts of b to those of a. */
void bench_turns_add(bench_turns *a, const bench_turns *b);
double bench_turns_load(const bench_turns *turns); /* mean over the turns kept */
/* `"foreign_load": 0.01, "turns": 9, "dropped": 0, "kept_loaded": 0`, or the same as a sentence. */
void bench_turns_print(const bench_turns *turns, bool is_json);

#ifdef __cplusplus
}
#endif
#endif
