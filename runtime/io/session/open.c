/* open.c - a session is made, goes on from another one, is saved and freed. */
#include "io/session/session.h"

#include "base/memory.h"
#include "base/status.h"

static clo_status copy_text(const char *text, char **out)
{
    if (text == NULL)
        return CLO_OK;
    *out = clo_duplicate(text);
    return *out != NULL ? CLO_OK : clo_fail_memory("a session");
}

static clo_status open_session(clo_session *s, const clo_session_config *config)
{
    const char *name = config->policy;

    if (name == NULL)
        name = config->service.policy == NULL ? "auto" : config->service.policy->name;
    clo_status status = copy_text(name != NULL ? name : "", &s->policy);
    if (status == CLO_OK)
        status = copy_text(config->log_path, &s->log_path);
    if (status == CLO_OK)
        status = copy_text(config->workload_path, &s->workload_path);
    if (status == CLO_OK)
        status = clo_reader_config(NULL, &s->base);
    if (status == CLO_OK)
        status = clo_workload_create("served", &s->workload);
    if (status == CLO_OK)
        status = clo_service_create(s->platform, &config->service, &s->service);
    s->base.file = "event";
    return status;
}

clo_status clo_session_create(const clo_platform *platform, const clo_session_config *theirs, clo_session **out)
{
    clo_session_config config = CLO_SESSION_CONFIG_INIT;
    clo_status status = clo_config_read(&config, sizeof config, theirs, "clo_session_config");

    if (status != CLO_OK)
        return status;
    if (platform == NULL || out == NULL)
        return clo_fail_null("clo_session_create", "platform or out");
    if (config.service.size == 0) /* as a config of zeros has it */
        config.service.size = sizeof config.service;
    if (config.log_path != NULL && config.service.log == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_session_create: a path for a log, and no log; give one");
    clo_session *made = clo_allocate(1, sizeof *made);
    if (made == NULL)
        return clo_fail_memory("a session");
    made->platform = platform;
    made->log = config.service.log;
    made->is_real = config.is_real != 0;
    status = open_session(made, &config);
    if (status != CLO_OK) {
        clo_session_destroy(made);
        return status;
    }
    *out = made;
    return CLO_OK;
}

void clo_session_destroy(clo_session *s)
{
    if (s == NULL)
        return;
    clo_service_destroy(s->service);
    clo_workload_destroy(s->workload);
    for (size_t k = 0; k < s->jobs_count; k++) {
        clo_cost_destroy(s->jobs[k].own_cost);
        clo_document_destroy(s->jobs[k].document);
    }
    clo_workload_destroy(s->before);
    clo_text_free(&s->text);
    clo_free(s->jobs);
    clo_free(s->policy);
    clo_free(s->log_path);
    clo_free(s->workload_path);
    clo_free(s);
}

/* A cost for each graph; that of the first job with a graph is borrowed by the others. */
static clo_status make_costs(const clo_session *s, const uint32_t *first, uint32_t count, clo_session_job *jobs)
{
    clo_status status = CLO_OK;

    for (uint32_t j = 0; j < count && status == CLO_OK; j++) {
        jobs[j].graph = clo_workload_get(s->before, j)->graph;
        if (first[j] == j)
            status = clo_cost_create(jobs[j].graph, s->platform, &jobs[j].own_cost);
        jobs[j].cost = jobs[first[j]].own_cost;
    }
    return status;
}

static clo_status repeat(clo_session *s, const clo_session_job *jobs, uint32_t count, const clo_log *log)
{
    const clo_cost **costs = clo_allocate(count, sizeof *costs);

    if (costs == NULL)
        return clo_fail_memory("the costs of a session");
    for (uint32_t j = 0; j < count; j++)
        costs[j] = jobs[j].cost;
    clo_status status = clo_service_restart(s->service, log, costs, count);
    clo_free(costs);
    return status;
}

/* Rows for all jobs, so that they are owned by the session; those that the log does not have leave it again. */
static clo_status take_jobs(clo_session *s, const clo_session_job *jobs, uint32_t count)
{
    clo_status status = CLO_OK;

    for (uint32_t j = 0; j < count; j++) {
        clo_workload_job row = *clo_workload_get(s->before, j);
        row.size = sizeof row;
        if (status == CLO_OK && row.period_ns > 0)
            status = clo_fail(CLO_ERR_UNSUPPORTED, "job %u is periodic, and no service has such jobs", j);
        if (status == CLO_OK)
            status = clo_session_add_job(s, &jobs[j], &row);
        if (status != CLO_OK)
            clo_cost_destroy(jobs[j].own_cost);
    }
    return status;
}

static void drop_others(clo_session *s)
{
    while (s->jobs_count > clo_service_jobs(s->service)) {
        clo_cost *cost = s->jobs[s->jobs_count - 1].own_cost; /* of no job before it */
        clo_session_drop_job(s);
        clo_cost_destroy(cost);
    }
}

/* jobs, first: [count]. */
static clo_status restart_with(clo_session *s, clo_session_job *jobs, const uint32_t *first, uint32_t count,
                               const clo_log *log)
{
    clo_status status = make_costs(s, first, count, jobs);

    if (status != CLO_OK) {
        for (uint32_t j = 0; j < count; j++)
            clo_cost_destroy(jobs[j].own_cost);
        return status;
    }
    status = take_jobs(s, jobs, count);
    if (status == CLO_OK)
        status = repeat(s, jobs, count, log);
    if (status == CLO_OK)
        drop_others(s);
    return status;
}

clo_status clo_session_restart(clo_session *s, clo_workload *workload, const clo_log *log)
{
    if (s == NULL || workload == NULL || log == NULL || s->before != NULL) {
        clo_workload_destroy(workload);
        return s != NULL && s->before != NULL
                   ? clo_fail(CLO_ERR_ARGUMENT, "clo_session_restart: the session was restarted already")
                   : clo_fail_null("clo_session_restart", "session, workload or log");
    }
    s->before = workload;
    uint32_t count = clo_workload_jobs(workload);
    clo_session_job *jobs = clo_allocate(count, sizeof *jobs);
    uint32_t *first = clo_workload_first_jobs(workload);
    clo_status status = CLO_ERR_MEMORY;
    if (jobs != NULL && first != NULL)
        status = restart_with(s, jobs, first, count, log);
    else
        (void)clo_fail_memory("the jobs of a session");
    clo_free(first);
    clo_free(jobs);
    return status;
}

clo_status clo_session_save(clo_session *s)
{
    clo_status status = CLO_OK;

    if (s == NULL)
        return clo_fail_null("clo_session_save", "session");
    /* The workload first: it may have more jobs than the log, never fewer. */
    if (s->workload_path != NULL && clo_workload_jobs(s->workload) > 0)
        status = clo_workload_save(s->workload, s->workload_path);
    if (status == CLO_OK && s->log_path != NULL)
        status = clo_log_save(s->log, s->log_path);
    return status;
}

clo_service *clo_session_service(clo_session *s)
{
    return s != NULL ? s->service : NULL;
}
