/* agree.c - see agree.h. The hashes are no secrets: each word is mixed into 64 bits (splitmix64). */
#include "remote/messages/agree.h"

#include "base/numbers/rng.h"
#include "base/status.h"
#include "graph/graph.h"
#include "platform/model/platform.h"

#include <string.h>

enum { RUNS, GRAPH, PLATFORM, TIMES, PLAN, PIECES, HASHES };

static uint64_t mix(uint64_t hash, uint64_t word)
{
    return clo_mix64(hash ^ word) + 0x9e3779b97f4a7c15u;
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
    for (; text != NULL && *text != '\0'; text++)
        hash = mix(hash, (unsigned char)*text);
    return mix(hash, 256);
}

static uint64_t hash_graph(const clo_graph *graph)
{
    uint64_t hash = mix(graph->tasks, graph->edges);

    for (uint32_t t = 0; t < graph->tasks; t++) {
        const clo_graph_task_row *row = &graph->rows[t];
        hash = mix(hash, clo_graph_output(graph, t));
        hash = mix(hash, (uint64_t)row->instances << 32 | row->duplicable);
        hash = mix(hash, row->body != NULL);
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
            hash = mix(hash, (uint64_t)clo_graph_demand(graph, t)[r]);
        for (uint32_t k = graph->in_first[t]; k < graph->in_first[t + 1]; k++)
            hash = mix(mix(hash, clo_graph_source(graph, k)), clo_graph_in_bytes(graph, k));
    }
    return hash;
}

static uint64_t hash_platform(const clo_platform *p)
{
    size_t cells = (size_t)p->pieces_count * p->groups_count * p->groups_count;
    uint64_t hash = mix(p->executors_count, (uint64_t)p->pieces_count << 32 | p->machines_count);

    for (uint32_t e = 0; e < p->executors_count; e++) {
        hash = mix(hash, (uint64_t)p->executors[e].machine << 32 | p->executors[e].memory);
        hash = mix_text(mix(hash, p->group_of[e]), p->executor_names[e]);
    }
    for (uint32_t k = 0; k < p->pieces_count; k++)
        hash = mix(hash, p->cut_bytes[k]);
    for (size_t cell = 0; cell < cells; cell++)
        hash = mix(mix(hash, (uint64_t)p->latency_ns[cell]), p->ns_per_byte_q32[cell]);
    for (size_t i = 0; i < (size_t)p->machines_count * CLO_RESOURCES_MAX; i++)
        hash = mix(hash, (uint64_t)p->capacities[i]);
    for (uint32_t m = 0; m < p->machines_count && p->port_q32 != NULL; m++)
        hash = mix(hash, p->port_q32[m]);
    return hash;
}

static uint64_t hash_times(const clo_cost *cost)
{
    uint32_t tasks = clo_graph_tasks(clo_cost_graph(cost));
    uint32_t executors = clo_platform_executors(clo_cost_platform(cost));
    uint64_t hash = mix(tasks, executors);

    for (uint32_t t = 0; t < tasks; t++)
        for (uint32_t e = 0; e < executors; e++)
            hash = mix(hash, (uint64_t)clo_cost_execution_ns(cost, t, e));
    return hash;
}

static uint64_t hash_plan(const clo_plan *plan)
{
    size_t count;
    const clo_placement *p = clo_plan_placements(plan, &count);
    uint64_t hash = mix(0, count);

    for (size_t i = 0; i < count; i++) {
        hash = mix(hash, (uint64_t)p[i].task << 32 | p[i].instance);
        hash = mix(hash, (uint64_t)p[i].executor << 32 | p[i].is_replica);
        hash = mix(mix(hash, (uint64_t)p[i].start_ns), (uint64_t)p[i].finish_ns);
    }
    return hash;
}

clo_status clo_remote_agree(clo_remote *remote, const clo_cost *cost, const clo_plan *plan,
                            const clo_remote_config *config)
{
    static const char *const what[HASHES] = {"number of runs (-n)",
                                             "graph",
                                             "platform (cluster file or a platform that it names)",
                                             "execution times",
                                             "plan (of a planner that stops by time? give all the same plan file)",
                                             "size of pieces (--piece)"};
    uint64_t mine[2 * HASHES], least[2 * HASHES]; /* the hashes, then their complements: the least is the largest */
    MPI_Request request;

    mine[RUNS] = config->runs;
    mine[GRAPH] = hash_graph(clo_cost_graph(cost));
    mine[PLATFORM] = hash_platform(clo_cost_platform(cost));
    mine[TIMES] = hash_times(cost);
    mine[PLAN] = hash_plan(plan);
    mine[PIECES] = config->piece_bytes;
    for (int i = 0; i < HASHES; i++)
        mine[HASHES + i] = ~mine[i];
    clo_status status = clo_remote_mpi(
        MPI_Iallreduce(mine, least, 2 * HASHES, MPI_UINT64_T, MPI_MIN, remote->control, &request), "MPI_Iallreduce");
    if (status == CLO_OK)
        status = clo_remote_wait(remote, &request);
    for (int i = 0; i < HASHES && status == CLO_OK; i++)
        if (least[i] != ~least[HASHES + i])
            status =
                clo_fail(CLO_ERR_INVALID,
                         "rank %d (%s): not all ranks have the same %s; here its hash is %016llx, the least of all "
                         "is %016llx",
                         remote->rank, clo_remote_name(remote, remote->rank), what[i], (unsigned long long)mine[i],
                         (unsigned long long)least[i]);
    return status;
}
