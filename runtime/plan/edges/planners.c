/* planners.c - edge adding by name.
 *
 *   edges, edges-sjf, edges-tetris   beam search with the built-in network, on three list rules
 *   edges-greedy                     the network's first choices alone, on critical-path: 32 are tried
 *   edges-random                     as edges, with edges drawn evenly (PPO-BiHyb's Random): what the network adds
 *   edges-best                       a quarter of the budget for edges on the rule that is shortest without them; the
 *                                    packing search of `best` goes on from there
 *
 * Hua et al. add up to five edges and keep the shortest schedule; here 32 may be added, several at once, as graphs of
 * 100 queries get nowhere by single ones. Where edges cannot be added (clotho/edges.h) the rule alone plans. */
#include "plan/edges/planners.h"

#include "base/memory.h"
#include "base/status.h"
#include "plan/edges/search.h"
#include "plan/rcpsp/priority.h"
#include "plan/rcpsp/search.h"
#include "plan/schedule/planner.h"

enum { SCHEDULES_DEFAULT = 1000, PART_OF_BUDGET = 4 };

static clo_status fill_by_time(clo_schedule *schedule)
{
    const clo_graph *graph = schedule->graph;
    int64_t *keys = clo_allocate(graph->instances, sizeof *keys);

    if (keys == NULL)
        return clo_fail_memory("a plan");
    for (uint32_t v = 0; v < graph->instances; v++)
        keys[v] = schedule->cost->mean_ns[graph->task_of[v]];
    clo_status status = clo_priority_fill(schedule, keys, CLO_PRIORITY_PARALLEL);
    clo_free(keys);
    return status;
}

static clo_status fill_by_rule(clo_schedule *schedule, clo_edges_rule rule, const clo_plan_config *config)
{
    if (rule == CLO_EDGES_SJF)
        return fill_by_time(schedule);
    return rule == CLO_EDGES_TETRIS ? clo_planner_tetris.fill(schedule, config)
                                    : clo_planner_critical_path.fill(schedule, config);
}

static clo_status realise(clo_schedule *schedule, const clo_edges_room *room, const clo_edges_state *state)
{
    const clo_packing packing = {
        .makespan_ns = state->plan.makespan_ns, .start_ns = state->plan.start_ns, .machine = state->plan.machine};

    return clo_rcpsp_realise(&room->problem, &packing, CLO_RCPSP_FORWARD, schedule);
}

/* With the first schedule built. */
static clo_status begin(clo_edges_room *room, clo_edges_state *state, clo_budget *budget)
{
    clo_status status = clo_edges_state_open(state, room);
    int64_t begin_ns = clo_clock_ns();

    if (status != CLO_OK)
        return status;
    clo_edges_state_clear(state, room);
    return clo_budget_bound(budget, room->problem.cost, clo_clock_ns() - begin_ns);
}

/* The packing search from the schedule that edges made, in the order of its starts. */
static clo_status go_on(clo_schedule *schedule, const clo_edges_room *room, const clo_edges_state *state,
                        clo_budget *budget)
{
    clo_packing found = {0};
    int direction = CLO_RCPSP_FORWARD;
    int64_t *keys = clo_allocate(room->problem.tasks, sizeof *keys);
    clo_status status = keys == NULL ? clo_fail_memory("a plan") : clo_packing_open(&found, &room->problem);

    for (uint32_t i = 0; i < room->problem.tasks && status == CLO_OK; i++)
        keys[state->plan.order[i]] = i;
    if (status == CLO_OK && !clo_budget_is_spent(budget))
        status = clo_rcpsp_search(&room->problem, keys, budget, &found, &direction);
    if (status == CLO_OK && found.makespan_ns < state->plan.makespan_ns)
        status = clo_rcpsp_realise(&room->problem, &found, direction, schedule);
    else if (status == CLO_OK)
        status = realise(schedule, room, state);
    clo_packing_close(&found);
    clo_free(keys);
    return status;
}

/* `state` of the rule that is shortest without edges. */
static clo_status begin_shortest(clo_edges_room *room, clo_edges_state *state, clo_budget *budget)
{
    static const clo_edges_rule rules[] = {CLO_EDGES_CP, CLO_EDGES_TETRIS, CLO_EDGES_SJF};
    int64_t shortest_ns = INT64_MAX;
    clo_edges_rule shortest = CLO_EDGES_CP;
    clo_status status = begin(room, state, budget);

    for (int i = 0; i < 3 && status == CLO_OK; i++) {
        room->builder.rule = rules[i];
        clo_edges_state_clear(state, room);
        if (state->plan.makespan_ns < shortest_ns) {
            shortest_ns = state->plan.makespan_ns;
            shortest = rules[i];
        }
    }
    room->builder.rule = shortest;
    if (status == CLO_OK)
        clo_edges_state_clear(state, room);
    budget->schedules += 2;
    return status;
}

