/* graph.c - see graph.h.
 *
 * Phony statements stay as tasks of no time, so that n outputs behind one name cost n edges and not n * m. */
#include "clotho/build_plan/graph.h"
#include "clotho/build_plan/hosts.h"
#include "clotho/common/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pools with a depth become resources, as far as there are any. */
static int take_pools(build_graph *g)
{
    const ninja_manifest *m = &g->folder->manifest;

    g->resources_count = g->memory_kib != NULL; /* memory is the first */
    for (uint32_t e = 0; e < m->edges_count; e++) {
        uint32_t pool = m->edges[e].pool;
        if (!g->is_in[e] || m->pools[pool].depth == 0 || g->resources[pool] != NINJA_NONE)
            continue;
        if (g->resources_count == CLO_RESOURCES_MAX)
            return complain(
                NULL, "the steps use more than %d pools%s; a graph has no more resources, name other targets",
                CLO_RESOURCES_MAX - (g->memory_kib != NULL), g->memory_kib != NULL ? " beside --memory" : "");
        g->resources[pool] = g->resources_count++;
    }
    g->cpu_resource = NINJA_NONE;
    if (g->cpu_milli != NULL && g->elsewhere == 0 && g->resources_count < CLO_RESOURCES_MAX)
        g->cpu_resource = g->resources_count++;
    return EXIT_GOOD;
}

static int add_tasks(build_graph *g)
{
    const ninja_manifest *m = &g->folder->manifest;
    clo_status status = CLO_OK;

    for (uint32_t e = 0; status == CLO_OK && e < m->edges_count; e++) {
        if (!g->is_in[e])
            continue;
        const ninja_node *output = &m->nodes[m->edges[e].outputs[0]];
        clo_task task = {.name = output->bytes < 65536 ? output->path : NULL, .work_ns = g->weights.time_ns[e]};
        if (g->body != NULL) {
            task.body = g->body;
            task.may_pend = 1;
            task.argument = (char *)g->arguments + e * g->argument_bytes;
        }
        if (m->pools[m->edges[e].pool].depth > 0)
            task.demand[g->resources[m->edges[e].pool]] = 1;
        if (g->memory_kib != NULL)
            task.demand[0] = g->memory_kib[e];
        if (g->cpu_resource != NINJA_NONE)
            task.demand[g->cpu_resource] = g->cpu_milli[e];
        status = clo_graph_add_task(g->graph, &task, &g->tasks[e]);
        if (status == CLO_OK)
            g->edges[g->tasks[e]] = e;
        g->steps += !ninja_is_phony(m, e);
    }
    return status == CLO_OK ? EXIT_GOOD : complain_status(NULL, status);
}

static int add_edges(build_graph *g)
{
    const ninja_manifest *m = &g->folder->manifest;

    for (uint32_t e = 0; e < m->edges_count; e++)
        for (uint32_t i = 0; g->is_in[e] && i < m->edges[e].inputs_count; i++) {
            uint32_t parent = m->nodes[m->edges[e].inputs[i]].producer;
            if (parent == NINJA_NONE || !g->is_in[parent] || g->seen[parent] == e + 1)
                continue;
            g->seen[parent] = e + 1;
            clo_status status = clo_graph_add_edge(g->graph, g->tasks[parent], g->tasks[e], 0);
            if (status != CLO_OK)
                return complain_status(NULL, status);
        }
    return EXIT_GOOD;
}

static int take_arrays(build_graph *g)
{
    const ninja_manifest *m = &g->folder->manifest;
    size_t edges = m->edges_count + 1;

    g->is_in = calloc(edges, sizeof *g->is_in);
    g->tasks = calloc(edges, sizeof *g->tasks);
    g->edges = calloc(edges, sizeof *g->edges);
    g->seen = calloc(edges, sizeof *g->seen);
    g->resources = malloc(m->pools_count * sizeof *g->resources);
    if (g->is_in == NULL || g->tasks == NULL || g->edges == NULL || g->seen == NULL || g->resources == NULL)
        return complain(NULL, "out of memory");
    memset(g->resources, 0xff, m->pools_count * sizeof *g->resources);
    return EXIT_GOOD;
}

/* What may not go to another host keeps to the slots behind theirs. */
static int keep_here(build_graph *g, uint32_t jobs)
{
    clo_status status = CLO_OK;

    if (g->elsewhere == 0)
        return EXIT_GOOD;
    uint32_t count = jobs - g->elsewhere, *here = malloc(count * sizeof *here);
    if (here == NULL)
        return complain(NULL, "out of memory");
    for (uint32_t i = 0; i < count; i++)
        here[i] = g->elsewhere + i;
    for (uint32_t e = 0; status == CLO_OK && e < g->folder->manifest.edges_count; e++)
        if (g->is_in[e] && !hosts_may_take(g->folder, e))
            status = clo_graph_set_executors(g->graph, g->tasks[e], here, count);
    free(here);
    return status == CLO_OK ? EXIT_GOOD : complain_status(NULL, status);
}

