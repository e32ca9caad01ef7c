/* cluster.c - the platforms of several machines as one, see cluster.h.
 *
 * Executors, memories and machines (a platform may have several) are numbered on from machine to machine. Kinds and
 * named resources of one name are one. Links inside a machine keep their pieces: the whole has the cuts of all. */
#include "io/cluster/cluster.h"

#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"
#include "platform/model/platform.h"

#include <string.h>

/* The arrays of a clo_platform_desc that grows machine by machine. */
typedef struct join {
    const clo_cluster *cluster;
    const clo_cluster_links *links;
    clo_platform_desc desc;
    clo_executor *executors;
    char **executor_names;   /* owned, each */
    const char **kind_names; /* borrowed    */
    int64_t *capacities;
    const char *resource_names[CLO_RESOURCES_MAX];
    bool resource_taken[CLO_RESOURCES_MAX];
    uint64_t cuts[CLO_LINK_PIECES_MAX];
    uint32_t *group_of;    /* [executors]             */
    uint32_t *first_group; /* [machines + 1]          */
    int64_t *latency_ns;   /* [groups^2]              */
    double *bandwidth;     /* [cuts + 1][groups^2]    */
    double *port;          /* [machines of all]       */
    uint32_t memories;
} join;

static void free_join(join *j)
{
    for (uint32_t e = 0; j->executor_names != NULL && e < j->desc.executors_count; e++)
        clo_free(j->executor_names[e]);
    clo_free(j->executors);
    clo_free(j->executor_names);
    clo_free(j->kind_names);
    clo_free(j->capacities);
    clo_free(j->group_of);
    clo_free(j->first_group);
    clo_free(j->latency_ns);
    clo_free(j->bandwidth);
    clo_free(j->port);
}

static clo_status count_all(join *j, clo_cluster *cluster)
{
    uint64_t executors = 0, machines = 0, kinds = 0;

    for (uint32_t m = 0; m < cluster->machines; m++) {
        const clo_platform *own = cluster->own[m];
        if (executors + own->executors_count > CLO_CLUSTER_EXECUTORS_MAX)
            return clo_fail(CLO_ERR_LIMIT, "the machines have more than %u executors together; leave some out",
                            CLO_CLUSTER_EXECUTORS_MAX);
        cluster->first_executor[m] = (uint32_t)executors;
        executors += own->executors_count;
        machines += own->machines_count;
        kinds += own->kinds_count;
        for (uint32_t e = 0; e < own->executors_count; e++)
            if (own->executors[e].os_index <= CLO_OS_SLOT)
                return clo_fail(
                    CLO_ERR_ARGUMENT,
                    "machine '%s' has slots, and in a cluster all executors are CPUs; give it another platform",
                    cluster->names[m]);
    }
    cluster->first_executor[cluster->machines] = (uint32_t)executors;
    j->desc.executors_count = (uint32_t)executors;
    j->desc.machines_count = (uint32_t)machines;
    j->executors = clo_allocate(executors, sizeof *j->executors);
    j->executor_names = clo_allocate(executors, sizeof *j->executor_names);
    j->kind_names = clo_allocate(kinds, sizeof *j->kind_names);
    j->capacities = clo_allocate(machines * CLO_RESOURCES_MAX, sizeof *j->capacities);
    if (j->executors == NULL || j->executor_names == NULL || j->kind_names == NULL || j->capacities == NULL)
        return clo_fail_memory("a cluster");
    for (size_t i = 0; i < machines * CLO_RESOURCES_MAX; i++)
        j->capacities[i] = -1;
    return CLO_OK;
}

/* Puts a cut in its place; the same one may be there. */
static clo_status add_cut(join *j, uint64_t bytes)
{
    uint32_t at = 0;

    while (at < j->desc.cuts_count && j->cuts[at] < bytes)
        at++;
    if (at < j->desc.cuts_count && j->cuts[at] == bytes)
        return CLO_OK;
    if (j->desc.cuts_count == CLO_LINK_PIECES_MAX - 1)
        return clo_fail(CLO_ERR_LIMIT,
                        "the links of the machines have more than %d cuts together; use fewer in the platform files",
                        CLO_LINK_PIECES_MAX - 1);
    memmove(&j->cuts[at + 1], &j->cuts[at], (j->desc.cuts_count - at) * sizeof *j->cuts);
    j->cuts[at] = bytes;
    j->desc.cuts_count++;
    return CLO_OK;
}

static clo_status add_cuts(join *j)
{
    clo_status status = CLO_OK;

    for (uint32_t k = 0; k < j->links->cuts_count && status == CLO_OK; k++)
        status = add_cut(j, j->links->cut_bytes[k]);
    for (uint32_t m = 0; m < j->cluster->machines && status == CLO_OK; m++)
        for (uint32_t k = 1; k < j->cluster->own[m]->pieces_count && status == CLO_OK; k++)
            status = add_cut(j, j->cluster->own[m]->cut_bytes[k]);
    return status;
}

