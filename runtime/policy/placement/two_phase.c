/* two_phase.c - see two_phase.h. */
#include "policy/placement/two_phase.h"

#include "base/status.h"
#include "policy/select/policies.h"

#include <assert.h>
#include <string.h>

static const clo_selector *const selectors[] = {
    &clo_selector_fifo,      &clo_selector_fair,     &clo_selector_wfair,     &clo_selector_sjf,
    &clo_selector_sjf_cp,    &clo_selector_hrrn,     &clo_selector_rank,      &clo_selector_capacity,
    &clo_selector_drf,       &clo_selector_edf,      &clo_selector_replan,    &clo_selector_decima,
    &clo_selector_task_fifo, &clo_selector_task_sjf, &clo_selector_task_hrrn, &clo_selector_mdd,
};
enum { SELECTORS = sizeof selectors / sizeof selectors[0] };

static const clo_selector *find(const char *name, size_t length)
{
    for (size_t i = 0; i < SELECTORS; i++)
        if (strncmp(selectors[i]->policy->name, name, length) == 0 && selectors[i]->policy->name[length] == '\0')
            return selectors[i];
    return NULL;
}

clo_status clo_two_phase_parse(const char *text, void *argument)
{
    size_t length = strcspn(text, ":");
    clo_two_phase phases = {.selector = find(text, length), .has_argument = text[length] == ':'};

    if (phases.selector == NULL)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "'%.40s' selects nothing; write fifo, fair, wfair, sjf, sjf-cp, hrrn, rank, capacity, drf, "
                        "edf, mdd, replan, decima, task-fifo, task-sjf or task-hrrn",
                        text);
    const clo_policy *policy = phases.selector->policy;
    if (phases.has_argument && policy->parse == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "the policy '%s' takes no argument; write it without '%.40s'", policy->name,
                        text + length);
    assert(policy->argument_bytes <= sizeof phases.argument);
    clo_status status = phases.has_argument ? policy->parse(text + length + 1, phases.argument) : CLO_OK;
    if (status == CLO_OK)
        *(clo_two_phase *)argument = phases;
    return status;
}

static const clo_policy *selection(const clo_two_phase *phases)
{
    return phases != NULL ? phases->selector->policy : NULL;
}

static const void *argument_of(const clo_two_phase *phases)
{
    return phases->has_argument ? phases->argument : NULL;
}

size_t clo_two_phase_bytes(const clo_limits *limits, const void *argument)
{
    const clo_policy *policy = selection(argument);

    return policy != NULL && policy->state_bytes != NULL ? policy->state_bytes(limits, argument_of(argument)) : 0;
}

size_t clo_two_phase_job_bytes(const clo_cost *cost, const void *argument)
{
    const clo_policy *policy = selection(argument);

    return policy != NULL && policy->job_bytes != NULL ? policy->job_bytes(cost, argument_of(argument)) : 0;
}

clo_status clo_two_phase_prepare(void *job_state, const clo_cost *cost, const void *argument)
{
    const clo_policy *policy = selection(argument);

    if (policy == NULL || policy->prepare == NULL)
        return CLO_OK;
    return policy->prepare(job_state, cost, argument_of(argument));
}

void clo_two_phase_release(const void *argument)
{
    const clo_policy *policy = selection(argument);

    if (policy != NULL && policy->release != NULL && ((const clo_two_phase *)argument)->has_argument)
        policy->release(argument_of(argument));
}

/* A selection never reads its argument from the view, whose argument is ours. */
clo_status clo_two_phase_init(void *state, const clo_view *view)
{
    const clo_two_phase *phases = clo_view_argument(view);
    const clo_policy *policy = selection(phases);

    if (phases != NULL && phases->selector->init != NULL)
        return phases->selector->init(state, view, argument_of(phases));
    return policy != NULL && policy->init != NULL ? policy->init(state, view) : CLO_OK;
}

void clo_two_phase_event(void *state, const clo_view *view, const clo_event *event)
{
    const clo_policy *policy = selection(clo_view_argument(view));

    if (policy != NULL && policy->event != NULL)
        policy->event(state, view, event);
}

static bool select_oldest(const clo_view *view, clo_choice *choice)
{
    for (clo_ready_stage at = clo_view_first_ready(view); at.job != CLO_NONE && clo_view_step(view);
         at = clo_view_next_ready(view, at)) {
        const clo_live_job *job = clo_view_job(view, at.job);
        if (job->running + job->committed >= job->limit)
            continue;
        *choice = (clo_choice){at.job, at.stage, 1, CLO_NONE, CLO_NONE, 0, 0};
        return true;
    }
    return false;
}

/* What waits for running predecessors would keep an executor idle meanwhile. */
static bool has_inputs(const clo_view *view, uint32_t job, uint32_t stage)
{
    return clo_view_stage(view, job, stage)->parents_left == 0;
}

bool clo_two_phase_choose(const clo_selector *selector, void *state, const clo_view *view, clo_placement place,
                          clo_choice *choice)
{
    if (clo_view_next_free(view, CLO_NONE) == CLO_NONE || !selector->select(state, view, has_inputs, choice))
        return false;
    choice->count = 1;
    place(view, choice);
    return true;
}

bool clo_two_phase_decide(void *state, const clo_view *view, clo_placement place, clo_choice *choice)
{
    const clo_two_phase *phases = clo_view_argument(view);

    if (phases != NULL)
        return clo_two_phase_choose(phases->selector, state, view, place, choice);
    if (!select_oldest(view, choice))
        return false;
    place(view, choice);
    return true;
}
