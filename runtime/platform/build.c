/* build.c - from a checked topology to a platform: kinds, speeds, memories, links, places, facts.
 *
 * Executors are the PUs in order of their CPU numbers, then the accelerators in order of the file. A speed is looked for on the
 * PU, its core, its cpukind (each: the class's own key, then the general one), then in the kernel's capacity, then in the
 * frequency; the reference executor has 65536. */
#include "base/memory.h"
#include "base/status.h"
#include "platform/discover.h"
#include "platform/parse.h"
#include "platform/topology.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define NAME_BYTES 64

typedef struct builder {
    const clo_topology *t;
    uint32_t count;           /* executors                                          */
    uint32_t *pu;             /* [count] its PU; CLO_NONE: an accelerator            */
    uint32_t *object;         /* [count]                                            */
    uint32_t *numa;           /* [count] its NUMA node; an accelerator's: 0          */
    uint32_t *core_of_pu;     /* [pus] ordinal of its core                          */
    uint32_t *core_object;    /* [pus] the Core above, or the PU itself             */
    clo_executor *executors;
    char (*names)[NAME_BYTES];
    char (*kinds)[NAME_BYTES];
    uint32_t kinds_count;
    const char **name_list, **kind_list; /* pointers to the above, for the desc */
    int64_t *latency;
    double *bandwidth;
    bool own_memories;        /* every executor has its own: links are the c2c matrices */
    bool speeds_stated;       /* some speed comes from a clotho key                   */
    bool speeds_guessed;      /* some speed comes from a frequency                    */
    int64_t capacities[CLO_RESOURCES_MAX];
    char resource_names[CLO_RESOURCES_MAX][NAME_BYTES];
    const char *resource_list[CLO_RESOURCES_MAX];
} builder;

static void release(builder *b)
{
    clo_free(b->pu);
    clo_free(b->object);
    clo_free(b->numa);
    clo_free(b->core_of_pu);
    clo_free(b->core_object);
    clo_free(b->executors);
    clo_free(b->names);
    clo_free(b->kinds);
    clo_free(b->name_list);
    clo_free(b->kind_list);
    clo_free(b->latency);
    clo_free(b->bandwidth);
}

static clo_status allocate(builder *b)
{
    size_t n = b->t->pus_count + b->t->accels_count;

    b->count = (uint32_t)n;
    b->pu = clo_allocate(n, sizeof *b->pu);
    b->object = clo_allocate(n, sizeof *b->object);
    b->numa = clo_allocate(n, sizeof *b->numa);
    b->core_of_pu = clo_allocate(b->t->pus_count, sizeof *b->core_of_pu);
    b->core_object = clo_allocate(b->t->pus_count, sizeof *b->core_object);
    b->executors = clo_allocate(n, sizeof *b->executors);
    b->names = clo_allocate(n, sizeof *b->names);
    b->kinds = clo_allocate(n, sizeof *b->kinds);
    b->name_list = clo_allocate(n, sizeof *b->name_list);
    b->kind_list = clo_allocate(n, sizeof *b->kind_list);
    b->latency = clo_allocate(n * n, sizeof *b->latency);
    b->bandwidth = clo_allocate(n * n, sizeof *b->bandwidth);
    bool failed = b->pu == NULL || b->object == NULL || b->numa == NULL || b->core_of_pu == NULL ||
                  b->core_object == NULL || b->executors == NULL || b->names == NULL || b->kinds == NULL || b->name_list == NULL ||
                  b->kind_list == NULL || b->latency == NULL || b->bandwidth == NULL;
    return failed ? clo_fail_memory("a platform") : CLO_OK;
}

static uint32_t nearest(const clo_topology *t, uint32_t object, clo_object_type type)
{
    while (object != CLO_NONE && t->objects[object].type != type)
        object = t->objects[object].parent;
    return object;
}

static void find_cores(builder *b)
{
    const clo_topology *t = b->t;
    uint32_t ordinal = 0;

    for (uint32_t p = 0; p < t->pus_count; p++) {
        uint32_t core = nearest(t, t->pus[p], CLO_OBJECT_CORE);
        b->core_object[p] = core == CLO_NONE ? t->pus[p] : core;
        if (p > 0 && b->core_object[p] != b->core_object[p - 1])
            ordinal++;
        b->core_of_pu[p] = ordinal;
    }
}

