/* stream.c - a workload in virtual time: a tournament of events drives the scheduler.
 *
 * Events are arrivals (the next job), ends of executions (one for each busy executor) and the scheduler's timer. At one
 * instant ends come first, in order of executors, then arrivals, then the timer. In an environment executors also come
 * to jobs, arrivals come first, and ends follow in the order in which they began. A cost is made once for each
 * graph. */
#include <clotho/stream.h>

#include "base/carve.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/order/sort.h"
#include "base/status.h"
#include "engine/program/control_flow.h"
#include "engine/scheduler/scheduler.h"
#include "plan/ports/ports.h"
#include "sim/time/stream_time.h"
#include "sync/structure/histogram.h"
#include "trace/log.h"
#include "workload/workload.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PROGRESS_EVERY 65536u

/* A graph of the workload and its cost. */
typedef struct graph_cost {
    const clo_graph *graph;
    clo_cost *cost;
} graph_cost;

/* A live job: the scheduler's, and what is counted of it. */
typedef struct live_job {
    clo_scheduler_job *job;
    clo_arena arena;
    const clo_workload_job *row;
    uint32_t index;
    int64_t start_ns, busy_ns;
    uint64_t executions;
    clo_control_flow control_flow; /* in use if the graph has branches */
} live_job;

/* A release of a job of the workload. */
typedef struct arrival {
    int64_t when_ns;
    uint32_t job;
    uint64_t release;
} arrival;

typedef struct stream {
    const clo_workload *workload;
    const clo_platform *platform;
    clo_stream_config config;
    clo_scheduler *scheduler;
    clo_arena arena;
    graph_cost *costs; /* [costs_count] by graph */
    size_t costs_count;
    arrival *arrivals; /* by time */
    size_t arrivals_count, next_arrival;
    clo_stream_time time; /* ends of executions and of moves; id: see end_id */
    const clo_environment *environment;
    uint64_t begun;    /* executions and moves, in an environment */
    int64_t *start_ns; /* [executors] */
    live_job **owner;  /* [executors] NULL: it is on its way to a job */
    uint32_t *stage;   /* [executors] of the job, that runs there */
    int64_t *jct_ns;   /* [ended] */
    clo_histogram *decision_ns;
    clo_stream_result result;
    double weighted_ns, weights, sum_ns, busy_ns, late_ns;
    uint64_t due; /* jobs with a deadline that ended */
    uint64_t live;
    uint64_t fitting; /* jobs that fit the platform and have arrived, or were refused for want of room */
    /* An end is beyond all times: the simulation cannot go on. */
    bool is_too_long;
} stream;

static int compare_graphs(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const graph_cost *)a)->graph, y = (uintptr_t)((const graph_cost *)b)->graph;

    return x < y ? -1 : x > y;
}

static int compare_arrivals(const void *a, const void *b)
{
    const arrival *x = a, *y = b;

    if (x->when_ns != y->when_ns)
        return x->when_ns < y->when_ns ? -1 : 1;
    return x->job != y->job ? (x->job < y->job ? -1 : 1) : (x->release < y->release ? -1 : x->release > y->release);
}

static const clo_cost *cost_of(const stream *s, const clo_graph *graph)
{
    graph_cost key = {graph, NULL};
    const graph_cost *found = bsearch(&key, s->costs, s->costs_count, sizeof key, compare_graphs);

    return found->cost;
}

/* One cost for each graph, however many jobs have it; none for a graph that fits nowhere, where that is no error. */
static clo_status make_costs(stream *s)
{
    uint32_t jobs = clo_workload_jobs(s->workload);
    size_t kept = 0;

    s->costs = clo_allocate(jobs, sizeof *s->costs);
    if (s->costs == NULL)
        return clo_fail_memory("the costs of a workload");
    for (uint32_t j = 0; j < jobs; j++)
        s->costs[j].graph = clo_workload_get(s->workload, j)->graph;
    qsort(s->costs, jobs, sizeof *s->costs, compare_graphs);
    for (uint32_t j = 0; j < jobs; j++)
        if (j == 0 || s->costs[j].graph != s->costs[j - 1].graph)
            s->costs[kept++].graph = s->costs[j].graph;
    for (size_t i = 0; i < kept; i++) {
        clo_status status = clo_cost_create(s->costs[i].graph, s->platform, &s->costs[i].cost);
        if (status != CLO_OK && !(status == CLO_ERR_PLATFORM && s->config.skips_misfits))
            return status;
        s->costs_count = i + 1;
    }
    return CLO_OK;
}

