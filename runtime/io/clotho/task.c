/* task.c - tasks and edges of the own format, "clotho.graph/1" (docs/FORMATS.md). */
#include "io/clotho/task.h"

#include "base/memory.h"
#include "base/status.h"
#include "generate/body.h"
#include "graph/graph.h"

#include <clotho/branch.h>

#include <string.h>

static clo_status read_class(const clo_clotho_source *s, const cJSON *object, uint16_t *out)
{
    static const char *const names[CLO_CLASSES_BUILTIN] = {"generic", "integer", "float", "memory"};
    const cJSON *item;
    int64_t number = 0;
    clo_status status = clo_json_get(s->json, object, "class", false, &item);

    if (status != CLO_OK || item == NULL)
        return status;
    for (uint32_t k = 0; k < CLO_CLASSES_BUILTIN; k++)
        if (cJSON_IsString(item) && strcmp(item->valuestring, names[k]) == 0) {
            *out = (uint16_t)k;
            return CLO_OK;
        }
    if (!cJSON_IsNumber(item))
        return clo_json_want(s->json, item, "\"generic\", \"integer\", \"float\", \"memory\" or a number");
    status = clo_json_integer(s->json, item, UINT16_MAX, &number);
    *out = (uint16_t)number;
    return status;
}

/* Sets *any where there is a list; without one `bits` is not touched. */
static clo_status read_executors(const clo_clotho_source *s, const cJSON *object, clo_executor_bits *bits, bool *any)
{
    const cJSON *list, *item;
    int64_t executor = 0;
    clo_status status = clo_json_get_array(s->json, object, "executors", false, &list);

    *any = list != NULL;
    if (status != CLO_OK || list == NULL)
        return status;
    if (list->child == NULL)
        return clo_json_fail(s->json, CLO_ERR_FORMAT, list, "is empty; list executors (0 .. %u) or leave it out",
                             CLO_EXECUTORS_MAX - 1);
    *bits = (clo_executor_bits){{0}};
    cJSON_ArrayForEach (item, list) {
        if ((status = clo_json_integer(s->json, item, CLO_EXECUTORS_MAX - 1, &executor)) != CLO_OK)
            return status;
        bits->words[executor / 64] |= 1ull << executor % 64;
    }
    return CLO_OK;
}

static clo_status read_demand_by_name(const clo_clotho_source *s, const cJSON *demand, int64_t *out)
{
    const cJSON *item;

    cJSON_ArrayForEach (item, demand) {
        uint32_t r = 0;
        while (r < CLO_RESOURCES_MAX && (clo_graph_resource_name(s->reader->graph, r) == NULL ||
                                         strcmp(clo_graph_resource_name(s->reader->graph, r), item->string) != 0))
            r++;
        if (r == CLO_RESOURCES_MAX)
            return clo_json_fail(s->json, CLO_ERR_FORMAT, item,
                                 "is not a resource of the graph; add it to \"resources\"");
        clo_status status = clo_json_integer(s->json, item, CLO_JSON_INTEGER_MAX, &out[r]);
        if (status != CLO_OK)
            return status;
    }
    return CLO_OK;
}

/* {"memory": 12} or [12, 0]. */
static clo_status read_demand(const clo_clotho_source *s, const cJSON *object, int64_t *out)
{
    const cJSON *demand, *item;
    uint32_t r = 0;
    clo_status status = clo_json_get(s->json, object, "demand", false, &demand);

    if (status != CLO_OK || demand == NULL)
        return status;
    if (cJSON_IsObject(demand))
        return read_demand_by_name(s, demand, out);
    if (!cJSON_IsArray(demand))
        return clo_json_want(s->json, demand, "{\"resource\": amount} or an array of amounts");
    cJSON_ArrayForEach (item, demand) {
        if (r == CLO_RESOURCES_MAX)
            return clo_json_fail(s->json, CLO_ERR_LIMIT, item, "is one too many; a demand has at most %d amounts",
                                 CLO_RESOURCES_MAX);
        if ((status = clo_json_integer(s->json, item, CLO_JSON_INTEGER_MAX, &out[r++])) != CLO_OK)
            return status;
    }
    return CLO_OK;
}

