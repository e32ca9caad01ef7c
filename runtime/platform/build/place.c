/* place.c - packages, clusters, cores and caches of the executors, and the facts: what is known from where. */
#include "platform/build/builder.h"

#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"
#include "platform/file/parse.h"

#include <stdio.h>
#include <string.h>

static uint32_t cores_in(const clo_builder *b, uint32_t object)
{
    const clo_object *o = &b->t->objects[object];

    return b->core_of_pu[o->pus_end - 1] - b->core_of_pu[o->pus_begin] + 1;
}

/* Number of an object in order of first sight: `seen` holds 1 + number, 0 for not yet. */
static uint32_t number(uint32_t *seen, uint32_t object, uint32_t *next)
{
    if (seen[object] == 0)
        seen[object] = ++*next;
    return seen[object] - 1;
}

static void place_caches(const clo_builder *b, uint32_t e, uint32_t cluster, clo_place *place)
{
    const clo_topology *t = b->t;

    for (uint32_t o = t->objects[b->object[e]].parent; o != CLO_NONE; o = t->objects[o].parent) {
        const clo_object *cache = &t->objects[o];
        const char *size = clo_xml_get(&t->xml, cache->node, "cache_size");
        uint64_t bytes; /* 0: not known; Arm's kernels have the sizes from the device tree alone */
        if (cache->type != CLO_OBJECT_CACHE || size == NULL || !clo_parse_u64(size, UINT64_MAX, &bytes) || bytes == 0)
            continue;
        bool in_cluster =
            cache->pus_begin >= t->objects[cluster].pus_begin && cache->pus_end <= t->objects[cluster].pus_end;
        place->cache_bytes[cache->level] = bytes;
        place->cache_scope[cache->level] = cores_in(b, o) == 1 ? CLO_SCOPE_CORE
                                           : in_cluster        ? CLO_SCOPE_CLUSTER
                                                               : CLO_SCOPE_PACKAGE;
    }
}

static uint32_t cluster_of(const clo_builder *b, uint32_t e)
{
    uint32_t object = b->core_object[b->pu[e]];

    while (b->t->objects[object].parent != CLO_NONE && cores_in(b, object) == 1)
        object = b->t->objects[object].parent;
    return object;
}

/* `seen` has three zeroed runs of objects_count numbers: packages, clusters, cores. */
static void place_cpu(const clo_builder *b, uint32_t e, uint32_t *seen, uint32_t next[3], clo_place *place)
{
    const clo_topology *t = b->t;
    uint32_t package = clo_build_nearest(t, b->object[e], CLO_OBJECT_PACKAGE), cluster = cluster_of(b, e);
    const char *bytes = clo_xml_get(&t->xml, t->objects[t->numas[b->numa[e]]].node, "local_memory");

    place->package = number(seen, package == CLO_NONE ? 0 : package, &next[0]);
    place->cluster = number(seen + t->objects_count, cluster, &next[1]);
    place->core = number(seen + 2 * t->objects_count, b->core_object[b->pu[e]], &next[2]);
    place->cpu = (int32_t)t->objects[b->object[e]].os_index;
    if (bytes == NULL || !clo_parse_u64(bytes, UINT64_MAX, &place->memory_bytes))
        place->memory_bytes = 0;
    place_caches(b, e, cluster, place);
}

static void place_powers(const clo_builder *b, clo_place *places)
{
    for (uint32_t e = 0; e < b->count; e++) {
        uint64_t power_mw;
        if (clo_build_number(b, e, "clotho.power_mw", UINT32_MAX, &power_mw))
            places[e].power_mw = (uint32_t)power_mw;
    }
}

/* The driver that the file names for the accelerator of executors [first, first + count). */
static clo_status add_drive(const clo_builder *b, uint32_t first, uint32_t count, clo_platform *platform)
{
    const char *driver = clo_build_key(b, first, "clotho.driver"), *device = clo_build_key(b, first, "clotho.device");
    clo_platform_drive *drive = &platform->drives[platform->drives_count];

    if (driver == NULL)
        return device == NULL ? CLO_OK
                              : clo_xml_fail(&b->t->xml, b->t->objects[b->object[first]].node,
                                             "%s has a clotho.device, but no clotho.driver; name its driver, too",
                                             b->names[first]);
    *drive = (clo_platform_drive){first, count, clo_duplicate(driver), clo_duplicate(device != NULL ? device : "")};
    platform->drives_count++;
    return drive->driver == NULL || drive->device == NULL ? clo_fail_memory("a platform") : CLO_OK;
}

static clo_status find_drives(const clo_builder *b, clo_platform *platform)
{
    clo_status status = CLO_OK;

    if (b->t->accels_count == 0)
        return CLO_OK;
    platform->drives = clo_allocate(b->t->accels_count, sizeof *platform->drives);
    if (platform->drives == NULL)
        return clo_fail_memory("a platform");
    for (uint32_t e = b->t->pus_count, next; e < b->count && status == CLO_OK; e = next) {
        for (next = e + 1; next < b->count && b->object[next] == b->object[e];)
            next++;
        status = add_drive(b, e, next - e, platform);
    }
    return status;
}