static clo_status make_arrivals(stream *s)
{
    uint64_t total = 0;
    size_t at = 0;

    for (uint32_t j = 0; j < clo_workload_jobs(s->workload); j++)
        total = clo_amount_add(total, clo_workload_releases(s->workload, j));
    if (total > CLO_WORKLOAD_JOBS_MAX)
        return clo_fail(CLO_ERR_LIMIT, "the workload \"%.60s\" has %llu jobs and releases; use at most %u",
                        clo_workload_name(s->workload), (unsigned long long)total, (unsigned)CLO_WORKLOAD_JOBS_MAX);
    s->arrivals = clo_allocate((size_t)total, sizeof *s->arrivals);
    s->jct_ns = s->arrivals != NULL ? clo_allocate((size_t)total, sizeof *s->jct_ns) : NULL;
    if (s->jct_ns == NULL)
        return clo_fail_memory("the arrivals of a workload");
    for (uint32_t j = 0; j < clo_workload_jobs(s->workload); j++) {
        const clo_workload_job *row = clo_workload_get(s->workload, j);
        for (uint64_t k = 0; k < clo_workload_releases(s->workload, j); k++)
            s->arrivals[at++] = (arrival){row->arrival_ns + (int64_t)k * row->period_ns, j, k};
    }
    s->arrivals_count = at;
    qsort(s->arrivals, at, sizeof *s->arrivals, compare_arrivals);
    return CLO_OK;
}

static clo_status open_scheduler(stream *s)
{
    size_t all = s->arrivals_count < CLO_NONE - 1 ? s->arrivals_count : CLO_NONE - 1;
    uint32_t executors = s->platform->executors_count;
    clo_scheduler_config config = {
        .platform = s->platform,
        .policy = s->config.policy,
        .argument = s->config.argument,
        .jobs_max = s->config.jobs_max > 0 ? s->config.jobs_max : (uint32_t)all,
        .steps_max = s->config.steps_max,
        .log = s->config.log,
        .has_moves = s->environment != NULL,
        .passes_duplicates = s->environment != NULL,
        .moving_ns = s->environment != NULL ? s->environment->moving_ns : 0,
        .keeps_stages = s->environment != NULL && s->environment->keeps_stages != 0,
    };

    if (s->config.log != NULL)
        clo_log_set_run(s->config.log, &(clo_log_run){CLO_LOG_RUN_SIMULATED, CLO_CLOCK_VIRTUAL, executors,
                                                      config.jobs_max, config.steps_max});
    clo_block block = {0};
    clo_stream_time_carve(&s->time, executors, &block);
    clo_carve(&block, &s->start_ns, executors);
    clo_carve(&block, &s->owner, executors);
    clo_carve(&block, &s->stage, executors);
    clo_carve(&block, &s->decision_ns, 1);
    if (!clo_block_take(&block, &s->arena))
        return clo_fail_memory("a simulation");
    clo_stream_time_begin(&s->time);
    return clo_scheduler_create(&config, &s->arena, &s->scheduler);
}

/* Orders what ends at one instant: by executor; in an environment as it began. */
static uint64_t end_id(stream *s, uint32_t executor)
{
    return s->environment != NULL ? s->begun++ * s->platform->executors_count + executor : executor;
}

static void end_at(stream *s, uint32_t executor, int64_t end_ns)
{
    s->is_too_long |= end_ns == CLO_TIME_NEVER;
    clo_tournament_put(&s->time.ends, executor, end_ns, end_id(s, executor));
}

static int64_t length_of(const stream *s, const clo_order *order)
{
    int64_t cost_ns = clo_cost_time(order->job->live.cost, order->stage, order->executor);

    if (order->is_skipped)
        return 0;
    if (s->environment == NULL)
        return cost_ns;
    const clo_environment_execution execution = {
        .graph = order->job->live.cost->graph,
        .job = order->job->live.id,
        .stage = order->stage,
        .instance = order->instance,
        .executor = order->executor,
        .bound = order->job->live.bound,
        .last_stage = order->last_stage,
        .cost_ns = cost_ns,
    };
    int64_t time_ns = s->environment->time_ns(s->environment->state, &execution);
    return time_ns > 0 ? time_ns : 0;
}

/* The executor sets out to the job of the order, without an instance. */
static void set_out(stream *s, const clo_order *order)
{
    assert(s->environment != NULL);
    s->start_ns[order->executor] = s->time.now_ns;
    s->owner[order->executor] = NULL;
    s->result.moves++;
    end_at(s, order->executor, clo_time_add(s->time.now_ns, s->environment->moving_ns));
}

