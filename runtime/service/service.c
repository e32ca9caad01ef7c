/* service.c - the driver of a scheduler whose events come from outside: engine inputs in, choices and ends out. */
#include "service/service.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "plan/ports/ports.h"
#include "trace/log.h"

#include <clotho/branch.h>
#include <clotho/job.h>
#include <clotho/workload.h>

#include <assert.h>
#include <string.h>

/* Timers that go off one by one before an event. If time leaps by more, the others go off together, at its end: a leap
 * of years must not keep the service busy for as long. */
#define TIMERS_EACH 65536u

static clo_service_live *live_of(const clo_service *s, uint64_t job)
{
    return job < s->jobs_count ? s->jobs[job] : NULL;
}

static void tell_end(clo_service *s, clo_service_live *live)
{
    const clo_scheduler_job *job = live->job;

    assert(!live->is_told);
    assert(s->ends_count < s->jobs_max);
    live->is_told = true;
    s->ends[s->ends_count++] = (clo_service_end){.job = job->live.id,
                                                 .how = !job->is_cancelled ? CLO_LOG_DONE_OK
                                                        : job->has_failed  ? CLO_LOG_DONE_FAILED
                                                                           : CLO_LOG_DONE_CANCELLED,
                                                 .arrival_ns = job->live.arrival_ns,
                                                 .end_ns = s->now_ns};
}

/* All that the scheduler still waits for is lost. */
static void tell_held(clo_service *s, uint64_t number)
{
    clo_service_live *live = live_of(s, number);

    if (live != NULL && !live->is_told && live->job->is_cancelled && live->job->live.running == live->held)
        tell_end(s, live);
}

static void close_live(clo_service_live *live)
{
    clo_arena arena = live->arena; /* which holds `live` */

    clo_arena_close(&arena);
}

static void take_ended(clo_service *s)
{
    clo_scheduler_job *job;

    while ((job = clo_scheduler_ended(s->scheduler)) != NULL) {
        clo_service_live *live = job->owner;
        if (!live->is_told)
            tell_end(s, live);
        s->jobs[job->live.id] = NULL;
        close_live(live);
    }
}

static void begin(clo_service *s, const clo_order *order)
{
    clo_service_place *place = &s->places[order->executor];

    if (order->is_skipped) {
        s->skips[s->skips_count++] = order->executor;
        return;
    }
    assert(place->state == CLO_SERVICE_IDLE);
    place->choice = (clo_service_choice){.job = order->job->live.id,
                                         .stage = order->stage,
                                         .instance = order->instance,
                                         .executor = order->executor,
                                         .is_replica = order->is_replica,
                                         .chosen_ns = s->now_ns,
                                         .data_ns = order->arrival_ns > s->now_ns ? order->arrival_ns : s->now_ns};
    place->state = place->is_lost ? CLO_SERVICE_WAITS : CLO_SERVICE_RUNS;
    if (!place->is_lost)
        s->choices[s->choices_count++] = place->choice;
}

void clo_service_settle(clo_service *s)
{
    clo_order order;

    for (;;) { /* each round ends an execution that is skipped, and a graph has no more of them than tasks */
        while (clo_scheduler_next(s->scheduler, &order))
            begin(s, &order);
        take_ended(s);
        if (s->skips_count == 0)
            return;
        clo_scheduler_finish(s->scheduler, s->skips[--s->skips_count], s->now_ns, s->now_ns);
    }
}

/* The policy's timers up to now_ns. */
static void pass(clo_service *s, int64_t now_ns)
{
    int64_t wake_ns;

    for (uint32_t fired = 0; (wake_ns = clo_scheduler_wake_ns(s->scheduler)) <= now_ns; fired++) { /* each later */
        if (wake_ns > s->now_ns)
            s->now_ns = fired < TIMERS_EACH ? wake_ns : now_ns;
        clo_scheduler_timer(s->scheduler, s->now_ns);
        clo_service_settle(s);
    }
    s->now_ns = now_ns;
}

