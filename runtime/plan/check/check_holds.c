/* check_holds.c - see check_holds.h. */
#include "plan/check/check_holds.h"

#include "base/memory.h"
#include "base/order/sort.h"
#include "base/status.h"
#include "graph/graph.h"

#include <stdio.h>
#include <string.h>

void clo_check_resources(const clo_graph *graph, const clo_platform *platform, uint32_t *of)
{
    uint32_t taken = 0;

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        const char *wanted = clo_graph_resource_name(graph, r);
        of[r] = CLO_NONE;
        for (uint32_t k = 0; wanted != NULL && of[r] == CLO_NONE && k < CLO_RESOURCES_MAX; k++) {
            const char *offered = clo_platform_resource_name(platform, k);
            if (offered != NULL && strcmp(offered, wanted) == 0 && (taken >> k & 1) == 0) {
                of[r] = k;
                taken |= 1u << k;
            }
        }
    }
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        const char *offered = clo_platform_resource_name(platform, r);
        bool is_by_name = offered != NULL && strncmp(offered, CLO_MEMORY_RESOURCE, strlen(CLO_MEMORY_RESOURCE)) == 0;
        if (of[r] == CLO_NONE && (taken >> r & 1) == 0 && !is_by_name &&
            (clo_graph_resource_name(graph, r) == NULL || offered == NULL))
            of[r] = r;
    }
}

/* What a machine gives or takes back at one moment. */
typedef struct event {
    int64_t time_ns;
    /* Ends come first: a capacity freed now can be taken now. */
    uint32_t begins;
    const clo_hold *hold;
} event;

static int by_moment(const void *left, const void *right)
{
    const event *a = left, *b = right;

    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    if (a->begins != b->begins)
        return a->begins < b->begins ? -1 : 1;
    return a->hold->index < b->hold->index ? -1 : a->hold->index > b->hold->index;
}

/* Resource r of the graph, resource k of the platform. used: [machines] */
static clo_status sweep(const clo_cost *cost, const event *events, size_t count, uint32_t r, uint32_t k, int64_t *used,
                        clo_hold_fault *fault)
{
    const clo_graph *graph = clo_cost_graph(cost);
    const clo_platform *platform = clo_cost_platform(cost);

    memset(used, 0, clo_platform_machines(platform) * sizeof *used);
    for (size_t i = 0; i < count; i++) {
        const clo_hold *hold = events[i].hold;
        uint32_t m = clo_platform_executor(platform, hold->executor)->machine;
        int64_t demand = clo_graph_demand(graph, hold->task)[r], limit = clo_platform_capacity(platform, m, k);
        if (limit < 0)
            continue;
        if (!events[i].begins) {
            used[m] -= demand;
        } else if (demand > limit - used[m]) {
            *fault = (clo_hold_fault){hold->index, r, demand, used[m], limit};
            return CLO_ERR_INVALID;
        } else {
            used[m] += demand;
        }
    }
    return CLO_OK;
}

clo_status clo_check_holds(const clo_cost *cost, const clo_hold *holds, size_t count, clo_hold_fault *fault)
{
    uint32_t of[CLO_RESOURCES_MAX] = {0};
    size_t events_count = 0;
    event *events = clo_allocate(count, 2 * sizeof *events);
    int64_t *used = clo_allocate(clo_platform_machines(clo_cost_platform(cost)), sizeof *used);
    clo_status status = events != NULL && used != NULL ? CLO_OK : clo_fail_memory("the check of capacities");

    for (size_t i = 0; i < count && status == CLO_OK; i++) {
        if (holds[i].finish_ns <= holds[i].start_ns)
            continue;
        events[events_count++] = (event){holds[i].start_ns, 1, &holds[i]};
        events[events_count++] = (event){holds[i].finish_ns, 0, &holds[i]};
    }
    if (status == CLO_OK) {
        clo_sort(events, events_count, sizeof *events, by_moment);
        clo_check_resources(clo_cost_graph(cost), clo_cost_platform(cost), of);
    }
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX && status == CLO_OK; r++)
        if (of[r] != CLO_NONE)
            status = sweep(cost, events, events_count, r, of[r], used, fault);
    clo_free(events);
    clo_free(used);
    return status;
}

void clo_hold_fault_text(const clo_graph *graph, const clo_hold_fault *fault, char text[CLO_HOLD_TEXT])
{
    const char *name = clo_graph_resource_name(graph, fault->resource);
    char index[24];

    snprintf(index, sizeof index, "%u", fault->resource);
    snprintf(text, CLO_HOLD_TEXT, "it needs %lld of resource '%.32s', but %lld of %lld are in use on its machine",
             (long long)fault->demand, name != NULL ? name : index, (long long)fault->used, (long long)fault->limit);
}
