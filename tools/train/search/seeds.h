/* seeds.h - lists of seeds to train on, and those that nothing is trained on. */
#ifndef CLO_TOOLS_TRAIN_SEARCH_SEEDS_H
#define CLO_TOOLS_TRAIN_SEARCH_SEEDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Seeds that the project's tables are made with: 9000 .. 9999. */
enum { SEEDS_TEST_FIRST = 9000, SEEDS_TEST_LAST = 9999 };

/* first .. first + count - 1 */
typedef struct seed_list {
    uint64_t first;
    uint32_t count;
} seed_list;

bool seeds_overlap(seed_list a, seed_list b);
/* Whether one of them is a test seed. */
bool seeds_have_tests(seed_list seeds);

/* For a reader who wants to know that two trainings had the same list. Never 0. */
uint64_t seeds_hash(seed_list seeds);

/* Whether a training may use the lists; else one line in why[bytes]: a list is empty or holds a test seed, or both
 * share a seed. */
bool seeds_check(seed_list training, seed_list validation, char *why, size_t bytes);

/* out[seeds.count] */
void seeds_fill(seed_list seeds, uint64_t *out);

#endif
