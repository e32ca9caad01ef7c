/* tpch.c - TPC-H queries measured on Spark (the data of Decima, SIGCOMM 2019): {job, edges [[from, to]], stages [{id,
 * n_tasks, fresh, first, rest}]}. A stage becomes a task, its Spark tasks are the instances.
 *
 * fresh, first and rest are {"executors": [milliseconds]}: durations in an executor's first task, in the first wave and
 * in later waves, measured with so many executors. The work of an instance is the mean of all of `rest`, of `first`
 * where no run had a second wave, else of `fresh`. The waves are kept beside it (clo_graph_add_wave): the number of
 * executors is the level. */
#include "io/text/reader.h"

#include "base/memory.h"
#include "base/status.h"
#include "graph/graph.h"

#include <clotho/waves.h>

#define UNIT_NS 1e6

typedef struct mean {
    double sum_ms;
    size_t count;
} mean;

/* Times of one wave and level, on their way into the graph. */
typedef struct buffer {
    int64_t *times_ns;
    size_t count, capacity;
} buffer;

/* All numbers of [1, 2], in ms. */
static clo_status read_times(const clo_reader *reader, const clo_json *json, const cJSON *list, buffer *b, mean *m)
{
    const cJSON *item;
    double ms = 0;

    if (!cJSON_IsArray(list))
        return clo_json_want(json, list, "an array of milliseconds");
    b->count = 0;
    cJSON_ArrayForEach (item, list) {
        void *times = b->times_ns;
        clo_status status = clo_json_number(json, item, &ms);
        if (status == CLO_OK && clo_grow(&times, &b->capacity, b->count + 1, sizeof *b->times_ns) != 0)
            status = clo_fail_memory("measured times");
        b->times_ns = times;
        if (status != CLO_OK)
            return status;
        if (!clo_scaled(ms, UNIT_NS * reader->scale, &b->times_ns[b->count]))
            return clo_json_fail(json, CLO_ERR_LIMIT, item, "is %.6g ms, with scale %g more than 146 years; write less",
                                 ms, reader->scale);
        b->count++;
        m->sum_ms += ms;
        m->count++;
    }
    return CLO_OK;
}

/* A number of executors, from 1; 0: it is none. */
static uint32_t level_of(const char *key)
{
    uint32_t level = 0;

    for (; *key >= '0' && *key <= '9' && level < 100000; key++)
        level = 10 * level + (uint32_t)(*key - '0');
    return *key == 0 ? level : 0;
}

/* All of {"2": [1, 2], "5": []}. */
static clo_status read_wave(const clo_reader *reader, const clo_json *json, const cJSON *wave, clo_wave kind, mean *m)
{
    uint32_t task = clo_graph_tasks(reader->graph) - 1;
    clo_status status = CLO_OK;
    const cJSON *list;
    buffer b = {0};

    if (!cJSON_IsObject(wave))
        return clo_json_want(json, wave, "{\"executors\": [milliseconds]}");
    cJSON_ArrayForEach (list, wave) {
        uint32_t level = level_of(list->string);
        if (level == 0)
            status = clo_json_fail(json, CLO_ERR_FORMAT, list, "is of no number of executors; write \"5\", \"10\" ...");
        if (status == CLO_OK)
            status = read_times(reader, json, list, &b, m);
        if (status == CLO_OK)
            status =
                clo_json_place(json, list, clo_graph_add_wave(reader->graph, task, kind, level, b.times_ns, b.count));
        if (status != CLO_OK)
            break;
    }
    clo_free(b.times_ns);
    return status;
}

