/* seeds.c - lists of seeds as every action of `clotho train` reads them. */
#include "clotho/common/options.h"
#include "clotho/train/train.h"

#include <stdio.h>
#include <string.h>

enum { SEEDS_MAX = 10000 };

int train_read_list(const char *name, const char *text, seed_list *out)
{
    const char *dash = strchr(text, '-');
    char first[32];
    uint64_t last = 0;

    snprintf(first, sizeof first, "%.*s", dash != NULL ? (int)(dash - text) : 0, text);
    if (dash == NULL || !parse_u64(first, &out->first) || !parse_u64(dash + 1, &last) || last < out->first ||
        last - out->first >= SEEDS_MAX)
        return misuse("--%s is '%.60s'; write two whole numbers as 100-163, at most %d seeds", name, text, SEEDS_MAX);
    out->count = (uint32_t)(last - out->first + 1);
    if (seeds_have_tests(*out))
        return misuse("--%s: seeds %d to %d are kept for tests; choose others", name, SEEDS_TEST_FIRST,
                      SEEDS_TEST_LAST);
    return EXIT_GOOD;
}

int train_read_seeds(const char *seeds, const char *validation, seed_list *training, seed_list *judging)
{
    int code = train_read_list("seeds", seeds, training);

    if (code == EXIT_GOOD)
        code = train_read_list("validation", validation, judging);
    if (code == EXIT_GOOD && seeds_overlap(*training, *judging))
        return misuse("--seeds and --validation share seeds; what is kept must be judged on others");
    return code;
}

int train_read_aside(const char *text, seed_list training, seed_list judging, seed_list *out)
{
    int code = train_read_list("compare", text, out);

    if (code == EXIT_GOOD && (seeds_overlap(*out, training) || seeds_overlap(*out, judging)))
        return misuse("--compare shares seeds with --seeds or --validation; what is held aside must be others");
    return code;
}
