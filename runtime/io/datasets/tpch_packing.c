/* tpch_packing.c - merged query graphs that share one resource, the instances of Wang et al. (NeurIPS 2021):
 * {name, n, capacity[], duration_us[n], demand[n][], edges[[from, to]]}. A task is a stage, its demand the number of
 * slots that it holds. Results are published in milliseconds, so that is the unit; the durations are microseconds. */
#include "io/datasets/packing.h"

#define UNIT_NS 1e6
#define DURATION_NS 1e3

static clo_status read_edge(clo_reader *reader, const clo_json *json, const cJSON *edge, uint32_t tasks)
{
    int64_t ends[2] = {0, 0};
    clo_status status = clo_json_count(json, edge, 2, "end");

    if (status == CLO_OK)
        status = clo_json_integer(json, edge->child, tasks - 1, &ends[0]);
    if (status == CLO_OK)
        status = clo_json_integer(json, edge->child->next, tasks - 1, &ends[1]);
    if (status == CLO_OK)
        status = clo_json_place(json, edge, clo_graph_add_edge(reader->graph, (uint32_t)ends[0], (uint32_t)ends[1], 0));
    return status;
}

static clo_status read_edges(clo_reader *reader, const clo_json *json, uint32_t tasks)
{
    const cJSON *edges, *edge;
    clo_status status = clo_json_get_array(json, json->root, "edges", true, &edges);

    if (status != CLO_OK)
        return status;
    cJSON_ArrayForEach (edge, edges)
        if ((status = read_edge(reader, json, edge, tasks)) != CLO_OK)
            return status;
    return CLO_OK;
}

clo_status clo_tpch_packing_read(clo_reader *reader, const clo_json *json)
{
    clo_packing packing;
    const char *name = NULL;
    uint32_t tasks = 0, executors = 0;
    clo_status status = clo_reader_begin(reader, "tpch-packing", UNIT_NS, clo_json_line(&json->source, 0));

    if (status == CLO_OK)
        status = clo_json_get_string(json, json->root, "name", &name);
    if (status == CLO_OK)
        status = clo_packing_read(&packing, json, &tasks);
    if (status != CLO_OK)
        return status;
    packing.names[0] = "slots";
    status = clo_packing_graph(&packing, reader, name);
    if (status == CLO_OK)
        status = clo_packing_tasks(&packing, reader, json, &(clo_packing_durations){"duration_us", DURATION_NS, tasks});
    if (status == CLO_OK)
        status = read_edges(reader, json, tasks);
    if (status == CLO_OK)
        status = clo_packing_executors(&packing, reader, &executors);
    return status == CLO_OK ? clo_json_place(json, json->root, clo_packing_platform(&packing, reader, executors))
                            : status;
}