static void begin(stream *s, const clo_order *order)
{
    live_job *live = order->job->owner;
    int64_t start_ns = order->arrival_ns > s->time.now_ns ? order->arrival_ns : s->time.now_ns;
    int64_t time_ns = length_of(s, order);

    if (s->environment != NULL && !order->is_bound) {
        start_ns = clo_time_add(start_ns, s->environment->moving_ns);
        s->result.moves++;
    }
    s->start_ns[order->executor] = start_ns;
    s->owner[order->executor] = live;
    s->stage[order->executor] = order->stage;
    if (order->is_skipped) {
        s->result.skipped++;
        end_at(s, order->executor, start_ns);
        return;
    }
    if (start_ns < live->start_ns)
        live->start_ns = start_ns;
    live->busy_ns = clo_time_add(live->busy_ns, time_ns);
    live->executions++;
    s->result.duplicates += order->is_replica;
    s->busy_ns += (double)time_ns;
    end_at(s, order->executor, clo_time_add(start_ns, time_ns));
}

/* Takes all orders of the scheduler: what starts ends later. */
static void take_orders(stream *s)
{
    clo_order order;
    int64_t before_ns = s->config.times_decisions ? clo_clock_ns() : 0;

    while (clo_scheduler_next(s->scheduler, &order)) {
        if (s->config.times_decisions) {
            int64_t now_ns = clo_clock_ns();
            clo_histogram_record(s->decision_ns, now_ns - before_ns);
            before_ns = now_ns;
        }
        if (order.stage == CLO_STAGE_MOVE)
            set_out(s, &order);
        else
            begin(s, &order);
    }
}

static void note_outcome(stream *s, const live_job *live, int64_t finish_ns, clo_status status)
{
    int64_t arrival_ns = live->job != NULL ? live->job->live.arrival_ns : s->time.now_ns;

    if (s->config.outcomes != NULL)
        s->config.outcomes[live->index] = (clo_stream_outcome){
            .arrival_ns = arrival_ns,
            .start_ns = live->start_ns,
            .finish_ns = finish_ns,
            .busy_ns = live->busy_ns,
            .executions = live->executions,
            .status = status,
        };
}

static void take_ended(stream *s)
{
    clo_scheduler_job *job;

    while ((job = clo_scheduler_ended(s->scheduler)) != NULL) {
        live_job *live = job->owner;
        int64_t jct_ns = s->time.now_ns - job->live.arrival_ns;
        double weight = (double)job->live.weight;
        s->jct_ns[s->result.jobs_ended++] = jct_ns;
        s->sum_ns += (double)jct_ns;
        s->weighted_ns += weight * (double)jct_ns;
        s->weights += weight;
        s->result.jobs_late += s->time.now_ns > job->live.deadline_ns;
        s->late_ns += s->time.now_ns > job->live.deadline_ns ? (double)(s->time.now_ns - job->live.deadline_ns) : 0;
        s->due += job->live.deadline_ns != CLO_TIME_NEVER;
        s->live--;
        note_outcome(s, live, s->time.now_ns, CLO_OK);
        clo_arena arena = live->arena;
        clo_arena_close(&arena);
    }
}

/* Makes the job and gives it to the scheduler. */
static clo_status arrive(stream *s, const arrival *at)
{
    const clo_workload_job *row = clo_workload_get(s->workload, at->job);
    clo_policy_use use = {.policy = s->config.policy, .argument = s->config.argument};
    clo_scheduler_job_config config = {
        .deadline_ns = row->deadline_ns > 0 ? clo_time_add(at->when_ns, row->deadline_ns) : CLO_TIME_NEVER,
        .weight = row->weight,
        .band = row->band,
        .group = row->group,
        .limit = row->limit > 0 ? row->limit : CLO_NONE,
    };
    live_job refused = {.index = at->job, .start_ns = CLO_TIME_NEVER}, *live;
    clo_arena arena;

    const clo_cost *cost = cost_of(s, row->graph);
    uint64_t place = s->fitting;

    s->fitting += cost != NULL;
    if (cost == NULL || !clo_scheduler_has_room(s->scheduler)) {
        s->result.jobs_refused++;
        note_outcome(s, &refused, CLO_TIME_NEVER, cost == NULL ? CLO_ERR_PLATFORM : CLO_ERR_LIMIT);
        return CLO_OK;
    }
    clo_arena_open(&arena, NULL, 0);
    live = clo_arena_take(&arena, 1, sizeof *live);
    clo_scheduler_job *job = NULL;
    clo_status status = live == NULL ? clo_fail_memory("a job of a simulation")
                                     : clo_scheduler_job_create(cost, &config, &use, &arena, &job);
    if (status != CLO_OK)
        return clo_arena_close(&arena), status;
    *live = (live_job){.job = job, .row = row, .index = at->job, .start_ns = CLO_TIME_NEVER};
    status = clo_control_flow_create(&live->control_flow, row->graph, s->config.seed + at->job + at->release, &arena);
    live->arena = arena;
    if (status != CLO_OK)
        return clo_arena_close(&arena), status;
    if (live->control_flow.graph != NULL)
        job->control_flow = &live->control_flow;
    job->tag = (int64_t)place; /* those that are refused have a place, too, and no number of the scheduler */
    job->owner = live;
    if (++s->live > s->result.jobs_peak)
        s->result.jobs_peak = s->live;
    status = clo_scheduler_arrive(s->scheduler, job, s->time.now_ns);
    clo_scheduler_go_on_to_end(s->scheduler);
    return status;
}

