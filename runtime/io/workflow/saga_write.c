/* saga_write.c - writes the SAGA form. It holds one cost a task, one speed a node, one bandwidth a pair: what
 * needs more (times that do not follow from speeds, latencies, instances) is refused, never bent. */
#include "io/text/reader.h"

#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"
#include "graph/shape/branch.h"
#include "io/text/names.h"
#include "platform/model/platform.h"

#include <clotho/cost.h>

#include <stdio.h>

#define UNIT_NS 1e9
#define UNIT_BYTES 0x1p30

typedef struct writer {
    const clo_graph *graph;
    const clo_platform *platform;
    clo_cost *cost;
    double *speeds; /* [executors] */
    bool named;     /* every executor has a name of its own; else "n<INDEX>" */
} writer;

/* The number of fewest digits for which `same` holds: what was read as 2.823 is written as 2.823. */
static double shortest(double value, bool (*same)(double candidate, const int64_t *want), const int64_t *want)
{
    char digits[40];

    for (int count = 1; count <= 16; count++) {
        clo_print(digits, sizeof digits, "%.*g", count, value);
        double candidate = clo_number_read(digits, NULL);
        if (same(candidate, want))
            return candidate;
    }
    return value;
}

static bool gives_time(double speed, const int64_t *work_and_ns)
{
    double ns = (double)work_and_ns[0] / speed;

    return speed > 0 && ns < 0x1p62 && clo_round(ns) == work_and_ns[1];
}

static bool gives_link(double rate, const int64_t *ns_per_byte_q32)
{
    double q32 = 0x1p32 / (rate * (UNIT_BYTES / UNIT_NS));

    return rate > 0 && q32 < 0x1p62 && clo_round(q32) == *ns_per_byte_q32;
}

/* From the task with the most work, which gives the most digits. */
static double speed_of(const writer *w, uint32_t executor)
{
    double speed = w->platform->executors[executor].speed_q16[0] / (double)CLO_SPEED_ONE;
    int64_t most[2] = {0, 0};
    clo_task task;

    for (uint32_t t = 0; t < clo_graph_tasks(w->graph); t++) {
        int64_t ns = clo_cost_execution_ns(w->cost, t, executor);
        if (clo_graph_task(w->graph, t, &task) == CLO_OK && task.work_ns > most[0] && ns > 0 && ns != CLO_TIME_NEVER) {
            most[0] = task.work_ns;
            most[1] = ns;
        }
    }
    return most[0] > 0 ? shortest((double)most[0] / (double)most[1], gives_time, most) : speed;
}

/* Every task must take work / speed on every executor, within the rounding to ns. */
static clo_status check_task(const writer *w, uint32_t t)
{
    char scratch[16];
    clo_task task;
    clo_status status = clo_graph_task(w->graph, t, &task);

    for (uint32_t e = 0; e < w->platform->executors_count && status == CLO_OK; e++) {
        double wanted = (double)task.work_ns / w->speeds[e];
        int64_t ns = clo_cost_execution_ns(w->cost, t, e);
        double off = (double)ns - wanted;
        if (ns == CLO_TIME_NEVER || (off < 0 ? -off : off) > 1 + wanted * 1e-9)
            return clo_fail(CLO_ERR_UNSUPPORTED,
                            "task '%s': its time on %s does not follow from a speed, as saga needs; "
                            "write clotho",
                            clo_graph_task_name(w->graph, t, scratch), w->platform->executor_names[e]);
    }
    return status;
}

/* Units of data a unit of time; 0: infinite. */
static double rate_of(const clo_platform *p, uint32_t a, uint32_t b)
{
    uint64_t q32 = p->ns_per_byte_q32[clo_platform_cell(p, 0, a, b)];

    return q32 == 0 || p->executors[a].memory == p->executors[b].memory ? 0
                                                                        : 0x1p32 / (double)q32 * (UNIT_NS / UNIT_BYTES);
}

static clo_status check_links(const clo_platform *p)
{
    size_t n = p->executors_count;

    if (n > CLO_GRAPH_KINDS_MAX)
        return clo_fail(CLO_ERR_UNSUPPORTED, "saga: %zu executors; at most %d could be read again, write clotho", n,
                        CLO_GRAPH_KINDS_MAX);
    if (p->pieces_count > 1)
        return clo_fail(CLO_ERR_UNSUPPORTED,
                        "platform '%s': its links have pieces, which saga cannot hold; write clotho", p->name);
    if (p->port_q32 != NULL)
        return clo_fail(CLO_ERR_UNSUPPORTED,
                        "platform '%s': its machines have ports, which saga cannot hold; write clotho", p->name);
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++) {
            size_t there = clo_platform_cell(p, 0, a, b), back = clo_platform_cell(p, 0, b, a);
            if (p->executors[a].memory == p->executors[b].memory)
                continue;
            if (p->latency_ns[there] != 0 || p->ns_per_byte_q32[there] != p->ns_per_byte_q32[back])
                return clo_fail(CLO_ERR_UNSUPPORTED,
                                "link %s - %s has a latency or two bandwidths, which saga cannot hold; "
                                "write clotho",
                                p->executor_names[a], p->executor_names[b]);
        }
    return CLO_OK;
}

static clo_status name_nodes(writer *w)
{
    clo_names names = {0};
    clo_status status = CLO_OK;

    w->named = true;
    for (uint32_t e = 0; e < w->platform->executors_count && status == CLO_OK; e++) {
        const char *name = w->platform->executor_names[e];
        w->named = w->named && name[0] != '\0' && clo_names_find(&names, name) == CLO_NONE;
        if (clo_names_add(&names, name, e) != 0)
            status = clo_fail_memory("the names of the nodes");
    }
    clo_names_free(&names);
    return status;
}

