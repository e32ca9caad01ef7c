/* restart.c - a new service goes on where the log of another one ends.
 *
 * Invariant, as in a replay: the records of its own log are equal to the beginning of the other one, so that their
 * number says where that one is to be read on. */
#include "service/service.h"

#include "base/status.h"
#include "trace/log.h"
#include "trace/log_kinds.h"

#include <clotho/branch.h>

#include <string.h>

typedef struct restart {
    clo_service *service;
    const clo_log_record *records; /* [count] of the other log, without its end */
    size_t count;
    const clo_cost *const *costs;
    size_t costs_count;
} restart;

static size_t position(const restart *r)
{
    size_t count;

    (void)clo_log_records(r->service->log, &count);
    return count;
}

static clo_status impossible(const restart *r, size_t at, const char *why)
{
    char text[160];

    return clo_fail(CLO_ERR_INVALID, "the service cannot go on from this log: record %zu: %s: %s", at,
                    clo_log_describe(&r->records[at], text, sizeof text), why);
}

/* Compares what was written since `from`. */
static clo_status compare(const restart *r, size_t from)
{
    size_t count;
    const clo_log_record *mine = clo_log_records(r->service->log, &count);

    if (clo_log_dropped(r->service->log) > 0)
        return clo_fail_memory("the log of a service");
    for (size_t k = from; k < count; k++)
        if (k >= r->count || memcmp(&mine[k], &r->records[k], sizeof *mine) != 0)
            return k >= r->count ? clo_fail(CLO_ERR_INVALID, "the service decides more than the log says; it was cut")
                                 : impossible(r, k,
                                              "the service decides otherwise; name platform and policy of the "
                                              "run");
    return CLO_OK;
}

static clo_status arrive(const restart *r, size_t at)
{
    const clo_log_record *arrival = &r->records[at], *job = arrival + 1, *band = arrival + 2;

    if (at + 1 >= r->count || job->what != CLO_LOG_JOB || job->job != arrival->job || job->stage == 0)
        return impossible(r, at, "no JOB record behind it says what arrives");
    clo_scheduler_job_config terms = {
        .deadline_ns = job->value, .weight = job->stage, .group = job->executor, .limit = job->instance};
    if (at + 2 < r->count && band->what == CLO_LOG_BAND)
        terms.band = band->value >= 0 && band->value < CLO_BANDS_MAX ? (uint32_t)band->value : 0;
    if (arrival->value < 0 || (uint64_t)arrival->value != r->service->jobs_count)
        return impossible(r, at, "jobs of a service are numbered as they arrive");
    if ((uint64_t)arrival->value >= r->costs_count || r->costs[arrival->value] == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "the log has a job %lld, and the workload does not; give that of the run",
                        (long long)arrival->value);
    if (clo_cost_platform(r->costs[arrival->value]) != r->service->platform)
        return clo_fail(CLO_ERR_ARGUMENT, "the cost of job %lld is of another platform", (long long)arrival->value);
    return clo_service_enter(r->service, r->costs[arrival->value], &terms, r->service->now_ns);
}

/* `arm`: the ARM record before it, NULL: there is none. */
static clo_status finish(const restart *r, size_t at, const clo_log_record *arm)
{
    const clo_log_record *record = &r->records[at];
    const clo_service *s = r->service;

    if (record->executor >= s->executors || s->places[record->executor].state == CLO_SERVICE_IDLE)
        return impossible(r, at, "nothing runs there");
    const clo_service_choice *choice = &s->places[record->executor].choice;
    const clo_service_live *live = s->jobs[choice->job];
    bool is_branch = clo_control_flow_has_branch(&live->control_flow, choice->stage);
    if (arm != NULL && (!is_branch || arm->value < 0 ||
                        arm->value >= (int64_t)clo_graph_arms(live->control_flow.graph, choice->stage)))
        return impossible(r, at, "the branch has no such arm");
    clo_service_leave(r->service, record->executor, arm != NULL ? (uint32_t)arm->value : CLO_NONE, record->value);
    return CLO_OK;
}

static clo_status feed(const restart *r, size_t at)
{
    const clo_log_record *record = &r->records[at];
    clo_service *s = r->service;

    if (record->now_ns < s->now_ns)
        return impossible(r, at, "time runs backwards");
    s->now_ns = record->now_ns;
    switch (record->what) {
    case CLO_LOG_ARRIVE:
        return arrive(r, at);
    case CLO_LOG_FINISH:
        return finish(r, at, NULL);
    case CLO_LOG_ARM:
        if (at + 1 >= r->count || record[1].what != CLO_LOG_FINISH)
            return impossible(r, at, "no FINISH record follows");
        return finish(r, at + 1, record);
    case CLO_LOG_TIMER:
        clo_scheduler_timer(s->scheduler, record->now_ns);
        clo_service_settle(s);
        return CLO_OK;
    case CLO_LOG_CANCEL:
        if (record->job >= s->jobs_count || s->jobs[record->job] == NULL)
            return impossible(r, at, "no such job lives");
        clo_service_stop(s, s->jobs[record->job], record->value != 0);
        return CLO_OK;
    default:
        return impossible(r, at, "no service writes it");
    }
}

/* Without END, and the SUM that belongs to it. */
static size_t count_without_end(const clo_log_record *records, size_t count)
{
    if (count == 0 || records[count - 1].what != CLO_LOG_END)
        return count;
    return count > 1 && records[count - 2].what == CLO_LOG_SUM ? count - 2 : count - 1;
}

static clo_status repeat(const restart *r)
{
    clo_status status = r->count > 0 ? compare(r, 0) : CLO_OK;

    while (status == CLO_OK && position(r) < r->count) {
        size_t from = position(r);
        r->service->choices_count = r->service->ends_count = 0;
        status = feed(r, from);
        if (status == CLO_OK)
            status = compare(r, from);
        if (status == CLO_OK && position(r) == from)
            status = impossible(r, from, "to the service this is no event");
    }
    r->service->choices_count = r->service->ends_count = 0; /* they were handed out by the other one */
    return status;
}

clo_status clo_service_restart(clo_service *service, const clo_log *log, const clo_cost *const *costs,
                               size_t costs_count)
{
    restart r = {.service = service, .costs = costs, .costs_count = costs_count};
    size_t count;

    if (service == NULL || log == NULL || (costs == NULL && costs_count > 0))
        return clo_fail_null("clo_service_restart", "service, log or costs");
    if (service->log == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_service_restart: the service writes no log; give it one");
    if (clo_log_dropped(log) > 0)
        return clo_fail(CLO_ERR_STATE, "the log was full and dropped %llu records; nothing can go on from it",
                        (unsigned long long)clo_log_dropped(log));
    if (service->is_over || service->jobs_count > 0 || service->now_ns > 0)
        return clo_fail(CLO_ERR_STATE, "clo_service_restart: the service has seen events; use a new one");
    r.records = clo_log_records(log, &count);
    r.count = count_without_end(r.records, count);
    return repeat(&r);
}
