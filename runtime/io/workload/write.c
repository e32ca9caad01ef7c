/* write.c - writes workloads, "clotho.workload/1" (docs/FORMATS.md): a first line, then a line a job. The
 * first job of a graph holds it, later ones name that job. */
#include "base/memory.h"
#include "base/status.h"
#include "io/text/reader.h"
#include "workload/workload.h"

#include <clotho/branch.h>
#include <clotho/workload.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Text in one line: breaks and what follows them are between values only, since strings hold none. */
static void add_line(clo_text *into, const clo_text *from)
{
    const char *at = from->data;

    while (at != NULL && *at != '\0') { /* every round passes at least one byte */
        size_t length = strcspn(at, "\n");
        clo_text_add_bytes(into, at, length);
        clo_text_add(into, length > 0 && at[length - 1] == ',' && at[length] != '\0' ? " " : "");
        at += length;
        at += strspn(at, "\n ");
    }
}

static clo_status write_graph(const clo_graph *graph, clo_text *text)
{
    const clo_document document = {.graph = (clo_graph *)graph, .unit_ns = 1}; /* only read */
    clo_text lines = {0};
    clo_status status = clo_clotho_write(&document, &lines);

    text->failed |= lines.failed;
    if (status == CLO_OK)
        add_line(text, &lines);
    clo_text_free(&lines);
    return status;
}

static clo_status write_first(const clo_workload *workload, clo_text *text)
{
    const clo_platform *platform = clo_workload_platform(workload);
    clo_text lines = {0};
    clo_status status = CLO_OK;

    clo_text_add(text, "{\"format\": \"clotho.workload/1\", \"name\": ");
    clo_text_add_json(text, clo_workload_name(workload));
    clo_text_add(text, ", \"jobs\": %u", clo_workload_jobs(workload));
    if (platform != NULL) {
        status = clo_platform_write(platform, &lines);
        clo_text_add(text, ", \"platform\": ");
        text->failed |= lines.failed;
        add_line(text, &lines);
        clo_text_free(&lines);
    }
    clo_text_add(text, "}\n");
    return status;
}

/* Writes a number that is not 0, the default of all of them. */
static clo_status write_number(clo_text *text, uint32_t job, const char *key, uint64_t value)
{
    if (value > CLO_JSON_INTEGER_MAX)
        return clo_fail(CLO_ERR_UNSUPPORTED, "job %u: %s is %llu; JSON holds integers up to 2^53 exactly", job, key,
                        (unsigned long long)value);
    if (value != 0)
        clo_text_add(text, ", \"%s\": %llu", key, (unsigned long long)value);
    return CLO_OK;
}

static clo_status write_numbers(const clo_workload_job *job, uint32_t index, clo_text *text)
{
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {{"deadline_ns", (uint64_t)job->deadline_ns},
                   {"period_ns", (uint64_t)job->period_ns},
                   {"releases", job->releases},
                   {"weight", job->weight != 1 ? job->weight : 0},
                   {"band", job->band},
                   {"group", job->group},
                   {"limit", job->limit}};
    clo_status status = CLO_OK;

    for (size_t n = 0; n < sizeof numbers / sizeof numbers[0] && status == CLO_OK; n++)
        status = write_number(text, index, numbers[n].key, numbers[n].value);
    return status;
}

static clo_status write_job(const clo_workload_job *job, uint32_t index, uint32_t first, clo_text *text)
{
    clo_status status = CLO_OK;

    assert(first <= index);
    if (job->arrival_ns > CLO_JSON_INTEGER_MAX)
        return clo_fail(CLO_ERR_UNSUPPORTED, "job %u: arrival_ns is %lld; JSON holds integers up to 2^53 exactly",
                        index, (long long)job->arrival_ns);
    clo_text_add(text, "{\"arrival_ns\": %lld", (long long)job->arrival_ns);
    if (strcmp(job->name, clo_graph_name(job->graph)) != 0) {
        clo_text_add(text, ", \"name\": ");
        clo_text_add_json(text, job->name);
    }
    status = write_numbers(job, index, text);
    clo_text_add(text, ", \"graph\": ");
    if (first < index)
        clo_text_add(text, "%u", first);
    else if (status == CLO_OK)
        status = write_graph(job->graph, text);
    clo_text_add(text, "}\n");
    return status;
}

clo_status clo_workload_print(const clo_workload *workload, char **out)
{
    clo_text text = {0};
    uint32_t *first = clo_workload_first_jobs(workload), jobs = clo_workload_jobs(workload);

    if (first == NULL)
        return clo_fail_memory("the text of a workload");
    clo_status status = write_first(workload, &text);
    for (uint32_t j = 0; j < jobs && status == CLO_OK && !text.failed; j++)
        status = write_job(clo_workload_get(workload, j), j, first[j], &text);
    clo_free(first);
    if (status != CLO_OK)
        return clo_text_free(&text), status;
    return clo_text_take(&text, out) == CLO_OK ? CLO_OK : clo_fail_memory("the text of a workload");
}

clo_status clo_workload_save(const clo_workload *workload, const char *path)
{
    char *text = NULL;

    if (workload == NULL || path == NULL)
        return clo_fail_null("clo_workload_save", workload == NULL ? "workload" : "path");
    if (clo_workload_jobs(workload) == 0 || !workload->is_sorted)
        return clo_fail(CLO_ERR_STATE, "clo_workload_save: workload \"%.60s\" %s", clo_workload_name(workload),
                        clo_workload_jobs(workload) == 0 ? "has no jobs; add one"
                                                         : "is not sorted; call clo_workload_sort");
    clo_status status = clo_workload_print(workload, &text);
    if (status != CLO_OK)
        return status;
    assert(text != NULL);
    status = clo_file_write(path, text, strlen(text));
    clo_free(text);
    return status;
}
