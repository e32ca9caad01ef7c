/* backfill.c - the job with the least remaining work / weight first (Smith 1956), and what others may take while it has
 * to wait for room:
 *
 *   wspt        all of it: the next job that can start something does
 *   strict-sjf  nothing: as long as something of the first job is ready, no other one starts
 *   easy-sjf    what does not delay it (EASY backfilling: Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995; Mu'alem,
 *               Feitelson 2001). If nothing of the first job fits, its oldest ready stage is given the machine where,
 *               by the expected ends of what runs, there is room for it first, if the wait is no longer than the work
 *               that the job has left: to keep room longer costs the others more (bench/online/PACKING.md). Another
 *               instance may start on another machine, or if it is expected to end by then, or if the room that it
 *               takes is then left over. Of those that may, first job included, the one with the highest score of
 *               tetris starts. A job that is alone is packed as tetris does.
 *
 *   conservative-sjf
 *               the same, and room is kept for each of the first 16 jobs that has to wait, in their order: nobody takes
 *               what is kept of resources before (conservative backfilling: Mu'alem, Feitelson 2001; who passes may
 *               still take the executor). Means are 2 % less, makespans 5 % more
 *
 *   mdd         all, too, but deadlines count (modified due date: Baker, Bertrand, "A dynamic priority rule for
 *               scheduling against due-dates", J. Operations Management 3, 1982; with weights: Kanet, Li, "A weighted
 *               modified due date rule", J. Scheduling 7, 2004): the job with the smallest max(remaining work /
 *               executors, deadline - now) / weight goes first. Jobs that can still be in time go by their deadlines;
 *               of those that will be late whatever is done, the shortest go first, as each is late by as long as it
 *               waits (`edf` serves what is lost already before all else). A job without a deadline counts from its
 *               arrival, as one that is late
 *
 * The reservation is made anew in each decision, so it follows what really happens; it needs no records in a log. It
 * holds by expected times alone: where these are too short, the first job waits longer. Unfairness is that of shortest
 * job first: long jobs wait while shorter ones come (`graphene` has bounds for groups).
 *
 * Looked at are 4 ready stages of each of the 16 jobs with the least work. Where others live and none of these may start,
 * nothing starts until something ends, as if room was kept for all of them: to start the oldest stage that fits, as
 * tetris does, gives more than half of the gain away (60 TPC-H jobs at once: 0.884 of tetris in place of 0.795).
 *
 * O(log jobs) an event; a decision these 64 stages, and machines times executors for the reservation (none is made where
 * that is more than 65536). */
#include "policy/packing/due.h"
#include "policy/packing/reservation.h"
#include "policy/select/by_job.h"
#include "policy/select/policies.h"
#include "policy/select/ranked.h"

#include "base/numbers/saturate.h"
#include "cost/cost.h"

enum { JOBS = CLO_RESERVATIONS_MAX, STAGES_EACH = 4, REMOTE_Q16 = 65536 * 9 / 10 };
_Static_assert((int)JOBS <= (int)CLO_JOB_WALK_MAX, "a walk goes so far");

static void backfill_event(void *state, const clo_view *view, const clo_event *event)
{
    const clo_live_job *job = clo_job_queue_event(state, view, event);

    if (job != NULL)
        clo_job_queue_put(state, job, event->job, job->remaining_ns / job->weight);
}

/* The ready stage of the job that fits best and delays nothing. False: there is none, or *is_cut. */
static bool choose_of(const clo_view *view, uint32_t slot, const clo_reservations *kept, clo_candidate *best,
                      bool *is_cut)
{
    const clo_live_job *job = clo_view_job(view, slot);
    uint32_t stage = job->running + job->committed < job->limit ? job->first_ready : CLO_NONE;

    best->executor = CLO_NONE;
    for (uint32_t i = 0; i < STAGES_EACH && stage != CLO_NONE && !(*is_cut = !clo_view_step(view)); i++) {
        clo_candidate c = {.job = slot, .stage = stage, .priority_q16 = 65536, .is_quiet = true};
        if (clo_packing_place(view, &c, REMOTE_Q16) && clo_reservations_let_pass(view, kept, &c) &&
            (best->executor == CLO_NONE || c.fit_q16 > best->fit_q16))
            *best = c;
        stage = clo_view_stage(view, slot, stage)->next_ready;
    }
    best->remaining_ns = job->remaining_ns / job->weight + 1;
    return best->executor != CLO_NONE && !*is_cut;
}

/* Something of the job waits for room: it has ready stages, and may have more executors. */
static bool is_blocked(const clo_live_job *job)
{
    return job->running + job->committed < job->limit;
}

/* For the oldest ready stage of a job, unless it would wait for longer than the work that it has left. False: the decision
 * has reached its bound. */
static bool keep_room(const clo_view *view, uint32_t slot, clo_reservations *kept)
{
    const clo_live_job *job = clo_view_job(view, slot);
    int64_t before_ns = clo_time_add(clo_time_add(clo_view_now_ns(view), job->remaining_ns), 1);

    return clo_reservation_make(view, slot, job->first_ready, before_ns, kept);
}

