/* rpc.c - call graphs of microservices (Alibaba 2021/2022, cleaned by DGG): {service, nodes [[name, label]], calls
 * [[caller, callee, type, count]]}. A node becomes a task after its callers; it has as many instances as it is called
 * by all of them together. The set has no latencies: every call takes 1 ms. */
#include "io/text/reader.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdlib.h>

#define UNIT_NS 1e6
#define CALL_MS 1.0

typedef struct call {
    uint32_t from, to;
} call;

typedef struct calls {
    call *list;      /* [count]                                */
    uint64_t *times; /* [nodes] how often each node is called */
    uint32_t count, nodes;
} calls;

static int by_ends(const void *left, const void *right)
{
    const call *a = left, *b = right;

    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

static clo_status read_call(const clo_json *json, const cJSON *item, calls *c)
{
    int64_t from = 0, to = 0, count = 0;
    clo_status status = clo_json_count(json, item, 4, "of caller, callee, type and count");

    if (status == CLO_OK)
        status = clo_json_integer(json, item->child, (int64_t)c->nodes - 1, &from);
    if (status == CLO_OK)
        status = clo_json_integer(json, item->child->next, (int64_t)c->nodes - 1, &to);
    if (status == CLO_OK)
        status = clo_json_integer(json, item->child->next->next->next, INT32_MAX, &count);
    if (status != CLO_OK)
        return status;
    if (from == to)
        return clo_json_fail(json, CLO_ERR_FORMAT, item, "goes from a node to itself; remove it");
    if (count == 0)
        return clo_json_want(json, item->child->next->next->next, "a whole number >= 1");
    c->list[c->count++] = (call){.from = (uint32_t)from, .to = (uint32_t)to};
    c->times[to] += (uint64_t)count;
    return CLO_OK;
}

static clo_status read_node(const clo_reader *reader, const clo_json *json, const cJSON *item, uint64_t times)
{
    clo_task task = {.body = reader->body, .instances = times > 0 ? (uint32_t)times : 1};
    clo_status status = clo_json_count(json, item, 2, "of name and label");

    if (status == CLO_OK)
        status = clo_json_string(json, item->child, &task.name);
    if (status == CLO_OK && times > INT32_MAX)
        status = clo_json_fail(json, CLO_ERR_LIMIT, item, "is called %llu times; at most %d are possible",
                               (unsigned long long)times, INT32_MAX);
    if (status == CLO_OK && !clo_scaled(CALL_MS, UNIT_NS * reader->scale, &task.work_ns))
        status = clo_json_fail(json, CLO_ERR_LIMIT, item, "takes, with scale %g, more than 146 years; use less",
                               reader->scale);
    return status == CLO_OK ? clo_json_place(json, item, clo_graph_add_task(reader->graph, &task, NULL)) : status;
}

/* Calls of several types between the same two nodes are one edge. */
static clo_status add_edges(const clo_reader *reader, const clo_json *json, const cJSON *at, calls *c)
{
    if (c->count > 0)
        qsort(c->list, c->count, sizeof *c->list, by_ends);
    for (uint32_t i = 0; i < c->count; i++) {
        if (i > 0 && by_ends(&c->list[i], &c->list[i - 1]) == 0)
            continue;
        clo_status status =
            clo_json_place(json, at, clo_graph_add_edge(reader->graph, c->list[i].from, c->list[i].to, 0));
        if (status != CLO_OK)
            return status;
    }
    return CLO_OK;
}

static clo_status read_all(const clo_reader *reader, const clo_json *json, const cJSON *nodes, const cJSON *list,
                           calls *c)
{
    const cJSON *item;
    uint32_t node = 0;
    clo_status status = CLO_OK;

    cJSON_ArrayForEach (item, list)
        if ((status = read_call(json, item, c)) != CLO_OK)
            return status;
    cJSON_ArrayForEach (item, nodes)
        if ((status = read_node(reader, json, item, c->times[node++])) != CLO_OK)
            return status;
    return add_edges(reader, json, list, c);
}

clo_status clo_rpc_read(clo_reader *reader, const clo_json *json)
{
    const char *name = NULL;
    const cJSON *nodes = NULL, *list = NULL;
    clo_status status = clo_reader_begin(reader, "rpc", UNIT_NS, clo_json_line(&json->source, 0));

    if (status == CLO_OK)
        status = clo_json_get_string(json, json->root, "service", &name);
    if (status == CLO_OK)
        status = clo_json_get_array(json, json->root, "nodes", true, &nodes);
    if (status == CLO_OK)
        status = clo_json_get_array(json, json->root, "calls", true, &list);
    if (status != CLO_OK)
        return status;
    if (nodes->child == NULL)
        return clo_json_fail(json, CLO_ERR_FORMAT, nodes, "is empty; a call graph needs at least one node");
    calls c = {.nodes = (uint32_t)cJSON_GetArraySize(nodes)};
    c.times = clo_allocate(c.nodes, sizeof *c.times);
    c.list = clo_allocate((size_t)cJSON_GetArraySize(list), sizeof *c.list);
    status = c.times != NULL && c.list != NULL ? clo_graph_create(name, &reader->graph) : clo_fail_memory(json->file);
    if (status == CLO_OK)
        status = read_all(reader, json, nodes, list, &c);
    clo_free(c.times);
    clo_free(c.list);
    return status;
}