/* Edges for their share of the budget, and what comes behind them. */
static clo_status search(clo_schedule *schedule, clo_edges_room *room, clo_edges_state *state,
                         const clo_edges_config *edges, clo_budget *budget)
{
    clo_budget part = *budget;

    if (edges->then_best == 0) {
        clo_status status = clo_edges_search(room, edges, budget, state);
        return status == CLO_OK ? realise(schedule, room, state) : status;
    }
    part.schedules_max = (budget->schedules_max + PART_OF_BUDGET - 1) / PART_OF_BUDGET;
    if (budget->end_ns != INT64_MAX)
        part.end_ns -= clo_budget_left_ns(budget) / PART_OF_BUDGET * (PART_OF_BUDGET - 1);
    clo_status status = clo_edges_search(room, edges, &part, state);
    clo_budget_take_back(budget, &part);
    budget->best_ns = part.best_ns;
    return status == CLO_OK ? go_on(schedule, room, state, budget) : status;
}

clo_status clo_edges_fill(clo_schedule *schedule, const clo_edges_config *edges, const clo_plan_config *config,
                          bool is_strict)
{
    clo_edges_room room;
    clo_edges_state state = {0};
    clo_budget budget;

    clo_budget_open(&budget, config, SCHEDULES_DEFAULT);
    clo_status status = clo_edges_room_open(&room, schedule->cost, edges->rule);
    if ((status == CLO_ERR_UNSUPPORTED || status == CLO_ERR_LIMIT) && !is_strict)
        return fill_by_rule(schedule, edges->rule, config);
    if (status != CLO_OK)
        return status;
    status = edges->then_best != 0 ? begin_shortest(&room, &state, &budget) : begin(&room, &state, &budget);
    if (status == CLO_OK)
        status = search(schedule, &room, &state, edges, &budget);
    schedule->schedules = budget.schedules;
    /* A plan may be longer than its packing, where a task of no time may begin beside tasks on all executors. */
    schedule->is_optimal = status == CLO_OK && clo_schedule_makespan_ns(schedule) <= budget.bound_ns;
    clo_edges_state_close(&state);
    clo_edges_room_close(&room);
    return status;
}

static clo_status fill_cp(clo_schedule *schedule, const clo_plan_config *config)
{
    return clo_edges_fill(schedule, &(clo_edges_config){.rule = CLO_EDGES_CP}, config, false);
}

static clo_status fill_sjf(clo_schedule *schedule, const clo_plan_config *config)
{
    return clo_edges_fill(schedule, &(clo_edges_config){.rule = CLO_EDGES_SJF}, config, false);
}

static clo_status fill_tetris(clo_schedule *schedule, const clo_plan_config *config)
{
    return clo_edges_fill(schedule, &(clo_edges_config){.rule = CLO_EDGES_TETRIS}, config, false);
}

static clo_status fill_greedy(clo_schedule *schedule, const clo_plan_config *config)
{
    return clo_edges_fill(schedule, &(clo_edges_config){.rule = CLO_EDGES_CP, .greedy = 1}, config, false);
}

static clo_status fill_random(clo_schedule *schedule, const clo_plan_config *config)
{
    return clo_edges_fill(schedule, &(clo_edges_config){.rule = CLO_EDGES_CP, .guide = CLO_EDGES_BY_CHANCE}, config,
                          false);
}

static clo_status fill_best(clo_schedule *schedule, const clo_plan_config *config)
{
    return clo_edges_fill(schedule, &(clo_edges_config){.then_best = 1}, config, false);
}

const clo_planner clo_planner_edges = {
    .name = "edges",
    .summary = "anytime: packing: edges that a network adds make critical-path shorter (Hua et al.), beam search",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = fill_cp,
};

const clo_planner clo_planner_edges_sjf = {
    .name = "edges-sjf",
    .summary = "anytime: packing: edges on shortest task first",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = fill_sjf,
};

const clo_planner clo_planner_edges_tetris = {
    .name = "edges-tetris",
    .summary = "anytime: packing: edges on largest demand first",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = fill_tetris,
};

const clo_planner clo_planner_edges_greedy = {
    .name = "edges-greedy",
    .summary = "packing: edges on critical-path, the network's first choices without a search",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = fill_greedy,
};

const clo_planner clo_planner_edges_random = {
    .name = "edges-random",
    .summary = "anytime: packing: edges on critical-path, drawn evenly",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = fill_random,
};

const clo_planner clo_planner_edges_best = {
    .name = "edges-best",
    .summary = "anytime: packing: edges, then the packing search of best from there",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = fill_best,
};
