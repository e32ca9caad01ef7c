/* choose.c - one decision: asks the policy, checks what it says and carries it out. An answer is checked, never
 * trusted. Where there is none to be had, the scheduler's own rule decides: the oldest ready stage that may run goes to
 * the first free executor that has room. */
#include "engine/scheduler/reservation.h"
#include "engine/scheduler/start.h"
#include "engine/state/note.h"
#include "engine/state/scheduler_state.h"

#include "base/status.h"

#include <stdio.h>

typedef enum outcome {
    /* Something changed; ask again. */
    CHANGED,
    /* Nothing did, for want of room; ask again after the next input. */
    NO_ROOM,
    REFUSED
} outcome;

static uint32_t room_of(const clo_scheduler_job *job)
{
    uint32_t used = job->live.running + job->live.committed;

    if (job->live.limit == CLO_NONE)
        return CLO_NONE;
    return job->live.limit > used ? job->live.limit - used : 0;
}

/* The stage may be chosen: under the policy's notion of readiness. */
static bool is_choosable(const clo_scheduler *scheduler, uint32_t job, uint32_t stage)
{
    const clo_scheduler_job *live = clo_view_live(scheduler, job);

    return live != NULL && stage < live->tasks && live->stages[stage].is_listed && live->live.band == scheduler->band;
}

/* What is CLO_NONE is named, or left out: it is no number. */
static void say_refusal(clo_scheduler *scheduler, const clo_choice *choice, const char *why)
{
    const char *name = scheduler->use.policy->name;
    char stage[24], what[80] = "nothing", where[32] = "";

    snprintf(stage, sizeof stage, "stage %u", choice->stage);
    if (choice->executor != CLO_NONE)
        snprintf(where, sizeof where, " for executor %u", choice->executor);
    if (choice->job != CLO_NONE)
        snprintf(what, sizeof what, "%s of job slot %u%s",
                 choice->stage == CLO_NONE          ? "no stage"
                 : choice->stage == CLO_STAGE_MOVE  ? "CLO_STAGE_MOVE"
                 : choice->stage == CLO_STAGE_LEAVE ? "CLO_STAGE_LEAVE"
                                                    : stage,
                 choice->job, where);
    snprintf(scheduler->refusal, sizeof scheduler->refusal,
             "policy '%s' chose %s: %s; the scheduler's own rule decided", name != NULL ? name : "?", what, why);
}

static outcome refuse(clo_scheduler *scheduler, const clo_choice *choice, const char *why)
{
    if (scheduler->counts.refused++ == 0)
        say_refusal(scheduler, choice, why);
    scheduler->is_ruled = true;
    clo_note(scheduler, CLO_LOG_REFUSED, clo_view_live(scheduler, choice->job), choice->stage, CLO_NONE,
             choice->executor, 0);
    return REFUSED;
}

/* Up to `count` instances on any free executors; `bound`: on those that are bound to the job alone. */
static uint32_t start_on_free(clo_scheduler *scheduler, clo_scheduler_job *job, uint32_t stage, uint32_t count,
                              bool bound)
{
    uint32_t started = 0;

    for (uint32_t e = CLO_NONE; started < count && (e = clo_start_next_free(scheduler, e)) != CLO_NONE;) {
        scheduler->turn_steps++;
        if (bound && !clo_bind_is(scheduler, e, job))
            continue;
        if (clo_cost_time(job->live.cost, stage, e) != CLO_TIME_NEVER && clo_reserve_fits(scheduler, job, stage, e) &&
            clo_start(scheduler, job, stage, e))
            started++;
    }
    return started;
}

/* Where moving takes time, executors of the job come first. */
static outcome start_anywhere(clo_scheduler *scheduler, clo_scheduler_job *job, uint32_t stage, uint32_t count)
{
    uint32_t started = 0;

    if (scheduler->limits.moving_ns > 0 && job->live.bound > job->live.running)
        started = start_on_free(scheduler, job, stage, count, true);
    if (started < count)
        started += start_on_free(scheduler, job, stage, count - started, false);
    return started > 0 ? CHANGED : NO_ROOM;
}

