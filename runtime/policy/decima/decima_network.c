/* decima_network.c - Decima (Mao et al., SIGCOMM 2019): a network says which stage the executors that are asked about
 * go to, and how many of them. All else are the rules of its simulator, decima_state.h.
 *
 * The network sees all unfinished stages of the live jobs, each time anew, as spark-sched-sim shows them
 * (DecimaObsWrapper). Of a stage: how many executors its job may get now, whether they come from this job, how many the
 * job has (with those on their way and committed to it), tasks that were not started, and these times the time of a
 * task. Choices: an open stage of a job that may get executors; then how many, 1 to what the job may get.
 *
 * The time of a task is that of the last one that has ended, at first the estimate. Deviation: spark-sched-sim takes
 * that of the last one that was started, which nobody can know then. */
#include "policy/decima/decima.h"
#include "policy/network/learned.h"
#include "policy/select/policies.h"

#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "cost/cost.h"
#include "learn/infer/features.h"

/* In the order of lists 1 and 4 of the features. Then those of a job, the first three again, and that of limits. List 4
 * has work as several numbers. */
enum {
    FEATURE_CAP,
    FEATURE_OWN,
    FEATURE_EXECUTORS,
    FEATURE_TASKS,
    FEATURE_WORK,
    STAGE_FEATURES = 5,
    STAGE_NUMBERS_MAX = FEATURE_WORK + CLO_WORK_PARTS,
    JOB_FEATURES = 3
};

/* Of each stage, behind those of clo_decima_job. */
typedef struct network_stage {
    int64_t last_ns; /* time of a task */
    uint32_t row;
} network_stage;

/* What runs on an executor. */
typedef struct started {
    int64_t at_ns;
    uint32_t job, stage; /* job CLO_NONE: unknown */
} started;

/* Behind the state of the simulator's rules. */
typedef struct network {
    clo_learned learned;
    clo_learned_watch_fn watch;
    void *watch_context;
    clo_model_case seen;
    uint32_t work_parts; /* 1, or CLO_WORK_PARTS */
    bool has_others;     /* jobs that live and were not looked at */

    /* [stages + 1], [edges], [stages] */
    uint32_t *child_begin, *children, *job_of_stage, *stage_of_row;
    uint32_t *slots; /* [jobs] */
    int16_t *inputs; /* of stages, then of jobs */
    int64_t *stage_raw, *job_raw;
    started *started; /* [executors] */
} network;

typedef struct places {
    size_t network, child_begin, children, job_of_stage, stage_of_row, slots, inputs, stage_raw, job_raw, started;
    size_t learned, bytes;
} places;