/* Every event begins with this, before anything is changed. */
static clo_status check_event(clo_service *s, const char *call, int64_t now_ns)
{
    if (s == NULL)
        return clo_fail_null(call, "service");
    if (s->is_over)
        return clo_fail(CLO_ERR_STATE, "%s: the log of the service is over", call);
    if (s->choices_taken < s->choices_count || s->ends_taken < s->ends_count)
        return clo_fail(CLO_ERR_STATE, "%s: choices or ends of the last event are left; take all of them first", call);
    if (now_ns < s->now_ns)
        return clo_fail(CLO_ERR_ARGUMENT, "time runs backwards: %lld ns is before the last event, %lld ns",
                        (long long)now_ns, (long long)s->now_ns);
    if (now_ns > CLO_WORKLOAD_TIME_MAX)
        return clo_fail(CLO_ERR_LIMIT, "the time %lld ns is beyond 146 years; give less", (long long)now_ns);
    s->choices_count = s->choices_taken = s->ends_count = s->ends_taken = 0;
    return CLO_OK;
}

static clo_status make_live(const clo_service *s, const clo_cost *cost, const clo_scheduler_job_config *terms,
                            clo_arena *arena, clo_service_live **out)
{
    clo_policy_use use = {.policy = NULL};
    clo_service_live *live = clo_arena_take(arena, 1, sizeof *live);

    if (live == NULL)
        return clo_fail_memory("a job of a service");
    use.policy = clo_scheduler_policy(s->scheduler, &use.argument);
    clo_status status = clo_scheduler_job_create(cost, terms, &use, arena, &live->job);
    if (status == CLO_OK)
        status = clo_control_flow_create(&live->control_flow, clo_cost_graph(cost), s->seed + s->jobs_count, arena);
    if (status != CLO_OK)
        return status;
    if (live->control_flow.graph != NULL)
        live->job->control_flow = &live->control_flow;
    live->job->tag = (int64_t)s->jobs_count;
    live->job->owner = live;
    *out = live;
    return CLO_OK;
}

clo_status clo_service_enter(clo_service *s, const clo_cost *cost, const clo_scheduler_job_config *terms,
                             int64_t now_ns)
{
    void *jobs = s->jobs;
    clo_service_live *live = NULL;
    clo_arena arena;

    if (clo_grow(&jobs, &s->jobs_capacity, s->jobs_count + 1, sizeof *s->jobs) != 0)
        return clo_fail_memory("the jobs of a service");
    s->jobs = jobs;
    clo_arena_open(&arena, NULL, 0);
    clo_status status = make_live(s, cost, terms, &arena, &live);
    if (status != CLO_OK)
        return clo_arena_close(&arena), status;
    live->arena = arena;
    pass(s, now_ns); /* nothing can go wrong from here on but the arrival itself, for want of memory */
    status = clo_scheduler_arrive(s->scheduler, live->job, s->now_ns);
    if (status != CLO_OK)
        return clo_arena_close(&arena), status;
    assert(live->job->live.id == s->jobs_count);
    s->jobs[s->jobs_count++] = live;
    clo_scheduler_go_on_to_end(s->scheduler);
    clo_service_settle(s);
    return CLO_OK;
}

static clo_status read_job(const clo_service *s, const clo_service_job *theirs, clo_service_job *job)
{
    *job = (clo_service_job)CLO_SERVICE_JOB_INIT;
    clo_status status = clo_config_read(job, sizeof *job, theirs, "clo_service_job");

    if (status != CLO_OK)
        return status;
    if (job->cost == NULL)
        return clo_fail_null("clo_service_arrive", "job or job->cost");
    if (clo_cost_platform(job->cost) != s->platform)
        return clo_fail(CLO_ERR_ARGUMENT, "the cost of the job is of another platform");
    if (job->band >= CLO_BANDS_MAX || job->deadline_ns < 0)
        return clo_fail(CLO_ERR_ARGUMENT, "the job's band is %u, its deadline %lld ns; use 0 to %d, and a time >= 0",
                        job->band, (long long)job->deadline_ns, CLO_BANDS_MAX - 1);
    if (job->limit > s->executors)
        return clo_fail(CLO_ERR_PLATFORM, "the job's limit is %u, and the platform has %u executors; write less",
                        job->limit, s->executors);
    if (!clo_scheduler_has_room(s->scheduler))
        return clo_fail(CLO_ERR_LIMIT, "%u jobs live, and there is room for no more; send it when one has ended",
                        s->jobs_max);
    return CLO_OK;
}

