/* read.c - reads workloads: the own format, "clotho.workload/1" (docs/FORMATS.md), the CSV file of the Alibaba
 * trace, and every file with graphs, each of whose instances becomes a job.
 *
 * Own format: JSON Lines, the first line about the workload, each other line a job. Strict as io/clotho/read.c is. */
#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"
#include "io/datasets/alibaba_csv.h"
#include "io/text/lines.h"
#include "io/text/parse.h"
#include "io/workload/graphs.h"
#include "workload/workload.h"

#include <assert.h>
#include <string.h>

#define WORKLOAD_BYTES_MAX ((size_t)1 << 30)
#define FORMAT "clotho.workload/1"

typedef struct source {
    clo_reader base;
    clo_source text;
    clo_workload *workload;
    clo_workload_graphs *graphs; /* NULL: the workload is in no file and may name none */
    int64_t jobs_wanted;         /* as the first line says; -1: it does not */
} source;

/* A time of the file, in ns. */
static clo_status get_time(const source *s, const clo_json *json, const char *key, int64_t *out)
{
    const cJSON *item = NULL;
    clo_status status = clo_json_get(json, json->root, key, false, &item);

    return status == CLO_OK && item != NULL ? clo_reader_time(&s->base, json, item, 1, out) : status;
}

static clo_status get_text(const clo_json *json, const char *key, const char **out)
{
    const cJSON *item = NULL;
    clo_status status = clo_json_get(json, json->root, key, false, &item);

    return status == CLO_OK && item != NULL ? clo_json_text(json, item, out) : status;
}

/* "graph": {...}, of the own format. */
static clo_status read_inline(const source *s, const clo_json *json, cJSON *object, const clo_graph **out)
{
    const cJSON *format = NULL, *platform = NULL;
    clo_json inside = *json;
    clo_document *document = NULL;
    clo_status status = clo_json_get(json, object, "format", true, &format);

    if (status == CLO_OK && !(cJSON_IsString(format) && strcmp(format->valuestring, "clotho.graph/1") == 0))
        return clo_json_want(json, format, "\"clotho.graph/1\"; name graphs of other formats by \"file\"");
    if (status == CLO_OK)
        status = clo_json_get(json, object, "platform", false, &platform);
    if (status == CLO_OK && platform != NULL)
        return clo_json_fail(json, CLO_ERR_FORMAT, platform, "is the platform of one job; move it to the first line");
    inside.root = object;
    if (status == CLO_OK)
        status = clo_document_read_object(&s->base, &inside, &document);
    if (status != CLO_OK)
        return status;
    *out = clo_document_graph(document);
    return clo_workload_take(s->workload, document);
}

/* "graph": 3, the graph of job 3. */
static clo_status read_shared(const source *s, const clo_json *json, const cJSON *item, const clo_graph **out)
{
    uint32_t jobs = clo_workload_jobs(s->workload);
    int64_t index = 0;
    clo_status status = clo_json_integer(json, item, UINT32_MAX, &index);

    if (status != CLO_OK)
        return status;
    if (index >= jobs)
        return clo_json_fail(json, CLO_ERR_FORMAT, item,
                             "is %lld, but %u job%s above this line; write the number of one, from 0", (long long)index,
                             jobs, jobs == 1 ? " is" : "s are");
    *out = clo_workload_get(s->workload, (uint32_t)index)->graph;
    return CLO_OK;
}

/* "file": "g.jsonl", "instance": "a". */
static clo_status read_file(const source *s, const clo_json *json, const cJSON *file, const clo_graph **out)
{
    const char *path = NULL, *instance = NULL;
    clo_status status = clo_json_string(json, file, &path);

    if (status == CLO_OK)
        status = get_text(json, "instance", &instance);
    if (status != CLO_OK)
        return status;
    if (s->graphs == NULL || strcmp(path, "-") == 0)
        return clo_json_want(json, file,
                             s->graphs == NULL ? "\"graph\": only a workload in a file may name files"
                                               : "the name of a file; standard input is none");
    return clo_json_place(json, file, clo_workload_graphs_find(s->graphs, path, instance, s->workload, out));
}

