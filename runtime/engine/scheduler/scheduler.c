/* scheduler.c - the inputs: what happened, and what follows from it before anybody is asked. */
#include "engine/scheduler/scheduler.h"

#include "base/carve.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "engine/scheduler/data_placement.h"
#include "engine/scheduler/reservation.h"
#include "engine/scheduler/start.h"
#include "engine/state/capacity.h"
#include "engine/state/note.h"
#include "engine/state/scheduler_state.h"

#include <string.h>

#define QUEUE_EACH 64u

static uint32_t entries_of(const clo_scheduler_config *config)
{
    return config->queue_max > 0 ? config->queue_max : QUEUE_EACH * config->platform->executors_count;
}

static void reset(clo_scheduler *s)
{
    uint32_t executors = s->limits.executors, machines = s->platform->machines_count;

    s->wake_ns = CLO_TIME_NEVER;
    s->first_job = s->last_job = CLO_NONE;
    for (uint32_t j = 0; j < s->limits.jobs; j++) /* low slots first */
        s->free_slots[s->free_count++] = s->limits.jobs - 1 - j;
    for (uint32_t e = 0; e < executors; e++) {
        s->executors[e] = (clo_live_executor){.job = CLO_NONE,
                                              .stage = CLO_NONE,
                                              .instance = CLO_NONE,
                                              .last_job = UINT64_MAX,
                                              .home = UINT64_MAX,
                                              .last_stage = CLO_NONE};
        s->home_slot[e] = CLO_NONE;
        s->queues[e] = (clo_queue){CLO_NONE, CLO_NONE, false, false};
        clo_start_set_free(s, e, true);
    }
    for (uint32_t b = 0; b < CLO_BANDS_MAX; b++) {
        s->first[b] = s->last[b] = (clo_ready_stage){CLO_NONE, CLO_NONE};
    }
    clo_enter_reset(&s->entering);
    clo_enter_reset(&s->leaving);
    s->showing = (clo_showing){.job = CLO_NONE, .at = {CLO_NONE, CLO_NONE}};
    for (uint32_t m = 0; m < machines; m++)
        s->waiters[m].who = (clo_ready_stage){CLO_NONE, CLO_NONE};
}

/* The parts of a scheduler. The semaphores are its own where nobody else uses the machines. */
typedef struct parts {
    clo_scheduler *scheduler;
    clo_semaphore *semaphores;
    clo_semaphore_page *pages;
} parts;

static void carve(const clo_scheduler_config *config, clo_scheduler *s, parts *at, clo_block *block)
{
    uint32_t executors = config->platform->executors_count, machines = config->platform->machines_count;

    clo_carve(block, &at->scheduler, 1);
    clo_carve(block, &s->jobs, config->jobs_max);
    clo_carve(block, &s->free_slots, config->jobs_max);
    clo_carve(block, &s->executors, executors);
    clo_carve(block, &s->home_slot, executors);
    clo_carve(block, &s->free_set, (executors + 63) / 64);
    clo_carve(block, &s->queues, executors);
    clo_carve(block, &s->entries, entries_of(config));
    clo_carve(block, &s->waiters, machines);
    clo_carve(block, &s->orders, executors);
    clo_carve(block, &s->own, machines);
    if (config->room != NULL)
        return;
    clo_carve(block, &s->semaphores, machines);
    clo_carve(block, &at->semaphores, machines);
    clo_carve(block, &at->pages, clo_capacity_pages(config->platform, 1));
}

size_t clo_scheduler_bytes(const clo_scheduler_config *config)
{
    clo_scheduler s;
    parts at;
    clo_block block = {0};

    carve(config, &s, &at, &block);
    return block.is_refused ? SIZE_MAX : block.bytes;
}

size_t clo_policy_state_bytes(const clo_policy_use *use, const clo_limits *limits)
{
    return use->policy->state_bytes != NULL ? use->policy->state_bytes(limits, use->argument) : 0;
}

clo_limits clo_scheduler_limits(const clo_scheduler_config *config)
{
    return (clo_limits){config->jobs_max, config->platform, config->platform->executors_count, config->moving_ns,
                        config->keeps_stages};
}

static clo_status begin_policy(clo_scheduler *s, const clo_policy_use *use)
{
    size_t texts = clo_fail_texts();

    if (use->policy->init == NULL)
        return CLO_OK;
    return clo_policy_returned(use->policy, "init", texts, use->policy->init(use->state, s));
}

