/* node_link.c - reads the node-link JSON of networkx (node_link_data): {directed, multigraph, graph, nodes [{id, ...}],
 * links or edges [{source, target, ...}]}.
 *
 * Attributes are the user's own; those of SAGA's graphs and the usual names count, the others are ignored. Numbers
 * without a unit are taken as SAGA's: one unit of time is 1 s, one of data 2^30 bytes. A multigraph has parallel edges:
 * they become one with the sum of the bytes. Ids may be strings, numbers, or tuples of these, which JSON has as
 * arrays; a task is called as its id is printed. */
#include "io/text/reader.h"

#include "base/memory.h"
#include "base/status.h"
#include "io/text/names.h"
#include "io/workflow/edge_list.h"

#define UNIT_NS 1e9
#define UNIT_BYTES 0x1p30
#define DEFAULT_WORK_NS 1e6 /* of each task where no task of the file states any, as in DOT */

typedef struct link {
    clo_reader *reader;
    const clo_json *json;
    clo_names names;
    char **ids; /* [tasks_count] owned: the names of the tasks */
    uint32_t tasks_count;
    int64_t default_work_ns;
    clo_edge_list edges;
} link;

/* An attribute and its unit; the first one that an item has counts. */
typedef struct attribute {
    const char *key;
    double unit;
} attribute;

static const attribute works[] = {{"work_ns", 1},        {"cost", UNIT_NS},    {"weight", UNIT_NS},
                                  {"duration", UNIT_NS}, {"runtime", UNIT_NS}, {NULL, 0}};
static const attribute sizes[] = {
    {"bytes", 1}, {"size", UNIT_BYTES}, {"weight", UNIT_BYTES}, {"cost", UNIT_BYTES}, {NULL, 0}};

static clo_status get_attribute(const link *l, const cJSON *object, const attribute *table, const cJSON **item,
                                double *unit)
{
    clo_status status = CLO_OK;

    *item = NULL;
    for (; table->key != NULL && status == CLO_OK && *item == NULL; table++) {
        status = clo_json_get(l->json, object, table->key, false, item);
        *unit = table->unit;
    }
    return status;
}

/* ---- ids ---- */

static bool is_plain(const cJSON *id)
{
    return cJSON_IsNumber(id) || (cJSON_IsString(id) && id->valuestring[0] != '\0');
}

static void add_plain(clo_text *text, const cJSON *id)
{
    if (cJSON_IsNumber(id))
        clo_text_add_double(text, id->valuedouble);
    else
        clo_text_add(text, "%s", id->valuestring);
}

/* The text of an id, owned by the caller. */
static clo_status print_id(const link *l, const cJSON *id, char **out)
{
    const cJSON *part, *parts = cJSON_IsArray(id) ? id : NULL;
    bool is_good = is_plain(id) || (parts != NULL && parts->child != NULL);
    clo_text text = {0};

    cJSON_ArrayForEach (part, parts)
        is_good &= is_plain(part);
    if (!is_good)
        return clo_json_want(l->json, id, "a string, a number or an array of these");
    if (is_plain(id))
        add_plain(&text, id);
    cJSON_ArrayForEach (part, parts) {
        clo_text_add(&text, "%s", part == id->child ? "(" : ", ");
        add_plain(&text, part);
        clo_text_add(&text, "%s", part->next == NULL ? ")" : "");
    }
    return clo_text_take(&text, out) == CLO_OK ? CLO_OK : clo_fail_memory(l->json->file);
}

/* ---- nodes ---- */

static bool states_work(const cJSON *nodes)
{
    const cJSON *node;

    cJSON_ArrayForEach (node, nodes)
        for (const attribute *a = works; a->key != NULL; a++)
            if (cJSON_GetObjectItemCaseSensitive(node, a->key) != NULL)
                return true;
    return false;
}

static clo_status read_work(link *l, const cJSON *node, int64_t *work_ns)
{
    const cJSON *item;
    double unit = 1;
    clo_status status = get_attribute(l, node, works, &item, &unit);

    *work_ns = l->default_work_ns;
    if (status != CLO_OK || item == NULL)
        return status;
    if (unit == 1)
        l->reader->unit_ns = 1;
    return clo_reader_time(l->reader, l->json, item, unit, work_ns);
}

static clo_status read_node(link *l, const cJSON *node)
{
    const cJSON *id;
    clo_task task = {.body = l->reader->body};
    uint32_t t = l->tasks_count;
    clo_status status = clo_json_get(l->json, node, "id", true, &id);

    if (status == CLO_OK)
        status = print_id(l, id, &l->ids[t]);
    if (status != CLO_OK)
        return status;
    task.name = l->ids[l->tasks_count++];
    if (clo_names_find(&l->names, task.name) != CLO_NONE)
        return clo_json_want(l->json, id, "an id of its own; another node has this one");
    if (clo_names_add(&l->names, task.name, t) != 0)
        return clo_fail_memory(l->json->file);
    status = read_work(l, node, &task.work_ns);
    return status == CLO_OK ? clo_json_place(l->json, node, clo_graph_add_task(l->reader->graph, &task, NULL)) : status;
}

