/* wfformat_write.c - writes WfFormat 1.5 (wfcommons-schema.json). Every edge with bytes becomes a file of its own,
 * so that it reads back as it was. Times per kind, classes, outputs and replicability have no place there and are
 * left out. */
#include "io/text/reader.h"

#include "base/status.h"
#include "graph/graph.h"
#include "graph/shape/branch.h"

#include <string.h>

static uint32_t memory_resource(const clo_graph *graph)
{
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        if (clo_graph_resource_name(graph, r) != NULL && strcmp(clo_graph_resource_name(graph, r), "memory") == 0)
            return r;
    return CLO_NONE;
}

/* The number, as predecessor, of the edge out[at] of task `t`. */
static uint32_t edge_of(const clo_graph *graph, uint32_t t, uint32_t at)
{
    uint32_t edge = graph->in_first[graph->out[at]];

    if (graph->out_edge != NULL)
        return graph->out_edge[at];
    while (clo_graph_source(graph, edge) != t) /* it is among them */
        edge++;
    return edge;
}

/* "inputFiles" or "outputFiles" of a task; edges are numbered as predecessors. */
static void write_files(const clo_graph *graph, uint32_t t, bool inputs, clo_text *text)
{
    const uint32_t *first = inputs ? graph->in_first : graph->out_first;
    const char *before = "";

    clo_text_add(text, inputs ? ", \"inputFiles\": [" : ", \"outputFiles\": [");
    for (uint32_t i = first[t]; i < first[t + 1] && clo_graph_has_bytes(graph); i++) {
        uint32_t edge = inputs ? i : edge_of(graph, t, i);
        if (clo_graph_in_bytes(graph, edge) == 0)
            continue;
        clo_text_add(text, "%s\"f%u\"", before, (unsigned)edge);
        before = ", ";
    }
    clo_text_add(text, "]");
}

static void write_spec(const clo_graph *graph, uint32_t t, bool named, clo_text *text)
{
    char scratch[16];
    const char *name = clo_graph_task_name(graph, t, scratch);

    clo_text_add(text, "%s\n    {\"name\": ", t == 0 ? "" : ",");
    if (name[0] != '\0')
        clo_text_add_json(text, name);
    else
        clo_writer_add_id(text, graph, t, named); /* the schema wants names of at least one character */
    clo_text_add(text, ", \"id\": ");
    clo_writer_add_id(text, graph, t, named);
    clo_text_add(text, ", \"parents\": [");
    for (uint32_t i = graph->in_first[t]; i < graph->in_first[t + 1]; i++) {
        clo_text_add(text, "%s", i == graph->in_first[t] ? "" : ", ");
        clo_writer_add_id(text, graph, clo_graph_source(graph, i), named);
    }
    clo_text_add(text, "], \"children\": [");
    for (uint32_t i = graph->out_first[t]; i < graph->out_first[t + 1]; i++) {
        clo_text_add(text, "%s", i == graph->out_first[t] ? "" : ", ");
        clo_writer_add_id(text, graph, graph->out[i], named);
    }
    clo_text_add(text, "]");
    write_files(graph, t, true, text);
    write_files(graph, t, false, text);
    clo_text_add(text, "}");
}

static void write_command(const clo_command *command, clo_text *text)
{
    clo_text_add(text, ", \"command\": {\"program\": ");
    clo_text_add_json(text, command->argv[0]);
    clo_text_add(text, ", \"arguments\": [");
    for (size_t i = 1; command->argv[i] != NULL; i++) {
        clo_text_add(text, i == 1 ? "" : ", ");
        clo_text_add_json(text, command->argv[i]);
    }
    clo_text_add(text, "]}");
}

static clo_status write_run(const clo_graph *graph, uint32_t t, bool named, clo_text *text)
{
    uint32_t memory = memory_resource(graph);
    clo_task task;
    clo_status status = clo_graph_task(graph, t, &task);

    if (status != CLO_OK)
        return status;
    clo_text_add(text, "%s\n    {\"id\": ", t == 0 ? "" : ",");
    clo_writer_add_id(text, graph, t, named);
    clo_text_add(text, ", \"runtimeInSeconds\": ");
    clo_text_add_seconds(text, task.work_ns);
    if (memory != CLO_NONE)
        clo_text_add(text, ", \"memoryInBytes\": %lld", (long long)task.demand[memory]);
    if (task.body == clo_body_command && task.argument != NULL)
        write_command(task.argument, text);
    clo_text_add(text, "}");
    return CLO_OK;
}

clo_status clo_wfformat_write(const clo_document *document, clo_text *text)
{
    const clo_graph *graph = document->graph;
    const char *before = "";
    clo_status status;
    bool named = clo_writer_names_are_ids(graph, "-_.#", &status);

    if (status == CLO_OK)
        status = clo_writer_refuse_instances(graph, "wfformat");
    if (status == CLO_OK)
        status = clo_graph_refuse_control_flow(graph, "format wfformat");
    if (status != CLO_OK)
        return status;
    clo_text_add(text, "{\"name\": ");
    clo_text_add_json(text, clo_graph_name(graph)[0] != '\0' ? clo_graph_name(graph) : "graph");
    clo_text_add(text, ", \"schemaVersion\": \"1.5\", \"workflow\": {\n  \"specification\": {\"tasks\": [");
    for (uint32_t t = 0; t < graph->tasks; t++)
        write_spec(graph, t, named, text);
    clo_text_add(text, "],\n   \"files\": [");
    for (uint32_t edge = 0; edge < graph->edges; edge++) {
        if (clo_graph_in_bytes(graph, edge) == 0)
            continue;
        clo_text_add(text, "%s\n    {\"id\": \"f%u\", \"sizeInBytes\": %llu}", before, (unsigned)edge,
                     (unsigned long long)clo_graph_in_bytes(graph, edge));
        before = ",";
    }
    /* The schema wants both; nothing was measured here. */
    clo_text_add(
        text,
        "]},\n  \"execution\": {\"makespanInSeconds\": 0, \"executedAt\": \"1970-01-01T00:00:00Z\", \"tasks\": [");
    for (uint32_t t = 0; t < graph->tasks && status == CLO_OK; t++)
        status = write_run(graph, t, named, text);
    clo_text_add(text, "]}}}\n");
    return status;
}