static void open_semaphores(clo_scheduler *s, parts *at)
{
    if (s->room != NULL) {
        s->semaphores = s->room->semaphores;
        return;
    }
    for (uint32_t m = 0; m < s->platform->machines_count; m++) {
        s->semaphores[m] = &at->semaphores[m];
        clo_capacity_open(s->platform, m, &at->semaphores[m], &at->pages, 1);
    }
}

clo_status clo_scheduler_create(const clo_scheduler_config *config, clo_arena *arena, clo_scheduler **out)
{
    uint32_t entries = entries_of(config);
    clo_scheduler built = {.platform = config->platform,
                           .limits = clo_scheduler_limits(config),
                           .use = {.policy = config->policy, .argument = config->argument},
                           .words = (config->platform->executors_count + 63) / 64,
                           .steps_max = config->steps_max,
                           .room = config->room,
                           .script = config->script,
                           .has_moves = config->has_moves,
                           .passes_duplicates = config->passes_duplicates,
                           .is_drained = true};
    parts at;
    clo_block block = {0};

    built.use.bytes = clo_policy_state_bytes(&built.use, &built.limits);
    carve(config, &built, &at, &block);
    if (!clo_block_take(&block, arena))
        return clo_fail_memory("a scheduler");
    built.use.state = clo_arena_take(config->states != NULL ? config->states : arena, built.use.bytes, 1);
    if (built.use.state == NULL)
        return clo_fail_memory("the state of a policy");
    clo_scheduler *s = at.scheduler;
    *s = built;
    s->self = s;
    s->settles = s->script != NULL || (s->room != NULL && config->log != NULL);
    for (uint32_t i = 0; i < entries; i++)
        s->entries[i].next = i + 1 < entries ? i + 1 : CLO_NONE;
    s->free_entries = entries;
    s->kept_entries = entries / (2 * CLO_BANDS_MAX);
    open_semaphores(s, &at);
    reset(s);
    clo_reserve_open(s);
    *out = s;
    clo_status status = begin_policy(s, &s->use);
    s->questions = 0;
    s->log = config->log; /* from here on */
    return status;
}

/* What the last input has cost. */
static void count_turn(clo_scheduler *s)
{
    if (s->turn_steps > s->counts.most_turn_steps)
        s->counts.most_turn_steps = s->turn_steps;
}

/* Every input begins with this. */
static void begin_input(clo_scheduler *s, int64_t now_ns)
{
    count_turn(s); /* nothing may have been asked about it */
    if (now_ns > s->now_ns)
        s->now_ns = now_ns;
    s->exhausted = 0;
    s->is_ruled = s->is_cut = s->is_short = false;
    s->turn_steps = s->limits_set = s->moves_made = s->questions = 0;
    clo_note_begin(s, s->is_drained);
    s->is_drained = false;
}

/* All inputs of the stage are there. Whatever the policy is now: one before it may have committed some of it. */
static void release_stage(clo_scheduler *s, clo_scheduler_job *job, uint32_t stage, uint32_t by)
{
    if (job->control_flow != NULL && clo_control_flow_settle(job->control_flow, stage)) {
        job->stages[stage].is_skipped = true;
        if (job->demands != NULL)
            memset(job->demands[stage], 0, sizeof job->demands[stage]);
    }
    bool is_listed =
        job->stages[stage].is_listed; /* so or so by the last policy's readiness, while show.c lists anew */

    if (job->stages[stage].live.unstarted > 0 && (s->use.policy->readiness == CLO_READY_FINISHED || !is_listed)) {
        if (is_listed)
            clo_lists_remove_stage(s, job, stage);
        clo_lists_add_stage(s, job, stage);
        clo_tell_ready(s, job, stage, by);
    }
    for (uint32_t e = 0; e < s->limits.executors && job->stages[stage].live.committed > 0; e++) {
        s->turn_steps++;
        clo_start_queued(s, e);
    }
}

static void note_arrival(clo_scheduler *s, const clo_scheduler_job *job)
{
    const clo_live_job *live = &job->live;

    clo_note(s, CLO_LOG_ARRIVE, job, CLO_NONE, CLO_NONE, CLO_NONE, job->tag >= 0 ? job->tag : (int64_t)live->id);
    clo_note(s, CLO_LOG_JOB, job, live->weight, live->limit, live->group, live->deadline_ns);
    if (live->band != 0)
        clo_note(s, CLO_LOG_BAND, job, CLO_NONE, CLO_NONE, CLO_NONE, live->band);
}

