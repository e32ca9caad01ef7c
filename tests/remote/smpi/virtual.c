/* virtual.c - see virtual.h. */
#include "virtual.h"

#include "base/memory.h"
#include "base/status.h"
#include "graph/graph.h"
#include "remote/split/bodies.h"

#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define YIELD_NS 50000     /* a look at messages takes so long */
#define FOR_EVER_S 1e6     /* a rank that is silent */
#define LARGE_BYTES 65536u /* as exchange.c: up to so many bytes a message is no flow */

struct virtual_job {
    virtual_rank *rank;
    const clo_graph *graph;
    uint32_t executors, done, failed_task;
    int failed_code;
    uint32_t *list;      /* tasks, executor by executor, in the order of the plan */
    uint32_t *next;      /* [executors + 1] place in `list`, of what runs or comes next */
    uint32_t *end;       /* [executors] */
    uint32_t *running;   /* [executors] task; CLO_NONE: none */
    int64_t *free_ns;    /* [executors] */
    int64_t *ends_ns;    /* [executors] INT64_MAX: pending, or nothing runs */
    uint32_t *left;      /* [tasks] predecessors that have not ended */
    int64_t *ready_ns;   /* [tasks] */
    void **outputs;      /* [tasks] */
    uint32_t *pieces;    /* [transfers] pieces that were sent */
    int64_t stops_at_ns; /* 0: never */
};

void virtual_begin(virtual_rank *rank)
{
    sg_actor_self_set_data(rank);
}

virtual_rank *virtual_self(void)
{
    return sg_actor_self_get_data();
}

void virtual_sleep(int64_t ns)
{
    sg_actor_sleep_for((double)ns * 1e-9);
}

static int64_t simulated_ns(void)
{
    return (int64_t)(simgrid_get_clock() * 1e9 + 0.5);
}

__attribute__((format(printf, 2, 3))) static void wrong(virtual_rank *rank, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (rank->wrong++ == 0)
        vsnprintf(rank->what, sizeof rank->what, format, arguments);
    va_end(arguments);
}

/* ---- executors ---- */

static clo_call call_of(const virtual_job *job, uint32_t task, uint32_t executor)
{
    const clo_graph_task_row *row = &job->graph->rows[task];

    return (clo_call){.argument = row->argument,
                      .task = task,
                      .instances = 1,
                      .executor = executor,
                      .output = job->outputs[task],
                      .output_bytes = clo_graph_output(job->graph, task),
                      .count = 1};
}

static void finish(virtual_job *job, uint32_t executor, int64_t now_ns)
{
    const clo_graph *graph = job->graph;
    uint32_t task = job->running[executor];

    job->running[executor] = CLO_NONE;
    job->ends_ns[executor] = INT64_MAX;
    job->free_ns[executor] = now_ns;
    job->next[executor]++;
    job->done++;
    for (uint32_t k = graph->out_first[task]; k < graph->out_first[task + 1]; k++) {
        uint32_t to = graph->out[k];
        job->left[to]--;
        if (now_ns > job->ready_ns[to])
            job->ready_ns[to] = now_ns;
    }
}

static void start(virtual_job *job, uint32_t executor, uint32_t task)
{
    const clo_graph_task_row *row = &job->graph->rows[task];
    int64_t begin_ns = job->free_ns[executor] > job->ready_ns[task] ? job->free_ns[executor] : job->ready_ns[task];

    job->running[executor] = task;
    job->ends_ns[executor] = begin_ns;
    if (row->body == clo_local_execute)
        job->ends_ns[executor] += ((const clo_local_task *)row->argument)->expected_ns;
    if (row->body != clo_local_await)
        return;
    clo_call call = call_of(job, task, executor);
    if (row->body(&call) == CLO_PENDING)
        job->ends_ns[executor] = INT64_MAX;
}

/* A body is called at its end, and sees the clock as it was at its beginning; the tests' body moves it on. */
static void call_body(virtual_job *job, uint32_t executor, uint32_t task)
{
    const clo_graph *graph = job->graph;
    clo_call call = call_of(job, task, executor);
    uint32_t first = graph->in_first[task], count = graph->in_first[task + 1] - first;
    const void **inputs = clo_allocate(count, sizeof *inputs);

    for (uint32_t i = 0; i < count; i++)
        inputs[i] = job->outputs[clo_graph_source(graph, first + i)];
    call.inputs = inputs;
    call.inputs_count = graph->has_outputs ? count : 0;
    const clo_local_task *mine = graph->rows[task].argument;
    job->rank->ends_ns = job->ends_ns[executor];
    job->rank->shown_ns = job->ends_ns[executor] - mine->expected_ns;
    int code = graph->rows[task].body(&call);
    job->rank->shown_ns = 0;
    clo_free(inputs);
    if (code != 0 && job->failed_task == CLO_NONE) {
        job->failed_task = task;
        job->failed_code = code;
    }
}

