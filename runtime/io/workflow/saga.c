/* saga.c - reads two forms of the classic problem "heterogeneous machines, full network", each with its own platform:
 *
 *   saga        tasks with a cost, nodes with a speed, a bandwidth for each pair of nodes: the instances of SAGA
 *               (github ANRGUSC/saga). time = cost / speed, transfer = size / bandwidth; self links count in the mean
 *               (free).
 *   cost-table  computation_cost[task][processor], links of unit rate, start-up 0: Topcuoglu 2002 fig. 2,
 *               Arabnejad 2014 fig. 1. The mean is over distinct pairs.
 *
 * The unit of time is taken as a second and the unit of data as 2^30 bytes, so that rounding to ns and bytes stays
 * below 1e-9 of a unit. Every processor is a kind of its own, named like it, which carries its times exactly: speeds in
 * Q16 would not. Executors stand in "node_iteration_order_seed0" where the file has it: ties then break as in SAGA. All
 * tasks are duplicable: the model has no side effects. */
#include "io/text/reader.h"

#include "base/memory.h"
#include "base/status.h"
#include "io/text/names.h"

#include <string.h>

#define UNIT_NS 1e9
#define UNIT_BYTES 0x1p30
#define NODES_MAX CLO_GRAPH_KINDS_MAX

typedef struct saga {
    clo_reader *reader;
    const clo_json *json;
    clo_names nodes, tasks;
    uint32_t nodes_count;
    const char *node_names[NODES_MAX]; /* by executor */
    double speeds[NODES_MAX];
    double bandwidth[NODES_MAX * NODES_MAX]; /* units of data a unit of time; < 0: not given */
} saga;

static clo_status no_memory(const saga *s)
{
    return clo_fail_memory(s->json->file);
}

/* Adds a name that must be new. */
static clo_status add_name(const saga *s, clo_names *names, const cJSON *item, uint32_t id)
{
    const char *name;
    clo_status status = clo_json_string(s->json, item, &name);

    if (status != CLO_OK)
        return status;
    if (clo_names_find(names, name) != CLO_NONE)
        return clo_json_want(s->json, item, "a name of its own; another one is called the same");
    return clo_names_add(names, name, id) == 0 ? CLO_OK : no_memory(s);
}

static clo_status find_name(const saga *s, const clo_names *names, const cJSON *object, const char *key, uint32_t *id)
{
    const cJSON *item;
    const char *name;
    clo_status status = clo_json_get(s->json, object, key, true, &item);

    if (status == CLO_OK)
        status = clo_json_string(s->json, item, &name);
    if (status != CLO_OK)
        return status;
    *id = clo_names_find(names, name);
    return *id != CLO_NONE ? CLO_OK : clo_json_want(s->json, item, "a name that the file defines");
}

static clo_status check_count(const saga *s, const cJSON *list, const char *what)
{
    if (list->child == NULL)
        return clo_json_fail(s->json, CLO_ERR_FORMAT, list, "is empty; write at least one %s", what);
    if (cJSON_GetArraySize(list) > NODES_MAX)
        return clo_json_fail(s->json, CLO_ERR_LIMIT, list,
                             "has %d entries; at most %d are possible, use the clotho format", cJSON_GetArraySize(list),
                             NODES_MAX);
    return CLO_OK;
}

static clo_status positive(const saga *s, const cJSON *item, double *out)
{
    clo_status status = clo_json_number(s->json, item, out);

    if (status == CLO_OK && !(*out >= 1e-12 && *out <= 1e12))
        return clo_json_want(s->json, item, "a number between 1e-12 and 1e12");
    return status;
}

/* Numbers the nodes: by node_iteration_order_seed0, which must name each once, else as they stand. */
static clo_status order_nodes(saga *s, const cJSON *nodes)
{
    const cJSON *order, *item, *name;
    clo_status status = clo_json_get_array(s->json, s->json->root, "node_iteration_order_seed0", false, &order);

    if (status != CLO_OK)
        return status;
    if (order != NULL && cJSON_GetArraySize(order) != cJSON_GetArraySize(nodes))
        return clo_json_fail(s->json, CLO_ERR_FORMAT, order, "has %d names; write each of the %d nodes once",
                             cJSON_GetArraySize(order), cJSON_GetArraySize(nodes));
    const cJSON *list = order != NULL ? order : nodes;
    cJSON_ArrayForEach (item, list) {
        name = item;
        if (order == NULL)
            status = clo_json_get(s->json, item, "name", true, &name);
        if (status == CLO_OK)
            status = add_name(s, &s->nodes, name, s->nodes_count);
        if (status != CLO_OK)
            return status;
        s->node_names[s->nodes_count++] = name->valuestring;
    }
    return CLO_OK;
}

