/* build.c - from a checked topology to a platform: kinds, speeds, memories, links.
 *
 * Executors are the PUs in order of their CPU numbers, then the accelerators in order of the file; one with
 * clotho.slots stands for so many slots. A speed is looked
 * for on the PU, its core, its cpukind (each: the class's own key, then the general one), then in the kernel's
 * capacity, then in the frequency; the reference executor has 65536. */
#include "platform/build/build.h"

#include "base/memory.h"
#include "base/status.h"
#include "platform/build/builder.h"
#include "platform/build/discover.h"
#include "platform/file/parse.h"
#include "platform/file/topology.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static void release(clo_builder *b)
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
    clo_free(b->group_of);
    clo_free(b->group_first);
    clo_free(b->latency);
    clo_free(b->bandwidth);
}

/* A number of an accelerator; 0: it has none of this key. */
static uint32_t number_of(const clo_topology *t, uint32_t accel, const char *key)
{
    const char *text = clo_topology_info(t, t->objects[t->accels[accel]].node, key);
    uint64_t number;

    return text != NULL && clo_parse_u64(text, CLO_BUILD_SLOTS_MAX, &number) ? (uint32_t)number : 0;
}

/* Slots that an accelerator stands for; 0: it is one executor, and none. */
static uint32_t slots_of(const clo_topology *t, uint32_t accel)
{
    uint32_t slots = number_of(t, accel, "clotho.slots");

    return slots > 0 ? slots : number_of(t, accel, "clotho.depth") > 0;
}

static clo_status allocate(clo_builder *b)
{
    size_t n = b->t->pus_count;

    for (uint32_t a = 0; a < b->t->accels_count; a++)
        n += slots_of(b->t, a) > 0 ? slots_of(b->t, a) : 1;
    if (n > CLO_EXECUTORS_MAX)
        return clo_fail(CLO_ERR_LIMIT, "%s: %zu executors, with all slots; at most %u", b->t->xml.file, n,
                        CLO_EXECUTORS_MAX);
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
    b->group_of = clo_allocate(n, sizeof *b->group_of);
    b->group_first = clo_allocate(n, sizeof *b->group_first);
    bool failed = b->pu == NULL || b->object == NULL || b->numa == NULL || b->core_of_pu == NULL ||
                  b->core_object == NULL || b->executors == NULL || b->names == NULL || b->kinds == NULL ||
                  b->name_list == NULL || b->kind_list == NULL || b->group_of == NULL || b->group_first == NULL;
    return failed ? clo_fail_memory("a platform") : CLO_OK;
}

static void find_cores(clo_builder *b)
{
    const clo_topology *t = b->t;
    uint32_t ordinal = 0;

    for (uint32_t p = 0; p < t->pus_count; p++) {
        uint32_t core = clo_build_nearest(t, t->pus[p], CLO_OBJECT_CORE);
        b->core_object[p] = core == CLO_NONE ? t->pus[p] : core;
        if (p > 0 && b->core_object[p] != b->core_object[p - 1])
            ordinal++;
        b->core_of_pu[p] = ordinal;
    }
}

static void list_executors(clo_builder *b)
{
    const clo_topology *t = b->t;
    uint32_t e = 0;

    for (uint32_t cpu = 0; cpu < CLO_CPUS_MAX; cpu++) {
        if (t->pu_of_cpu[cpu] == CLO_NONE)
            continue;
        b->pu[e] = t->pu_of_cpu[cpu];
        b->object[e] = t->pus[b->pu[e]];
        snprintf(b->names[e], CLO_BUILD_NAME_BYTES, "cpu%u", cpu);
        e++;
    }
    for (uint32_t a = 0; a < t->accels_count; a++) {
        const char *name = clo_xml_get(&t->xml, t->objects[t->accels[a]].node, "name") + 6;
        uint32_t slots = slots_of(t, a), depth = number_of(t, a, "clotho.depth");
        for (uint32_t s = 0; s < (slots > 0 ? slots : 1); s++, e++) {
            b->pu[e] = CLO_NONE;
            b->object[e] = t->accels[a];
            b->executors[e].os_index = slots > 0 ? CLO_OS_SLOT_DEEP(depth > 0 ? depth : 1) : -1;
            b->executors[e].memory = a; /* after those of the CPUs: assign_memories */
            if (slots > 0 && name[0] != '\0')
                snprintf(b->names[e], CLO_BUILD_NAME_BYTES, "%.50s.%u", name, s);
            else
                snprintf(b->names[e], CLO_BUILD_NAME_BYTES, "%s", name);
        }
    }
    assert(e == b->count);
    for (e = 0; e < b->count; e++)
        b->name_list[e] = b->names[e];
}