static int fill(build_graph *g, uint32_t jobs)
{
    clo_status status = clo_graph_create("build", &g->graph);
    if (status != CLO_OK)
        return complain_status(NULL, status);
    int code = take_pools(g);
    if (code == EXIT_GOOD)
        code = add_tasks(g);
    if (code == EXIT_GOOD)
        code = add_edges(g);
    if (code == EXIT_GOOD)
        code = keep_here(g, jobs);
    if (code != EXIT_GOOD)
        return code;
    if (g->steps == 0)
        return complain(NULL, "there is no step to plan; name other targets");
    status = clo_graph_seal(g->graph);
    return status == CLO_OK ? EXIT_GOOD : complain_status(NULL, status);
}

static int make_platform(build_graph *g, uint32_t jobs, bool is_real)
{
    const ninja_manifest *m = &g->folder->manifest;
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    int64_t capacities[CLO_RESOURCES_MAX];
    clo_executor *executors = calloc(jobs, sizeof *executors);
    char name[32];

    if (executors == NULL)
        return complain(NULL, "out of memory");
    for (uint32_t i = 0; i < jobs; i++) {
        executors[i].os_index = is_real ? CLO_OS_SLOT : -1;
        for (int c = 0; c < CLO_CLASSES_BUILTIN; c++)
            executors[i].speed_q16[c] = 65536;
    }
    for (int r = 0; r < CLO_RESOURCES_MAX; r++)
        capacities[r] = -1;
    if (g->memory_kib != NULL)
        capacities[0] = g->budget_kib;
    if (g->cpu_resource != NINJA_NONE)
        capacities[g->cpu_resource] = g->cpus_milli;
    for (size_t i = 0; i < m->pools_count; i++)
        if (g->resources[i] != NINJA_NONE)
            capacities[g->resources[i]] = m->pools[i].depth;
    snprintf(name, sizeof name, "%u jobs", jobs);
    desc.name = name;
    desc.executors_count = jobs;
    desc.executors = executors;
    desc.kinds_count = 1;
    desc.kind_names = (const char *const[]){"job"};
    desc.capacities = capacities;
    desc.coherent = 1;
    clo_status status = clo_platform_create(&desc, &g->platform);
    free(executors);
    return status == CLO_OK ? EXIT_GOOD : complain_status(NULL, status);
}

/* From is_in and weights to the cost. */
static int make_cost(build_graph *g, uint32_t jobs)
{
    int code = fill(g, jobs);

    if (code == EXIT_GOOD)
        code = make_platform(g, jobs, g->body != NULL);
    if (code != EXIT_GOOD)
        return code;
    clo_status status = clo_cost_create(g->graph, g->platform, &g->cost);
    return status == CLO_OK ? EXIT_GOOD : complain_status(NULL, status);
}

int build_graph_make(build_graph *g, const uint32_t *targets, size_t count, bool only_wanted, uint32_t jobs)
{
    int code = take_arrays(g);

    if (code != EXIT_GOOD)
        return code;
    if (!build_mark(g->folder, targets, count, only_wanted, g->is_in) ||
        !build_weigh(g->folder, g->is_in, g->learned_ns, &g->weights))
        return complain(NULL, "%s", show_name(g->folder->manifest.error));
    return make_cost(g, jobs);
}

int build_graph_again(build_graph *g, const build_graph *other, const int64_t *time_ns, uint32_t jobs)
{
    size_t edges = other->folder->manifest.edges_count;

    g->folder = other->folder;
    g->memory_kib = other->memory_kib;
    g->budget_kib = other->budget_kib;
    g->cpu_milli = other->cpu_milli;
    g->cpus_milli = other->cpus_milli;
    g->elsewhere = other->elsewhere;
    int code = take_arrays(g);
    if (code != EXIT_GOOD)
        return code;
    memcpy(g->is_in, other->is_in, edges * sizeof *g->is_in);
    g->weights.time_ns = malloc((edges + 1) * sizeof *time_ns);
    if (g->weights.time_ns == NULL)
        return complain(NULL, "out of memory");
    memcpy(g->weights.time_ns, time_ns, edges * sizeof *time_ns);
    return make_cost(g, jobs);
}

void build_graph_end(build_graph *g)
{
    clo_cost_destroy(g->cost);
    clo_platform_destroy(g->platform);
    clo_graph_destroy(g->graph);
    build_weights_free(&g->weights);
    free(g->is_in);
    free(g->tasks);
    free(g->edges);
    free(g->seen);
    free(g->resources);
}
