/* plan_file.c - plan files, "clotho.plan/1" (docs/FORMATS.md): the placements, one a line, with tasks and
 * executors by name where names are unique, else by index. Whether a plan is valid is the checker's business. */
#include "io/text/reader.h"

#include "base/memory.h"
#include "base/status.h"
#include "cost/cost.h"
#include "io/text/json_scan.h"
#include "io/text/names.h"
#include "io/text/parse.h"
#include "plan/plan.h"

#include <clotho/pipeline.h>

#include <string.h>

#define PLAN_BYTES_MAX ((size_t)1 << 30)

typedef struct index {
    const clo_cost *cost;
    clo_names tasks, executors;
} plan_index;

static void close_index(plan_index *index)
{
    clo_names_free(&index->tasks);
    clo_names_free(&index->executors);
}

static clo_status open_index(plan_index *index, const clo_cost *cost)
{
    const clo_platform *platform = clo_cost_platform(cost);

    *index = (plan_index){.cost = cost};
    int failed = clo_names_of_tasks(&index->tasks, clo_cost_graph(cost));
    for (uint32_t e = 0; e < clo_platform_executors(platform) && failed == 0; e++)
        failed = clo_names_add(&index->executors, clo_platform_executor_name(platform, e), e);
    if (failed == 0)
        return CLO_OK;
    close_index(index);
    return clo_fail_memory("the names of a plan");
}

static void write_name(clo_text *text, const clo_names *names, const char *name, uint32_t id)
{
    if (name != NULL && clo_names_find(names, name) == id)
        clo_text_add_json(text, name);
    else
        clo_text_add(text, "%u", (unsigned)id);
}

static clo_status write_placement(const plan_index *index, const clo_placement *p, clo_text *text)
{
    clo_task task;
    clo_status status = clo_graph_task(clo_cost_graph(index->cost), p->task, &task);

    if (status == CLO_OK && p->finish_ns > CLO_JSON_INTEGER_MAX)
        return clo_fail(CLO_ERR_UNSUPPORTED, "a finish time of %lld ns; JSON holds integers up to 2^53 exactly",
                        (long long)p->finish_ns);
    if (status != CLO_OK)
        return status;
    clo_text_add(text, "\n    {\"task\": ");
    write_name(text, &index->tasks, task.name, p->task);
    if (clo_graph_ranges(clo_cost_graph(index->cost), p->task) > 1)
        clo_text_add(text, ", \"instance\": %u", (unsigned)p->instance);
    clo_text_add(text, ", \"executor\": ");
    write_name(text, &index->executors, clo_platform_executor_name(clo_cost_platform(index->cost), p->executor),
               p->executor);
    clo_text_add(text, ", \"start_ns\": %lld, \"finish_ns\": %lld%s}", (long long)p->start_ns, (long long)p->finish_ns,
                 p->is_replica ? ", \"replica\": true" : "");
    return CLO_OK;
}

clo_status clo_plan_print(const clo_plan *plan, const clo_cost *cost, char **out)
{
    plan_index index;
    clo_text text = {0};
    size_t count;
    const clo_placement *placements = clo_plan_placements(plan, &count);
    clo_status status = clo_plan_matches(plan, cost);

    if (status == CLO_OK)
        status = open_index(&index, cost);
    if (status != CLO_OK)
        return status;
    clo_text_add(&text, "{\n  \"format\": \"clotho.plan/1\",\n  \"graph\": ");
    clo_text_add_json(&text, clo_graph_name(clo_cost_graph(cost)));
    clo_text_add(&text, ",\n  \"platform\": ");
    clo_text_add_json(&text, clo_platform_name(clo_cost_platform(cost)));
    clo_text_add(&text, ",\n  \"planner\": ");
    clo_text_add_json(&text, clo_plan_planner(plan));
    clo_text_add(&text, plan->is_emulated ? ",\n  \"emulated\": true" : "");
    if (cost->snapshot != 0)
        clo_text_add(&text, ",\n  \"snapshot\": \"%016llx\"", (unsigned long long)cost->snapshot);
    if (clo_plan_interval_ns(plan) > 0)
        clo_text_add(&text, ",\n  \"interval_ns\": %lld", (long long)clo_plan_interval_ns(plan));
    clo_text_add(&text, ",\n  \"makespan_ns\": %lld,\n  \"placements\": [", (long long)clo_plan_makespan_ns(plan));
    for (size_t i = 0; i < count && status == CLO_OK; i++) {
        clo_text_add(&text, i == 0 ? "" : ",");
        status = write_placement(&index, &placements[i], &text);
    }
    clo_text_add(&text, "\n  ]\n}\n");
    close_index(&index);
    if (status != CLO_OK)
        return clo_text_free(&text), status;
    return clo_text_take(&text, out) == CLO_OK ? CLO_OK : clo_fail_memory("the text of a plan");
}