static clo_status read_command(const clo_clotho_source *s, const cJSON *object, const cJSON *list, clo_task *task)
{
    const char *directory = NULL;
    const cJSON *item;
    size_t count = 0;
    clo_status status = clo_json_get(s->json, object, "directory", false, &item);

    if (status == CLO_OK && item != NULL)
        status = clo_json_string(s->json, item, &directory);
    if (status != CLO_OK)
        return status;
    if (!cJSON_IsArray(list))
        return clo_json_want(s->json, list, "an array of strings, the program first");
    if (list->child == NULL)
        return clo_json_fail(s->json, CLO_ERR_FORMAT, list, "is empty; write the program first, or leave it out");

    const char **argv = clo_allocate((size_t)cJSON_GetArraySize(list), sizeof *argv);
    if (argv == NULL)
        return clo_fail_memory("a command");
    cJSON_ArrayForEach (item, list) {
        if (!cJSON_IsString(item) || (count == 0 && item->valuestring[0] == '\0')) {
            clo_free(argv);
            return clo_json_want(s->json, item, count == 0 ? "the name of a program" : "a string");
        }
        argv[count++] = item->valuestring;
    }
    task->argument = clo_bodies_add(s->reader->bodies, argv, count, directory);
    clo_free(argv);
    return task->argument != NULL ? CLO_OK : clo_fail_memory("a command");
}

static clo_status read_body(const clo_clotho_source *s, const cJSON *object, clo_task *task)
{
    const cJSON *body, *command;
    clo_status status = clo_json_get(s->json, object, "body", false, &body);

    if (status == CLO_OK)
        status = clo_json_get(s->json, object, "command", false, &command);
    if (status != CLO_OK)
        return status;

    const char *name = cJSON_IsString(body) ? body->valuestring : "";
    task->body = body == NULL                   ? (command != NULL ? clo_body_command : s->reader->body)
                 : strcmp(name, "spin") == 0    ? clo_body_spin
                 : strcmp(name, "memory") == 0  ? clo_body_memory
                 : strcmp(name, "command") == 0 ? clo_body_command
                                                : NULL;
    if (task->body == NULL && strcmp(name, "none") != 0)
        return clo_json_want(s->json, body, "\"spin\", \"memory\", \"command\" or \"none\"");
    if (task->body != clo_body_command && command != NULL)
        return clo_json_fail(s->json, CLO_ERR_FORMAT, command, "is there, but the body is not \"command\"; remove one");
    if (task->body != clo_body_command)
        return CLO_OK;
    if (command == NULL)
        return clo_json_fail(s->json, CLO_ERR_FORMAT, object,
                             "has the body \"command\" but no \"command\"; add [\"program\", \"argument\"]");
    task->duplicable = 0; /* a command is not pure */
    return read_command(s, object, command, task);
}

static clo_status kind_of(const clo_clotho_source *s, const cJSON *item, uint32_t *kind)
{
    const cJSON *known = s->kinds != NULL ? s->kinds->child : NULL;

    while (known != NULL && strcmp(known->valuestring, item->string) != 0)
        known = known->next;
    if (known == NULL && s->kinds != NULL)
        return clo_json_fail(s->json, CLO_ERR_FORMAT, item, "is not a kind of the graph; add it to \"kinds\"");
    return clo_json_place(s->json, item, clo_graph_kind(s->reader->graph, item->string, kind));
}

/* {"A76": 5, "gpu": null}: ns by kind, null where the task cannot run. */
static clo_status read_times(const clo_clotho_source *s, const cJSON *object, uint32_t task)
{
    const cJSON *times, *item;
    uint32_t kind = 0;
    int64_t ns = 0, old;
    clo_status status = clo_json_get(s->json, object, "times", false, &times);

    if (status != CLO_OK || times == NULL)
        return status;
    if (!cJSON_IsObject(times))
        return clo_json_want(s->json, times, "{\"kind\": nanoseconds}");
    cJSON_ArrayForEach (item, times) {
        if ((status = kind_of(s, item, &kind)) != CLO_OK)
            return status;
        if (clo_graph_time(s->reader->graph, task, kind, &old))
            return clo_json_fail(s->json, CLO_ERR_FORMAT, item, "is there twice; remove one");
        ns = CLO_TIME_NEVER;
        if (!cJSON_IsNull(item))
            status = clo_reader_time(s->reader, s->json, item, 1, &ns);
        if (status == CLO_OK)
            status = clo_json_place(s->json, item, clo_graph_set_time(s->reader->graph, task, kind, ns));
        if (status != CLO_OK)
            return status;
    }
    return CLO_OK;
}