clo_status clo_service_arrive(clo_service *s, const clo_service_job *theirs, int64_t now_ns, uint64_t *number)
{
    clo_service_job job;
    clo_status status = check_event(s, "clo_service_arrive", now_ns);

    if (status == CLO_OK)
        status = read_job(s, theirs, &job);
    if (status != CLO_OK)
        return status;
    clo_scheduler_job_config terms = {
        .deadline_ns = job.deadline_ns > 0 ? clo_time_add(now_ns, job.deadline_ns) : CLO_TIME_NEVER,
        .weight = job.weight > 0 ? job.weight : 1,
        .band = job.band,
        .group = job.group,
        .limit = job.limit > 0 ? job.limit : CLO_NONE,
    };
    status = clo_service_enter(s, job.cost, &terms, now_ns);
    if (status == CLO_OK && number != NULL)
        *number = s->jobs_count - 1;
    return status;
}

void clo_service_leave(clo_service *s, uint32_t executor, uint32_t arm, int64_t start_ns)
{
    clo_service_place *place = &s->places[executor];
    clo_service_live *live = live_of(s, place->choice.job);
    uint64_t number = place->choice.job;
    uint32_t stage = place->choice.stage;

    assert(place->state != CLO_SERVICE_IDLE);
    assert(live != NULL);
    live->held -= place->state == CLO_SERVICE_HELD;
    place->state = CLO_SERVICE_IDLE;
    if (clo_control_flow_has_branch(&live->control_flow, stage)) {
        if (arm == CLO_NONE && live->job->is_cancelled)
            live->control_flow.arm[stage] = CLO_NONE; /* nobody follows it */
        else
            (void)clo_control_flow_choose(&live->control_flow, stage, arm);
    }
    clo_scheduler_finish(s->scheduler, executor, start_ns, s->now_ns);
    clo_service_settle(s);
    tell_held(s, number);
}

void clo_service_stop(clo_service *s, clo_service_live *live, bool has_failed)
{
    uint64_t number = live->job->live.id;

    for (uint32_t e = 0; e < s->executors; e++) {
        clo_service_place *place = &s->places[e];
        if (place->state != CLO_SERVICE_WAITS || place->choice.job != number)
            continue;
        place->state = CLO_SERVICE_HELD; /* nobody will ever run it */
        live->held++;
    }
    clo_scheduler_cancel(s->scheduler, live->job, has_failed, s->now_ns);
    clo_scheduler_go_on_to_end(s->scheduler);
    clo_service_settle(s);
    tell_held(s, number);
}

/* What the report speaks of runs there. */
static clo_status check_runs(const clo_service *s, const clo_service_report *r)
{
    if (r->executor >= s->executors)
        return clo_fail(CLO_ERR_ARGUMENT, "executor %u does not exist; there are %u, from 0", r->executor,
                        s->executors);
    const clo_service_place *place = &s->places[r->executor];
    const clo_service_choice *choice = &place->choice;
    if (place->is_lost)
        return clo_fail(CLO_ERR_ARGUMENT, "executor %u is lost; say first that it is back", r->executor);
    if (place->state == CLO_SERVICE_IDLE)
        return clo_fail(CLO_ERR_ARGUMENT, "executor %u runs nothing; was this reported already?", r->executor);
    if (choice->job != r->job || choice->stage != r->stage || choice->instance != r->instance)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "executor %u runs job %llu, stage %u, instance %u, not job %llu, stage %u, instance %u; was "
                        "this reported already?",
                        r->executor, (unsigned long long)choice->job, choice->stage, choice->instance,
                        (unsigned long long)r->job, r->stage, r->instance);
    return CLO_OK;
}

static clo_status check_arm(const clo_service *s, const clo_service_report *r)
{
    const clo_service_live *live = live_of(s, r->job);
    uint32_t arms = clo_control_flow_has_branch(&live->control_flow, r->stage)
                        ? clo_graph_arms(live->control_flow.graph, r->stage)
                        : 0;

    if (r->arm > 0 && (r->arm > arms || r->has_failed != 0))
        return clo_fail(CLO_ERR_ARGUMENT, "arm %u was chosen, and stage %u %s", r->arm - 1, r->stage,
                        arms == 0            ? "is no branch"
                        : r->has_failed != 0 ? "has failed"
                                             : "has fewer arms");
    return CLO_OK;
}

