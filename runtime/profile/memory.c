/* memory.c - see memory.h. A task that moves data in a share m of its time alone, B bytes/s, takes 1 - m + m s times as
 * long where its memory part is stretched by s, and moves m B / (1 - m + m s) on average. That falls with s, so the
 * least s at which all parts fit into the capacity is found by bisection. Sums are rounded up: what fits, fits. */
#include "profile/memory.h"

#include "base/status.h"
#include "platform/model/platform.h"

#include <stdio.h>
#include <string.h>

clo_status clo_memory_check_part(const clo_memory_part *part, const char *of)
{
    if (part->share_q16 <= CLO_MEMORY_SHARE_ONE && part->mbps <= CLO_MEMORY_MBPS_MAX &&
        (part->mbps > 0 || part->share_q16 == 0))
        return CLO_OK;
    return clo_fail(CLO_ERR_ARGUMENT,
                    "%.100s: a memory part of %u / 65536 at %u MB/s; give a share up to 65536, and 1 to %u MB/s", of,
                    part->share_q16, part->mbps, CLO_MEMORY_MBPS_MAX);
}

/* Average of the part at that stretch, in 2^-32 MB/s, rounded up. */
static clo_u128 moved_q32(clo_memory_part part, uint64_t stretch_q32)
{
    uint64_t slowdown_q48 = clo_memory_slowdown_q48(part, stretch_q32);

    return (((clo_u128)part.share_q16 * part.mbps << 64) + slowdown_q48 - 1) / slowdown_q48;
}

static bool fit(const clo_memory_part *parts, size_t count, int64_t capacity_mbps, uint64_t stretch_q32)
{
    clo_u128 sum_q32 = 0, capacity_q32 = (clo_u128)(uint64_t)capacity_mbps << 32;

    for (size_t i = 0; i < count; i++)
        sum_q32 += moved_q32(parts[i], stretch_q32);
    return sum_q32 <= capacity_q32;
}

uint64_t clo_memory_stretch_q32(const clo_memory_part *parts, size_t count, int64_t capacity_mbps)
{
    uint64_t low = CLO_STRETCH_ONE, high = 2 * CLO_STRETCH_ONE;

    if (fit(parts, count, capacity_mbps, low))
        return low;
    for (; high < CLO_STRETCH_MOST && !fit(parts, count, capacity_mbps, high); high *= 2)
        low = high;
    while (high - low > 1) { /* `low` does not fit; at most 46 times */
        uint64_t middle = low + (high - low) / 2;
        if (fit(parts, count, capacity_mbps, middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

clo_memory_part clo_memory_part_of(int64_t alone_ns, int64_t beside_ns, uint32_t own_mbps, uint32_t beside_mbps,
                                   int64_t capacity_mbps)
{
    clo_memory_part pair[2] = {{0, own_mbps}, {CLO_MEMORY_SHARE_ONE, beside_mbps}};
    uint32_t low = 0, high = CLO_MEMORY_SHARE_ONE;

    if (alone_ns <= 0 || beside_ns <= alone_ns || own_mbps == 0 || own_mbps > CLO_MEMORY_MBPS_MAX || beside_mbps == 0 ||
        beside_mbps > CLO_MEMORY_MBPS_MAX || capacity_mbps <= 0 || (int64_t)own_mbps + beside_mbps <= capacity_mbps)
        return (clo_memory_part){0};
    while (high - low > 1) { /* 16 times: a larger share is slowed more */
        pair[0].share_q16 = low + (high - low) / 2;
        uint64_t stretch_q32 = clo_memory_stretch_q32(pair, 2, capacity_mbps);
        clo_u128 slowed = (clo_u128)(uint64_t)alone_ns * clo_memory_slowdown_q48(pair[0], stretch_q32);
        if (slowed >= (clo_u128)(uint64_t)beside_ns << 48)
            high = pair[0].share_q16;
        else
            low = pair[0].share_q16;
    }
    return (clo_memory_part){high, own_mbps};
}

/* The resource of the machine that is called so; CLO_RESOURCES_MAX: none with a capacity. */
static uint32_t find(const clo_platform *platform, uint32_t machine, const char *name)
{
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        if (platform->resource_names[r] != NULL && strcmp(platform->resource_names[r], name) == 0 &&
            platform->capacities[(size_t)machine * CLO_RESOURCES_MAX + r] >= 0)
            return r;
    return CLO_RESOURCES_MAX;
}

int64_t clo_memory_capacity_mbps(const clo_platform *platform, uint32_t executor, uint32_t *memory)
{
    char name[sizeof CLO_MEMORY_RESOURCE + 12];

    if (memory != NULL)
        *memory = CLO_NONE;
    if (platform == NULL || executor >= platform->executors_count)
        return -1;
    const clo_executor *e = &platform->executors[executor];
    snprintf(name, sizeof name, CLO_MEMORY_RESOURCE ".%u", e->memory);
    uint32_t resource = find(platform, e->machine, name);
    if (resource == CLO_RESOURCES_MAX)
        resource = find(platform, e->machine, CLO_MEMORY_RESOURCE);
    if (resource == CLO_RESOURCES_MAX)
        return -1;
    if (memory != NULL) /* its place among the capacities */
        *memory = e->machine * CLO_RESOURCES_MAX + resource;
    return platform->capacities[(size_t)e->machine * CLO_RESOURCES_MAX + resource];
}