static clo_status read_nodes(saga *s)
{
    const cJSON *nodes, *item, *speed;
    uint32_t node;
    clo_status status = clo_json_get_array(s->json, s->json->root, "nodes", true, &nodes);

    if (status == CLO_OK)
        status = check_count(s, nodes, "node");
    if (status == CLO_OK)
        status = order_nodes(s, nodes);
    if (status != CLO_OK)
        return status;
    cJSON_ArrayForEach (item, nodes) {
        status = find_name(s, &s->nodes, item, "name", &node);
        if (status == CLO_OK)
            status = clo_json_get(s->json, item, "speed", true, &speed);
        if (status == CLO_OK && s->speeds[node] > 0)
            status = clo_json_fail(s->json, CLO_ERR_FORMAT, item, "is a second node of this name; rename it");
        if (status == CLO_OK)
            status = positive(s, speed, &s->speeds[node]);
        if (status != CLO_OK)
            return status;
    }
    return CLO_OK;
}

/* One bandwidth for both directions; null is infinite. Self links are free anyway. */
static clo_status read_link(saga *s, const cJSON *link)
{
    uint32_t a, b;
    const cJSON *item;
    double bandwidth = 0;
    clo_status status = find_name(s, &s->nodes, link, "a", &a);

    if (status == CLO_OK)
        status = find_name(s, &s->nodes, link, "b", &b);
    if (status == CLO_OK)
        status = clo_json_get(s->json, link, "bandwidth", true, &item);
    if (status != CLO_OK || a == b)
        return status;
    if (!cJSON_IsNull(item))
        status = positive(s, item, &bandwidth);
    if (status == CLO_OK && s->bandwidth[a * NODES_MAX + b] >= 0 && s->bandwidth[a * NODES_MAX + b] != bandwidth)
        return clo_json_fail(s->json, CLO_ERR_FORMAT, link, "is a second link of this pair; keep one");
    s->bandwidth[a * NODES_MAX + b] = s->bandwidth[b * NODES_MAX + a] = bandwidth;
    return status;
}

static clo_status read_links(saga *s)
{
    const cJSON *links, *item;
    clo_status status = clo_json_get_array(s->json, s->json->root, "links", true, &links);

    if (status != CLO_OK)
        return status;
    for (uint32_t i = 0; i < NODES_MAX * NODES_MAX; i++)
        s->bandwidth[i] = -1;
    cJSON_ArrayForEach (item, links)
        if ((status = read_link(s, item)) != CLO_OK)
            return status;
    for (uint32_t a = 0; a < s->nodes_count; a++)
        for (uint32_t b = a + 1; b < s->nodes_count; b++)
            if (s->bandwidth[a * NODES_MAX + b] < 0)
                return clo_json_fail(s->json, CLO_ERR_FORMAT, links, "has no link between %.60s and %.60s; add it",
                                     s->node_names[a], s->node_names[b]);
    return CLO_OK;
}

static clo_status make_platform(const saga *s, bool mean_includes_self)
{
    clo_executor executors[NODES_MAX];
    double bandwidth[NODES_MAX * NODES_MAX];
    uint32_t n = s->nodes_count;

    for (uint32_t e = 0; e < n; e++) {
        double q16 = s->speeds[e] * CLO_SPEED_ONE;
        uint32_t speed = q16 >= UINT32_MAX ? UINT32_MAX : q16 < 1 ? 1 : (uint32_t)q16;
        executors[e] =
            (clo_executor){.kind = e, .memory = e, .os_index = -1, .speed_q16 = {speed, speed, speed, speed}};
        for (uint32_t f = 0; f < n; f++) {
            double rate = s->bandwidth[e * NODES_MAX + f];
            bandwidth[e * n + f] = rate > 0 ? rate * (UNIT_BYTES / UNIT_NS) : 0;
        }
    }
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    desc.name = clo_graph_name(s->reader->graph);
    desc.executors_count = desc.kinds_count = n;
    desc.executors = executors;
    desc.executor_names = desc.kind_names = s->node_names;
    desc.bandwidth_bytes_per_ns = bandwidth;
    desc.mean_includes_self = mean_includes_self;
    return clo_json_place(s->json, s->json->root, clo_platform_create(&desc, &s->reader->platform));
}

