/* decima_network.c - Decima (Mao et al., SIGCOMM 2019): a network says which stage the executors that are asked about
 * go to, and how many of them. What it sees stands in decima_case.h; all else are the rules of its simulator,
 * decima_state.h. A stage can be chosen that is open and whose job may get executors.
 *
 * The time of a task is that of the last one that has ended, at first the estimate. Deviation: spark-sched-sim takes
 * that of the last one that was started, which nobody can know then. */
#include "policy/decima/decima.h"
#include "policy/decima/decima_case.h"
#include "policy/select/policies.h"

#include "base/memory.h"
#include "cost/cost.h"

/* What runs on an executor. */
typedef struct started {
    int64_t at_ns;
    uint32_t job, stage; /* job CLO_NONE: unknown */
} started;

/* Behind the state of the simulator's rules. */
typedef struct network {
    clo_decima_case sees;
    clo_learned_watch_fn watch;
    void *watch_context;
    clo_learned_choose_fn choose; /* in place of the network */
    void *choose_context;
    started *started; /* [executors] */
} network;

typedef struct places {
    size_t network, started, sees, bytes;
} places;

static places place(const clo_limits *limits, const clo_learned_argument *with)
{
    clo_layout layout = {0};
    places at = {0};

    clo_layout_add(&layout, clo_decima_bytes(limits, NULL), 1);
    at.network = clo_layout_add(&layout, 1, sizeof(network));
    at.started = clo_layout_add(&layout, limits->executors, sizeof(started));
    at.sees = clo_layout_add(&layout, clo_decima_case_bytes(limits, with) + CLO_CACHE_LINE_BYTES, 1);
    at.sees = (at.sees + CLO_CACHE_LINE_BYTES - 1) / CLO_CACHE_LINE_BYTES * CLO_CACHE_LINE_BYTES;
    at.bytes = layout.bytes;
    return at;
}

static size_t state_bytes(const clo_limits *limits, const void *argument)
{
    clo_learned_argument with;

    if (clo_learned_read(argument, limits, &with) != CLO_OK)
        return clo_decima_bytes(limits, NULL); /* init will say so */
    return place(limits, &with).bytes;
}

/* Behind clo_decima_job and its stages: the time of a task of each stage, then rows of decima_case.h. */
static size_t job_bytes(const clo_cost *cost, const void *argument)
{
    return clo_decima_job_bytes(cost, argument) + cost->graph->tasks * (sizeof(int64_t) + sizeof(uint32_t));
}

static int64_t *times_of(const clo_decima_job *job)
{
    return (int64_t *)(void *)(job->stages + job->stages_count);
}

/* 0 stages: it arrives, and is not known yet. */
static uint32_t *rows_of(const clo_live_job *live)
{
    const clo_decima_job *job = live->state;

    return job->stages_count > 0 ? (uint32_t *)(void *)(times_of(job) + job->stages_count) : NULL;
}

/* How many executors the job may get now. */
static uint32_t cap_of(const clo_decima *d, uint32_t slot, const clo_decima_job *job)
{
    uint32_t has = job->executors + job->coming, gap = has < d->executors_count ? d->executors_count - has : 0;

    return slot == d->own || gap > d->asked ? d->asked : gap;
}

static void tell_job(const void *context, uint32_t slot, const clo_live_job *live, int64_t raw[CLO_CASE_JOB_FEATURES])
{
    const clo_decima *d = context;
    const clo_decima_job *job = live->state;

    raw[CLO_CASE_CAP] = cap_of(d, slot, job);
    raw[CLO_CASE_OWN] = slot == d->own ? 1 : -1;
    raw[CLO_CASE_EXECUTORS] = (int64_t)job->executors + job->coming;
}

static uint32_t tell_stage(const clo_view *view, uint32_t slot, uint32_t stage, int64_t *time_ns)
{
    const clo_decima_job *job = clo_view_job(view, slot)->state;

    *time_ns = times_of(job)[stage];
    return job->stages[stage].left;
}