static clo_status read_numbers(const clo_clotho_source *s, const cJSON *object, clo_task *task)
{
    const cJSON *work, *output;
    int64_t instances = 1, grain = 0;
    bool duplicable = false;
    clo_status status = clo_json_get(s->json, object, "work_ns", false, &work);

    if (status == CLO_OK && work != NULL)
        status = clo_reader_time(s->reader, s->json, work, 1, &task->work_ns);
    if (status == CLO_OK)
        status = clo_json_get(s->json, object, "output_bytes", false, &output);
    if (status == CLO_OK && output != NULL)
        status = clo_reader_bytes(s->reader, s->json, output, 1, &task->output_bytes);
    if (status == CLO_OK)
        status = clo_json_get_integer(s->json, object, "instances", UINT32_MAX - 2, &instances);
    if (status == CLO_OK)
        status = clo_json_get_integer(s->json, object, "grain", UINT32_MAX, &grain);
    if (status == CLO_OK)
        status = clo_json_get_boolean(s->json, object, "duplicable", &duplicable);
    if (status == CLO_OK && instances == 0)
        return clo_json_fail(s->json, CLO_ERR_FORMAT, object, "has 0 instances; write 1 or more");
    task->instances = (uint32_t)instances;
    task->grain = (uint32_t)grain;
    task->duplicable = duplicable;
    return status;
}

/* A handle by name or by index. */
static clo_status read_handle_id(const clo_clotho_source *s, const cJSON *use, uint32_t *handle)
{
    uint32_t count = clo_graph_handles(s->reader->graph);
    const cJSON *item;
    int64_t index = 0;
    clo_status status = clo_json_get(s->json, use, "handle", true, &item);

    if (status != CLO_OK)
        return status;
    if (cJSON_IsString(item)) {
        *handle = clo_names_find(&s->handles, item->valuestring);
        if (*handle == CLO_NONE)
            return clo_json_want(s->json, item, "the name or index of one of \"handles\"; there is none of this name");
        if (*handle == CLO_NAMES_TWICE)
            return clo_json_want(s->json, item, "the index of the handle; several handles have this name");
        return CLO_OK;
    }
    status = clo_json_integer(s->json, item, CLO_JSON_INTEGER_MAX, &index);
    if (status == CLO_OK && index >= count)
        return clo_json_fail(s->json, CLO_ERR_FORMAT, item, "is %lld; the graph has %u handles, from 0 on",
                             (long long)index, (unsigned)count);
    *handle = (uint32_t)index;
    return status;
}

/* {"handle": "image", "mode": "update", "parts": true} */
static clo_status read_use(const clo_clotho_source *s, const cJSON *use, uint32_t task)
{
    static const char *const known[] = {"handle", "mode", "parts", NULL};
    static const char *const modes[] = {"", "read", "write", "update"};
    const char *name = NULL;
    uint32_t handle = 0, mode = CLO_ACCESS_READ;
    bool parts = false;
    clo_status status = clo_json_keys(s->json, use, known);

    if (status == CLO_OK)
        status = read_handle_id(s, use, &handle);
    if (status == CLO_OK)
        status = clo_json_get_string(s->json, use, "mode", &name);
    if (status == CLO_OK)
        status = clo_json_get_boolean(s->json, use, "parts", &parts);
    if (status != CLO_OK)
        return status;
    while (mode <= CLO_ACCESS_UPDATE && (name == NULL || strcmp(name, modes[mode]) != 0))
        mode++;
    if (mode > CLO_ACCESS_UPDATE)
        return clo_json_fail(s->json, CLO_ERR_FORMAT, use, "has no known \"mode\"; write read, write or update");
    return clo_json_place(s->json, use,
                          clo_graph_add_access(s->reader->graph, task, handle, mode | (parts ? CLO_ACCESS_PARTS : 0u)));
}

