/* decima_selector.c - Decima's network as a selection: "deft:decima" is Decima-DEFT, the learned baseline of LACHESIS's
 * figures; "eft:decima" places by earliest finish. Argument: as that of the policy "decima" (the model of which is the
 * built-in one here, too).
 *
 * The network says which stage comes next; its limits are not asked, because one instance is placed at a time.
 * Executors belong to no job here, so they are shown as those of Decima's common pool: they come from none of the jobs,
 * and a job may get as many as have nothing to do. A job has what runs, or waits in a queue, of it. The time of a task is
 * the estimate: what has ended first in a queue began at a time that nobody is told. */
#include "policy/decima/decima_case.h"
#include "policy/select/policies.h"

#include "base/memory.h"
#include "cost/cost.h"

typedef struct selecting {
    clo_decima_case sees;
    uint32_t executors, idle;
} selecting;

static size_t case_at(void)
{
    return (sizeof(selecting) + CLO_CACHE_LINE_BYTES - 1) / CLO_CACHE_LINE_BYTES * CLO_CACHE_LINE_BYTES;
}

static size_t state_bytes(const clo_limits *limits, const void *argument)
{
    clo_learned_argument with;

    if (clo_learned_read(argument, limits, &with) != CLO_OK)
        return sizeof(selecting); /* init will say so */
    return CLO_CACHE_LINE_BYTES + case_at() + clo_decima_case_bytes(limits, &with);
}

/* The state begins at a multiple of a cache line. */
static selecting *state_of(void *state)
{
    uintptr_t rest = (uintptr_t)state % CLO_CACHE_LINE_BYTES;

    return (selecting *)(void *)((char *)state + (rest > 0 ? CLO_CACHE_LINE_BYTES - rest : 0));
}

static size_t job_bytes(const clo_cost *cost, const void *argument)
{
    (void)argument;
    return cost->graph->tasks * sizeof(uint32_t);
}

static uint32_t *rows_of(const clo_live_job *live)
{
    return live->state;
}

static void tell_job(const void *context, uint32_t slot, const clo_live_job *live, int64_t raw[CLO_CASE_JOB_FEATURES])
{
    const selecting *s = context;
    uint32_t has = live->running + live->committed, gap = has < s->executors ? s->executors - has : 0;

    (void)slot;
    raw[CLO_CASE_CAP] = gap < s->idle ? gap : s->idle;
    raw[CLO_CASE_OWN] = -1;
    raw[CLO_CASE_EXECUTORS] = has;
}

static uint32_t tell_stage(const clo_view *view, uint32_t slot, uint32_t stage, int64_t *time_ns)
{
    *time_ns = clo_view_job(view, slot)->cost->mean_ns[stage];
    return clo_view_stage(view, slot, stage)->unstarted;
}

static const clo_decima_facts facts = {rows_of, tell_job, tell_stage};

static clo_status init(void *state, const clo_view *view, const void *argument)
{
    const clo_limits *limits = clo_view_limits(view);
    selecting *s = state_of(state);
    clo_learned_argument with;
    clo_status status = clo_learned_read(argument, limits, &with);

    if (status != CLO_OK)
        return status;
    s->executors = limits->executors;
    return clo_decima_case_init(&s->sees, limits, &with, &facts, (char *)s + case_at());
}

static bool may_be_chosen(const clo_view *view, uint32_t slot, uint32_t stage, clo_may_select may)
{
    const clo_live_job *live = clo_view_job(view, slot);

    return live->band == clo_view_band(view) && live->running + live->committed < live->limit && may(view, slot, stage);
}

/* Ready stages that were seen; a stage that is not ready has a predecessor that is not finished. */
static uint32_t find_candidates(selecting *s, const clo_view *view, clo_may_select may)
{
    clo_decima_case *c = &s->sees;
    uint32_t count = 0;

    for (uint32_t j = 0; j < c->seen.jobs; j++) {
        const clo_live_job *live = clo_view_job(view, c->slots[j]);
        for (uint32_t stage = live->first_ready; stage != CLO_NONE;
             stage = clo_view_stage(view, c->slots[j], stage)->next_ready)
            if (may_be_chosen(view, c->slots[j], stage, may))
                clo_decima_case_offer(c, count++, rows_of(live)[stage]);
    }
    return count;
}

/* Where nothing that was seen can be chosen, or nothing was: the oldest that can. */
static bool select_oldest(const clo_view *view, clo_may_select may, clo_choice *choice)
{
    for (clo_ready_stage at = clo_view_first_ready(view); at.job != CLO_NONE && clo_view_step(view);
         at = clo_view_next_ready(view, at)) {
        if (!may_be_chosen(view, at.job, at.stage, may))
            continue;
        *choice = (clo_choice){at.job, at.stage, UINT32_MAX, CLO_NONE, CLO_NONE, 0, 0};
        return true;
    }
    return false;
}

/* Whether it is worth a pass of the network. */
static bool has_some(const clo_view *view, clo_may_select may)
{
    clo_choice choice;

    return select_oldest(view, may, &choice);
}

static bool select_by_network(void *state, const clo_view *view, clo_may_select may, clo_choice *choice)
{
    selecting *s = state_of(state);
    clo_decima_case *c = &s->sees;

    s->idle = 0;
    for (uint32_t e = CLO_NONE; (e = clo_view_next_free(view, e)) != CLO_NONE;)
        s->idle++;
    if (!has_some(view, may) || !clo_view_steps(view, s->executors) || !clo_decima_case_look(c, view, s))
        return false;
    uint32_t count = find_candidates(s, view, may);
    if (count == 0)
        return select_oldest(view, may, choice);
    uint32_t best = clo_learned_stage(&c->learned, view, &c->seen, count);
    if (best == CLO_NONE)
        return false;
    uint32_t row = c->learned.candidates[best];
    *choice = (clo_choice){c->slots[c->job_of_stage[row]], c->stage_of_row[row], UINT32_MAX, CLO_NONE, CLO_NONE, 0, 0};
    return true;
}

/* What a selection has of a policy. */
static const clo_policy selecting_policy = {
    .size = sizeof(clo_policy),
    .name = "decima",
    .summary = "the selection of decima",
    .state_bytes = state_bytes,
    .job_bytes = job_bytes,
    .argument_bytes = sizeof(clo_learned_argument),
    .parse = clo_learned_parse,
    .release = clo_learned_release,
};

const clo_selector clo_selector_decima = {&selecting_policy, select_by_network, init};
