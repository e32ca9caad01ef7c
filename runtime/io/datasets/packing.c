/* packing.c - see packing.h. The classic problems know no processors: any number of tasks runs at once as long as the
 * capacities hold. The platform gets so many executors that they never limit. */
#include "io/datasets/packing.h"

#include "base/memory.h"
#include "base/status.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const char *const numbered[CLO_RESOURCES_MAX] = {"R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8"};

clo_status clo_packing_read(clo_packing *packing, const clo_json *json, uint32_t *tasks)
{
    const cJSON *capacity = NULL, *item, *n = NULL;
    int64_t count = 0;
    clo_status status = clo_json_get(json, json->root, "n", true, &n);

    if (status == CLO_OK)
        status = clo_json_integer(json, n, INT32_MAX, &count);
    if (status == CLO_OK)
        status = clo_json_get_array(json, json->root, "capacity", true, &capacity);
    if (status != CLO_OK)
        return status;
    if (count == 0)
        return clo_json_want(json, n, "the number of tasks, at least 1");
    if (cJSON_GetArraySize(capacity) > CLO_RESOURCES_MAX)
        return clo_json_fail(json, CLO_ERR_LIMIT, capacity, "has %d entries; at most %d resources are possible",
                             cJSON_GetArraySize(capacity), CLO_RESOURCES_MAX);
    *packing = (clo_packing){0};
    memcpy(packing->names, numbered, sizeof numbered);
    cJSON_ArrayForEach (item, capacity)
        if ((status = clo_json_integer(json, item, CLO_JSON_INTEGER_MAX, &packing->capacity[packing->resources++])) !=
            CLO_OK)
            return status;
    *tasks = (uint32_t)count;
    return CLO_OK;
}

static clo_status read_demand(const clo_packing *packing, const clo_json *json, const cJSON *item,
                              int64_t demand[CLO_RESOURCES_MAX])
{
    uint32_t r = 0;
    const cJSON *amount;
    clo_status status = clo_json_count(json, item, packing->resources, "resource");

    if (status != CLO_OK)
        return status;
    cJSON_ArrayForEach (amount, item) {
        status = clo_json_integer(json, amount, CLO_JSON_INTEGER_MAX, &demand[r]);
        if (status == CLO_OK && demand[r] > packing->capacity[r])
            status = clo_json_fail(json, CLO_ERR_FORMAT, amount, "is %lld; write at most the capacity, %lld",
                                   (long long)demand[r], (long long)packing->capacity[r]);
        if (status != CLO_OK)
            return status;
        r++;
    }
    return CLO_OK;
}

clo_status clo_packing_list(const clo_json *json, const char *key, uint32_t count, const cJSON **list)
{
    clo_status status = clo_json_get_array(json, json->root, key, true, list);

    return status == CLO_OK ? clo_json_count(json, *list, count, "task") : status;
}

clo_status clo_packing_tasks(const clo_packing *packing, clo_reader *reader, const clo_json *json,
                             const clo_packing_durations *durations)
{
    const cJSON *times, *demands, *time, *demand;
    clo_status status = clo_packing_list(json, durations->key, durations->count, &times);

    if (status == CLO_OK)
        status = clo_packing_list(json, "demand", durations->count, &demands);
    if (status != CLO_OK)
        return status;
    assert(cJSON_GetArraySize(times) == cJSON_GetArraySize(demands));
    demand = demands->child;
    cJSON_ArrayForEach (time, times) {
        clo_task task = {.body = reader->body};
        status = clo_reader_time(reader, json, time, durations->unit_ns, &task.work_ns);
        if (status == CLO_OK)
            status = read_demand(packing, json, demand, task.demand);
        if (status == CLO_OK)
            status = clo_json_place(json, time, clo_graph_add_task(reader->graph, &task, NULL));
        if (status != CLO_OK)
            return status;
        demand = demand->next;
    }
    return CLO_OK;
}

clo_status clo_packing_graph(const clo_packing *packing, clo_reader *reader, const char *name)
{
    clo_status status = clo_graph_create(name, &reader->graph);

    for (uint32_t r = 0; r < packing->resources && status == CLO_OK; r++)
        status = clo_graph_set_resource(reader->graph, r, packing->names[r]);
    return status;
}

/* What a task holds of the first resource that it holds anything of. */
typedef struct held {
    uint32_t resource;
    int64_t amount;
} held;

static int by_resource_and_amount(const void *left, const void *right)
{
    const held *a = left, *b = right;

    if (a->resource != b->resource)
        return a->resource < b->resource ? -1 : 1;
    return (a->amount > b->amount) - (a->amount < b->amount);
}

/* Of the tasks that hold some of one resource, at most so many run at once as the smallest fit into it together. */
static uint32_t count_fitting(const clo_packing *packing, held *list, size_t count)
{
    uint32_t fitting = 0, resource = CLO_NONE;
    int64_t left = 0;

    if (count > 0)
        qsort(list, count, sizeof *list, by_resource_and_amount);
    for (size_t i = 0; i < count; i++) {
        if (list[i].resource != resource) {
            resource = list[i].resource;
            left = packing->capacity[resource];
        }
        left = list[i].amount <= left ? left - list[i].amount : -1; /* -1: nothing larger fits either */
        fitting += left >= 0;
    }
    return fitting;
}

clo_status clo_packing_executors(const clo_packing *packing, const clo_reader *reader, uint32_t *executors)
{
    uint32_t tasks = clo_graph_tasks(reader->graph), free_tasks = 0;
    size_t count = 0;
    held *list = clo_allocate(tasks, sizeof *list);
    clo_status status = CLO_OK;
    clo_task task;

    if (list == NULL)
        return clo_fail_memory(reader->file);
    for (uint32_t t = 0; t < tasks && status == CLO_OK; t++) {
        uint32_t r = 0;
        if ((status = clo_graph_task(reader->graph, t, &task)) != CLO_OK)
            break;
        while (r < packing->resources && task.demand[r] == 0)
            r++;
        if (r == packing->resources)
            free_tasks++;
        else
            list[count++] = (held){.resource = r, .amount = task.demand[r]};
    }
    *executors = free_tasks + count_fitting(packing, list, count);
    clo_free(list);
    return status;
}

clo_status clo_packing_platform(const clo_packing *packing, clo_reader *reader, uint32_t executors)
{
    static const char *const kind = "executor";
    const char *names[CLO_RESOURCES_MAX] = {0};
    int64_t capacities[CLO_RESOURCES_MAX];
    assert(executors >= 1);
    assert(packing->resources <= CLO_RESOURCES_MAX);
    if (reader->no_platform)
        return CLO_OK;
    clo_executor *list = clo_allocate(executors, sizeof *list);
    if (list == NULL)
        return clo_fail_memory(reader->file);
    for (uint32_t e = 0; e < executors; e++)
        list[e] =
            (clo_executor){.os_index = -1, .speed_q16 = {CLO_SPEED_ONE, CLO_SPEED_ONE, CLO_SPEED_ONE, CLO_SPEED_ONE}};
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        capacities[r] = r < packing->resources ? packing->capacity[r] : -1;
        names[r] = r < packing->resources ? packing->names[r] : NULL;
    }
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    desc.name = packing->name != NULL ? packing->name : clo_graph_name(reader->graph);
    desc.executors_count = executors;
    desc.executors = list;
    desc.kinds_count = 1;
    desc.kind_names = &kind;
    desc.machines_count = 1;
    desc.capacities = capacities;
    desc.resource_names = names;
    desc.coherent = 1;
    clo_status status = clo_platform_create(&desc, &reader->platform);
    clo_free(list);
    return status;
}
