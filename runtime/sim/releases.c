/* releases.c - engine/releases driven by a heap of starts, as run/dispatch/pipeline drives it by workers.
 *
 * An item enters the heap when it is ready: what it waits for has been taken out before, so its start is known, and no
 * earlier start can come. Items leave in order of starts, so bodies are called in that order; of equal starts the lower
 * item goes first. Releases are opened as run/dispatch/pipeline opens them, the empty ones behind the last one too. */
#include "sim/releases.h"

#include "base/numbers/saturate.h"
#include "base/order/heap.h"
#include "base/status.h"
#include "engine/execution/body.h"
#include "engine/program/compile.h"
#include "engine/program/control_flow.h"
#include "engine/releases/of_plan.h"
#include "engine/state/latency.h"

#include <clotho/pipeline.h>

typedef struct pipeline_run {
    const clo_sim_config *config;
    clo_program *program;
    clo_releases *pipeline;
    clo_arena arena;
    /* Of ready items, by start. */
    clo_heap heap;
    /* [slots] 1 + the release that ended there. */
    uint64_t *ended_in;
    /* Releases that are opened and that have ended, in order; how many there are, without empty ones. */
    uint64_t opened, ended, releases;
    /* [releases * executions]; NULL: nobody wants a trace. */
    clo_trace_event *events;
    size_t events_count;
    clo_engine_scratch scratch;
    clo_engine_stats stats;
    /* With a period: when the first body of the release in each slot began, and what there is to tell of all. */
    int64_t *first_ns, deadline_ns;
    clo_histogram *start_ns, *response_ns;
    uint64_t missed;
} pipeline_run;

static clo_status check_period(const clo_sim_config *config)
{
    if (config->period_ns < 0)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_sim_config.period_ns is negative; use 0 for none");
    if (config->timing == NULL && config->responses == NULL)
        return CLO_OK;
    if (config->period_ns == 0)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_sim_config.timing or responses without period_ns; set both");
    return clo_result_check(config->timing, CLO_BYTES_UP_TO(clo_job_timing, response_ns), "clo_job_timing");
}

clo_status clo_sim_check_releases(const clo_sim_config *config)
{
    bool is_series =
        config->releases > 0 || config->period_ns != 0 || config->timing != NULL || config->responses != NULL;

    if (config->releases_in_flight == 0)
        return is_series ? clo_fail(CLO_ERR_ARGUMENT, "clo_sim_config.releases, period_ns, timing or responses without "
                                                      "releases_in_flight; set both")
                         : CLO_OK;
    if (config->releases_in_flight > CLO_IN_FLIGHT_MAX)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_sim_config.releases_in_flight is %u; use 0 to %u",
                        config->releases_in_flight, CLO_IN_FLIGHT_MAX);
    if (config->plan == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_sim_config.releases_in_flight without a plan; make one with "
                                          "clo_plan_pipeline");
    if (config->recorded != NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_sim_config.releases_in_flight does not go together with a recorded "
                                          "run; leave one of them out");
    return check_period(config);
}

static clo_status take_room_for_times(pipeline_run *j)
{
    if (j->config->period_ns == 0)
        return CLO_OK;
    j->deadline_ns = j->config->deadline_ns > 0 ? j->config->deadline_ns : j->config->period_ns;
    j->first_ns = clo_arena_take(&j->arena, j->pipeline->slots, sizeof *j->first_ns);
    j->start_ns = clo_arena_take(&j->arena, 1, sizeof *j->start_ns);
    j->response_ns = clo_arena_take(&j->arena, 1, sizeof *j->response_ns);
    return j->first_ns != NULL && j->start_ns != NULL && j->response_ns != NULL ? CLO_OK
                                                                                : clo_fail_memory("a simulation");
}

static clo_status take_room(pipeline_run *j, bool wants_trace)
{
    size_t executions = j->pipeline->executions, inputs = clo_releases_inputs_max(j->program),
           slots = j->pipeline->slots;

    j->heap.capacity = slots * executions;
    j->heap.items = clo_arena_take(&j->arena, j->heap.capacity, sizeof *j->heap.items);
    j->ended_in = clo_arena_take(&j->arena, slots, sizeof *j->ended_in);
    j->scratch.inputs = clo_arena_take(&j->arena, inputs, sizeof *j->scratch.inputs);
    j->scratch.bytes = clo_arena_take(&j->arena, inputs, sizeof *j->scratch.bytes);
    if (j->heap.items == NULL || j->ended_in == NULL || j->scratch.inputs == NULL || j->scratch.bytes == NULL)
        return clo_fail_memory("a simulation");
    clo_status status = take_room_for_times(j);
    if (status != CLO_OK || !wants_trace)
        return status;
    if (j->releases > SIZE_MAX / executions)
        return clo_fail(CLO_ERR_LIMIT, "a trace of %llu releases is more than memory can hold; simulate fewer",
                        (unsigned long long)j->releases);
    j->events = clo_arena_take(&j->arena, (size_t)j->releases * executions, sizeof *j->events);
    return j->events != NULL ? CLO_OK : clo_fail_memory("the trace of a simulation");
}