static uint32_t kind_of(join *j, const char *name)
{
    for (uint32_t k = 0; k < j->desc.kinds_count; k++)
        if (strcmp(j->kind_names[k], name) == 0)
            return k;
    j->kind_names[j->desc.kinds_count] = name;
    return j->desc.kinds_count++;
}

/* Where the resource of a machine goes: one of its name, else a free place; one without a name keeps its number. */
static clo_status resource_of(join *j, const clo_platform *own, uint32_t r, uint32_t *to)
{
    const char *name = own->resource_names[r];

    *to = r;
    for (uint32_t k = 0; k < CLO_RESOURCES_MAX && name != NULL; k++)
        if (j->resource_names[k] != NULL && strcmp(j->resource_names[k], name) == 0)
            return *to = k, CLO_OK;
    for (uint32_t k = 0; k < CLO_RESOURCES_MAX && name != NULL && j->resource_taken[*to]; k++)
        *to = k;
    if (j->resource_taken[*to] && (name != NULL || j->resource_names[*to] != NULL))
        return clo_fail(CLO_ERR_LIMIT, "the machines have more than %d resources together; give equal ones one name",
                        CLO_RESOURCES_MAX);
    j->resource_taken[*to] = true;
    j->resource_names[*to] = name;
    return CLO_OK;
}

static clo_status add_capacities(join *j, const clo_platform *own, uint32_t first_machine)
{
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        bool is_used = own->resource_names[r] != NULL;
        for (uint32_t m = 0; m < own->machines_count; m++)
            is_used |= own->capacities[m * CLO_RESOURCES_MAX + r] >= 0;
        if (!is_used)
            continue;
        uint32_t to;
        clo_status status = resource_of(j, own, r, &to);
        if (status != CLO_OK)
            return status;
        for (uint32_t m = 0; m < own->machines_count; m++)
            j->capacities[(size_t)(first_machine + m) * CLO_RESOURCES_MAX + to] =
                own->capacities[m * CLO_RESOURCES_MAX + r];
    }
    return CLO_OK;
}

static clo_status add_executors(join *j)
{
    uint32_t at = 0, first_machine = 0;

    for (uint32_t m = 0; m < j->cluster->machines; m++) {
        const clo_platform *own = j->cluster->own[m];
        for (uint32_t e = 0; e < own->executors_count; e++, at++) {
            clo_text name = {0};
            j->executors[at] = own->executors[e];
            j->executors[at].kind = kind_of(j, own->kind_names[own->executors[e].kind]);
            j->executors[at].machine += first_machine;
            j->executors[at].memory += j->memories;
            j->executors[at].os_index = -1; /* that number is of another operating system each */
            clo_text_add(&name, "%s/%s", j->cluster->names[m], own->executor_names[e]);
            if (clo_text_take(&name, &j->executor_names[at]) != CLO_OK)
                return clo_fail_memory("a cluster");
        }
        clo_status status = add_capacities(j, own, first_machine);
        if (status != CLO_OK)
            return status;
        first_machine += own->machines_count;
        j->memories += own->memories_count;
    }
    return CLO_OK;
}

/* Bandwidth from `bytes` on inside a machine. */
static double own_bandwidth(const clo_platform *own, size_t cell, uint64_t bytes)
{
    size_t cells = (size_t)own->groups_count * own->groups_count;
    uint64_t q32 = own->ns_per_byte_q32[clo_platform_piece(own, bytes) * cells + cell];

    return q32 == 0 ? 0 : 0x1p32 / (double)q32;
}

/* The same between machines. */
static double far_bandwidth(const clo_cluster_links *links, uint32_t machines, size_t pair, uint64_t bytes)
{
    uint32_t piece = 0;

    while (piece < links->cuts_count && bytes >= links->cut_bytes[piece])
        piece++;
    return links->bandwidth[(size_t)piece * machines * machines + pair];
}

/* Between two groups of links. */
static void add_link(join *j, uint32_t from_machine, uint32_t from, uint32_t to_machine, uint32_t to)
{
    uint32_t n = j->desc.groups_count, machines = j->cluster->machines;
    const clo_platform *own = j->cluster->own[from_machine];
    size_t cell = (size_t)from * n + to, far = (size_t)from_machine * machines + to_machine;
    size_t near = (size_t)(from - j->first_group[from_machine]) * own->groups_count + (to - j->first_group[to_machine]);
    bool is_near = from_machine == to_machine;

    j->latency_ns[cell] = is_near ? own->latency_ns[near] : j->links->latency_ns[far];
    for (uint32_t k = 0; k <= j->desc.cuts_count; k++) {
        uint64_t begin = k == 0 ? 0 : j->cuts[k - 1];
        j->bandwidth[(size_t)k * n * n + cell] =
            is_near ? own_bandwidth(own, near, begin) : far_bandwidth(j->links, machines, far, begin);
    }
}

