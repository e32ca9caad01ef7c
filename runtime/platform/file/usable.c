/* usable.c - what the reader of a topology may use of it.
 *
 * A process may use some of the CPUs (affinity, cpuset). hwloc keeps a memory whose CPUs are all taken away, or that
 * never had one (HBM, CXL, NVM), and with it the objects around it, whose cpuset is then empty. No executor is inside
 * them, so they are left out; their memories stay, for CPUs that have no nearer one. */
#include "platform/file/usable.h"

#include "base/memory.h"
#include "base/status.h"

#include <assert.h>

/* The set that the machine states under this name; NULL: none, or one without an end. Release with clo_free. */
static clo_status read_allowed(const clo_topology *topology, const char *name, clo_set **out)
{
    const char *text = clo_xml_get(&topology->xml, topology->objects[0].node, name);
    clo_set *set = text != NULL ? clo_allocate(1, sizeof *set) : NULL;

    if (text != NULL && set == NULL)
        return clo_fail_memory("a topology");
    if (set != NULL && (!clo_parse_set(text, set) || set->infinite)) {
        clo_free(set);
        set = NULL;
    }
    *out = set;
    return CLO_OK;
}

void clo_topology_allow(const clo_topology *topology, clo_set *set)
{
    for (size_t w = 0; w < CLO_SET_BITS / 64 && topology->allowed_cpus != NULL; w++)
        set->words[w] &= topology->allowed_cpus->words[w];
}

/* It says itself that it has no CPU, or none that may be used. */
static bool states_no_cpu(const clo_topology *topology, const clo_object *object, clo_set *set)
{
    const char *text = clo_xml_get(&topology->xml, object->node, "cpuset");

    if (text == NULL || !clo_parse_set(text, set))
        return false;
    clo_topology_allow(topology, set);
    return !set->infinite && clo_set_count(set) == 0;
}

static bool is_usable_pu(const clo_topology *topology, const clo_object *object)
{
    return topology->allowed_cpus == NULL || object->os_index >= CLO_CPUS_MAX ||
           clo_set_has(topology->allowed_cpus, object->os_index);
}

/* stays[o]: object o stays. */
static void choose(clo_topology *topology, bool *stays, clo_set *set)
{
    for (size_t o = topology->objects_count; o-- > 0;) { /* children come after their parents */
        const clo_object *object = &topology->objects[o];
        if (object->type == CLO_OBJECT_PU) {
            stays[o] = is_usable_pu(topology, object);
            topology->pus_left_out += !stays[o];
        } else if (!stays[o]) { /* nothing inside does */
            stays[o] = o == 0 || !clo_object_is_ordinary(object->type) || !states_no_cpu(topology, object, set);
        }
        if (stays[o] && o > 0 && clo_object_is_ordinary(object->type))
            stays[object->parent] = true;
    }
}

/* Takes the others out of the list; their children go to the nearest object above that stays. */
static void compact(clo_topology *topology, const bool *stays, uint32_t *now)
{
    uint32_t count = 0;

    for (size_t o = 0; o < topology->objects_count; o++) {
        clo_object object = topology->objects[o];
        if (object.parent != CLO_NONE)
            object.parent = now[object.parent];
        assert(object.parent != CLO_NONE || o == 0);
        now[o] = stays[o] ? count : object.parent;
        if (stays[o])
            topology->objects[count++] = object;
    }
    topology->objects_count = count;
}

clo_status clo_topology_leave_out(clo_topology *topology)
{
    bool *stays = clo_allocate(topology->objects_count, sizeof *stays);
    uint32_t *now = clo_allocate(topology->objects_count, sizeof *now);
    clo_set *set = clo_allocate(1, sizeof *set);
    clo_status status = stays == NULL || now == NULL || set == NULL ? clo_fail_memory("a topology") : CLO_OK;

    if (status == CLO_OK)
        status = read_allowed(topology, "allowed_cpuset", &topology->allowed_cpus);
    if (status == CLO_OK)
        status = read_allowed(topology, "allowed_nodeset", &topology->allowed_nodes);
    if (status == CLO_OK) {
        choose(topology, stays, set);
        compact(topology, stays, now);
    }
    clo_free(set);
    clo_free(now);
    clo_free(stays);
    return status;
}