static void list_executors(builder *b)
{
    const clo_topology *t = b->t;
    uint32_t e = 0;

    for (uint32_t cpu = 0; cpu < CLO_CPUS_MAX; cpu++) {
        if (t->pu_of_cpu[cpu] == CLO_NONE)
            continue;
        b->pu[e] = t->pu_of_cpu[cpu];
        b->object[e] = t->pus[b->pu[e]];
        snprintf(b->names[e], NAME_BYTES, "cpu%u", cpu);
        e++;
    }
    for (uint32_t a = 0; a < t->accels_count; a++, e++) {
        b->pu[e] = CLO_NONE;
        b->object[e] = t->accels[a];
        snprintf(b->names[e], NAME_BYTES, "%s", clo_xml_get(&t->xml, t->objects[t->accels[a]].node, "name") + 6);
    }
    assert(e == b->count);
    for (e = 0; e < b->count; e++)
        b->name_list[e] = b->names[e];
}

static clo_status check_names(const builder *b)
{
    for (uint32_t e = b->t->pus_count; e < b->count; e++) {
        if (b->names[e][0] == '\0')
            return clo_xml_fail(&b->t->xml, b->t->objects[b->object[e]].node, "a nameless %s; write accel:NAME", "accel");
        for (uint32_t other = 0; other < e; other++)
            if (strcmp(b->names[e], b->names[other]) == 0)
                return clo_xml_fail(&b->t->xml, b->t->objects[b->object[e]].node, "executor %s is there twice; rename one",
                                    b->names[e]);
    }
    return CLO_OK;
}

/* The XML nodes that may say something about an executor, nearest first; returns how many. */
static uint32_t nodes_of(const builder *b, uint32_t e, uint32_t nodes[3])
{
    const clo_topology *t = b->t;
    uint32_t count = 0;

    nodes[count++] = t->objects[b->object[e]].node;
    if (b->pu[e] == CLO_NONE)
        return count;
    if (b->core_object[b->pu[e]] != b->object[e])
        nodes[count++] = t->objects[b->core_object[b->pu[e]]].node;
    if (t->kind_of_pu[b->pu[e]] != CLO_NONE)
        nodes[count++] = t->kinds[t->kind_of_pu[b->pu[e]]];
    return count;
}

/* The nearest value of a key for an executor; NULL if nobody says. */
static const char *key_of(const builder *b, uint32_t e, const char *key)
{
    uint32_t nodes[3], count = nodes_of(b, e, nodes);
    const char *value = NULL;

    for (uint32_t i = 0; i < count && value == NULL; i++)
        value = clo_topology_info(b->t, nodes[i], key);
    return value;
}

static bool key_number(const builder *b, uint32_t e, const char *key, uint64_t max, uint64_t *out)
{
    const char *value = key_of(b, e, key);

    return value != NULL && clo_parse_u64(value, max, out);
}

static void name_kind(const builder *b, uint32_t e, char out[NAME_BYTES])
{
    const char *stated = key_of(b, e, "clotho.kind"), *type = key_of(b, e, "CoreType");
    uint64_t capacity;

    if (stated == NULL && b->pu[e] != CLO_NONE)
        stated = type != NULL && type[0] != '\0' ? type : NULL;
    if (stated != NULL)
        snprintf(out, NAME_BYTES, "%s", stated);
    else if (b->pu[e] == CLO_NONE)
        snprintf(out, NAME_BYTES, "%s", b->names[e]);
    else if (b->t->kinds_count > 1 && key_number(b, e, "LinuxCapacity", UINT32_MAX, &capacity))
        snprintf(out, NAME_BYTES, "cap%u", (unsigned)capacity);
    else if (b->t->kinds_count > 1 && b->t->kind_of_pu[b->pu[e]] != CLO_NONE)
        snprintf(out, NAME_BYTES, "kind%u", b->t->kind_of_pu[b->pu[e]]);
    else
        snprintf(out, NAME_BYTES, "cpu");
}

