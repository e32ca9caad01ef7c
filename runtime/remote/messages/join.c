/* join.c - see join.h. */
#include "remote/messages/join.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "graph/graph.h"
#include "trace/trace.h"

#include <string.h>

#define HASH_BEGIN 0xcbf29ce484222325u /* FNV-1a, as clo_job_output_hash */
#define HASH_FACTOR 0x100000001b3u
#define HASH_BYTES ((uint64_t)1 << 20) /* between two looks at the others */
#define MOMENTS 1024u                  /* in a message: signs of life stand behind it */

/* ---- counts ---- */

/* The part of the wait before a task in which its executor and its inputs from this machine were there. */
static int64_t wait_of(const clo_local *local, const clo_local_task *task, size_t inputs, int64_t free_ns)
{
    int64_t near_ns = free_ns, far_ns = 0;

    for (size_t i = task->first_input; i < task->first_input + inputs; i++) {
        uint32_t source = local->input_source[i];
        if (source != CLO_NONE && local->tasks[source].finish_ns > near_ns)
            near_ns = local->tasks[source].finish_ns;
        if (source == CLO_NONE) {
            int64_t arrived_ns = local->receives[local->input_receive[i]].arrived_ns;
            far_ns = arrived_ns > far_ns ? arrived_ns : far_ns;
        }
    }
    if (far_ns > task->start_ns)
        far_ns = task->start_ns;
    return far_ns > near_ns ? far_ns - near_ns : 0;
}

static clo_status count_own(const clo_exchange *x, clo_remote_result *mine)
{
    const clo_local *local = x->local;
    int64_t *free_ns = clo_allocate(clo_platform_executors(local->platform), sizeof *free_ns);

    if (free_ns == NULL)
        return clo_fail_memory("the counts of a run");
    for (uint32_t e = 0; e < clo_platform_executors(local->platform); e++)
        free_ns[e] = x->start_ns;
    for (uint32_t t = 0; t < local->tasks_count; t++) { /* in the order of the plan */
        const clo_local_task *task = &local->tasks[t];
        const clo_placement *p = &local->split->placements[task->placement];
        size_t end = t + 1 < local->tasks_count ? task[1].first_input : local->inputs_count;
        int64_t *is_free_ns = &free_ns[p->executor - local->first_executor];
        mine->wait_ns += wait_of(local, task, end - task->first_input, *is_free_ns);
        *is_free_ns = task->finish_ns;
        mine->busy_ns += task->finish_ns - task->start_ns;
        mine->duplicates_run += p->is_replica;
    }
    mine->executed = local->tasks_count;
    clo_free(free_ns);
    return CLO_OK;
}

clo_status clo_join_counts(const clo_exchange *x, clo_remote_result *result)
{
    enum { FIELDS = 7 };
    clo_remote_result mine = CLO_REMOTE_RESULT_INIT;
    MPI_Request request;
    int64_t sums[FIELDS];
    clo_status status = count_own(x, &mine);

    const int64_t own[FIELDS] = {(int64_t)mine.executed,    (int64_t)mine.duplicates_run, mine.busy_ns, mine.wait_ns,
                                 (int64_t)x->sent_messages, (int64_t)x->sent_bytes,       x->cpu_ns};
    if (status == CLO_OK)
        status = clo_remote_mpi(MPI_Iallreduce(own, sums, FIELDS, MPI_INT64_T, MPI_SUM, x->remote->control, &request),
                                "MPI_Iallreduce");
    if (status == CLO_OK)
        status = clo_remote_wait(x->remote, &request);
    if (status != CLO_OK)
        return status;
    result->executed = (uint64_t)sums[0];
    result->duplicates_run = (uint64_t)sums[1];
    result->busy_ns = sums[2];
    result->wait_ns = sums[3];
    result->sent = (uint64_t)sums[4];
    result->sent_bytes = (uint64_t)sums[5];
    result->communication_cpu_ns = sums[6];
    result->transfers = x->local->split->transfers_count;
    result->transferred_bytes = x->local->split->bytes;
    return CLO_OK;
}

/* ---- the hash ---- */

/* The placement of the original. */
static uint32_t original_of(const clo_split *split, uint32_t instance)
{
    for (uint32_t at = split->first_execution[instance]; at < split->first_execution[instance + 1]; at++)
        if (!split->placements[split->executions[at]].is_replica)
            return split->executions[at];
    return CLO_NONE;
}

static clo_status pass(clo_remote *remote, uint64_t *hash, uint32_t from, uint32_t to)
{
    MPI_Request request = MPI_REQUEST_NULL;
    clo_status status = CLO_OK;

    if (from == to)
        return CLO_OK;
    if ((uint32_t)remote->rank == from)
        status = clo_remote_mpi(MPI_Isend(hash, 1, MPI_UINT64_T, (int)to, CLO_TAG_HASH, remote->control, &request),
                                "MPI_Isend");
    else if ((uint32_t)remote->rank == to)
        status = clo_remote_mpi(MPI_Irecv(hash, 1, MPI_UINT64_T, (int)from, CLO_TAG_HASH, remote->control, &request),
                                "MPI_Irecv");
    return status == CLO_OK && request != MPI_REQUEST_NULL ? clo_remote_wait(remote, &request) : status;
}

