/* topology.c - the object tree of an hwloc XML file.
 *
 * Invariant of an accepted tree: one Machine on top; every ordinary object has PUs below it and states exactly their
 * set; PUs and NUMA nodes have numbers of their own; packages, dies, cores, PUs and cache levels nest in their
 * order. Nothing is recursive: parents come before children, so one pass down and one pass up do everything. */
#include "platform/file/topology.h"

#include "base/memory.h"
#include "base/status.h"
#include "platform/file/keys.h"
#include "platform/file/parse.h"
#include "platform/file/tables.h"
#include "platform/file/usable.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef enum value_kind { VALUE_TEXT, VALUE_UNSIGNED, VALUE_INT, VALUE_SET } value_kind;

/* Every attribute hwloc 2 writes on an object that we read. */
static const struct {
    const char *name;
    value_kind kind;
    uint64_t max;
} object_attributes[] = {
    {"type", VALUE_TEXT, 0},
    {"os_index", VALUE_UNSIGNED, UINT32_MAX},
    {"cpuset", VALUE_SET, 0},
    {"complete_cpuset", VALUE_SET, 0},
    {"allowed_cpuset", VALUE_SET, 0},
    {"nodeset", VALUE_SET, 0},
    {"complete_nodeset", VALUE_SET, 0},
    {"allowed_nodeset", VALUE_SET, 0},
    {"gp_index", VALUE_UNSIGNED, UINT64_MAX},
    {"name", VALUE_TEXT, 0},
    {"subtype", VALUE_TEXT, 0},
    {"id", VALUE_TEXT, 0},
    {"cache_size", VALUE_UNSIGNED, 1ull << 50},
    {"cache_linesize", VALUE_UNSIGNED, 1u << 20},
    {"cache_associativity", VALUE_INT, 1 << 20},
    {"cache_type", VALUE_UNSIGNED, 2},
    {"depth", VALUE_UNSIGNED, 255},
    {"local_memory", VALUE_UNSIGNED, 1ull << 60},
    {"kind", VALUE_UNSIGNED, UINT32_MAX},
    {"subkind", VALUE_UNSIGNED, UINT32_MAX},
    {"dont_merge", VALUE_UNSIGNED, 1},
};

static const struct {
    const char *name;
    clo_object_type type;
    uint32_t level;
} object_types[] = {
    {"Machine", CLO_OBJECT_MACHINE, 0},   {"Package", CLO_OBJECT_PACKAGE, 0}, {"Die", CLO_OBJECT_DIE, 0},
    {"L1Cache", CLO_OBJECT_CACHE, 1},     {"L2Cache", CLO_OBJECT_CACHE, 2},   {"L3Cache", CLO_OBJECT_CACHE, 3},
    {"L4Cache", CLO_OBJECT_CACHE, 4},     {"L5Cache", CLO_OBJECT_CACHE, 5},   {"L1iCache", CLO_OBJECT_ICACHE, 1},
    {"L2iCache", CLO_OBJECT_ICACHE, 2},   {"L3iCache", CLO_OBJECT_ICACHE, 3}, {"Group", CLO_OBJECT_GROUP, 0},
    {"Core", CLO_OBJECT_CORE, 0},         {"PU", CLO_OBJECT_PU, 0},           {"NUMANode", CLO_OBJECT_NUMA, 0},
    {"MemCache", CLO_OBJECT_MEMCACHE, 0}, {"Misc", CLO_OBJECT_MISC, 0},       {"Bridge", CLO_OBJECT_IO, 0},
    {"PCIDev", CLO_OBJECT_IO, 0},         {"OSDev", CLO_OBJECT_IO, 0},
};

static clo_status check_attribute(const clo_xml *xml, uint32_t node, const char *name, const char *value)
{
    for (size_t i = 0; i < sizeof object_attributes / sizeof object_attributes[0]; i++) {
        uint64_t number;
        int64_t integer;
        clo_set set;
        if (strcmp(object_attributes[i].name, name) != 0)
            continue;
        switch (object_attributes[i].kind) {
        case VALUE_TEXT:
            return CLO_OK;
        case VALUE_UNSIGNED:
            if (clo_parse_u64(value, object_attributes[i].max, &number))
                return CLO_OK;
            break;
        case VALUE_INT:
            if (clo_parse_int(value, (int64_t)object_attributes[i].max, &integer))
                return CLO_OK;
            break;
        case VALUE_SET:
            if (clo_parse_set(value, &set))
                return CLO_OK;
            return clo_xml_fail(xml, node, "%s=\"%.60s\" is not an hwloc set below %u; write e.g. 0x0000000f", name,
                                value, CLO_SET_BITS);
        }
        return clo_xml_fail(xml, node, "%s=\"%.60s\" is not a whole number from 0 to %llu", name, value,
                            (unsigned long long)object_attributes[i].max);
    }
    return clo_xml_fail(xml, node, "unknown attribute %.60s of an object; remove it", name);
}