static void assign_kinds(builder *b)
{
    for (uint32_t e = 0; e < b->count; e++) {
        char name[NAME_BYTES];
        uint32_t kind = 0;
        name_kind(b, e, name);
        while (kind < b->kinds_count && strcmp(b->kinds[kind], name) != 0)
            kind++;
        if (kind == b->kinds_count) {
            memcpy(b->kinds[kind], name, NAME_BYTES);
            b->kind_list[kind] = b->kinds[kind];
            b->kinds_count++;
        }
        b->executors[e].kind = kind;
    }
}

static bool stated_speed(const builder *b, uint32_t e, uint32_t class, uint32_t *out)
{
    static const char *const keys[CLO_CLASSES_BUILTIN] = {"clotho.speed_q16", "clotho.speed_q16.integer",
                                                          "clotho.speed_q16.float", "clotho.speed_q16.memory"};
    uint32_t nodes[3], count = nodes_of(b, e, nodes);
    uint64_t speed;

    for (uint32_t i = 0; i < count; i++) {
        const char *value = clo_topology_info(b->t, nodes[i], keys[class]);
        if (value == NULL)
            value = clo_topology_info(b->t, nodes[i], keys[CLO_CLASS_GENERIC]);
        if (value != NULL && clo_parse_u64(value, UINT32_MAX, &speed)) {
            *out = (uint32_t)speed;
            return true;
        }
    }
    return false;
}

/* Speeds by `key`, relative to the largest among the CPUs; false unless every CPU has it. */
static bool speeds_by(const builder *b, const char *key, uint32_t *speeds)
{
    uint64_t value, most = 0;

    for (uint32_t e = 0; e < b->t->pus_count; e++) {
        if (!key_number(b, e, key, UINT32_MAX, &value) || value == 0)
            return false;
        most = value > most ? value : most;
        speeds[e] = (uint32_t)value;
    }
    for (uint32_t e = 0; e < b->t->pus_count; e++) {
        uint64_t q16 = (speeds[e] * (uint64_t)CLO_SPEED_ONE + most / 2) / most;
        speeds[e] = q16 == 0 ? 1 : (uint32_t)q16;
    }
    return true;
}

static clo_status assign_speeds(builder *b)
{
    uint32_t *fallback = clo_allocate(b->count, sizeof *fallback);

    if (fallback == NULL)
        return clo_fail_memory("a platform");
    bool known = speeds_by(b, "LinuxCapacity", fallback);
    if (!known) {
        known = speeds_by(b, "FrequencyMaxMHz", fallback);
        b->speeds_guessed = known;
    }
    for (uint32_t e = 0; e < b->count; e++)
        for (uint32_t c = 0; c < CLO_CLASSES_BUILTIN; c++) {
            uint32_t *speed = &b->executors[e].speed_q16[c];
            if (stated_speed(b, e, c, speed))
                b->speeds_stated = true;
            else
                *speed = known && b->pu[e] != CLO_NONE ? fallback[e] : CLO_SPEED_ONE;
        }
    clo_free(fallback);
    return CLO_OK;
}

/* The NUMA node of an object: the first one that hangs on it or on the nearest object above that has one. */
static uint32_t numa_of(const clo_topology *t, uint32_t object)
{
    for (; object != CLO_NONE; object = t->objects[object].parent)
        for (uint32_t n = 0; n < t->numas_count; n++) {
            uint32_t parent = t->objects[t->numas[n]].parent;
            while (t->objects[parent].type == CLO_OBJECT_MEMCACHE)
                parent = t->objects[parent].parent;
            if (parent == object)
                return n;
        }
    return 0;
}

static void assign_memories(builder *b)
{
    uint64_t stated;

    b->own_memories = b->t->c2c_latency_ns != NULL || b->t->c2c_bandwidth_mbps != NULL;
    for (uint32_t e = 0; e < b->count; e++) {
        clo_executor *x = &b->executors[e];
        bool on_cpu = b->pu[e] != CLO_NONE;
        b->numa[e] = on_cpu ? numa_of(b->t, b->object[e]) : 0;
        if (key_number(b, e, "clotho.memory", CLO_EXECUTORS_MAX - 1, &stated))
            x->memory = (uint32_t)stated;
        else if (b->own_memories)
            x->memory = e;
        else if (on_cpu)
            x->memory = b->numa[e];
        else /* after the NUMA nodes */
            x->memory = b->t->numas_count + e - b->t->pus_count;
        x->os_index = on_cpu ? (int32_t)b->t->objects[b->object[e]].os_index : -1;
    }
}