/* depth: for how many jobs room is kept at most; 0: nobody else starts anything then. */
static bool decide(void *state, const clo_view *view, uint32_t depth, clo_choice *choice)
{
    clo_reservations kept;
    clo_candidate candidates[JOBS];
    uint32_t count = 0, slot;
    bool is_cut = false, is_alone = depth > 0 && clo_view_jobs(view) == 1;
    clo_job_walk walk;

    kept.count = 0;
    clo_job_walk_open(&walk, state, clo_view_band(view));
    for (uint32_t i = 0; i < JOBS && !is_cut && (slot = clo_job_walk_next(&walk)) != CLO_NONE; i++) {
        const clo_live_job *job = clo_view_job(view, slot);
        if (choose_of(view, slot, &kept, &candidates[count], &is_cut)) {
            count++;
        } else if (!is_cut && is_blocked(job)) {
            if (depth == 0 && count == 0)
                return false;
            is_cut = i < depth && !is_alone && !keep_room(view, slot, &kept);
        }
        if (depth == 0 && count > 0)
            break;
    }
    if (count == 0)
        return is_alone && !is_cut && clo_packing_oldest(view, choice);
    clo_packing_weight by = {65536, clo_packing_typical_ns(candidates, count)};
    const clo_candidate *best = &candidates[clo_packing_best(candidates, count, by, CLO_NONE)];
    *choice = (clo_choice){best->job, best->stage, 1, best->executor, CLO_NONE, 0, 0};
    return true;
}

static bool strict_decide(void *state, const clo_view *view, clo_choice *choice)
{
    return decide(state, view, 0, choice);
}

static bool easy_decide(void *state, const clo_view *view, clo_choice *choice)
{
    return decide(state, view, 1, choice);
}

static bool conservative_decide(void *state, const clo_view *view, clo_choice *choice)
{
    return decide(state, view, CLO_RESERVATIONS_MAX, choice);
}

static bool wspt_decide(void *state, const clo_view *view, clo_choice *choice)
{
    return clo_policy_sjf.decide(state, view, choice);
}

#define LEAST_WORK(policy_name, policy_summary, policy_decide)                                                       \
    {                                                                                                                \
        .size = sizeof(clo_policy), .name = policy_name, .summary = policy_summary, .state_bytes = clo_by_job_bytes, \
        .init = clo_by_job_init, .event = backfill_event, .decide = policy_decide                                    \
    }

const clo_policy clo_policy_wspt = LEAST_WORK(
    "wspt", "the job with the least remaining work / weight first, in it the oldest ready stage", wspt_decide);
const clo_policy clo_policy_strict_sjf = LEAST_WORK(
    "strict-sjf", "as wspt, and nobody starts anything while something of the first job waits for room", strict_decide);
const clo_policy clo_policy_easy_sjf = LEAST_WORK(
    "easy-sjf", "as wspt, and room is kept for the first job: others start only what does not delay it", easy_decide);
const clo_policy clo_policy_conservative_sjf =
    LEAST_WORK("conservative-sjf", "as easy-sjf, and room is kept for all of the first 16 jobs", conservative_decide);

/* Behind the queue, so that others can walk it. */
typedef struct due_tail {
    clo_due_turn turn;
    uint32_t executors;
    clo_goal goal;
} due_tail;

static size_t queue_bytes(uint32_t jobs)
{
    size_t align = _Alignof(due_tail);

    return (sizeof(clo_job_queue) + clo_job_queue_bytes(jobs) + align - 1) / align * align;
}

static due_tail *tail_of(void *state, const clo_view *view)
{
    return (due_tail *)(void *)((char *)state + queue_bytes(clo_view_limits(view)->jobs));
}

static size_t mdd_bytes(const clo_limits *limits, const void *argument)
{
    (void)argument;
    return queue_bytes(limits->jobs) + sizeof(due_tail);
}

void clo_due_open(void *state, const clo_view *view, clo_goal goal)
{
    *tail_of(state, view) = (due_tail){{CLO_NONE, false}, clo_view_limits(view)->executors, goal};
    (void)clo_by_job_init(state, view);
}

static clo_status mdd_init(void *state, const clo_view *view)
{
    clo_due_open(state, view, CLO_GOAL_MEAN);
    return CLO_OK;
}

static void put_due(void *state, const clo_view *view, const clo_live_job *job, uint32_t slot)
{
    const due_tail *tail = tail_of(state, view);
    int64_t rank = tail->goal == CLO_GOAL_LATE ? clo_ranked_key(job->state, view, slot) : INT64_MAX;
    int64_t path_ns = rank == INT64_MAX ? 0 : -rank;
    clo_due due = clo_due_of(job, clo_view_now_ns(view), tail->executors, tail->goal, path_ns);

    clo_job_queue_put(state, job, slot, due.work_ns / due.weight);
}

static void mdd_event(void *state, const clo_view *view, const clo_event *event)
{
    const clo_live_job *job = clo_job_queue_event(state, view, event);
    clo_due_turn *turn = &tail_of(state, view)->turn;
    uint32_t slot;

    if (job != NULL)
        put_due(state, view, job, event->job);
    for (uint32_t k = clo_due_looks(view); k > 0 && (slot = clo_due_next(turn, view, event)) != CLO_NONE; k--)
        if (clo_job_queue_has(state, slot))
            put_due(state, view, clo_view_job(view, slot), slot);
}

static bool mdd_select(void *state, const clo_view *view, clo_may_select may, clo_choice *choice)
{
    return clo_selector_sjf.select(state, view, may, choice);
}

static bool mdd_decide(void *state, const clo_view *view, clo_choice *choice)
{
    return clo_policy_sjf.decide(state, view, choice);
}

const clo_policy clo_policy_mdd = {
    .size = sizeof(clo_policy),
    .name = "mdd",
    .summary = "by deadlines the jobs that can still be in time, behind shorter ones that will be late or have none",
    .state_bytes = mdd_bytes,
    .init = mdd_init,
    .event = mdd_event,
    .decide = mdd_decide,
};

const clo_selector clo_selector_mdd = {&clo_policy_mdd, mdd_select, NULL};
