/* scored.c - what SynchPack compares with, online: of the ready stages that may start somewhere, the one with the best
 * score.
 *
 *   psrs             preemptive Smith ratio (Schwiegelshohn, "Preemptive weighted completion time scheduling of parallel
 *                    jobs", SIAM J. Computing 33, 2004): the largest weight / load of an instance. A wide stage, whose
 *                    instances need more than half of a machine, would wait for ever: once it has been the first of the
 *                    wide ones for 2.8 of its times, it goes before all. In the paper it then preempts what runs; here
 *                    nothing more starts on its machine until it does, so it waits for the bodies that run there
 *   tetris-weighted  the largest share of the machine + weight / remaining load of the job, the latter as a share of the
 *                    largest of all jobs; of equal ones the shorter time. The terms are SynchPack's, the form of their sum
 *                    is reconstructed
 *
 * Looked at are the 512 stages that have been ready for longest; executors only where a score would be the best. O(512 *
 * executors that are free) a decision. */
#include "policy/select/policies.h"
#include "policy/synch/live.h"

#include "base/numbers/saturate.h"

enum { READY_MAX = 512, READY_A_STEP = 16, SHARE_ONE = 65536, WAIT_TENTHS = 28 };

#define MERIT_ONE (INT64_C(1) << 46)

/* The first of the wide stages, and since when. */
typedef struct wide {
    clo_ready_stage stage; /* job CLO_NONE: none */
    uint64_t id;
    int64_t since_ns;
} wide;

static size_t scored_bytes(const clo_limits *limits, const void *argument)
{
    (void)argument;
    return clo_synch_live_bytes(limits) + sizeof(wide);
}

static wide *wide_of(clo_synch_live *live, const clo_view *view)
{
    return (wide *)(void *)((char *)live + clo_synch_live_bytes(clo_view_limits(view)));
}

static clo_status scored_init(void *state, const clo_view *view)
{
    clo_synch_live_open(state, view);
    wide_of(state, view)->stage.job = CLO_NONE;
    return CLO_OK;
}

static void scored_event(void *state, const clo_view *view, const clo_event *event)
{
    clo_synch_live_event(state, view, event);
}

/* A walk over the ready stages whose jobs may grow. */
typedef struct walk {
    const clo_view *view;
    clo_ready_stage next;
    uint32_t looks;
    bool is_cut;
} walk;

static walk walk_open(const clo_view *view)
{
    return (walk){view, clo_view_first_ready(view), 0, false};
}

static bool walk_next(walk *w, clo_ready_stage *at)
{
    while (w->next.job != CLO_NONE && w->looks < READY_MAX && !w->is_cut) { /* goes on */
        *at = w->next;
        w->next = clo_view_next_ready(w->view, w->next);
        w->is_cut = w->looks++ % READY_A_STEP == 0 && !clo_view_step(w->view);
        if (clo_synch_may_grow(w->view, clo_view_job(w->view, at->job)) && !w->is_cut)
            return true;
    }
    return false;
}

static uint32_t executor_for(const clo_synch_live *live, walk *w, clo_ready_stage at, const int64_t *kept_ns)
{
    if ((w->is_cut = !clo_view_step(w->view)))
        return CLO_NONE;
    return clo_synch_executor(w->view, &live->places, live->place_of, at, CLO_NONE, kept_ns);
}

/* weight / load: more for a than for b? */
static bool goes_before(const clo_view *view, clo_ready_stage a, clo_ready_stage b)
{
    int64_t load_a = clo_synch_job_of(view, a.job)->load_ns[a.stage];
    int64_t load_b = clo_synch_job_of(view, b.job)->load_ns[b.stage];

    return (clo_u128)clo_view_job(view, a.job)->weight * (clo_u128)load_b >
           (clo_u128)clo_view_job(view, b.job)->weight * (clo_u128)load_a;
}

static bool is_wide(const clo_synch_live *live, const clo_view *view, clo_ready_stage at)
{
    uint32_t place = clo_synch_job_of(view, at.job)->fastest[at.stage];

    return place != CLO_NONE && clo_synch_share_q16(&live->places, clo_view_job(view, at.job)->cost, at.stage,
                                                    live->places.domain_of[place]) > SHARE_ONE / 2;
}

/* The domain that is kept for the first of the wide stages, if that has waited for long enough; CLO_NONE: none. */
static uint32_t kept_domain(const clo_synch_live *live, wide *first, walk *w)
{
    const clo_view *view = w->view;
    clo_ready_stage at, best = {CLO_NONE, CLO_NONE};

    while (walk_next(w, &at))
        if (is_wide(live, view, at) && (best.job == CLO_NONE || goes_before(view, at, best)))
            best = at;
    if (best.job == CLO_NONE) {
        first->stage = best;
        return CLO_NONE;
    }
    const clo_live_job *row = clo_view_job(view, best.job);
    const clo_synch_job *job = row->state;
    if (best.job != first->stage.job || best.stage != first->stage.stage || row->id != first->id)
        *first = (wide){best, row->id, clo_view_now_ns(view)};
    uint32_t place = job->fastest[best.stage];
    int64_t time_ns = job->time_ns[(size_t)best.stage * live->places.count + place];
    int64_t waited_ns = clo_time_sub(clo_view_now_ns(view), first->since_ns);
    return waited_ns >= clo_time_mul(time_ns / 10, WAIT_TENTHS) ? live->places.domain_of[place] : CLO_NONE;
}

/* The wide stage has started an instance: the next one waits anew. */
static bool start_wide(wide *first, uint32_t executor, clo_choice *choice)
{
    *choice = (clo_choice){first->stage.job, first->stage.stage, 1, executor, CLO_NONE, 0, 0};
    first->stage.job = CLO_NONE;
    return true;
}