/* A link between two CPUs: the c2c matrices, else what the reader's path to the writer's NUMA node is known to cost. */
static void link_cpus(const builder *b, uint32_t from, uint32_t to, int64_t *latency, double *bandwidth)
{
    const clo_topology *t = b->t;
    size_t cell = (size_t)b->pu[from] * t->pus_count + b->pu[to];

    if (b->own_memories) {
        *latency = t->c2c_latency_ns == NULL ? 0 : (int64_t)t->c2c_latency_ns[cell];
        *bandwidth = t->c2c_bandwidth_mbps == NULL ? 0 : (double)t->c2c_bandwidth_mbps[cell] / 1000;
        return;
    }
    uint32_t there = b->numa[from], here = b->numa[to];
    size_t path = (size_t)there * t->pus_count + b->pu[to];
    if (there == here)
        return;
    if (t->memory_latency_ns != NULL)
        *latency = (int64_t)t->memory_latency_ns[path];
    else if (t->numa_distance != NULL) /* 10 = local = 100 ns, assumed */
        *latency = 10 * (int64_t)t->numa_distance[(size_t)here * t->numas_count + there];
    if (t->memory_bandwidth_mibps != NULL)
        *bandwidth = (double)t->memory_bandwidth_mibps[path] * 1048576e-9;
}

/* An accelerator's link is the same to everybody; between two of them the slower one counts. */
static void link_accel(const builder *b, uint32_t e, int64_t *latency, double *bandwidth)
{
    uint64_t ns = 0, mbps = 0;

    if (b->pu[e] != CLO_NONE)
        return;
    if (key_number(b, e, "clotho.link_latency_ns", 1000000000000, &ns) && (int64_t)ns > *latency)
        *latency = (int64_t)ns;
    if (key_number(b, e, "clotho.link_bandwidth_MBps", 1000000000, &mbps) && mbps > 0 &&
        (*bandwidth <= 0 || (double)mbps / 1000 < *bandwidth))
        *bandwidth = (double)mbps / 1000;
}

static void assign_links(builder *b)
{
    for (uint32_t from = 0; from < b->count; from++)
        for (uint32_t to = 0; to < b->count; to++) {
            size_t cell = (size_t)from * b->count + to;
            if (from == to)
                continue;
            if (b->pu[from] != CLO_NONE && b->pu[to] != CLO_NONE) {
                link_cpus(b, from, to, &b->latency[cell], &b->bandwidth[cell]);
                continue;
            }
            link_accel(b, from, &b->latency[cell], &b->bandwidth[cell]);
            link_accel(b, to, &b->latency[cell], &b->bandwidth[cell]);
        }
}

static clo_status assign_capacities(builder *b)
{
    static const char prefix[] = "clotho.capacity.";
    const clo_xml *xml = &b->t->xml;
    uint32_t machine = b->t->objects[0].node, count = 0;

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        b->capacities[r] = -1;
    for (uint32_t n = machine + 1; n < xml->nodes[machine].end; n = xml->nodes[n].end) {
        const char *name = strcmp(clo_xml_name(xml, n), "info") == 0 ? clo_xml_get(xml, n, "name") : NULL;
        uint64_t value;
        if (name == NULL || strncmp(name, prefix, sizeof prefix - 1) != 0)
            continue;
        if (count == CLO_RESOURCES_MAX)
            return clo_xml_fail(xml, n, "more than %d capacities; remove some", CLO_RESOURCES_MAX);
        if (clo_parse_u64(clo_xml_get(xml, n, "value"), INT64_MAX, &value))
            b->capacities[count] = (int64_t)value;
        snprintf(b->resource_names[count], NAME_BYTES, "%s", name + sizeof prefix - 1);
        b->resource_list[count] = b->resource_names[count];
        count++;
    }
    return CLO_OK;
}

static uint32_t cores_in(const builder *b, uint32_t object)
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