static clo_status build(pipeline_run *j, const clo_cost *cost, bool wants_trace)
{
    size_t count;
    const clo_placement *placements = clo_plan_placements(j->config->plan, &count);
    const clo_releases_use use = {.plan = j->config->plan,
                                  .cost = cost,
                                  .slots = j->config->releases_in_flight,
                                  .period_ns = j->config->period_ns,
                                  .has_data = j->config->execute != 0,
                                  .copies = true,
                                  .is_timed = true};
    clo_status status = clo_program_create(cost, placements, count, NULL, &j->arena, &j->program);

    if (status == CLO_OK)
        status = clo_releases_of_plan(j->program, &use, &j->arena, &j->pipeline);
    return status == CLO_OK ? take_room(j, wants_trace) : status;
}

static bool is_empty(const pipeline_run *j, uint32_t item)
{
    return j->pipeline->number[clo_releases_slot(j->pipeline, item)] >= j->releases;
}

static void make_ready(pipeline_run *j, uint32_t item)
{
    clo_heap_push(&j->heap, clo_releases_time(j->pipeline, item, is_empty(j, item)).start_ns, item);
}

/* Those that may be opened; and behind the last one as many empty ones as there are stages but one. */
static void open_releases(pipeline_run *j)
{
    uint64_t tail = j->pipeline->stages - 1;

    while (j->opened - j->ended < j->pipeline->slots && (j->opened < j->releases || j->opened - j->releases < tail)) {
        uint32_t cursor = 0, item;
        uint64_t release = j->opened++;

        clo_releases_open(j->pipeline, release);
        if (j->first_ns != NULL)
            j->first_ns[release % j->pipeline->slots] = INT64_MAX;
        while ((item = clo_releases_opened(j->pipeline, release, &cursor)) != CLO_NONE)
            make_ready(j, item);
    }
}

/* The item has begun: the next ones ask for capacities. */
static void let_ask(pipeline_run *j, uint32_t item)
{
    uint32_t cursor = 0, next;

    while ((next = clo_releases_let_ask(j->pipeline, item, &cursor)) != CLO_NONE)
        make_ready(j, next);
}

static void note(pipeline_run *j, uint32_t item, int64_t start_ns)
{
    const clo_graph *graph = j->program->graph;
    uint32_t execution = clo_releases_execution(j->pipeline, item), task = graph->task_of[execution];
    int64_t finish_ns = j->pipeline->finish_ns[item];

    j->stats.busy = clo_time_add(j->stats.busy, clo_time_sub(finish_ns, start_ns));
    if (j->first_ns != NULL && start_ns < j->first_ns[clo_releases_slot(j->pipeline, item)])
        j->first_ns[clo_releases_slot(j->pipeline, item)] = start_ns;
    if (j->events == NULL)
        return;
    j->events[j->events_count] =
        (clo_trace_event){.task = task,
                          .instance = execution - graph->first_instance[task],
                          .executor = j->program->executor[execution],
                          .start_ns = start_ns,
                          .finish_ns = finish_ns,
                          .sequence = j->events_count,
                          .release = j->pipeline->number[clo_releases_slot(j->pipeline, item)]};
    j->events_count++;
}

/* The body, or what is counted of it. Returns what the body returned. */
static int execute(pipeline_run *j, uint32_t item)
{
    if (j->config->execute != 0) {
        uint32_t executor = j->program->executor[clo_releases_execution(j->pipeline, item)];
        clo_body_enter();
        int code = clo_releases_call(j->pipeline, item, executor, 0, &j->scratch, &j->stats);
        clo_body_leave();
        return code;
    }
    clo_releases_data_count(&j->pipeline->data, clo_releases_execution(j->pipeline, item), &j->stats);
    clo_counter_add(&j->stats.executed, 1);
    return 0;
}

