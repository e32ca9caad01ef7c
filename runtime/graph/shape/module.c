/* module.c - copies a sealed graph into an open one.
 *
 * All goes through the calls that an application would make, so whatever a graph can hold is checked in one place. What
 * was there before is counted first, and if any of them fails the graph goes back to that. */
#include "graph/shape/module.h"
#include "graph/shape/branch.h"

#include "base/memory.h"
#include "base/status.h"

#include <string.h>

typedef struct inlining {
    clo_graph *graph;
    const clo_graph *module;
    uint32_t first; /* id of the module's task 0 */
    uint32_t resource_of[CLO_RESOURCES_MAX];
    uint32_t kind_of[CLO_GRAPH_KINDS_MAX];
    uint32_t *handle_of; /* [handles of the module] */
} inlining;

clo_graph_mark clo_graph_look(const clo_graph *graph)
{
    clo_graph_mark was = {.tasks = graph->tasks,
                          .edges = graph->edges,
                          .kinds = graph->kinds,
                          .handles = clo_graph_handles(graph),
                          .accesses = clo_graph_accesses(graph),
                          .names_bytes = graph->names_bytes,
                          .demands_count = graph->demands_count,
                          .specials_count = graph->specials_count,
                          .codelets_count = graph->codelets_count,
                          .instances_open = graph->instances_open,
                          .work_open = graph->work_open,
                          .has_outputs = graph->has_outputs,
                          .has_demands = graph->has_demands,
                          .may_pend = graph->may_pend,
                          .control_flow = clo_graph_control_flow_look(graph->control_flow)};

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        was.had_resource[r] = graph->resource_names[r] != NULL;
    return was;
}

/* Rows of new tasks alone refer to what is cut off. */
void clo_graph_go_back(clo_graph *graph, const clo_graph_mark *was)
{
    while (graph->kinds > was->kinds)
        clo_free(graph->kind_names[--graph->kinds]);
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        if (!was->had_resource[r]) {
            clo_free(graph->resource_names[r]);
            graph->resource_names[r] = NULL;
        }
    while (clo_graph_handles(graph) > was->handles)
        clo_free((char *)(uintptr_t)graph->data->handles[--graph->data->handles_count].name);
    if (graph->data != NULL)
        graph->data->accesses_count = was->accesses;
    graph->tasks = was->tasks;
    graph->edges = was->edges;
    graph->names_bytes = was->names_bytes;
    graph->demands_count = was->demands_count;
    graph->specials_count = was->specials_count;
    graph->codelets_count = was->codelets_count;
    graph->instances_open = was->instances_open;
    graph->work_open = was->work_open;
    graph->has_outputs = was->has_outputs;
    graph->has_demands = was->has_demands;
    graph->may_pend = was->may_pend;
    clo_graph_control_flow_go_back(graph->control_flow, &was->control_flow);
}

static clo_status check(const clo_graph *graph, const clo_graph *module, const uint32_t *handles)
{
    if (graph->sealed)
        return clo_fail(CLO_ERR_STATE, "graph \"%.60s\" is sealed; add modules before clo_graph_seal", graph->name);
    if (graph == module)
        return clo_fail(CLO_ERR_ARGUMENT, "graph \"%.60s\" cannot be a module of its own", graph->name);
    if (!module->sealed)
        return clo_fail(CLO_ERR_STATE, "module \"%.60s\" is not sealed; seal it first", module->name);
    if (module->waves != NULL)
        return clo_fail(CLO_ERR_UNSUPPORTED, "module \"%.60s\" has measured times, which are not copied", module->name);
    for (uint32_t h = 0; handles != NULL && h < clo_graph_handles(module); h++) {
        char scratch[16];
        const char *name = clo_graph_handle_name(module->data, h, scratch);
        uint64_t bytes = module->data->handles[h].bytes;
        if (handles[h] == CLO_NONE)
            continue;
        if (handles[h] >= clo_graph_handles(graph))
            return clo_fail(CLO_ERR_ARGUMENT, "handles[%u], for \"%.60s\": handle %u does not exist (the graph has %u)",
                            h, name, handles[h], clo_graph_handles(graph));
        if (graph->data->handles[handles[h]].bytes != bytes)
            return clo_fail(CLO_ERR_ARGUMENT, "handles[%u]: \"%.60s\" has %llu bytes in the module, handle %u has %llu",
                            h, name, (unsigned long long)bytes, handles[h],
                            (unsigned long long)graph->data->handles[handles[h]].bytes);
    }
    return CLO_OK;
}

