/* keys.c - the info attributes that are ours, "clotho.*": where each may stand and what it may say. A misspelt key
 * is an error, not silence. docs/PLATFORM_FILE.md explains them. */
#include "platform/file/keys.h"

#include "base/status.h"
#include "platform/file/parse.h"

#include <string.h>

enum { ON_MACHINE = 1, ON_KIND = 2, ON_CORE = 4, ON_ACCEL = 8, ON_GROUP = 16 };

typedef enum key_kind { KEY_TEXT, KEY_ONE, KEY_BOOL, KEY_NUMBER, KEY_STATUS } key_kind;

static const struct {
    const char *name; /* a final '.' makes it a prefix */
    unsigned places;
    key_kind kind;
    uint64_t min, max;
} keys[] = {
    {"clotho.schema", ON_MACHINE, KEY_ONE, 0, 0},
    {"clotho.platform", ON_MACHINE, KEY_TEXT, 0, 0},
    {"clotho.summary", ON_MACHINE, KEY_TEXT, 0, 0},
    {"clotho.machine", ON_MACHINE, KEY_TEXT, 0, 0},
    {"clotho.coherent", ON_MACHINE, KEY_BOOL, 0, 0},
    {"clotho.mean_includes_self", ON_MACHINE, KEY_BOOL, 0, 0},
    {"clotho.capacity.", ON_MACHINE, KEY_NUMBER, 0, INT64_MAX},
    {"clotho.source.", ON_MACHINE, KEY_TEXT, 0, 0},
    {"clotho.status.", ON_MACHINE, KEY_STATUS, 0, 0},
    {"clotho.two_flows_permille.", ON_MACHINE, KEY_NUMBER, 0, 1000000},
    {"clotho.fit_error.", ON_MACHINE | ON_CORE, KEY_TEXT, 0, 0},
    {"clotho.kind", ON_KIND | ON_CORE | ON_ACCEL, KEY_TEXT, 0, 0},
    {"clotho.speed_q16", ON_KIND | ON_CORE | ON_ACCEL, KEY_NUMBER, 1, UINT32_MAX},
    {"clotho.speed_q16.integer", ON_KIND | ON_CORE | ON_ACCEL, KEY_NUMBER, 1, UINT32_MAX},
    {"clotho.speed_q16.float", ON_KIND | ON_CORE | ON_ACCEL, KEY_NUMBER, 1, UINT32_MAX},
    {"clotho.speed_q16.memory", ON_KIND | ON_CORE | ON_ACCEL, KEY_NUMBER, 1, UINT32_MAX},
    {"clotho.opps", ON_KIND, KEY_TEXT, 0, 0},
    {"clotho.power_mw", ON_KIND | ON_CORE | ON_ACCEL, KEY_NUMBER, 1, 1000000000},
    {"clotho.freq_domain", ON_KIND | ON_CORE | ON_GROUP, KEY_NUMBER, 0, UINT32_MAX},
    {"clotho.memory", ON_CORE | ON_ACCEL, KEY_NUMBER, 0, CLO_EXECUTORS_MAX - 1},
    {"clotho.local_mem_bytes", ON_CORE | ON_ACCEL, KEY_NUMBER, 0, INT64_MAX},
    {"clotho.slots", ON_ACCEL, KEY_NUMBER, 1, CLO_BUILD_SLOTS_MAX},
    {"clotho.depth", ON_ACCEL, KEY_NUMBER, 1, CLO_SLOT_DEPTH_MAX},
    {"clotho.driver", ON_ACCEL, KEY_TEXT, 0, 0},
    {"clotho.device", ON_ACCEL, KEY_TEXT, 0, 0},
    {"clotho.link_latency_ns", ON_ACCEL, KEY_NUMBER, 0, 1000000000000},
    {"clotho.link_bandwidth_MBps", ON_ACCEL, KEY_NUMBER, 0, 1000000000},
};

