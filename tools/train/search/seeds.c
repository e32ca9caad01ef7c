/* seeds.c - see seeds.h. */
#include "train/search/seeds.h"
#include "train/numbers/fnv.h"

#include <stdio.h>

bool seeds_overlap(seed_list a, seed_list b)
{
    return a.first - b.first < b.count || b.first - a.first < a.count;
}

bool seeds_have_tests(seed_list seeds)
{
    return seeds_overlap(seeds, (seed_list){SEEDS_TEST_FIRST, SEEDS_TEST_LAST - SEEDS_TEST_FIRST + 1});
}

uint64_t seeds_hash(seed_list seeds)
{
    uint64_t hash = fnv_number(fnv_number(FNV_BEGIN, seeds.first), seeds.count);

    return hash != 0 ? hash : 1;
}

static const char *check(seed_list training, seed_list validation)
{
    if (training.count == 0 || validation.count == 0)
        return "there is no seed to train or to validate on";
    if (seeds_have_tests(training) || seeds_have_tests(validation))
        return "seeds 9000 to 9999 are kept for tests; choose others";
    return seeds_overlap(training, validation)
               ? "training and validation share seeds; what is kept must be judged on others"
               : NULL;
}

bool seeds_check(seed_list training, seed_list validation, char *why, size_t bytes)
{
    const char *wrong = check(training, validation);

    if (wrong != NULL)
        snprintf(why, bytes, "%s", wrong);
    return wrong == NULL;
}

void seeds_fill(seed_list seeds, uint64_t *out)
{
    for (uint32_t i = 0; i < seeds.count; i++)
        out[i] = seeds.first + i;
}
