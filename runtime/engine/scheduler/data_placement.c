/* data_placement.c - where a stage's outputs lie, and when they can be elsewhere. An edge between stages of n and m
 * instances is looked at by sources (a memory, or a part of its executors with links of their own), not by pairs: the
 * last output to leave a source decides. */
#include "engine/scheduler/data_placement.h"

#include "base/numbers/saturate.h"

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

clo_data_placement *clo_data_placement_place_in_order(const clo_scheduler_job *job, uint32_t stage, uint32_t executor)
{
    const clo_platform *platform = job->live.cost->platform;
    uint32_t first = job->place_first[stage], source = platform->source_of[executor];
    clo_stage_row *row = &job->stages[stage];

    for (uint32_t i = 0; i < row->places_count; i++)
        if (platform->source_of[job->places[first + i].executor] == source)
            return &job->places[first + i];
    return &job->places[first + row->places_count++];
}

bool clo_data_placement_may_replicate(const clo_scheduler_job *job, uint32_t stage, uint32_t executor)
{
    const clo_cost *cost = job->live.cost;
    const clo_graph_task_row *row = &cost->graph->rows[stage];

    if (!row->duplicable || row->instances != 1 || clo_cost_time(cost, stage, executor) == CLO_TIME_NEVER)
        return false;
    return job->stages[stage].original_at != executor + 1 &&
           job->places[job->place_first[stage] + cost->platform->source_of[executor]].replica_at == 0;
}

void clo_data_placement_replicate(clo_scheduler_job *job, uint32_t stage, uint32_t executor)
{
    const clo_platform *platform = job->live.cost->platform;

    job->places[job->place_first[stage] + platform->source_of[executor]].replica_at = executor + 1;
}

/* When what lies in the place is complete, as far as is known. */
static int64_t complete_ns(const clo_data_placement *place, bool is_one)
{
    if (place->left == 0 || (is_one && place->left < place->count))
        return place->finish_ns;
    return place->left < place->count ? later(place->finish_ns, place->expected_ns) : place->expected_ns;
}

typedef struct edge {
    uint32_t source;
    uint64_t bytes;
    bool counts_ended; /* only what has ended */
} edge;

static edge edge_of(const clo_scheduler_job *job, uint32_t stage, uint32_t k)
{
    const clo_graph *graph = job->live.cost->graph;
    uint32_t at = graph->in_first[stage] + k;

    return (edge){clo_graph_source(graph, at), clo_graph_in_bytes(graph, at), false};
}

/* Of one predecessor: its last output over all memories; of one instance its first over all executions (LACHESIS,
 * eq. 9). */
static int64_t edge_arrival_ns(const clo_scheduler_job *job, edge from, uint32_t executor, int64_t decided_ns)
{
    uint32_t source = from.source;
    const clo_cost *cost = job->live.cost;
    bool is_one = cost->graph->rows[source].instances == 1;
    uint32_t first = job->place_first[source], room = job->place_first[source + 1] - first;
    uint32_t count = room == cost->platform->sources_count ? room : job->stages[source].places_count;
    int64_t arrival_ns = is_one ? INT64_MAX : decided_ns;

    for (uint32_t i = first; i < first + count; i++) {
        const clo_data_placement *place = &job->places[i];
        if (place->count == 0 || (is_one && from.counts_ended && place->left == place->count))
            continue;
        int64_t leave_ns = later(complete_ns(place, is_one), decided_ns);
        int64_t there_ns =
            clo_time_add(leave_ns, clo_platform_transfer_ns(cost->platform, from.bytes, place->executor, executor));
        arrival_ns = is_one ? earlier(arrival_ns, there_ns) : later(arrival_ns, there_ns);
    }
    return arrival_ns == INT64_MAX ? decided_ns : arrival_ns; /* nothing is placed yet */
}

/* Nothing comes over the edge. Before all edges into the stage are settled, something might. */
static bool is_dead(const clo_scheduler_job *job, uint32_t stage, uint32_t k)
{
    return job->control_flow != NULL && job->stages[stage].live.parents_left == 0 &&
           clo_control_flow_is_dead(job->control_flow, job->live.cost->graph->in_first[stage] + k);
}

int64_t clo_data_placement_input_arrival_ns(const clo_scheduler_job *job, uint32_t stage, uint32_t k, uint32_t executor,
                                            int64_t decided_ns)
{
    return edge_arrival_ns(job, edge_of(job, stage, k), executor, decided_ns);
}

int64_t clo_data_placement_arrival_ns(const clo_scheduler_job *job, uint32_t stage, uint32_t executor,
                                      int64_t decided_ns)
{
    const clo_graph *graph = job->live.cost->graph;
    uint32_t inputs = graph->in_first[stage + 1] - graph->in_first[stage];
    int64_t latest_ns = decided_ns;

    if (job->live.cost->platform->sources_count == 1 && job->stages[stage].live.parents_left == 0)
        return decided_ns;
    for (uint32_t k = 0; k < inputs; k++)
        if (!is_dead(job, stage, k))
            latest_ns = later(latest_ns, clo_data_placement_input_arrival_ns(job, stage, k, executor, decided_ns));
    return latest_ns;
}

int64_t clo_data_placement_begin_between_ns(const clo_scheduler_job *job, uint32_t stage, uint32_t executor,
                                            int64_t decided_ns)
{
    const clo_graph *graph = job->live.cost->graph;
    uint32_t inputs = graph->in_first[stage + 1] - graph->in_first[stage];
    int64_t latest_ns = decided_ns;

    for (uint32_t k = 0; k < inputs; k++) {
        edge from = edge_of(job, stage, k);
        from.counts_ended = true;
        if (is_dead(job, stage, k))
            continue;
        latest_ns = later(latest_ns, edge_arrival_ns(job, from, executor, decided_ns));
    }
    return latest_ns;
}