static clo_status create_graph(saga *s)
{
    const cJSON *name;
    const char *text = NULL;
    uint32_t kind;
    clo_status status = clo_json_get(s->json, s->json->root, "name", false, &name);

    if (status == CLO_OK && name != NULL)
        status = clo_json_text(s->json, name, &text);
    if (status == CLO_OK)
        status = clo_graph_create(text, &s->reader->graph);
    for (uint32_t e = 0; e < s->nodes_count && status == CLO_OK; e++)
        status = clo_graph_kind(s->reader->graph, s->node_names[e], &kind);
    return status;
}

static clo_status add_task(saga *s, const cJSON *name, int64_t work_ns, uint32_t *id)
{
    clo_task task = {.body = s->reader->body, .work_ns = work_ns, .duplicable = 1};
    clo_status status = add_name(s, &s->tasks, name, clo_graph_tasks(s->reader->graph));

    if (status != CLO_OK)
        return status;
    task.name = name->valuestring;
    return clo_json_place(s->json, name, clo_graph_add_task(s->reader->graph, &task, id));
}

static clo_status read_saga_task(saga *s, const cJSON *item)
{
    const cJSON *name, *cost;
    int64_t ns = 0;
    uint32_t id = 0;
    clo_status status = clo_json_get(s->json, item, "name", true, &name);

    if (status == CLO_OK)
        status = clo_json_get(s->json, item, "cost", true, &cost);
    if (status == CLO_OK)
        status = clo_reader_time(s->reader, s->json, cost, UNIT_NS, &ns);
    if (status == CLO_OK)
        status = add_task(s, name, ns, &id);
    /* Of a cost of 0 nothing is said of kinds: it takes no time on those of any platform. */
    for (uint32_t e = 0; e < s->nodes_count && status == CLO_OK && cost->valuedouble > 0; e++) {
        if (!clo_scaled(cost->valuedouble / s->speeds[e], UNIT_NS * s->reader->scale, &ns))
            return clo_json_fail(s->json, CLO_ERR_LIMIT, cost,
                                 "takes more than 146 years on %.60s; write a smaller cost", s->node_names[e]);
        status = clo_graph_set_time(s->reader->graph, id, e, ns);
    }
    return status;
}

/* "size" in SAGA, "cost" in the tables: both are data over a rate. */
static clo_status read_edge(const saga *s, const cJSON *edge, const char *size_key)
{
    uint32_t from, to;
    uint64_t bytes = 0;
    const cJSON *size;
    clo_status status = find_name(s, &s->tasks, edge, "src", &from);

    if (status == CLO_OK)
        status = find_name(s, &s->tasks, edge, "dst", &to);
    if (status == CLO_OK)
        status = clo_json_get(s->json, edge, size_key, true, &size);
    if (status == CLO_OK)
        status = clo_reader_bytes(s->reader, s->json, size, UNIT_BYTES, &bytes);
    if (status != CLO_OK)
        return status;
    if (from == to)
        return clo_json_fail(s->json, CLO_ERR_FORMAT, edge, "goes from a task to itself; remove it");
    return clo_json_place(s->json, edge, clo_graph_add_edge(s->reader->graph, from, to, bytes));
}

static clo_status read_edges(const saga *s, const char *size_key)
{
    const cJSON *edges, *item;
    clo_status status = clo_json_get_array(s->json, s->json->root, "edges", true, &edges);

    if (status != CLO_OK)
        return status;
    cJSON_ArrayForEach (item, edges)
        if ((status = read_edge(s, item, size_key)) != CLO_OK)
            return status;
    return CLO_OK;
}

static clo_status get_tasks(const saga *s, const cJSON **tasks)
{
    clo_status status = clo_json_get_array(s->json, s->json->root, "tasks", true, tasks);

    if (status == CLO_OK && (*tasks)->child == NULL)
        return clo_json_fail(s->json, CLO_ERR_FORMAT, *tasks, "is empty; a graph needs at least one task");
    return status;
}

