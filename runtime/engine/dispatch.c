/* dispatch.c - the only caller of policies; also what they may see. A policy's answer is checked, never trusted. */
#include "engine/dispatch.h"

#include "base/carve.h"
#include "base/saturate.h"
#include "base/status.h"

#include <stdio.h>
#include <string.h>

enum { WAITING, READY, STARTED, FINISHED };

static bool knows(const clo_view *view, uint32_t instance)
{
    return view != NULL && instance < view->engine->program->instances;
}

static bool has_executor(const clo_view *view, uint32_t executor)
{
    return view != NULL && executor < view->engine->program->platform->executors_count;
}

const clo_graph *clo_view_graph(const clo_view *view)
{
    return view != NULL ? view->engine->program->graph : NULL;
}

const clo_cost *clo_view_cost(const clo_view *view)
{
    return view != NULL ? view->engine->program->cost : NULL;
}

int64_t clo_view_now_ns(const clo_view *view)
{
    return view != NULL ? view->now_ns : 0;
}

uint32_t clo_view_task(const clo_view *view, uint32_t instance)
{
    return knows(view, instance) ? clo_program_task(view->engine->program, instance) : CLO_NONE;
}

uint32_t clo_view_executor_of(const clo_view *view, uint32_t instance)
{
    return knows(view, instance) && view->state[instance] == FINISHED ? view->engine->ran_on[instance] : CLO_NONE;
}

int64_t clo_view_arrival_ns(const clo_view *view, uint32_t instance, uint32_t executor)
{
    if (!knows(view, instance) || !has_executor(view, executor))
        return CLO_TIME_NEVER;
    return clo_engine_arrival_ns(view->engine, instance, executor, view->now_ns);
}

int64_t clo_view_available_ns(const clo_view *view, uint32_t executor)
{
    if (!has_executor(view, executor))
        return CLO_TIME_NEVER;
    if (view->running[executor] == CLO_NONE || view->busy_until[executor] < view->now_ns)
        return view->now_ns;
    return view->busy_until[executor];
}

int64_t clo_view_execution_ns(const clo_view *view, uint32_t instance, uint32_t executor)
{
    if (!knows(view, instance))
        return CLO_TIME_NEVER;
    return clo_cost_execution_ns(view->engine->program->cost, clo_view_task(view, instance), executor);
}

uint32_t clo_view_ready_first(const clo_view *view)
{
    return view != NULL ? *view->ready_first : CLO_NONE;
}

uint32_t clo_view_ready_next(const clo_view *view, uint32_t instance)
{
    return knows(view, instance) ? view->ready_next[instance] : CLO_NONE;
}

bool clo_view_is_ready(const clo_view *view, uint32_t instance)
{
    return knows(view, instance) && view->state[instance] == READY;
}

bool clo_view_step(const clo_view *view)
{
    if (view == NULL || (view->steps_max != 0 && *view->steps >= view->steps_max))
        return false;
    ++*view->steps;
    return true;
}

clo_status clo_policy_instance_create(const clo_engine *engine, const clo_policy *policy, clo_arena *arena,
                                      clo_policy_instance *out)
{
    const clo_program *program = engine->program;
    size_t bytes = policy->state_bytes != NULL ? policy->state_bytes(program->graph, program->platform) : 0;
    void *state = clo_arena_take(arena, bytes, 1);

    if (state == NULL)
        return clo_fail_memory("the policy's state");
    *out = (clo_policy_instance){policy, state, bytes};
    return CLO_OK;
}