static clo_status read_graph(const source *s, const clo_json *json, const clo_graph **out)
{
    const cJSON *graph = NULL, *file = NULL, *instance = NULL;
    clo_status status = clo_json_get(json, json->root, "graph", false, &graph);

    if (status == CLO_OK)
        status = clo_json_get(json, json->root, "file", false, &file);
    if (status == CLO_OK)
        status = clo_json_get(json, json->root, "instance", false, &instance);
    if (status != CLO_OK)
        return status;
    if ((graph == NULL) == (file == NULL))
        return clo_json_fail(json, CLO_ERR_FORMAT, json->root, "has %s; write one of them",
                             graph == NULL ? "neither \"graph\" nor \"file\"" : "\"graph\" and \"file\"");
    if (file != NULL)
        return read_file(s, json, file, out);
    if (instance != NULL)
        return clo_json_fail(json, CLO_ERR_FORMAT, instance, "belongs to \"file\"; remove it");
    if (cJSON_IsNumber(graph))
        return read_shared(s, json, graph, out);
    if (cJSON_IsObject(graph)) /* the tree is ours, and only its root is changed */
        return read_inline(s, json, cJSON_GetObjectItemCaseSensitive(json->root, "graph"), out);
    return clo_json_want(json, graph, "a graph {\"format\": \"clotho.graph/1\", ...} or the number of a job above");
}

static clo_status read_numbers(const source *s, const clo_json *json, clo_workload_job *job)
{
    int64_t releases = 0;
    const cJSON *arrival = NULL;
    clo_status status = get_time(s, json, "arrival_ns", &job->arrival_ns);

    job->weight = 1;
    if (status == CLO_OK)
        status = get_time(s, json, "deadline_ns", &job->deadline_ns);
    if (status == CLO_OK)
        status = get_time(s, json, "period_ns", &job->period_ns);
    if (status == CLO_OK)
        status = clo_json_get_integer(json, json->root, "releases", CLO_JSON_INTEGER_MAX, &releases);
    if (status == CLO_OK)
        status = clo_json_get_u32(json, json->root, "weight", &job->weight);
    if (status == CLO_OK)
        status = clo_json_get_u32(json, json->root, "band", &job->band);
    if (status == CLO_OK)
        status = clo_json_get_u32(json, json->root, "group", &job->group);
    if (status == CLO_OK)
        status = clo_json_get_u32(json, json->root, "limit", &job->limit);
    if (status == CLO_OK)
        status = clo_json_get(json, json->root, "arrival_ns", false, &arrival);
    if (status != CLO_OK)
        return status;
    job->releases = (uint64_t)releases;
    uint32_t jobs = clo_workload_jobs(s->workload);
    int64_t last_ns = jobs > 0 ? clo_workload_get(s->workload, jobs - 1)->arrival_ns : 0;
    if (job->arrival_ns < last_ns)
        return clo_json_fail(json, CLO_ERR_FORMAT, arrival != NULL ? arrival : json->root,
                             "%s %lld ns, before the job above it (%lld ns); put the lines into the order of arrivals",
                             arrival != NULL ? "is" : "arrives at", (long long)job->arrival_ns, (long long)last_ns);
    return CLO_OK;
}

/* 0 would make a job that counts nothing, a deadline that is never met ... */
static clo_status refuse_zeros(const clo_json *json)
{
    static const char *const keys[] = {"weight", "deadline_ns", "period_ns", "releases", "limit"};
    const cJSON *item = NULL;

    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        clo_status status = clo_json_get(json, json->root, keys[k], false, &item);
        if (status != CLO_OK)
            return status;
        if (item != NULL && cJSON_IsNumber(item) && item->valuedouble == 0)
            return clo_json_want(json, item, k == 0 ? "a whole number >= 1" : "a number > 0, or leave it out");
    }
    return CLO_OK;
}