static places place(const clo_limits *limits, const clo_learned_argument *with)
{
    const clo_infer_sizes sizes = clo_learned_sizes(with, limits->executors);
    clo_layout layout = {0};
    places at = {0};

    clo_layout_add(&layout, clo_decima_bytes(limits, NULL), 1);
    at.network = clo_layout_add(&layout, 1, sizeof(network));
    at.child_begin = clo_layout_add(&layout, sizes.stages + 1, sizeof(uint32_t));
    at.children = clo_layout_add(&layout, sizes.edges, sizeof(uint32_t));
    at.job_of_stage = clo_layout_add(&layout, sizes.stages, sizeof(uint32_t));
    at.stage_of_row = clo_layout_add(&layout, sizes.stages, sizeof(uint32_t));
    at.slots = clo_layout_add(&layout, sizes.jobs, sizeof(uint32_t));
    at.inputs = clo_layout_add(&layout, STAGE_NUMBERS_MAX * sizes.stages + JOB_FEATURES * sizes.jobs, sizeof(int16_t));
    at.stage_raw = clo_layout_add(&layout, sizes.stages, STAGE_FEATURES * sizeof(int64_t));
    at.job_raw = clo_layout_add(&layout, sizes.jobs, JOB_FEATURES * sizeof(int64_t));
    at.started = clo_layout_add(&layout, limits->executors, sizeof(started));
    at.learned = clo_layout_add(&layout, clo_learned_bytes(with, &sizes) + CLO_CACHE_LINE_BYTES, 1);
    at.learned = (at.learned + CLO_CACHE_LINE_BYTES - 1) / CLO_CACHE_LINE_BYTES * CLO_CACHE_LINE_BYTES;
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

static size_t job_bytes(const clo_cost *cost, const void *argument)
{
    return clo_decima_job_bytes(cost, argument) + cost->graph->tasks * sizeof(network_stage);
}

static network_stage *stages_of(const clo_decima_job *job)
{
    return (network_stage *)(job->stages + job->stages_count);
}

/* The rows of a job that fits. */
static void add_stages(network *n, const clo_decima *d, uint32_t slot, const clo_live_job *live)
{
    const clo_decima_job *job = live->state;
    const clo_graph *graph = live->cost->graph;
    network_stage *stages = stages_of(job);
    uint32_t first = n->seen.stages, edges = n->child_begin[first];

    for (uint32_t i = 0; i < graph->tasks; i++) {
        uint32_t s = graph->task_order[i];
        if (clo_view_stage(d->view, slot, s)->unfinished == 0)
            continue;
        stages[s].row = n->seen.stages;
        n->job_of_stage[n->seen.stages] = n->seen.jobs;
        n->stage_of_row[n->seen.stages++] = s;
    }
    for (uint32_t row = first; row < n->seen.stages; row++) { /* children of what is unfinished are, too */
        uint32_t s = n->stage_of_row[row];
        for (uint32_t k = graph->out_first[s]; k < graph->out_first[s + 1]; k++)
            n->children[edges++] = stages[graph->out[k]].row;
        n->child_begin[row + 1] = edges;
    }
}

static bool fits(const network *n, const clo_decima *d, uint32_t slot, const clo_live_job *live)
{
    const clo_graph *graph = live->cost->graph;
    uint32_t stages = n->seen.stages, edges = n->child_begin[stages];

    for (uint32_t s = 0; s < graph->tasks; s++) {
        if (clo_view_stage(d->view, slot, s)->unfinished == 0)
            continue;
        stages++;
        edges += graph->out_first[s + 1] - graph->out_first[s];
        if (stages > n->learned.sizes.stages || edges > n->learned.sizes.edges)
            return false;
    }
    return true;
}

/* Looks at jobs in order of arrival up to the first that does not fit; those that never could are passed over. Both
 * are counted (clo_view_partial). False: the bound of the decision is reached. */
static bool look(network *n, const clo_decima *d)
{
    const clo_infer_sizes *sizes = &n->learned.sizes;
    const clo_live_job *live;

    n->seen.stages = n->seen.jobs = 0;
    n->child_begin[0] = 0;
    n->has_others = false;
    for (uint32_t slot = clo_view_first_job(d->view); slot != CLO_NONE; slot = live->next) {
        live = clo_view_job(d->view, slot);
        const clo_graph *graph = live->cost->graph;
        if (((const clo_decima_job *)live->state)->stages_count == 0) /* it arrives, and is not known yet */
            continue;
        bool is_huge = graph->tasks > sizes->stages || graph->edges > sizes->edges;
        if (!clo_view_steps(d->view, is_huge ? 1 : graph->tasks))
            return false;
        n->has_others = n->has_others || is_huge;
        if (is_huge)
            continue;
        if (n->seen.jobs == sizes->jobs || !fits(n, d, slot, live)) {
            n->has_others = true;
            break;
        }
        add_stages(n, d, slot, live);
        n->slots[n->seen.jobs++] = slot;
    }
    return true;
}

/* How many executors the job may get now. */
static uint32_t cap_of(const clo_decima *d, uint32_t slot, const clo_decima_job *job)
{
    uint32_t has = job->executors + job->coming, gap = has < d->executors_count ? d->executors_count - has : 0;

    return slot == d->own || gap > d->asked ? d->asked : gap;
}

/* What the network sees of a stage; of its job it is the same for all of them. Returns the end. */
static int16_t *put_stage(const network *n, const int64_t raw[STAGE_FEATURES], int16_t *to)
{
    for (uint32_t i = 0; i < FEATURE_WORK; i++)
        *to++ = clo_learned_feature(&n->learned, i, raw[i]);
    if (n->work_parts == 1)
        *to++ = clo_learned_feature(&n->learned, FEATURE_WORK, raw[FEATURE_WORK]);
    for (uint32_t i = 0; n->work_parts > 1 && i < n->work_parts; i++)
        *to++ = clo_learned_part(&n->learned, FEATURE_WORK, i, raw[FEATURE_WORK]);
    return to;
}

static void put_inputs(network *n, const clo_decima *d)
{
    const uint32_t of_job = FEATURE_WORK + n->work_parts;
    int16_t *to = n->inputs + of_job * (size_t)n->seen.stages;

    for (uint32_t j = 0; j < n->seen.jobs; j++) {
        const clo_decima_job *job = clo_decima_job_of(d, n->slots[j]);
        int64_t *raw = &n->job_raw[JOB_FEATURES * (size_t)j];
        raw[FEATURE_CAP] = cap_of(d, n->slots[j], job);
        raw[FEATURE_OWN] = n->slots[j] == d->own ? 1 : -1;
        raw[FEATURE_EXECUTORS] = (int64_t)job->executors + job->coming;
        for (uint32_t i = 0; i < JOB_FEATURES; i++)
            *to++ = clo_learned_feature(&n->learned, of_job + i, raw[i]);
    }
    to = n->inputs;
    for (uint32_t row = 0; row < n->seen.stages; row++) {
        uint32_t j = n->job_of_stage[row], s = n->stage_of_row[row];
        const clo_decima_job *job = clo_decima_job_of(d, n->slots[j]);
        int64_t *raw = &n->stage_raw[STAGE_FEATURES * (size_t)row];
        for (uint32_t i = 0; i < JOB_FEATURES; i++)
            raw[i] = n->job_raw[JOB_FEATURES * (size_t)j + i];
        raw[FEATURE_TASKS] = job->stages[s].left;
        raw[FEATURE_WORK] = clo_time_mul(job->stages[s].left, stages_of(job)[s].last_ns);
        to = put_stage(n, raw, to);
    }
}

/* Open stages of jobs that may get executors. Returns their number. */
static uint32_t find_candidates(network *n, const clo_decima *d)
{
    uint32_t count = 0;

    for (uint32_t row = 0; row < n->seen.stages; row++) {
        uint32_t j = n->job_of_stage[row], s = n->stage_of_row[row];
        const clo_live_job *live = clo_view_job(d->view, n->slots[j]);
        if (n->job_raw[JOB_FEATURES * (size_t)j + FEATURE_CAP] == 0 || !clo_decima_is_open(d, live, live->state, s))
            continue;
        n->learned.candidates[count] = row;
        n->learned.keys[count++] = (uint64_t)j << 32 | s;
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

static void tell(const network *n, uint32_t count, uint32_t candidate, uint32_t limits, uint32_t limit)
{
    if (n->watch == NULL)
        return;
    clo_learned_decision decision = {.input = n->seen,
                                     .limit_inputs = n->learned.limit_inputs,
                                     .stage_raw = n->stage_raw,
                                     .job_raw = n->job_raw,
                                     .candidates = n->learned.candidates,
                                     .scores = n->learned.scores,
                                     .limit_scores = n->learned.limit_scores,
                                     .candidates_count = count,
                                     .candidate = candidate,
                                     .limit = limit};
    decision.input.limits = limits;
    n->watch(n->watch_context, &decision);
}

static clo_decima_place choose(clo_decima *d, uint32_t *use)
{
    network *n = d->agent;

    *use = d->asked;
    if (d->unfinished == 0)
        return (clo_decima_place){CLO_NONE, CLO_NONE};
    if (!look(n, d))
        return cut(d);
    if (n->has_others)
        clo_view_partial(d->view);
    put_inputs(n, d);
    uint32_t count = find_candidates(n, d);
    if (count == 0)
        return n->has_others ? first_open(d) : (clo_decima_place){CLO_NONE, CLO_NONE};
    uint32_t best = clo_learned_stage(&n->learned, d->view, &n->seen, count);
    if (best == CLO_NONE)
        return cut(d);
    uint32_t row = n->learned.candidates[best], j = n->job_of_stage[row];
    uint32_t limits = (uint32_t)n->job_raw[JOB_FEATURES * (size_t)j + FEATURE_CAP];
    uint32_t limit = clo_learned_limit(&n->learned, d->view, j, limits);
    if (limit == CLO_NONE)
        return cut(d);
    tell(n, count, best, limits, limit);
    *use = limit + 1;
    return (clo_decima_place){n->slots[j], n->stage_of_row[row]};
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
    const clo_infer_sizes sizes = clo_learned_sizes(&with, limits->executors);
    network *n = (network *)(bytes + at.network);
    *n = (network){.watch = with.watch,
                   .watch_context = with.watch_context,
                   .child_begin = (void *)(bytes + at.child_begin),
                   .children = (void *)(bytes + at.children),
                   .job_of_stage = (void *)(bytes + at.job_of_stage),
                   .stage_of_row = (void *)(bytes + at.stage_of_row),
                   .slots = (void *)(bytes + at.slots),
                   .inputs = (void *)(bytes + at.inputs),
                   .stage_raw = (void *)(bytes + at.stage_raw),
                   .job_raw = (void *)(bytes + at.job_raw),
                   .started = (void *)(bytes + at.started)};
    n->seen.job_of_stage = n->job_of_stage;
    n->seen.child_begin = n->child_begin;
    n->seen.children = n->children;
    n->seen.inputs = n->inputs;
    for (uint32_t e = 0; e < limits->executors; e++)
        n->started[e].job = CLO_NONE;
    status = clo_learned_init(&n->learned, &with, &sizes, bytes + at.learned);
    if (status == CLO_OK)
        n->work_parts = n->learned.model->header->feature_set == CLO_FEATURES_DECIMA_FINE ? CLO_WORK_PARTS : 1;
    for (uint32_t k = 0; k < limits->executors && status == CLO_OK; k++)
        n->learned.limit_inputs[k] = clo_learned_feature(&n->learned, FEATURE_WORK + n->work_parts + JOB_FEATURES, k);
    ((clo_decima *)state)->choose = choose;
    ((clo_decima *)state)->agent = n;
    return status;
}

/* The time of the last task of a stage. */
static void take_time(network *n, const clo_view *view, const clo_event *event)
{
    started *at = &n->started[event->executor];

    if (at->job == event->job && at->stage == event->stage)
        stages_of(clo_view_job(view, event->job)->state)[event->stage].last_ns = clo_view_now_ns(view) - at->at_ns;
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
        network_stage *stages = stages_of(live->state);
        for (uint32_t s = 0; s < live->cost->graph->tasks; s++)
            stages[s].last_ns = live->cost->mean_ns[s];
    }
}

const clo_policy clo_policy_decima = {
    .name = "decima",
    .summary = "Decima's published network, in integers, with executors bound to jobs; "
               "decima:[FILE][,sampled][,seed=N][,stages=N][,jobs=N]",
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
