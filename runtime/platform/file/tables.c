/* tables.c - what an hwloc XML file says beside its objects: distance matrices, memory attributes, CPU kinds.
 *
 * Read are the matrices clotho.c2c_latency_ns, clotho.c2c_bandwidth_MBps and clotho.c2c_bandwidth_MBps.BYTES (what
 * holds from so many bytes on) between PUs, NUMALatency between NUMA nodes, the memory attributes Latency and Bandwidth
 * with a cpuset as initiator, and every cpukind. Other tables are checked for their shape and passed over. */
#include "platform/file/tables.h"

#include "base/memory.h"
#include "base/status.h"
#include "platform/file/keys.h"
#include "platform/file/parse.h"
#include "platform/file/usable.h"

#include <assert.h>
#include <string.h>

#define BANDWIDTH_NAME "clotho.c2c_bandwidth_MBps"
#define BANDWIDTH_MAX 1000000000 /* MB/s */

enum { KIND_FROM_OS = 1, KIND_FROM_USER = 2, KIND_LATENCY = 4, KIND_BANDWIDTH = 8, KIND_MAX = 31 };

/* One distances2 element. */
typedef struct matrix {
    uint32_t node;
    const char *name; /* "" if it has none */
    bool on_pus, on_numas, by_os_index;
    uint64_t kind, size;
} matrix;

static clo_status number_of(const clo_xml *xml, uint32_t node, const char *name, uint64_t max, uint64_t *out)
{
    const char *text = clo_xml_get(xml, node, name);

    if (text == NULL)
        return clo_xml_fail(xml, node, "<%.30s> without %s; hwloc 2 writes it", clo_xml_name(xml, node), name);
    if (!clo_parse_u64(text, max, out))
        return clo_xml_fail(xml, node, "%s=\"%.60s\" is not a whole number from 0 to %llu", name, text,
                            (unsigned long long)max);
    return CLO_OK;
}

static clo_status read_header(const clo_topology *topology, matrix *m)
{
    const clo_xml *xml = &topology->xml;
    const char *type = clo_xml_get(xml, m->node, "type"), *indexing = clo_xml_get(xml, m->node, "indexing");
    clo_status status = number_of(xml, m->node, "nbobjs", CLO_CPUS_MAX, &m->size);

    if (status == CLO_OK)
        status = number_of(xml, m->node, "kind", KIND_MAX, &m->kind);
    if (status != CLO_OK)
        return status;
    bool one_origin = (m->kind & KIND_FROM_OS) == 0 || (m->kind & KIND_FROM_USER) == 0;
    bool one_meaning = ((m->kind & KIND_LATENCY) != 0) != ((m->kind & KIND_BANDWIDTH) != 0);
    if (!one_origin || !one_meaning)
        return clo_xml_fail(xml, m->node, "kind=\"%llu\" of a matrix is neither latency nor bandwidth; use 6 or 10",
                            (unsigned long long)m->kind);
    if (type == NULL || indexing == NULL || (strcmp(indexing, "os") != 0 && strcmp(indexing, "gp") != 0))
        return clo_xml_fail(xml, m->node, "a matrix needs type and indexing=%s", "\"os\" or \"gp\"");
    if (m->size < 2)
        return clo_xml_fail(xml, m->node, "a matrix of %llu objects; it takes two", (unsigned long long)m->size);
    m->name = clo_xml_get(xml, m->node, "name");
    m->name = m->name == NULL ? "" : m->name;
    m->on_pus = strcmp(type, "PU") == 0;
    m->on_numas = strcmp(type, "NUMANode") == 0;
    m->by_os_index = strcmp(indexing, "os") == 0;
    return CLO_OK;
}

/* Reads the numbers in the <element>s below `m`: stores number k at out[k] if out is given and k < limit; *count
 * receives how many there are. */