clo_status clo_dispatch_create(clo_engine *engine, const clo_policy *policy, uint32_t steps_max, clo_arena *arena,
                               clo_dispatch **out)
{
    const clo_program *program = engine->program;
    uint32_t executors = program->platform->executors_count;
    clo_dispatch *dispatch = NULL;
    uint32_t *running = NULL, *previous = NULL, *next = NULL;
    int64_t *busy_until = NULL;
    uint8_t *state = NULL;
    clo_block block = {0};

    clo_carve(&block, &dispatch, 1);
    clo_carve(&block, &running, executors);
    clo_carve(&block, &busy_until, executors);
    clo_carve(&block, &state, program->instances);
    clo_carve(&block, &previous, program->instances);
    clo_carve(&block, &next, program->instances);
    if (!clo_block_take(&block, arena))
        return clo_fail_memory("the policy's view");

    dispatch->previous = previous;
    dispatch->next = next;
    dispatch->view = (clo_view){
        .engine = engine,
        .running = running,
        .busy_until = busy_until,
        .state = state,
        .ready_first = &dispatch->ready_first,
        .ready_next = next,
        .steps = &dispatch->steps,
        .steps_max = steps_max,
    };
    clo_status status = clo_policy_instance_create(engine, policy, arena, &dispatch->instance);
    if (status == CLO_OK)
        *out = dispatch;
    return status;
}

/* Errors arise on a worker's thread; whoever waits for the job wants to read them. */
static void keep_error(clo_dispatch *dispatch, clo_status status)
{
    dispatch->status = status;
    snprintf(dispatch->error, sizeof dispatch->error, "%s", clo_last_error());
}

static void list_ready(clo_dispatch *dispatch, uint32_t execution)
{
    dispatch->next[execution] = CLO_NONE;
    dispatch->previous[execution] = dispatch->ready_last;
    if (dispatch->ready_last == CLO_NONE)
        dispatch->ready_first = execution;
    else
        dispatch->next[dispatch->ready_last] = execution;
    dispatch->ready_last = execution;
}

static void unlist_ready(clo_dispatch *dispatch, uint32_t execution)
{
    uint32_t previous = dispatch->previous[execution], next = dispatch->next[execution];

    if (previous == CLO_NONE)
        dispatch->ready_first = next;
    else
        dispatch->next[previous] = next;
    if (next == CLO_NONE)
        dispatch->ready_last = previous;
    else
        dispatch->previous[next] = previous;
}

static void show_ready(clo_dispatch *dispatch, uint32_t execution, uint32_t by)
{
    dispatch->view.state[execution] = READY;
    list_ready(dispatch, execution);
    dispatch->instance.policy->ready(dispatch->instance.state, &dispatch->view, execution, by);
}

static clo_status init_policy(const clo_view *view, const clo_policy_instance *instance)
{
    memset(instance->state, 0, instance->bytes);
    clo_status status = instance->policy->init == NULL ? CLO_OK : instance->policy->init(instance->state, view);
    return status == CLO_OK ? CLO_OK
                            : clo_fail(status, "the policy '%s' could not be initialised: %s",
                                       instance->policy->name != NULL ? instance->policy->name : "without a name",
                                       clo_status_text(status));
}

clo_status clo_dispatch_begin(clo_dispatch *dispatch)
{
    const clo_program *program = dispatch->view.engine->program;
    clo_view *view = &dispatch->view;

    memset(view->running, 0xff, program->platform->executors_count * sizeof(uint32_t));
    memset(view->state, WAITING, program->instances);
    view->now_ns = 0;
    dispatch->finished = dispatch->started = dispatch->next_executor = dispatch->most_steps = 0;
    dispatch->ready_first = dispatch->ready_last = CLO_NONE;
    dispatch->decisions = dispatch->fallbacks = 0;
    keep_error(dispatch, init_policy(view, &dispatch->instance));
    for (uint32_t i = 0; dispatch->status == CLO_OK && i < program->roots_count; i++)
        show_ready(dispatch, program->roots[i], CLO_NONE);
    return dispatch->status;
}

clo_status clo_dispatch_swap(clo_dispatch *dispatch, clo_policy_instance *instance, bool is_running)
{
    clo_policy_instance old = dispatch->instance;

    if (is_running) {
        clo_status status = init_policy(&dispatch->view, instance);
        if (status != CLO_OK)
            return status;
        for (uint32_t i = dispatch->ready_first; i != CLO_NONE; i = dispatch->next[i])
            instance->policy->ready(instance->state, &dispatch->view, i, CLO_NONE);
        dispatch->next_executor = 0; /* the new one may want what the old one did not */
    }
    dispatch->instance = *instance;
    *instance = old;
    return CLO_OK;
}