static clo_status check_attributes(const clo_xml *xml, uint32_t node)
{
    clo_status status = CLO_OK;

    for (uint32_t a = xml->nodes[node].attributes_begin; a < xml->nodes[node].attributes_end && status == CLO_OK; a++)
        status = check_attribute(xml, node, xml->pool + xml->attributes[a].name, xml->pool + xml->attributes[a].value);
    return status;
}

static clo_status read_type(const clo_xml *xml, uint32_t node, clo_object *object)
{
    const char *type = clo_xml_get(xml, node, "type");

    if (type == NULL)
        return clo_xml_fail(xml, node, "an object without %s; hwloc 2 writes it", "type");
    for (size_t i = 0; i < sizeof object_types / sizeof object_types[0]; i++)
        if (strcmp(object_types[i].name, type) == 0) {
            object->type = object_types[i].type;
            object->level = object_types[i].level;
            return CLO_OK;
        }
    return clo_xml_fail(xml, node, "unknown object type \"%.60s\"; see docs/PLATFORM_FILE.md", type);
}

/* Whether `inner` may lie somewhere below `outer`, both ordinary. */
static bool may_contain(const clo_object *outer, const clo_object *inner)
{
    bool outer_cache = outer->type == CLO_OBJECT_CACHE || outer->type == CLO_OBJECT_ICACHE;

    if (inner->type == CLO_OBJECT_MACHINE || outer->type == CLO_OBJECT_PU)
        return false;
    if (outer->type == CLO_OBJECT_GROUP || inner->type == CLO_OBJECT_GROUP)
        return true;
    if (outer_cache && outer->type == inner->type)
        return outer->level > inner->level;
    if (outer_cache)
        return inner->type != CLO_OBJECT_PACKAGE;
    if (inner->type == CLO_OBJECT_CACHE || inner->type == CLO_OBJECT_ICACHE)
        return true;
    return outer->type < inner->type;
}

static clo_status check_place(const clo_topology *topology, const clo_object *object)
{
    const clo_object *parent = &topology->objects[object->parent];

    if (!clo_object_is_ordinary(object->type)) {
        bool right = object->type == CLO_OBJECT_MISC ||
                     (clo_object_is_ordinary(parent->type) && parent->type != CLO_OBJECT_PU) ||
                     (object->type == CLO_OBJECT_NUMA && parent->type == CLO_OBJECT_MEMCACHE);
        return right ? CLO_OK : clo_xml_fail(&topology->xml, object->node, "a memory object cannot lie %s", "here");
    }
    for (uint32_t o = object->parent; o != CLO_NONE; o = topology->objects[o].parent)
        if (!clo_object_is_ordinary(topology->objects[o].type) || !may_contain(&topology->objects[o], object))
            return clo_xml_fail(&topology->xml, object->node, "a %.20s cannot lie inside a %.20s",
                                clo_xml_get(&topology->xml, object->node, "type"),
                                clo_xml_get(&topology->xml, topology->objects[o].node, "type"));
    return CLO_OK;
}

/* The innermost object whose XML node contains `node`; `last` is the latest one read. */
static uint32_t find_parent(const clo_topology *topology, uint32_t last, uint32_t node)
{
    while (last != CLO_NONE && topology->xml.nodes[topology->objects[last].node].end <= node)
        last = topology->objects[last].parent;
    return last;
}

static clo_status read_object(clo_topology *topology, uint32_t node)
{
    void *objects = topology->objects;
    clo_object object = {.node = node, .os_index = CLO_NONE};
    uint64_t number;
    clo_status status = read_type(&topology->xml, node, &object);

    object.parent = find_parent(topology, (uint32_t)topology->objects_count - 1, node);
    if (status == CLO_OK && object.parent == CLO_NONE && object.type != CLO_OBJECT_MACHINE)
        status =
            clo_xml_fail(&topology->xml, node, "the first object is not a %s", "Machine; export the whole machine");
    if (status != CLO_OK || object.type == CLO_OBJECT_IO)
        return status;
    status = check_attributes(&topology->xml, node);
    if (status == CLO_OK)
        status = clo_topology_check_infos(topology, node, object.type, false);
    if (status == CLO_OK && object.parent != CLO_NONE)
        status = check_place(topology, &object);
    if (status != CLO_OK)
        return status;
    if (clo_xml_get(&topology->xml, node, "os_index") != NULL &&
        clo_parse_u64(clo_xml_get(&topology->xml, node, "os_index"), UINT32_MAX, &number))
        object.os_index = (uint32_t)number;

    if (clo_grow(&objects, &topology->objects_capacity, topology->objects_count + 1, sizeof object) != 0)
        return clo_fail_memory("a topology");
    topology->objects = objects;
    topology->objects[topology->objects_count++] = object;
    return CLO_OK;
}