clo_status clo_scheduler_arrive(clo_scheduler *s, clo_scheduler_job *job, int64_t now_ns)
{
    if (s->free_count == 0)
        return clo_fail(CLO_ERR_LIMIT, "the scheduler has %u live jobs, and room for no more; raise its jobs_max",
                        s->limits.jobs);
    begin_input(s, now_ns);
    if (job->version != s->version)
        clo_scheduler_job_exchange(job);
    clo_lists_add_job(s, job);
    job->mark = s->showing.mark;
    job->live.id = s->next_id++;
    job->live.bound = 0;
    job->live.arrival_ns = s->now_ns;
    s->has_demands = s->has_demands || job->demands != NULL;
    note_arrival(s, job);
    clo_view_tell(s, CLO_EVENT_ARRIVE, job->slot, CLO_NONE, CLO_NONE, 0);
    clo_enter_begin(s, job);
    return CLO_OK;
}

bool clo_scheduler_has_more(const clo_scheduler *s)
{
    return s->entering.bands != 0 || s->leaving.bands != 0 || clo_scheduler_is_showing(s);
}

bool clo_scheduler_is_showing(const clo_scheduler *s)
{
    return s->showing.phase != CLO_SHOW_OVER;
}

static void end_if_over(clo_scheduler *s, clo_scheduler_job *job)
{
    if ((job->live.unfinished > 0 && !job->is_cancelled) || job->live.running > 0 || job->live.committed > 0 ||
        job->leaving != CLO_NONE)
        return;
    int64_t how = !job->is_cancelled ? CLO_LOG_DONE_OK : job->has_failed ? CLO_LOG_DONE_FAILED : CLO_LOG_DONE_CANCELLED;
    clo_note(s, CLO_LOG_DONE, job, CLO_NONE, CLO_NONE, CLO_NONE, how);
    clo_view_tell(s, CLO_EVENT_END, job->slot, CLO_NONE, CLO_NONE, 0);
    clo_reserve_forget(s, job, CLO_NONE);
    clo_lists_remove_job(s, job);
    job->next_ended = NULL;
    if (s->last_ended != NULL)
        s->last_ended->next_ended = job;
    else
        s->first_ended = job;
    s->last_ended = job;
}

static bool leave(clo_scheduler *s)
{
    clo_scheduler_job *job = clo_leave_go_on(s);
    bool is_gone = job->leaving == CLO_NONE;

    end_if_over(s, job);
    return is_gone;
}

bool clo_scheduler_go_on(clo_scheduler *s)
{
    begin_input(s, s->now_ns);
    if (clo_scheduler_is_showing(s))
        return clo_show_go_on(s);
    return s->leaving.bands != 0 ? leave(s) : clo_enter_go_on(s);
}

void clo_scheduler_go_on_to_end(clo_scheduler *s)
{
    while (clo_scheduler_has_more(s)) /* each time a piece less is left */
        (void)clo_scheduler_go_on(s);
}

/* The last instance of the stage has ended. */
static void finish_stage(clo_scheduler *s, clo_scheduler_job *job, uint32_t stage, uint32_t executor)
{
    const clo_graph *graph = job->live.cost->graph;

    for (uint32_t k = graph->out_first[stage]; k < graph->out_first[stage + 1]; k++) {
        s->turn_steps++;
        if (--job->stages[graph->out[k]].live.parents_left == 0)
            release_stage(s, job, graph->out[k], executor);
    }
}

/* Queues whose head lacked capacity try again: some came back. */
static void retry_queues(clo_scheduler *s)
{
    for (uint32_t e = 0; e < s->limits.executors && s->lacking > 0; e++) {
        s->turn_steps++;
        if (s->queues[e].lacks_capacity)
            clo_start_queued(s, e);
    }
}

/* Work of a higher band is ready, or capacity may be kept for somebody. */
static bool is_due_elsewhere(const clo_scheduler *s, uint32_t band)
{
    return (s->listed_bands & ((1u << band) - 1)) != 0 || s->has_demands;
}

/* The executor goes on with its stage, where that has an instance for it. */
static void keep_stage(clo_scheduler *s, clo_scheduler_job *job, uint32_t stage, uint32_t executor)
{
    const clo_live_job *live = &job->live;
    bool has_room = live->limit == CLO_NONE || live->running + live->committed < live->limit;

    if (s->executors[executor].job == CLO_NONE && s->executors[executor].committed == 0 &&
        job->stages[stage].is_listed && !job->is_cancelled && job->stages[stage].live.parents_left == 0 && has_room &&
        !is_due_elsewhere(s, live->band))
        (void)clo_start(s, job, stage, executor);
}

