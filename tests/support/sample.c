/* sample.c - CLO_SAMPLE and CLO_FULL of the environment. */
#include "sample.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* CLO_SAMPLE, 0 where it is not set. */
static uint64_t sample_number(void)
{
    static bool is_said;
    const char *asked = getenv("CLO_SAMPLE");
    uint64_t number = asked != NULL ? strtoull(asked, NULL, 10) : 0;

    if (asked != NULL && !is_said)
        fprintf(stderr, "random cases of CLO_SAMPLE=%llu\n", (unsigned long long)number);
    is_said = true;
    return number;
}

clo_rng sample_rng(uint64_t seed)
{
    return clo_rng_seed(seed + sample_number() * 1000003);
}

uint64_t sample_size(uint64_t all, uint64_t parts)
{
    return getenv("CLO_FULL") != NULL ? all : (all + parts - 1) / parts;
}

uint64_t sample_first(uint64_t all, uint64_t parts)
{
    return getenv("CLO_FULL") != NULL ? 0 : sample_number() % parts * sample_size(all, parts);
}