static unsigned place_of(clo_object_type type, bool is_cpukind)
{
    if (is_cpukind)
        return ON_KIND;
    switch (type) {
    case CLO_OBJECT_MACHINE:
        return ON_MACHINE;
    case CLO_OBJECT_CORE:
    case CLO_OBJECT_PU:
        return ON_CORE;
    case CLO_OBJECT_MISC:
        return ON_ACCEL;
    case CLO_OBJECT_GROUP:
        return ON_GROUP;
    default:
        return 0;
    }
}

static bool matches(size_t key, const char *name)
{
    size_t length = strlen(keys[key].name);

    if (keys[key].name[length - 1] == '.')
        return strncmp(keys[key].name, name, length) == 0 && name[length] != '\0';
    return strcmp(keys[key].name, name) == 0;
}

static bool is_status(const char *value)
{
    return strcmp(value, "measured") == 0 || strcmp(value, "published") == 0 || strcmp(value, "assumed") == 0;
}

static clo_status check_value(const clo_xml *xml, uint32_t node, size_t key, const char *name, const char *value)
{
    uint64_t number;

    switch (keys[key].kind) {
    case KEY_TEXT:
        return value[0] != '\0' ? CLO_OK : clo_xml_fail(xml, node, "%.60s is empty; give it a value", name);
    case KEY_ONE:
        return strcmp(value, "1") == 0
                   ? CLO_OK
                   : clo_xml_fail(xml, node, "%.60s=\"%.60s\"; this library reads schema 1", name, value);
    case KEY_BOOL:
        return clo_parse_u64(value, 1, &number) ? CLO_OK
                                                : clo_xml_fail(xml, node, "%.60s=\"%.60s\"; use 0 or 1", name, value);
    case KEY_STATUS:
        return is_status(value)
                   ? CLO_OK
                   : clo_xml_fail(xml, node, "%.60s=\"%.60s\"; use measured, published or assumed", name, value);
    case KEY_NUMBER:
        break;
    }
    if (clo_parse_u64(value, keys[key].max, &number) && number >= keys[key].min)
        return CLO_OK;
    return clo_xml_fail(xml, node, "%.60s=\"%.60s\"; use a whole number from %llu to %llu", name, value,
                        (unsigned long long)keys[key].min, (unsigned long long)keys[key].max);
}

static clo_status check_key(const clo_xml *xml, uint32_t node, unsigned place, const char *name, const char *value)
{
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        if (!matches(k, name))
            continue;
        if ((keys[k].places & place) == 0)
            return clo_xml_fail(xml, node, "%.60s does not belong here; see docs/PLATFORM_FILE.md", name);
        return check_value(xml, node, k, name, value);
    }
    return clo_xml_fail(xml, node, "unknown key %.60s; see docs/PLATFORM_FILE.md", name);
}

clo_status clo_topology_check_infos(const clo_topology *topology, uint32_t node, clo_object_type type, bool is_cpukind)
{
    const clo_xml *xml = &topology->xml;
    uint32_t ours = 0;

    for (uint32_t n = node + 1; n < xml->nodes[node].end; n = xml->nodes[n].end) {
        if (strcmp(clo_xml_name(xml, n), "info") != 0)
            continue;
        const char *name = clo_xml_get(xml, n, "name"), *value = clo_xml_get(xml, n, "value");
        if (name == NULL || value == NULL)
            return clo_xml_fail(xml, n, "an <info> without %s", "name and value; add them");
        if (strncmp(name, CLO_KEY_PREFIX, strlen(CLO_KEY_PREFIX)) != 0)
            continue;
        if (++ours > 1000)
            return clo_xml_fail(xml, n, "more than 1000 keys of one object; remove %s", "some");
        if (clo_topology_info(topology, node, name) != value)
            return clo_xml_fail(xml, n, "%.60s is there twice; keep one", name);
        clo_status status = check_key(xml, n, place_of(type, is_cpukind), name, value);
        if (status != CLO_OK)
            return status;
    }
    return CLO_OK;
}
