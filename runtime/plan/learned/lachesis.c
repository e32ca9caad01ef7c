/* plan/learned/lachesis.c - LACHESIS ("Learning to Optimize DAG Scheduling in Heterogeneous Environment") offline: a
 * model chooses which task comes next among those whose parents are placed, DEFT places it. The built-in model is no
 * network but a tuned rule, a sum of six features: no network that was trained was better (docs/MODELS.md).
 *
 * Deviations from the paper: the model runs once, before anything is placed, and its scores are the priorities of
 * the whole plan; a task is executable when its parents are placed, not when they have finished, because a plan need
 * not wait; gaps are filled as in DEFT.
 *
 * The first schedule is the greedy one. The next two are those of DEFT and TDCA, so the plan is never longer than
 * theirs. The others are drawn with the probabilities that the scores stand for (softmax, by Gumbel noise), as in
 * one-shot priority sampling (Jeon et al., ICLR 2023). The shortest is kept, of equal ones the first. A graph that is
 * too large for the model gets DEFT's plan. */
#include "base/memory.h"
#include "base/status.h"
#include "kernels/kernels.h"
#include "learn/infer/draw.h"
#include "learn/infer/head.h"
#include "plan/budget/budget.h"
#include "plan/heft/deft.h"
#include "plan/learned/scores.h"
#include "plan/schedule/compact.h"
#include "plan/schedule/planner.h"

/* Schedules by number; the others are drawn. */
enum { GREEDY = 0, BY_DEFT = 1, BY_TDCA = 2, RULES = 3, SCHEDULES_DEFAULT = 64 };

typedef struct search {
    clo_schedule *schedule;
    clo_task_scores given;
    clo_kernels kernels;
    /* [tasks] of the next order */
    int64_t *keys;
    uint64_t *ids;
    int32_t *noise, *noisy;
    clo_budget budget;
    clo_snapshot best;
} search;

/* Of the greedy schedule, and of drawn ones. */
static clo_status order(search *s, uint64_t index)
{
    uint32_t tasks = s->schedule->graph->tasks;
    const int32_t *scores = s->given.scores;

    if (index >= RULES) {
        s->kernels.gumbel(clo_draw_seed(s->budget.config->seed, index), s->ids, tasks, s->noise);
        s->kernels.perturb(scores, s->given.drawn_scale, s->noise, tasks, s->noisy);
        scores = s->noisy;
    }
    for (uint32_t t = 0; t < tasks; t++)
        s->keys[t] = scores[t];
    return clo_schedule_order_by_keys(s->schedule, s->keys);
}

static clo_status fill_one(search *s, uint64_t index)
{
    if (index == BY_TDCA)
        return clo_planner_tdca.fill(s->schedule, s->budget.config);
    clo_status status = index == BY_DEFT ? clo_schedule_order(s->schedule) : order(s, index);
    if (status == CLO_OK)
        status = clo_deft_place_ordered(s->schedule);
    return status == CLO_OK ? clo_schedule_compact(s->schedule) : status;
}

static clo_status try_one(search *s)
{
    clo_schedule_clear(s->schedule);
    clo_status status = fill_one(s, s->budget.schedules);
    if (status != CLO_OK)
        return status;
    s->budget.schedules++;
    (void)clo_snapshot_keep(&s->best, s->schedule);
    s->budget.best_ns = s->best.makespan_ns;
    return CLO_OK;
}

static clo_status run(search *s, const clo_plan_config *config)
{
    clo_status status = clo_score_tasks(s->schedule->cost, config->argument, &s->given);
    int64_t begin_ns = clo_clock_ns();

    for (uint32_t t = 0; t < s->schedule->graph->tasks; t++)
        s->ids[t] = t;
    if (status == CLO_OK)
        status = try_one(s);
    if (status == CLO_OK)
        status = clo_budget_bound(&s->budget, s->schedule->cost, clo_clock_ns() - begin_ns);
    while (status == CLO_OK && !clo_budget_is_spent(&s->budget) &&
           (s->budget.schedules < RULES || s->given.drawn_scale > 0)) /* ends with the budget, which has a limit */
        status = try_one(s);
    if (status == CLO_OK)
        status = clo_snapshot_restore(&s->best, s->schedule);
    s->schedule->schedules = s->budget.schedules;
    s->schedule->is_optimal = s->best.makespan_ns <= s->budget.bound_ns;
    return status;
}

static clo_status lachesis_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    uint32_t tasks = schedule->graph->tasks;
    search s = {.schedule = schedule};

    if (tasks > CLO_HEAD_STAGES_MAX) {
        clo_status status = clo_deft_place_all(schedule);
        return status == CLO_OK ? clo_schedule_compact(schedule) : status;
    }
    clo_kernels_select(&s.kernels, clo_cpu_isa());
    clo_budget_open(&s.budget, config, SCHEDULES_DEFAULT);
    clo_status status = clo_snapshot_open(&s.best, schedule);
    if (status != CLO_OK)
        return status;
    s.given.scores = clo_allocate(tasks, sizeof *s.given.scores);
    s.keys = clo_allocate(tasks, sizeof *s.keys);
    s.ids = clo_allocate(tasks, sizeof *s.ids);
    s.noise = clo_allocate(tasks, sizeof *s.noise);
    s.noisy = clo_allocate(tasks, sizeof *s.noisy);
    if (s.given.scores == NULL || s.keys == NULL || s.ids == NULL || s.noise == NULL || s.noisy == NULL)
        status = clo_fail_memory("a plan");
    else
        status = run(&s, config);
    clo_free(s.given.scores);
    clo_free(s.keys);
    clo_free(s.ids);
    clo_free(s.noise);
    clo_free(s.noisy);
    clo_snapshot_close(&s.best);
    return status;
}

const clo_planner clo_planner_lachesis = {
    .name = "lachesis",
    .summary =
        "a tuned rule, or a network of yours, orders, DEFT places (LACHESIS): greedy and drawn orders, DEFT, TDCA",
    .size = sizeof(clo_planner),
    .executions_each = CLO_EXECUTIONS_EACH,
    .fill = lachesis_fill,
    .takes = CLO_PLANNER_MODEL,
};
