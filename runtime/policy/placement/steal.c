/* steal.c - work stealing as a policy, so that greedy dispatch can be simulated: what an executor releases goes to
 * the bottom of its own list, it takes from the bottom, an idle one takes from the top of the next list that has
 * something for it (Blumofe and Leiserson 1999, with victims in cyclic order in place of random ones). What nobody has
 * released is dealt round. The lists are doubly linked through the jobs' states, so that what an executor cannot run is
 * passed over; a stage stays in its list until its last instance is taken. */
#include "policy/select/policies.h"
#include "policy/select/select.h"

#include "graph/graph.h"

#include <string.h>

typedef struct steal_list {
    clo_ready_stage top, bottom;
} steal_list;

typedef struct steal {
    uint32_t executors, next;
    uint32_t listed[CLO_BANDS_MAX]; /* in all lists of the band */
    steal_list lists[];             /* [bands * executors] */
} steal;

/* Of each stage. */
typedef struct steal_node {
    clo_ready_stage above, below;
    uint64_t job;  /* 1 + the number of the job's run that `home` is of: an earlier one leaves it as it was */
    uint32_t home; /* whose list it is in; CLO_NONE: none */
} steal_node;

static const clo_ready_stage none = {CLO_NONE, CLO_NONE};

static size_t steal_bytes(const clo_limits *limits, const void *argument)
{
    (void)argument;
    return sizeof(steal) + (size_t)CLO_BANDS_MAX * limits->executors * sizeof(steal_list);
}

static size_t steal_job_bytes(const clo_cost *cost, const void *argument)
{
    (void)argument;
    return clo_cost_graph(cost)->tasks * sizeof(steal_node);
}

static clo_status steal_init(void *state, const clo_view *view)
{
    steal *s = state;

    s->executors = clo_view_limits(view)->executors;
    memset(s->listed, 0, sizeof s->listed);
    for (uint32_t i = 0; i < CLO_BANDS_MAX * s->executors; i++)
        s->lists[i] = (steal_list){none, none};
    return CLO_OK;
}

static steal_node *node_of(const clo_view *view, clo_ready_stage ready)
{
    return (steal_node *)clo_view_job(view, ready.job)->state + ready.stage;
}

static void append(steal *s, const clo_view *view, clo_ready_stage ready, uint32_t by)
{
    const clo_live_job *job = clo_view_job(view, ready.job);
    uint32_t home = job->band * s->executors + by;
    steal_list *list = &s->lists[home];

    *node_of(view, ready) = (steal_node){list->bottom, none, job->id + 1, home};
    if (list->bottom.job == CLO_NONE)
        list->top = ready;
    else
        node_of(view, list->bottom)->below = ready;
    list->bottom = ready;
    s->listed[job->band]++;
}

static void take_out(steal *s, const clo_view *view, clo_ready_stage ready)
{
    steal_node *node = node_of(view, ready);

    if (node->home == CLO_NONE || node->job != clo_view_job(view, ready.job)->id + 1)
        return;
    steal_list *list = &s->lists[node->home];
    s->listed[node->home / s->executors]--;
    node->home = CLO_NONE;
    if (node->above.job == CLO_NONE)
        list->top = node->below;
    else
        node_of(view, node->above)->below = node->below;
    if (node->below.job == CLO_NONE)
        list->bottom = node->above;
    else
        node_of(view, node->below)->above = node->above;
}

static void steal_event(void *state, const clo_view *view, const clo_event *event)
{
    steal *s = state;
    clo_ready_stage ready = {event->job, event->stage};

    if (event->kind == CLO_EVENT_READY) {
        append(s, view, ready, event->executor != CLO_NONE ? event->executor : s->next++ % s->executors);
    } else if (event->kind == CLO_EVENT_START && clo_view_stage(view, event->job, event->stage)->unstarted == 0) {
        take_out(s, view, ready);
    } else if (event->kind == CLO_EVENT_ARRIVE && clo_view_jobs(view) == 1) {
        s->next = 0; /* a job alone is served alike, whatever came before it */
    } else if (event->kind == CLO_EVENT_CANCEL) {
        uint32_t tasks = clo_cost_graph(clo_view_job(view, event->job)->cost)->tasks;
        (void)clo_view_steps(view, tasks); /* counted: this turn costs as many */
        for (ready.stage = 0; ready.stage < tasks; ready.stage++)
            take_out(s, view, ready);
    }
}

/* Nothing that the band's lists hold can start, as is known without a look at each (select/select.h). Not asked before
 * there were as many looks as there are jobs. */
static bool is_unfit(const steal *s, const clo_view *view, uint32_t looks)
{
    uint32_t unfit = 0;

    if ((looks & (looks - 1)) != 0 || looks < clo_view_jobs(view) / 2)
        return false;
    for (uint32_t job = clo_view_first_job(view); job != CLO_NONE; job = clo_view_job(view, job)->next)
        if (clo_view_job(view, job)->band == clo_view_band(view))
            unfit += clo_select_unfit(view, job, clo_select_startable, looks);
    return unfit == s->listed[clo_view_band(view)];
}

/* The next one of a list, seen by its owner or by another one. */
static clo_ready_stage behind(const clo_view *view, clo_ready_stage at, bool is_own)
{
    return is_own ? node_of(view, at)->above : node_of(view, at)->below;
}

/* What `executor` takes of the lists of the band; job CLO_NONE: nothing. */
static clo_ready_stage pick(const steal *s, const clo_view *view, uint32_t executor, bool *is_cut)
{
    uint32_t band = clo_view_band(view), looks = 0;

    for (uint32_t i = 0; i < s->executors; i++) { /* own: newest first, others: oldest first */
        const steal_list *list = &s->lists[band * s->executors + (executor + i) % s->executors];
        for (clo_ready_stage at = i == 0 ? list->bottom : list->top; at.job != CLO_NONE;
             at = behind(view, at, i == 0)) {
            bool is_over = is_unfit(s, view, looks);
            *is_cut = !clo_view_steps(view, is_over ? s->listed[band] - looks : 1);
            if (is_over || *is_cut)
                return none;
            looks++;
            const clo_live_job *job = clo_view_job(view, at.job);
            if (job->running + job->committed < job->limit &&
                clo_view_execution_ns(view, at.job, at.stage, executor) != CLO_TIME_NEVER &&
                clo_view_fits(view, at.job, at.stage, executor))
                return at;
        }
    }
    return none;
}

static bool steal_decide(void *state, const clo_view *view, clo_choice *choice)
{
    bool is_cut = false;

    for (uint32_t e = clo_view_next_free(view, CLO_NONE); e != CLO_NONE && !is_cut; e = clo_view_next_free(view, e)) {
        clo_ready_stage picked = pick(state, view, e, &is_cut);
        if (picked.job == CLO_NONE)
            continue;
        *choice = (clo_choice){picked.job, picked.stage, 1, e, CLO_NONE, 0, 0};
        return true;
    }
    return false;
}

const clo_policy clo_policy_steal = {
    .size = sizeof(clo_policy),
    .name = "steal",
    .summary = "greedy work stealing: own newest first, else another's oldest",
    .state_bytes = steal_bytes,
    .job_bytes = steal_job_bytes,
    .init = steal_init,
    .event = steal_event,
    .decide = steal_decide,
};
