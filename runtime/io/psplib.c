/* psplib.c - resource-constrained projects of PSPLIB (Kolisch, Sprecher 1996), single mode: activities with a duration,
 * amounts of renewable resources, successors. JSON: {name, n, capacity[], duration[n], demand[n][], successors[n][]},
 * and bounds lb, ub where known.
 *
 * A unit of time is taken as 1000 ns, so that makespans in the unit of the file are exact. The two dummy activities stay,
 * as tasks of work 0. */
#include "io/packing.h"

#include "base/status.h"

#define UNIT_NS 1000

typedef struct psplib {
    clo_reader *reader;
    const clo_json *json;
    clo_packing packing;
    uint32_t tasks;
} psplib;

static clo_status get_list(const psplib *p, const char *key, const cJSON **list)
{
    clo_status status = clo_json_get_array(p->json, p->json->root, key, true, list);

    return status == CLO_OK ? clo_json_count(p->json, *list, p->tasks, "task") : status;
}

static clo_status read_tasks(const psplib *p)
{
    const cJSON *durations, *demands, *duration, *demand;
    clo_status status = get_list(p, "duration", &durations);

    if (status == CLO_OK)
        status = get_list(p, "demand", &demands);
    if (status != CLO_OK)
        return status;
    demand = demands->child;
    cJSON_ArrayForEach (duration, durations) {
        clo_task task = {.body = p->reader->body};
        status = clo_reader_time(p->reader, p->json, duration, UNIT_NS, &task.work_ns);
        if (status == CLO_OK)
            status = clo_packing_demand(&p->packing, p->json, demand, task.demand);
        if (status == CLO_OK)
            status = clo_json_place(p->json, duration, clo_graph_add_task(p->reader->graph, &task, NULL));
        if (status != CLO_OK)
            return status;
        demand = demand->next;
    }
    return CLO_OK;
}

static clo_status read_successors(const psplib *p, uint32_t from, const cJSON *list)
{
    const cJSON *item;
    int64_t to = 0;

    if (!cJSON_IsArray(list))
        return clo_json_want(p->json, list, "an array [...]");
    cJSON_ArrayForEach (item, list) {
        clo_status status = clo_json_integer(p->json, item, p->tasks - 1, &to);
        if (status == CLO_OK)
            status = clo_json_place(p->json, item, clo_graph_add_edge(p->reader->graph, from, (uint32_t)to, 0));
        if (status != CLO_OK)
            return status;
    }
    return CLO_OK;
}

static clo_status read_edges(const psplib *p)
{
    const cJSON *lists, *list;
    uint32_t from = 0;
    clo_status status = get_list(p, "successors", &lists);

    if (status != CLO_OK)
        return status;
    cJSON_ArrayForEach (list, lists)
        if ((status = read_successors(p, from++, list)) != CLO_OK)
            return status;
    return CLO_OK;
}

static clo_status read_bounds(const psplib *p)
{
    const cJSON *lower = NULL, *upper = NULL;
    clo_reference *reference = &p->reader->references[0];
    clo_status status = clo_json_get(p->json, p->json->root, "lb", false, &lower);

    if (status == CLO_OK)
        status = clo_json_get(p->json, p->json->root, "ub", false, &upper);
    if (status != CLO_OK || lower == NULL || upper == NULL)
        return status;
    status = clo_json_number(p->json, lower, &reference->lower);
    if (status == CLO_OK)
        status = clo_json_number(p->json, upper, &reference->upper);
    if (status != CLO_OK)
        return status;
    reference->lower *= p->reader->scale;
    reference->upper *= p->reader->scale;
    p->reader->references_count = 1;
    return CLO_OK;
}

clo_status clo_psplib_read(clo_reader *reader, const clo_json *json)
{
    psplib p = {.reader = reader, .json = json};
    const char *name = NULL;

    reader->format = "psplib";
    reader->unit_ns = UNIT_NS;
    clo_status status = clo_reader_refuse_commands(reader);
    if (status == CLO_OK)
        status = clo_json_get_string(json, json->root, "name", &name);
    if (status == CLO_OK)
        status = clo_packing_read(&p.packing, json, &p.tasks);
    if (status == CLO_OK)
        status = clo_packing_graph(&p.packing, reader, name);
    if (status == CLO_OK)
        status = read_tasks(&p);
    if (status == CLO_OK)
        status = read_edges(&p);
    if (status == CLO_OK)
        status = read_bounds(&p);
    return status == CLO_OK ? clo_json_place(json, json->root, clo_packing_platform(&p.packing, reader)) : status;
}
