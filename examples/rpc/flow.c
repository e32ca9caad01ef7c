/* flow.c - see flow.h. */
#include "flow.h"
#include "answer.h"
#include "options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is being built. */
typedef struct builder {
    const flow_config *config;
    clo_rpc_workflow *workflow;
    const clo_graph *calls;
    clo_edge *edges;
    uint32_t edges_count;
    unsigned char *mark; /* a byte for each call */
    flow_counts counts;
} builder;

static clo_status add_call(const builder *b, const char *service, const char *part, const char *node,
                           uint32_t instances, const int64_t *arrivals_ns)
{
    const flow_config *c = b->config;
    clo_rpc_call call = CLO_RPC_CALL_INIT;
    char name[256];

    snprintf(name, sizeof name, "%s%s%s", part, part[0] != '\0' ? " " : "", node);
    uint64_t hash = answer_mix(answer_hash(ANSWER_BEGIN, name, strlen(name)));
    call.name = name;
    call.service = service;
    call.answer_bytes = c->output_bytes > 0 ? c->output_bytes : UINT32_MAX;
    call.effect = hash / 16 % 100 < c->effect_percent ? c->effect : CLO_RPC_PURE;
    call.work_ns = (int64_t)c->work_us * 1000;
    call.instances = instances;
    call.arrivals_ns = arrivals_ns;
    if (c->is_local) {
        call.here = answer_route;
        call.here_argument = (void *)(uintptr_t)&c->hops;
    }
    return clo_rpc_workflow_add(b->workflow, &call, NULL);
}

static clo_status add_edge(builder *b, uint32_t from, uint32_t to)
{
    b->edges[b->edges_count++] = (clo_edge){.from = from, .to = to};
    return clo_rpc_workflow_after(b->workflow, to, from);
}

/* Can `to` be reached from `from`? */
static int reaches(const builder *b, uint32_t from, uint32_t to)
{
    int grows = 1;

    memset(b->mark, 0, 2 * clo_graph_tasks(b->calls));
    b->mark[from] = 1;
    while (grows) {
        grows = 0;
        for (uint32_t i = 0; i < b->edges_count; i++)
            if (b->mark[b->edges[i].from] && !b->mark[b->edges[i].to])
                grows = b->mark[b->edges[i].to] = 1;
    }
    return b->mark[to];
}

static int is_edge(const builder *b, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < b->edges_count; i++)
        if (b->edges[i].from == from && b->edges[i].to == to)
            return 1;
    return 0;
}

/* Callees of one caller one after the other, in the order of the file. */
static clo_status sequence(builder *b)
{
    uint32_t calls = clo_graph_edges(b->calls), nodes = clo_graph_tasks(b->calls);
    clo_status status = CLO_OK;
    clo_edge edge;

    for (uint32_t caller = 0; caller < nodes; caller++) {
        uint32_t last = CLO_NONE;
        for (uint32_t i = 0; i < calls && status == CLO_OK; i++) {
            if (clo_graph_edge(b->calls, i, &edge) != CLO_OK || edge.from != caller)
                continue;
            uint32_t from = 2 * last + 1, to = 2 * edge.to;
            if (last != CLO_NONE && !is_edge(b, from, to)) {
                int makes_circle = reaches(b, to, from);
                b->counts.not_sequenced += (uint32_t)makes_circle;
                b->counts.sequenced += (uint32_t)!makes_circle;
                if (!makes_circle)
                    status = add_edge(b, from, to);
            }
            last = edge.to;
        }
    }
    return status;
}

static clo_status add_nodes(const builder *b)
{
    uint32_t nodes = clo_graph_tasks(b->calls);
    clo_status status = CLO_OK;
    char scratch[16];
    clo_task task;

    for (uint32_t n = 0; n < nodes && status == CLO_OK; n++) {
        const char *name = clo_graph_task_name(b->calls, n, scratch);
        status = clo_graph_task(b->calls, n, &task);
        if (status == CLO_OK)
            status = add_call(b, name, "before", name, task.instances, NULL);
        if (status == CLO_OK)
            status = add_call(b, name, "after", name, task.instances, NULL);
    }
    return status;
}

static clo_status add_calls(builder *b)
{
    uint32_t calls = clo_graph_edges(b->calls), nodes = clo_graph_tasks(b->calls);
    clo_edge edge;

    b->edges = calloc((size_t)calls * 3 + 2 * (size_t)nodes, sizeof *b->edges);
    b->mark = malloc(2 * (size_t)nodes + 1);
    if (b->edges == NULL || b->mark == NULL)
        option_fail("no memory for the graph");
    clo_status status = add_nodes(b);
    for (uint32_t n = 0; n < nodes && status == CLO_OK; n++)
        status = add_edge(b, 2 * n, 2 * n + 1);
    for (uint32_t i = 0; i < calls && status == CLO_OK; i++) {
        status = clo_graph_edge(b->calls, i, &edge);
        if (status == CLO_OK)
            status = add_edge(b, 2 * edge.from, 2 * edge.to);
        if (status == CLO_OK)
            status = add_edge(b, 2 * edge.to + 1, 2 * edge.from + 1);
    }
    return status == CLO_OK && b->config->order == FLOW_SEQUENCE ? sequence(b) : status;
}

/* Times between requests are exponential. */
static clo_status add_requests(const builder *b)
{
    const flow_config *c = b->config;
    int64_t *arrivals_ns = c->rate > 0 ? calloc(c->requests, sizeof *arrivals_ns) : NULL;
    size_t length = strcspn(c->services, "=");
    uint64_t random = answer_mix(c->seed);
    double at_us = 0;
    char first[CLO_RPC_NAME_BYTES];

    if (c->rate > 0 && arrivals_ns == NULL)
        option_fail("no memory for the graph");
    for (uint32_t i = 0; arrivals_ns != NULL && i < c->requests; i++) {
        random = answer_mix(random);
        at_us -= log(1 - answer_chance(random)) * 1e6 / c->rate;
        arrivals_ns[i] = (int64_t)at_us * 1000;
    }
    snprintf(first, sizeof first, "%.*s", (int)length, c->services);
    clo_status status = add_call(b, first, "", "request", c->requests, arrivals_ns);
    free(arrivals_ns);
    return status;
}

/* The call graph number `pick` of the file. */
static clo_status open_calls(const flow_config *c, clo_document **document)
{
    clo_documents *all = NULL;
    clo_status status = clo_documents_open(c->path, NULL, &all);

    if (status == CLO_OK && c->pick >= clo_documents_count(all))
        option_fail("--pick: %s has %zu graphs, from 0", c->path, clo_documents_count(all));
    for (uint32_t i = 0; status == CLO_OK && i <= c->pick; i++) {
        clo_document_destroy(*document);
        *document = NULL;
        status = clo_documents_next(all, document);
    }
    clo_documents_close(all);
    return status;
}

clo_status flow_add(const flow_config *config, clo_rpc_workflow *workflow, flow_counts *out)
{
    builder b = {.config = config, .workflow = workflow};
    clo_document *document = NULL;

    if (config->path == NULL)
        return add_requests(&b);
    clo_status status = open_calls(config, &document);
    if (status == CLO_OK) {
        b.calls = clo_document_graph(document);
        status = add_calls(&b);
    }
    free(b.edges);
    free(b.mark);
    clo_document_destroy(document);
    *out = b.counts;
    return status;
}
