/* oracle.h - what a perfect chooser would gain over the best rule of a scene. */
#ifndef CLO_BENCH_ORACLE_H
#define CLO_BENCH_ORACLE_H

#include "online/online.h"

/* The scene's measure with one seed, in seconds. */
typedef struct oracle_found {
    /* Of the rule, and of what the search found; both again with other times of the same jobs. */
    double rule, reached, rule_again, again;
} oracle_found;

/* Searches with so many simulations. False, with a line why, on failure. */
bool oracle_climb(const occasion *at, const contender *rule, uint64_t seed, uint32_t tries, oracle_found *out);

/* The scene's measure of a contender, as the search draws times; negative, with a line why, on failure. */
double oracle_play(const occasion *at, const contender *c, uint64_t seed);

void oracle_print(const scene *s, const char *rule, const oracle_found *found, uint32_t count, bool is_json);

/* The scene with its seeds: the best of its contenders, then the search. False, with a line why, on failure. */
bool oracle_scene(const online *o, const scene *s, uint32_t tries);

#endif