/* The executor whose body ends first. */
static uint32_t first_end(const virtual_job *job)
{
    uint32_t first = 0;

    for (uint32_t e = 1; e < job->executors; e++)
        if (job->ends_ns[e] < job->ends_ns[first])
            first = e;
    return first;
}

/* All that has happened up to now, moment by moment. */
static void advance(virtual_job *job, int64_t now_ns)
{
    while (job->failed_task == CLO_NONE) { /* ends: each round but the last one ends a task */
        for (uint32_t e = 0; e < job->executors; e++)
            if (job->running[e] == CLO_NONE && job->next[e] < job->end[e] && job->left[job->list[job->next[e]]] == 0)
                start(job, e, job->list[job->next[e]]);
        uint32_t first = first_end(job);
        if (job->ends_ns[first] > now_ns)
            return;
        uint32_t task = job->running[first];
        if (job->graph->rows[task].body == clo_local_execute)
            call_body(job, first, task);
        finish(job, first, job->ends_ns[first]);
    }
}

/* ---- the clock ---- */

int64_t virtual_clock_ns(void)
{
    virtual_rank *rank = virtual_self();
    int64_t now_ns = simulated_ns();

    if (rank->shown_ns != 0)
        return rank->shown_ns;
    if (rank->job != NULL && rank->job->stops_at_ns > 0 && now_ns >= rank->job->stops_at_ns)
        sg_actor_sleep_for(FOR_EVER_S);
    if (rank->job != NULL)
        advance(rank->job, now_ns);
    return now_ns;
}

void virtual_wait_until(clo_eventcount *bell, uint32_t heard, int64_t until_ns)
{
    const virtual_job *job = virtual_self()->job;
    int64_t now_ns = virtual_clock_ns();

    if (job != NULL && job->ends_ns[first_end(job)] < until_ns)
        until_ns = job->ends_ns[first_end(job)];
    if (clo_eventcount_hear(bell) == heard && until_ns > now_ns)
        virtual_sleep(until_ns - now_ns);
}

int virtual_yield(void)
{
    virtual_sleep(YIELD_NS);
    return 0;
}

/* ---- the job ---- */

clo_status virtual_runtime_create(const clo_platform *platform, const clo_runtime_config *config, clo_runtime **out)
{
    (void)platform;
    (void)config;
    *out = (clo_runtime *)(void *)virtual_self();
    return CLO_OK;
}

void virtual_runtime_destroy(clo_runtime *runtime)
{
    (void)runtime;
}