static clo_status prepare(writer *w)
{
    clo_status status = clo_writer_refuse_instances(w->graph, "saga");

    if (status == CLO_OK)
        status = check_links(w->platform);
    if (status == CLO_OK)
        status = clo_cost_create(w->graph, w->platform, &w->cost);
    if (status != CLO_OK)
        return status == CLO_ERR_MEMORY ? status : CLO_ERR_UNSUPPORTED;
    w->speeds = clo_allocate(w->platform->executors_count, sizeof *w->speeds);
    if (w->speeds == NULL)
        return clo_fail_memory("the speeds");
    for (uint32_t e = 0; e < w->platform->executors_count; e++) {
        w->speeds[e] = speed_of(w, e);
        if (!(w->speeds[e] >= 1e-12 && w->speeds[e] <= 1e12))
            return clo_fail(CLO_ERR_UNSUPPORTED, "saga: a speed of %g for %s could not be read again; write clotho",
                            w->speeds[e], w->platform->executor_names[e]);
    }
    status = name_nodes(w);
    for (uint32_t t = 0; t < clo_graph_tasks(w->graph) && status == CLO_OK; t++)
        status = check_task(w, t);
    return status;
}

static clo_status write_tasks(const writer *w, bool named, clo_text *text)
{
    clo_task task;
    clo_edge edge;
    clo_status status = CLO_OK;

    clo_text_add(text, ",\n \"tasks\": [");
    for (uint32_t t = 0; t < clo_graph_tasks(w->graph) && status == CLO_OK; t++) {
        status = clo_graph_task(w->graph, t, &task);
        clo_text_add(text, "%s\n  {\"name\": ", t == 0 ? "" : ",");
        clo_writer_add_id(text, w->graph, t, named);
        clo_text_add(text, ", \"cost\": ");
        clo_text_add_seconds(text, task.work_ns);
        clo_text_add(text, "}");
    }
    clo_text_add(text, "],\n \"edges\": [");
    for (uint32_t e = 0; e < clo_graph_edges(w->graph) && status == CLO_OK; e++) {
        status = clo_graph_edge(w->graph, e, &edge);
        clo_text_add(text, "%s\n  {\"src\": ", e == 0 ? "" : ",");
        clo_writer_add_id(text, w->graph, edge.from, named);
        clo_text_add(text, ", \"dst\": ");
        clo_writer_add_id(text, w->graph, edge.to, named);
        clo_text_add(text, ", \"size\": ");
        clo_text_add_double(text, (double)edge.bytes / UNIT_BYTES);
        clo_text_add(text, "}");
    }
    clo_text_add(text, "]");
    return status;
}

static void write_node(const writer *w, uint32_t e, clo_text *text)
{
    if (w->named)
        clo_text_add_json(text, w->platform->executor_names[e]);
    else
        clo_text_add(text, "\"n%u\"", (unsigned)e);
}

static void write_link(const writer *w, uint32_t a, uint32_t b, clo_text *text)
{
    const clo_platform *p = w->platform;
    int64_t q32 = (int64_t)p->ns_per_byte_q32[clo_platform_cell(p, 0, a, b)];
    double rate = rate_of(p, a, b);

    clo_text_add(text, a == 0 && b == 1 ? "\n  {\"a\": " : ",\n  {\"a\": ");
    write_node(w, a, text);
    clo_text_add(text, ", \"b\": ");
    write_node(w, b, text);
    clo_text_add(text, ", \"bandwidth\": ");
    if (rate == 0)
        clo_text_add(text, "null");
    else
        clo_text_add_double(text, shortest(rate, gives_link, &q32));
    clo_text_add(text, "}");
}

static void write_platform(const writer *w, clo_text *text)
{
    uint32_t n = w->platform->executors_count;

    for (uint32_t e = 0; e < n; e++) {
        clo_text_add(text, e == 0 ? ",\n \"nodes\": [\n  {\"name\": " : ",\n  {\"name\": ");
        write_node(w, e, text);
        clo_text_add(text, ", \"speed\": ");
        clo_text_add_double(text, w->speeds[e]);
        clo_text_add(text, "}");
    }
    clo_text_add(text, "],\n \"links\": [");
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = a + 1; b < n; b++)
            write_link(w, a, b, text);
    clo_text_add(text, "]}\n");
}

clo_status clo_saga_write(const clo_document *document, clo_text *text)
{
    writer w = {.graph = document->graph, .platform = document->platform};
    clo_status status;

    if (w.platform == NULL)
        return clo_fail(CLO_ERR_UNSUPPORTED,
                        "saga: the graph '%s' carries no platform, which this format has; write clotho",
                        clo_graph_name(w.graph));
    bool named = clo_writer_names_are_ids(w.graph, NULL, &status);
    if (status == CLO_OK)
        status = clo_graph_refuse_control_flow(w.graph, "format saga");
    if (status == CLO_OK)
        status = prepare(&w);
    if (status == CLO_OK) {
        clo_text_add(text, "{\"name\": ");
        clo_text_add_json(text, clo_graph_name(w.graph));
        status = write_tasks(&w, named, text);
        write_platform(&w, text);
    }
    clo_cost_destroy(w.cost);
    clo_free(w.speeds);
    return status;
}
