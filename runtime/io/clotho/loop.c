/* loop.c - see loop.h. A loop is short in the file and long in the graph, where it is unrolled; what is
 * written is the unrolled graph. Names of the body mean the tasks of the first iteration.
 *
 * A few bytes could ask for all memory, so the tasks, edges and instances of all loops together are limited. */
#include "io/clotho/loop.h"

#include "base/memory.h"
#include "base/status.h"
#include "graph/graph.h"
#include "io/clotho/task.h"

#include <clotho/branch.h>

#define UNROLLED_MAX (1u << 20) /* tasks, edges and further instances of all iterations of all loops of a file */

typedef struct loop_reader {
    clo_clotho_source *of;
    clo_reader reader; /* its graph is the body */
    clo_clotho_source body;
    clo_loop loop;
    clo_clotho_row exit;
    clo_edge *carried;
    /* By all loops that were read. */
    uint64_t unrolled;
} loop_reader;

static clo_status read_body(loop_reader *r, const cJSON *object)
{
    const clo_graph *outer = r->of->reader->graph;
    clo_status status = clo_graph_create("loop", &r->reader.graph);

    for (uint32_t i = 0; i < CLO_RESOURCES_MAX && status == CLO_OK; i++)
        if (clo_graph_resource_name(outer, i) != NULL)
            status = clo_graph_set_resource(r->reader.graph, i, clo_graph_resource_name(outer, i));
    if (status == CLO_OK)
        status = clo_clotho_read_tasks(&r->body, object);
    return status == CLO_OK ? clo_clotho_read_edges(&r->body, object) : status;
}

static clo_status read_carried(loop_reader *r, const cJSON *object)
{
    static const char *const known[] = {"from", "to", "bytes", NULL};
    const cJSON *list, *item;
    size_t count = 0;
    clo_status status = clo_json_get_array(r->of->json, object, "carried", false, &list);

    if (status != CLO_OK || list == NULL || list->child == NULL)
        return status;
    r->carried = clo_allocate((size_t)cJSON_GetArraySize(list), sizeof *r->carried);
    if (r->carried == NULL)
        return clo_fail_memory(r->of->json->file);
    cJSON_ArrayForEach (item, list) {
        status = clo_json_keys(r->of->json, item, known);
        if (status == CLO_OK)
            status = clo_clotho_read_ends(&r->body, item, &r->carried[count++]);
        if (status != CLO_OK)
            return status;
    }
    r->loop.carried = r->carried;
    r->loop.carried_count = count;
    return CLO_OK;
}

static clo_status read_numbers(loop_reader *r, const cJSON *object)
{
    const clo_json *json = r->of->json;
    const cJSON *bound, *bytes;
    int64_t count = 0, again = 0;
    clo_status status = clo_json_get(json, object, "bound", true, &bound);

    if (status == CLO_OK)
        status = clo_json_integer(json, bound, CLO_LOOP_BOUND_MAX, &count);
    if (status == CLO_OK && count == 0)
        return clo_json_fail(json, CLO_ERR_FORMAT, bound, "is 0; write 1 to %d", CLO_LOOP_BOUND_MAX);
    if (status == CLO_OK)
        status = clo_json_get_integer(json, object, "again", CLO_CHANCES_ONE, &again);
    if (status == CLO_OK)
        status = clo_json_get(json, object, "exit_bytes", false, &bytes);
    if (status == CLO_OK && bytes != NULL)
        status = clo_reader_bytes(r->of->reader, json, bytes, 1, &r->loop.exit_bytes);
    r->loop.bound = (uint32_t)count;
    r->loop.again = (uint32_t)again;
    return status == CLO_OK ? clo_clotho_read_end(&r->body, object, "condition", &r->loop.condition) : status;
}

