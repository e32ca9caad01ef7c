/* list.c - SynchPack-1 and SynchPack-3 online: list scheduling in the order of jobs that live.h has, made anew when a job
 * comes. Who goes first takes what it can use at every start; so jobs that go later are interrupted between their
 * instances. A body that runs is neither stopped nor moved, where the paper preempts it: nothing can take a thread's
 * stack, or what it holds, to another executor.
 *
 *   synchpack-1   an instance runs where it has room, the fastest executor first; a stage's instances move freely
 *   synchpack-3   each instance is bound to one place when its stage is ready: the one where what waits there and itself
 *                 would be done first. (The planner refuses tasks that may run on several machines.)
 *
 * Looked at are 8 ready stages of each of the first 64 jobs that wait. O(64 * 8 * executors that are free) a decision. */
#include "policy/select/policies.h"
#include "policy/synch/queues.h"

#include "base/numbers/saturate.h"

enum { JOBS_MAX = 64, STAGES_EACH = 8, FREE_A_STEP = 64 };

static size_t list_bytes(const clo_limits *limits, const void *argument)
{
    (void)argument;
    return clo_synch_live_bytes(limits) + sizeof(clo_synch_queues);
}

static clo_status list_init(void *state, const clo_view *view)
{
    clo_synch_live_open(state, view);
    return CLO_OK;
}

static clo_synch_queues *queues_of(clo_synch_live *live, const clo_view *view)
{
    return (clo_synch_queues *)(void *)((char *)live + clo_synch_live_bytes(clo_view_limits(view)));
}

static void free_event(void *state, const clo_view *view, const clo_event *event)
{
    clo_synch_live_event(state, view, event);
}

/* Where it would be done first; queue 0 if it can run nowhere. */
static uint32_t join_least(const clo_synch_queues *queues, const clo_synch_places *places, const clo_synch_job *job,
                           uint32_t task)
{
    const int64_t *time_ns = &job->time_ns[(size_t)task * places->count];
    int64_t best_ns = INT64_MAX;
    uint32_t best = 0;

    for (uint32_t p = 0; p < places->count; p++) {
        int64_t done_ns = clo_time_add(queues->load_ns[p], time_ns[p]);
        if (done_ns < best_ns) {
            best_ns = done_ns;
            best = p;
        }
    }
    return best;
}

static void bound_event(void *state, const clo_view *view, const clo_event *event)
{
    clo_synch_live_event(state, view, event);
    clo_synch_queues_event(queues_of(state, view), state, view, event, join_least);
}

/* The executor for an instance of the stage where it is bound to. */
static uint32_t bound_executor(const clo_synch_live *live, const clo_view *view, clo_ready_stage at)
{
    const clo_synch_job *job = clo_synch_job_of(view, at.job);
    uint32_t executor = CLO_NONE;

    for (uint32_t p = 0; p < live->places.count && executor == CLO_NONE; p++)
        if (clo_synch_queued(&live->places, job, at.stage, p) > 0)
            executor = clo_synch_executor(view, &live->places, live->place_of, at, p, CLO_NONE);
    return executor;
}

static bool choose_of(const clo_synch_live *live, const clo_view *view, uint32_t slot, bool is_bound,
                      clo_choice *choice, bool *is_cut)
{
    uint32_t stage = clo_view_job(view, slot)->first_ready;
    uint64_t steps = 1 + clo_view_limits(view)->executors / FREE_A_STEP;

    for (uint32_t i = 0; i < STAGES_EACH && stage != CLO_NONE; i++) {
        clo_ready_stage at = {slot, stage};
        if ((*is_cut = !clo_view_steps(view, steps)))
            return false;
        uint32_t executor = is_bound ? bound_executor(live, view, at)
                                     : clo_synch_executor(view, &live->places, live->place_of, at, CLO_NONE, CLO_NONE);
        if (executor != CLO_NONE) {
            *choice = (clo_choice){slot, stage, 1, executor, CLO_NONE, 0, 0};
            return true;
        }
        stage = clo_view_stage(view, slot, stage)->next_ready;
    }
    return false;
}

static bool choose(clo_synch_live *live, const clo_view *view, bool is_bound, clo_choice *choice)
{
    bool is_cut = false;

    if (clo_view_next_free(view, CLO_NONE) == CLO_NONE || !clo_synch_live_sort(live, view))
        return false;
    for (uint32_t i = 0, looks = 0; i < live->count && looks < JOBS_MAX && !is_cut; i++) {
        const clo_live_job *job = clo_synch_live_job(live, view, i);
        if ((is_cut = !clo_view_step(view)) || job == NULL || !clo_synch_may_grow(view, job))
            continue;
        looks++;
        if (choose_of(live, view, live->order[i], is_bound, choice, &is_cut))
            return true;
    }
    return false;
}

static bool free_decide(void *state, const clo_view *view, clo_choice *choice)
{
    return choose(state, view, false, choice);
}

static bool bound_decide(void *state, const clo_view *view, clo_choice *choice)
{
    return choose(state, view, true, choice);
}

#define LIST(policy_name, policy_summary, policy_event, policy_decide)                                            \
    {                                                                                                             \
        .size = sizeof(clo_policy), .name = policy_name, .summary = policy_summary, .state_bytes = list_bytes,    \
        .job_bytes = clo_synch_job_bytes, .prepare = clo_synch_prepare, .init = list_init, .event = policy_event, \
        .decide = policy_decide                                                                                   \
    }

const clo_policy clo_policy_synchpack_1 =
    LIST("synchpack-1", "jobs by SynchPack's rule for weighted completion, each instance where it is fastest",
         free_event, free_decide);
const clo_policy clo_policy_synchpack_3 =
    LIST("synchpack-3", "as synchpack-1, each instance bound to one machine when its stage is ready", bound_event,
         bound_decide);
