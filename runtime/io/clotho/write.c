/* write.c - writes the own format: one line a task and an edge, defaults left out. What is written reads
 * back as the same graph, except C functions, which no file can carry (they read back as the default body). */
#include "io/text/reader.h"

#include "base/status.h"
#include "generate/body.h"
#include "graph/graph.h"
#include "io/clotho/control_flow.h"
#include "io/text/names.h"

#include <clotho/branch.h>

#include <string.h>

static clo_status check_bytes(const clo_graph *graph, uint32_t task, const char *what, uint64_t value)
{
    char scratch[16];

    if (value <= CLO_JSON_INTEGER_MAX)
        return CLO_OK;
    return clo_fail(CLO_ERR_UNSUPPORTED, "task '%s': %s is %llu; JSON holds integers up to 2^53 exactly",
                    clo_graph_task_name(graph, task, scratch), what, (unsigned long long)value);
}

/* Refuses what JSON would silently change. */
static clo_status check_task(const clo_graph *graph, uint32_t t, const clo_task *task)
{
    char scratch[16];
    int64_t ns;
    clo_status status = check_bytes(graph, t, "work_ns", (uint64_t)task->work_ns);

    if (status == CLO_OK)
        status = check_bytes(graph, t, "output_bytes", task->output_bytes);
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX && status == CLO_OK; r++)
        status = check_bytes(graph, t, "a demand", (uint64_t)task->demand[r]);
    for (uint32_t k = 0; k < clo_graph_kinds(graph) && status == CLO_OK; k++)
        if (clo_graph_time(graph, t, k, &ns) && ns != CLO_TIME_NEVER)
            status = check_bytes(graph, t, "a time", (uint64_t)ns);
    if (status == CLO_OK && clo_graph_has_kind_body(graph, t))
        status = clo_fail(CLO_ERR_UNSUPPORTED, "task '%s' has C functions for single kinds, which a file cannot hold",
                          clo_graph_task_name(graph, t, scratch));
    return status;
}

static void write_head(const clo_document *document, clo_text *text)
{
    const clo_graph *graph = document->graph;
    uint32_t resources = CLO_RESOURCES_MAX;

    clo_text_add(text, "{\n  \"format\": \"clotho.graph/1\",\n  \"name\": ");
    clo_text_add_json(text, clo_graph_name(graph));
    if (document->unit_ns > 0 && document->unit_ns != 1) {
        clo_text_add(text, ",\n  \"unit_ns\": ");
        clo_text_add_double(text, document->unit_ns);
    }
    for (uint32_t k = 0; k < clo_graph_kinds(graph); k++) {
        clo_text_add(text, k == 0 ? ",\n  \"kinds\": [" : ", ");
        clo_text_add_json(text, clo_graph_kind_name(graph, k));
    }
    clo_text_add(text, clo_graph_kinds(graph) > 0 ? "]" : "");
    while (resources > 0 && clo_graph_resource_name(graph, resources - 1) == NULL)
        resources--;
    for (uint32_t r = 0; r < resources; r++) {
        clo_text_add(text, r == 0 ? ",\n  \"resources\": [" : ", ");
        if (clo_graph_resource_name(graph, r) == NULL)
            clo_text_add(text, "null");
        else
            clo_text_add_json(text, clo_graph_resource_name(graph, r));
    }
    clo_text_add(text, resources > 0 ? "]" : "");
}

static void write_times(const clo_graph *graph, uint32_t t, clo_text *text)
{
    const char *before = ", \"times\": {";
    int64_t ns;

    for (uint32_t k = 0; k < clo_graph_kinds(graph); k++) {
        if (!clo_graph_time(graph, t, k, &ns))
            continue;
        clo_text_add(text, "%s", before);
        clo_text_add_json(text, clo_graph_kind_name(graph, k));
        if (ns == CLO_TIME_NEVER)
            clo_text_add(text, ": null");
        else
            clo_text_add(text, ": %lld", (long long)ns);
        before = ", ";
    }
    if (before[2] == '\0')
        clo_text_add(text, "}");
}

static void write_codelet(const clo_graph *graph, uint32_t t, clo_text *text)
{
    clo_codelet codelet;

    if (!clo_graph_codelet(graph, t, &codelet))
        return;
    bool is_plain = codelet.version == 0 && codelet.footprint == 0;
    clo_text_add(text, is_plain ? ", \"codelet\": " : ", \"codelet\": {\"name\": ");
    clo_text_add_json(text, codelet.name);
    if (codelet.version > 0)
        clo_text_add(text, ", \"version\": %u", (unsigned)codelet.version);
    if (codelet.footprint > 0)
        clo_text_add(text,
                     codelet.footprint <= CLO_JSON_INTEGER_MAX ? ", \"footprint\": %llu" : ", \"footprint\": \"%llx\"",
                     (unsigned long long)codelet.footprint);
    clo_text_add(text, is_plain ? "" : "}");
}

