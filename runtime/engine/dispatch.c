/* dispatch.c - the only caller of policies; also what they may see. A policy's answer is checked, never trusted. */
#include "engine/dispatch.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdio.h>
#include <string.h>

enum { WAITING, READY, STARTED, FINISHED };

const clo_graph *clo_view_graph(const clo_view *view)
{
    return view->engine->program->graph;
}

const clo_cost *clo_view_cost(const clo_view *view)
{
    return view->engine->program->cost;
}

int64_t clo_view_now_ns(const clo_view *view)
{
    return view->now_ns;
}

uint32_t clo_view_task(const clo_view *view, uint32_t instance)
{
    return clo_program_task(view->engine->program, instance);
}

uint32_t clo_view_executor_of(const clo_view *view, uint32_t instance)
{
    return view->state[instance] == FINISHED ? view->engine->ran_on[instance] : CLO_NONE;
}

int64_t clo_view_arrival_ns(const clo_view *view, uint32_t instance, uint32_t executor)
{
    return clo_engine_arrival_ns(view->engine, instance, executor, view->now_ns);
}

int64_t clo_view_available_ns(const clo_view *view, uint32_t executor)
{
    if (view->running[executor] == CLO_NONE || view->busy_until[executor] < view->now_ns)
        return view->now_ns;
    return view->busy_until[executor];
}

int64_t clo_view_execution_ns(const clo_view *view, uint32_t instance, uint32_t executor)
{
    return clo_cost_execution_ns(view->engine->program->cost, clo_view_task(view, instance), executor);
}

clo_status clo_dispatch_create(clo_engine *engine, const clo_policy *policy, clo_dispatch **out)
{
    const clo_program *program = engine->program;
    uint32_t executors = program->platform->executors_count;
    size_t policy_bytes = policy->state_bytes != NULL ? policy->state_bytes(program->graph, program->platform) : 0;
    clo_layout layout = {0};

    size_t at_dispatch = clo_layout_add(&layout, 1, sizeof(clo_dispatch));
    size_t at_running = clo_layout_add(&layout, executors, sizeof(uint32_t));
    size_t at_busy = clo_layout_add(&layout, executors, sizeof(int64_t));
    size_t at_state = clo_layout_add(&layout, program->instances, 1);
    size_t at_policy = clo_layout_add(&layout, policy_bytes, 1);
    char *block = layout.overflow ? NULL : clo_allocate_aligned(layout.bytes, 1);
    if (block == NULL)
        return clo_fail_memory("the policy's state");

    clo_dispatch *dispatch = (clo_dispatch *)(void *)(block + at_dispatch);
    dispatch->block = block;
    dispatch->policy = policy;
    dispatch->policy_state = block + at_policy;
    dispatch->policy_bytes = policy_bytes;
    dispatch->view = (clo_view){
        .engine = engine,
        .running = (uint32_t *)(void *)(block + at_running),
        .busy_until = (int64_t *)(void *)(block + at_busy),
        .state = (uint8_t *)(block + at_state),
    };
    *out = dispatch;
    return CLO_OK;
}

void clo_dispatch_destroy(clo_dispatch *dispatch)
{
    if (dispatch != NULL)
        clo_free(dispatch->block);
}

/* Errors arise on a worker's thread; whoever waits for the job wants to read them. */
static void keep_error(clo_dispatch *dispatch, clo_status status)
{
    dispatch->status = status;
    snprintf(dispatch->error, sizeof dispatch->error, "%s", clo_last_error());
}

static void show_ready(clo_dispatch *dispatch, uint32_t entry, uint32_t by)
{
    dispatch->view.state[entry] = READY;
    dispatch->policy->ready(dispatch->policy_state, &dispatch->view, entry, by);
}

clo_status clo_dispatch_begin(clo_dispatch *dispatch)
{
    const clo_program *program = dispatch->view.engine->program;
    clo_view *view = &dispatch->view;

    memset(view->running, 0xff, program->platform->executors_count * sizeof(uint32_t));
    memset(view->state, WAITING, program->instances);
    memset(dispatch->policy_state, 0, dispatch->policy_bytes);
    view->now_ns = 0;
    dispatch->finished = dispatch->started = dispatch->next_executor = 0;
    dispatch->decisions = 0;
    dispatch->status = CLO_OK;
    if (dispatch->policy->init != NULL)
        keep_error(dispatch, dispatch->policy->init(dispatch->policy_state, view));
    for (uint32_t entry = 0; dispatch->status == CLO_OK && entry < program->instances; entry++)
        if (clo_program_needs(program, entry) == 0)
            show_ready(dispatch, entry, CLO_NONE);
    return dispatch->status;
}

void clo_dispatch_finish(clo_dispatch *dispatch, uint32_t entry, uint32_t executor, int64_t finish_ns)
{
    clo_view *view = &dispatch->view;
    const clo_program *program = view->engine->program;
    uint32_t first = program->succ_first[entry], cursor = 0, released;

    if (finish_ns > view->now_ns)
        view->now_ns = finish_ns;
    view->running[executor] = CLO_NONE;
    view->state[entry] = FINISHED;
    dispatch->finished++;
    dispatch->next_executor = 0;
    while ((released = clo_engine_released(view->engine, &program->succ[first], program->succ_first[entry + 1] - first,
                                           &cursor)) != CLO_NONE)
        show_ready(dispatch, released, executor);
}

static void start(clo_dispatch *dispatch, uint32_t entry, uint32_t executor)
{
    clo_view *view = &dispatch->view;
    int64_t execution_ns = clo_view_execution_ns(view, entry, executor);

    view->state[entry] = STARTED;
    view->running[executor] = entry;
    view->busy_until[executor] = clo_view_arrival_ns(view, entry, executor) + execution_ns;
    dispatch->started++;
    dispatch->decisions++;
}

bool clo_dispatch_next(clo_dispatch *dispatch, uint32_t *entry, uint32_t *executor)
{
    clo_view *view = &dispatch->view;
    const clo_program *program = view->engine->program;

    for (; dispatch->status == CLO_OK && dispatch->next_executor < program->platform->executors_count;
         dispatch->next_executor++) {
        uint32_t e = dispatch->next_executor;
        if (view->running[e] != CLO_NONE)
            continue;
        uint32_t picked = dispatch->policy->pick(dispatch->policy_state, view, e);
        if (picked == CLO_NONE)
            continue;
        if (picked >= program->instances || view->state[picked] != READY ||
            clo_view_execution_ns(view, picked, e) == CLO_TIME_NEVER) {
            keep_error(dispatch, clo_fail(CLO_ERR_STATE,
                                          "policy '%s' gave executor %u the instance %u, which is "
                                          "not ready or cannot run there",
                                          dispatch->policy->name, e, picked));
            return false;
        }
        start(dispatch, picked, e);
        *entry = picked;
        *executor = e;
        return true;
    }
    if (dispatch->status == CLO_OK && dispatch->started == dispatch->finished &&
        dispatch->finished < program->instances)
        keep_error(dispatch, clo_fail(CLO_ERR_STATE, "policy '%s' leaves every executor idle with %u instances to run",
                                      dispatch->policy->name, program->instances - dispatch->finished));
    return false;
}

bool clo_dispatch_is_over(const clo_dispatch *dispatch)
{
    return dispatch->started == dispatch->finished &&
           (dispatch->status != CLO_OK || dispatch->finished == dispatch->view.engine->program->instances);
}
