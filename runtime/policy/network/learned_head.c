/* learned_head.c - LACHESIS (sections 4.1 to 4.3): a network selects the next stage among those whose predecessors are
 * assigned; DEFT says where it runs. The bridge to learn/jobs/ready.h: events become changes of the candidates, and a
 * decision is one pass over them.
 *
 * Deviations from the paper: its definition 3 waits until predecessors have finished, while some executor is free;
 * placed so, jobs take a fifth longer than under DEFT alone, which looks ahead (bench/online). Embeddings are
 * computed once, when a job is made, not at each decision (they do not change: messages go from children to parents);
 * times are normalised in each job; the highest score is taken, or drawn.
 *
 * Candidates have room for stages_max stages. Where more are ready, the others wait outside, and the oldest of them
 * come in when half of the room is free. If all room is taken by other bands, the oldest stage of the band goes.
 * Choices made while stages of the band may wait outside are counted (clo_view_partial), each time that they are made:
 * one for which there is no room in a queue is made again. */
#include "policy/network/learned_head.h"

#include "base/memory.h"
#include "base/status.h"
#include "cost/features.h"
#include "graph/graph.h"
#include "learn/infer/draw.h"
#include "learn/model/builtin.h"
#include "policy/network/learned.h"
#include "policy/placement/two_phase.h"
#include "policy/select/policies.h"

#include <assert.h>

enum { CANDIDATES_DEFAULT = 1024, ROOM_BYTES = 8192 };

/* State and jobs begin at a multiple of a cache line. */
static void *aligned(void *memory)
{
    uintptr_t at = (uintptr_t)memory, rest = at % CLO_CACHE_LINE_BYTES;

    return (char *)memory + (rest > 0 ? CLO_CACHE_LINE_BYTES - rest : 0);
}

clo_learned_head *clo_learned_head_of(void *state)
{
    return aligned(state);
}

clo_head_job *clo_learned_head_job(void *job_state)
{
    return aligned(job_state);
}

static size_t whole_lines(size_t bytes)
{
    return (bytes + CLO_CACHE_LINE_BYTES - 1) / CLO_CACHE_LINE_BYTES * CLO_CACHE_LINE_BYTES;
}

static size_t own_bytes(void)
{
    return whole_lines(sizeof(clo_learned_head));
}

/* For the built-in model; a model of the argument leaves it empty. */
static size_t room_bytes(void)
{
    return whole_lines(clo_builtin_model_bytes(&clo_builtin_lachesis));
}

/* What an argument says, and the head of its model. The head of the built-in model points into the room for it. */
typedef struct reading {
    clo_learned_argument with;
    clo_head head;
} reading;

static clo_status read_argument(const void *argument, uint32_t isa, void *room, reading *out)
{
    out->with = (clo_learned_argument)CLO_LEARNED_ARGUMENT_INIT;
    clo_status status = clo_config_read(&out->with, sizeof out->with, argument, "clo_learned_argument");
    if (status != CLO_OK)
        return status;
    if (out->with.stages_max > CLO_LEARNED_ROWS_MAX)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_learned_argument: stages_max is %u; at most %d", out->with.stages_max,
                        CLO_LEARNED_ROWS_MAX);
    if (out->with.jobs_max != 0 || out->with.watch != NULL || out->with.choose != NULL)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "policy 'lachesis' looks at all jobs, and tells nobody; leave jobs_max, watch and choose out");
    out->with.stages_max = out->with.stages_max > 0 ? out->with.stages_max : CANDIDATES_DEFAULT;
    if (out->with.model == NULL)
        status = clo_builtin_model_open(&clo_builtin_lachesis, room, &out->with.model);
    return status == CLO_OK ? clo_head_open(out->with.model, isa, &out->head) : status;
}

/* Where nothing is kept. */
typedef struct brief_reading {
    reading read;
    _Alignas(16) unsigned char room[ROOM_BYTES];
} brief_reading;

static clo_status read_briefly(const void *argument, uint32_t isa, brief_reading *out)
{
    assert(room_bytes() <= sizeof out->room);
    return read_argument(argument, isa, out->room, &out->read);
}

