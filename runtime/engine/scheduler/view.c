/* view.c - what a policy may read. */
#include "engine/scheduler/reservation.h"
#include "engine/state/scheduler_state.h"

#include "base/numbers/saturate.h"

const clo_limits *clo_view_limits(const clo_view *view)
{
    return view != NULL ? &view->limits : NULL;
}

const void *clo_view_argument(const clo_view *view)
{
    return view != NULL ? view->use.argument : NULL;
}

int64_t clo_view_now_ns(const clo_view *view)
{
    return view != NULL ? view->now_ns : 0;
}

uint32_t clo_view_band(const clo_view *view)
{
    return view != NULL ? view->band : 0;
}

uint32_t clo_view_jobs(const clo_view *view)
{
    return view != NULL ? view->live_count : 0;
}

uint32_t clo_view_first_job(const clo_view *view)
{
    return view != NULL ? view->first_job : CLO_NONE;
}

const clo_live_job *clo_view_job(const clo_view *view, uint32_t job)
{
    const clo_scheduler_job *live = clo_view_live(view, job);

    return live != NULL ? &live->live : NULL;
}

/* NULL: there is no such stage. */
static const clo_scheduler_job *job_of(const clo_view *view, uint32_t job, uint32_t stage)
{
    const clo_scheduler_job *live = clo_view_live(view, job);

    return live != NULL && stage < live->tasks ? live : NULL;
}

const clo_live_stage *clo_view_stage(const clo_view *view, uint32_t job, uint32_t stage)
{
    const clo_scheduler_job *live = job_of(view, job, stage);

    return live != NULL ? &live->stages[stage].live : NULL;
}

static bool has_executor(const clo_view *view, uint32_t executor)
{
    return view != NULL && executor < view->limits.executors;
}

const clo_live_executor *clo_view_executor(const clo_view *view, uint32_t executor)
{
    return has_executor(view, executor) ? &view->executors[executor] : NULL;
}

uint32_t clo_view_next_free(const clo_view *view, uint32_t after)
{
    return view != NULL ? clo_start_next_free(view, after) : CLO_NONE;
}

clo_ready_stage clo_view_first_ready(const clo_view *view)
{
    return view != NULL ? view->first[view->band] : (clo_ready_stage){CLO_NONE, CLO_NONE};
}

clo_ready_stage clo_view_next_ready(const clo_view *view, clo_ready_stage ready)
{
    const clo_scheduler_job *live = job_of(view, ready.job, ready.stage);

    return live != NULL ? live->stages[ready.stage].next : (clo_ready_stage){CLO_NONE, CLO_NONE};
}

int64_t clo_view_arrival_ns(const clo_view *view, uint32_t job, uint32_t stage, uint32_t executor)
{
    const clo_scheduler_job *live = job_of(view, job, stage);

    if (live == NULL || !has_executor(view, executor))
        return CLO_TIME_NEVER;
    return clo_data_placement_arrival_ns(live, stage, executor, view->now_ns);
}

int64_t clo_view_input_arrival_ns(const clo_view *view, uint32_t job, uint32_t stage, uint32_t k, uint32_t executor)
{
    const clo_scheduler_job *live = job_of(view, job, stage);

    if (live == NULL || !has_executor(view, executor))
        return CLO_TIME_NEVER;
    const clo_graph *graph = live->live.cost->graph;
    if (k >= graph->in_first[stage + 1] - graph->in_first[stage])
        return CLO_TIME_NEVER;
    return clo_data_placement_input_arrival_ns(live, stage, k, executor, view->now_ns);
}

int64_t clo_view_available_ns(const clo_view *view, uint32_t executor)
{
    if (!has_executor(view, executor))
        return CLO_TIME_NEVER;
    int64_t free_ns = view->executors[executor].free_ns;
    return free_ns > view->now_ns ? free_ns : view->now_ns;
}

int64_t clo_view_execution_ns(const clo_view *view, uint32_t job, uint32_t stage, uint32_t executor)
{
    const clo_scheduler_job *live = job_of(view, job, stage);

    return live != NULL && has_executor(view, executor) ? clo_cost_time(live->live.cost, stage, executor)
                                                        : CLO_TIME_NEVER;
}

bool clo_view_may_duplicate(const clo_view *view, uint32_t job, uint32_t stage, uint32_t executor)
{
    const clo_scheduler_job *live = job_of(view, job, stage);

    return live != NULL && has_executor(view, executor) && clo_data_placement_may_replicate(live, stage, executor);
}

bool clo_view_fits(const clo_view *view, uint32_t job, uint32_t stage, uint32_t executor)
{
    const clo_scheduler_job *live = job_of(view, job, stage);

    return live != NULL && has_executor(view, executor) && clo_reserve_fits(view->self, live, stage, executor);
}