static void write_demand(const clo_graph *graph, const clo_task *task, clo_text *text)
{
    uint32_t count = CLO_RESOURCES_MAX;
    bool named = true;
    const char *before = "";

    while (count > 0 && task->demand[count - 1] == 0)
        count--;
    if (count == 0)
        return;
    for (uint32_t r = 0; r < count; r++)
        named = named && (task->demand[r] == 0 || clo_graph_resource_name(graph, r) != NULL);
    clo_text_add(text, ", \"demand\": %c", named ? '{' : '[');
    for (uint32_t r = 0; r < count; r++) {
        if (named && task->demand[r] == 0)
            continue;
        clo_text_add(text, "%s", before);
        if (named) {
            clo_text_add_json(text, clo_graph_resource_name(graph, r));
            clo_text_add(text, ": ");
        }
        clo_text_add(text, "%lld", (long long)task->demand[r]);
        before = ", ";
    }
    clo_text_add(text, "%c", named ? '}' : ']');
}

static void write_class(const clo_task *task, clo_text *text)
{
    static const char *const names[CLO_CLASSES_BUILTIN] = {"generic", "integer", "float", "memory"};

    if (task->task_class >= CLO_CLASSES_BUILTIN)
        clo_text_add(text, ", \"class\": %u", (unsigned)task->task_class);
    else if (task->task_class != CLO_CLASS_GENERIC)
        clo_text_add(text, ", \"class\": \"%s\"", names[task->task_class]);
}

static void write_executors(const clo_graph *graph, uint32_t t, clo_text *text)
{
    uint32_t placement = clo_graph_placement(graph, t);
    const char *before = ", \"executors\": [";

    if (placement == CLO_NONE)
        return;
    for (uint32_t e = clo_placement_next(&graph->sets, placement, 0); e != CLO_NONE;
         e = clo_placement_next(&graph->sets, placement, e + 1)) {
        clo_text_add(text, "%s%u", before, e);
        before = ", ";
    }
    clo_text_add(text, "]");
}

static void write_body(const clo_task *task, clo_text *text)
{
    const char *name = task->body == NULL ? "none" : clo_body_name(task->body);
    const clo_command *command = task->argument;

    if (task->body == clo_body_command && command != NULL) {
        for (size_t i = 0; command->argv[i] != NULL; i++) {
            clo_text_add(text, i == 0 ? ", \"command\": [" : ", ");
            clo_text_add_json(text, command->argv[i]);
        }
        clo_text_add(text, "]");
        if (command->directory != NULL) {
            clo_text_add(text, ", \"directory\": ");
            clo_text_add_json(text, command->directory);
        }
    } else if (name != NULL && strcmp(name, "spin") != 0 && strcmp(name, "command") != 0) {
        clo_text_add(text, ", \"body\": \"%s\"", name); /* "spin" is the default, and --body may replace it */
    }
}

/* A handle with a buffer of the application reads back as one that is kept: it has content too. */
static void write_handles(const clo_graph *graph, clo_text *text)
{
    for (uint32_t h = 0; h < clo_graph_handles(graph); h++) {
        const clo_handle *handle = &graph->data->handles[h];
        clo_text_add(text, h == 0 ? ",\n  \"handles\": [\n    {" : ",\n    {");
        if (handle->name != NULL) {
            clo_text_add(text, "\"name\": ");
            clo_text_add_json(text, handle->name);
            clo_text_add(text, ", ");
        }
        clo_text_add(text, "\"bytes\": %llu%s}", (unsigned long long)handle->bytes,
                     clo_handle_is_fixed(handle) ? ", \"kept\": true" : "");
    }
    clo_text_add(text, clo_graph_handles(graph) > 0 ? "\n  ]" : "");
}