/* 0 where the argument is wrong: init will say so. */
static size_t head_state_bytes(const clo_limits *limits, const void *argument)
{
    brief_reading r;

    if (read_briefly(argument, 0, &r) != CLO_OK || limits->jobs == 0)
        return 0;
    size_t bytes = clo_scored_bytes(&r.read.head, r.read.with.stages_max, limits->jobs);
    size_t own = own_bytes() + room_bytes() + CLO_CACHE_LINE_BYTES;
    return bytes == 0 || bytes > SIZE_MAX - own ? SIZE_MAX : bytes + own;
}

static size_t head_job_bytes(const clo_cost *cost, const void *argument)
{
    brief_reading r;

    if (read_briefly(argument, 0, &r) != CLO_OK)
        return 0;
    return clo_head_job_bytes(&r.read.head, clo_graph_tasks(clo_cost_graph(cost))) + CLO_CACHE_LINE_BYTES;
}

static clo_status head_prepare(void *job_state, const clo_cost *cost, const void *argument)
{
    const clo_graph *graph = clo_cost_graph(cost);
    brief_reading r;
    clo_status status = read_briefly(argument, clo_cpu_isa(), &r);

    if (status == CLO_OK && graph->tasks > CLO_HEAD_STAGES_MAX)
        status = clo_fail(CLO_ERR_LIMIT, "policy 'lachesis': the graph has %u stages; its sums hold %d", graph->tasks,
                          CLO_HEAD_STAGES_MAX);
    if (status != CLO_OK)
        return status;
    clo_head_job *job = clo_head_job_open(&r.read.head, graph->tasks, aligned(job_state));
    const clo_stage_figures figures = clo_head_job_figures(&r.read.head, job);
    clo_cost_figures(cost, figures.time_ns, figures.children);
    job->clamped = clo_features_stages(&figures, graph->tasks, &job->scale, job->features);
    const clo_head_graph edges = {graph->tasks, graph->task_order, graph->out_first, graph->out};
    clo_head_job_prepare(&r.read.head, job, &edges);
    return CLO_OK;
}

static clo_status head_init(void *state, const clo_view *view)
{
    const clo_limits *limits = clo_view_limits(view);
    clo_learned_head *h = aligned(state);
    char *room = (char *)h + own_bytes();
    reading r;
    clo_status status = read_argument(clo_view_argument(view), clo_cpu_isa(), room, &r);

    if (status == CLO_OK && (limits->jobs == 0 || limits->jobs > CLO_HEAD_JOBS_MAX))
        status = clo_fail(CLO_ERR_LIMIT, "policy 'lachesis': %u jobs may live at once; its sums hold 1 to %d",
                          limits->jobs, CLO_HEAD_JOBS_MAX);
    if (status != CLO_OK)
        return status;
    *h = (clo_learned_head){.head = r.head};
    clo_scored_open(&h->set, &h->head, r.with.stages_max, limits->jobs, room + room_bytes());
    h->set.seed = r.with.seed;
    return r.with.is_sampled != 0 ? clo_draw_scale(r.with.model, r.with.model->header->score, &h->set.drawn_scale)
                                  : CLO_OK;
}

static clo_job_figures figures_of(const clo_view *view, const clo_live_job *live, const clo_head_job *job)
{
    return (clo_job_figures){.scale = job->scale,
                             .executors_used = live->running + live->committed,
                             .executors = clo_view_limits(view)->executors,
                             .tasks_left = live->unfinished,
                             .work_left_ns = live->remaining_ns};
}

static bool is_open(const clo_live_job *live)
{
    return live->running + live->committed < live->limit;
}

/* Also one that has begun before the policy came. */
static void arrive(clo_learned_head *h, const clo_view *view, uint32_t slot)
{
    const clo_live_job *live = clo_view_job(view, slot);
    clo_head_job *job = aligned(live->state);
    const clo_scored_job row = {.job = job,
                                .id = (uint32_t)live->id,
                                .band = (uint8_t)live->band,
                                .is_open = is_open(live),
                                .figures = figures_of(view, live, job)};

    clo_scored_arrive(&h->set, slot, &row);
    for (uint32_t s = 0; s < job->stages; s++)
        if (clo_view_stage(view, slot, s)->unfinished == 0)
            clo_scored_done(&h->set, slot, s);
}

static void change(clo_learned_head *h, const clo_view *view, const clo_event *event)
{
    const clo_live_job *live = clo_view_job(view, event->job);
    const clo_live_stage *stage = clo_view_stage(view, event->job, event->stage);
    const clo_job_figures figures = figures_of(view, live, h->set.jobs[event->job].job);

    clo_scored_changed(&h->set, event->job, &figures, is_open(live));
    if (stage == NULL)
        return;
    if (stage->unfinished == 0)
        clo_scored_done(&h->set, event->job, event->stage);
    else if (stage->unstarted == 0)
        clo_scored_remove(&h->set, event->job, event->stage);
}

