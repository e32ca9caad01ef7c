/* places.c - where calls run, as Clotho's platform: machine and memory = host (endpoints with one address), executor =
 * one unit of concurrency of one replica (a slot), kind = service. Link = link_ns + bytes / link_mbit. */
#include "base/memory.h"
#include "base/status.h"
#include "rpc/workflow/state.h"

#include <string.h>

#define LINKED_MAX 1024u /* executors: links have the square of that as entries */

static size_t host_length(const char *endpoint)
{
    const char *scheme = strstr(endpoint, "://"), *host = scheme != NULL ? scheme + 3 : endpoint;
    const char *colon = strrchr(host, ':');

    return (size_t)((colon != NULL ? colon : host + strcspn(host, "/")) - endpoint);
}

static uint32_t host_of(const clo_rpc_workflow *w, const char *endpoint)
{
    uint32_t number = 0;
    size_t length = host_length(endpoint);

    for (uint32_t s = 0; s < w->services_count; s++)
        for (uint32_t r = 0; r < w->services[s].replicas; r++, number++)
            if (host_length(w->services[s].replica[r]) == length &&
                strncmp(w->services[s].replica[r], endpoint, length) == 0)
                return number;
    return number;
}

/* Matrices of the links between hosts. */
static clo_status set_links(const clo_rpc_workflow *w, clo_platform_desc *desc, int64_t **latency, double **bandwidth)
{
    const clo_rpc_config *c = &w->config;
    size_t n = desc->executors_count;

    if (c->link_ns == 0 && c->link_mbit == 0)
        return CLO_OK;
    if (n > LINKED_MAX)
        return clo_fail(CLO_ERR_LIMIT, "link_ns and link_mbit: at most %u executors are possible; use fewer slots",
                        LINKED_MAX);
    *latency = clo_allocate(n * n, sizeof **latency);
    *bandwidth = clo_allocate(n * n, sizeof **bandwidth);
    if (*latency == NULL || *bandwidth == NULL)
        return clo_fail_memory("a workflow's links");
    for (size_t i = 0; i < n * n; i++)
        if (desc->executors[i / n].memory != desc->executors[i % n].memory) {
            (*latency)[i] = c->link_ns;
            (*bandwidth)[i] = (double)c->link_mbit / 8000; /* bytes/ns */
        }
    desc->latency_ns = *latency;
    desc->bandwidth_bytes_per_ns = *bandwidth;
    return CLO_OK;
}

/* The first slot of all replicas, then the second one: tasks that are dealt out in the order of executors spread. */
static uint32_t fill(const clo_rpc_workflow *w, clo_executor *executors)
{
    uint32_t count = 0;

    for (uint32_t slot = 0; slot < w->config.slots; slot++)
        for (uint32_t s = 0; s < w->services_count; s++)
            for (uint32_t r = 0; r < w->services[s].replicas; r++, count++) {
                uint32_t host = host_of(w, w->services[s].replica[r]);
                executors[count] = (clo_executor){.kind = s, .machine = host, .memory = host, .os_index = CLO_OS_SLOT};
                for (int k = 0; k < CLO_CLASSES_BUILTIN; k++)
                    executors[count].speed_q16[k] = CLO_SPEED_ONE;
                w->replica_of[count] = r;
            }
    return count;
}

clo_status clo_rpc_places_make(clo_rpc_workflow *w)
{
    const char *names[CLO_RPC_SERVICES_MAX];
    uint32_t replicas = 0;
    int64_t *latency = NULL;
    double *bandwidth = NULL;
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;

    for (uint32_t s = 0; s < w->services_count; s++) {
        names[s] = w->services[s].name;
        replicas += w->services[s].replicas;
    }
    uint64_t all = (uint64_t)replicas * w->config.slots;
    if (all > CLO_EXECUTORS_MAX)
        return clo_fail(CLO_ERR_LIMIT, "too many replicas times slots; at most %u are possible", CLO_EXECUTORS_MAX);
    clo_executor *executors = clo_allocate(all, sizeof *executors);
    w->replica_of = clo_allocate(all, sizeof *w->replica_of);
    if (executors == NULL || w->replica_of == NULL) {
        clo_free(executors);
        return clo_fail_memory("a workflow's platform");
    }
    desc.name = "services";
    desc.executors_count = fill(w, executors);
    desc.executors = executors;
    desc.kinds_count = w->services_count;
    desc.kind_names = names;
    desc.machines_count = replicas;
    desc.coherent = 1; /* outputs lie in the driver's process */
    clo_status status = set_links(w, &desc, &latency, &bandwidth);
    if (status == CLO_OK)
        status = clo_platform_create(&desc, &w->platform);
    clo_free(executors);
    clo_free(latency);
    clo_free(bandwidth);
    return status;
}

clo_status clo_rpc_places_stay(const clo_rpc_workflow *w, const clo_rpc_method *m)
{
    uint32_t count = 0, all = clo_platform_executors(w->platform);
    uint32_t *list = clo_allocate(all, sizeof *list);

    if (list == NULL)
        return clo_fail_memory("a workflow's platform");
    for (uint32_t e = 0; e < all; e++)
        if (clo_platform_executor(w->platform, e)->kind == m->service && w->replica_of[e] == m->home)
            list[count++] = e;
    clo_status status = clo_graph_set_executors(w->graph, m->task, list, count);
    clo_free(list);
    return status;
}