static bool is_demanded(const clo_graph *graph, uint32_t resource)
{
    for (size_t d = 0; d < graph->demands_count; d++)
        if (graph->demands[d][resource] > 0)
            return true;
    return false;
}

/* By name; an unnamed one by number, and a new name where the number is free. */
static clo_status match_resources(inlining *in)
{
    clo_graph *graph = in->graph;

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        const char *name = in->module->resource_names[r];
        uint32_t of = 0;
        while (name != NULL && of < CLO_RESOURCES_MAX &&
               (graph->resource_names[of] == NULL || strcmp(graph->resource_names[of], name) != 0))
            of++;
        in->resource_of[r] = name != NULL && of < CLO_RESOURCES_MAX ? of : r;
        bool is_free = graph->resource_names[r] == NULL && !is_demanded(graph, r);
        bool is_same = name == NULL ? graph->resource_names[r] == NULL : of < CLO_RESOURCES_MAX;
        if (is_same || !is_demanded(in->module, r))
            continue;
        if (name == NULL || !is_free)
            return clo_fail(CLO_ERR_ARGUMENT,
                            "resource %u of module \"%.60s\" (\"%.60s\") has no match in the graph; name it there with "
                            "clo_graph_set_resource",
                            r, in->module->name, name != NULL ? name : "unnamed");
        clo_status status = clo_graph_set_resource(graph, r, name);
        if (status != CLO_OK)
            return status;
    }
    return CLO_OK;
}

static clo_status copy_kinds(inlining *in)
{
    clo_status status = CLO_OK;

    for (uint32_t k = 0; k < in->module->kinds && status == CLO_OK; k++)
        status = clo_graph_kind(in->graph, in->module->kind_names[k], &in->kind_of[k]);
    return status;
}

static clo_status copy_handles(inlining *in, const uint32_t *handles)
{
    uint32_t count = clo_graph_handles(in->module);
    clo_status status = CLO_OK;

    in->handle_of = clo_allocate(count, sizeof *in->handle_of);
    if (in->handle_of == NULL)
        return clo_fail_memory("the handles of a module");
    for (uint32_t h = 0; h < count && status == CLO_OK; h++)
        if (handles != NULL && handles[h] != CLO_NONE)
            in->handle_of[h] = handles[h];
        else
            status = clo_graph_add_handle(in->graph, &in->module->data->handles[h], &in->handle_of[h]);
    return status;
}

/* Bodies and times of single kinds. */
static clo_status copy_specials(const inlining *in, uint32_t t)
{
    const clo_graph *module = in->module;
    clo_status status = CLO_OK;
    int64_t time_ns;

    for (uint32_t s = clo_graph_special_first(module, t); s != CLO_NONE && status == CLO_OK;
         s = module->specials[s].next) {
        const clo_graph_special *special = &module->specials[s];
        uint32_t kind = in->kind_of[special->kind];
        if (special->body != NULL)
            status = clo_graph_set_body_argument(in->graph, in->first + t, kind, special->body, special->argument);
        if (status == CLO_OK && clo_graph_time(module, t, special->kind, &time_ns))
            status = clo_graph_set_time(in->graph, in->first + t, kind, time_ns);
    }
    return status;
}

static clo_status copy_placement(const inlining *in, uint32_t t)
{
    const clo_placement_sets *sets = &in->module->sets;
    uint32_t placement = clo_graph_placement(in->module, t);
    clo_executor_bits bits = {{0}};

    if (placement == CLO_NONE)
        return CLO_OK;
    for (uint32_t e = clo_placement_next(sets, placement, 0); e != CLO_NONE;
         e = clo_placement_next(sets, placement, e + 1))
        bits.words[e / 64] |= 1ull << e % 64;
    return clo_graph_restrict(in->graph, in->first + t, &bits);
}