/* What one iteration adds, at most: an edge from the condition goes to each task and to the exit. */
static clo_status check_size(loop_reader *r, const cJSON *object)
{
    const clo_graph *body = r->reader.graph;
    uint64_t one = (uint64_t)clo_graph_tasks(body) * 2 + clo_graph_edges(body) + r->loop.carried_count + 1;

    for (uint32_t t = 0; t < clo_graph_tasks(body) && one <= UNROLLED_MAX; t++)
        one += clo_graph_ranges(body, t) - 1;
    if (one <= UNROLLED_MAX)
        r->unrolled += one * r->loop.bound;
    if (one <= UNROLLED_MAX && r->unrolled <= UNROLLED_MAX)
        return CLO_OK;
    return clo_json_fail(r->of->json, CLO_ERR_LIMIT, object,
                         "makes more than %u tasks, edges and instances of all iterations; lower its \"bound\"",
                         UNROLLED_MAX);
}

/* Those of the first iteration. The names are the file's: those of the body go with it. Returns 0, or -1 without
 * memory. */
static int name_tasks(clo_clotho_source *s, const cJSON *object, uint32_t first)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(object, "tasks"), *item;

    cJSON_ArrayForEach (item, list) {
        const cJSON *name = cJSON_GetObjectItemCaseSensitive(item, "name");
        if (name != NULL && clo_names_add(&s->tasks, name->valuestring, first) != 0)
            return -1;
        first++;
    }
    return 0;
}

/* The body has been read: into the graph, with the exit. */
static clo_status unroll(loop_reader *r, const cJSON *object, const cJSON *exit)
{
    clo_clotho_source *s = r->of;
    uint32_t first = 0, leave = 0;

    clo_status status = check_size(r, object);
    if (status == CLO_OK)
        status = clo_json_place(s->json, object, clo_graph_seal(r->reader.graph));
    r->loop.body = r->reader.graph;
    if (status == CLO_OK)
        status = clo_json_place(s->json, object, clo_graph_add_loop(s->reader->graph, &r->loop, &first, &leave));
    if (status == CLO_OK && exit != NULL)
        status = clo_clotho_read_rest(s, exit, &r->exit, leave);
    if (status == CLO_OK && name_tasks(s, object, first) != 0)
        return clo_fail_memory(s->json->file);
    return status;
}

static clo_status read_parts(loop_reader *r, const cJSON *object)
{
    static const char *const known[] = {"tasks",   "edges", "condition",  "bound", "again",
                                        "carried", "exit",  "exit_bytes", NULL};
    const cJSON *exit = NULL;
    clo_status status = clo_json_keys(r->of->json, object, known);

    if (status == CLO_OK)
        status = read_body(r, object);
    if (status == CLO_OK)
        status = read_numbers(r, object);
    if (status == CLO_OK)
        status = read_carried(r, object);
    if (status == CLO_OK)
        status = clo_json_get(r->of->json, object, "exit", false, &exit);
    if (status == CLO_OK && exit != NULL)
        status = clo_clotho_read_row(r->of, exit, &r->exit);
    r->loop.exit = exit != NULL ? &r->exit.task : NULL;
    return status == CLO_OK ? unroll(r, object, exit) : status;
}

static clo_status read_loop(clo_clotho_source *s, const cJSON *object, uint64_t *unrolled)
{
    loop_reader r = {.of = s, .reader = *s->reader, .loop = CLO_LOOP_INIT, .unrolled = *unrolled};

    r.reader.graph = NULL;
    r.body = (clo_clotho_source){.reader = &r.reader, .json = s->json, .kinds = s->kinds, .is_body = true};
    clo_status status = read_parts(&r, object);
    clo_graph_destroy(r.reader.graph);
    clo_clotho_source_close(&r.body);
    clo_free(r.carried);
    *unrolled = r.unrolled;
    return status;
}

clo_status clo_clotho_read_loops(clo_clotho_source *s)
{
    const cJSON *list, *item;
    uint64_t unrolled = 0;
    clo_status status = clo_json_get_array(s->json, s->json->root, "loops", false, &list);

    if (status != CLO_OK)
        return status;
    cJSON_ArrayForEach (item, list)
        if ((status = read_loop(s, item, &unrolled)) != CLO_OK)
            return status;
    s->tasks_count = clo_graph_tasks(s->reader->graph);
    return CLO_OK;
}