static bool fill(virtual_job *job, const clo_placement *placements, size_t count)
{
    const clo_graph *graph = job->graph;

    job->list = clo_allocate(count, sizeof *job->list);
    job->next = clo_allocate(job->executors + (size_t)1, sizeof *job->next);
    job->end = clo_allocate(job->executors, sizeof *job->end);
    job->running = clo_allocate(job->executors, sizeof *job->running);
    job->free_ns = clo_allocate(job->executors, sizeof *job->free_ns);
    job->ends_ns = clo_allocate(job->executors, sizeof *job->ends_ns);
    job->left = clo_allocate(graph->tasks, sizeof *job->left);
    job->ready_ns = clo_allocate(graph->tasks, sizeof *job->ready_ns);
    job->outputs = clo_allocate(graph->tasks, sizeof *job->outputs);
    if (job->list == NULL || job->next == NULL || job->end == NULL || job->running == NULL || job->free_ns == NULL ||
        job->ends_ns == NULL || job->left == NULL || job->ready_ns == NULL || job->outputs == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        job->next[placements[i].executor + 1]++;
    for (uint32_t e = 0; e < job->executors; e++) {
        job->next[e + 1] += job->next[e];
        job->end[e] = job->next[e];
        job->running[e] = CLO_NONE;
        job->ends_ns[e] = INT64_MAX;
    }
    for (size_t i = 0; i < count; i++) /* a plan lists the placements of an executor in their order */
        job->list[job->end[placements[i].executor]++] = placements[i].task;
    bool is_full = true;
    for (uint32_t t = 0; t < graph->tasks; t++) {
        uint64_t bytes = clo_graph_output(graph, t);
        job->left[t] = graph->in_first[t + 1] - graph->in_first[t];
        job->outputs[t] = bytes > 0 ? clo_allocate(bytes, 1) : NULL;
        is_full &= bytes == 0 || job->outputs[t] != NULL;
    }
    return is_full;
}

clo_status virtual_job_create(clo_runtime *runtime, const clo_cost *cost, const clo_job_config *config, clo_job **out)
{
    virtual_job *job = clo_allocate(1, sizeof *job);
    size_t count;
    const clo_placement *placements = clo_plan_placements(config->plan, &count);

    if (job == NULL)
        return clo_fail_memory("a job");
    job->rank = (virtual_rank *)(void *)runtime;
    job->graph = clo_cost_graph(cost);
    job->executors = clo_platform_executors(clo_cost_platform(cost));
    job->failed_task = CLO_NONE;
    *out = (clo_job *)(void *)job;
    return fill(job, placements, count) ? CLO_OK : clo_fail_memory("a job");
}

clo_status virtual_job_submit(clo_job *opaque)
{
    virtual_job *job = (virtual_job *)(void *)opaque;
    int64_t now_ns = simulated_ns();

    for (uint32_t e = 0; e < job->executors; e++)
        job->free_ns[e] = now_ns;
    job->stops_at_ns = job->rank->stops_after_ns > 0 ? now_ns + job->rank->stops_after_ns : 0;
    job->rank->job = job;
    return CLO_OK;
}

clo_status virtual_job_wait_for(clo_job *opaque, int64_t timeout_ns, clo_job_result *result)
{
    virtual_job *job = (virtual_job *)(void *)opaque;

    (void)timeout_ns;
    (void)virtual_clock_ns();
    result->failed_task = job->failed_task;
    result->failed_code = job->failed_code;
    if (job->failed_task != CLO_NONE)
        return CLO_ERR_TASK;
    return job->done == job->graph->tasks ? CLO_OK : CLO_ERR_TIMEOUT;
}

void virtual_job_destroy(clo_job *opaque)
{
    virtual_job *job = (virtual_job *)(void *)opaque;

    if (job == NULL)
        return;
    job->rank->job = NULL;
    for (uint32_t t = 0; t < job->graph->tasks; t++)
        clo_free(job->outputs[t]);
    clo_free(job->list);
    clo_free(job->next);
    clo_free(job->end);
    clo_free(job->running);
    clo_free(job->free_ns);
    clo_free(job->ends_ns);
    clo_free(job->left);
    clo_free(job->ready_ns);
    clo_free(job->outputs);
    clo_free(job->pieces);
    clo_free(job);
}

clo_status virtual_token_take(const clo_call *call, clo_cancel_fn cancel, void *argument, clo_token *out)
{
    (void)cancel;
    (void)argument;
    *out = (clo_token){.runtime = (clo_runtime *)(void *)virtual_self(),
                       .number = call->task + (uint64_t)1,
                       .executor = call->executor};
    return CLO_OK;
}

clo_status virtual_token_complete(clo_token token, int code)
{
    virtual_rank *rank = (virtual_rank *)(void *)token.runtime;
    virtual_job *job = rank->job;

    if (job == NULL || job->running[token.executor] + (uint64_t)1 != token.number ||
        job->ends_ns[token.executor] != INT64_MAX || code != 0) {
        wrong(rank, "a token was completed that is not open: executor %u", token.executor);
        return CLO_ERR_STATE;
    }
    finish(job, token.executor, simulated_ns());
    return CLO_OK;
}

/* ---- MPI ---- */

int virtual_query_thread(int *level)
{
    *level = MPI_THREAD_FUNNELED; /* there is one thread; SMPI says so */
    return MPI_SUCCESS;
}

clo_status virtual_clocks_compare(clo_remote *remote, clo_offset *offsets)
{
    if (virtual_self()->compares_clocks)
        return clo_clocks_compare(remote, offsets);
    for (int rank = 0; rank < remote->ranks; rank++)
        offsets[rank] = (clo_offset){0, 0, 0};
    return CLO_OK;
}

int virtual_get_attr(MPI_Comm comm, int key, void *value, int *is_set)
{
    virtual_rank *rank = virtual_self();

    if (key != MPI_TAG_UB || rank->tags_max == 0)
        return MPI_Comm_get_attr(comm, key, value, is_set);
    *(int **)value = &rank->tags_max;
    *is_set = 1;
    return MPI_SUCCESS;
}

/* The part of a rank's plan, from one of its tasks. */
static const clo_local *local_of(const virtual_job *job)
{
    const clo_graph_task_row *row = &job->graph->rows[0];

    if (row->body == clo_local_execute)
        return ((const clo_local_task *)row->argument)->local;
    return row->body == clo_local_await ? ((const clo_receive *)row->argument)->local : NULL;
}

/* Is it ready, not sent, and as large or small as the one that is sent? */
static bool waits(const virtual_job *job, const clo_local *local, uint32_t transfer, bool is_large)
{
    const clo_transfer *t = &local->split->transfers[transfer];
    const clo_local_task *task = &local->tasks[local->task_of[t->source]];

    return task->finish_ns != 0 && job->pieces[transfer] == 0 && (t->bytes > LARGE_BYTES) == is_large;
}

/* The first piece of a message: it is ready, goes where the plan says, and no other one that waits is more urgent. */
static void check_message(virtual_rank *rank, virtual_job *job, uint32_t transfer, int to)
{
    const clo_local *local = local_of(job);

    if (local == NULL || transfer >= local->split->transfers_count) {
        wrong(rank, "transfer %u is sent, which the plan does not have", transfer);
        return;
    }
    const clo_transfer *t = &local->split->transfers[transfer];
    if (job->pieces == NULL)
        job->pieces = clo_allocate(local->split->transfers_count, sizeof *job->pieces);
    if (t->from != local->machine || t->to != (uint32_t)to)
        wrong(rank, "transfer %u goes from %u to %d, by the plan from %u to %u", transfer, local->machine, to, t->from,
              t->to);
    else if (job->pieces[transfer]++ == 0) {
        rank->messages++;
        if (local->tasks[local->task_of[t->source]].finish_ns == 0)
            wrong(rank, "transfer %u is sent before its source has run", transfer);
        for (uint32_t s = 0; s < local->sends_count; s++)
            if (waits(job, local, local->sends[s], t->bytes > LARGE_BYTES) &&
                local->split->transfers[local->sends[s]].rank_u > t->rank_u)
                wrong(rank, "transfer %u (rank_u %lld) is sent before %u (%lld)", transfer, (long long)t->rank_u,
                      local->sends[s], (long long)local->split->transfers[local->sends[s]].rank_u);
    }
}

static void check_send(int to, int tag, MPI_Comm comm)
{
    virtual_rank *rank = virtual_self();

    if (rank->remote != NULL && rank->job != NULL && comm == rank->remote->data)
        check_message(rank, rank->job, (uint32_t)tag, to);
}

int virtual_isend(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    check_send(to, tag, comm);
    return MPI_Isend(from, count, type, to, tag, comm, request);
}

int virtual_issend(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    check_send(to, tag, comm);
    return MPI_Issend(from, count, type, to, tag, comm, request);
}

/* SMPI 3.32 leaves is_done alone where the request is null and the status not wanted; MPI says that it is done. */
int virtual_test(MPI_Request *request, int *is_done, MPI_Status *status)
{
    MPI_Status own;

    (void)status;
    return MPI_Test(request, is_done, &own);
}

/* SMPI 3.32 has no matched probe. With one thread, what was found is what the next receive from there takes. */
int virtual_improbe(int from, int tag, MPI_Comm comm, int *is_there, MPI_Message *message, MPI_Status *status)
{
    int code = MPI_Iprobe(from, tag, comm, is_there, status);

    *message = NULL;
    if (code == MPI_SUCCESS && *is_there) {
        virtual_self()->found = *status;
        virtual_self()->found_in = comm;
    }
    return code;
}

int virtual_imrecv(void *to, int count, MPI_Datatype type, MPI_Message *message, MPI_Request *request)
{
    const virtual_rank *rank = virtual_self();

    (void)message;
    return MPI_Irecv(to, count, type, rank->found.MPI_SOURCE, rank->found.MPI_TAG, rank->found_in, request);
}
