/* plan/rcpsp/alike.c - see alike.h. */
#include "plan/rcpsp/alike.h"

#include <clotho/graph.h>

#include <assert.h>
#include <string.h>

void clo_alike_carve(clo_alike *alike, clo_block *block, uint32_t tasks)
{
    uint32_t size = 2;

    while (size < 2 * (uint64_t)tasks && size < 1u << 31)
        size *= 2;
    alike->mask = size - 1;
    clo_carve(block, &alike->groups, tasks);
    clo_carve(block, &alike->filled, tasks);
    clo_carve(block, &alike->below, tasks);
    clo_carve(block, &alike->beside, tasks);
    clo_carve(block, &alike->table, size);
}

void clo_alike_begin(clo_alike *alike)
{
    memset(alike->table, 0xff, ((size_t)alike->mask + 1) * sizeof *alike->table); /* CLO_NONE */
}

/* Of two heaps one; either may be CLO_NONE. */
static uint32_t meld(clo_alike *alike, uint32_t a, uint32_t b)
{
    if (a == CLO_NONE || b == CLO_NONE)
        return a == CLO_NONE ? b : a;
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    alike->beside[high] = alike->below[low];
    alike->below[low] = high;
    return low;
}

/* The heap without its root: what is below melded in pairs, and these into one. */
static uint32_t without_root(clo_alike *alike, uint32_t root)
{
    uint32_t pairs = CLO_NONE, all = CLO_NONE;

    for (uint32_t a = alike->below[root], b, rest; a != CLO_NONE; a = rest) {
        b = alike->beside[a];
        rest = b != CLO_NONE ? alike->beside[b] : CLO_NONE;
        uint32_t both = meld(alike, a, b);
        alike->beside[both] = pairs;
        pairs = both;
    }
    for (uint32_t next; pairs != CLO_NONE; pairs = next) {
        next = alike->beside[pairs];
        all = meld(alike, all, pairs);
    }
    return all;
}

static uint32_t group_of(clo_alike *alike, uint32_t task, uint64_t hash)
{
    uint32_t at = (uint32_t)(hash ^ hash >> 32) & alike->mask;

    for (; alike->table[at] != CLO_NONE; at = (at + 1) & alike->mask) { /* ends: half of the table is empty */
        uint32_t group = alike->table[at];
        if (alike->is_alike(alike->context, alike->groups[group].sample, task))
            return group;
    }
    alike->groups[alike->groups_count] = (clo_alike_group){CLO_NONE, 0, task};
    return alike->table[at] = alike->groups_count++;
}

void clo_alike_add(clo_alike *alike, uint32_t task, uint64_t hash)
{
    uint32_t at = group_of(alike, task, hash);
    clo_alike_group *group = &alike->groups[at];

    alike->below[task] = CLO_NONE;
    group->first = meld(alike, group->first, task);
    if (group->count++ == 0)
        alike->filled[alike->filled_count++] = at;
}

void clo_alike_take(clo_alike *alike, uint32_t at)
{
    clo_alike_group *group = &alike->groups[alike->filled[at]];

    assert(group->count > 0);
    group->first = without_root(alike, group->first);
    if (--group->count == 0)
        alike->filled[at] = alike->filled[--alike->filled_count];
}
