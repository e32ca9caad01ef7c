/* enforced.c - see enforced.h. */
#include "policy/placement/enforced.h"

#include "base/numbers/saturate.h"
#include "cost/cost.h"
#include "policy/packing/packing.h"

#include <string.h>

enum { OVERTAKEN_MAX = 32, ROWS_MAX = 512, PASSED_A_STEP = 64 };

size_t clo_enforced_bytes(const clo_platform *platform, uint32_t jobs, size_t instances)
{
    return instances * sizeof(clo_enforced_row) + platform->executors_count * sizeof(int64_t) +
           ((size_t)platform->machines_count * 2 + jobs) * sizeof(uint32_t);
}

void clo_enforced_open(clo_enforced *plan, void *memory, const clo_platform *platform, uint32_t jobs, size_t instances)
{
    plan->rows = memory;
    plan->ends_ns = (int64_t *)(void *)(plan->rows + instances);
    plan->next = (uint32_t *)(plan->ends_ns + platform->executors_count);
    plan->end = plan->next + platform->machines_count;
    plan->slots = plan->end + platform->machines_count;
    memset(plan->end, 0, platform->machines_count * sizeof *plan->end);
    for (uint32_t j = 0; j < jobs; j++)
        plan->slots[j] = CLO_ENFORCED_LATE;
}

void clo_enforced_count(clo_enforced *plan, const clo_platform *platform, uint32_t executor)
{
    plan->end[platform->executors[executor].machine]++;
}

void clo_enforced_counted(clo_enforced *plan, const clo_platform *platform)
{
    uint32_t first = 0;

    for (uint32_t m = 0; m < platform->machines_count; m++) {
        uint32_t of_machine = plan->end[m];
        plan->end[m] = first;
        first += of_machine;
    }
}

void clo_enforced_add(clo_enforced *plan, const clo_platform *platform, clo_enforced_row row)
{
    plan->rows[plan->end[platform->executors[row.executor].machine]++] = row;
}

/* Placements come by start, and stay in that order on each machine. */
void clo_enforced_fill(clo_enforced *plan, const clo_plan *from, const clo_platform *platform)
{
    const clo_placement *placements;
    size_t count;

    placements = clo_plan_placements(from, &count);
    memset(plan->end, 0, platform->machines_count * sizeof *plan->end);
    for (size_t p = 0; p < count; p++)
        clo_enforced_count(plan, platform, placements[p].executor);
    clo_enforced_counted(plan, platform);
    for (size_t p = 0; p < count; p++)
        clo_enforced_add(plan, platform,
                         (clo_enforced_row){.start_ns = placements[p].start_ns,
                                            .time_ns = placements[p].finish_ns - placements[p].start_ns,
                                            .stage = placements[p].task,
                                            .executor = placements[p].executor});
}

void clo_enforced_begin(clo_enforced *plan, const clo_platform *platform, uint32_t jobs)
{
    plan->passed_ns = 0;
    plan->round++;
    memset(plan->ends_ns, 0, platform->executors_count * sizeof *plan->ends_ns);
    for (uint32_t m = 0; m < platform->machines_count; m++)
        plan->next[m] = m > 0 ? plan->end[m - 1] : 0;
    for (uint32_t j = 0; j < jobs; j++)
        plan->slots[j] = CLO_ENFORCED_LATE;
}

static bool fits(const clo_enforced *plan, const clo_view *view, uint32_t slot, uint32_t stage, uint32_t executor)
{
    const clo_cost *cost = clo_view_job(view, slot)->cost;

    return (!plan->is_quiet || clo_packing_has_room(view, cost, stage, cost->platform->executors[executor].machine)) &&
           clo_view_fits(view, slot, stage, executor);
}