static clo_status read_job(const source *s, const clo_json *json)
{
    static const char *const known[] = {"name",   "graph",       "file",      "instance", "arrival_ns",
                                        "weight", "deadline_ns", "period_ns", "releases", "band",
                                        "group",  "limit",       NULL};
    clo_workload_job job = CLO_WORKLOAD_JOB_INIT;
    clo_status status = cJSON_IsObject(json->root) ? clo_json_keys(json, json->root, known)
                                                   : clo_json_want(json, json->root, "a job {\"graph\": ...}");

    job.line = json->source.lines_before + 1;
    if (status == CLO_OK)
        status = refuse_zeros(json);
    if (status == CLO_OK)
        status = read_numbers(s, json, &job);
    if (status == CLO_OK)
        status = get_text(json, "name", &job.name);
    if (status == CLO_OK)
        status = read_graph(s, json, &job.graph);
    return status == CLO_OK ? clo_json_place(json, json->root, clo_workload_add(s->workload, &job)) : status;
}

static clo_status read_first(source *s, const clo_json *json)
{
    static const char *const known[] = {"format", "name", "description", "jobs", "platform", NULL};
    const char *name = NULL;
    const cJSON *item = NULL, *platform = NULL;
    clo_platform *own = NULL;
    clo_status status = clo_json_keys(json, json->root, known);

    s->jobs_wanted = -1;
    if (status == CLO_OK)
        status = clo_json_get(json, json->root, "format", true, &item); /* known; but is it there twice? */
    if (status == CLO_OK)
        status = get_text(json, "name", &name);
    if (status == CLO_OK)
        status = clo_json_get_integer(json, json->root, "jobs", CLO_WORKLOAD_JOBS_MAX, &s->jobs_wanted);
    if (status == CLO_OK)
        status = clo_json_get(json, json->root, "platform", false, &platform);
    if (status == CLO_OK)
        status = clo_workload_create(name, &s->workload);
    if (status == CLO_OK && platform != NULL)
        status = clo_platform_read(json, platform, &own);
    if (status == CLO_OK)
        clo_workload_set_platform(s->workload, own);
    return status;
}

/* One line: the first, or a job. */
static clo_status read_line(source *s, const clo_source *line)
{
    clo_json json = {0};
    clo_status status = clo_text_check(line);

    if (status == CLO_OK)
        status = clo_json_open(&json, line);
    if (status == CLO_OK)
        status = s->workload == NULL ? read_first(s, &json) : read_job(s, &json);
    clo_json_close(&json);
    return status;
}

static clo_status read_own(source *s)
{
    clo_lines lines = {.name = s->text.name, .text = s->text.text, .bytes = s->text.bytes};
    clo_source line = {0};
    clo_status status = CLO_OK;

    while (status == CLO_OK && clo_lines_next(&lines, &line))
        status = read_line(s, &line);
    if (status != CLO_OK)
        return status;
    assert(s->workload != NULL); /* or the format would not have been recognised */
    uint32_t jobs = clo_workload_jobs(s->workload);
    if (s->jobs_wanted >= 0 && jobs != s->jobs_wanted)
        return clo_fail(CLO_ERR_FORMAT, "%s:%zu: ends after %u of %lld jobs; it is truncated, or correct \"jobs\"",
                        s->text.name, line.lines_before + 1, jobs, (long long)s->jobs_wanted);
    if (jobs == 0)
        return clo_fail(CLO_ERR_FORMAT, "%s:%zu: holds no jobs; write one a line below the first line", s->text.name,
                        line.lines_before + 1);
    return CLO_OK;
}

/* The first line says so. A broken first line is no own format; its reader says what is wrong. */
static bool is_own(const clo_source *text)
{
    clo_lines lines = {.name = text->name, .text = text->text, .bytes = text->bytes};
    clo_source line;
    clo_json json = {0};
    bool own = false;

    if (!clo_lines_next(&lines, &line) || line.text[0] != '{' || clo_text_check(&line) != CLO_OK)
        return false;
    if (clo_json_open(&json, &line) == CLO_OK) {
        const cJSON *format = cJSON_GetObjectItemCaseSensitive(json.root, "format");
        own = cJSON_IsString(format) && strcmp(format->valuestring, FORMAT) == 0;
    }
    clo_json_close(&json);
    return own;
}