clo_status clo_build_places(const clo_builder *b, clo_platform *platform)
{
    uint32_t *seen = clo_allocate(3 * b->t->objects_count, sizeof *seen), next[3] = {0};

    platform->places = clo_allocate(b->count, sizeof *platform->places);
    if (seen == NULL || platform->places == NULL)
        return clo_free(seen), clo_fail_memory("a platform");
    for (uint32_t e = 0; e < b->t->pus_count; e++)
        place_cpu(b, e, seen, next, &platform->places[e]);
    for (uint32_t e = b->t->pus_count; e < b->count; e++)
        platform->places[e] = (clo_place){.package = next[0],
                                          .cluster = next[1] + e - b->t->pus_count,
                                          .core = next[2] + e - b->t->pus_count,
                                          .outside = 1,
                                          .cpu = -1};
    place_powers(b, platform->places);
    clo_free(seen);
    return find_drives(b, platform);
}

/* One fact per clotho.source.FACT; its status is clotho.status.FACT, "assumed" if the file does not say. */
static clo_status stated_facts(const clo_builder *b, clo_platform *platform)
{
    static const char prefix[] = "clotho.source.";
    const clo_xml *xml = &b->t->xml;
    uint32_t machine = b->t->objects[0].node;
    clo_status status = CLO_OK;

    for (uint32_t n = machine + 1; n < xml->nodes[machine].end && status == CLO_OK; n = xml->nodes[n].end) {
        const char *name = strcmp(clo_xml_name(xml, n), "info") == 0 ? clo_xml_get(xml, n, "name") : NULL;
        char key[160];
        if (name == NULL || strncmp(name, prefix, sizeof prefix - 1) != 0)
            continue;
        snprintf(key, sizeof key, "clotho.status.%.140s", name + sizeof prefix - 1);
        const char *stated = clo_topology_info(b->t, machine, key);
        status = clo_platform_add_fact(platform, name + sizeof prefix - 1, stated == NULL ? "assumed" : stated,
                                       clo_xml_get(xml, n, "value"));
    }
    return status;
}

static bool has_fact(const clo_platform *platform, const char *fact)
{
    for (uint32_t f = 0; f < platform->facts_count; f++)
        if (strncmp(platform->facts[f].fact, fact, strlen(fact)) == 0)
            return true;
    return false;
}

static clo_status speed_fact(const clo_builder *b, clo_platform *platform)
{
    uint64_t capacity;

    if (has_fact(platform, "speed"))
        return CLO_OK;
    if (b->speeds_stated)
        return clo_platform_add_fact(platform, "speed", "assumed", "clotho.speed_q16 in the file, without a source");
    if (b->speeds_guessed)
        return clo_platform_add_fact(platform, "speed", "assumed", "in proportion to the maximum frequencies");
    if (clo_build_number(b, 0, "LinuxCapacity", UINT32_MAX, &capacity))
        return clo_platform_add_fact(platform, "speed", "published", "cpu_capacity of the Linux kernel");
    return clo_platform_add_fact(platform, "speed", "assumed", "nothing is known: all executors are taken as equal");
}

static clo_status link_fact(const clo_builder *b, clo_platform *platform)
{
    if (has_fact(platform, "c2c") || has_fact(platform, "links"))
        return CLO_OK;
    if (b->own_memories)
        return clo_platform_add_fact(platform, "links", "assumed", "matrices in the file, without a source");
    if (b->numas_used < 2)
        return clo_platform_add_fact(platform, "links", "assumed",
                                     "one memory: transfers count 0 ns; measure them: clotho platform calibrate");
    if (b->t->memory_latency_ns != NULL || b->t->memory_bandwidth_mibps != NULL)
        return clo_platform_add_fact(platform, "links", "published", "memory attributes of the firmware (HMAT)");
    if (b->t->numa_distance != NULL)
        return clo_platform_add_fact(platform, "links", "assumed",
                                     "NUMA distances of the firmware (SLIT) x 10 ns, bandwidth unlimited");
    return clo_platform_add_fact(platform, "links", "assumed", "nothing is known: transfers count 0 ns");
}

/* NUMA nodes that no executor is nearest to: HBM, CXL, NVM beside others, and those whose CPUs may not be used. */
static clo_status memory_fact(const clo_builder *b, clo_platform *platform)
{
    uint32_t others = b->t->numas_count - b->numas_used;
    char text[120];

    if (others == 0 || b->own_memories)
        return CLO_OK;
    clo_print(text, sizeof text, "%u of %u NUMA nodes left out: no executor is nearest to %s", others,
              b->t->numas_count, others == 1 ? "it" : "them");
    return clo_platform_add_fact(platform, "memories", "published", text);
}

clo_status clo_build_facts(const clo_builder *b, clo_platform *platform)
{
    clo_status status = stated_facts(b, platform);

    if (status == CLO_OK)
        status = memory_fact(b, platform);
    if (status == CLO_OK)
        status = speed_fact(b, platform);
    return status == CLO_OK ? link_fact(b, platform) : status;
}