static clo_status read_nodes(link *l)
{
    const cJSON *nodes, *node;
    clo_status status = clo_json_get_array(l->json, l->json->root, "nodes", true, &nodes);

    if (status == CLO_OK && nodes->child == NULL)
        return clo_json_fail(l->json, CLO_ERR_FORMAT, nodes, "is empty; a graph needs at least one task");
    if (status != CLO_OK)
        return status;
    if (!states_work(nodes) && !clo_scaled(DEFAULT_WORK_NS, l->reader->scale, &l->default_work_ns))
        return clo_json_fail(l->json, CLO_ERR_LIMIT, nodes, "take, scaled, more than 146 years; use a smaller scale");
    l->ids = clo_allocate((size_t)cJSON_GetArraySize(nodes), sizeof *l->ids);
    if (l->ids == NULL)
        return clo_fail_memory(l->json->file);
    cJSON_ArrayForEach (node, nodes)
        if ((status = read_node(l, node)) != CLO_OK)
            return status;
    return CLO_OK;
}

/* ---- edges ---- */

static clo_status find_end(const link *l, const cJSON *edge, const char *key, const cJSON **item, uint32_t *task)
{
    char *id = NULL;
    clo_status status = clo_json_get(l->json, edge, key, true, item);

    if (status == CLO_OK)
        status = print_id(l, *item, &id);
    if (status != CLO_OK)
        return status;
    *task = clo_names_find(&l->names, id);
    clo_free(id);
    return *task != CLO_NONE ? CLO_OK : clo_json_want(l->json, *item, "the id of a node; there is none like this");
}

static clo_status read_edge(link *l, const cJSON *edge)
{
    const cJSON *source, *target, *size;
    uint32_t from, to;
    uint64_t bytes = 0;
    double unit = 1;
    clo_status status = find_end(l, edge, "source", &source, &from);

    if (status == CLO_OK)
        status = find_end(l, edge, "target", &target, &to);
    if (status == CLO_OK)
        status = get_attribute(l, edge, sizes, &size, &unit);
    if (status == CLO_OK && size != NULL)
        status = clo_reader_bytes(l->reader, l->json, size, unit, &bytes);
    if (status == CLO_OK)
        status = clo_edge_list_add(&l->edges, l->json, clo_edge_ends(from, to), target);
    if (status == CLO_OK)
        l->edges.edges[l->edges.count - 1].bytes = bytes;
    return status;
}

/* "links" before networkx 3.4, "edges" since. */
static clo_status read_edges(link *l)
{
    const cJSON *links, *edges, *edge;
    clo_status status = clo_json_get_array(l->json, l->json->root, "links", false, &links);

    if (status == CLO_OK)
        status = clo_json_get_array(l->json, l->json->root, "edges", links == NULL, &edges);
    if (status == CLO_OK && links != NULL && edges != NULL)
        return clo_json_fail(l->json, CLO_ERR_FORMAT, edges, "stands beside \"links\"; keep one");
    if (status != CLO_OK)
        return status;
    const cJSON *list = links != NULL ? links : edges;
    cJSON_ArrayForEach (edge, list)
        if ((status = read_edge(l, edge)) != CLO_OK)
            return status;
    return CLO_OK;
}

/* One edge for each pair of tasks. */
static clo_status unite_edges(link *l)
{
    clo_edge_list *list = &l->edges;
    clo_listed_edge first = {0}; /* in the text that repeats another one */
    size_t kept = 0, before = list->count;

    clo_edge_list_sort(list);
    for (size_t e = 0; e < before; e++) {
        clo_listed_edge *last = kept > 0 ? &list->edges[kept - 1] : NULL;
        if (last == NULL || last->ends != list->edges[e].ends) {
            list->edges[kept++] = list->edges[e];
            continue;
        }
        if (first.item == NULL || list->edges[e].order < first.order)
            first = list->edges[e];
        last->bytes += list->edges[e].bytes;
        if (last->bytes >= 1ull << 62)
            return clo_json_fail(l->json, CLO_ERR_LIMIT, list->edges[e].item,
                                 "gets more than 2^62 bytes from its source, all parallel edges together; write less");
    }
    list->count = kept;
    return first.item == NULL
               ? CLO_OK
               : clo_reader_note_parallel(l->reader, clo_json_line_of(l->json, first.item), before - kept);
}

/* ---- the graph ---- */

static clo_status check_directed(const link *l)
{
    const cJSON *directed;
    bool is_directed = false;
    clo_status status = clo_json_get(l->json, l->json->root, "directed", true, &directed);

    if (status == CLO_OK)
        status = clo_json_boolean(l->json, directed, &is_directed);
    if (status == CLO_OK && !is_directed)
        return clo_json_want(l->json, directed, "true: the edges of a task graph have a direction");
    return status;
}

/* The name is that of networkx's Graph.name: an attribute of the graph. */
static clo_status create_graph(const link *l)
{
    const cJSON *graph = cJSON_GetObjectItemCaseSensitive(l->json->root, "graph");
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(graph, "name");

    return clo_graph_create(cJSON_IsString(name) && name->valuestring[0] != '\0' ? name->valuestring : NULL,
                            &l->reader->graph);
}

clo_status clo_node_link_read(clo_reader *reader, const clo_json *json)
{
    link l = {.reader = reader, .json = json};

    reader->format = "node-link";
    reader->unit_ns = UNIT_NS;
    clo_status status = clo_reader_refuse_commands(reader);
    if (status == CLO_OK)
        status = check_directed(&l);
    if (status == CLO_OK)
        status = create_graph(&l);
    if (status == CLO_OK)
        status = read_nodes(&l);
    if (status == CLO_OK)
        status = read_edges(&l);
    if (status == CLO_OK)
        status = unite_edges(&l);
    if (status == CLO_OK)
        status = clo_edge_list_hand_over(&l.edges, json, reader->graph);
    for (uint32_t t = 0; t < l.tasks_count; t++)
        clo_free(l.ids[t]);
    clo_free(l.ids);
    clo_names_free(&l.names);
    clo_edge_list_free(&l.edges);
    return status;
}
