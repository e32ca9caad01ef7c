/* document.c - recognises a graph file by its content, lets its reader fill a graph, seals it; and the way back.
 *
 * A document is handed out complete or not at all. */
#define _POSIX_C_SOURCE 200809L
#include "io/datasets/alibaba_csv.h"
#include "io/text/foreign.h"
#include "io/text/formats.h"
#include "io/text/reader.h"

#include "base/memory.h"
#include "base/status.h"
#include "generate/body.h"
#include "graph/graph.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define EXTRA_MAX (1u << 22) /* instances beyond one a task */

typedef clo_status write_fn(const clo_document *document, clo_text *text);

static const struct {
    const char *name;
    write_fn *write;
} writers[] = {
    {"clotho", clo_clotho_write},
    {"wfformat", clo_wfformat_write},
    {"saga", clo_saga_write},
    {"dot", clo_dot_write},
    {NULL, NULL},
};

static bool has(const cJSON *root, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(root, key) != NULL;
}

/* Apart from SAGA's files, which have nodes and links too: they have tasks. */
static bool is_node_link(const cJSON *root)
{
    return has(root, "nodes") && !has(root, "tasks") && !has(root, "adjacency") &&
           (has(root, "directed") || has(root, "multigraph") || has(root, "edges"));
}

/* A format that is none of graphs. */
static clo_status refuse_format(const clo_json *json, const cJSON *format)
{
    static const struct {
        const char *begin, *says;
    } others[] = {
        {"clotho.plan/", "says that this is a plan, no graph; name the graph"},
        {"clotho.profile/", "says that these are measured times, no graph; name the graph, and these by --profile"},
        {"clotho.cluster/", "says that this is a cluster, no graph; name the graph, and this by --platform"},
        {"clotho.log/", "says that this is the log of a run, no graph; name the graph"}};

    for (size_t i = 0; cJSON_IsString(format) && i < sizeof others / sizeof others[0]; i++)
        if (strncmp(format->valuestring, others[i].begin, strlen(others[i].begin)) == 0)
            return clo_json_fail(json, CLO_ERR_FORMAT, format, "%s", others[i].says);
    return clo_json_want(json, format, "\"clotho.graph/1\", the one format of this kind that is known");
}

