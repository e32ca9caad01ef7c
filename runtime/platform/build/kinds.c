/* kinds.c - of which kind each executor is: what the file says (clotho.kind, hwloc's CoreType), else by the capacity
 * that the kernel gives its CPU, else by hwloc's CPU kinds.
 *
 * Kinds are those of the cores. Firmware measures equal cores a little differently (CPPC, favoured cores), so CPUs with
 * nearly the same capacity are of one kind; each keeps its own speed. */
#include "platform/build/builder.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdio.h>
#include <string.h>

#define ALIKE_PERCENT 90 /* of the largest capacity in a kind */

/* The largest of those below `limit`; 0: none. */
static uint32_t largest_below(const uint32_t *capacity, uint32_t count, uint64_t limit)
{
    uint32_t largest = 0;

    for (uint32_t e = 0; e < count; e++)
        if (capacity[e] < limit && capacity[e] > largest)
            largest = capacity[e];
    return largest;
}

/* [count] the capacity of each executor, raised to the largest of those that are nearly the same; 0: not known. NULL:
 * no memory. */
static uint32_t *read_capacities(const clo_builder *b)
{
    uint32_t *capacity = clo_allocate(b->count, sizeof *capacity);
    uint64_t value, limit = 1ull << 32;

    for (uint32_t e = 0; capacity != NULL && e < b->t->pus_count; e++)
        if (clo_build_number(b, e, "LinuxCapacity", UINT32_MAX, &value))
            capacity[e] = (uint32_t)value;
    while (capacity != NULL && limit > 0) { /* ends: each round lowers the limit by a tenth */
        uint32_t largest = largest_below(capacity, b->count, limit);
        limit = ((uint64_t)largest * ALIKE_PERCENT + 99) / 100;
        limit = limit < largest ? limit : largest;
        for (uint32_t e = 0; e < b->count; e++)
            if (capacity[e] >= limit && capacity[e] < largest)
                capacity[e] = largest;
    }
    return capacity;
}

static void name_kind(const clo_builder *b, uint32_t e, uint32_t capacity, char out[CLO_BUILD_NAME_BYTES])
{
    const char *stated = clo_build_key(b, e, "clotho.kind"), *type = clo_build_key(b, e, "CoreType");

    if (stated == NULL && b->pu[e] != CLO_NONE)
        stated = type != NULL && type[0] != '\0' ? type : NULL;
    if (stated != NULL)
        snprintf(out, CLO_BUILD_NAME_BYTES, "%s", stated);
    else if (b->executors[e].os_index <= CLO_OS_SLOT)
        snprintf(out, CLO_BUILD_NAME_BYTES, "slot");
    else if (b->pu[e] == CLO_NONE)
        snprintf(out, CLO_BUILD_NAME_BYTES, "%s", b->names[e]);
    else if (b->t->kinds_count > 1 && capacity > 0)
        snprintf(out, CLO_BUILD_NAME_BYTES, "cap%u", capacity);
    else if (b->t->kinds_count > 1 && b->t->kind_of_pu[b->pu[e]] != CLO_NONE)
        snprintf(out, CLO_BUILD_NAME_BYTES, "kind%u", b->t->kind_of_pu[b->pu[e]]);
    else
        snprintf(out, CLO_BUILD_NAME_BYTES, "cpu");
}

clo_status clo_build_kinds(clo_builder *b)
{
    uint32_t *capacity = read_capacities(b);

    if (capacity == NULL)
        return clo_fail_memory("a platform");
    for (uint32_t e = 0; e < b->count; e++) {
        char name[CLO_BUILD_NAME_BYTES];
        uint32_t kind = 0;
        name_kind(b, e, capacity[e], name);
        while (kind < b->kinds_count && strcmp(b->kinds[kind], name) != 0)
            kind++;
        if (kind == b->kinds_count) {
            memcpy(b->kinds[kind], name, CLO_BUILD_NAME_BYTES);
            b->kind_list[kind] = b->kinds[kind];
            b->kinds_count++;
        }
        b->executors[e].kind = kind;
    }
    clo_free(capacity);
    return CLO_OK;
}