clo_status clo_plan_save(const clo_plan *plan, const clo_cost *cost, const char *path)
{
    char *text;

    if (plan == NULL || cost == NULL || path == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_plan_save: an argument is NULL");
    clo_status status = clo_plan_print(plan, cost, &text);
    if (status != CLO_OK)
        return status;
    status = clo_file_write(path, text, strlen(text));
    clo_free(text);
    return status;
}

/* A task or executor by name or index. */
static clo_status read_id(const clo_json *json, const cJSON *object, const char *key, const clo_names *names,
                          uint32_t count, uint32_t *id)
{
    const cJSON *item;
    int64_t number = 0;
    clo_status status = clo_json_get(json, object, key, true, &item);

    if (status != CLO_OK)
        return status;
    if (cJSON_IsString(item)) {
        *id = clo_names_find(names, item->valuestring);
        if (*id == CLO_NAMES_TWICE)
            return clo_json_want(json, item, "the index; several have this name");
        return *id != CLO_NONE ? CLO_OK : clo_json_want(json, item, "a name or index of this graph and platform");
    }
    if (!cJSON_IsNumber(item))
        return clo_json_want(json, item, "a name or an index");
    status = clo_json_integer(json, item, CLO_JSON_INTEGER_MAX, &number);
    if (status == CLO_OK && number >= count)
        return clo_json_fail(json, CLO_ERR_FORMAT, item, "is %lld; there are 0 .. %u", (long long)number,
                             (unsigned)count - 1);
    *id = (uint32_t)number;
    return status;
}

static clo_status read_time(const clo_json *json, const cJSON *object, const char *key, int64_t *out)
{
    const cJSON *item;
    clo_status status = clo_json_get(json, object, key, true, &item);

    return status == CLO_OK ? clo_json_integer(json, item, CLO_JSON_INTEGER_MAX, out) : status;
}

static clo_status read_placement(const clo_json *json, const plan_index *index, const cJSON *object, clo_placement *p)
{
    static const char *const known[] = {"task", "instance", "executor", "start_ns", "finish_ns", "replica", NULL};
    const clo_graph *graph = clo_cost_graph(index->cost);
    bool replica = false;
    int64_t instance = 0;
    clo_task task;
    clo_status status = clo_json_keys(json, object, known);

    if (status == CLO_OK)
        status = read_id(json, object, "task", &index->tasks, clo_graph_tasks(graph), &p->task);
    if (status == CLO_OK)
        status = read_id(json, object, "executor", &index->executors,
                         clo_platform_executors(clo_cost_platform(index->cost)), &p->executor);
    if (status == CLO_OK)
        status = clo_graph_task(graph, p->task, &task);
    if (status == CLO_OK)
        status =
            clo_json_get_integer(json, object, "instance", (int64_t)clo_graph_ranges(graph, p->task) - 1, &instance);
    if (status == CLO_OK)
        status = clo_json_get_boolean(json, object, "replica", &replica);
    if (status == CLO_OK)
        status = read_time(json, object, "start_ns", &p->start_ns);
    if (status == CLO_OK)
        status = read_time(json, object, "finish_ns", &p->finish_ns);
    if (status == CLO_OK && p->finish_ns < p->start_ns)
        return clo_json_fail(json, CLO_ERR_FORMAT, object,
                             "finishes before it starts; exchange start_ns and finish_ns");
    p->instance = (uint32_t)instance;
    p->is_replica = replica;
    return status;
}

/* What stands beside the placements. */
typedef struct plan_head {
    const char *planner;
    bool is_emulated;
    int64_t interval_ns;
} plan_head;

static clo_status read_placements(const clo_json *json, const plan_index *index, const cJSON *list,
                                  const plan_head *head, clo_plan **out)
{
    size_t count = (size_t)cJSON_GetArraySize(list), next = 0;
    clo_placement *placements = clo_allocate(count, sizeof *placements);
    clo_status status = CLO_OK;
    clo_plan *plan = NULL;
    const cJSON *item;

    if (placements == NULL)
        return clo_fail_memory(json->file);
    cJSON_ArrayForEach (item, list) {
        if ((status = read_placement(json, index, item, &placements[next++])) != CLO_OK)
            break;
    }
    if (status == CLO_OK)
        status = clo_json_place(
            json, list,
            clo_plan_from_interval(index->cost, head->planner, placements, count, head->interval_ns, &plan));
    if (status == CLO_OK) {
        plan->is_emulated = head->is_emulated;
        *out = plan;
    }
    clo_free(placements);
    return status;
}

static clo_status read_plan(const clo_json *json, const clo_cost *cost, clo_plan **out)
{
    static const char *const known[] = {"format",      "graph",       "platform",   "planner",  "emulated",
                                        "interval_ns", "makespan_ns", "placements", "snapshot", NULL};
    const char *snapshot;
    const cJSON *item, *list;
    plan_head head = {0};
    plan_index index;
    clo_status status = clo_json_get(json, json->root, "format", true, &item);

    if (status == CLO_OK && !(cJSON_IsString(item) && strcmp(item->valuestring, "clotho.plan/1") == 0))
        return clo_json_fail(json, CLO_ERR_FORMAT, item,
                             "is not \"clotho.plan/1\": this is not a plan file; make one with "
                             "'clotho plan --out' or clo_plan_save");
    if (status == CLO_OK)
        status = clo_json_keys(json, json->root, known);
    if (status == CLO_OK)
        status = clo_json_get(json, json->root, "planner", false, &item);
    if (status == CLO_OK && item != NULL)
        status = clo_json_text(json, item, &head.planner);
    if (status == CLO_OK)
        status = clo_json_get(json, json->root, "snapshot", false, &item);
    if (status == CLO_OK && item != NULL)
        status = clo_json_text(json, item, &snapshot); /* for people */
    if (status == CLO_OK)
        status = clo_json_get_boolean(json, json->root, "emulated", &head.is_emulated);
    if (status == CLO_OK)
        status = clo_json_get_integer(json, json->root, "interval_ns", CLO_JSON_INTEGER_MAX, &head.interval_ns);
    if (status == CLO_OK)
        status = clo_json_get_array(json, json->root, "placements", true, &list);
    if (status == CLO_OK)
        status = open_index(&index, cost);
    if (status != CLO_OK)
        return status;
    status = read_placements(json, &index, list, &head, out);
    close_index(&index);
    return status;
}

clo_status clo_plan_parse(const char *name, const char *text, size_t text_bytes, const clo_cost *cost, clo_plan **out)
{
    clo_source source = {.name = name, .text = text, .bytes = text_bytes};
    clo_json json = {0};

    clo_status status = clo_text_check(&source);
    if (status == CLO_OK)
        status = clo_json_open(&json, &source);
    if (status == CLO_OK)
        status = read_plan(&json, cost, out);
    clo_json_close(&json);
    return status;
}

clo_status clo_plan_load(const char *path, const clo_cost *cost, clo_plan **out)
{
    char *text;
    size_t bytes;

    if (path == NULL || cost == NULL || out == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_plan_load: an argument is NULL");
    clo_status status = clo_file_read(path, PLAN_BYTES_MAX, &text, &bytes);
    if (status != CLO_OK)
        return status;
    status = clo_plan_parse(strcmp(path, "-") == 0 ? "standard input" : path, text, bytes, cost, out);
    clo_free(text);
    return status;
}