/* Of the task that was added last. */
static clo_status read_waves(const clo_reader *reader, const clo_json *json, const cJSON *stage)
{
    static const struct {
        const char *key;
        clo_wave wave;
    } waves[] = {{"rest", CLO_WAVE_REST}, {"first", CLO_WAVE_FIRST}, {"fresh", CLO_WAVE_FRESH}};
    mean work = {0};
    int64_t work_ns;

    for (size_t w = 0; w < sizeof waves / sizeof waves[0]; w++) {
        const cJSON *wave = NULL;
        mean m = {0};
        clo_status status = clo_json_get(json, stage, waves[w].key, true, &wave);
        if (status == CLO_OK)
            status = read_wave(reader, json, wave, waves[w].wave, &m);
        if (status != CLO_OK)
            return status;
        if (work.count == 0)
            work = m;
    }
    if (work.count == 0)
        return clo_json_fail(json, CLO_ERR_FORMAT, stage, "has no durations; write some into \"rest\"");
    if (!clo_scaled(work.sum_ms / (double)work.count, UNIT_NS * reader->scale, &work_ns))
        return clo_json_fail(json, CLO_ERR_LIMIT, stage, "takes %.6g ms, with scale %g more than 146 years; write less",
                             work.sum_ms / (double)work.count, reader->scale);
    clo_graph_set_work(reader->graph, clo_graph_tasks(reader->graph) - 1, work_ns);
    return CLO_OK;
}

static clo_status read_stage(const clo_reader *reader, const clo_json *json, const cJSON *stage, int64_t index)
{
    clo_task task = {.body = reader->body};
    const cJSON *id = NULL, *count = NULL;
    int64_t number = 0, instances = 0;
    char name[32];
    clo_status status = clo_json_get(json, stage, "id", true, &id);

    if (status == CLO_OK)
        status = clo_json_integer(json, id, CLO_JSON_INTEGER_MAX, &number);
    if (status == CLO_OK && number != index)
        return clo_json_fail(json, CLO_ERR_FORMAT, id, "is %lld; stages are numbered from 0, write %lld",
                             (long long)number, (long long)index);
    if (status == CLO_OK)
        status = clo_json_get(json, stage, "n_tasks", true, &count);
    if (status == CLO_OK)
        status = clo_json_integer(json, count, INT32_MAX, &instances);
    if (status == CLO_OK && instances == 0)
        return clo_json_want(json, count, "a whole number >= 1");
    if (status != CLO_OK)
        return status;
    clo_print(name, sizeof name, "stage%lld", (long long)index);
    task.name = name;
    task.instances = (uint32_t)instances;
    status = clo_json_place(json, stage, clo_graph_add_task(reader->graph, &task, NULL));
    return status == CLO_OK ? read_waves(reader, json, stage) : status;
}

static clo_status read_edge(const clo_reader *reader, const clo_json *json, const cJSON *edge)
{
    int64_t ends[2] = {0, 0};
    clo_status status = clo_json_count(json, edge, 2, "end");
    int64_t last = (int64_t)clo_graph_tasks(reader->graph) - 1;

    if (status == CLO_OK)
        status = clo_json_integer(json, edge->child, last, &ends[0]);
    if (status == CLO_OK)
        status = clo_json_integer(json, edge->child->next, last, &ends[1]);
    if (status == CLO_OK)
        status = clo_json_place(json, edge, clo_graph_add_edge(reader->graph, (uint32_t)ends[0], (uint32_t)ends[1], 0));
    return status;
}

clo_status clo_tpch_read(clo_reader *reader, const clo_json *json)
{
    const char *name = NULL;
    const cJSON *stages = NULL, *edges = NULL, *item;
    int64_t index = 0;
    clo_status status = clo_reader_begin(reader, "tpch", UNIT_NS, clo_json_line(&json->source, 0));

    if (status == CLO_OK)
        status = clo_json_get_string(json, json->root, "job", &name);
    if (status == CLO_OK)
        status = clo_json_get_array(json, json->root, "stages", true, &stages);
    if (status == CLO_OK)
        status = clo_json_get_array(json, json->root, "edges", true, &edges);
    if (status != CLO_OK)
        return status;
    if (stages->child == NULL)
        return clo_json_fail(json, CLO_ERR_FORMAT, stages, "is empty; a job needs at least one stage");
    status = clo_graph_create(name, &reader->graph);
    if (status != CLO_OK)
        return status;
    cJSON_ArrayForEach (item, stages)
        if ((status = read_stage(reader, json, item, index++)) != CLO_OK)
            return status;
    cJSON_ArrayForEach (item, edges)
        if ((status = read_edge(reader, json, item)) != CLO_OK)
            return status;
    return CLO_OK;
}
