/* cost/bound/stages.c - NewLB of Graphene (Grandl et al., OSDI 2016, section 5): what a stage, all instances of a task,
 * takes at least, along chains (ModCP) and between barriers. To its area bounds we add the waves in which instances
 * must run where only so many fit at once. With the cuts of bound.c it makes the combined bound; neither is always the
 * larger: cuts see windows across stages, this one sees several stages that are wide one after another.
 *
 * Why it holds, with bound.c's reading of replicas (first-finishing executions count).
 * (1) Every instance of a successor waits for every instance of a stage. If no execution of the stage starts before
 *     a, their first-finishing ones lie between a and the first start of a successor, so that is no earlier than
 *     a + stage_ns, the most of their waves (clo_bound_span) and of any area bound for these instances alone. Times are
 *     whole, so stage_ns rounds up.
 * (2) A barrier splits the stages into those before and those behind, and all of the former precede all of the
 *     latter: the least time of each part adds up, whichever bound is the best in it.
 *
 * A barrier lies before depth d (edges on the longest path from an entry) if all stages without a successor among
 * those before d lead to all stages of depth d; no other cut is one, for what follows it at once has equal
 * producers. */
#include "cost/bound/stages.h"

/* How many instances of a task can run at once, at most: by executors, and by what machines hold. */
static uint64_t slots_of(const clo_cost *cost, uint32_t task)
{
    const int64_t *demand = clo_graph_demand(cost->graph, task);
    uint64_t executors = 0, held = 0;

    if (clo_graph_placement(cost->graph, task) == CLO_NONE)
        for (uint32_t c = 0; c < cost->columns; c++)
            executors += clo_cost_time(cost, task, cost->column_first[c]) != CLO_TIME_NEVER ? cost->column_size[c] : 0;
    else
        for (uint32_t e = 0; e < cost->platform->executors_count; e++)
            executors += clo_cost_time(cost, task, e) != CLO_TIME_NEVER;
    for (uint32_t m = 0; m < cost->platform->machines_count && held < executors; m++) {
        int64_t here = (int64_t)executors;
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX && cost->graph->has_demands; r++) {
            int64_t capacity = clo_cost_capacity(cost, m, r);
            if (demand[r] > 0 && capacity >= 0 && capacity / demand[r] < here)
                here = capacity / demand[r];
        }
        held += (uint64_t)here;
    }
    return held < executors ? held : executors;
}

/* Waves. In less than k * fastest there are k - 1 moments, a fastest time apart, of which every execution covers one.
 * At each of them at most `slots` run, so there are (k - 1) * slots instances or fewer. */
int64_t clo_bound_span(const clo_bound_work *work, uint32_t task)
{
    uint64_t instances = work->cost->graph->rows[task].instances, slots;

    if (instances == 1 || work->fastest[task] == 0)
        return work->fastest[task];
    slots = slots_of(work->cost, task);
    return slots == 0 ? work->fastest[task] : (int64_t)((instances + slots - 1) / slots) * work->fastest[task];
}

/* Returns how many depths there are. */
static uint32_t fill_depths(const clo_graph *graph, clo_bound_stages *stages)
{
    uint32_t depths = 0;

    for (uint32_t i = 0; i < graph->tasks; i++) {
        uint32_t u = graph->task_order[i];
        stages->next_depth[u] = CLO_NONE;
        for (uint32_t e = graph->in_first[u]; e < graph->in_first[u + 1]; e++) {
            uint32_t t = clo_graph_source(graph, e);
            if (stages->depth[t] >= stages->depth[u])
                stages->depth[u] = stages->depth[t] + 1;
        }
        for (uint32_t e = graph->in_first[u]; e < graph->in_first[u + 1]; e++) {
            uint32_t t = clo_graph_source(graph, e);
            if (stages->depth[u] < stages->next_depth[t])
                stages->next_depth[t] = stages->depth[u];
        }
        if (stages->depth[u] >= depths)
            depths = stages->depth[u] + 1;
    }
    return depths;
}

/* How many producers of a task lead to nothing before its depth. */
static int64_t ends_met(const clo_graph *graph, const clo_bound_stages *stages, uint32_t task)
{
    int64_t met = 0;

    for (uint32_t e = graph->in_first[task]; e < graph->in_first[task + 1]; e++)
        met += stages->next_depth[clo_graph_source(graph, e)] == stages->depth[task];
    return met;
}

void clo_bound_cut(const clo_graph *graph, clo_bound_stages *stages, int64_t *ends)
{
    uint32_t depths = fill_depths(graph, stages), *part_at = stages->part_of;

    for (uint32_t t = 0; t < graph->tasks; t++) { /* ends[d]: without a successor among those before d */
        ends[stages->depth[t] + 1]++;
        ends[(stages->next_depth[t] < depths ? stages->next_depth[t] : depths) + 1]--;
    }
    for (uint32_t d = 1; d <= depths; d++)
        ends[d] += ends[d - 1];
    for (uint32_t t = 0; t < graph->tasks; t++)
        if (ends_met(graph, stages, t) != ends[stages->depth[t]])
            ends[stages->depth[t]] = -1;
    for (uint32_t d = 0; d < depths; d++) /* a number for each depth, kept in ends, which is not needed further */
        ends[d] = d == 0 ? 0 : ends[d - 1] + (ends[d] >= 0);
    for (uint32_t t = 0; t < graph->tasks; t++)
        part_at[t] = (uint32_t)ends[stages->depth[t]];
    stages->parts = (uint32_t)ends[depths - 1] + 1;
}

void clo_bound_take_stages(const clo_bound_work *work, clo_bound_stages *stages)
{
    for (uint32_t p = 0; p < stages->parts; p++)
        stages->area[p] = 0;
    for (uint32_t t = 0; t < work->cost->graph->tasks; t++) {
        clo_bound_raise(&stages->stage_ns[t], clo_bound_round_up(work, work->weight[t]));
        stages->area[stages->part_of[t]] += work->weight[t];
    }
    for (uint32_t p = 0; p < stages->parts; p++)
        clo_bound_raise(&stages->part_ns[p], clo_bound_round_up(work, stages->area[p]));
}

int64_t clo_bound_of_stages(const clo_bound_work *work, clo_bound_stages *stages)
{
    const clo_graph *graph = work->cost->graph;
    int64_t sum = 0;

    for (uint32_t i = 0; i < graph->tasks; i++) {
        uint32_t u = graph->task_order[i], part = stages->part_of[u];
        int64_t before = 0;
        for (uint32_t e = graph->in_first[u]; e < graph->in_first[u + 1]; e++)
            if (stages->part_of[clo_graph_source(graph, e)] == part)
                clo_bound_raise(&before, stages->chain_ns[clo_graph_source(graph, e)]);
        clo_bound_raise(&stages->stage_ns[u], work->span[u]);
        stages->chain_ns[u] = before + stages->stage_ns[u];
        clo_bound_raise(&stages->part_ns[part], stages->chain_ns[u]);
    }
    for (uint32_t p = 0; p < stages->parts; p++)
        sum += stages->part_ns[p];
    return sum;
}