/* Elements that may lie below an object. Returns the node to go on with, 0 after a failure. */
static uint32_t read_below(clo_topology *topology, uint32_t node, clo_status *status)
{
    const char *name = clo_xml_name(&topology->xml, node);
    const clo_xml_node *at = &topology->xml.nodes[node];
    bool skip = strcmp(name, "info") == 0 || strcmp(name, "page_type") == 0 || strcmp(name, "userdata") == 0;

    if (strcmp(name, "object") == 0) {
        size_t before = topology->objects_count;
        *status = read_object(topology, node);
        return *status != CLO_OK ? 0 : topology->objects_count == before ? at->end : node + 1;
    }
    if (!skip)
        *status = clo_xml_fail(&topology->xml, node, "unknown element <%.60s> in an object; remove it", name);
    return skip ? at->end : 0;
}

static clo_status read_objects(clo_topology *topology, uint32_t root)
{
    clo_status status = CLO_OK;
    uint32_t end = topology->xml.nodes[root].end;

    for (uint32_t node = root; node < end && status == CLO_OK;) {
        uint32_t next = read_below(topology, node, &status);
        assert(status != CLO_OK || next > node);
        node = next;
    }
    return status;
}

static uint32_t count_type(const clo_topology *topology, clo_object_type type)
{
    uint32_t count = 0;

    for (size_t o = 0; o < topology->objects_count; o++)
        count += topology->objects[o].type == type;
    return count;
}

static bool is_accel(const clo_topology *topology, const clo_object *object)
{
    const char *name = clo_xml_get(&topology->xml, object->node, "name");

    return object->type == CLO_OBJECT_MISC && name != NULL && strncmp(name, "accel:", 6) == 0;
}

static clo_status allocate_indexes(clo_topology *topology)
{
    const clo_object *root = &topology->objects[0];
    uint32_t pus = count_type(topology, CLO_OBJECT_PU), misc = count_type(topology, CLO_OBJECT_MISC);

    if (pus == 0)
        return clo_xml_fail(&topology->xml, root->node, "no %s: zero executors", "PU");
    if (pus + misc > CLO_EXECUTORS_MAX)
        return clo_fail(CLO_ERR_LIMIT, "%s: %u PUs; at most %u", topology->xml.file, pus, CLO_EXECUTORS_MAX);
    if (count_type(topology, CLO_OBJECT_NUMA) == 0)
        return clo_xml_fail(&topology->xml, root->node, "no %s object: hwloc 2 always has one", "NUMANode");
    topology->pus = clo_allocate(pus, sizeof(uint32_t));
    topology->numas = clo_allocate(count_type(topology, CLO_OBJECT_NUMA), sizeof(uint32_t));
    topology->accels = clo_allocate(misc, sizeof(uint32_t));
    topology->pu_of_cpu = clo_allocate(CLO_CPUS_MAX, sizeof(uint32_t));
    topology->numa_of_os = clo_allocate(CLO_CPUS_MAX, sizeof(uint32_t));
    topology->kind_of_pu = clo_allocate(pus, sizeof(uint32_t));
    if (topology->pus == NULL || topology->numas == NULL || topology->accels == NULL || topology->pu_of_cpu == NULL ||
        topology->numa_of_os == NULL || topology->kind_of_pu == NULL)
        return clo_fail_memory("a topology");
    memset(topology->pu_of_cpu, 0xff, CLO_CPUS_MAX * sizeof(uint32_t));
    memset(topology->numa_of_os, 0xff, CLO_CPUS_MAX * sizeof(uint32_t));
    memset(topology->kind_of_pu, 0xff, pus * sizeof(uint32_t));
    return CLO_OK;
}

static clo_status check_number(const clo_topology *topology, const clo_object *object)
{
    if (object->os_index >= CLO_CPUS_MAX)
        return clo_xml_fail(&topology->xml, object->node, "a PU or NUMANode needs an os_index below %u", CLO_CPUS_MAX);
    return CLO_OK;
}