static void place_caches(const builder *b, uint32_t e, uint32_t cluster, clo_place *place)
{
    const clo_topology *t = b->t;

    for (uint32_t o = t->objects[b->object[e]].parent; o != CLO_NONE; o = t->objects[o].parent) {
        const clo_object *cache = &t->objects[o];
        const char *size = clo_xml_get(&t->xml, cache->node, "cache_size");
        uint64_t bytes;
        if (cache->type != CLO_OBJECT_CACHE || size == NULL || !clo_parse_u64(size, UINT64_MAX, &bytes))
            continue;
        bool in_cluster = cache->pus_begin >= t->objects[cluster].pus_begin &&
                          cache->pus_end <= t->objects[cluster].pus_end;
        place->cache_bytes[cache->level] = bytes;
        place->cache_scope[cache->level] = cores_in(b, o) == 1 ? CLO_SCOPE_CORE
                                           : in_cluster        ? CLO_SCOPE_CLUSTER
                                                               : CLO_SCOPE_PACKAGE;
    }
}

static uint32_t cluster_of(const builder *b, uint32_t e)
{
    uint32_t object = b->core_object[b->pu[e]];

    while (b->t->objects[object].parent != CLO_NONE && cores_in(b, object) == 1)
        object = b->t->objects[object].parent;
    return object;
}

/* `seen` has three zeroed runs of objects_count numbers: packages, clusters, cores. */
static void place_cpu(const builder *b, uint32_t e, uint32_t *seen, uint32_t next[3], clo_place *place)
{
    const clo_topology *t = b->t;
    uint32_t package = nearest(t, b->object[e], CLO_OBJECT_PACKAGE), cluster = cluster_of(b, e);
    const char *bytes = clo_xml_get(&t->xml, t->objects[t->numas[b->numa[e]]].node, "local_memory");

    place->package = number(seen, package == CLO_NONE ? 0 : package, &next[0]);
    place->cluster = number(seen + t->objects_count, cluster, &next[1]);
    place->core = number(seen + 2 * t->objects_count, b->core_object[b->pu[e]], &next[2]);
    place->cpu = (int32_t)t->objects[b->object[e]].os_index;
    if (bytes == NULL || !clo_parse_u64(bytes, UINT64_MAX, &place->memory_bytes))
        place->memory_bytes = 0;
    place_caches(b, e, cluster, place);
}

static clo_status assign_places(const builder *b, clo_platform *platform)
{
    uint32_t *seen = clo_allocate(3 * b->t->objects_count, sizeof *seen), next[3] = {0};

    platform->places = clo_allocate(b->count, sizeof *platform->places);
    if (seen == NULL || platform->places == NULL)
        return clo_free(seen), clo_fail_memory("a platform");
    for (uint32_t e = 0; e < b->t->pus_count; e++)
        place_cpu(b, e, seen, next, &platform->places[e]);
    for (uint32_t e = b->t->pus_count; e < b->count; e++)
        platform->places[e] = (clo_place){.package = next[0], .cluster = next[1] + e, .core = next[2] + e, .outside = 1,
                                          .cpu = -1};
    clo_free(seen);
    return CLO_OK;
}

/* One fact per clotho.source.FACT; its status is clotho.status.FACT, "assumed" if the file does not say. */
static clo_status stated_facts(const builder *b, clo_platform *platform)
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

static clo_status speed_fact(const builder *b, clo_platform *platform)
{
    uint64_t capacity;

    if (has_fact(platform, "speed"))
        return CLO_OK;
    if (b->speeds_stated)
        return clo_platform_add_fact(platform, "speed", "assumed", "clotho.speed_q16 in the file, without a source");
    if (b->speeds_guessed)
        return clo_platform_add_fact(platform, "speed", "assumed", "in proportion to the maximum frequencies");
    if (key_number(b, 0, "LinuxCapacity", UINT32_MAX, &capacity))
        return clo_platform_add_fact(platform, "speed", "published", "cpu_capacity of the Linux kernel");
    return clo_platform_add_fact(platform, "speed", "assumed", "nothing is known: all executors are taken as equal");
}

static clo_status link_fact(const builder *b, clo_platform *platform)
{
    if (has_fact(platform, "c2c") || has_fact(platform, "links"))
        return CLO_OK;
    if (b->own_memories)
        return clo_platform_add_fact(platform, "links", "assumed", "matrices in the file, without a source");
    if (b->t->numas_count < 2)
        return clo_platform_add_fact(platform, "links", "assumed",
                                     "one memory: transfers count 0 ns; measure them: clotho platform calibrate");
    if (b->t->memory_latency_ns != NULL || b->t->memory_bandwidth_mibps != NULL)
        return clo_platform_add_fact(platform, "links", "published", "memory attributes of the firmware (HMAT)");
    if (b->t->numa_distance != NULL)
        return clo_platform_add_fact(platform, "links", "assumed",
                                     "NUMA distances of the firmware (SLIT) x 10 ns, bandwidth unlimited");
    return clo_platform_add_fact(platform, "links", "assumed", "nothing is known: transfers count 0 ns");
}