/* A large one takes seconds, in which the others must hear of this rank. */
static clo_status hash_output(clo_remote *remote, const unsigned char *output, uint64_t bytes, uint64_t *hash)
{
    clo_status status = CLO_OK;

    for (uint64_t b = 0; b < bytes && status == CLO_OK;) {
        uint64_t end = bytes - b < HASH_BYTES ? bytes : b + HASH_BYTES;
        for (; b < end; b++)
            *hash = (*hash ^ output[b]) * HASH_FACTOR;
        status = clo_remote_look(remote, clo_clock_ns());
    }
    return status;
}

clo_status clo_join_hash(const clo_exchange *x, uint64_t *hash)
{
    const clo_split *split = x->local->split;
    const clo_graph *graph = clo_cost_graph(split->cost);
    uint32_t holder = 0;
    MPI_Request request;
    clo_status status = CLO_OK;

    *hash = HASH_BEGIN;
    for (uint32_t i = 0; i < graph->instances && status == CLO_OK; i++) {
        uint64_t bytes = clo_graph_output(graph, graph->task_of[i]);
        uint32_t placement = bytes > 0 ? original_of(split, i) : CLO_NONE;
        if (placement == CLO_NONE)
            continue;
        uint32_t machine = clo_split_machine(split, placement);
        status = pass(x->remote, hash, holder, machine);
        holder = machine;
        if (status != CLO_OK || machine != x->local->machine)
            continue;
        status = hash_output(x->remote, x->local->tasks[x->local->task_of[placement]].output, bytes, hash);
    }
    if (status == CLO_OK)
        status =
            clo_remote_mpi(MPI_Ibcast(hash, 1, MPI_UINT64_T, (int)holder, x->remote->control, &request), "MPI_Ibcast");
    return status == CLO_OK ? clo_remote_wait(x->remote, &request) : status;
}

/* ---- the trace ---- */

typedef struct moment {
    int64_t start_ns, finish_ns;
} moment;

/* From or to a rank, one message after the other. What comes is a sign of life; what goes may lie in a buffer. */
static clo_status pass_moments(clo_remote *remote, int rank, bool sends, moment *list, uint32_t count)
{
    clo_status status = CLO_OK;

    for (uint32_t at = 0; at < count && status == CLO_OK; at += MOMENTS) {
        uint32_t some = count - at < MOMENTS ? count - at : MOMENTS;
        MPI_Request request;
        int words = (int)some * 2;
        int code = sends ? MPI_Isend(&list[at], words, MPI_INT64_T, rank, CLO_TAG_TRACE, remote->control, &request)
                         : MPI_Irecv(&list[at], words, MPI_INT64_T, rank, CLO_TAG_TRACE, remote->control, &request);
        status = clo_remote_reach(remote, rank, code, sends ? "MPI_Isend" : "MPI_Irecv");
        if (status == CLO_OK)
            status = clo_remote_wait(remote, &request);
        if (status == CLO_OK && !sends)
            clo_remote_heard(remote, rank);
    }
    return status;
}

/* All executions on rank 0, rank by rank, each in the order of the plan. begins: [ranks] of each, in `all`. */
static clo_status gather(const clo_exchange *x, moment *all, uint32_t *counts, uint32_t *begins)
{
    const clo_local *local = x->local;
    clo_remote *remote = x->remote;
    uint32_t sum = 0;
    clo_status status = CLO_OK;

    for (uint32_t p = 0; p < local->split->placements_count; p++)
        counts[clo_split_machine(local->split, p)]++;
    for (int rank = 0; rank < remote->ranks; rank++) {
        begins[rank] = sum;
        sum += counts[rank];
    }
    moment *mine = &all[begins[remote->rank]];
    for (uint32_t t = 0; t < local->tasks_count; t++)
        mine[t] = (moment){local->tasks[t].start_ns, local->tasks[t].finish_ns};
    if (remote->rank != 0)
        return pass_moments(remote, 0, true, mine, local->tasks_count);
    for (int rank = 1; rank < remote->ranks && status == CLO_OK; rank++)
        status = pass_moments(remote, rank, false, &all[begins[rank]], counts[rank]);
    return status;
}

/* Moments by placement, on the clock of rank 0, from the first start. */
static void convert(const clo_split *split, const clo_offset *before, const clo_offset *after, const moment *all,
                    uint32_t *begins, moment *joined)
{
    int64_t first_ns = INT64_MAX;

    for (uint32_t p = 0; p < split->placements_count; p++) {
        uint32_t rank = clo_split_machine(split, p);
        const moment *m = &all[begins[rank]++];
        joined[p] = (moment){clo_clocks_convert(&before[rank], &after[rank], m->start_ns),
                             clo_clocks_convert(&before[rank], &after[rank], m->finish_ns)};
        if (joined[p].finish_ns < joined[p].start_ns)
            joined[p].finish_ns = joined[p].start_ns;
        first_ns = joined[p].start_ns < first_ns ? joined[p].start_ns : first_ns;
    }
    for (uint32_t p = 0; p < split->placements_count; p++) {
        joined[p].start_ns -= first_ns;
        joined[p].finish_ns -= first_ns;
    }
}