/* A predecessor is computed again on the executor, before the stage. */
static const char *check_duplicate(clo_scheduler *scheduler, const clo_scheduler_job *job, const clo_choice *choice)
{
    const clo_graph *graph = job->live.cost->graph;
    uint32_t from = choice->duplicate;
    bool is_parent = false;

    scheduler->turn_steps += graph->in_first[choice->stage + 1] - graph->in_first[choice->stage];
    for (uint32_t k = graph->in_first[choice->stage]; k < graph->in_first[choice->stage + 1]; k++)
        is_parent = is_parent || clo_graph_source(graph, k) == from;
    if (!is_parent)
        return "what it duplicates is no predecessor";
    if (!graph->rows[from].duplicable || graph->rows[from].instances != 1)
        return "what it duplicates is not duplicable, or has many instances";
    if (clo_cost_time(job->live.cost, from, choice->executor) == CLO_TIME_NEVER)
        return "what it duplicates cannot run there";
    return clo_data_placement_may_replicate(job, from, choice->executor)
               ? NULL
               : "what it duplicates runs there already, or its memory has a replica";
}

static outcome start_there(clo_scheduler *scheduler, clo_scheduler_job *job, const clo_choice *choice, uint32_t count)
{
    uint32_t e = choice->executor, stage = choice->stage;
    bool duplicates = choice->duplicate != CLO_NONE && !scheduler->passes_duplicates;

    if (e >= scheduler->limits.executors || clo_cost_time(job->live.cost, stage, e) == CLO_TIME_NEVER)
        return refuse(scheduler, choice, "it cannot run there");
    if (duplicates) {
        const char *why = check_duplicate(scheduler, job, choice);
        if (why != NULL)
            return refuse(scheduler, choice, why);
        if (!clo_start_has_entries(scheduler, job, 2))
            return NO_ROOM;
        (void)clo_start_commit(scheduler, job, choice->duplicate, e, 1, true);
    }
    bool is_idle = (scheduler->free_set[e / 64] >> e % 64 & 1) != 0;
    if (!duplicates && is_idle && job->stages[stage].live.parents_left == 0) {
        if (!clo_reserve_fits(scheduler, job, stage, e) || !clo_start(scheduler, job, stage, e))
            return NO_ROOM;
        if (--count == 0)
            return CHANGED;
    }
    return clo_start_commit(scheduler, job, stage, e, count, false) ? CHANGED : NO_ROOM;
}

static outcome move(clo_scheduler *scheduler, clo_scheduler_job *job, const clo_choice *choice)
{
    const char *why =
        job->live.band != scheduler->band ? "it is of another band" : clo_move_choose(scheduler, job, choice);

    return why != NULL ? refuse(scheduler, choice, why) : CHANGED;
}

static outcome apply(clo_scheduler *scheduler, const clo_choice *choice)
{
    outcome result = NO_ROOM;

    if (choice->wake_ns > scheduler->now_ns && choice->wake_ns < scheduler->wake_ns) {
        scheduler->wake_ns = choice->wake_ns;
        clo_note(scheduler, CLO_LOG_WAKE, NULL, CLO_NONE, CLO_NONE, CLO_NONE, choice->wake_ns);
    }
    if (choice->job == CLO_NONE)
        return NO_ROOM;
    clo_scheduler_job *job = clo_view_live(scheduler, choice->job);
    if (job == NULL)
        return refuse(scheduler, choice, "there is no such job");
    if (choice->limit != 0 && choice->limit != job->live.limit) {
        job->live.limit = choice->limit;
        scheduler->exhausted &= ~(1u << job->live.band); /* there may be more to start now */
        clo_note(scheduler, CLO_LOG_LIMIT, job, CLO_NONE, CLO_NONE, CLO_NONE,
                 choice->limit != CLO_NONE ? choice->limit : 0);
        result = CHANGED;
    }
    if (choice->stage == CLO_STAGE_MOVE || choice->stage == CLO_STAGE_LEAVE)
        return move(scheduler, job, choice);
    if (choice->count == 0 || choice->stage == CLO_NONE) {
        if (result == CHANGED && ++scheduler->limits_set > scheduler->live_count) /* or it could go on for ever */
            return refuse(scheduler, choice, "limits are set again and again, and nothing is started");
        return result;
    }
    if (!is_choosable(scheduler, choice->job, choice->stage))
        return refuse(scheduler, choice, "it is not ready, or of another band");
    uint32_t count = job->stages[choice->stage].live.unstarted, room = room_of(job);
    if (choice->count < count)
        count = choice->count;
    if (room < count)
        count = room;
    if (count == 0)
        return refuse(scheduler, choice, "the job is at its limit");
    if (choice->executor != CLO_NONE)
        return start_there(scheduler, job, choice, count);
    if (choice->duplicate != CLO_NONE || job->stages[choice->stage].live.parents_left > 0)
        return refuse(scheduler, choice, "it names no executor to wait for");
    return start_anywhere(scheduler, job, choice->stage, count);
}