static clo_status read_values(const clo_xml *xml, const matrix *m, const char *element, uint64_t *out, uint64_t limit,
                              uint64_t *count)
{
    uint64_t read = 0, value = 0, length = 0;

    for (uint32_t n = m->node + 1; n < xml->nodes[m->node].end; n = xml->nodes[n].end) {
        if (strcmp(clo_xml_name(xml, n), element) != 0)
            continue;
        const char *text = clo_xml_text(xml, n);
        clo_status status = number_of(xml, n, "length", CLO_XML_BYTES_MAX, &length);
        if (status != CLO_OK)
            return status;
        if (length != strlen(text))
            return clo_xml_fail(xml, n, "length=\"%llu\" but the text has %zu characters; correct it",
                                (unsigned long long)length, strlen(text));
        int more;
        while ((more = clo_parse_next_u64(&text, &value)) == 1) {
            if (out != NULL && read < limit)
                out[read] = value;
            read++;
        }
        if (more < 0)
            return clo_xml_fail(xml, n, "\"%.40s\" in <%s> is not a whole number >= 0", text, element);
    }
    *count = read;
    return CLO_OK;
}

static clo_status check_shape(const clo_xml *xml, const matrix *m)
{
    uint64_t indexes = 0, values = 0;
    clo_status status = read_values(xml, m, "indexes", NULL, 0, &indexes);

    for (uint32_t n = m->node + 1; n < xml->nodes[m->node].end; n = xml->nodes[n].end) {
        const char *name = clo_xml_name(xml, n);
        if (strcmp(name, "indexes") != 0 && strcmp(name, "u64values") != 0 && strcmp(name, "info") != 0)
            return clo_xml_fail(xml, n, "unknown element <%.60s> in a matrix; remove it", name);
    }
    if (status == CLO_OK)
        status = read_values(xml, m, "u64values", NULL, 0, &values);
    if (status != CLO_OK)
        return status;
    if (indexes != m->size || values != m->size * m->size)
        return clo_xml_fail(xml, m->node,
                            "matrix \"%.60s\" of %llu objects has %llu indexes and %llu values; it needs "
                            "%llu and %llu",
                            m->name, (unsigned long long)m->size, (unsigned long long)indexes,
                            (unsigned long long)values, (unsigned long long)m->size,
                            (unsigned long long)m->size * m->size);
    return CLO_OK;
}

static uint32_t position_of(const clo_topology *topology, const matrix *m, uint64_t os_index)
{
    if (os_index >= CLO_CPUS_MAX)
        return CLO_NONE;
    return m->on_pus ? topology->pu_of_cpu[os_index] : topology->numa_of_os[os_index];
}

/* Objects that the matrix may name beside those that are there. */
static uint32_t left_out(const clo_topology *topology, const matrix *m)
{
    return m->on_pus ? topology->pus_left_out : 0;
}

/* The matrix covers every one of `count` objects once, and may cover those that are left out: turns its indexes into
 * positions, in place. */
static clo_status map_indexes(const clo_topology *topology, const matrix *m, uint64_t *indexes, uint32_t count)
{
    const clo_xml *xml = &topology->xml;
    uint8_t *seen = clo_allocate(count, 1);
    uint32_t missing = 0;
    clo_status status = CLO_OK;

    assert(indexes != NULL);
    if (seen == NULL)
        return clo_fail_memory("a matrix");
    for (uint32_t i = 0; i < m->size && status == CLO_OK; i++) {
        uint32_t position = position_of(topology, m, indexes[i]);
        bool is_left_out = position == CLO_NONE && missing < m->size - count;
        missing += is_left_out;
        if (!is_left_out && (position == CLO_NONE || seen[position]))
            status =
                clo_xml_fail(xml, m->node, "index %llu of matrix \"%.60s\" is no object of this file, or there twice",
                             (unsigned long long)indexes[i], m->name);
        else if (!is_left_out)
            seen[position] = 1;
        indexes[i] = position;
    }
    clo_free(seen);
    return status;
}

static clo_status scatter(const clo_topology *topology, const matrix *m, const uint64_t *indexes,
                          const uint64_t *values, uint32_t count, uint64_t max, uint64_t *out)
{
    for (uint64_t row = 0; row < m->size; row++)
        for (uint64_t column = 0; column < m->size; column++) {
            uint64_t value = values[row * m->size + column];
            if (indexes[row] == CLO_NONE || indexes[column] == CLO_NONE)
                continue;
            if (value > max)
                return clo_xml_fail(&topology->xml, m->node, "matrix \"%.60s\": %llu is more than %llu", m->name,
                                    (unsigned long long)value, (unsigned long long)max);
            out[indexes[row] * count + indexes[column]] = value;
        }
    return CLO_OK;
}

