/* decima.c - events and decisions of the policies of Decima's simulator. What follows from an event is worked out when
 * all that the scheduler has to say about it is known: in the next call. See decima_state.h. */
#include "policy/decima/decima.h"

#include "cost/cost.h"

#include <string.h>

static const clo_decima_place nowhere = {CLO_NONE, CLO_NONE};
static const clo_decima_source nothing = {CLO_NONE, CLO_NONE};

size_t clo_decima_bytes(const clo_limits *limits, const void *argument)
{
    (void)argument;
    return sizeof(clo_decima) + (size_t)limits->executors * (sizeof(clo_decima_executor) +
                                                             4 * sizeof(clo_decima_commitment) + sizeof(uint32_t));
}

size_t clo_decima_job_bytes(const clo_cost *cost, const void *argument)
{
    (void)argument;
    return sizeof(clo_decima_job) + cost->graph->tasks * sizeof(clo_decima_stage);
}

clo_status clo_decima_init(void *state, const clo_view *view, clo_decima_room_fn room)
{
    clo_decima *d = state;
    uint32_t executors = clo_view_limits(view)->executors;

    *d = (clo_decima){.room = room, .view = view, .executors_count = executors, .round = 1};
    d->commitments = (clo_decima_commitment *)(d + 1);
    d->executors = (clo_decima_executor *)(d->commitments + 4 * (size_t)executors);
    d->acts = (uint32_t *)(d->executors + executors);
    d->from_nobody = nothing;
    d->single = d->asked_pool = d->own = d->ended = d->handed = CLO_NONE;
    for (uint32_t i = 0; i < 4 * executors; i++)
        d->commitments[i].next = i + 1 < 4 * executors ? i + 1 : CLO_NONE;
    for (uint32_t e = 0; e < executors; e++) {
        const clo_live_executor *live = clo_view_executor(view, e);
        d->executors[e] = (clo_decima_executor){.job = CLO_NONE, .node = nowhere, .target = nowhere};
        if (live->job == CLO_NONE && live->committed == 0)
            clo_decima_pool_add(d, CLO_NONE, e);
    }
    return CLO_OK;
}

/* Something was handed out last and has not happened: it does not fit, or was refused. */
static void settle_handed(clo_decima *d)
{
    uint32_t executor = d->handed;
    if (executor == CLO_NONE)
        return;
    clo_decima_executor *row = &d->executors[executor];
    d->handed = CLO_NONE;
    if (row->act == CLO_DECIMA_MOVE && clo_view_executor(d->view, executor)->is_moving) {
        row->act = CLO_DECIMA_NOTHING;
        return;
    }
    clo_decima_undo(d, executor);
    clo_decima_free(d, executor, row->job);
    d->has_misfits = true;
}

/* The bound was reached before those who are asked about were committed, and something else has ended since: they
 * wait. */
static void give_up(clo_decima *d)
{
    uint32_t executor = d->single;

    if (executor != CLO_NONE && !d->executors[executor].is_pooled && d->executors[executor].act == CLO_DECIMA_NOTHING)
        clo_decima_free(d, executor, d->executors[executor].job);
    d->asked = 0;
    d->single = CLO_NONE;
    d->round++;
    d->has_misfits = true;
}

/* The executor whose execution has ended goes on with its stage; or it goes where it was committed to; or all executors
 * of the stage are asked about. */
static void settle_end(clo_decima *d)
{
    uint32_t executor = d->ended;
    clo_decima_place place = d->ended_of;
    if (executor == CLO_NONE)
        return;
    if (d->asked > 0)
        give_up(d);
    const clo_live_executor *live = clo_view_executor(d->view, executor);
    clo_decima_stage *stage = clo_decima_stage_of(d, place);
    d->ended = CLO_NONE;
    if (live->job != CLO_NONE || live->committed > 0) { /* by the rule, or the queue of a policy before this one */
        if (clo_decima_has_commitments(d, &stage->commitments))
            (void)clo_decima_fulfil(d, &stage->commitments, place.job);
        return;
    }
    clo_decima_undo(d, executor); /* what was planned while it ran what somebody else had started there */
    clo_decima_pool_remove(d, executor);
    clo_decima_bind(d, executor, place.job);
    d->executors[executor].node = place;
    d->executors[executor].leaves = false;
    bool is_committed = clo_decima_has_commitments(d, &stage->commitments);
    d->single = executor;
    if (stage->left > 0 && stage->is_ready) {
        clo_decima_start(d, executor, place);
    } else if (d->has_released) {
        if (is_committed)
            clo_decima_schedule(d);
        else
            clo_decima_free(d, executor, place.job);
        d->single = CLO_NONE;
        d->own = d->asked_pool = place.job;
        d->asked = clo_decima_pool_of(d, place.job)->count;
    } else if (is_committed) {
        clo_decima_schedule(d);
    } else {
        d->own = place.job;
        d->asked = clo_view_stage(d->view, place.job, place.stage)->running + 1;
    }
}