/* All of the release in the slot has ended. */
static void account(pipeline_run *j, uint32_t slot)
{
    int64_t due_ns = clo_releases_due_ns(j->pipeline, j->pipeline->number[slot]);
    int64_t response_ns = clo_time_sub(clo_releases_end_ns(j->pipeline, slot), due_ns);

    clo_histogram_record(j->start_ns, clo_time_sub(j->first_ns[slot], due_ns));
    clo_histogram_record(j->response_ns, response_ns);
    j->missed += response_ns > j->deadline_ns;
}

static void see_end(pipeline_run *j, uint32_t slot)
{
    if (j->first_ns != NULL)
        account(j, slot);
    j->ended_in[slot] = j->pipeline->number[slot] + 1;
    while (j->ended < j->opened && j->ended_in[j->ended % j->pipeline->slots] == j->ended + 1)
        j->ended++;
    open_releases(j);
}

static void write_responses(const pipeline_run *j)
{
    uint32_t *out = j->config->responses;

    for (uint32_t b = 0; b < CLO_LATENCY_BUCKETS && out != NULL; b++)
        out[b] = atomic_load_explicit(&j->response_ns->buckets[b], memory_order_relaxed);
}

static clo_status fly(pipeline_run *j, clo_job_result *result)
{
    clo_releases_begin(j->pipeline);
    open_releases(j);
    while (j->heap.count > 0) { /* each item of each release is pushed once */
        clo_heap_item next = clo_heap_pop(&j->heap);
        uint32_t item = (uint32_t)next.id, slot = clo_releases_slot(j->pipeline, item), released;
        bool counts = !is_empty(j, item);

        let_ask(j, item);
        if (counts) {
            int code = execute(j, item);
            note(j, item, next.key);
            if (code != 0) {
                result->failed_task = clo_program_task(j->program, clo_releases_execution(j->pipeline, item));
                result->failed_code = code;
                return clo_control_flow_fail_task(j->program->graph, result->failed_task, code);
            }
        }
        clo_releases_release release = clo_releases_releases(j->pipeline, item);
        while ((released = clo_releases_released(j->pipeline, &release)) != CLO_NONE)
            make_ready(j, released);
        if (counts && clo_releases_ended(j->pipeline, slot))
            see_end(j, slot);
    }
    return j->ended == j->releases
               ? CLO_OK
               : clo_fail(CLO_ERR_STATE, "the releases wait for one another in a circle after %llu of %llu",
                          (unsigned long long)j->ended, (unsigned long long)j->releases);
}

static void read_result(const pipeline_run *j, clo_job_result *result)
{
    int64_t last_ns = 0;

    for (uint32_t e = 0; e < j->program->platform->executors_count; e++)
        last_ns = j->pipeline->free_ns[e] > last_ns ? j->pipeline->free_ns[e] : last_ns;
    result->executed = clo_counter_read(&j->stats.executed);
    result->transfers = j->stats.transfers;
    result->transferred_bytes = j->stats.transferred_bytes;
    result->copied_bytes = j->stats.copied_bytes;
    result->busy_ns = j->stats.busy;
    result->makespan_ns = last_ns;
    result->missed_deadline =
        j->config->period_ns > 0 ? j->missed > 0 : j->config->deadline_ns > 0 && last_ns > j->config->deadline_ns;
}

static void write_timing(const pipeline_run *j)
{
    clo_job_timing timing = CLO_JOB_TIMING_INIT;

    if (j->config->timing == NULL)
        return;
    timing.released = j->opened < j->releases ? j->opened : j->releases;
    timing.finished = j->ended;
    timing.missed = j->missed;
    timing.start_ns = clo_latency_of(j->start_ns);
    timing.response_ns = clo_latency_of(j->response_ns);
    clo_result_write(j->config->timing, &timing, sizeof timing);
}

clo_status clo_sim_run_releases(const clo_cost *cost, const clo_sim_config *config, clo_job_result *result,
                                clo_trace **trace, uint64_t *output_hash)
{
    pipeline_run j = {.config = config, .releases = config->releases > 0 ? config->releases : 1};

    clo_arena_limit(&j.arena, config->memory_limit_bytes);
    clo_status status = clo_arena_explain(&j.arena, build(&j, cost, trace != NULL));
    if (status == CLO_OK) {
        status = fly(&j, result);
        read_result(&j, result);
        write_timing(&j);
        write_responses(&j);
    }
    if (status == CLO_OK && output_hash != NULL)
        *output_hash = clo_releases_output_hash(&j.pipeline->data, j.releases - 1);
    if (status == CLO_OK && trace != NULL)
        status = clo_trace_create(cost, true, j.events, j.events_count, trace);
    clo_arena_close(&j.arena);
    return status;
}