static clo_status take_matrix(const clo_topology *topology, const matrix *m, uint32_t count, uint64_t max,
                              uint64_t **out)
{
    size_t cells = (size_t)m->size * m->size;
    uint64_t got;

    if (*out != NULL)
        return clo_xml_fail(&topology->xml, m->node, "matrix \"%.60s\" is there twice; keep one", m->name);
    if (m->size < count || m->size > count + left_out(topology, m) || !m->by_os_index)
        return clo_xml_fail(&topology->xml, m->node, "matrix \"%.60s\" must cover all %u objects, with indexing=\"os\"",
                            m->name, count);
    uint64_t *indexes = clo_allocate(m->size, sizeof(uint64_t)), *values = clo_allocate(cells, sizeof(uint64_t));
    uint64_t *result = clo_allocate((size_t)count * count, sizeof(uint64_t));
    clo_status status = indexes == NULL || values == NULL || result == NULL ? clo_fail_memory("a matrix") : CLO_OK;
    if (status == CLO_OK)
        status = read_values(&topology->xml, m, "indexes", indexes, m->size, &got);
    if (status == CLO_OK)
        status = read_values(&topology->xml, m, "u64values", values, cells, &got);
    if (status == CLO_OK)
        status = map_indexes(topology, m, indexes, count);
    if (status == CLO_OK)
        status = scatter(topology, m, indexes, values, count, max, result);
    clo_free(indexes);
    clo_free(values);
    if (status != CLO_OK)
        return clo_free(result), status;
    *out = result;
    return CLO_OK;
}

/* "clotho.c2c_bandwidth_MBps.32768": the bandwidths of the piece that begins there. */
static clo_status read_piece(clo_topology *topology, const matrix *m)
{
    const clo_xml *xml = &topology->xml;
    const char *text = m->name + strlen(BANDWIDTH_NAME) + 1;
    uint64_t bytes = 0, before = topology->cuts_count == 0 ? 0 : topology->cut_bytes[topology->cuts_count - 1];

    if (!m->on_pus || (m->kind & KIND_BANDWIDTH) == 0)
        return clo_xml_fail(xml, m->node, "matrix \"%.60s\" needs type=\"PU\" and kind=\"10\"", m->name);
    if (!clo_parse_u64(text, CLO_CUT_BYTES_MAX, &bytes) || bytes == 0)
        return clo_xml_fail(xml, m->node, "matrix \"%.60s\" must end in the bytes from which it holds, 1 to %llu",
                            m->name, (unsigned long long)CLO_CUT_BYTES_MAX);
    if (topology->cuts_count + 1 == CLO_LINK_PIECES_MAX)
        return clo_xml_fail(xml, m->node, "matrix \"%.60s\" makes more than %d pieces of the links; remove some",
                            m->name, CLO_LINK_PIECES_MAX);
    if (bytes <= before)
        return clo_xml_fail(xml, m->node,
                            "matrix \"%.60s\" comes after the one from %llu bytes; order the pieces by their bytes, "
                            "each once",
                            m->name, (unsigned long long)before);
    clo_status status =
        take_matrix(topology, m, topology->pus_count, BANDWIDTH_MAX, &topology->beyond_mbps[topology->cuts_count]);
    if (status == CLO_OK)
        topology->cut_bytes[topology->cuts_count++] = bytes;
    return status;
}

static clo_status read_distances(clo_topology *topology, uint32_t node)
{
    matrix m = {.node = node};
    clo_status status = read_header(topology, &m);

    if (status == CLO_OK)
        status = check_shape(&topology->xml, &m);
    if (status != CLO_OK)
        return status;
    bool latency = strcmp(m.name, "clotho.c2c_latency_ns") == 0;
    bool bandwidth = strcmp(m.name, BANDWIDTH_NAME) == 0;
    if (strncmp(m.name, BANDWIDTH_NAME ".", sizeof BANDWIDTH_NAME) == 0)
        return read_piece(topology, &m);
    if (latency || bandwidth) {
        if (!m.on_pus || (m.kind & (latency ? KIND_LATENCY : KIND_BANDWIDTH)) == 0)
            return clo_xml_fail(&topology->xml, node, "matrix \"%.60s\" needs type=\"PU\" and kind=\"%d\"", m.name,
                                latency ? 6 : 10);
        return take_matrix(topology, &m, topology->pus_count, latency ? 1000000000000 : BANDWIDTH_MAX,
                           latency ? &topology->c2c_latency_ns : &topology->c2c_bandwidth_mbps);
    }
    if (strncmp(m.name, CLO_KEY_PREFIX, strlen(CLO_KEY_PREFIX)) == 0)
        return clo_xml_fail(&topology->xml, node, "unknown matrix \"%.60s\"; see docs/PLATFORM_FILE.md", m.name);
    if (strcmp(m.name, "NUMALatency") == 0 && m.on_numas && m.size == topology->numas_count && m.by_os_index)
        return take_matrix(topology, &m, topology->numas_count, 1000000, &topology->numa_distance);
    return CLO_OK;
}