/* What follows from the end of a branch. */
static void note_arm(clo_scheduler *s, const clo_scheduler_job *job, uint32_t stage)
{
    if (job->control_flow == NULL || job->stages[stage].is_skipped ||
        !clo_control_flow_has_branch(job->control_flow, stage) || job->control_flow->arm[stage] == CLO_NONE)
        return;
    clo_note(s, CLO_LOG_ARM, job, stage, CLO_NONE, CLO_NONE, job->control_flow->arm[stage]);
}

void clo_scheduler_finish(clo_scheduler *s, uint32_t executor, int64_t start_ns, int64_t now_ns)
{
    clo_live_executor *row = &s->executors[executor];
    clo_scheduler_job *job = s->jobs[row->job];
    uint32_t stage = row->stage, slot = row->job;
    /* Of a stage of one instance the first execution that ends counts, be it a replica. */
    bool counts = job->stages[stage].live.unfinished > 0 &&
                  (row->is_replica == 0 || job->live.cost->graph->rows[stage].instances == 1);

    begin_input(s, now_ns);
    note_arm(s, job, stage);
    if (s->log != NULL) /* at its own time, see CLO_LOG_KINDS */
        clo_note_record(
            s, &(clo_log_record){now_ns, job->live.id, CLO_LOG_FINISH, stage, row->instance, executor, start_ns});
    row->job = row->stage = row->instance = CLO_NONE;
    s->running--;
    clo_reserve_release(s, job, stage, executor);
    clo_data_placement_finish(job, stage, executor, s->now_ns);
    job->stages[stage].live.running--;
    job->live.running--;
    if (counts) {
        job->live.unfinished--;
        job->live.remaining_ns = clo_time_sub(job->live.remaining_ns, job->live.cost->mean_ns[stage]);
        job->stages[stage].live.unfinished--;
    }
    clo_view_tell(s, CLO_EVENT_FINISH, slot, stage, executor, 1);
    if (counts && job->stages[stage].live.unfinished == 0 && !job->is_cancelled)
        finish_stage(s, job, stage, executor);
    clo_start_queued(s, executor);
    if (s->limits.keeps_stages)
        keep_stage(s, job, stage, executor);
    if (job->demands != NULL)
        retry_queues(s);
    end_if_over(s, job);
}

void clo_scheduler_timer(clo_scheduler *s, int64_t now_ns)
{
    if (s->wake_ns > now_ns && s->wake_ns > s->now_ns) /* no input: nobody waits for this time any more */
        return;
    begin_input(s, now_ns);
    clo_note(s, CLO_LOG_TIMER, NULL, CLO_NONE, CLO_NONE, CLO_NONE, s->wake_ns);
    s->wake_ns = CLO_TIME_NEVER;
    clo_view_tell(s, CLO_EVENT_TIMER, CLO_NONE, CLO_NONE, CLO_NONE, 0);
}

void clo_scheduler_cancel(clo_scheduler *s, clo_scheduler_job *job, bool has_failed, int64_t now_ns)
{
    if (job->slot == CLO_NONE || job->is_cancelled)
        return;
    begin_input(s, now_ns);
    job->is_cancelled = true;
    job->has_failed = has_failed;
    clo_note(s, CLO_LOG_CANCEL, job, CLO_NONE, CLO_NONE, CLO_NONE, has_failed);
    clo_enter_drop(s, job);
    clo_leave_begin(s, job);
    clo_reserve_forget(s, job, CLO_NONE);
    clo_view_tell(s, CLO_EVENT_CANCEL, job->slot, CLO_NONE, CLO_NONE, 0);
    clo_start_drop_queued(s, job);
    if (job->demands != NULL)
        retry_queues(s); /* what was kept for it is free */
    end_if_over(s, job);
}

void clo_scheduler_moved(clo_scheduler *s, uint32_t executor, int64_t start_ns, int64_t now_ns)
{
    clo_live_executor *row = &s->executors[executor];
    clo_scheduler_job *job = s->jobs[row->job];

    begin_input(s, now_ns);
    bool is_there = job != NULL && job->live.id == row->home;
    clo_note_record(s, &(clo_log_record){s->now_ns, row->home, CLO_LOG_MOVED, CLO_NONE, CLO_NONE, executor, start_ns});
    uint32_t slot = is_there ? row->job : CLO_NONE;
    row->job = CLO_NONE;
    row->is_moving = 0;
    row->home = UINT64_MAX;
    s->moving--;
    if (is_there)
        clo_bind(s, executor, job);
    clo_start_queued(s, executor);
    clo_view_tell(s, CLO_EVENT_MOVED, slot, CLO_NONE, executor, 0);
}