static void write_data(const clo_graph *graph, uint32_t task, clo_text *text)
{
    static const char *const modes[] = {"", "read", "write", "update"};
    const clo_graph_data *data = graph->data;
    uint32_t first = data == NULL ? 0 : data->first[task], end = data == NULL ? 0 : data->first[task + 1];

    for (uint32_t a = first; a < end; a++) {
        const clo_graph_access_row *row = &data->accesses[a];
        clo_text_add(text, a == first ? ", \"data\": [" : ", ");
        clo_text_add(text, "{\"handle\": %u, \"mode\": \"%s\"%s}", row->handle, modes[row->mode & 3],
                     (row->mode & CLO_ACCESS_PARTS) != 0 ? ", \"parts\": true" : "");
    }
    clo_text_add(text, end > first ? "]" : "");
}

static clo_status write_task(const clo_graph *graph, uint32_t t, clo_text *text)
{
    clo_task task;
    clo_status status = clo_graph_task(graph, t, &task);

    if (status == CLO_OK)
        status = check_task(graph, t, &task);
    if (status != CLO_OK)
        return status;
    clo_text_add(text, t == 0 ? "\n    {" : ",\n    {");
    if (task.name != NULL) {
        clo_text_add(text, "\"name\": ");
        clo_text_add_json(text, task.name);
        clo_text_add(text, ", ");
    }
    clo_text_add(text, "\"work_ns\": %lld", (long long)task.work_ns);
    write_times(graph, t, text);
    write_codelet(graph, t, text);
    write_class(&task, text);
    write_executors(graph, t, text);
    if (task.output_bytes > 0)
        clo_text_add(text, ", \"output_bytes\": %llu", (unsigned long long)task.output_bytes);
    if (task.instances > 1)
        clo_text_add(text, ", \"instances\": %u", (unsigned)task.instances);
    if (task.grain > 0)
        clo_text_add(text, ", \"grain\": %u", (unsigned)task.grain);
    if (task.duplicable || clo_graph_pinned_by(graph, t) != CLO_NONE) /* as declared */
        clo_text_add(text, ", \"duplicable\": true");
    clo_clotho_write_control_flow(graph, t, text);
    write_data(graph, t, text);
    write_demand(graph, &task, text);
    write_body(&task, text);
    clo_text_add(text, "}");
    return CLO_OK;
}

/* By name where that is unambiguous, for people; else by index. */
static void write_end(const clo_graph *graph, const clo_names *names, uint32_t t, clo_text *text)
{
    clo_task task;

    if (clo_graph_task(graph, t, &task) == CLO_OK && task.name != NULL && clo_names_find(names, task.name) == t)
        clo_text_add_json(text, task.name);
    else
        clo_text_add(text, "%u", (unsigned)t);
}

static clo_status write_edges(const clo_graph *graph, const clo_names *names, clo_text *text)
{
    for (uint32_t e = 0; e < clo_graph_edges_added(graph); e++) {
        clo_edge edge = clo_graph_edge_as_added(graph, e);
        clo_status status = check_bytes(graph, edge.from, "the bytes of an edge", edge.bytes);
        if (status != CLO_OK)
            return status;
        clo_text_add(text, e == 0 ? "\n    {\"from\": " : ",\n    {\"from\": ");
        write_end(graph, names, edge.from, text);
        clo_text_add(text, ", \"to\": ");
        write_end(graph, names, edge.to, text);
        if (edge.bytes > 0)
            clo_text_add(text, ", \"bytes\": %llu", (unsigned long long)edge.bytes);
        if (clo_graph_edge_arm(graph, e) != CLO_NONE)
            clo_text_add(text, ", \"arm\": %u", (unsigned)clo_graph_edge_arm(graph, e));
        clo_text_add(text, "}");
    }
    return CLO_OK;
}

clo_status clo_clotho_write(const clo_document *document, clo_text *text)
{
    const clo_graph *graph = document->graph;
    clo_names names = {0};
    clo_status status = CLO_OK;

    if (clo_names_of_tasks(&names, graph) != 0) {
        clo_names_free(&names);
        return clo_fail_memory("the names of the tasks");
    }
    write_head(document, text);
    write_handles(graph, text);
    clo_text_add(text, ",\n  \"tasks\": [");
    for (uint32_t t = 0; t < clo_graph_tasks(graph) && status == CLO_OK; t++)
        status = write_task(graph, t, text);
    clo_text_add(text, "\n  ],\n  \"edges\": [");
    if (status == CLO_OK)
        status = write_edges(graph, &names, text);
    clo_names_free(&names);
    clo_text_add(text, clo_graph_edges_added(graph) > 0 ? "\n  ]" : "]");
    if (status == CLO_OK && document->platform != NULL) {
        clo_text_add(text, ",\n  \"platform\": ");
        status = clo_platform_write(document->platform, text);
    }
    clo_text_add(text, "\n}\n");
    return status;
}