/* The executors that are asked about are committed, and go. False: the bound is reached. */
static bool consult(clo_decima *d)
{
    uint32_t executor = d->single;

    if (d->asked == 0)
        return true;
    if (!clo_decima_consult(d))
        return false;
    d->round++;
    clo_decima_schedule(d);
    if (executor != CLO_NONE && !d->executors[executor].is_pooled && d->executors[executor].act == CLO_DECIMA_NOTHING)
        clo_decima_free(d, executor, d->executors[executor].job); /* its commitment found no place */
    return true;
}

/* Every call begins with this. False: the bound is reached. */
static bool settle(clo_decima *d)
{
    settle_handed(d);
    settle_end(d);
    return consult(d);
}

static void take_arrival(clo_decima *d, uint32_t slot)
{
    clo_decima_job *job = clo_decima_job_of(d, slot);
    const clo_live_job *live = clo_view_job(d->view, slot);

    int32_t share_q16 = job->share_q16;

    memset(job, 0, sizeof *job);
    job->share_q16 = share_q16;
    job->commitments = nothing;
    job->stages = (clo_decima_stage *)(job + 1);
    job->stages_count = live->cost->graph->tasks;
    memset(job->stages, 0, job->stages_count * sizeof *job->stages);
    for (uint32_t s = 0; s < job->stages_count; s++) {
        clo_decima_stage *stage = &job->stages[s];
        stage->commitments = nothing;
        stage->is_saturated = true;
        stage->left = clo_view_stage(d->view, slot, s)->unstarted;
        job->left += stage->left;
        clo_decima_weigh(d, job, stage);
    }
    d->has_arrivals = true;
}

/* Nothing of the job is started any more. */
static void close_job(clo_decima *d, uint32_t slot)
{
    clo_decima_job *job = clo_decima_job_of(d, slot);

    for (uint32_t e = 0; e < d->executors_count; e++) {
        const clo_decima_executor *row = &d->executors[e];
        if (row->target.job != slot || row->act == CLO_DECIMA_NOTHING)
            continue;
        clo_decima_undo(d, e);
        clo_decima_free(d, e, CLO_NONE);
        d->handed = d->handed == e ? CLO_NONE : d->handed;
    }
    for (uint32_t s = 0; s < job->stages_count; s++) {
        job->stages[s].left = 0;
        job->stages[s].is_ready = false;
        clo_decima_weigh(d, job, &job->stages[s]);
    }
    job->left = 0;
}

/* What the policy before this one had committed to the executor went with its job: it has nothing to do, and no event
 * would say so. */
static void adopt(clo_decima *d, uint32_t executor)
{
    const clo_live_executor *live = clo_view_executor(d->view, executor);
    const clo_decima_executor *row = &d->executors[executor];

    if (live->job != CLO_NONE || live->committed > 0 || live->is_moving || row->is_pooled ||
        row->act != CLO_DECIMA_NOTHING || executor == d->ended || executor == d->single)
        return;
    clo_decima_free(d, executor, CLO_NONE);
    d->has_misfits = true;
}

/* Its executors belong to nobody. */
static void forget_job(clo_decima *d, uint32_t slot)
{
    clo_decima_job *job = clo_decima_job_of(d, slot);

    close_job(d, slot);
    clo_decima_revoke(d, &job->commitments, slot);
    for (uint32_t s = 0; s < job->stages_count; s++)
        clo_decima_revoke(d, &job->stages[s].commitments, slot);
    while (job->pool.count > 0)
        clo_decima_free(d, job->pool.first, CLO_NONE);
    for (uint32_t e = 0; e < d->executors_count; e++) {
        if (d->executors[e].job == slot)
            clo_decima_bind(d, e, CLO_NONE);
        if (d->executors[e].target.job == slot) /* on its way */
            d->executors[e].target = nowhere;
        adopt(d, e);
    }
    d->own = d->own == slot ? CLO_NONE : d->own;
    d->asked_pool = d->asked_pool == slot ? CLO_NONE : d->asked_pool;
}

/* Nothing lives: the executors wait in the order of their numbers, as at the beginning. So what comes next is decided
 * as if nothing had been before, and a job that runs again runs as in a simulation of it alone. (In Decima's simulator,
 * where executors are alike, their order says nothing.) */