/* Those of a machine are groups of the whole, too. */
static clo_status add_groups(join *j)
{
    uint32_t at = 0;

    j->group_of = clo_allocate(j->desc.executors_count, sizeof *j->group_of);
    j->first_group = clo_allocate((size_t)j->cluster->machines + 1, sizeof *j->first_group);
    if (j->group_of == NULL || j->first_group == NULL)
        return clo_fail_memory("the links of a cluster");
    for (uint32_t m = 0; m < j->cluster->machines; m++) {
        const clo_platform *own = j->cluster->own[m];
        for (uint32_t e = 0; e < own->executors_count; e++)
            j->group_of[at++] = j->first_group[m] + own->group_of[e];
        j->first_group[m + 1] = j->first_group[m] + own->groups_count;
    }
    j->desc.groups_count = j->first_group[j->cluster->machines];
    return CLO_OK;
}

static clo_status add_links(join *j)
{
    clo_status status = add_groups(j);
    const uint32_t *first = j->first_group;
    size_t n = j->desc.groups_count;

    if (status != CLO_OK)
        return status;
    j->latency_ns = clo_allocate(n * n, sizeof *j->latency_ns);
    j->bandwidth = clo_allocate(n * n, (j->desc.cuts_count + 1) * sizeof *j->bandwidth);
    if (j->latency_ns == NULL || j->bandwidth == NULL)
        return clo_fail_memory("the links of a cluster");
    for (uint32_t a = 0; a < j->cluster->machines; a++)
        for (uint32_t b = 0; b < j->cluster->machines; b++)
            for (uint32_t from = first[a]; from < first[a + 1]; from++)
                for (uint32_t to = first[b]; to < first[b + 1]; to++)
                    add_link(j, a, from, b, to);
    return CLO_OK;
}

/* A port is of one machine in the platform of the whole. */
static clo_status add_ports(join *j)
{
    uint32_t at = 0;

    j->port = clo_allocate(j->desc.machines_count, sizeof *j->port);
    if (j->port == NULL)
        return clo_fail_memory("the ports of a cluster");
    for (uint32_t m = 0; m < j->cluster->machines; m++) {
        uint32_t machines = j->cluster->own[m]->machines_count;
        if (machines > 1 && j->links->port[m] > 0)
            return clo_fail(CLO_ERR_ARGUMENT,
                            "machine '%s' has a port, and its platform has %u machines; use a platform of one",
                            j->cluster->names[m], machines);
        j->port[at] = j->links->port[m];
        at += machines;
    }
    return CLO_OK;
}

clo_status clo_cluster_join(clo_cluster *cluster, const char *name, const clo_cluster_links *links)
{
    join j = {.cluster = cluster, .links = links, .desc = CLO_PLATFORM_DESC_INIT};
    clo_status status = count_all(&j, cluster);

    if (status == CLO_OK)
        status = add_cuts(&j);
    if (status == CLO_OK)
        status = add_executors(&j);
    if (status == CLO_OK)
        status = add_links(&j);
    if (status == CLO_OK)
        status = add_ports(&j);
    if (status == CLO_OK) {
        j.desc.name = name;
        j.desc.executors = j.executors;
        j.desc.executor_names = (const char *const *)j.executor_names;
        j.desc.kind_names = j.kind_names;
        j.desc.capacities = j.capacities;
        j.desc.resource_names = j.resource_names;
        j.desc.latency_ns = j.latency_ns;
        j.desc.bandwidth_bytes_per_ns = j.bandwidth;
        j.desc.cut_bytes = j.cuts;
        j.desc.port_bytes_per_ns = j.port;
        j.desc.group_of = j.group_of;
        j.desc.bandwidth_beyond =
            j.desc.cuts_count > 0 ? j.bandwidth + (size_t)j.desc.groups_count * j.desc.groups_count : NULL;
        status = clo_platform_create(&j.desc, &cluster->platform);
    }
    free_join(&j);
    return status;
}

void clo_cluster_destroy(clo_cluster *cluster)
{
    if (cluster == NULL)
        return;
    clo_platform_destroy(cluster->platform);
    for (uint32_t m = 0; m < cluster->machines; m++) {
        clo_platform_destroy(cluster->own[m]);
        clo_free(cluster->names[m]);
    }
    clo_free(cluster->own);
    clo_free(cluster->names);
    clo_free(cluster->first_executor);
    clo_free(cluster);
}

const clo_platform *clo_cluster_platform(const clo_cluster *cluster)
{
    return cluster != NULL ? cluster->platform : NULL;
}

uint32_t clo_cluster_machines(const clo_cluster *cluster)
{
    return cluster != NULL ? cluster->machines : 0;
}

const char *clo_cluster_machine_name(const clo_cluster *cluster, uint32_t machine)
{
    return machine < clo_cluster_machines(cluster) ? cluster->names[machine] : NULL;
}