uint32_t clo_view_unfit(const clo_view *view, uint32_t job)
{
    const clo_scheduler_job *live = clo_view_live(view, job);
    uint32_t last = CLO_NONE;

    /* what a branch skips demands nothing any more */
    if (live == NULL || live->demands == NULL || live->live.cost->graph->control_flow != NULL)
        return 0;
    for (uint32_t e = clo_start_next_free(view, CLO_NONE); e != CLO_NONE; e = clo_start_next_free(view, e)) {
        uint32_t machine = view->platform->executors[e].machine;
        if (machine != last && !clo_reserve_lacks(view->self, live, e))
            return 0;
        last = machine;
    }
    return live->listed;
}

int64_t clo_view_capacity_left(const clo_view *view, uint32_t machine, uint32_t resource)
{
    if (view == NULL || machine >= view->platform->machines_count || resource >= CLO_RESOURCES_MAX)
        return INT64_MAX;
    return view->own[machine][resource];
}

uint32_t clo_view_free_for(const clo_view *view, uint32_t job, uint32_t stage)
{
    const clo_scheduler_job *live = job_of(view, job, stage);

    uint32_t full = CLO_NONE; /* the machine that had no room last */

    if (live == NULL)
        return CLO_NONE;
    for (uint32_t e = clo_start_next_free(view, CLO_NONE); e != CLO_NONE; e = clo_start_next_free(view, e)) {
        uint32_t machine = view->platform->executors[e].machine;
        if (machine == full || clo_cost_time(live->live.cost, stage, e) == CLO_TIME_NEVER)
            continue;
        if (clo_reserve_fits(view->self, live, stage, e))
            return e;
        full = machine;
    }
    return CLO_NONE;
}

/* The first executor from `from` on where the stage would end before best_ns if its inputs were there: with them it
 * cannot end earlier. CLO_NONE: there is none. */
static uint32_t next_earlier(const clo_view *view, const clo_cost *cost, uint32_t stage, uint32_t from, int64_t best_ns)
{
    const int64_t *times_ns = &cost->time_ns[(size_t)stage * cost->columns], now_ns = view->now_ns;
    bool is_placed = clo_graph_placement(cost->graph, stage) != CLO_NONE;

    for (uint32_t e = from; e < view->limits.executors; e++) {
        int64_t time_ns = times_ns[cost->column_of[e]], free_ns = view->executors[e].free_ns;
        if (clo_time_add(free_ns > now_ns ? free_ns : now_ns, time_ns) < best_ns && time_ns != CLO_TIME_NEVER &&
            (!is_placed || clo_graph_allows(cost->graph, stage, e)))
            return e;
    }
    return CLO_NONE;
}

uint32_t clo_view_earliest(const clo_view *view, uint32_t job, uint32_t stage)
{
    const clo_scheduler_job *live = job_of(view, job, stage);
    uint32_t best = CLO_NONE;
    int64_t best_ns = INT64_MAX;

    if (live == NULL)
        return CLO_NONE;
    const clo_cost *cost = live->live.cost;
    for (uint32_t e = next_earlier(view, cost, stage, 0, best_ns); e != CLO_NONE;
         e = next_earlier(view, cost, stage, e + 1, best_ns)) {
        int64_t free_ns = clo_view_available_ns(view, e);
        int64_t arrival_ns = clo_data_placement_arrival_ns(live, stage, e, view->now_ns);
        int64_t finish_ns = clo_time_add(arrival_ns > free_ns ? arrival_ns : free_ns, clo_cost_time(cost, stage, e));
        if (finish_ns < best_ns) {
            best = e;
            best_ns = finish_ns;
        }
    }
    for (uint32_t e = 0; e < view->limits.executors && best == CLO_NONE; e++) /* all ends lie beyond all time */
        best = clo_cost_time(cost, stage, e) != CLO_TIME_NEVER ? e : CLO_NONE;
    return best;
}

bool clo_view_step(const clo_view *view)
{
    if (view == NULL || (view->steps_max != 0 && view->steps >= view->steps_max))
        return false;
    view->self->steps++;
    return true;
}

void clo_view_partial(const clo_view *view)
{
    if (view != NULL)
        view->self->counts.partial++;
}

bool clo_view_steps(const clo_view *view, uint64_t count)
{
    if (view == NULL)
        return false;
    uint32_t steps = view->steps, most = view->steps_max != 0 ? view->steps_max : UINT32_MAX;
    bool is_within = count <= most - (steps < most ? steps : most);

    view->self->steps = is_within ? steps + (uint32_t)count : most;
    return is_within || view->steps_max == 0;
}