static void begin_anew(clo_decima *d)
{
    for (uint32_t e = 0; e < d->executors_count; e++) {
        const clo_live_executor *live = clo_view_executor(d->view, e);
        if (live->job != CLO_NONE || live->committed > 0 || live->is_moving ||
            d->executors[e].act != CLO_DECIMA_NOTHING)
            return; /* not there yet */
    }
    for (uint32_t e = 0; e < d->executors_count; e++) {
        clo_decima_pool_add(d, CLO_NONE, e);
        d->executors[e].leaves = false;
    }
    d->asked = 0; /* nobody waits for an answer */
    d->single = CLO_NONE;
    d->has_misfits = false;
}

/* The executor is taken away while it is asked about: who is left is asked again, from the beginning. */
static void break_consult(clo_decima *d, uint32_t executor)
{
    const clo_decima_executor *row = &d->executors[executor];
    bool is_asked = d->single != CLO_NONE ? d->single == executor : row->is_pooled && row->pool == d->asked_pool;

    if (d->asked == 0 || !is_asked)
        return;
    clo_decima_revoke(d, clo_decima_source_of(d, executor), row->job);
    clo_decima_pool_remove(d, executor);
    d->asked = d->single != CLO_NONE ? 0 : clo_decima_pool_of(d, d->asked_pool)->count;
    d->round++;
}

/* An executor that was to start an instance of the stage, and has not, waits instead. */
static void give_back(clo_decima *d, clo_decima_place place)
{
    for (uint32_t e = 0; e < d->executors_count; e++) {
        const clo_decima_executor *row = &d->executors[e];
        if (row->act != CLO_DECIMA_START || row->target.job != place.job || row->target.stage != place.stage)
            continue;
        clo_decima_undo(d, e);
        clo_decima_free(d, e, place.job);
        d->handed = d->handed == e ? CLO_NONE : d->handed;
        return;
    }
}

/* Instances were started by somebody else: the scheduler's own rule. */
static void take_start(clo_decima *d, const clo_event *event)
{
    clo_decima_place place = {event->job, event->stage};
    clo_decima_job *job = clo_decima_job_of(d, event->job);
    clo_decima_stage *stage = &job->stages[event->stage];

    if (event->executor != CLO_NONE) {
        if (d->ended == event->executor)
            settle_end(d);
        break_consult(d, event->executor);
        clo_decima_undo(d, event->executor);
        clo_decima_pool_remove(d, event->executor);
        clo_decima_bind(d, event->executor, event->job);
        d->executors[event->executor].node = place;
        d->handed = d->handed == event->executor ? CLO_NONE : d->handed;
    }
    if (stage->left == 0)
        give_back(d, place);
    uint32_t count = event->count < stage->left ? event->count : stage->left;
    stage->left -= count;
    job->left -= count;
    clo_decima_weigh(d, job, stage);
}

static void take_moved(clo_decima *d, uint32_t slot, uint32_t executor)
{
    clo_decima_executor *row = &d->executors[executor];
    clo_decima_place to = row->target;

    row->act = CLO_DECIMA_NOTHING;
    row->target = nowhere;
    if (to.job != CLO_NONE) {
        clo_decima_job *job = clo_decima_job_of(d, to.job);
        clo_decima_stage *stage = &job->stages[to.stage];
        job->coming--;
        stage->moving--;
        clo_decima_weigh(d, job, stage);
    }
    clo_decima_bind(d, executor, slot);
    const clo_decima_stage *stage = to.job != CLO_NONE ? clo_decima_stage_of(d, to) : NULL;
    if (stage == NULL || stage->left == 0)
        clo_decima_search(d, executor);
    else if (stage->is_ready)
        clo_decima_start(d, executor, to);
    else
        clo_decima_free(d, executor, slot);
}

static bool is_ours(const clo_decima *d, const clo_event *event)
{
    const clo_decima_executor *row = d->handed != CLO_NONE ? &d->executors[d->handed] : NULL;

    if (row == NULL || event->executor != d->handed)
        return false;
    return (event->kind == CLO_EVENT_START && row->act == CLO_DECIMA_START && event->job == row->target.job &&
            event->stage == row->target.stage) ||
           (event->kind == CLO_EVENT_MOVED && row->act == CLO_DECIMA_MOVE);
}

static void take_end(clo_decima *d, const clo_event *event)
{
    (void)settle(d);
    d->ended = event->executor;
    d->ended_of = (clo_decima_place){event->job, event->stage};
    d->has_released = false;
}

