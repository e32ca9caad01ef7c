/* jsq.c - JSQ-MaxWeight online (Wang et al., "Map task scheduling in MapReduce with data locality", 2014), as SynchPack
 * compares with it. When a stage is ready each instance joins the shortest of the queues of the places that are fastest
 * for it and the common queue, if it may run elsewhere, too. A place serves its own queue if that is at least half as long
 * as the common one (alpha / gamma = 2: there it takes twice as long), and takes from it what fits, in order of arrival;
 * then the other one. Weights of jobs are ignored, as in the paper.
 *
 * O(64 * places) an event; a decision looks at 512 ready stages for each place with a free executor. */
#include "policy/select/policies.h"
#include "policy/synch/queues.h"

enum { READY_MAX = 512, READY_A_STEP = 16 };

static size_t jsq_bytes(const clo_limits *limits, const void *argument)
{
    (void)argument;
    return clo_synch_live_bytes(limits) + sizeof(clo_synch_queues);
}

static clo_status jsq_init(void *state, const clo_view *view)
{
    clo_synch_live_open(state, view);
    return CLO_OK;
}

static clo_synch_queues *queues_of(clo_synch_live *live, const clo_view *view)
{
    return (clo_synch_queues *)(void *)((char *)live + clo_synch_live_bytes(clo_view_limits(view)));
}

static uint32_t join_shortest(const clo_synch_queues *queues, const clo_synch_places *places, const clo_synch_job *job,
                              uint32_t task)
{
    const int64_t *time_ns = &job->time_ns[(size_t)task * places->count];
    uint32_t best = job->fastest[task];
    bool is_elsewhere = false;

    if (best == CLO_NONE)
        return places->count;
    for (uint32_t p = 0; p < places->count; p++) {
        is_elsewhere = is_elsewhere || (time_ns[p] > time_ns[best] && time_ns[p] != CLO_TIME_NEVER);
        if (time_ns[p] == time_ns[best] && queues->length[p] < queues->length[best])
            best = p;
    }
    return is_elsewhere && queues->length[places->count] < queues->length[best] ? places->count : best;
}

static void jsq_event(void *state, const clo_view *view, const clo_event *event)
{
    clo_synch_live_event(state, view, event);
    clo_synch_queues_event(queues_of(state, view), state, view, event, join_shortest);
}

/* The oldest ready stage of the queue that may start at the place. */
static bool serve(const clo_synch_live *live, const clo_view *view, uint32_t place, uint32_t queue, clo_choice *choice,
                  bool *is_cut)
{
    clo_ready_stage at = clo_view_first_ready(view);

    for (uint32_t i = 0; i < READY_MAX && at.job != CLO_NONE; i++, at = clo_view_next_ready(view, at)) {
        if (i % READY_A_STEP == 0 && (*is_cut = !clo_view_step(view)))
            return false;
        const clo_synch_job *job = clo_synch_job_of(view, at.job);
        if (clo_synch_queued(&live->places, job, at.stage, queue) == 0 ||
            !clo_synch_may_grow(view, clo_view_job(view, at.job)))
            continue;
        if ((*is_cut = !clo_view_step(view)))
            return false;
        uint32_t executor = clo_synch_executor(view, &live->places, live->place_of, at, place, NULL);
        if (executor != CLO_NONE) {
            *choice = (clo_choice){at.job, at.stage, 1, executor, CLO_NONE, 0, 0};
            return true;
        }
    }
    return false;
}

static bool jsq_decide(void *state, const clo_view *view, clo_choice *choice)
{
    clo_synch_live *live = state;
    const clo_synch_queues *queues = queues_of(live, view);
    uint32_t common = live->places.count;
    uint64_t seen = 0; /* bits: places */
    bool is_cut = false;

    for (uint32_t e = clo_view_next_free(view, CLO_NONE); e != CLO_NONE && !is_cut; e = clo_view_next_free(view, e)) {
        uint32_t place = live->place_of[e];
        if ((seen >> place & 1) != 0)
            continue;
        seen |= UINT64_C(1) << place;
        bool is_own_first = 2 * queues->length[place] >= queues->length[common];
        if (serve(live, view, place, is_own_first ? place : common, choice, &is_cut) ||
            (!is_cut && serve(live, view, place, is_own_first ? common : place, choice, &is_cut)))
            return true;
    }
    return false;
}

const clo_policy clo_policy_jsq_maxweight = {
    .size = sizeof(clo_policy),
    .name = "jsq-maxweight",
    .summary = "instances join the shortest queue of a machine that is fast for them, or the common one",
    .state_bytes = jsq_bytes,
    .job_bytes = clo_synch_job_bytes,
    .prepare = clo_synch_prepare,
    .init = jsq_init,
    .event = jsq_event,
    .decide = jsq_decide,
};
