/* arrive.c - the event of a job that arrives, with its graph or the number of a job that had it before. */
#include "io/session/session.h"

#include "base/memory.h"
#include "base/status.h"

#include <assert.h>
#include <string.h>

clo_status clo_session_add_job(clo_session *s, const clo_session_job *job, const clo_workload_job *row)
{
    void *jobs = s->jobs;

    if (clo_grow(&jobs, &s->jobs_capacity, s->jobs_count + 1, sizeof *s->jobs) != 0)
        return clo_fail_memory("the jobs of a session");
    s->jobs = jobs;
    clo_status status = clo_workload_add(s->workload, row);
    if (status == CLO_OK)
        s->jobs[s->jobs_count++] = *job;
    return status;
}

void clo_session_drop_job(clo_session *s)
{
    assert(s->jobs_count > 0);
    s->jobs_count--;
    s->workload->jobs_count--;
}

/* "graph": {...}, of the own format. */
static clo_status read_inline(const clo_session *s, const clo_json *json, cJSON *object, clo_session_job *job)
{
    const cJSON *format = NULL, *platform = NULL;
    clo_json inside = *json;
    clo_status status = clo_json_get(json, object, "format", true, &format);

    if (status == CLO_OK && !(cJSON_IsString(format) && strcmp(format->valuestring, "clotho.graph/1") == 0))
        return clo_json_want(json, format, "\"clotho.graph/1\"; 'clotho convert' makes it of other formats");
    if (status == CLO_OK)
        status = clo_json_get(json, object, "platform", false, &platform);
    if (status == CLO_OK && platform != NULL)
        return clo_json_fail(json, CLO_ERR_FORMAT, platform, "is the platform of one job; leave it out");
    inside.root = object;
    if (status == CLO_OK)
        status = clo_document_read_object(&s->base, &inside, &job->document);
    if (status != CLO_OK)
        return status;
    job->graph = clo_document_graph(job->document);
    status = clo_cost_create(job->graph, s->platform, &job->own_cost);
    job->cost = job->own_cost;
    return clo_json_place(json, object, status);
}

/* "graph": 3, that of job 3. */
static clo_status read_shared(const clo_session *s, const clo_json *json, const cJSON *item, clo_session_job *job)
{
    int64_t index = 0;
    clo_status status = clo_json_integer(json, item, CLO_WORKLOAD_JOBS_MAX, &index);

    if (status != CLO_OK)
        return status;
    if ((size_t)index >= s->jobs_count)
        return clo_json_fail(json, CLO_ERR_FORMAT, item, "is %lld, but %zu jobs have arrived; write the number of one",
                             (long long)index, s->jobs_count);
    job->graph = s->jobs[index].graph;
    job->cost = s->jobs[index].cost;
    return CLO_OK;
}

static clo_status read_graph(const clo_session *s, const clo_json *json, clo_session_job *job)
{
    const cJSON *graph = NULL;
    clo_status status = clo_json_get(json, json->root, "graph", true, &graph);

    if (status != CLO_OK)
        return status;
    if (cJSON_IsNumber(graph))
        return read_shared(s, json, graph, job);
    if (cJSON_IsObject(graph)) /* the tree is ours */
        return read_inline(s, json, cJSON_GetObjectItemCaseSensitive(json->root, "graph"), job);
    return clo_json_want(json, graph, "a graph {\"format\": \"clotho.graph/1\", ...} or the number of a job");
}

/* What is 0 where it is left out is not written as 0, as in a workload. */
static clo_status refuse_zeros(const clo_json *json)
{
    static const char *const keys[] = {"weight", "deadline_ns", "limit"};

    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        const cJSON *item = NULL;
        clo_status status = clo_json_get(json, json->root, keys[k], false, &item);
        if (status != CLO_OK)
            return status;
        if (item != NULL && cJSON_IsNumber(item) && item->valuedouble == 0)
            return clo_json_want(json, item, "a number > 0, or leave it out");
    }
    return CLO_OK;
}

static clo_status read_row(const clo_json *json, clo_workload_job *row)
{
    const cJSON *name = NULL;
    clo_status status = refuse_zeros(json);

    if (status == CLO_OK)
        status = clo_json_get(json, json->root, "name", false, &name);
    if (status == CLO_OK && name != NULL)
        status = clo_json_string(json, name, &row->name);
    if (status == CLO_OK)
        status = clo_json_get_integer(json, json->root, "deadline_ns", CLO_JSON_INTEGER_MAX, &row->deadline_ns);
    row->weight = 1;
    if (status == CLO_OK)
        status = clo_json_get_u32(json, json->root, "weight", &row->weight);
    if (status == CLO_OK)
        status = clo_json_get_u32(json, json->root, "band", &row->band);
    if (status == CLO_OK)
        status = clo_json_get_u32(json, json->root, "group", &row->group);
    if (status == CLO_OK)
        status = clo_json_get_u32(json, json->root, "limit", &row->limit);
    return status;
}

/* The row of the workload first: it checks the same things, and is easily taken back. */
static clo_status add(clo_session *s, const clo_session_job *job, const clo_workload_job *row, uint64_t *number)
{
    clo_service_job config = CLO_SERVICE_JOB_INIT;
    clo_status status = clo_session_add_job(s, job, row);

    if (status != CLO_OK)
        return status;
    config.cost = job->cost;
    config.deadline_ns = row->deadline_ns;
    config.weight = row->weight;
    config.band = row->band;
    config.group = row->group;
    config.limit = row->limit;
    status = clo_service_arrive(s->service, &config, row->arrival_ns, number);
    if (status != CLO_OK)
        clo_session_drop_job(s);
    return status;
}

clo_status clo_session_arrive(clo_session *s, const clo_json *json, int64_t now_ns, uint64_t *number)
{
    clo_workload_job row = CLO_WORKLOAD_JOB_INIT;
    clo_session_job job = {0};
    clo_status status = read_row(json, &row);

    if (status == CLO_OK && now_ns < clo_service_now_ns(s->service)) /* before the graph is read, which takes longest */
        status = clo_service_advance(s->service, now_ns);            /* which says what is wrong */
    if (status == CLO_OK)
        status = read_graph(s, json, &job);
    row.graph = job.graph;
    row.arrival_ns = now_ns;
    if (status == CLO_OK)
        status = add(s, &job, &row, number);
    if (status == CLO_OK)
        return CLO_OK;
    clo_cost_destroy(job.own_cost);
    clo_document_destroy(job.document);
    return status;
}
