/* alibaba.c - batch jobs of the Alibaba cluster trace v2018: {job, tasks [{id, name, parents[], instances, start, dur,
 * cpu, mem}]}, times in seconds, durations for one instance each.
 *
 * What an instance holds become demands: cpu in thousandths of a core, memory in thousandths of a percent of a machine,
 * the units of the trace. The platform is one machine of the trace: 96 cores, an executor each, all memory. */
#include "io/datasets/packing.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdlib.h>

#define UNIT_NS 1e9
#define CORES 96
#define THOUSANDTHS 1000

static const clo_packing machine = {.name = "alibaba-v2018",
                                    .resources = 2,
                                    .capacity = {CORES * THOUSANDTHS, 100 * THOUSANDTHS},
                                    .names = {"cpu", "memory"}};

typedef struct known_id {
    int64_t id;
    uint32_t task;
} known_id;

typedef struct alibaba {
    clo_reader *reader;
    const clo_json *json;
    known_id *ids; /* [tasks], sorted by id once all are there */
    uint32_t tasks;
    int64_t start_ns; /* the earliest start of a task; INT64_MAX: no task says */
} alibaba;

static int by_id(const void *left, const void *right)
{
    const known_id *a = left, *b = right;

    return (a->id > b->id) - (a->id < b->id);
}

static clo_status read_demand(const alibaba *a, const cJSON *item, const char *key, int64_t *out)
{
    const cJSON *amount = NULL;
    double value = 0;
    clo_status status = clo_json_get(a->json, item, key, true, &amount);

    if (status == CLO_OK)
        status = clo_json_number(a->json, amount, &value);
    if (status == CLO_OK && !clo_scaled(value, THOUSANDTHS, out))
        return clo_json_fail(a->json, CLO_ERR_LIMIT, amount, "is too large; write a smaller amount");
    return status;
}

static clo_status read_instances(const alibaba *a, const cJSON *item, uint32_t *out)
{
    const cJSON *instances = NULL;
    int64_t count = 1;
    clo_status status = clo_json_get(a->json, item, "instances", true, &instances);

    if (status == CLO_OK)
        status = clo_json_integer(a->json, instances, INT32_MAX, &count);
    if (status == CLO_OK && count == 0)
        return clo_json_want(a->json, instances, "a whole number >= 1");
    *out = (uint32_t)count;
    return status;
}

/* The job arrived when its first task started; nothing in the trace says more. */
static clo_status read_start(alibaba *a, const cJSON *item)
{
    const cJSON *start = NULL;
    int64_t ns = 0;
    clo_status status = clo_json_get(a->json, item, "start", false, &start);

    if (status == CLO_OK && start != NULL)
        status = clo_reader_time(a->reader, a->json, start, UNIT_NS, &ns);
    if (status == CLO_OK && start != NULL && ns < a->start_ns)
        a->start_ns = ns;
    return status;
}

static clo_status read_task(alibaba *a, const cJSON *item)
{
    clo_task task = {.body = a->reader->body};
    const cJSON *id = NULL, *duration = NULL;
    known_id *known = &a->ids[a->tasks++];
    clo_status status = clo_json_get(a->json, item, "id", true, &id);

    if (status == CLO_OK)
        status = clo_json_integer(a->json, id, CLO_JSON_INTEGER_MAX, &known->id);
    if (status == CLO_OK)
        status = clo_json_get_string(a->json, item, "name", &task.name);
    if (status == CLO_OK)
        status = clo_json_get(a->json, item, "dur", true, &duration);
    if (status == CLO_OK)
        status = clo_reader_time(a->reader, a->json, duration, UNIT_NS, &task.work_ns);
    if (status == CLO_OK)
        status = read_start(a, item);
    if (status == CLO_OK)
        status = read_instances(a, item, &task.instances);
    if (status == CLO_OK)
        status = read_demand(a, item, "cpu", &task.demand[0]);
    if (status == CLO_OK)
        status = read_demand(a, item, "mem", &task.demand[1]);
    return status == CLO_OK ? clo_json_place(a->json, item, clo_graph_add_task(a->reader->graph, &task, &known->task))
                            : status;
}

static clo_status read_parents(const alibaba *a, const cJSON *item, uint32_t to)
{
    const cJSON *parents, *parent;
    clo_status status = clo_json_get_array(a->json, item, "parents", true, &parents);

    if (status != CLO_OK)
        return status;
    cJSON_ArrayForEach (parent, parents) {
        known_id key = {0};
        if ((status = clo_json_integer(a->json, parent, CLO_JSON_INTEGER_MAX, &key.id)) != CLO_OK)
            return status;
        const known_id *from = bsearch(&key, a->ids, a->tasks, sizeof key, by_id);
        if (from == NULL)
            return clo_json_want(a->json, parent, "the id of a task of this job");
        status = clo_json_place(a->json, parent, clo_graph_add_edge(a->reader->graph, from->task, to, 0));
        if (status != CLO_OK)
            return status;
    }
    return CLO_OK;
}

static clo_status sort_ids(const alibaba *a, const cJSON *tasks)
{
    qsort(a->ids, a->tasks, sizeof *a->ids, by_id);
    for (uint32_t i = 1; i < a->tasks; i++)
        if (a->ids[i].id == a->ids[i - 1].id)
            return clo_json_fail(a->json, CLO_ERR_FORMAT, tasks, "has two tasks of id %lld; give each its own",
                                 (long long)a->ids[i].id);
    return CLO_OK;
}

static clo_status read_tasks(alibaba *a, const cJSON *tasks)
{
    const cJSON *item;
    uint32_t to = 0;
    clo_status status = CLO_OK;

    cJSON_ArrayForEach (item, tasks)
        if ((status = read_task(a, item)) != CLO_OK)
            return status;
    if ((status = sort_ids(a, tasks)) != CLO_OK)
        return status;
    cJSON_ArrayForEach (item, tasks)
        if ((status = read_parents(a, item, to++)) != CLO_OK)
            return status;
    a->reader->arrival_ns = a->start_ns != INT64_MAX ? a->start_ns : 0;
    return clo_packing_platform(&machine, a->reader, CORES);
}

clo_status clo_alibaba_read(clo_reader *reader, const clo_json *json)
{
    alibaba a = {.reader = reader, .json = json, .start_ns = INT64_MAX};
    const char *name = NULL;
    const cJSON *tasks = NULL;
    clo_status status = clo_reader_begin(reader, "alibaba", UNIT_NS, clo_json_line(&json->source, 0));

    if (status == CLO_OK)
        status = clo_json_get_string(json, json->root, "job", &name);
    if (status == CLO_OK)
        status = clo_json_get_array(json, json->root, "tasks", true, &tasks);
    if (status != CLO_OK)
        return status;
    if (tasks->child == NULL)
        return clo_json_fail(json, CLO_ERR_FORMAT, tasks, "is empty; a job needs at least one task");
    a.ids = clo_allocate((size_t)cJSON_GetArraySize(tasks), sizeof *a.ids);
    if (a.ids == NULL)
        return clo_fail_memory(json->file);
    status = clo_packing_graph(&machine, reader, name);
    if (status == CLO_OK)
        status = read_tasks(&a, tasks);
    clo_free(a.ids);
    return status;
}