/* Nothing runs, so nothing that is waited for will end. */
static bool is_idle(const clo_view *view)
{
    for (uint32_t j = clo_view_first_job(view); j != CLO_NONE; j = clo_view_job(view, j)->next)
        if (!clo_view_step(view) || clo_view_job(view, j)->running > 0)
            return false;
    return true;
}

static bool psrs_decide(void *state, const clo_view *view, clo_choice *choice)
{
    clo_synch_live *live = state;
    wide *first = wide_of(live, view);
    walk w = walk_open(view);
    clo_ready_stage at, best = {CLO_NONE, CLO_NONE};
    uint32_t kept = kept_domain(live, first, &w), executor = CLO_NONE;
    int64_t kept_ns[CLO_SYNCH_PLACES_MAX];

    if (w.is_cut || clo_view_next_free(view, CLO_NONE) == CLO_NONE)
        return false;
    w = walk_open(view);
    if (kept != CLO_NONE && (executor = executor_for(live, &w, first->stage, NULL)) != CLO_NONE)
        return start_wide(first, executor, choice);
    for (uint32_t d = 0; d < live->places.domains; d++)
        kept_ns[d] = d == kept && !is_idle(view) ? INT64_MIN : INT64_MAX;
    while (walk_next(&w, &at)) {
        if (best.job != CLO_NONE && !goes_before(view, at, best))
            continue;
        uint32_t found = executor_for(live, &w, at, kept_ns);
        if (found == CLO_NONE)
            continue;
        best = at;
        executor = found;
    }
    if (best.job == CLO_NONE || w.is_cut)
        return false;
    *choice = (clo_choice){best.job, best.stage, 1, executor, CLO_NONE, 0, 0};
    return true;
}

/* weight / remaining load. */
static int64_t merit_of(const clo_view *view, uint32_t slot)
{
    int64_t rest_ns = clo_synch_job_of(view, slot)->rest_ns;

    return clo_synch_part(clo_view_job(view, slot)->weight, MERIT_ONE, rest_ns > 0 ? rest_ns : 1);
}

static int64_t largest_merit(walk *w)
{
    clo_ready_stage at;
    int64_t most = 1;

    while (walk_next(w, &at)) {
        int64_t merit = merit_of(w->view, at.job);
        most = merit > most ? merit : most;
    }
    return most;
}

/* The largest share of what is scarce at the place: its resources, or one of its executors. */
static int64_t share_at(const clo_synch_live *live, const clo_view *view, clo_ready_stage at, uint32_t place)
{
    int64_t share =
        clo_synch_share_q16(&live->places, clo_view_job(view, at.job)->cost, at.stage, live->places.domain_of[place]);
    int64_t one = SHARE_ONE / live->places.size[place];

    return share > one ? share : one;
}

static int64_t time_at(const clo_synch_live *live, const clo_view *view, clo_ready_stage at, uint32_t place)
{
    return clo_synch_job_of(view, at.job)->time_ns[(size_t)at.stage * live->places.count + place];
}

typedef struct scored {
    clo_ready_stage stage;
    uint32_t executor, place;
    int64_t score;
} scored;

/* At the place, if that is better than the best so far. */
static void offer(const clo_synch_live *live, walk *w, clo_ready_stage at, uint32_t place, int64_t score, scored *best)
{
    const clo_view *view = w->view;
    int64_t time_ns = time_at(live, view, at, place);

    if (time_ns == CLO_TIME_NEVER || score < best->score ||
        (score == best->score && time_ns >= time_at(live, view, best->stage, best->place)))
        return;
    if ((w->is_cut = !clo_view_step(view)))
        return;
    uint32_t executor = clo_synch_executor(view, &live->places, live->place_of, at, place, NULL);
    if (executor != CLO_NONE)
        *best = (scored){at, executor, place, score};
}

static bool tetris_decide(void *state, const clo_view *view, clo_choice *choice)
{
    clo_synch_live *live = state;
    walk w = walk_open(view);
    scored best = {.executor = CLO_NONE, .score = -1};
    clo_ready_stage at;
    uint64_t free_places = 0; /* bits */
    int64_t most = largest_merit(&w);

    for (uint32_t e = clo_view_next_free(view, CLO_NONE); e != CLO_NONE; e = clo_view_next_free(view, e))
        free_places |= UINT64_C(1) << live->place_of[e];
    if (w.is_cut || free_places == 0)
        return false;
    w = walk_open(view);
    while (walk_next(&w, &at)) {
        int64_t merit = clo_synch_part(merit_of(view, at.job), SHARE_ONE, most);
        for (uint32_t p = 0; p < live->places.count && !w.is_cut; p++)
            if ((free_places >> p & 1) != 0)
                offer(live, &w, at, p, share_at(live, view, at, p) + merit, &best);
    }
    if (best.executor == CLO_NONE || w.is_cut)
        return false;
    *choice = (clo_choice){best.stage.job, best.stage.stage, 1, best.executor, CLO_NONE, 0, 0};
    return true;
}

#define SCORED(policy_name, policy_summary, policy_decide)                                                          \
    {                                                                                                               \
        .size = sizeof(clo_policy), .name = policy_name, .summary = policy_summary, .state_bytes = scored_bytes,    \
        .job_bytes = clo_synch_job_bytes, .prepare = clo_synch_prepare, .init = scored_init, .event = scored_event, \
        .decide = policy_decide                                                                                     \
    }

const clo_policy clo_policy_psrs =
    SCORED("psrs", "the largest weight / load of an instance; wide instances go before all after a wait", psrs_decide);
const clo_policy clo_policy_tetris_weighted =
    SCORED("tetris-weighted", "the largest share of a machine + weight / remaining load of the job", tetris_decide);