static const clo_decima_facts facts = {rows_of, tell_job, tell_stage};

/* Open stages of jobs that may get executors. Returns their number. */
static uint32_t find_candidates(network *n, const clo_decima *d)
{
    clo_decima_case *c = &n->sees;
    uint32_t count = 0;

    for (uint32_t row = 0; row < c->seen.stages; row++) {
        uint32_t j = c->job_of_stage[row];
        const clo_live_job *live = clo_view_job(d->view, c->slots[j]);
        if (c->job_raw[CLO_CASE_JOB_FEATURES * (size_t)j + CLO_CASE_CAP] > 0 &&
            clo_decima_is_open(d, live, live->state, c->stage_of_row[row]))
            clo_decima_case_offer(c, count++, row);
    }
    return count;
}

/* The bound is reached: in an event the executors go nowhere. */
static clo_decima_place cut(clo_decima *d)
{
    d->is_cut = d->is_bounded;
    d->has_misfits = true;
    return (clo_decima_place){CLO_NONE, CLO_NONE};
}

/* Nothing that was looked at can use an executor: the first job that can. */
static clo_decima_place first_open(clo_decima *d)
{
    const clo_live_job *live;

    for (uint32_t slot = clo_view_first_job(d->view); slot != CLO_NONE; slot = live->next) {
        live = clo_view_job(d->view, slot);
        const clo_decima_job *job = live->state;
        if (job->unsaturated == 0)
            continue;
        if (!clo_view_steps(d->view, job->stages_count))
            return cut(d);
        uint32_t stage = clo_decima_open_stage(d, live, slot);
        if (stage != CLO_NONE)
            return (clo_decima_place){slot, stage};
    }
    return (clo_decima_place){CLO_NONE, CLO_NONE};
}

static clo_learned_decision show(const network *n, const clo_view *view, uint32_t count)
{
    const clo_decima_case *c = &n->sees;
    clo_learned_decision decision = {.input = c->seen,
                                     .limit_inputs = c->learned.limit_inputs,
                                     .stage_raw = c->stage_raw,
                                     .job_raw = c->job_raw,
                                     .candidates = c->learned.candidates,
                                     .scores = c->learned.scores,
                                     .limit_scores = c->learned.limit_scores,
                                     .candidates_count = count,
                                     .now_ns = clo_view_now_ns(view)};

    decision.input.limits = 0;
    return decision;
}

static uint32_t limits_of(const clo_decima_case *c, uint32_t row)
{
    return (uint32_t)c->job_raw[CLO_CASE_JOB_FEATURES * (size_t)c->job_of_stage[row] + CLO_CASE_CAP];
}

/* False: the bound is reached. */
static bool ask(network *n, const clo_view *view, uint32_t count, uint32_t *best, uint32_t *limit)
{
    clo_decima_case *c = &n->sees;

    *best = clo_learned_stage(&c->learned, view, &c->seen, count);
    if (*best == CLO_NONE)
        return false;
    uint32_t row = c->learned.candidates[*best];
    *limit = clo_learned_limit(&c->learned, view, c->job_of_stage[row], limits_of(c, row));
    return *limit != CLO_NONE;
}

/* The same by who answers in place of the network. */
static void ask_other(const network *n, const clo_view *view, uint32_t count, uint32_t *best, uint32_t *limit)
{
    const clo_decima_case *c = &n->sees;
    const clo_learned_decision decision = show(n, view, count);

    *best = *limit = 0;
    n->choose(n->choose_context, &decision, best, limit);
    *best = *best < count ? *best : count - 1;
    uint32_t limits = limits_of(c, c->learned.candidates[*best]);
    *limit = *limit < limits ? *limit : limits - 1;
}