static uint32_t find_numa(const clo_topology *topology, const char *gp_index)
{
    uint32_t low = 0, high = topology->gps_count;
    uint64_t wanted;

    if (gp_index == NULL || !clo_parse_u64(gp_index, UINT64_MAX, &wanted))
        return CLO_NONE;
    while (low < high) { /* the first that is not below the wanted one */
        uint32_t middle = low + (high - low) / 2;
        if (topology->numas_by_gp[middle].gp_index < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < topology->gps_count && topology->numas_by_gp[low].gp_index == wanted;
    return found ? topology->numas_by_gp[low].numa : CLO_NONE;
}

/* The first PU of the set whose os_index is at least *cpu, which moves behind it; CLO_NONE: no more. The cost of all
 * calls is the size of the set, whatever the number of PUs. */
static uint32_t next_pu(const clo_topology *topology, const clo_set *set, uint32_t *cpu)
{
    while (*cpu < CLO_SET_BITS) {
        uint64_t rest = set->words[*cpu / 64] >> (*cpu % 64);
        if (rest == 0) {
            *cpu = (*cpu / 64 + 1) * 64;
            continue;
        }
        *cpu += (uint32_t)__builtin_ctzll(rest) + 1;
        if (topology->pu_of_cpu[*cpu - 1] != CLO_NONE)
            return topology->pu_of_cpu[*cpu - 1];
    }
    return CLO_NONE;
}

static clo_status read_memory_value(const clo_topology *topology, uint32_t node, uint64_t *table)
{
    const clo_xml *xml = &topology->xml;
    const char *cpuset = clo_xml_get(xml, node, "initiator_cpuset");
    uint32_t numa = find_numa(topology, clo_xml_get(xml, node, "target_obj_gp_index"));
    uint64_t value = 0;
    clo_set set;
    clo_status status = number_of(xml, node, "value", 1000000000000, &value);

    if (status != CLO_OK || cpuset == NULL) /* an initiator that is an object: not ours */
        return status;
    if (!clo_parse_set(cpuset, &set))
        return clo_xml_fail(xml, node, "initiator_cpuset=\"%.60s\" is not an hwloc set", cpuset);
    for (uint32_t cpu = 0, p; numa != CLO_NONE && (p = next_pu(topology, &set, &cpu)) != CLO_NONE;)
        table[(size_t)numa * topology->pus_count + p] = value;
    return CLO_OK;
}

static clo_status read_memattr(clo_topology *topology, uint32_t node)
{
    const clo_xml *xml = &topology->xml;
    const char *name = clo_xml_get(xml, node, "name");
    uint64_t **table = NULL;
    clo_status status = CLO_OK;

    if (name == NULL)
        return clo_xml_fail(xml, node, "a <memattr> without %s", "name");
    if (strcmp(name, "Latency") == 0)
        table = &topology->memory_latency_ns;
    else if (strcmp(name, "Bandwidth") == 0)
        table = &topology->memory_bandwidth_mibps;
    if (table == NULL)
        return CLO_OK;
    if (*table != NULL)
        return clo_xml_fail(xml, node, "memattr \"%.60s\" is there twice; keep one", name);
    *table = clo_allocate((size_t)topology->numas_count * topology->pus_count, sizeof(uint64_t));
    if (*table == NULL)
        return clo_fail_memory("a memory attribute");
    for (uint32_t n = node + 1; n < xml->nodes[node].end && status == CLO_OK; n = xml->nodes[n].end)
        if (strcmp(clo_xml_name(xml, n), "memattr_value") == 0)
            status = read_memory_value(topology, n, *table);
        else
            status = clo_xml_fail(xml, n, "unknown element <%.60s> in a memattr; remove it", clo_xml_name(xml, n));
    return status;
}

/* *has_pus: one of them at least may be used. */
static clo_status take_kind_set(clo_topology *topology, uint32_t node, clo_set *set, bool *has_pus)
{
    uint32_t found = 0, stated = clo_set_count(set);

    clo_topology_allow(topology, set);
    *has_pus = stated == 0 || clo_set_count(set) > 0;
    for (uint32_t cpu = 0, p; (p = next_pu(topology, set, &cpu)) != CLO_NONE;) {
        if (topology->kind_of_pu[p] != CLO_NONE)
            return clo_xml_fail(&topology->xml, node, "PU %u is in two cpukinds; keep one",
                                topology->objects[topology->pus[p]].os_index);
        topology->kind_of_pu[p] = topology->kinds_count;
        found++;
    }
    if (set->infinite || found != clo_set_count(set) || stated == 0)
        return clo_xml_fail(&topology->xml, node,
                            "cpuset %.60s of a cpukind names PUs that this file lacks; correct it",
                            clo_xml_get(&topology->xml, node, "cpuset"));
    return CLO_OK;
}

static clo_status read_cpukind(clo_topology *topology, uint32_t node)
{
    const clo_xml *xml = &topology->xml;
    const char *cpuset = clo_xml_get(xml, node, "cpuset"), *efficiency = clo_xml_get(xml, node, "forced_efficiency");
    int64_t number;
    clo_set set;
    bool has_pus = false;

    if (cpuset == NULL || !clo_parse_set(cpuset, &set))
        return clo_xml_fail(xml, node, "a cpukind needs a %s, e.g. 0x0000000f", "cpuset");
    if (efficiency != NULL && !clo_parse_int(efficiency, INT32_MAX, &number))
        return clo_xml_fail(xml, node, "forced_efficiency=\"%.60s\" is not a whole number >= -1", efficiency);
    for (uint32_t n = node + 1; n < xml->nodes[node].end; n = xml->nodes[n].end)
        if (strcmp(clo_xml_name(xml, n), "info") != 0)
            return clo_xml_fail(xml, n, "unknown element <%.60s> in a cpukind; remove it", clo_xml_name(xml, n));
    clo_status status = clo_topology_check_infos(topology, node, CLO_OBJECT_MACHINE, true);
    if (status == CLO_OK)
        status = take_kind_set(topology, node, &set, &has_pus);
    if (status == CLO_OK && has_pus)
        topology->kinds[topology->kinds_count++] = node;
    return status;
}

static uint32_t count_cpukinds(const clo_xml *xml)
{
    uint32_t count = 0;

    for (uint32_t n = xml->nodes[1].end; n < xml->nodes[0].end; n = xml->nodes[n].end)
        count += strcmp(clo_xml_name(xml, n), "cpukind") == 0;
    return count;
}

clo_status clo_topology_read_tables(clo_topology *topology)
{
    const clo_xml *xml = &topology->xml;
    clo_status status = CLO_OK;
    uint32_t piece = 0;

    assert(topology->pus_count > 0);
    topology->kinds = clo_allocate(count_cpukinds(xml), sizeof(uint32_t));
    if (topology->kinds == NULL)
        return clo_fail_memory("a topology");
    for (uint32_t n = xml->nodes[1].end; n < xml->nodes[0].end && status == CLO_OK; n = xml->nodes[n].end) {
        const char *name = clo_xml_name(xml, n);
        if (strcmp(name, "distances2") == 0) {
            status = read_distances(topology, n);
            piece = topology->cuts_count == 1 && piece == 0 ? n : piece;
        } else if (strcmp(name, "memattr") == 0)
            status = read_memattr(topology, n);
        else if (strcmp(name, "cpukind") == 0)
            status = read_cpukind(topology, n);
        else if (strcmp(name, "support") != 0 && strcmp(name, "distances2hetero") != 0)
            status = clo_xml_fail(xml, n, "unknown element <%.60s> in the topology; remove it", name);
    }
    if (status == CLO_OK && piece != 0 && topology->c2c_bandwidth_mbps == NULL)
        return clo_xml_fail(xml, piece, "a piece of the links without the matrix %s, which holds below it; add that",
                            BANDWIDTH_NAME);
    return status;
}