/* The oldest ready stage of the band that may run, looking at no more than `looks` of them (0: all). */
static bool rule(clo_scheduler *scheduler, uint32_t looks)
{
    clo_ready_stage at = scheduler->first[scheduler->band];

    while (at.job != CLO_NONE) {
        clo_scheduler_job *job = scheduler->jobs[at.job];
        scheduler->turn_steps++;
        if (job->stages[at.stage].live.parents_left == 0 && room_of(job) > 0 &&
            start_anywhere(scheduler, job, at.stage, 1) == CHANGED) {
            scheduler->counts.fallbacks++;
            return true;
        }
        if (looks > 0 && --looks == 0)
            return false;
        at = job->stages[at.stage].next;
    }
    return false;
}

/* True if the job may start nothing of the stage before others go on: its commitments fill its limit, none of its
 * bodies runs, and no executor has the stage at the head of its queue. */
static bool is_blocked(const clo_scheduler *scheduler, const clo_scheduler_job *job, uint32_t stage)
{
    if (room_of(job) > 0 || job->live.running > 0)
        return false;
    for (uint32_t e = 0; e < scheduler->limits.executors; e++) {
        const clo_queue *queue = &scheduler->queues[e];
        if (queue->lacks_capacity && scheduler->entries[queue->head].job == job->slot &&
            scheduler->entries[queue->head].stage == stage)
            return false;
    }
    return true;
}

/* Nothing is kept for a stage that is blocked: what it waits for may itself wait for what is kept. */
static bool let_pass(clo_scheduler *scheduler, const clo_scheduler_job *job, uint32_t stage)
{
    uint32_t orders = scheduler->order_count;

    scheduler->turn_steps += scheduler->limits.executors;
    if (!is_blocked(scheduler, job, stage))
        return false;
    clo_reserve_forget(scheduler, job, stage);
    for (uint32_t e = 0; e < scheduler->limits.executors && scheduler->lacking > 0; e++)
        if (scheduler->queues[e].lacks_capacity)
            clo_start_queued(scheduler, e);
    return scheduler->order_count > orders;
}

/* Stages for which capacity is kept go first in their band, as soon as they fit. */
static bool serve_waiters(clo_scheduler *scheduler, uint32_t band)
{
    bool served = false;

    for (uint32_t m = 0; m < scheduler->platform->machines_count; m++) {
        const clo_capacity_waiter *waiter = &scheduler->waiters[m];
        clo_scheduler_job *job = clo_view_live(scheduler, waiter->who.job);
        scheduler->turn_steps++;
        if (job == NULL || job->live.band != band || !clo_reserve_is_due(scheduler, m))
            continue;
        if (room_of(job) > 0 && job->stages[waiter->who.stage].is_listed &&
            start_anywhere(scheduler, job, waiter->who.stage, 1) == CHANGED) {
            scheduler->counts.fallbacks++;
            served = true;
        } else if (let_pass(scheduler, job, waiter->who.stage)) {
            served = true;
        }
    }
    return served;
}