static clo_status copy_task(const inlining *in, uint32_t t)
{
    clo_task task;
    clo_codelet codelet;
    clo_status status = clo_graph_task(in->module, t, &task);

    if (status != CLO_OK)
        return status;
    const int64_t *demand = clo_graph_demand(in->module, t);
    memset(task.demand, 0, sizeof task.demand);
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        if (demand[r] > 0)
            task.demand[in->resource_of[r]] = demand[r];
    task.executors_mask = 0;
    task.duplicable |= clo_graph_pinned_by(in->module, t) != CLO_NONE;
    status = clo_graph_add_task(in->graph, &task, NULL);
    if (status == CLO_OK)
        status = copy_placement(in, t);
    if (status == CLO_OK && clo_graph_codelet(in->module, t, &codelet))
        status = clo_graph_set_codelet(in->graph, in->first + t, &codelet);
    return status == CLO_OK ? copy_specials(in, t) : status;
}

static clo_status copy_branches(const inlining *in)
{
    const clo_graph_control_flow *control_flow = in->module->control_flow;
    clo_status status = CLO_OK;

    for (uint32_t b = 0; control_flow != NULL && b < control_flow->branches_count && status == CLO_OK; b++) {
        const clo_graph_branch_row *row = &control_flow->branches[b];
        const uint32_t *chances = row->chance == CLO_NONE ? NULL : &control_flow->chances[row->chance];
        status = row->bound > 0 ? clo_graph_set_last(in->graph, in->first + row->task, row->bound)
                                : clo_graph_set_branch(in->graph, in->first + row->task, row->arms, chances);
    }
    for (uint32_t i = 0; control_flow != NULL && i < control_flow->merges_count && status == CLO_OK; i++)
        status = clo_graph_set_merge(in->graph, in->first + control_flow->merges[i]);
    return status;
}

static clo_status copy_edge(const inlining *in, uint32_t e)
{
    clo_edge edge = clo_graph_edge_as_added(in->module, e);
    uint32_t arm = clo_graph_edge_arm(in->module, e);

    if (arm != CLO_NONE)
        return clo_graph_add_arm(in->graph, in->first + edge.from, in->first + edge.to, edge.bytes, arm);
    return clo_graph_add_edge(in->graph, in->first + edge.from, in->first + edge.to, edge.bytes);
}

static clo_status copy_uses(const inlining *in)
{
    clo_status status = copy_branches(in);

    for (uint32_t e = 0; e < clo_graph_edges_added(in->module) && status == CLO_OK; e++)
        status = copy_edge(in, e);
    for (uint32_t a = 0; a < clo_graph_accesses(in->module) && status == CLO_OK; a++) {
        const clo_graph_access_row *row = &in->module->data->accesses[a];
        status = clo_graph_add_access(in->graph, in->first + row->task, in->handle_of[row->handle], row->mode);
    }
    return status;
}

clo_status clo_graph_add_module(clo_graph *graph, const clo_graph *module, const uint32_t *handles, uint32_t *first)
{
    if (graph == NULL || module == NULL)
        return clo_fail_null("clo_graph_add_module", "graph or module");
    inlining in = {.graph = graph, .module = module, .first = graph->tasks};
    clo_status status = check(graph, module, handles);

    if (status != CLO_OK)
        return status;
    clo_graph_mark was = clo_graph_look(graph);
    status = match_resources(&in);
    if (status == CLO_OK)
        status = copy_kinds(&in);
    if (status == CLO_OK)
        status = copy_handles(&in, handles);
    for (uint32_t t = 0; t < module->tasks && status == CLO_OK; t++)
        status = copy_task(&in, t);
    if (status == CLO_OK)
        status = copy_uses(&in);
    clo_free(in.handle_of);
    if (status != CLO_OK)
        clo_graph_go_back(graph, &was);
    else if (first != NULL)
        *first = in.first;
    return status;
}
