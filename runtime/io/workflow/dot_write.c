/* dot_write.c - writes DOT that Graphviz draws legibly and dot.c reads back: work, class, bytes as attributes of
 * their own, the label in units for people. Branches are diamonds, merges are houses upside down, edges of arms have
 * the arm in their labels. Edges of handles are dashed and named after them. Times per kind, demands, masks and bodies
 * have no place there and are left out. */
#include "io/text/reader.h"

#include "base/status.h"
#include "graph/graph.h"
#include "io/workflow/dot_control_flow.h"

#include <clotho/branch.h>

#include <string.h>

static void add_quoted(clo_text *text, const char *name)
{
    clo_text_add_bytes(text, "\"", 1);
    for (const char *c = name; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            clo_text_add_bytes(text, "\\", 1);
        clo_text_add_bytes(text, c, 1);
    }
    clo_text_add_bytes(text, "\"", 1);
}

static void add_id(clo_text *text, const clo_graph *graph, uint32_t task, bool named)
{
    char scratch[16];

    if (named)
        add_quoted(text, clo_graph_task_name(graph, task, scratch));
    else
        clo_text_add(text, "t%u", (unsigned)task);
}

/* Content of a quoted label: line breaks would be \n, so backslashes are doubled. */
static void add_label(clo_text *text, const char *name)
{
    for (const char *c = name; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            clo_text_add_bytes(text, "\\", 1);
        clo_text_add_bytes(text, *c == '\n' || *c == '\r' ? " " : c, 1);
    }
}

/* Three digits and a unit: 1.50 ms, 12.0 MB. */
static void add_amount(clo_text *text, double value, double step, const char *const units[5])
{
    int u = 0;

    for (; u < 4 && value >= 999.5 * (step / 1000); u++)
        value /= step;
    clo_text_add(text, u == 0 || value >= 99.95 ? "%.0f %s" : value >= 9.995 ? "%.1f %s" : "%.2f %s", value, units[u]);
}

static clo_status write_task(const clo_graph *graph, uint32_t t, bool named, clo_text *text)
{
    static const char *const classes[CLO_CLASSES_BUILTIN] = {"generic", "integer", "float", "memory"};
    static const char *const units[5] = {"ns", "us", "ms", "s", "ks"};
    char scratch[16];
    clo_task task;
    clo_status status = clo_graph_task(graph, t, &task);

    if (status != CLO_OK)
        return status;
    clo_text_add(text, "  ");
    add_id(text, graph, t, named);
    clo_text_add(text, " [label=\"");
    add_label(text, clo_graph_task_name(graph, t, scratch));
    clo_text_add(text, "\\n");
    add_amount(text, (double)task.work_ns, 1000, units);
    clo_text_add(text, "\", work_ns=%lld", (long long)task.work_ns);
    if (task.task_class >= CLO_CLASSES_BUILTIN)
        clo_text_add(text, ", class=%u", (unsigned)task.task_class);
    else if (task.task_class != CLO_CLASS_GENERIC)
        clo_text_add(text, ", class=%s", classes[task.task_class]);
    if (task.output_bytes > 0)
        clo_text_add(text, ", output_bytes=%llu", (unsigned long long)task.output_bytes);
    if (task.instances > 1)
        clo_text_add(text, ", instances=%u", (unsigned)task.instances);
    if (task.grain > 0)
        clo_text_add(text, ", grain=%u", (unsigned)task.grain);
    clo_dot_write_control_flow(graph, t, text);
    clo_text_add(text, task.duplicable ? ", duplicable=true];\n" : "];\n");
    return CLO_OK;
}

static clo_status write_edge(const clo_graph *graph, uint32_t index, bool named, clo_text *text)
{
    static const char *const units[5] = {"B", "KiB", "MiB", "GiB", "TiB"};
    clo_edge edge;
    uint32_t arm = clo_graph_edge_arm(graph, index);
    clo_status status = clo_graph_edge(graph, index, &edge);

    if (status != CLO_OK)
        return status;
    clo_text_add(text, "  ");
    add_id(text, graph, edge.from, named);
    clo_text_add(text, " -> ");
    add_id(text, graph, edge.to, named);
    if (index >= clo_graph_edges_added(graph)) { /* drawn in another way; read back, it is an edge like others */
        char scratch[16];
        clo_text_add(text, " [style=dashed, label=\"");
        add_label(text, clo_graph_handle_name(graph->data, graph->data->edge_by[index - clo_graph_edges_added(graph)],
                                              scratch));
        if (edge.bytes > 0) {
            clo_text_add(text, "\\n");
            add_amount(text, (double)edge.bytes, 1024, units);
        }
        clo_text_add(text, "\", bytes=%llu]", (unsigned long long)edge.bytes);
    } else if (edge.bytes > 0 || arm != CLO_NONE) {
        clo_text_add(text, " [label=\"");
        if (arm != CLO_NONE)
            clo_text_add(text, "arm %u%s", (unsigned)arm, edge.bytes > 0 ? "\\n" : "");
        if (edge.bytes > 0)
            add_amount(text, (double)edge.bytes, 1024, units);
        clo_text_add(text, "\", bytes=%llu", (unsigned long long)edge.bytes);
        if (arm != CLO_NONE)
            clo_text_add(text, ", arm=%u", (unsigned)arm);
        clo_text_add(text, "]");
    }
    clo_text_add(text, ";\n");
    return CLO_OK;
}

clo_status clo_dot_write(const clo_document *document, clo_text *text)
{
    const clo_graph *graph = document->graph;
    clo_status status;
    bool named = clo_writer_names_are_ids(graph, NULL, &status);

    clo_text_add(text, "digraph ");
    add_quoted(text, clo_graph_name(graph));
    clo_text_add(text, " {\n  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n"
                       "  edge [fontname=\"sans-serif\", fontsize=10];\n");
    for (uint32_t t = 0; t < clo_graph_tasks(graph) && status == CLO_OK; t++)
        status = write_task(graph, t, named, text);
    for (uint32_t e = 0; e < clo_graph_edges(graph) && status == CLO_OK; e++)
        status = write_edge(graph, e, named, text);
    clo_text_add(text, "}\n");
    return status;
}