static outcome ask(clo_scheduler *scheduler)
{
    const clo_policy_use *use = &scheduler->use;
    clo_choice choice = {CLO_NONE, CLO_NONE, 1, CLO_NONE, CLO_NONE, 0, 0};

    scheduler->steps = 0;
    scheduler->counts.calls++;
    bool has_choice = use->policy->decide(use->state, scheduler, &choice);
    scheduler->turn_steps += scheduler->steps + 1;
    if (scheduler->steps > scheduler->counts.most_steps)
        scheduler->counts.most_steps = scheduler->steps;
    if (has_choice)
        return apply(scheduler, &choice);
    bool is_cut = scheduler->steps_max != 0 && scheduler->steps >= scheduler->steps_max;
    scheduler->is_cut = scheduler->is_cut || is_cut;
    return is_cut && rule(scheduler, scheduler->steps_max) ? CHANGED : NO_ROOM;
}

/* Above each band that a cancelled job still leaves. */
static bool is_decided(const clo_scheduler *scheduler, uint32_t band)
{
    uint32_t leaving = scheduler->leaving.bands;

    return leaving == 0 || band < (uint32_t)__builtin_ctz(leaving);
}

/* The policy does not know all that lives: the rule decides. */
static bool is_being_shown(const clo_scheduler *scheduler)
{
    return scheduler->showing.phase != CLO_SHOW_OVER;
}

/* That all executors would be idle is the doing of others: a decision was cut, or somebody else holds the capacity that
 * has just been refused, or that an executor with a queue waits for (nothing of ours runs). */
static bool is_excused(const clo_scheduler *scheduler)
{
    return scheduler->is_cut || scheduler->is_short || scheduler->lacking > 0;
}

/* With work to do, nothing running and no timer, nothing would ever happen again. Where there is a piece to come, it
 * will. */
static bool break_stall(clo_scheduler *scheduler)
{
    if (is_being_shown(scheduler) || scheduler->leaving.bands != 0)
        return false;
    if (scheduler->running > 0 || scheduler->moving > 0 || scheduler->order_count > 0 ||
        scheduler->wake_ns != CLO_TIME_NEVER)
        return false;
    for (uint32_t b = 0; b < CLO_BANDS_MAX; b++) {
        scheduler->band = b;
        if ((scheduler->listed_bands >> b & 1) == 0 || !rule(scheduler, 0))
            continue;
        clo_choice none = {CLO_NONE, CLO_NONE, 0, CLO_NONE, CLO_NONE, 0, 0};
        if (!is_excused(scheduler))
            (void)refuse(scheduler, &none, "every executor would be idle with work to do");
        return true;
    }
    return false;
}

/* About the highest band that has something to be decided. */
static void choose_in(clo_scheduler *scheduler, uint32_t band)
{
    scheduler->band = band;
    bool is_ruled = scheduler->is_ruled || is_being_shown(scheduler);
    outcome result = is_ruled ? NO_ROOM : ask(scheduler);
    /* A policy may leave executors idle, but not to a lower band. */
    if (result == NO_ROOM && (is_ruled || scheduler->is_ruled || scheduler->listed_bands >> band > 1))
        result = rule(scheduler, scheduler->steps_max) ? CHANGED : NO_ROOM;
    if (result == NO_ROOM)
        scheduler->exhausted |= 1u << band;
}

bool clo_choose(clo_scheduler *scheduler)
{
    const clo_policy *policy = scheduler->use.policy;
    uint32_t bands = scheduler->listed_bands | (policy->moves != 0 ? scheduler->live_bands : 0);

    bands = clo_bands_open(scheduler, bands);
    uint32_t band = bands != 0 ? (uint32_t)__builtin_ctz(bands) : CLO_BANDS_MAX;
    for (uint32_t b = 0; b <= band && b < CLO_BANDS_MAX && scheduler->has_demands && scheduler->free_executors > 0; b++)
        if (is_decided(scheduler, b) && serve_waiters(scheduler, b))
            return true;
    if (scheduler->yielding > 0 && clo_start_yielding(scheduler, band))
        return true;
    bool is_ruled = scheduler->is_ruled || is_being_shown(scheduler);
    if (bands == 0 || (scheduler->free_executors == 0 && (!policy->commits || is_ruled)))
        return break_stall(scheduler);
    choose_in(scheduler, band);
    return true;
}
