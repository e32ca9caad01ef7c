/* list.c - SynchPack-1 and SynchPack-3 online: list scheduling in the order of jobs that live.h has, made anew when a job
 * comes. Who goes first takes what it can use at every start; so jobs that go later are interrupted between their
 * instances. A body that runs is neither stopped nor moved, where the paper preempts it: nothing can take a thread's
 * stack, or what it holds, to another executor.
 *
 *   synchpack-1   an instance runs where it has room, the fastest executor first; a stage's instances move freely
 *   synchpack-3   each instance is bound to one place when its stage is ready: the one where what waits there and itself
 *                 would be done first. (The planner refuses tasks that may run on several machines.)
 *
 * Where the first stage of a job waits for room on its machine, nothing of later jobs may end there after there is some
 * (EASY backfilling); by preemption it would have the room at once.
 *
 * Looked at are 8 ready stages of each of the first 64 jobs that wait. O(64 * 8 * executors that are free) a decision. */
#include "policy/packing/packing.h"
#include "policy/select/policies.h"
#include "policy/synch/queues.h"

#include "base/numbers/saturate.h"

enum { JOBS_MAX = 64, STAGES_EACH = 8, FREE_A_STEP = 64, ENDS_MAX = 64, EXECUTORS_A_STEP = 16 };

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

/* What ends on a machine. */
typedef struct ending {
    int64_t at_ns;
    uint32_t executor;
} ending;

/* The first ends on the machine, in order. Returns how many. */
static uint32_t sort_ends(const clo_view *view, const clo_platform *platform, uint32_t machine, ending *ends)
{
    uint32_t count = 0;

    for (uint32_t e = 0; e < platform->executors_count; e++) {
        const clo_live_executor *row = clo_view_executor(view, e);
        if (platform->executors[e].machine != machine || row->job == CLO_NONE || row->is_moving != 0 ||
            (count == ENDS_MAX && ends[count - 1].at_ns <= row->free_ns))
            continue;
        uint32_t at = count < ENDS_MAX ? count++ : ENDS_MAX - 1;
        for (; at > 0 && ends[at - 1].at_ns > row->free_ns; at--)
            ends[at] = ends[at - 1];
        ends[at] = (ending){row->free_ns, e};
    }
    return count;
}

/* When there is room for an instance of the stage on the machine, if nothing else starts there; INT64_MAX: not known. */
static int64_t room_ns(const clo_view *view, const clo_cost *cost, uint32_t stage, uint32_t machine)
{
    int64_t lack[CLO_RESOURCES_MAX], now_ns = clo_view_now_ns(view);
    ending ends[ENDS_MAX];
    bool lacks = true;

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        lack[r] = clo_synch_demand(cost, stage, r) - clo_view_capacity_left(view, machine, r);
    uint32_t count = sort_ends(view, cost->platform, machine, ends);
    for (uint32_t i = 0; i < count && lacks; i++) {
        const clo_live_executor *row = clo_view_executor(view, ends[i].executor);
        lacks = false;
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
            if (lack[r] > 0) /* what is not limited would leave int64_t */
                lack[r] -= clo_synch_demand(clo_view_job(view, row->job)->cost, row->stage, r);
            lacks = lacks || lack[r] > 0;
        }
        now_ns = ends[i].at_ns > now_ns ? ends[i].at_ns : now_ns;
    }
    return lacks ? INT64_MAX : now_ns;
}

/* The first ready stage of the job waits for room: nothing of later jobs may end on its machine after there is some. */
static bool keep_room(const clo_synch_live *live, const clo_view *view, uint32_t slot, bool is_bound, int64_t *kept_ns)
{
    const clo_synch_places *places = &live->places;
    const clo_synch_job *job = clo_synch_job_of(view, slot);
    const clo_cost *cost = clo_view_job(view, slot)->cost;
    uint32_t stage = clo_view_job(view, slot)->first_ready, place = job->fastest[stage];

    for (uint32_t p = 0; p < places->count && is_bound; p++)
        if (clo_synch_queued(places, job, stage, p) > 0)
            place = p;
    if (place == CLO_NONE || (places->count == 1 && cost->platform->machines_count > 1))
        return true;
    uint32_t domain = places->domain_of[place];
    if (kept_ns[domain] != INT64_MAX || clo_packing_has_room(view, cost, stage, places->machine[place]))
        return true;
    if (!clo_view_steps(view, cost->platform->executors_count / EXECUTORS_A_STEP + 1))
        return false;
    kept_ns[domain] = room_ns(view, cost, stage, places->machine[place]);
    return true;
}

/* The executor for an instance of the stage where it is bound to. */
static uint32_t bound_executor(const clo_synch_live *live, const clo_view *view, clo_ready_stage at,
                               const int64_t *kept_ns)
{
    const clo_synch_job *job = clo_synch_job_of(view, at.job);
    uint32_t executor = CLO_NONE;

    for (uint32_t p = 0; p < live->places.count && executor == CLO_NONE; p++)
        if (clo_synch_queued(&live->places, job, at.stage, p) > 0)
            executor = clo_synch_executor(view, &live->places, live->place_of, at, p, kept_ns);
    return executor;
}

static bool choose_of(const clo_synch_live *live, const clo_view *view, uint32_t slot, bool is_bound,
                      const int64_t *kept_ns, clo_choice *choice, bool *is_cut)
{
    uint32_t stage = clo_view_job(view, slot)->first_ready;
    uint64_t steps = 1 + clo_view_limits(view)->executors / FREE_A_STEP;

    for (uint32_t i = 0; i < STAGES_EACH && stage != CLO_NONE; i++) {
        clo_ready_stage at = {slot, stage};
        if ((*is_cut = !clo_view_steps(view, steps)))
            return false;
        uint32_t executor = is_bound ? bound_executor(live, view, at, kept_ns)
                                     : clo_synch_executor(view, &live->places, live->place_of, at, CLO_NONE, kept_ns);
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
    int64_t kept_ns[CLO_SYNCH_PLACES_MAX];
    bool is_cut = false;

    for (uint32_t d = 0; d < live->places.domains; d++)
        kept_ns[d] = INT64_MAX;
    if (clo_view_next_free(view, CLO_NONE) == CLO_NONE || !clo_synch_live_sort(live, view))
        return false;
    for (uint32_t i = 0, looks = 0; i < live->count && looks < JOBS_MAX && !is_cut; i++) {
        const clo_live_job *job = clo_synch_live_job(live, view, i);
        if ((is_cut = !clo_view_step(view)) || job == NULL || !clo_synch_may_grow(view, job))
            continue;
        looks++;
        if (choose_of(live, view, live->order[i], is_bound, kept_ns, choice, &is_cut))
            return true;
        is_cut = is_cut || !keep_room(live, view, live->order[i], is_bound, kept_ns);
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