/* Native means that its CPUs are this machine's and open to this thread. */
static clo_status find_native(const builder *b, bool *native)
{
    const char *stated = clo_topology_info(b->t, b->t->objects[0].node, "clotho.machine");
    char here[256];

    *native = false;
    clo_native_describe(here, sizeof here);
    if (stated == NULL || b->t->accels_count > 0 || strcmp(stated, here) != 0)
        return CLO_OK;
    uint32_t *cpus = clo_allocate(b->count, sizeof *cpus);
    if (cpus == NULL)
        return clo_fail_memory("a platform");
    for (uint32_t e = 0; e < b->count; e++)
        cpus[e] = (uint32_t)b->executors[e].os_index;
    clo_status status = clo_native_may_use(cpus, b->count, native);
    clo_free(cpus);
    return status;
}

static clo_status finish(const builder *b, clo_platform *platform)
{
    const char *summary = clo_topology_info(b->t, b->t->objects[0].node, "clotho.summary");
    clo_status status = assign_places(b, platform);

    if (status == CLO_OK && summary != NULL) {
        platform->summary = clo_duplicate(summary);
        status = platform->summary == NULL ? clo_fail_memory("a platform") : CLO_OK;
    }
    if (status == CLO_OK)
        status = find_native(b, &platform->native);
    for (uint32_t e = 0; e < b->count && !platform->native; e++)
        platform->executors[e].os_index = -1;
    if (status == CLO_OK)
        status = stated_facts(b, platform);
    if (status == CLO_OK)
        status = speed_fact(b, platform);
    if (status == CLO_OK)
        status = link_fact(b, platform);
    return status;
}

static bool machine_flag(const builder *b, const char *key, bool otherwise)
{
    const char *value = clo_topology_info(b->t, b->t->objects[0].node, key);

    return value == NULL ? otherwise : value[0] == '1';
}

static clo_status build(builder *b, clo_platform **out)
{
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_status status = allocate(b);

    if (status != CLO_OK)
        return status;
    find_cores(b);
    list_executors(b);
    assign_kinds(b);
    assign_memories(b);
    assign_links(b);
    status = check_names(b);
    if (status == CLO_OK)
        status = assign_capacities(b);
    if (status == CLO_OK)
        status = assign_speeds(b);
    if (status != CLO_OK)
        return status;

    desc.name = clo_topology_info(b->t, b->t->objects[0].node, "clotho.platform");
    desc.executors_count = b->count;
    desc.executors = b->executors;
    desc.executor_names = b->name_list;
    desc.kinds_count = b->kinds_count;
    desc.kind_names = b->kind_list;
    desc.capacities = b->capacities;
    desc.resource_names = b->resource_list;
    desc.latency_ns = b->latency;
    desc.bandwidth_bytes_per_ns = b->bandwidth;
    desc.coherent = machine_flag(b, "clotho.coherent", b->t->accels_count == 0);
    desc.mean_includes_self = machine_flag(b, "clotho.mean_includes_self", false);
    return clo_platform_create(&desc, out);
}

clo_status clo_topology_to_platform(const clo_topology *topology, clo_platform **out)
{
    builder b = {.t = topology};
    uint32_t machine = topology->objects[0].node;
    clo_platform *platform = NULL;

    if (clo_topology_info(topology, machine, "clotho.schema") == NULL ||
        clo_topology_info(topology, machine, "clotho.platform") == NULL)
        return clo_xml_fail(&topology->xml, machine, "the Machine lacks the infos clotho.schema and %s; add them, see "
                            "docs/PLATFORM_FILE.md", "clotho.platform");
    clo_status status = build(&b, &platform);
    if (status == CLO_OK)
        status = finish(&b, platform);
    release(&b);
    if (status != CLO_OK)
        return clo_platform_destroy(platform), status;
    *out = platform;
    return CLO_OK;
}