void clo_dispatch_finish(clo_dispatch *dispatch, uint32_t execution, uint32_t executor, int64_t finish_ns)
{
    clo_view *view = &dispatch->view;
    uint32_t released;

    if (finish_ns > view->now_ns)
        view->now_ns = finish_ns;
    view->running[executor] = CLO_NONE;
    view->state[execution] = FINISHED;
    dispatch->finished++;
    dispatch->next_executor = 0;
    clo_release release = clo_engine_release(view->engine, execution);
    while ((released = clo_engine_released(view->engine, &release)) != CLO_NONE)
        show_ready(dispatch, released, executor);
}

static void start(clo_dispatch *dispatch, uint32_t execution, uint32_t executor)
{
    clo_view *view = &dispatch->view;
    int64_t execution_ns = clo_view_execution_ns(view, execution, executor);

    unlist_ready(dispatch, execution);
    view->state[execution] = STARTED;
    view->running[executor] = execution;
    view->busy_until[executor] = clo_time_add(clo_view_arrival_ns(view, execution, executor), execution_ns);
    dispatch->started++;
    dispatch->decisions++;
}

static const char *policy_name(const clo_dispatch *dispatch)
{
    const char *name = dispatch->instance.policy->name;

    return name != NULL ? name : "?";
}

/* The bound is reached: the oldest ready instance that can run on `executor`, looking at no more than steps_max of
 * them, unless nothing runs and so nothing would ever change. */
static uint32_t fall_back(clo_dispatch *dispatch, uint32_t executor)
{
    const clo_view *view = &dispatch->view;
    uint32_t looks = view->steps_max, found = dispatch->ready_first;

    while (found != CLO_NONE && clo_view_execution_ns(view, found, executor) == CLO_TIME_NEVER)
        found = --looks > 0 || dispatch->started == dispatch->finished ? dispatch->next[found] : CLO_NONE;
    if (found != CLO_NONE) {
        if (dispatch->instance.policy->taken != NULL)
            dispatch->instance.policy->taken(dispatch->instance.state, view, found);
        dispatch->fallbacks++;
    }
    return found;
}

static uint32_t pick(clo_dispatch *dispatch, uint32_t executor)
{
    const clo_policy_instance *instance = &dispatch->instance;

    dispatch->steps = 0;
    uint32_t picked = instance->policy->pick(instance->state, &dispatch->view, executor);
    if (dispatch->steps > dispatch->most_steps)
        dispatch->most_steps = dispatch->steps;
    bool is_cut = dispatch->view.steps_max != 0 && dispatch->steps >= dispatch->view.steps_max;
    return picked == CLO_NONE && is_cut ? fall_back(dispatch, executor) : picked;
}

bool clo_dispatch_next(clo_dispatch *dispatch, uint32_t *execution, uint32_t *executor)
{
    clo_view *view = &dispatch->view;
    const clo_program *program = view->engine->program;

    for (; dispatch->status == CLO_OK && dispatch->next_executor < program->platform->executors_count;
         dispatch->next_executor++) {
        uint32_t e = dispatch->next_executor;
        if (view->running[e] != CLO_NONE)
            continue;
        uint32_t picked = pick(dispatch, e);
        if (picked == CLO_NONE)
            continue;
        if (picked >= program->instances || view->state[picked] != READY ||
            clo_view_execution_ns(view, picked, e) == CLO_TIME_NEVER) {
            keep_error(dispatch, clo_fail(CLO_ERR_STATE,
                                          "policy '%s' gave executor %u the instance %u, which is "
                                          "not ready or cannot run there",
                                          policy_name(dispatch), e, picked));
            return false;
        }
        start(dispatch, picked, e);
        *execution = picked;
        *executor = e;
        return true;
    }
    if (dispatch->status == CLO_OK && dispatch->started == dispatch->finished &&
        dispatch->finished < program->instances)
        keep_error(dispatch, clo_fail(CLO_ERR_STATE, "policy '%s' leaves every executor idle with %u instances to run",
                                      policy_name(dispatch), program->instances - dispatch->finished));
    return false;
}

bool clo_dispatch_is_over(const clo_dispatch *dispatch)
{
    return dispatch->started == dispatch->finished &&
           (dispatch->status != CLO_OK || dispatch->finished == dispatch->view.engine->program->instances);
}
