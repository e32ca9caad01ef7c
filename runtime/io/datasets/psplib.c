/* psplib.c - resource-constrained projects of PSPLIB (Kolisch, Sprecher 1996), single mode: activities with a duration,
 * amounts of renewable resources, successors. JSON: {name, n, capacity[], duration[n], demand[n][], successors[n][]},
 * and bounds lb, ub where known.
 */
#include "io/datasets/psplib.h"

typedef struct psplib {
    clo_reader *reader;
    const clo_json *json;
    clo_packing packing;
    uint32_t tasks;
} psplib;

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
    clo_status status = clo_packing_list(p->json, "successors", p->tasks, &lists);

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
    uint32_t executors = 0;
    clo_status status = clo_reader_begin(reader, "psplib", CLO_PSPLIB_UNIT_NS, clo_json_line(&json->source, 0));

    if (status == CLO_OK)
        status = clo_json_get_string(json, json->root, "name", &name);
    if (status == CLO_OK)
        status = clo_packing_read(&p.packing, json, &p.tasks);
    if (status == CLO_OK)
        status = clo_packing_graph(&p.packing, reader, name);
    if (status == CLO_OK)
        status = clo_packing_tasks(&p.packing, reader, json,
                                   &(clo_packing_durations){"duration", CLO_PSPLIB_UNIT_NS, p.tasks});
    if (status == CLO_OK)
        status = read_edges(&p);
    if (status == CLO_OK)
        status = read_bounds(&p);
    if (status == CLO_OK)
        status = clo_packing_executors(&p.packing, reader, &executors);
    return status == CLO_OK ? clo_json_place(json, json->root, clo_packing_platform(&p.packing, reader, executors))
                            : status;
}