static clo_status add_document(const source *s, clo_document *document)
{
    clo_workload_job job = CLO_WORKLOAD_JOB_INIT;

    job.graph = clo_document_graph(document);
    job.arrival_ns = document->arrival_ns;
    job.line = document->line;
    clo_status status = clo_workload_take(s->workload, document);
    return status == CLO_OK ? clo_workload_add(s->workload, &job) : status;
}

/* Every instance of a file with graphs. The platform is that of a single instance, or that of all. */
static clo_status read_documents(source *s, const clo_load_config *config, const char *name)
{
    clo_documents *documents = NULL;
    clo_document *document = NULL;
    clo_status status = clo_documents_parse(s->text.name, s->text.text, s->text.bytes, config, &documents);

    if (status == CLO_OK)
        status = clo_workload_create(name, &s->workload);
    for (size_t left = clo_documents_count(documents), all = left; left > 0 && status == CLO_OK; left--) {
        status = clo_documents_next(documents, &document);
        if (status != CLO_OK)
            break;
        clo_reader *next = clo_documents_reader(documents);
        if (all == 1 || (!next->no_platform && strcmp(document->format, "alibaba") == 0)) {
            next->no_platform = true; /* every line has the same one */
            clo_workload_set_platform(s->workload, document->platform);
            document->platform = NULL;
        }
        status = add_document(s, document);
    }
    clo_documents_close(documents);
    return status;
}

static clo_status read_any(source *s, const clo_load_config *config)
{
    char stem[256];
    clo_status status;

    clo_reader_stem(&s->base, stem, sizeof stem);

    if (is_own(&s->text)) {
        status = read_own(s);
    } else if (clo_text_is_alibaba_csv(s->text.text, s->text.bytes)) {
        status = clo_workload_create(stem, &s->workload);
        if (status == CLO_OK)
            status = clo_alibaba_csv_read(&s->base, &s->text, s->workload);
    } else {
        status = read_documents(s, config, stem);
    }
    if (status == CLO_OK)
        status = clo_workload_set_file(s->workload, s->text.name);
    if (status == CLO_OK)
        status = clo_workload_sort(s->workload);
    if (status == CLO_OK && clo_workload_platform(s->workload) != NULL)
        status = clo_workload_check(s->workload, clo_workload_platform(s->workload));
    return status;
}

/* `folder_of`: the workload's path, for the files that it names; NULL: it may name none. */
static clo_status read_workload(const clo_source *text, const clo_load_config *config, const char *folder_of,
                                clo_workload **out)
{
    clo_load_config mine = CLO_LOAD_CONFIG_INIT;
    source s = {.text = *text};
    clo_status status = clo_config_read(&mine, sizeof mine, config, "clo_load_config");

    mine.instance = NULL;
    if (status == CLO_OK)
        status = clo_reader_config(&mine, &s.base);
    if (status != CLO_OK)
        return status;
    s.base.file = text->name;
    if (folder_of != NULL && (s.graphs = clo_workload_graphs_open(&mine, folder_of)) == NULL)
        return clo_fail_memory(text->name);
    status = read_any(&s, &mine);
    clo_workload_graphs_close(s.graphs);
    if (status != CLO_OK)
        return clo_workload_destroy(s.workload), status;
    *out = s.workload;
    return CLO_OK;
}

clo_status clo_workload_parse(const char *name, const char *text, size_t text_bytes, const clo_load_config *config,
                              clo_workload **out)
{
    return read_workload(&(clo_source){.name = name, .text = text, .bytes = text_bytes}, config, NULL, out);
}

clo_status clo_workload_load(const char *path, const clo_load_config *config, clo_workload **out)
{
    clo_reader unused = {0};
    char *text;
    size_t bytes;

    if (path == NULL || out == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_workload_load: path or out is NULL");
    clo_status status = clo_reader_config(config, &unused); /* before a long read */
    if (status == CLO_OK)
        status = clo_file_read(path, WORKLOAD_BYTES_MAX, &text, &bytes);
    if (status != CLO_OK)
        return status;
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    status = read_workload(&(clo_source){.name = name, .text = text, .bytes = bytes}, config, name, out);
    clo_free(text);
    return status;
}