/* What was skipped has no end; a branch chooses. */
static void end_of(stream *s, live_job *live, uint32_t stage)
{
    if (clo_control_flow_skips(&live->control_flow, stage))
        return;
    s->result.completions++;
    if (clo_control_flow_has_branch(&live->control_flow, stage))
        (void)clo_control_flow_choose(&live->control_flow, stage, CLO_NONE); /* a drawn arm is one that it has */
}

/* The executor has come to a job, or what it ran has ended. */
static void end_next(stream *s)
{
    uint32_t executor = clo_stream_time_take(&s->time);

    if (s->owner[executor] == NULL) {
        clo_scheduler_moved(s->scheduler, executor, s->start_ns[executor], s->time.now_ns);
        return;
    }
    end_of(s, s->owner[executor], s->stage[executor]);
    clo_scheduler_finish(s->scheduler, executor, s->start_ns[executor], s->time.now_ns);
}

/* One job; in an environment all that arrive now. */
static clo_status arrive_next(stream *s)
{
    clo_status status;

    do
        status = arrive(s, &s->arrivals[s->next_arrival++]);
    while (status == CLO_OK && s->environment != NULL && s->next_arrival < s->arrivals_count &&
           s->arrivals[s->next_arrival].when_ns == s->time.now_ns);
    return status;
}

static clo_status step(stream *s)
{
    int64_t arrival_ns = s->next_arrival < s->arrivals_count ? s->arrivals[s->next_arrival].when_ns : CLO_TIME_NEVER;
    int64_t wake_ns = clo_scheduler_wake_ns(s->scheduler);
    clo_status status = CLO_OK;

    switch (clo_stream_time_next(&s->time, arrival_ns, wake_ns, s->environment != NULL, &s->time.now_ns)) {
    case CLO_STREAM_END:
        end_next(s);
        break;
    case CLO_STREAM_ARRIVAL:
        status = arrive_next(s);
        break;
    default:
        clo_scheduler_timer(s->scheduler, wake_ns);
    }
    if (status == CLO_OK)
        take_orders(s);
    take_ended(s);
    return status;
}

static bool is_stopped(const stream *s, uint64_t steps)
{
    return s->config.progress != NULL && steps % PROGRESS_EVERY == 0 &&
           s->config.progress(s->config.progress_argument, s->result.jobs_ended, s->arrivals_count, s->time.now_ns) !=
               0;
}

static clo_status run(stream *s)
{
    clo_status status = CLO_OK;

    clo_scheduler_begin_log(s->scheduler);
    for (uint64_t steps = 1; status == CLO_OK && (s->next_arrival < s->arrivals_count || s->live > 0); steps++) {
        if (s->time.ends.count == 0 && s->next_arrival == s->arrivals_count &&
            clo_scheduler_wake_ns(s->scheduler) == CLO_TIME_NEVER)
            return clo_fail(CLO_ERR_STATE,
                            "%llu jobs can never run: their demands fit no machine, even when it is idle",
                            (unsigned long long)s->live);
        if (is_stopped(s, steps))
            return clo_fail(CLO_ERR_CANCELLED, "the simulation was stopped after %llu of %zu jobs",
                            (unsigned long long)s->result.jobs_ended, s->arrivals_count);
        status = step(s);
        if (s->is_too_long)
            return clo_fail(CLO_ERR_LIMIT, "the jobs take more than 292 years (2^63 ns) together; use a coarser unit");
    }
    clo_scheduler_end_log(s->scheduler, s->time.now_ns);
    return status;
}