clo_status clo_service_finish(clo_service *s, const clo_service_report *theirs, int64_t now_ns)
{
    clo_service_report r = CLO_SERVICE_REPORT_INIT;
    clo_status status = check_event(s, "clo_service_finish", now_ns);

    if (status == CLO_OK && theirs == NULL)
        status = clo_fail_null("clo_service_finish", "report");
    if (status == CLO_OK)
        status = clo_config_read(&r, sizeof r, theirs, "clo_service_report");
    if (status == CLO_OK)
        status = check_runs(s, &r);
    if (status == CLO_OK)
        status = check_arm(s, &r);
    if (status != CLO_OK)
        return status;
    int64_t chosen_ns = s->places[r.executor].choice.chosen_ns, start_ns = r.has_start != 0 ? r.start_ns : chosen_ns;
    if (start_ns < chosen_ns || start_ns > now_ns)
        return clo_fail(CLO_ERR_ARGUMENT, "it began at %lld ns, but was chosen at %lld ns and ended at %lld ns",
                        (long long)start_ns, (long long)chosen_ns, (long long)now_ns);
    pass(s, now_ns);
    if (r.has_failed != 0 && !live_of(s, r.job)->job->is_cancelled)
        clo_service_stop(s, live_of(s, r.job), true);
    clo_service_leave(s, r.executor, r.arm > 0 ? r.arm - 1 : CLO_NONE, start_ns);
    return CLO_OK;
}

clo_status clo_service_cancel(clo_service *s, uint64_t job, int64_t now_ns)
{
    clo_status status = check_event(s, "clo_service_cancel", now_ns);

    if (status != CLO_OK)
        return status;
    if (live_of(s, job) == NULL || live_of(s, job)->job->is_cancelled)
        return clo_fail(CLO_ERR_ARGUMENT, "job %llu %s", (unsigned long long)job,
                        job >= s->jobs_count      ? "has not arrived"
                        : live_of(s, job) == NULL ? "has ended"
                                                  : "was stopped already");
    pass(s, now_ns);
    if (live_of(s, job) != NULL) /* its last stages may have been skipped meanwhile */
        clo_service_stop(s, live_of(s, job), false);
    return CLO_OK;
}

static clo_status check_lost(const clo_service *s, uint32_t executor, bool is_lost)
{
    if (executor >= s->executors)
        return clo_fail(CLO_ERR_ARGUMENT, "executor %u does not exist; there are %u, from 0", executor, s->executors);
    if (s->places[executor].is_lost != is_lost)
        return clo_fail(CLO_ERR_ARGUMENT, is_lost ? "executor %u is not lost" : "executor %u is lost already",
                        executor);
    return CLO_OK;
}

clo_status clo_service_lose(clo_service *s, uint32_t executor, int64_t now_ns)
{
    clo_status status = check_event(s, "clo_service_lose", now_ns);

    if (status == CLO_OK)
        status = check_lost(s, executor, false);
    if (status != CLO_OK)
        return status;
    clo_service_place *place = &s->places[executor];
    bool had_work = place->state == CLO_SERVICE_RUNS;
    place->is_lost = true; /* before timers go off: nothing is handed out for it any more */
    if (had_work) {
        place->state = CLO_SERVICE_HELD;
        live_of(s, place->choice.job)->held++;
    }
    pass(s, now_ns);
    if (had_work && !live_of(s, place->choice.job)->job->is_cancelled)
        clo_service_stop(s, live_of(s, place->choice.job), true);
    else if (had_work)
        tell_held(s, place->choice.job);
    return CLO_OK;
}

clo_status clo_service_restore(clo_service *s, uint32_t executor, int64_t now_ns)
{
    clo_status status = check_event(s, "clo_service_restore", now_ns);

    if (status == CLO_OK)
        status = check_lost(s, executor, true);
    if (status != CLO_OK)
        return status;
    pass(s, now_ns);
    clo_service_place *place = &s->places[executor];
    place->is_lost = false;
    if (place->state == CLO_SERVICE_HELD) {
        clo_service_leave(s, executor, CLO_NONE, place->choice.chosen_ns);
    } else if (place->state == CLO_SERVICE_WAITS) {
        place->state = CLO_SERVICE_RUNS;
        s->choices[s->choices_count++] = place->choice;
    }
    return CLO_OK;
}

clo_status clo_service_advance(clo_service *s, int64_t now_ns)
{
    clo_status status = check_event(s, "clo_service_advance", now_ns);

    if (status == CLO_OK)
        pass(s, now_ns);
    return status;
}