static void check_causes(const clo_split *split, const moment *joined, clo_remote_result *result)
{
    const clo_graph *graph = clo_cost_graph(split->cost);

    for (uint32_t p = 0; p < split->placements_count; p++) {
        uint32_t task = split->placements[p].task;
        for (uint32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++)
            for (uint32_t i = graph->first_instance[clo_graph_source(graph, k)];
                 i < graph->first_instance[clo_graph_source(graph, k) + 1]; i++) {
                uint32_t source = clo_split_source(split, p, i, clo_graph_in_bytes(graph, k));
                uint32_t to = clo_split_machine(split, p);
                if (clo_split_machine(split, source) != to) /* what was sent, to whichever consumer it came first */
                    source = split->transfers[clo_split_transfer(split, i, to)].source;
                int64_t early_ns = joined[source].finish_ns - joined[p].start_ns;
                result->effects_before_causes += early_ns > 0;
                if (early_ns > result->worst_effect_ns)
                    result->worst_effect_ns = early_ns;
            }
    }
}

static clo_status make_trace(const clo_split *split, const moment *joined, clo_trace **trace)
{
    clo_trace_event *events = clo_allocate(split->placements_count, sizeof *events);

    if (events == NULL)
        return clo_fail_memory("the trace of a run");
    for (uint32_t p = 0; p < split->placements_count; p++) {
        const clo_placement *at = &split->placements[p];
        events[p] = (clo_trace_event){.task = at->task,
                                      .instance = at->instance,
                                      .executor = at->executor,
                                      .is_replica = at->is_replica,
                                      .start_ns = joined[p].start_ns,
                                      .finish_ns = joined[p].finish_ns,
                                      .sequence = p};
    }
    clo_status status = clo_trace_create(split->cost, false, events, split->placements_count, trace);
    clo_free(events);
    return status;
}

static clo_status join_here(const clo_exchange *x, const clo_offset *before, const clo_offset *after, moment *all,
                            moment *joined, uint32_t *begins, clo_remote_result *result, clo_trace **trace)
{
    const clo_split *split = x->local->split;

    convert(split, before, after, all, begins, joined);
    check_causes(split, joined, result);
    for (uint32_t p = 0; p < split->placements_count; p++)
        if (joined[p].finish_ns > result->makespan_ns)
            result->makespan_ns = joined[p].finish_ns;
    for (int rank = 0; rank < x->remote->ranks; rank++) {
        int64_t error_ns = before[rank].error_ns > after[rank].error_ns ? before[rank].error_ns : after[rank].error_ns;
        result->clock_error_ns = error_ns > result->clock_error_ns ? error_ns : result->clock_error_ns;
    }
    return trace != NULL ? make_trace(split, joined, trace) : CLO_OK;
}

/* What rank 0 has found out is everybody's. */
static clo_status share(const clo_exchange *x, clo_remote_result *result)
{
    int64_t values[4] = {result->makespan_ns, result->clock_error_ns, (int64_t)result->effects_before_causes,
                         result->worst_effect_ns};
    MPI_Request request;
    clo_status status =
        clo_remote_mpi(MPI_Ibcast(values, 4, MPI_INT64_T, 0, x->remote->control, &request), "MPI_Ibcast");

    if (status == CLO_OK)
        status = clo_remote_wait(x->remote, &request);
    result->makespan_ns = values[0];
    result->clock_error_ns = values[1];
    result->effects_before_causes = (uint64_t)values[2];
    result->worst_effect_ns = values[3];
    return status;
}

clo_status clo_join_trace(const clo_exchange *x, const clo_offset *before, const clo_offset *after,
                          clo_remote_result *result, clo_trace **trace)
{
    uint32_t executions = x->local->split->placements_count;
    size_t ranks = (size_t)x->remote->ranks;
    moment *all = clo_allocate(executions, sizeof *all), *joined = clo_allocate(executions, sizeof *joined);
    uint32_t *counts = clo_allocate(ranks, sizeof *counts), *begins = clo_allocate(ranks, sizeof *begins);
    clo_status status = CLO_OK;

    if (all == NULL || joined == NULL || counts == NULL || begins == NULL)
        status = clo_fail_memory("the trace of a run");
    if (status == CLO_OK)
        status = gather(x, all, counts, begins);
    if (status == CLO_OK && x->remote->rank == 0)
        status = join_here(x, before, after, all, joined, begins, result, trace);
    if (status == CLO_OK)
        status = share(x, result);
    clo_free(all);
    clo_free(joined);
    clo_free(counts);
    clo_free(begins);
    return status;
}