static void read_result(stream *s, clo_stream_result *out)
{
    const clo_scheduler_counts *counts = clo_scheduler_counts_of(s->scheduler);
    clo_stream_result *r = &s->result;
    uint64_t ended = r->jobs_ended;
    double span_ns = (double)s->time.now_ns * (double)s->platform->executors_count;

    clo_sort_times(s->jct_ns, (size_t)ended);
    r->size = sizeof *r;
    r->jobs = s->arrivals_count;
    r->makespan_ns = s->time.now_ns;
    r->jct_mean_ns = ended > 0 ? s->sum_ns / (double)ended : 0;
    r->tardiness_mean_ns = s->due > 0 ? s->late_ns / (double)s->due : 0;
    r->jct_weighted_ns = s->weights > 0 ? s->weighted_ns / s->weights : 0;
    r->jct_p95_ns = ended > 0 ? s->jct_ns[(ended * 95 + 99) / 100 - 1] : 0;
    r->utilization = span_ns > 0 ? s->busy_ns / span_ns : 0;
    r->decisions = counts->decisions;
    r->refused = counts->refused;
    r->fallbacks = counts->fallbacks;
    r->decision_steps = counts->most_steps;
    r->turn_steps = counts->most_turn_steps;
    r->partial = counts->partial;
    memcpy(r->refusal, clo_scheduler_refusal(s->scheduler), sizeof r->refusal);
    if (s->config.times_decisions) {
        r->decision_p50_ns = clo_histogram_quantile(s->decision_ns, 0.5);
        r->decision_p99_ns = clo_histogram_quantile(s->decision_ns, 0.99);
        r->decision_p999_ns = clo_histogram_quantile(s->decision_ns, 0.999);
        r->decision_max_ns = atomic_load_explicit(&s->decision_ns->max_ns, memory_order_relaxed);
    }
    clo_result_write(out, r, sizeof *r);
}

/* What is still live when a simulation is given up. */
static void drop_live(stream *s)
{
    if (s->scheduler == NULL)
        return;
    for (uint32_t slot = clo_view_first_job(s->scheduler); slot != CLO_NONE;) {
        const clo_live_job *live = clo_view_job(s->scheduler, slot);
        const clo_scheduler_job *job = (const clo_scheduler_job *)(const void *)live; /* its first member */
        clo_arena arena = ((live_job *)job->owner)->arena;
        slot = live->next;
        clo_arena_close(&arena);
    }
}

static void close_stream(stream *s)
{
    drop_live(s);
    for (size_t i = 0; i < s->costs_count; i++)
        clo_cost_destroy(s->costs[i].cost);
    clo_free(s->costs);
    clo_free(s->arrivals);
    clo_free(s->jct_ns);
    clo_arena_close(&s->arena);
}

static clo_status read_config(const clo_workload *workload, const clo_platform *platform,
                              const clo_stream_config *theirs, clo_stream_config *config)
{
    *config = (clo_stream_config)CLO_STREAM_CONFIG_INIT;
    clo_status status = clo_config_read(config, sizeof *config, theirs, "clo_stream_config");
    if (status != CLO_OK)
        return status;
    if (workload == NULL || platform == NULL)
        return clo_fail_null("clo_stream_simulate", "workload or platform");
    if (clo_workload_jobs(workload) == 0)
        return clo_fail(CLO_ERR_ARGUMENT, "the workload \"%.60s\" has no jobs; add one", clo_workload_name(workload));
    if (config->policy == NULL)
        config->policy = clo_policy_find("fifo");
    if (config->policy->decide == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "the policy has no decide function");
    if (config->environment != NULL && (config->environment->time_ns == NULL || config->environment->moving_ns < 0))
        return clo_fail(CLO_ERR_ARGUMENT, "the environment has no time_ns function, or moving_ns is negative");
    if (config->environment != NULL && config->log != NULL && clo_log_about(config->log)->environment == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "the log's header does not name the environment; write its name there");
    status = clo_ports_refuse(platform, "a stream of jobs does");
    return status == CLO_OK ? clo_workload_check(workload, platform) : status;
}

clo_status clo_stream_simulate(const clo_workload *workload, const clo_platform *platform,
                               const clo_stream_config *config, clo_stream_result *result)
{
    stream s = {.workload = workload, .platform = platform};
    clo_status status = clo_result_check(result, CLO_BYTES_UP_TO(clo_stream_result, refusal), "clo_stream_result");

    if (status == CLO_OK)
        status = read_config(workload, platform, config, &s.config);
    if (status != CLO_OK)
        return status;
    s.environment = s.config.environment;
    clo_arena_open(&s.arena, NULL, 0);
    status = make_costs(&s);
    if (status == CLO_OK)
        status = make_arrivals(&s);
    if (status == CLO_OK)
        status = open_scheduler(&s);
    if (status == CLO_OK)
        status = run(&s);
    if (status == CLO_OK)
        read_result(&s, result);
    close_stream(&s);
    return status;
}
