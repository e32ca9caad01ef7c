/* sets.c - interns placement sets: open addressing over the words of each set.
 *
 * Invariant: a set that cannot be added leaves list, words and slots as they were. The key of the hash is random, so a
 * file cannot choose sets that collide; it decides where an entry lies, never its index. */
#include "graph/sets.h"

#include "base/memory.h"
#include "base/status.h"

#include <assert.h>
#include <string.h>

#define SLOTS_LEAST 16

/* A set without the words of zeros before and behind. */
typedef struct trimmed {
    const uint64_t *words;
    uint32_t low, count;
} trimmed;

static trimmed trim(const uint64_t *words, uint32_t count)
{
    uint32_t low = 0;

    while (low < count && words[low] == 0)
        low++;
    while (count > low && words[count - 1] == 0)
        count--;
    assert(count > low);
    return (trimmed){words + low, low, count - low};
}

static uint64_t hash_of(const clo_placement_sets *sets, const trimmed *t)
{
    return clo_hash(sets->key, t->words, t->count * sizeof *t->words) ^ t->low;
}

static bool is_same(const clo_placement_sets *sets, uint32_t index, const trimmed *t)
{
    const clo_placement_set *set = &sets->list[index];

    return set->low == t->low && set->words == t->count &&
           memcmp(sets->words + set->first, t->words, t->count * sizeof *t->words) == 0;
}

/* The slot of the set, or the free one where it belongs. Ends: the table is at most half full. */
static uint32_t *slot_of(const clo_placement_sets *sets, uint32_t *slots, size_t count, const trimmed *t)
{
    size_t i = (size_t)hash_of(sets, t) & (count - 1);

    while (slots[i] != CLO_NONE && !is_same(sets, slots[i], t))
        i = (i + 1) & (count - 1);
    return &slots[i];
}

static int grow_slots(clo_placement_sets *sets)
{
    size_t count = sets->slots_count == 0 ? SLOTS_LEAST : sets->slots_count * 2;
    uint32_t *slots = clo_allocate(count, sizeof *slots);

    if (slots == NULL)
        return -1;
    if (sets->slots_count == 0)
        sets->key = clo_hash_key_random();
    memset(slots, 0xff, count * sizeof *slots);
    for (uint32_t s = 0; s < sets->count; s++) {
        const clo_placement_set *set = &sets->list[s];
        trimmed t = {sets->words + set->first, set->low, set->words};
        *slot_of(sets, slots, count, &t) = s;
    }
    clo_free(sets->slots);
    sets->slots = slots;
    sets->slots_count = count;
    return 0;
}

static int reserve(clo_placement_sets *sets, uint32_t words)
{
    void *list = sets->list, *all = sets->words;
    int failed = clo_grow(&list, &sets->list_capacity, (size_t)sets->count + 1, sizeof *sets->list);

    sets->list = list;
    if (!failed)
        failed = clo_grow(&all, &sets->words_capacity, sets->words_count + words, sizeof *sets->words);
    sets->words = all;
    return failed;
}

/* There is room. `words` may lie anywhere but in the sets. */
static uint32_t append(clo_placement_sets *sets, const trimmed *t)
{
    clo_placement_set *set = &sets->list[sets->count];

    *set =
        (clo_placement_set){.first = (uint32_t)sets->words_count, .low = (uint16_t)t->low, .words = (uint16_t)t->count};
    for (uint32_t w = 0; w < t->count; w++)
        set->executors += (uint32_t)__builtin_popcountll(t->words[w]);
    memcpy(sets->words + sets->words_count, t->words, t->count * sizeof *t->words);
    sets->words_count += t->count;
    return sets->count++;
}

/* Where the set lies if it was interned a short time ago; the entry may be of another set. */
static uint32_t *recent_of(clo_placement_sets *sets, const trimmed *t)
{
    uint64_t fold = (t->words[0] ^ (uint64_t)t->low << 32) * 0x9e3779b97f4a7c15u;

    return &sets->recent[fold >> 32 & (CLO_PLACEMENT_RECENT - 1)];
}

static clo_status intern(clo_placement_sets *sets, const trimmed *t, uint32_t *index)
{
    uint32_t *recent = recent_of(sets, t);

    if (*recent < sets->count && is_same(sets, *recent, t)) {
        *index = *recent;
        return CLO_OK;
    }
    uint32_t *slot = sets->slots_count > 0 ? slot_of(sets, sets->slots, sets->slots_count, t) : NULL;
    if (slot == NULL || *slot == CLO_NONE) {
        if (sets->words_count + t->count >= CLO_NONE)
            return clo_fail(CLO_ERR_LIMIT, "the sets of executors take more than 32 GiB; use fewer different ones");
        if (reserve(sets, t->count) != 0 || ((size_t)sets->count * 2 >= sets->slots_count && grow_slots(sets) != 0))
            return clo_fail_memory("a set of executors");
        slot = slot_of(sets, sets->slots, sets->slots_count, t);
        *slot = append(sets, t);
    }
    *index = *recent = *slot;
    return CLO_OK;
}

clo_status clo_placement_intern(clo_placement_sets *sets, const clo_executor_bits *bits, uint32_t *index)
{
    trimmed t = trim(bits->words, CLO_EXECUTOR_WORDS);

    return intern(sets, &t, index);
}

clo_status clo_placement_intern_mask(clo_placement_sets *sets, uint64_t mask, uint32_t *index)
{
    trimmed t = {.words = &mask, .count = 1};

    assert(mask != 0);
    return intern(sets, &t, index);
}

void clo_placement_free(clo_placement_sets *sets)
{
    clo_free(sets->list);
    clo_free(sets->words);
    clo_free(sets->slots);
    memset(sets, 0, sizeof *sets);
}