/* An instance of the stage may start on the executor, which has nothing to do. */
static bool may_start(const clo_enforced *plan, const clo_view *view, uint32_t slot, uint32_t stage, uint32_t executor)
{
    const clo_live_executor *row = clo_view_executor(view, executor);
    const clo_live_stage *at = clo_view_stage(view, slot, stage);

    return at->unstarted > 0 && at->parents_left == 0 && row->job == CLO_NONE && row->committed == 0 &&
           row->is_moving == 0 && clo_view_execution_ns(view, slot, stage, executor) != CLO_TIME_NEVER &&
           fits(plan, view, slot, stage, executor);
}

void clo_enforced_finish(clo_enforced *plan, uint32_t executor)
{
    if (plan->ends_ns[executor] - 1 > plan->passed_ns)
        plan->passed_ns = plan->ends_ns[executor] - 1;
    plan->ends_ns[executor] = 0;
}

void clo_enforced_leave(clo_enforced *plan)
{
    plan->passed_ns = INT64_MAX;
}

static void start(clo_enforced *plan, clo_enforced_row *row, uint32_t executor, clo_choice *choice)
{
    row->round = plan->round;
    plan->ends_ns[executor] = clo_time_add(clo_time_add(plan->passed_ns, row->time_ns), 1);
    *choice = (clo_choice){plan->slots[row->job], row->stage, 1, executor, CLO_NONE, 0, 0};
}

/* The row need not wait for its executor, which may be free in a moment: it should have started before, or all that runs
 * should have ended. */
static bool is_due(const clo_enforced *plan, uint32_t executors, const clo_enforced_row *row)
{
    bool goes_on =
        plan->is_patient && row->start_ns == plan->passed_ns && plan->ends_ns[row->executor] - 1 == row->start_ns;

    for (uint32_t e = 0; e < executors && !goes_on && row->start_ns == plan->passed_ns; e++)
        goes_on = plan->ends_ns[e] - 1 > plan->passed_ns;
    return !goes_on;
}

/* Its job has come, is of the decision's band and below its limit. */
static bool is_there(const clo_enforced *plan, const clo_view *view, const clo_enforced_row *row)
{
    uint32_t slot = plan->slots[row->job];

    if (slot == CLO_ENFORCED_LATE || slot == CLO_ENFORCED_GONE)
        return false;
    const clo_live_job *job = clo_view_job(view, slot);
    return job->band == clo_view_band(view) && job->running + job->committed < job->limit;
}

/* It has started; or its job is gone, or its stage has nothing left to start, because others came between; or the job has
 * no such stage. */
static bool is_over(const clo_enforced *plan, const clo_view *view, const clo_enforced_row *row)
{
    uint32_t slot = plan->slots[row->job];

    if (row->round == plan->round || slot == CLO_ENFORCED_GONE || slot == CLO_ENFORCED_LATE)
        return slot != CLO_ENFORCED_LATE;
    const clo_live_stage *at = clo_view_stage(view, slot, row->stage);
    return at == NULL || at->unstarted == 0;
}

/* As clo_view_free_for. */
static uint32_t free_for(const clo_enforced *plan, const clo_view *view, uint32_t slot, uint32_t stage)
{
    if (!plan->is_quiet)
        return clo_view_free_for(view, slot, stage);
    uint32_t e = clo_view_next_free(view, CLO_NONE);
    while (e != CLO_NONE && (clo_view_execution_ns(view, slot, stage, e) == CLO_TIME_NEVER ||
                             !fits(plan, view, slot, stage, e))) /* the next executor */
        e = clo_view_next_free(view, e);
    return e;
}

/* Where the row may start, which is due; CLO_NONE: nowhere now, or *is_cut. */
static uint32_t place_of(const clo_enforced *plan, const clo_view *view, const clo_enforced_row *row, bool *is_cut)
{
    uint32_t slot = plan->slots[row->job], executors = clo_view_limits(view)->executors;

    if (may_start(plan, view, slot, row->stage, row->executor))
        return row->executor;
    if ((*is_cut = !clo_view_steps(view, executors)) || !is_due(plan, executors, row))
        return CLO_NONE;
    uint32_t executor = free_for(plan, view, slot, row->stage);
    if (executor != CLO_NONE && row->start_ns == plan->passed_ns &&
        clo_view_execution_ns(view, slot, row->stage, executor) != row->time_ns)
        return CLO_NONE;
    return executor;
}

