/* tree.c - see tree.h. */
#include "platform/file/tree.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

static int by_parent_and_name(const void *left, const void *right)
{
    const clo_topology_entry *a = left, *b = right;

    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    int names = strcmp(a->name, b->name);
    return names != 0 ? names : (a->node > b->node) - (a->node < b->node);
}

/* One kind or core with many infos may be asked by every executor: they are sorted once, not searched each time. */
clo_status clo_topology_index_infos(clo_topology *topology)
{
    const clo_xml *xml = &topology->xml;
    size_t count = 0;

    for (uint32_t n = 1; n < xml->nodes_count; n++)
        count += strcmp(clo_xml_name(xml, n), "info") == 0;
    topology->infos = clo_allocate(count, sizeof *topology->infos);
    if (topology->infos == NULL)
        return clo_fail_memory("a topology");
    for (uint32_t n = 1; n < xml->nodes_count; n++) {
        const char *name = strcmp(clo_xml_name(xml, n), "info") == 0 ? clo_xml_get(xml, n, "name") : NULL;
        if (name != NULL)
            topology->infos[topology->infos_count++] = (clo_topology_entry){name, xml->nodes[n].parent, n};
    }
    qsort(topology->infos, topology->infos_count, sizeof *topology->infos, by_parent_and_name);
    return CLO_OK;
}

const char *clo_topology_info(const clo_topology *topology, uint32_t node, const char *name)
{
    const clo_topology_entry wanted = {name, node, 0}; /* before the first of that name */
    size_t low = 0, high = topology->infos_count;

    while (low < high) { /* the first entry that is not before the wanted one */
        size_t middle = low + (high - low) / 2;
        if (by_parent_and_name(&topology->infos[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == topology->infos_count || topology->infos[low].parent != node ||
        strcmp(topology->infos[low].name, name) != 0)
        return NULL;
    return clo_xml_get(&topology->xml, topology->infos[low].node, "value");
}

void clo_topology_free(clo_topology *topology)
{
    clo_xml_free(&topology->xml);
    clo_free(topology->objects);
    clo_free(topology->pus);
    clo_free(topology->numas);
    clo_free(topology->accels);
    clo_free(topology->infos);
    clo_free(topology->pu_of_cpu);
    clo_free(topology->numa_of_os);
    clo_free(topology->numa_below);
    clo_free(topology->allowed_cpus);
    clo_free(topology->allowed_nodes);
    clo_free(topology->numas_by_gp);
    clo_free(topology->kinds);
    clo_free(topology->kind_of_pu);
    clo_free(topology->c2c_latency_ns);
    clo_free(topology->c2c_bandwidth_mbps);
    for (uint32_t c = 0; c < topology->cuts_count; c++)
        clo_free(topology->beyond_mbps[c]);
    clo_free(topology->numa_distance);
    clo_free(topology->memory_latency_ns);
    clo_free(topology->memory_bandwidth_mibps);
    memset(topology, 0, sizeof *topology);
}