void clo_decima_event(void *state, const clo_view *view, const clo_event *event)
{
    clo_decima *d = state;

    d->view = view;
    d->is_bounded = false;
    switch (event->kind) {
    case CLO_EVENT_FINISH:
        take_end(d, event);
        break;
    case CLO_EVENT_READY:
        clo_decima_job_of(d, event->job)->stages[event->stage].is_ready = true;
        d->has_released = d->has_released || event->executor == d->ended;
        break;
    case CLO_EVENT_START:
        if (is_ours(d, event)) {
            d->executors[d->handed].act = CLO_DECIMA_NOTHING;
            d->executors[d->handed].target = nowhere;
            d->handed = CLO_NONE;
        } else {
            take_start(d, event);
        }
        break;
    case CLO_EVENT_MOVED:
        if (is_ours(d, event))
            d->handed = CLO_NONE;
        (void)settle(d);
        take_moved(d, event->job, event->executor);
        break;
    case CLO_EVENT_ARRIVE:
        (void)settle(d);
        take_arrival(d, event->job);
        break;
    case CLO_EVENT_CANCEL:
        (void)settle(d);
        close_job(d, event->job);
        break;
    case CLO_EVENT_END:
        settle_handed(d);
        settle_end(d);
        forget_job(d, event->job);
        if (clo_view_jobs(view) <= 1) /* the one that ends */
            begin_anew(d);
        break;
    default:
        break;
    }
}

/* Nothing stands in the way of what the executor is to do. */
static bool can_act(const clo_decima *d, uint32_t executor, const clo_live_job *job)
{
    const clo_decima_executor *row = &d->executors[executor];
    uint32_t slot = row->target.job, stage = row->target.stage;

    if (row->act == CLO_DECIMA_MOVE)
        return true;
    return job->running + job->committed < job->limit &&
           clo_view_execution_ns(d->view, slot, stage, executor) != CLO_TIME_NEVER &&
           clo_view_fits(d->view, slot, stage, executor);
}

/* The next act of the band. False: there is none. */
static bool hand_out(clo_decima *d, clo_choice *choice)
{
    for (uint32_t k = 0; k < d->acts_count;) {
        uint32_t executor = d->acts[(d->acts_first + k) % d->executors_count];
        clo_decima_executor *row = &d->executors[executor];
        const clo_live_job *job = row->act != CLO_DECIMA_NOTHING ? clo_view_job(d->view, row->target.job) : NULL;
        const clo_live_executor *live = clo_view_executor(d->view, executor);
        if (job != NULL && job->band != clo_view_band(d->view)) {
            k++;
            continue;
        }
        if (job != NULL && row->act == CLO_DECIMA_START && row->leaves && live->home == job->id &&
            live->last_stage != CLO_NONE) {
            row->leaves = false;
            *choice = (clo_choice){row->target.job, CLO_STAGE_LEAVE, 1, executor, CLO_NONE, 0, 0};
            return true;
        }
        clo_decima_take_act(d, k);
        if (job == NULL)
            continue;
        d->handed = executor;
        if (can_act(d, executor, job)) {
            uint32_t stage = row->act == CLO_DECIMA_START ? row->target.stage : CLO_STAGE_MOVE;
            *choice = (clo_choice){row->target.job, stage, 1, executor, CLO_NONE, 0, 0};
            return true;
        }
        settle_handed(d);
    }
    return false;
}

/* Where something did not fit, or all executors wait: the oldest ready stage that a waiting executor may run. */
static bool fill_in(clo_decima *d, clo_choice *choice)
{
    for (clo_ready_stage at = clo_view_first_ready(d->view); at.job != CLO_NONE;
         at = clo_view_next_ready(d->view, at)) {
        clo_decima_place place = {at.job, at.stage};
        if (clo_decima_stage_of(d, place)->left == 0)
            continue;
        if (!clo_view_step(d->view))
            return false;
        const clo_live_job *job = clo_view_job(d->view, at.job);
        uint32_t executor =
            job->running + job->committed < job->limit ? clo_view_free_for(d->view, at.job, at.stage) : CLO_NONE;
        if (executor == CLO_NONE || !d->executors[executor].is_pooled)
            continue;
        clo_decima_start(d, executor, place);
        return hand_out(d, choice);
    }
    return false;
}

bool clo_decima_decide(void *state, const clo_view *view, clo_choice *choice)
{
    clo_decima *d = state;

    d->view = view;
    d->is_bounded = true;
    if (!settle(d))
        return false;
    if (d->has_arrivals) {
        d->has_arrivals = false;
        d->single = d->asked_pool = d->own = CLO_NONE;
        d->asked = d->nobody.count;
        if (!settle(d))
            return false;
    }
    bool has_choice = hand_out(d, choice);
    if (!has_choice && d->pooled == d->executors_count && clo_view_jobs(view) > 0)
        d->has_misfits = true; /* with nothing to start, they wait for jobs */
    return has_choice || (d->has_misfits && fill_in(d, choice));
}