void clo_scheduler_capacity(clo_scheduler *s, uint32_t machine, int64_t now_ns)
{
    begin_input(s, now_ns);
    clo_note(s, CLO_LOG_CAPACITY, NULL, CLO_NONE, CLO_NONE, machine, 0);
    retry_queues(s);
    clo_view_tell(s, CLO_EVENT_CAPACITY, CLO_NONE, CLO_NONE, CLO_NONE, 0);
}

static void exchange_states(const clo_scheduler *s)
{
    for (uint32_t j = s->first_job; j != CLO_NONE; j = s->jobs[j]->live.next)
        clo_scheduler_job_exchange(s->jobs[j]);
}

clo_status clo_scheduler_swap(clo_scheduler *s, clo_policy_use *use, uint32_t version, int64_t now_ns)
{
    clo_policy_use old = s->use;
    clo_log *log = s->log;
    bool relists = old.policy->readiness != use->policy->readiness;
    int64_t before_ns = s->now_ns;
    uint32_t questions = s->questions;

    if (clo_scheduler_is_showing(s))
        return clo_fail(CLO_ERR_STATE, "the policy in use is still being shown what lives; swap it later");
    memset(use->state, 0, use->bytes);
    s->use = *use;
    exchange_states(s);
    if (now_ns > s->now_ns)
        s->now_ns = now_ns;
    s->log = NULL; /* a policy that fails to begin is no input */
    clo_status status = begin_policy(s, use);
    s->log = log;
    if (status != CLO_OK) {
        exchange_states(s);
        s->use = old;
        s->now_ns = before_ns;
        s->questions = questions;
        return status;
    }
    begin_input(s, now_ns);
    clo_note_policy(s, use->policy);
    clo_note(s, CLO_LOG_SWAP, NULL, CLO_NONE, CLO_NONE, CLO_NONE, use->place);
    s->version = version;
    s->turn_steps += s->live_count; /* exchange_states */
    clo_show_begin(s, relists);
    s->wake_ns = CLO_TIME_NEVER;
    *use = old;
    return CLO_OK;
}

void clo_scheduler_begin_log(clo_scheduler *s)
{
    clo_note_policy(s, s->use.policy);
    clo_note(s, CLO_LOG_BEGIN, NULL, CLO_NONE, CLO_NONE, CLO_NONE, 0);
}

void clo_scheduler_end_log(clo_scheduler *s, int64_t now_ns)
{
    if (s->log == NULL)
        return;
    begin_input(s, now_ns);
    clo_note_sum(s);
    clo_note(s, CLO_LOG_END, NULL, CLO_NONE, CLO_NONE, CLO_NONE, s->live_count);
    s->log = NULL;
}

/* Nobody is free, and something will end: nothing is to be decided. */
static bool is_busy(const clo_scheduler *s)
{
    return s->free_executors == 0 && s->running > 0 && s->use.policy->commits == 0;
}

/* Decides until there is an order; false: nothing is left to be decided. */
static bool decide(clo_scheduler *s)
{
    if (s->is_drained)
        return false;
    while (s->order_count == 0) /* each decision starts something, or is the last of its band */
        if (is_busy(s) || !clo_choose(s)) {
            s->is_drained = true;
            clo_note_drained(s);
            count_turn(s);
            return false;
        }
    return true;
}

bool clo_scheduler_next(clo_scheduler *s, clo_order *order)
{
    if (s->order_count == 0 && !decide(s))
        return false;
    *order = s->orders[s->order_first];
    s->order_first = s->order_first + 1 < s->limits.executors ? s->order_first + 1 : 0;
    s->order_count--;
    return true;
}

clo_scheduler_job *clo_scheduler_ended(clo_scheduler *s)
{
    clo_scheduler_job *job = s->first_ended;

    if (job == NULL)
        return NULL;
    s->first_ended = job->next_ended;
    if (s->first_ended == NULL)
        s->last_ended = NULL;
    job->next_ended = NULL;
    return job;
}

int64_t clo_scheduler_wake_ns(const clo_scheduler *s)
{
    return s->wake_ns;
}

bool clo_scheduler_has_room(const clo_scheduler *s)
{
    return s->free_count > 0;
}

const clo_policy *clo_scheduler_policy(const clo_scheduler *s, const void **argument)
{
    *argument = s->use.argument;
    return s->use.policy;
}

const clo_scheduler_counts *clo_scheduler_counts_of(const clo_scheduler *s)
{
    return &s->counts;
}

const char *clo_scheduler_refusal(const clo_scheduler *s)
{
    return s->refusal;
}