static clo_decima_place choose(clo_decima *d, uint32_t *use)
{
    network *n = d->agent;
    clo_decima_case *c = &n->sees;

    *use = d->asked;
    if (d->unfinished == 0)
        return (clo_decima_place){CLO_NONE, CLO_NONE};
    if (!clo_decima_case_look(c, d->view, d))
        return cut(d);
    uint32_t count = find_candidates(n, d);
    if (count == 0)
        return c->has_others ? first_open(d) : (clo_decima_place){CLO_NONE, CLO_NONE};
    uint32_t best, limit;
    if (n->choose != NULL)
        ask_other(n, d->view, count, &best, &limit);
    else if (!ask(n, d->view, count, &best, &limit))
        return cut(d);
    uint32_t row = c->learned.candidates[best];
    if (n->watch != NULL) {
        clo_learned_decision decision = show(n, d->view, count);
        decision.input.limits = limits_of(c, row);
        decision.candidate = best;
        decision.limit = limit;
        n->watch(n->watch_context, &decision);
    }
    *use = limit + 1;
    return (clo_decima_place){c->slots[c->job_of_stage[row]], c->stage_of_row[row]};
}

static clo_status init(void *state, const clo_view *view)
{
    const clo_limits *limits = clo_view_limits(view);
    clo_learned_argument with;
    unsigned char *bytes = state;
    clo_status status = clo_learned_read(clo_view_argument(view), limits, &with);

    if (status == CLO_OK)
        status = clo_decima_init(state, view, NULL);
    if (status != CLO_OK)
        return status;
    const places at = place(limits, &with);
    network *n = (network *)(bytes + at.network);
    *n = (network){.watch = with.watch,
                   .watch_context = with.watch_context,
                   .choose = with.choose,
                   .choose_context = with.choose_context,
                   .started = (void *)(bytes + at.started)};
    for (uint32_t e = 0; e < limits->executors; e++)
        n->started[e].job = CLO_NONE;
    ((clo_decima *)state)->choose = choose;
    ((clo_decima *)state)->agent = n;
    return clo_decima_case_init(&n->sees, limits, &with, &facts, bytes + at.sees);
}

/* The time of the last task of a stage. */
static void take_time(network *n, const clo_view *view, const clo_event *event)
{
    started *at = &n->started[event->executor];

    if (at->job == event->job && at->stage == event->stage)
        times_of(clo_view_job(view, event->job)->state)[event->stage] = clo_view_now_ns(view) - at->at_ns;
    at->job = CLO_NONE;
}

static void event(void *state, const clo_view *view, const clo_event *event)
{
    network *n = ((clo_decima *)state)->agent;

    clo_decima_event(state, view, event);
    if (event->kind == CLO_EVENT_END) /* until it arrives again */
        ((clo_decima_job *)clo_view_job(view, event->job)->state)->stages_count = 0;
    if (event->kind == CLO_EVENT_START && event->executor != CLO_NONE)
        n->started[event->executor] = (started){clo_view_now_ns(view), event->job, event->stage};
    if (event->kind == CLO_EVENT_FINISH && event->executor != CLO_NONE)
        take_time(n, view, event);
    if (event->kind == CLO_EVENT_ARRIVE) {
        const clo_live_job *live = clo_view_job(view, event->job);
        int64_t *times_ns = times_of(live->state);
        for (uint32_t s = 0; s < live->cost->graph->tasks; s++)
            times_ns[s] = live->cost->mean_ns[s];
    }
}

const clo_policy clo_policy_decima = {
    .name = "decima",
    .summary = "Decima's published network, in integers, with executors bound to jobs; "
               "decima:[FILE|own][,sampled][,seed=N][,stages=N][,jobs=N]",
    .size = sizeof(clo_policy),
    .state_bytes = state_bytes,
    .job_bytes = job_bytes,
    .init = init,
    .event = event,
    .decide = clo_decima_decide,
    .argument_bytes = sizeof(clo_learned_argument),
    .parse = clo_learned_parse,
    .moves = 1,
    .release = clo_learned_release,
};
