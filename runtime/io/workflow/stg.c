/* stg.c - the Standard Task Graph set (Tobita, Kasahara 2002): tasks with a processing time and predecessors, identical
 * processors, no communication. Two forms:
 *
 *   .stg  a line with the number of tasks; for each, and for a dummy before and one behind them, a line "number time
 *         count predecessors..."; lines of # at the end.
 *   JSON  {name, n, proc_time[n], pred[n][]}, the dummies included; optimal {"PROCESSORS": makespan} where known.
 *
 * A unit of time is taken as 1000 ns, so that makespans in the unit of the file are exact. The processors are the
 * caller's platform. */
#include "io/text/reader.h"

#include "base/status.h"
#include "io/text/words.h"

#include <stdlib.h>

#define UNIT_NS 1000
#define TASKS_MAX INT32_MAX

static clo_status read_tasks(clo_reader *reader, const clo_json *json, const cJSON *times)
{
    const cJSON *item;

    cJSON_ArrayForEach (item, times) {
        clo_task task = {.body = reader->body};
        clo_status status = clo_reader_time(reader, json, item, UNIT_NS, &task.work_ns);
        if (status == CLO_OK)
            status = clo_json_place(json, item, clo_graph_add_task(reader->graph, &task, NULL));
        if (status != CLO_OK)
            return status;
    }
    return CLO_OK;
}

static clo_status read_predecessors(clo_reader *reader, const clo_json *json, const cJSON *list, uint32_t to)
{
    const cJSON *item;
    int64_t from = 0;

    if (!cJSON_IsArray(list))
        return clo_json_want(json, list, "an array [...]");
    cJSON_ArrayForEach (item, list) {
        clo_status status = clo_json_integer(json, item, clo_graph_tasks(reader->graph) - 1, &from);
        if (status == CLO_OK)
            status = clo_json_place(json, item, clo_graph_add_edge(reader->graph, (uint32_t)from, to, 0));
        if (status != CLO_OK)
            return status;
    }
    return CLO_OK;
}

static clo_status read_graph(clo_reader *reader, const clo_json *json, uint32_t n)
{
    const cJSON *times = NULL, *lists = NULL, *list;
    uint32_t to = 0;
    clo_status status = clo_json_get_array(json, json->root, "proc_time", true, &times);

    if (status == CLO_OK)
        status = clo_json_count(json, times, n, "task");
    if (status == CLO_OK)
        status = clo_json_get_array(json, json->root, "pred", true, &lists);
    if (status == CLO_OK)
        status = clo_json_count(json, lists, n, "task");
    if (status == CLO_OK)
        status = read_tasks(reader, json, times);
    if (status != CLO_OK)
        return status;
    cJSON_ArrayForEach (list, lists)
        if ((status = read_predecessors(reader, json, list, to++)) != CLO_OK)
            return status;
    return CLO_OK;
}

/* {"2": 131, "4": 66}: the optimum on so many processors. */
static clo_status read_optimal(clo_reader *reader, const clo_json *json)
{
    const cJSON *optimal = NULL, *item;
    clo_status status = clo_json_get(json, json->root, "optimal", false, &optimal);

    if (status != CLO_OK || optimal == NULL)
        return status;
    if (!cJSON_IsObject(optimal))
        return clo_json_want(json, optimal, "an object {\"PROCESSORS\": MAKESPAN}");
    if (cJSON_GetArraySize(optimal) > CLO_REFERENCES_MAX)
        return clo_json_fail(json, CLO_ERR_LIMIT, optimal, "has %d entries; at most %d are possible",
                             cJSON_GetArraySize(optimal), CLO_REFERENCES_MAX);
    cJSON_ArrayForEach (item, optimal) {
        double makespan = 0;
        char *end;
        long processors = strtol(item->string, &end, 10);
        if (*end != '\0' || processors < 1 || processors >= INT32_MAX)
            return clo_json_fail(json, CLO_ERR_FORMAT, item, "has no number of processors for a key; write \"2\"");
        if ((status = clo_json_number(json, item, &makespan)) != CLO_OK)
            return status;
        makespan *= reader->scale;
        reader->references[reader->references_count++] =
            (clo_reference){.executors = (uint32_t)processors, .lower = makespan, .upper = makespan};
    }
    return CLO_OK;
}

clo_status clo_stg_read(clo_reader *reader, const clo_json *json)
{
    const char *name = NULL;
    const cJSON *n = NULL;
    int64_t count = 0;
    clo_status status = clo_reader_begin(reader, "stg", UNIT_NS, clo_json_line(&json->source, 0));

    if (status == CLO_OK)
        status = clo_json_get_string(json, json->root, "name", &name);
    if (status == CLO_OK)
        status = clo_json_get(json, json->root, "n", true, &n);
    if (status == CLO_OK)
        status = clo_json_integer(json, n, TASKS_MAX, &count);
    if (status == CLO_OK && count == 0)
        status = clo_json_want(json, n, "the number of tasks, at least 1");
    if (status == CLO_OK)
        status = clo_graph_create(name, &reader->graph);
    if (status == CLO_OK)
        status = read_graph(reader, json, (uint32_t)count);
    return status == CLO_OK ? read_optimal(reader, json) : status;
}

static clo_status read_row(clo_reader *reader, clo_words *words, int64_t row, int64_t rows)
{
    clo_task task = {.body = reader->body};
    clo_words here = *words;
    int64_t number = 0, time = 0, count = 0, from = 0;
    clo_status status = clo_words_integer(words, "a task's number", TASKS_MAX, &number);

    if (status == CLO_OK && number != row)
        return clo_words_fail(&here, CLO_ERR_FORMAT, "task %lld, not %lld; write each of the %lld tasks once, in order",
                              (long long)number, (long long)row, (long long)rows);
    if (status == CLO_OK)
        status = clo_words_integer(words, "a processing time", CLO_JSON_INTEGER_MAX, &time);
    if (status == CLO_OK && !clo_scaled((double)time, UNIT_NS * reader->scale, &task.work_ns))
        return clo_words_fail(words, CLO_ERR_LIMIT, "a time of more than 146 years; write a smaller one");
    if (status == CLO_OK)
        status = clo_words_integer(words, "the number of predecessors", rows, &count);
    for (int64_t i = 0; i < count && status == CLO_OK; i++) {
        status = clo_words_integer(words, "a predecessor", rows - 1, &from);
        if (status == CLO_OK)
            status = clo_graph_add_edge(reader->graph, (uint32_t)from, (uint32_t)row, 0);
    }
    return status == CLO_OK ? clo_graph_add_task(reader->graph, &task, NULL) : status;
}

clo_status clo_stg_read_text(clo_reader *reader, const clo_source *source)
{
    clo_words words = {.source = source};
    char stem[256];
    int64_t rows = 0;
    clo_status status = clo_reader_begin(reader, "stg", UNIT_NS, 1);

    clo_reader_stem(reader, stem, sizeof stem);
    if (status == CLO_OK)
        status = clo_graph_create(stem, &reader->graph);
    if (status == CLO_OK)
        status = clo_words_integer(&words, "the number of tasks", TASKS_MAX - 2, &rows);
    rows += 2; /* the dummies */
    reader->line = clo_words_line(&words);
    for (int64_t row = 0; row < rows && status == CLO_OK; row++)
        status = read_row(reader, &words, row, rows);
    if (status == CLO_OK && clo_words_peek(&words) != '#' && clo_words_peek(&words) != '\0')
        return clo_words_fail(&words, CLO_ERR_FORMAT, "more than %lld tasks; the first line counts all but two",
                              (long long)rows);
    return status;
}