static void head_event(void *state, const clo_view *view, const clo_event *event)
{
    clo_learned_head *h = aligned(state);

    if (event->kind == CLO_EVENT_ARRIVE) {
        arrive(h, view, event->job);
        return;
    }
    if (event->job == CLO_NONE || h->set.jobs[event->job].job == NULL)
        return;
    switch (event->kind) {
    case CLO_EVENT_READY:
        if (!clo_scored_add(&h->set, event->job, event->stage))
            h->is_short[h->set.jobs[event->job].band] = true;
        break;
    case CLO_EVENT_START:
    case CLO_EVENT_FINISH:
        change(h, view, event);
        break;
    case CLO_EVENT_CANCEL:
        clo_scored_remove_all(&h->set, event->job);
        change(h, view, event);
        break;
    case CLO_EVENT_END:
        clo_scored_leave(&h->set, event->job);
        break;
    case CLO_EVENT_ARRIVE:
    case CLO_EVENT_TIMER:
    case CLO_EVENT_CAPACITY:
    case CLO_EVENT_MOVED:
        break;
    }
}

/* Takes in the oldest ready stages that wait outside. */
static void refill(clo_learned_head *h, const clo_view *view)
{
    uint32_t band = clo_view_band(view);

    if (!h->is_short[band] || (h->set.count > h->set.capacity / 2 && h->set.count_of_band[band] > 0))
        return;
    clo_ready_stage at = clo_view_first_ready(view);
    while (at.job != CLO_NONE && clo_view_step(view) && clo_scored_add(&h->set, at.job, at.stage))
        at = clo_view_next_ready(view, at);
    h->is_short[band] = at.job != CLO_NONE;
}

static bool choose_oldest(const clo_view *view, clo_choice *choice)
{
    for (clo_ready_stage at = clo_view_first_ready(view); at.job != CLO_NONE && clo_view_step(view);
         at = clo_view_next_ready(view, at))
        if (is_open(clo_view_job(view, at.job))) {
            choice->job = at.job;
            choice->stage = at.stage;
            return true;
        }
    return false;
}

static bool choose(clo_learned_head *h, const clo_view *view, clo_choice *choice)
{
    clo_system_figures system = {.jobs = h->set.jobs_count, .executors = clo_view_limits(view)->executors};

    for (uint32_t e = CLO_NONE; (e = clo_view_next_free(view, e)) != CLO_NONE;)
        system.executors_free++;
    refill(h, view);
    if (!clo_view_steps(view, clo_scored_steps(&h->set) + system.executors))
        return false;
    clo_scored_score(&h->set, &system);
    uint32_t best = clo_scored_best(&h->set, clo_view_band(view));
    bool is_short = h->is_short[clo_view_band(view)];
    if (best == CLO_SCORED_NONE && !(is_short && choose_oldest(view, choice)))
        return false;
    if (is_short)
        clo_view_partial(view);
    if (best == CLO_SCORED_NONE)
        return true;
    choice->job = h->set.candidates[best].slot;
    choice->stage = h->set.candidates[best].stage;
    return true;
}

static bool head_decide(void *state, const clo_view *view, clo_choice *choice)
{
    if (!choose(aligned(state), view, choice))
        return false;
    choice->count = 1;
    clo_place_by_deft(view, choice);
    return true;
}

static clo_status head_parse(const char *text, void *argument)
{
    return clo_learned_read_text("lachesis", text, argument);
}

const clo_policy clo_policy_lachesis = {
    .size = sizeof(clo_policy),
    .name = "lachesis",
    .summary = "a network selects among ready stages (LACHESIS), DEFT places; "
               "lachesis:[FILE][,sampled][,seed=N][,stages=N]",
    .readiness = CLO_READY_ASSIGNED,
    .commits = 1,
    .state_bytes = head_state_bytes,
    .job_bytes = head_job_bytes,
    .prepare = head_prepare,
    .init = head_init,
    .event = head_event,
    .decide = head_decide,
    .argument_bytes = sizeof(clo_learned_argument),
    .parse = head_parse,
    .release = clo_learned_release,
};