static clo_status read_data(const clo_clotho_source *s, const cJSON *object, uint32_t task)
{
    const cJSON *list, *item;
    clo_status status = clo_json_get_array(s->json, object, "data", false, &list);

    if (status != CLO_OK || list == NULL)
        return status;
    if (s->is_body)
        return clo_json_fail(s->json, CLO_ERR_UNSUPPORTED, list, "is in a loop; use edges in place of handles");
    cJSON_ArrayForEach (item, list)
        if ((status = read_use(s, item, task)) != CLO_OK)
            return status;
    return CLO_OK;
}

/* "gemm" or {"name": "gemm", "version": 2, "footprint": 4096} */
static clo_status read_codelet(const clo_clotho_source *s, const cJSON *object, uint32_t task)
{
    static const char *const known[] = {"name", "version", "footprint", NULL};
    const cJSON *item;
    int64_t version = 0;
    clo_codelet codelet = {0};
    clo_status status = clo_json_get(s->json, object, "codelet", false, &item);

    if (status != CLO_OK || item == NULL)
        return status;
    if (!cJSON_IsObject(item)) {
        status = clo_json_string(s->json, item, &codelet.name);
    } else {
        status = clo_json_keys(s->json, item, known);
        if (status == CLO_OK)
            status = clo_json_get_string(s->json, item, "name", &codelet.name);
        if (status == CLO_OK)
            status = clo_json_get_integer(s->json, item, "version", UINT32_MAX, &version);
        if (status == CLO_OK)
            status = clo_json_get_word(s->json, item, "footprint", &codelet.footprint);
        codelet.version = (uint32_t)version;
    }
    return status == CLO_OK ? clo_json_place(s->json, item, clo_graph_set_codelet(s->reader->graph, task, &codelet))
                            : status;
}

clo_status clo_clotho_read_row(const clo_clotho_source *s, const cJSON *object, clo_clotho_row *row)
{
    static const char *const known[] = {"name",      "work_ns",    "times",     "class",   "output_bytes",
                                        "instances", "duplicable", "executors", "demand",  "body",
                                        "command",   "directory",  "grain",     "data",    "arms",
                                        "chances",   "bound",      "merge",     "codelet", NULL};
    const cJSON *name;
    clo_task *task = &row->task;
    clo_status status = clo_json_keys(s->json, object, known);

    *task = (clo_task)CLO_TASK_INIT;
    if (status == CLO_OK)
        status = clo_json_get(s->json, object, "name", false, &name);
    if (status == CLO_OK && name != NULL)
        status = clo_json_text(s->json, name, &task->name);
    if (status == CLO_OK)
        status = read_numbers(s, object, task);
    if (status == CLO_OK)
        status = read_class(s, object, &task->task_class);
    if (status == CLO_OK)
        status = read_executors(s, object, &row->executors, &row->is_restricted);
    if (status == CLO_OK)
        status = read_demand(s, object, task->demand);
    return status == CLO_OK ? read_body(s, object, task) : status;
}

clo_status clo_clotho_read_rest(clo_clotho_source *s, const cJSON *object, const clo_clotho_row *row, uint32_t id)
{
    clo_status status = CLO_OK;

    if (row->is_restricted)
        status = clo_json_place(s->json, object, clo_graph_restrict(s->reader->graph, id, &row->executors));
    if (status == CLO_OK)
        status = read_times(s, object, id);
    if (status == CLO_OK)
        status = read_codelet(s, object, id);
    if (status == CLO_OK)
        status = read_data(s, object, id);
    if (status == CLO_OK)
        status = clo_clotho_read_control_flow(s, object, &row->task, id);
    if (status == CLO_OK && row->task.name != NULL && clo_names_add(&s->tasks, row->task.name, id) != 0)
        return clo_fail_memory(s->json->file);
    return status;
}

static clo_status read_task(clo_clotho_source *s, const cJSON *object)
{
    clo_clotho_row row = {.is_restricted = false};
    uint32_t id = 0;
    clo_status status = clo_clotho_read_row(s, object, &row);

    if (status == CLO_OK)
        status = clo_json_place(s->json, object, clo_graph_add_task(s->reader->graph, &row.task, &id));
    return status == CLO_OK ? clo_clotho_read_rest(s, object, &row, id) : status;
}

