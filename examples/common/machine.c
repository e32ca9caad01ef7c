/* machine.c - a platform with fewer or more workers than there are executors, or with a kind for each, made from the public
 * description. */
#include "machine.h"

#include <stdlib.h>

/* Arrays of a platform description for `count` executors. */
typedef struct draft {
    clo_executor *executors;
    const char **kind_names;
    int64_t *latency_ns;
    double *bandwidth; /* of each piece of the links, one matrix after the other */
    uint64_t cut_bytes[CLO_LINK_PIECES_MAX];
    int64_t *capacities;
} draft;

static void draft_free(draft *d)
{
    free(d->executors);
    free(d->kind_names);
    free(d->latency_ns);
    free(d->bandwidth);
    free(d->capacities);
}

static bool draft_allocate(draft *d, size_t count, size_t pieces, size_t kinds, size_t machines)
{
    d->executors = calloc(count, sizeof *d->executors);
    d->kind_names = calloc((kinds > count ? kinds : count) + 1, sizeof *d->kind_names);
    d->latency_ns = calloc(count * count, sizeof *d->latency_ns);
    d->bandwidth = calloc(count * count * pieces, sizeof *d->bandwidth);
    d->capacities = calloc(machines * CLO_RESOURCES_MAX, sizeof *d->capacities);
    return d->executors && d->kind_names && d->latency_ns && d->bandwidth && d->capacities;
}

/* The latency of a link is what the transfer of nothing takes; the bandwidth of a piece of it follows from the time
 * between the piece's begin and its end, or much later. Executors that share a CPU (a crowded machine) get no link
 * cost. */
static void draft_link(draft *d, const clo_platform *from, uint32_t count, uint32_t a, uint32_t b)
{
    uint32_t had = clo_platform_executors(from), pieces = clo_platform_link_pieces(from);
    size_t at = (size_t)a * count + b;

    d->latency_ns[at] = clo_platform_transfer_ns(from, 0, a % had, b % had);
    for (uint32_t k = 0; k < pieces; k++) {
        uint64_t begin = clo_platform_cut_bytes(from, k);
        uint64_t end = k + 1 < pieces ? clo_platform_cut_bytes(from, k + 1) : begin + (1ull << 30);
        int64_t ns = clo_platform_transfer_ns(from, end, a % had, b % had) -
                     clo_platform_transfer_ns(from, begin, a % had, b % had);
        d->bandwidth[k * (size_t)count * count + at] = ns > 0 ? (double)(end - begin) / (double)ns : 0.0;
        if (k > 0)
            d->cut_bytes[k - 1] = begin;
    }
}

/* `all`: with those that follow, which have no links. */
static void draft_fill(draft *d, const clo_platform *from, uint32_t count, uint32_t all)
{
    uint32_t had = clo_platform_executors(from);

    for (uint32_t e = 0; e < count; e++)
        d->executors[e] = *clo_platform_executor(from, e % had);
    for (uint32_t k = 0; k < clo_platform_kinds(from); k++)
        d->kind_names[k] = clo_platform_kind_name(from, k);
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = 0; b < count; b++)
            draft_link(d, from, all, a, b);
    for (uint32_t m = 0; m < clo_platform_machines(from); m++)
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
            d->capacities[m * CLO_RESOURCES_MAX + r] = clo_platform_capacity(from, m, r);
}

/* CPUs that are equal by name need not be: one of a virtual machine may share its core with a busy neighbour. */
static uint32_t draft_split_kinds(draft *d, const clo_platform *from, uint32_t count)
{
    for (uint32_t e = 0; e < count; e++) {
        d->executors[e].kind = e;
        d->kind_names[e] = clo_platform_executor_name(from, e);
    }
    return count;
}

/* A slot behind the `count` executors, without links of its own. */
static uint32_t draft_add_device(draft *d, uint32_t count, uint32_t depth, uint32_t kinds)
{
    if (depth == 0)
        return kinds;
    d->executors[count] = d->executors[0];
    d->executors[count].kind = kinds;
    d->executors[count].os_index = CLO_OS_SLOT_DEEP(depth < CLO_SLOT_DEPTH_MAX ? depth : CLO_SLOT_DEPTH_MAX);
    d->kind_names[kinds] = MACHINE_DEVICE_KIND;
    return kinds + 1;
}

clo_status machine_limit(const clo_platform *platform, uint32_t workers, uint32_t depth, clo_platform **out,
                         bool *is_crowded)
{
    uint32_t count = workers != 0 ? workers : clo_platform_executors(platform), kinds = clo_platform_kinds(platform);
    bool is_split = clo_platform_is_native(platform) && count <= clo_platform_executors(platform);
    uint32_t pieces = clo_platform_link_pieces(platform), slots = depth > 0;
    draft d = {0};
    const char *resources[CLO_RESOURCES_MAX];
    clo_status status = CLO_ERR_MEMORY;

    if (draft_allocate(&d, count + slots, pieces, clo_platform_kinds(platform), clo_platform_machines(platform))) {
        draft_fill(&d, platform, count, count + slots);
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
            resources[r] = clo_platform_resource_name(platform, r);
        if (is_split)
            kinds = draft_split_kinds(&d, platform, count);
        kinds = draft_add_device(&d, count, depth, kinds);
        clo_platform_desc desc = {.size = sizeof desc,
                                  .name = clo_platform_name(platform),
                                  .executors_count = count + slots,
                                  .executors = d.executors,
                                  .kinds_count = kinds,
                                  .kind_names = d.kind_names,
                                  .machines_count = clo_platform_machines(platform),
                                  .capacities = d.capacities,
                                  .resource_names = resources,
                                  .latency_ns = d.latency_ns,
                                  .bandwidth_bytes_per_ns = d.bandwidth,
                                  .coherent = clo_platform_is_coherent(platform),
                                  .cuts_count = pieces - 1,
                                  .cut_bytes = d.cut_bytes,
                                  .bandwidth_beyond = d.bandwidth + (size_t)(count + slots) * (count + slots)};
        status = clo_platform_create(&desc, out);
    }
    if (status == CLO_OK)
        *is_crowded = count > clo_platform_executors(platform);
    draft_free(&d);
    return status;
}