static clo_status read_json(clo_reader *reader, const clo_json *json)
{
    const cJSON *root = json->root, *format = cJSON_GetObjectItemCaseSensitive(root, "format");

    if (!cJSON_IsObject(root))
        return clo_json_want(json, root, "an object {...} of a known format");
    if (cJSON_IsString(format) && strcmp(format->valuestring, "clotho.graph/1") == 0)
        return clo_clotho_read(reader, json);
    if (cJSON_IsString(format) && strcmp(format->valuestring, "clotho.workload/1") == 0)
        return clo_json_want(json, format,
                             "a graph file here; this is a workload, which clo_workload_load and "
                             "'clotho convert --format workload' read");
    if (cJSON_IsString(format) && strncmp(format->valuestring, "clotho.workload/", 16) == 0)
        return clo_json_want(json, format, "\"clotho.workload/1\", the one format of workloads that is known");
    if (format != NULL)
        return refuse_format(json, format);
    if (has(root, "schemaVersion") && has(root, "workflow"))
        return clo_wfformat_read(reader, json);
    if (has(root, "computation_cost"))
        return clo_cost_table_read(reader, json);
    if (has(root, "capacity") && has(root, "duration") && has(root, "successors"))
        return clo_psplib_read(reader, json);
    if (has(root, "capacity") && has(root, "duration_us"))
        return clo_tpch_packing_read(reader, json);
    if (has(root, "proc_time") && has(root, "pred"))
        return clo_stg_read(reader, json);
    if (has(root, "job") && has(root, "tasks"))
        return clo_alibaba_read(reader, json);
    if (has(root, "job") && has(root, "stages"))
        return clo_tpch_read(reader, json);
    if (has(root, "service") && has(root, "calls"))
        return clo_rpc_read(reader, json);
    if (is_node_link(root))
        return clo_node_link_read(reader, json);
    if (has(root, "nodes") && has(root, "links"))
        return clo_saga_read(reader, json);
    return clo_foreign_refuse_json(json);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

bool clo_text_is_dot(const char *text, size_t bytes)
{
    static const char *const words[] = {"digraph", "strict", "graph"};
    size_t at = 0;

    while (at < bytes) { /* every round passes at least one byte */
        if (strchr(" \t\r\n\f\v\xef\xbb\xbf", text[at]) != NULL) {
            at++;
        } else if (text[at] == '#' || (text[at] == '/' && at + 1 < bytes && text[at + 1] == '/')) {
            while (at < bytes && text[at] != '\n')
                at++;
        } else if (text[at] == '/' && at + 1 < bytes && text[at + 1] == '*') {
            for (at += 2; at < bytes && !(text[at - 1] == '*' && text[at] == '/'); at++)
                ;
            at += at < bytes;
        } else {
            break;
        }
    }
    for (size_t w = 0; w < sizeof words / sizeof words[0]; w++) {
        size_t end = at + strlen(words[w]);
        if (end <= bytes && strncasecmp(text + at, words[w], strlen(words[w])) == 0)
            return (end == bytes || !is_letter(text[end])) &&
                   !(words[w][0] == 'g' && clo_text_is_gml(text, bytes, end));
    }
    return false;
}

/* A line of stars begins PSPLIB's files, a line with one number those of the Standard Task Graph set. */
static clo_status read_words(clo_reader *reader, const clo_source *source, size_t at)
{
    const char *text = source->text;
    size_t end = at;

    while (end < source->bytes && (text[end] == '*' || (text[end] >= '0' && text[end] <= '9')) &&
           (text[end] == '*') == (text[at] == '*'))
        end++;
    bool alone = end > at;
    while (end < source->bytes && memchr(" \t\r", text[end], 3) != NULL)
        end++;
    alone &= end < source->bytes && text[end] == '\n';
    if (alone && text[at] == '*')
        return clo_psplib_read_text(reader, source);
    if (alone)
        return clo_stg_read_text(reader, source);
    return clo_foreign_refuse(source, at);
}

static clo_status fail_workload(const clo_reader *reader)
{
    return clo_fail(CLO_ERR_FORMAT,
                    "%s:1: holds the jobs of a workload, not a graph; read it with clo_workload_load or "
                    "'clotho convert --format workload'",
                    reader->file);
}

static clo_status read_text(clo_reader *reader, const clo_source *source)
{
    const char *text = source->text;
    size_t at = 0, bytes = source->bytes;
    clo_json json = {0};
    clo_status status = clo_text_check(source);

    if (status != CLO_OK)
        return status;
    if (clo_text_is_dot(text, bytes))
        return clo_dot_read(reader, text, bytes);
    while (at < bytes && strchr(" \t\r\n\xef\xbb\xbf", text[at]) != NULL)
        at++;
    if (at == bytes)
        return clo_fail(CLO_ERR_FORMAT, "%s:1: the file is empty; write a graph into it", reader->file);
    if (clo_text_is_alibaba_csv(text, bytes))
        return fail_workload(reader);
    if (text[at] != '{' && text[at] != '[')
        return read_words(reader, source, at);
    status = clo_json_open(&json, source);
    if (status == CLO_OK)
        status = read_json(reader, &json);
    clo_json_close(&json);
    return status;
}

/* Instances multiply: a line of text could ask for all memory. What stands in the file line by line is not limited. */
static clo_status check_instances(const clo_reader *reader)
{
    const clo_graph *graph = reader->graph;
    uint64_t instances = 0;

    for (uint32_t t = 0; t < clo_graph_tasks(graph); t++)
        instances += clo_graph_ranges(graph, t) - 1;
    if (instances <= EXTRA_MAX)
        return CLO_OK;
    return clo_fail(CLO_ERR_LIMIT, "more than %u instances; write fewer instances", EXTRA_MAX);
}

static clo_status seal(clo_reader *reader)
{
    char prefix[300];
    clo_status status = check_instances(reader);

    if (status == CLO_OK)
        status = clo_graph_seal(reader->graph);
    if (status == CLO_OK || status == CLO_ERR_MEMORY)
        return status;
    if (reader->line != 0)
        snprintf(prefix, sizeof prefix, "%.256s:%zu: ", reader->file, reader->line);
    else
        snprintf(prefix, sizeof prefix, "%.256s: ", reader->file);
    return clo_fail_prefix(status == CLO_ERR_ARGUMENT ? CLO_ERR_FORMAT : status, prefix);
}

clo_status clo_reader_config(const clo_load_config *config, clo_reader *reader)
{
    clo_load_config mine = CLO_LOAD_CONFIG_INIT;
    clo_status status = clo_config_read(&mine, sizeof mine, config, "clo_load_config");

    if (status != CLO_OK)
        return status;
    if (mine.scale != 0 && !(mine.scale > 0 && isfinite(mine.scale)))
        return clo_fail(CLO_ERR_ARGUMENT, "scale is %g; use a number > 0", mine.scale);
    const char *body = mine.body != NULL ? mine.body : "spin";
    reader->scale = mine.scale != 0 ? mine.scale : 1;
    reader->body = strcmp(body, "spin") == 0      ? clo_body_spin
                   : strcmp(body, "memory") == 0  ? clo_body_memory
                   : strcmp(body, "command") == 0 ? clo_body_command
                                                  : NULL;
    if (reader->body == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "body '%s' is unknown; use spin, memory or command", body);
    return CLO_OK;
}

/* From `json`, or where that is NULL from `source`. */
static clo_status read_document(const clo_reader *base, const clo_source *source, const clo_json *json,
                                clo_document **out)
{
    clo_reader reader = *base;
    clo_document *made = clo_allocate(1, sizeof *made);

    reader.file = source->name;
    reader.line = source->is_line ? source->lines_before + 1 : 0;
    reader.bodies = made != NULL ? clo_allocate(1, sizeof *reader.bodies) : NULL;
    if (reader.bodies == NULL) {
        clo_free(made);
        return clo_fail_memory(source->name);
    }
    clo_status status = json != NULL ? clo_clotho_read(&reader, json) : read_text(&reader, source);
    if (status == CLO_OK)
        status = seal(&reader);
    *made = (clo_document){.graph = reader.graph,
                           .platform = reader.platform,
                           .format = reader.format,
                           .unit_ns = reader.unit_ns,
                           .bodies = reader.bodies,
                           .line = source->is_line ? source->lines_before + 1 : 0,
                           .arrival_ns = reader.arrival_ns,
                           .note = reader.note,
                           .references_count = reader.references_count};
    memcpy(made->references, reader.references, sizeof made->references);
    if (status != CLO_OK)
        return clo_document_destroy(made), status;
    *out = made;
    return CLO_OK;
}

clo_status clo_document_read(const clo_reader *base, const clo_source *source, clo_document **out)
{
    return read_document(base, source, NULL, out);
}

clo_status clo_document_read_object(const clo_reader *base, const clo_json *json, clo_document **out)
{
    return read_document(base, &json->source, json, out);
}

clo_status clo_document_create(clo_graph *graph, clo_platform *platform, clo_document **out)
{
    if (graph == NULL || out == NULL)
        return clo_fail_null("clo_document_create", "graph or out");
    if (!graph->sealed)
        return clo_fail(CLO_ERR_STATE, "clo_document_create: graph \"%.60s\" is not sealed; call clo_graph_seal first",
                        clo_graph_name(graph));
    clo_document *made = clo_allocate(1, sizeof *made);
    if (made == NULL)
        return clo_fail_memory("a document");
    *made = (clo_document){.graph = graph, .platform = platform, .format = "clotho.graph/1", .unit_ns = 1};
    *out = made;
    return CLO_OK;
}

const clo_graph *clo_document_graph(const clo_document *document)
{
    return document != NULL ? document->graph : NULL;
}

const clo_platform *clo_document_platform(const clo_document *document)
{
    return document != NULL ? document->platform : NULL;
}

const char *clo_document_format(const clo_document *document)
{
    return document != NULL ? document->format : NULL;
}

double clo_document_unit_ns(const clo_document *document)
{
    return document != NULL ? document->unit_ns : 0;
}

size_t clo_document_line(const clo_document *document)
{
    return document != NULL ? document->line : 0;
}

const clo_reference *clo_document_references(const clo_document *document, uint32_t *count)
{
    uint32_t references = document != NULL ? document->references_count : 0;

    if (count != NULL)
        *count = references;
    return references > 0 ? document->references : NULL;
}

const char *clo_document_note(const clo_document *document)
{
    return document != NULL ? document->note : NULL;
}

void clo_document_destroy(clo_document *document)
{
    if (document == NULL)
        return;
    clo_graph_destroy(document->graph);
    clo_platform_destroy(document->platform);
    clo_bodies_free(document->bodies);
    clo_free(document->note);
    clo_free(document);
}

clo_status clo_document_print(const clo_document *document, const char *name, char **out)
{
    const clo_registry_head *rows = clo_formats.rows;
    clo_text text = {0};
    size_t f = 0, w = 0;

    while (rows[f].name != NULL && strcmp(rows[f].name, name) != 0)
        f++;
    while (writers[w].name != NULL && strcmp(writers[w].name, name) != 0)
        w++;
    if (rows[f].name == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "format '%s' is unknown; use clotho, dot, wfformat or saga", name);
    if (strcmp(name, "workload") == 0)
        return clo_fail(CLO_ERR_UNSUPPORTED, "format 'workload' holds jobs, not one graph; use clo_workload_save");
    if (writers[w].name == NULL)
        return clo_fail(CLO_ERR_UNSUPPORTED, "format '%s' can only be read; use clotho, dot, wfformat or saga", name);
    clo_status status = writers[w].write(document, &text);
    if (status != CLO_OK)
        return clo_text_free(&text), status;
    return clo_text_take(&text, out) == CLO_OK ? CLO_OK : clo_fail_memory("the text of a graph");
}

static const char *format_of(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot != NULL && (strcmp(dot, ".dot") == 0 || strcmp(dot, ".gv") == 0) ? "dot" : "clotho";
}

clo_status clo_document_save(const clo_document *document, const char *format, const char *path)
{
    char *text = NULL;

    if (document == NULL || path == NULL)
        return clo_fail_null("clo_document_save", document == NULL ? "document" : "path");
    clo_status status = clo_document_print(document, format != NULL ? format : format_of(path), &text);
    if (status != CLO_OK)
        return status;
    assert(text != NULL);
    status = clo_file_write(path, text, strlen(text));
    clo_free(text);
    return status;
}