clo_status clo_clotho_read_tasks(clo_clotho_source *s, const cJSON *object)
{
    const cJSON *tasks, *item;
    clo_status status = clo_json_get_array(s->json, object, "tasks", true, &tasks);

    if (status != CLO_OK)
        return status;
    if (tasks->child == NULL)
        return clo_json_fail(s->json, CLO_ERR_FORMAT, tasks, "is empty; a graph needs at least one task");
    cJSON_ArrayForEach (item, tasks)
        if ((status = read_task(s, item)) != CLO_OK)
            return status;
    s->tasks_count = clo_graph_tasks(s->reader->graph);
    return CLO_OK;
}

clo_status clo_clotho_read_end(const clo_clotho_source *s, const cJSON *edge, const char *key, uint32_t *task)
{
    const cJSON *item;
    int64_t index = 0;
    clo_status status = clo_json_get(s->json, edge, key, true, &item);

    if (status != CLO_OK)
        return status;
    if (cJSON_IsString(item)) {
        *task = clo_names_find(&s->tasks, item->valuestring);
        if (*task == CLO_NAMES_TWICE)
            return clo_json_want(s->json, item, "the index of the task; several tasks have this name");
        if (*task == CLO_NONE)
            return clo_json_want(s->json, item, "the name or index of a task of this file; there is none of this name");
        return CLO_OK;
    }
    if (!cJSON_IsNumber(item))
        return clo_json_want(s->json, item, "the name or the index of a task");
    status = clo_json_integer(s->json, item, CLO_JSON_INTEGER_MAX, &index);
    if (status == CLO_OK && index >= s->tasks_count)
        return clo_json_fail(s->json, CLO_ERR_FORMAT, item, "is %lld; the graph has the tasks 0 .. %u",
                             (long long)index, (unsigned)s->tasks_count - 1);
    *task = (uint32_t)index;
    return status;
}

clo_status clo_clotho_read_ends(const clo_clotho_source *s, const cJSON *object, clo_edge *edge)
{
    const cJSON *item;
    clo_status status = clo_clotho_read_end(s, object, "from", &edge->from);

    if (status == CLO_OK)
        status = clo_clotho_read_end(s, object, "to", &edge->to);
    if (status == CLO_OK)
        status = clo_json_get(s->json, object, "bytes", false, &item);
    if (status == CLO_OK && item != NULL)
        status = clo_reader_bytes(s->reader, s->json, item, 1, &edge->bytes);
    return status;
}

static clo_status read_edge(const clo_clotho_source *s, const cJSON *object)
{
    static const char *const known[] = {"from", "to", "bytes", "arm", NULL};
    clo_edge edge = {0};
    uint32_t arm = CLO_NONE;
    clo_status status = clo_json_keys(s->json, object, known);

    if (status == CLO_OK)
        status = clo_clotho_read_ends(s, object, &edge);
    if (status == CLO_OK)
        status = clo_clotho_read_arm(s, object, edge.from, &arm);
    if (status != CLO_OK)
        return status;
    if (edge.from == edge.to)
        return clo_json_fail(s->json, CLO_ERR_FORMAT, object, "goes from a task to itself; remove it");
    clo_graph *graph = s->reader->graph;
    return clo_json_place(s->json, object,
                          arm == CLO_NONE ? clo_graph_add_edge(graph, edge.from, edge.to, edge.bytes)
                                          : clo_graph_add_arm(graph, edge.from, edge.to, edge.bytes, arm));
}

clo_status clo_clotho_read_edges(clo_clotho_source *s, const cJSON *object)
{
    const cJSON *edges, *item;
    clo_status status = clo_json_get_array(s->json, object, "edges", false, &edges);

    if (status == CLO_OK && edges != NULL)
        status = clo_clotho_count_arms(s);
    if (status != CLO_OK)
        return status;
    cJSON_ArrayForEach (item, edges)
        if ((status = read_edge(s, item)) != CLO_OK)
            return status;
    return CLO_OK;
}