static clo_status check_names(const clo_builder *b)
{
    for (uint32_t e = b->t->pus_count; e < b->count; e++) {
        if (b->names[e][0] == '\0')
            return clo_xml_fail(&b->t->xml, b->t->objects[b->object[e]].node, "a nameless %s; write accel:NAME",
                                "accel");
        for (uint32_t other = 0; other < e && b->object[e] != b->object[e - 1]; other++)
            if (strcmp(b->names[e], b->names[other]) == 0)
                return clo_xml_fail(&b->t->xml, b->t->objects[b->object[e]].node,
                                    "executor %s is there twice; rename one", b->names[e]);
    }
    return CLO_OK;
}

static bool stated_speed(const clo_builder *b, uint32_t e, uint32_t class, uint32_t *out)
{
    static const char *const keys[CLO_CLASSES_BUILTIN] = {"clotho.speed_q16", "clotho.speed_q16.integer",
                                                          "clotho.speed_q16.float", "clotho.speed_q16.memory"};
    uint32_t nodes[CLO_BUILD_NODES_MAX], count = clo_build_nodes(b, e, nodes);
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
static bool speeds_by(const clo_builder *b, const char *key, uint32_t *speeds)
{
    uint64_t value, most = 0;

    for (uint32_t e = 0; e < b->t->pus_count; e++) {
        if (!clo_build_number(b, e, key, UINT32_MAX, &value) || value == 0)
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

static clo_status assign_speeds(clo_builder *b)
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

/* The NUMA node of an object: of the nearest object at or above it that has one. */
static uint32_t numa_of(const clo_topology *t, uint32_t object)
{
    while (object != CLO_NONE && t->numa_below[object] == CLO_NONE)
        object = t->objects[object].parent;
    return object == CLO_NONE ? 0 : t->numa_below[object];
}

/* memory_of[n] of each NUMA node that an executor is nearest to. */
static void number_memories(clo_builder *b, uint32_t *memory_of)
{
    memset(memory_of, 0xff, b->t->numas_count * sizeof *memory_of);
    for (uint32_t e = 0; e < b->t->pus_count; e++) {
        b->numa[e] = numa_of(b->t, b->object[e]);
        memory_of[b->numa[e]] = 0;
    }
    for (uint32_t n = 0; n < b->t->numas_count; n++)
        if (memory_of[n] == 0)
            memory_of[n] = b->numas_used++;
}

static clo_status assign_memories(clo_builder *b)
{
    uint32_t *memory_of = clo_allocate(b->t->numas_count, sizeof *memory_of);
    uint64_t stated;

    if (memory_of == NULL)
        return clo_fail_memory("a platform");
    number_memories(b, memory_of);
    b->own_memories = b->t->c2c_latency_ns != NULL || b->t->c2c_bandwidth_mbps != NULL;
    for (uint32_t e = 0; e < b->count; e++) {
        clo_executor *x = &b->executors[e];
        bool on_cpu = b->pu[e] != CLO_NONE;
        if (clo_build_number(b, e, "clotho.memory", CLO_EXECUTORS_MAX - 1, &stated))
            x->memory = (uint32_t)stated;
        else if (on_cpu)
            x->memory = b->own_memories ? e : memory_of[b->numa[e]];
        else
            x->memory += b->own_memories ? b->t->pus_count : b->numas_used;
        if (on_cpu)
            x->os_index = (int32_t)b->t->objects[b->object[e]].os_index;
    }
    clo_free(memory_of);
    return CLO_OK;
}

/* A link between two CPUs: the c2c matrices, else what the reader's path to the writer's NUMA node is known to cost. */
static void link_cpus(const clo_builder *b, uint32_t from, uint32_t to, int64_t *latency, double *bandwidth)
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
static void link_accel(const clo_builder *b, uint32_t e, int64_t *latency, double *bandwidth)
{
    uint64_t ns = 0, mbps = 0;

    if (b->pu[e] != CLO_NONE)
        return;
    if (clo_build_number(b, e, "clotho.link_latency_ns", 1000000000000, &ns) && (int64_t)ns > *latency)
        *latency = (int64_t)ns;
    if (clo_build_number(b, e, "clotho.link_bandwidth_MBps", 1000000000, &mbps) && mbps > 0 &&
        (*bandwidth <= 0 || (double)mbps / 1000 < *bandwidth))
        *bandwidth = (double)mbps / 1000;
}

/* Executors whose links are equal: CPUs of one NUMA node, unless the file says more of each; slots of an accelerator. */
static void find_groups(clo_builder *b)
{
    const clo_topology *t = b->t;
    bool by_cpu =
        b->own_memories || t->memory_latency_ns != NULL || t->memory_bandwidth_mibps != NULL || t->cuts_count > 0;

    for (uint32_t e = 0; e < b->count; e++) {
        bool is_cpu = b->pu[e] != CLO_NONE;
        uint32_t group = is_cpu && by_cpu ? b->groups_count : 0;
        for (; group < b->groups_count; group++) { /* nodes and accelerators are few */
            uint32_t other = b->group_first[group];
            if (is_cpu ? b->pu[other] != CLO_NONE && b->numa[other] == b->numa[e] : b->object[other] == b->object[e])
                break;
        }
        if (group == b->groups_count)
            b->group_first[b->groups_count++] = e;
        b->group_of[e] = group;
    }
}

/* The bandwidths behind cut k: those of the file between CPUs; an accelerator's link has one for any number of
 * bytes. */
static void assign_piece(clo_builder *b, uint32_t k)
{
    const clo_topology *t = b->t;
    size_t n = b->groups_count;

    for (size_t a = 0; a < n; a++)
        for (size_t z = 0; z < n; z++) {
            uint32_t from = b->pu[b->group_first[a]], to = b->pu[b->group_first[z]];
            b->bandwidth[(k + 1) * n * n + a * n + z] =
                from != CLO_NONE && to != CLO_NONE ? (double)t->beyond_mbps[k][(size_t)from * t->pus_count + to] / 1000
                                                   : b->bandwidth[a * n + z];
        }
}

static clo_status assign_links(clo_builder *b)
{
    find_groups(b);
    size_t n = b->groups_count;
    b->latency = clo_allocate(n * n, sizeof *b->latency);
    b->bandwidth = clo_allocate(n * n, (1 + b->t->cuts_count) * sizeof *b->bandwidth);
    if (b->latency == NULL || b->bandwidth == NULL)
        return clo_fail_memory("a platform");
    for (size_t a = 0; a < n; a++)
        for (size_t z = 0; z < n; z++) {
            uint32_t from = b->group_first[a], to = b->group_first[z];
            size_t cell = a * n + z;
            if (b->pu[from] != CLO_NONE && b->pu[to] != CLO_NONE) {
                if (from != to)
                    link_cpus(b, from, to, &b->latency[cell], &b->bandwidth[cell]);
                continue;
            }
            link_accel(b, from, &b->latency[cell], &b->bandwidth[cell]);
            link_accel(b, to, &b->latency[cell], &b->bandwidth[cell]);
        }
    for (uint32_t k = 0; k < b->t->cuts_count; k++)
        assign_piece(b, k);
    return CLO_OK;
}

static clo_status assign_capacities(clo_builder *b)
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
        snprintf(b->resource_names[count], CLO_BUILD_NAME_BYTES, "%s", name + sizeof prefix - 1);
        b->resource_list[count] = b->resource_names[count];
        count++;
    }
    return CLO_OK;
}

/* Native means that its CPUs are this machine's and open to this thread. */
static clo_status find_native(const clo_builder *b, bool *native)
{
    const char *stated = clo_topology_info(b->t, b->t->objects[0].node, "clotho.machine");
    char here[256];

    *native = false;
    clo_native_describe(here, sizeof here);
    for (uint32_t e = b->t->pus_count; e < b->count; e++)
        if (b->executors[e].os_index > CLO_OS_SLOT)
            return CLO_OK;
    if (stated == NULL || strcmp(stated, here) != 0)
        return CLO_OK;
    uint32_t *cpus = clo_allocate(b->t->pus_count, sizeof *cpus);
    if (cpus == NULL)
        return clo_fail_memory("a platform");
    for (uint32_t e = 0; e < b->t->pus_count; e++)
        cpus[e] = (uint32_t)b->executors[e].os_index;
    clo_status status = clo_native_may_use(cpus, b->t->pus_count, native);
    clo_free(cpus);
    return status;
}

static clo_status finish(const clo_builder *b, clo_platform *platform)
{
    const char *summary = clo_topology_info(b->t, b->t->objects[0].node, "clotho.summary");
    clo_status status = clo_build_places(b, platform);

    if (status == CLO_OK && summary != NULL) {
        platform->summary = clo_duplicate(summary);
        status = platform->summary == NULL ? clo_fail_memory("a platform") : CLO_OK;
    }
    if (status == CLO_OK)
        status = find_native(b, &platform->native);
    for (uint32_t e = 0; e < b->t->pus_count && !platform->native; e++)
        platform->executors[e].os_index = -1;
    return status == CLO_OK ? clo_build_facts(b, platform) : status;
}

static bool machine_flag(const clo_builder *b, const char *key, bool otherwise)
{
    const char *value = clo_topology_info(b->t, b->t->objects[0].node, key);

    return value == NULL ? otherwise : value[0] == '1';
}

static clo_status build(clo_builder *b, clo_platform **out)
{
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_status status = allocate(b);

    if (status != CLO_OK)
        return status;
    find_cores(b);
    list_executors(b);
    status = clo_build_kinds(b);
    if (status == CLO_OK)
        status = assign_memories(b);
    if (status != CLO_OK)
        return status;
    status = assign_links(b);
    if (status == CLO_OK)
        status = check_names(b);
    if (status == CLO_OK)
        status = assign_capacities(b);
    if (status == CLO_OK)
        status = assign_speeds(b);
    if (status != CLO_OK)
        return status;

    desc.name = b->name;
    desc.executors_count = b->count;
    desc.executors = b->executors;
    desc.executor_names = b->name_list;
    desc.kinds_count = b->kinds_count;
    desc.kind_names = b->kind_list;
    desc.capacities = b->capacities;
    desc.resource_names = b->resource_list;
    desc.latency_ns = b->latency;
    desc.bandwidth_bytes_per_ns = b->bandwidth;
    desc.cuts_count = b->t->cuts_count;
    desc.cut_bytes = b->t->cut_bytes;
    desc.bandwidth_beyond = b->bandwidth + (size_t)b->groups_count * b->groups_count;
    desc.groups_count = b->groups_count;
    desc.group_of = b->group_of;
    desc.coherent = machine_flag(b, "clotho.coherent", b->t->accels_count == 0);
    desc.mean_includes_self = machine_flag(b, "clotho.mean_includes_self", false);
    status = clo_platform_create(&desc, out);
    if (status == CLO_ERR_ARGUMENT) { /* a cut that is too far for a slow link */
        char place[200];
        snprintf(place, sizeof place, "%.190s: ", b->t->xml.file);
        return clo_fail_prefix(CLO_ERR_FORMAT, place);
    }
    return status;
}

/* What the file says, else, if lstopo wrote it and nobody added to it, how the file is called. */
static clo_status name_platform(clo_builder *b)
{
    const clo_topology *t = b->t;
    uint32_t machine = t->objects[0].node;
    const char *name = clo_topology_info(t, machine, "clotho.platform"), *slash = strrchr(t->xml.file, '/');
    bool has_schema = clo_topology_info(t, machine, "clotho.schema") != NULL;

    if (has_schema != (name != NULL))
        return clo_xml_fail(&t->xml, machine, "the Machine has one of the infos clotho.schema and clotho.platform; %s",
                            "add the other, see docs/PLATFORM_FILE.md");
    snprintf(b->name, sizeof b->name, "%s", name != NULL ? name : slash != NULL ? slash + 1 : t->xml.file);
    char *end = strstr(b->name, ".xml");
    if (name == NULL && end != NULL && end > b->name && end[4] == '\0')
        *end = '\0';
    return CLO_OK;
}

clo_status clo_topology_to_platform(const clo_topology *topology, clo_platform **out)
{
    clo_builder b = {.t = topology};
    clo_platform *platform = NULL;
    clo_status status = name_platform(&b);

    if (status == CLO_OK)
        status = build(&b, &platform);
    if (status == CLO_OK)
        status = finish(&b, platform);
    release(&b);
    if (status != CLO_OK)
        return clo_platform_destroy(platform), status;
    *out = platform;
    return CLO_OK;
}

clo_status clo_platform_parse(const char *file, const char *data, size_t bytes, clo_platform **out)
{
    clo_topology topology;
    clo_status status = clo_topology_read(file, data, bytes, &topology);

    if (status != CLO_OK)
        return status;
    status = clo_topology_to_platform(&topology, out);
    clo_topology_free(&topology);
    return status;
}
