/* sample.h - which random cases a property test plays.
 *
 * A case is what its seed draws, so a program that is started by hand plays the same cases each time. `./dev test`
 * sets CLO_SAMPLE to a number made of the commit, and each number gives other cases to the same seeds; a program that
 * draws says it on stderr, so that the cases can be played again. So what a test expects must hold for the cases of
 * every number: where it needs what not all have, it draws on until it has it. `./dev test --full` sets CLO_FULL too:
 * all cases of the longest tests, of which else a part is played. */
#ifndef CLO_TEST_SAMPLE_H
#define CLO_TEST_SAMPLE_H

#include "base/numbers/rng.h"

/* The random numbers of case `seed`: clo_rng_seed for the cases of CLO_SAMPLE. */
clo_rng sample_rng(uint64_t seed);

/* How many of `all` cases are played: one of `parts`, or all with CLO_FULL. */
uint64_t sample_size(uint64_t all, uint64_t parts);

/* Where the sample_size(all, parts) consecutive cases begin that are played: CLO_SAMPLE draws the part, so that others play
 * the rest. `parts` divides `all`. */
uint64_t sample_first(uint64_t all, uint64_t parts);

#endif