/* Takes object `index` into list[*count], and the table by its number. what, all: one of its kind, and several. */
static clo_status index_once(clo_topology *topology, uint32_t index, const char *what, const char *all,
                             uint32_t *by_number, uint32_t *list, uint32_t *count)
{
    const clo_object *object = &topology->objects[index];
    clo_status status = check_number(topology, object);

    if (status != CLO_OK)
        return status;
    if (by_number[object->os_index] != CLO_NONE)
        return clo_xml_fail(&topology->xml, object->node, "%s %u is there twice; number %s uniquely", what,
                            object->os_index, all);
    by_number[object->os_index] = *count;
    list[(*count)++] = index;
    return CLO_OK;
}

static clo_status index_objects(clo_topology *topology)
{
    clo_status status = CLO_OK;

    for (uint32_t o = 0; o < topology->objects_count && status == CLO_OK; o++) {
        clo_object *object = &topology->objects[o];
        object->pus_begin = topology->pus_count;
        if (object->type == CLO_OBJECT_PU)
            status = index_once(topology, o, "PU", "PUs", topology->pu_of_cpu, topology->pus, &topology->pus_count);
        else if (object->type == CLO_OBJECT_NUMA)
            status = index_once(topology, o, "NUMANode", "nodes", topology->numa_of_os, topology->numas,
                                &topology->numas_count);
        else if (is_accel(topology, object))
            topology->accels[topology->accels_count++] = o;
        object->pus_end = topology->pus_count;
    }
    for (size_t o = topology->objects_count; o-- > 1;) { /* children come after their parents */
        clo_object *object = &topology->objects[o], *parent = &topology->objects[object->parent];
        if (clo_object_is_ordinary(object->type) && parent->pus_end < object->pus_end)
            parent->pus_end = object->pus_end;
    }
    return status;
}

/* The stated set of an ordinary object is exactly what lies below it. */
static clo_status check_cpuset(const clo_topology *topology, const clo_object *object)
{
    const clo_xml *xml = &topology->xml;
    const char *text = clo_xml_get(xml, object->node, "cpuset");
    uint32_t count = object->pus_end - object->pus_begin;
    clo_set set;

    if (count == 0)
        return clo_xml_fail(xml, object->node, "no PU inside this %.20s; remove it",
                            clo_xml_get(xml, object->node, "type"));
    if (text == NULL || !clo_parse_set(text, &set))
        return clo_xml_fail(xml, object->node, "an object without %s; hwloc 2 writes it", "cpuset");
    clo_topology_allow(topology, &set);
    bool same = !set.infinite && clo_set_count(&set) == count;
    for (uint32_t p = object->pus_begin; p < object->pus_end && same; p++)
        same = clo_set_has(&set, topology->objects[topology->pus[p]].os_index);
    return same ? CLO_OK
                : clo_xml_fail(xml, object->node, "cpuset %.60s is not the set of the %u PUs inside; correct it", text,
                               count);
}

