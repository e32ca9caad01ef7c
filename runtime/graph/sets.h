/* graph/sets.h - the placement sets of a graph: which executors a task may run on. Each distinct set is kept once; a
 * task has the index of its set. Few sets, many tasks: tasks with the same index form a placement class.
 *
 * A set is a row of bits, stored from the first word that is not 0 to the last, so a set of one executor takes one
 * word wherever it lies. Sets are numbered in the order in which they come, whatever the key of the hash is. */
#ifndef CLO_GRAPH_SETS_H
#define CLO_GRAPH_SETS_H

#include "base/hash.h"

#include <clotho/graph.h>

#define CLO_EXECUTOR_WORDS ((CLO_EXECUTORS_MAX + 63) / 64)

#define CLO_PLACEMENT_RECENT 16 /* a power of two */

/* A set that is not interned yet: bit e of words[e / 64]. */
typedef struct clo_executor_bits {
    uint64_t words[CLO_EXECUTOR_WORDS];
} clo_executor_bits;

typedef struct clo_placement_set {
    /* Its words begin at clo_placement_sets.words[first]. */
    uint32_t first;

    /* The first of them holds the executors from 64 * low on. */
    uint16_t low;

    /* How many words, >= 1. */
    uint16_t words;

    /* How many executors are in it, >= 1. */
    uint32_t executors;
} clo_placement_set;

typedef struct clo_placement_sets {
    clo_placement_set *list; /* [count] */
    uint64_t *words;         /* [words_count] */
    uint32_t count;

    /* The sets that were interned last, by a cheap fold of their words: most tasks find theirs here. */
    uint32_t recent[CLO_PLACEMENT_RECENT];

    /* Hash table: indices into `list`, CLO_NONE where free. [slots_count], a power of two, at most half full. */
    uint32_t *slots;
    size_t slots_count, list_capacity, words_count, words_capacity;
    clo_hash_key key;
} clo_placement_sets;

/* Gives the index of the set of `bits`, which must not be empty; adds it where it is new. Without memory the sets stay
 * as they are. A set that is there is found without memory. Returns CLO_OK, CLO_ERR_LIMIT (the words of all sets take
 * more than 32 GiB) or CLO_ERR_MEMORY.
 * O(CLO_EXECUTOR_WORDS), amortised. */
clo_status clo_placement_intern(clo_placement_sets *sets, const clo_executor_bits *bits, uint32_t *index);

/* The same for executors 0 .. 63: bit e of `mask`, which is not 0. */
clo_status clo_placement_intern_mask(clo_placement_sets *sets, uint64_t mask, uint32_t *index);

void clo_placement_free(clo_placement_sets *sets);

/* True if set `index` has the executor; CLO_NONE has all. O(1). */
static inline bool clo_placement_has(const clo_placement_sets *sets, uint32_t index, uint32_t executor)
{
    if (index == CLO_NONE)
        return true;
    const clo_placement_set *set = &sets->list[index];
    uint32_t word = executor / 64 - set->low; /* far above `words` for an executor before the first */

    return word < set->words && (sets->words[set->first + word] >> executor % 64 & 1) != 0;
}

/* The set as a mask of the executors 0 .. 63; 0 for CLO_NONE, and for a set that a mask cannot hold. */
static inline uint64_t clo_placement_mask(const clo_placement_sets *sets, uint32_t index)
{
    if (index == CLO_NONE)
        return 0;
    const clo_placement_set *set = &sets->list[index];

    return set->low == 0 && set->words == 1 ? sets->words[set->first] : 0;
}

/* The first executor >= `from` of set `index`, which is not CLO_NONE; CLO_NONE: there is none. All executors of a set
 * in turn take O(words + executors of the set). */
static inline uint32_t clo_placement_next(const clo_placement_sets *sets, uint32_t index, uint32_t from)
{
    const clo_placement_set *set = &sets->list[index];

    if (from < set->low * 64u)
        from = set->low * 64u;
    for (uint32_t word = from / 64 - set->low; word < set->words; word++) {
        uint64_t rest = sets->words[set->first + word] >> from % 64;
        if (rest != 0)
            return from + (uint32_t)__builtin_ctzll(rest);
        from = (set->low + word + 1) * 64;
    }
    return CLO_NONE;
}

#endif
