/* open.c - a service is made, looked at and freed. */
#include "service/service.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/status.h"
#include "plan/ports/ports.h"
#include "trace/log.h"

#include <clotho/job.h>

static clo_status open_scheduler(clo_service *s, const clo_service_config *config)
{
    const clo_scheduler_config theirs = {
        .platform = s->platform,
        .policy = config->policy,
        .argument = config->argument,
        .jobs_max = s->jobs_max,
        .steps_max = config->steps_max,
        .log = config->log,
    };
    clo_block block = {0};

    if (config->log != NULL)
        clo_log_set_run(config->log,
                        &(clo_log_run){CLO_LOG_RUN_REAL, CLO_CLOCK_REAL, s->executors, s->jobs_max, config->steps_max});
    clo_carve(&block, &s->places, s->executors);
    clo_carve(&block, &s->skips, s->executors);
    clo_carve(&block, &s->choices, s->executors);
    clo_carve(&block, &s->ends, s->jobs_max);
    if (!clo_block_take(&block, &s->arena))
        return clo_fail_memory("a service");
    clo_status status = clo_scheduler_create(&theirs, &s->arena, &s->scheduler);
    if (status == CLO_OK)
        clo_scheduler_begin_log(s->scheduler);
    return status;
}

static clo_status read_config(const clo_platform *platform, const clo_service_config *theirs,
                              clo_service_config *config)
{
    clo_status status = clo_config_read(config, sizeof *config, theirs, "clo_service_config");

    if (status != CLO_OK)
        return status;
    if (config->policy == NULL)
        config->policy = clo_policy_find("auto");
    if (config->policy->decide == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "the policy has no decide function");
    if (config->jobs_max == 0)
        config->jobs_max = CLO_SERVICE_JOBS_DEFAULT;
    return clo_ports_refuse(platform, "a service does");
}

clo_status clo_service_create(const clo_platform *platform, const clo_service_config *theirs, clo_service **out)
{
    clo_service_config config = CLO_SERVICE_CONFIG_INIT;

    if (platform == NULL || out == NULL)
        return clo_fail_null("clo_service_create", "platform or out");
    clo_status status = read_config(platform, theirs, &config);
    if (status != CLO_OK)
        return status;
    clo_service *made = clo_allocate(1, sizeof *made);
    if (made == NULL)
        return clo_fail_memory("a service");
    *made = (clo_service){.platform = platform,
                          .executors = clo_platform_executors(platform),
                          .jobs_max = config.jobs_max,
                          .seed = config.seed,
                          .log = config.log};
    clo_arena_open(&made->arena, NULL, 0);
    status = open_scheduler(made, &config);
    if (status != CLO_OK) {
        clo_service_destroy(made);
        return status;
    }
    *out = made;
    return CLO_OK;
}

void clo_service_destroy(clo_service *service)
{
    if (service == NULL)
        return;
    for (size_t k = 0; k < service->jobs_count; k++) {
        if (service->jobs[k] == NULL)
            continue;
        clo_arena arena = service->jobs[k]->arena; /* which holds the job */
        clo_arena_close(&arena);
    }
    clo_free(service->jobs);
    clo_arena_close(&service->arena);
    clo_free(service);
}

bool clo_service_next(clo_service *service, clo_service_choice *out)
{
    if (service == NULL || out == NULL || service->choices_taken == service->choices_count)
        return false;
    *out = service->choices[service->choices_taken++];
    return true;
}

bool clo_service_ended(clo_service *service, clo_service_end *out)
{
    if (service == NULL || out == NULL || service->ends_taken == service->ends_count)
        return false;
    *out = service->ends[service->ends_taken++];
    return true;
}

void clo_service_end_log(clo_service *service)
{
    if (service == NULL || service->is_over)
        return;
    clo_scheduler_end_log(service->scheduler, service->now_ns);
    service->is_over = true;
}

clo_service_state clo_service_executor(const clo_service *service, uint32_t executor, clo_service_choice *choice,
                                       bool *is_lost)
{
    if (service == NULL || executor >= service->executors)
        return CLO_SERVICE_IDLE;
    const clo_service_place *place = &service->places[executor];
    if (choice != NULL && place->state != CLO_SERVICE_IDLE)
        *choice = place->choice;
    if (is_lost != NULL)
        *is_lost = place->is_lost;
    return place->state;
}

uint64_t clo_service_jobs(const clo_service *service)
{
    return service != NULL ? service->jobs_count : 0;
}

bool clo_service_is_live(const clo_service *service, uint64_t job)
{
    return service != NULL && job < service->jobs_count && service->jobs[job] != NULL && !service->jobs[job]->is_told;
}

int64_t clo_service_now_ns(const clo_service *service)
{
    return service != NULL ? service->now_ns : 0;
}

int64_t clo_service_wake_ns(const clo_service *service)
{
    return service != NULL ? clo_scheduler_wake_ns(service->scheduler) : CLO_TIME_NEVER;
}