/* What should start now or earlier, though something planned before it cannot. */
static bool overtake(clo_enforced *plan, const clo_view *view, uint32_t machine, clo_choice *choice, bool *is_cut)
{
    for (uint32_t i = plan->next[machine], looks = 0;
         i < plan->end[machine] && i - plan->next[machine] < ROWS_MAX && plan->rows[i].start_ns <= plan->passed_ns &&
         looks < OVERTAKEN_MAX;
         i++) {
        clo_enforced_row *row = &plan->rows[i];
        if (is_over(plan, view, row) || !is_there(plan, view, row) ||
            clo_view_stage(view, plan->slots[row->job], row->stage)->parents_left > 0)
            continue;
        looks++;
        if ((*is_cut = !clo_view_step(view)))
            return false;
        uint32_t executor = place_of(plan, view, row, is_cut);
        if (*is_cut)
            return false;
        if (executor != CLO_NONE) {
            start(plan, row, executor, choice);
            return true;
        }
    }
    return false;
}

/* Goes to the first row of the machine that is not over. False: the decision has reached its bound; it goes on there. */
static bool skip_over(clo_enforced *plan, const clo_view *view, uint32_t machine)
{
    uint32_t *next = &plan->next[machine];

    for (uint32_t passed = 1; *next < plan->end[machine] && is_over(plan, view, &plan->rows[*next]); passed++) {
        ++*next;
        if (passed % PASSED_A_STEP == 0 && !clo_view_step(view))
            return false;
    }
    return true;
}

bool clo_enforced_go_on(clo_enforced *plan, const clo_view *view)
{
    uint32_t machines = clo_view_limits(view)->platform->machines_count;
    int64_t least_ns = INT64_MAX;

    for (uint32_t m = 0; m < machines; m++)
        for (uint32_t i = plan->next[m]; i < plan->end[m] && i - plan->next[m] < ROWS_MAX; i++) {
            const clo_enforced_row *row = &plan->rows[i];
            if (is_over(plan, view, row) || !is_there(plan, view, row) ||
                clo_view_stage(view, plan->slots[row->job], row->stage)->parents_left > 0)
                continue;
            least_ns = row->start_ns < least_ns ? row->start_ns : least_ns;
            break;
        }
    if (least_ns == INT64_MAX || least_ns <= plan->passed_ns)
        return false;
    plan->passed_ns = least_ns;
    return true;
}

bool clo_enforced_choose(clo_enforced *plan, const clo_view *view, clo_choice *choice, bool *is_cut)
{
    uint32_t machines = clo_view_limits(view)->platform->machines_count;

    *is_cut = false;
    for (uint32_t m = 0; m < machines && !*is_cut; m++) {
        if ((*is_cut = !skip_over(plan, view, m)))
            break;
        if (plan->next[m] == plan->end[m] || (*is_cut = !clo_view_step(view)))
            continue;
        clo_enforced_row *row = &plan->rows[plan->next[m]];
        if (is_there(plan, view, row) && may_start(plan, view, plan->slots[row->job], row->stage, row->executor)) {
            start(plan, row, row->executor, choice);
            return true;
        }
        if (overtake(plan, view, m, choice, is_cut))
            return true;
    }
    return false;
}

bool clo_enforced_is_idle(const clo_view *view)
{
    uint32_t executors = clo_view_limits(view)->executors;
    bool is_good = clo_view_steps(view, executors);

    for (uint32_t e = 0; e < executors && is_good; e++)
        is_good = clo_view_executor(view, e)->job == CLO_NONE;
    return is_good;
}