static clo_status read_saga(saga *s)
{
    const cJSON *tasks, *item;
    clo_status status = read_nodes(s);

    if (status == CLO_OK)
        status = read_links(s);
    if (status == CLO_OK)
        status = create_graph(s);
    if (status == CLO_OK)
        status = get_tasks(s, &tasks);
    if (status != CLO_OK)
        return status;
    cJSON_ArrayForEach (item, tasks)
        if ((status = read_saga_task(s, item)) != CLO_OK)
            return status;
    status = read_edges(s, "size");
    return status == CLO_OK ? make_platform(s, true) : status;
}

/* A row of computation_cost; the work is the mean over the processors. */
static clo_status read_row(saga *s, const cJSON *name, const cJSON *row)
{
    int64_t ns[NODES_MAX] = {0}, mean = 0, rest = 0, n = s->nodes_count;
    uint32_t e = 0, id = 0;
    const cJSON *item;
    clo_status status = CLO_OK;

    if (!cJSON_IsArray(row) || cJSON_GetArraySize(row) != (int)s->nodes_count)
        return clo_json_fail(s->json, CLO_ERR_FORMAT, row, "must be an array of %u costs, one a processor",
                             (unsigned)s->nodes_count);
    cJSON_ArrayForEach (item, row) {
        if ((status = clo_reader_time(s->reader, s->json, item, UNIT_NS, &ns[e])) != CLO_OK)
            return status;
        mean += ns[e] / n; /* the plain sum could overflow */
        rest += ns[e++] % n;
    }
    status = add_task(s, name, mean + (rest + n / 2) / n, &id);
    for (e = 0; e < s->nodes_count && status == CLO_OK && mean + rest > 0; e++) /* likewise */
        status = clo_graph_set_time(s->reader->graph, id, e, ns[e]);
    return status;
}

static clo_status read_processors(saga *s)
{
    const cJSON *processors, *item;
    clo_status status = clo_json_get_array(s->json, s->json->root, "processors", true, &processors);

    if (status == CLO_OK)
        status = check_count(s, processors, "processor");
    if (status != CLO_OK)
        return status;
    cJSON_ArrayForEach (item, processors) {
        if ((status = add_name(s, &s->nodes, item, s->nodes_count)) != CLO_OK)
            return status;
        s->speeds[s->nodes_count] = 1;
        s->node_names[s->nodes_count++] = item->valuestring;
    }
    for (uint32_t i = 0; i < NODES_MAX * NODES_MAX; i++)
        s->bandwidth[i] = 1;
    return CLO_OK;
}

static clo_status read_table(saga *s)
{
    const cJSON *tasks, *rows, *name, *row;
    clo_status status = read_processors(s);

    if (status == CLO_OK)
        status = create_graph(s);
    if (status == CLO_OK)
        status = get_tasks(s, &tasks);
    if (status == CLO_OK)
        status = clo_json_get_array(s->json, s->json->root, "computation_cost", true, &rows);
    if (status != CLO_OK)
        return status;
    if (cJSON_GetArraySize(rows) != cJSON_GetArraySize(tasks))
        return clo_json_fail(s->json, CLO_ERR_FORMAT, rows, "has %d row%s; write one for each of the %d tasks",
                             cJSON_GetArraySize(rows), cJSON_GetArraySize(rows) == 1 ? "" : "s",
                             cJSON_GetArraySize(tasks));
    row = rows->child;
    cJSON_ArrayForEach (name, tasks) {
        if ((status = read_row(s, name, row)) != CLO_OK)
            return status;
        row = row->next;
    }
    status = read_edges(s, "cost");
    return status == CLO_OK ? make_platform(s, false) : status;
}

static clo_status read_form(clo_reader *reader, const clo_json *json, clo_status (*read)(saga *s))
{
    saga *s = clo_allocate(1, sizeof *s); /* too large for a small thread's stack */

    if (s == NULL)
        return clo_fail_memory(json->file);
    s->reader = reader;
    s->json = json;
    reader->unit_ns = UNIT_NS;
    clo_status status = read(s);
    clo_names_free(&s->nodes);
    clo_names_free(&s->tasks);
    clo_free(s);
    return status;
}

clo_status clo_saga_read(clo_reader *reader, const clo_json *json)
{
    reader->format = "saga";
    clo_status status = clo_reader_refuse_commands(reader);
    return status == CLO_OK ? read_form(reader, json, read_saga) : status;
}

clo_status clo_cost_table_read(clo_reader *reader, const clo_json *json)
{
    reader->format = "cost-table";
    clo_status status = clo_reader_refuse_commands(reader);
    return status == CLO_OK ? read_form(reader, json, read_table) : status;
}