static clo_status check_sets(clo_topology *topology)
{
    clo_status status = CLO_OK;

    for (size_t o = 0; o < topology->objects_count && status == CLO_OK; o++) {
        clo_object *object = &topology->objects[o];
        if (clo_object_is_ordinary(object->type)) {
            status = check_cpuset(topology, object);
        } else { /* parents are done: a memory belongs to the PUs of what it hangs on */
            object->pus_begin = topology->objects[object->parent].pus_begin;
            object->pus_end = topology->objects[object->parent].pus_end;
        }
    }
    return status;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static int by_gp_index(const void *left, const void *right)
{
    const clo_topology_numa *a = left, *b = right;

    return (a->gp_index > b->gp_index) - (a->gp_index < b->gp_index);
}

/* A node that may be used, or any where none of those that may is in the file. */
static bool is_usable_numa(const clo_topology *topology, uint32_t numa, bool is_any)
{
    return is_any || clo_set_has(topology->allowed_nodes, topology->objects[topology->numas[numa]].os_index);
}

static uint32_t holder_of(const clo_topology *topology, uint32_t numa)
{
    uint32_t on = topology->objects[topology->numas[numa]].parent;

    while (topology->objects[on].type == CLO_OBJECT_MEMCACHE)
        on = topology->objects[on].parent;
    return on;
}

/* The nearest node for what has none of its own: one inside the same object. Ends: objects above one that has a node
 * get one too. */
static void hang_numas(clo_topology *topology)
{
    uint32_t usable = 0;

    for (uint32_t n = 0; n < topology->numas_count && topology->allowed_nodes != NULL; n++)
        usable += is_usable_numa(topology, n, false);
    for (uint32_t n = 0; n < topology->numas_count; n++) {
        uint32_t on = holder_of(topology, n);
        if (topology->numa_below[on] == CLO_NONE && is_usable_numa(topology, n, usable == 0))
            topology->numa_below[on] = n;
    }
    for (uint32_t n = 0; n < topology->numas_count; n++) {
        uint32_t on = topology->objects[holder_of(topology, n)].parent;
        for (; is_usable_numa(topology, n, usable == 0) && on != CLO_NONE && topology->numa_below[on] == CLO_NONE;
             on = topology->objects[on].parent)
            topology->numa_below[on] = n;
    }
}

/* Where each NUMA node hangs, and which has which gp_index; after the objects are indexed. */
static clo_status index_numas(clo_topology *topology)
{
    topology->numa_below = clo_allocate(topology->objects_count, sizeof *topology->numa_below);
    topology->numas_by_gp = clo_allocate(topology->numas_count, sizeof *topology->numas_by_gp);
    if (topology->numa_below == NULL || topology->numas_by_gp == NULL)
        return clo_fail_memory("a topology");
    memset(topology->numa_below, 0xff, topology->objects_count * sizeof *topology->numa_below);
    hang_numas(topology);
    for (uint32_t n = 0; n < topology->numas_count; n++) {
        const clo_object *object = &topology->objects[topology->numas[n]];
        const char *gp_index = clo_xml_get(&topology->xml, object->node, "gp_index");
        uint64_t number;
        if (gp_index != NULL && clo_parse_u64(gp_index, UINT64_MAX, &number))
            topology->numas_by_gp[topology->gps_count++] = (clo_topology_numa){number, n};
    }
    qsort(topology->numas_by_gp, topology->gps_count, sizeof *topology->numas_by_gp, by_gp_index);
    return CLO_OK;
}

/* gp_index names objects in other parts of the file: it must be unique. */
static clo_status check_gp_indexes(const clo_topology *topology)
{
    uint64_t *all = clo_allocate(topology->objects_count, sizeof *all);
    size_t count = 0;
    clo_status status = CLO_OK;

    if (all == NULL)
        return clo_fail_memory("a topology");
    for (size_t o = 0; o < topology->objects_count; o++) {
        const char *text = clo_xml_get(&topology->xml, topology->objects[o].node, "gp_index");
        if (text != NULL && clo_parse_u64(text, UINT64_MAX, &all[count]))
            count++;
    }
    qsort(all, count, sizeof *all, by_value);
    for (size_t i = 1; i < count && status == CLO_OK; i++)
        if (all[i] == all[i - 1])
            status = clo_fail(CLO_ERR_FORMAT, "%s: gp_index %llu is there twice; number objects uniquely",
                              topology->xml.file, (unsigned long long)all[i]);
    clo_free(all);
    return status;
}

static clo_status find_root(const clo_topology *topology, uint32_t *root)
{
    const clo_xml *xml = &topology->xml;
    const char *version = clo_xml_get(xml, 0, "version");

    if (strcmp(clo_xml_name(xml, 0), "topology") != 0)
        return clo_xml_fail(xml, 0, "the document is a <%.60s>, no <topology>; give an hwloc XML file",
                            clo_xml_name(xml, 0));
    if (version == NULL || strncmp(version, "2.", 2) != 0)
        return clo_xml_fail(xml, 0, "topology version \"%.20s\"; export it with hwloc 2", version ? version : "");
    if (xml->nodes[0].end <= 1 || strcmp(clo_xml_name(xml, 1), "object") != 0)
        return clo_xml_fail(xml, 0, "<topology> does not start with an %s", "<object>");
    *root = 1;
    return CLO_OK;
}

static clo_status read_all(clo_topology *topology)
{
    uint32_t root = 0;
    clo_status status = find_root(topology, &root);

    if (status == CLO_OK)
        status = clo_topology_index_infos(topology);
    if (status == CLO_OK)
        status = read_objects(topology, root);
    if (status == CLO_OK)
        status = clo_topology_leave_out(topology);
    if (status == CLO_OK)
        status = allocate_indexes(topology);
    if (status == CLO_OK)
        status = index_objects(topology);
    if (status == CLO_OK)
        status = index_numas(topology);
    if (status == CLO_OK)
        status = check_sets(topology);
    if (status == CLO_OK)
        status = check_gp_indexes(topology);
    if (status == CLO_OK)
        status = clo_topology_read_tables(topology);
    return status;
}

clo_status clo_topology_read(const char *file, const char *data, size_t bytes, clo_topology *out)
{
    clo_topology topology = {0};
    clo_status status = clo_xml_read(file, data, bytes, &topology.xml);

    if (status == CLO_OK)
        status = read_all(&topology);
    if (status != CLO_OK)
        return clo_topology_free(&topology), status;
    *out = topology;
    return CLO_OK;
}
