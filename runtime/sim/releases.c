/* releases.c - engine/flight driven by a heap of starts, as run/flow drives it by workers.
 *
 * An item enters the heap when it is ready: what it waits for has been taken out before, so its start is known, and no
 * earlier start can come. Items leave in order of starts, so bodies are called in that order; of equal starts the lower
 * item goes first. Releases are opened as run/flow opens them, the empty ones behind the last one too. */
#include "sim/releases.h"

#include "base/order/heap.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "engine/execution/body.h"
#include "engine/program/compile.h"
#include "engine/releases/of_plan.h"
#include "engine/state/latency.h"
#include "engine/program/control_flow.h"

#include <clotho/pipeline.h>

typedef struct journey {
    const clo_sim_config *config;
    clo_program *program;
    clo_flight *flight;
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
} journey;

static clo_status check_period(const clo_sim_config *config)
{
    if (config->period_ns < 0)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_sim_config.period_ns is negative; use 0 for none");
    if (config->timing == NULL)
        return CLO_OK;
    if (config->period_ns == 0)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_sim_config.timing without period_ns; set both");
    return clo_result_check(config->timing, CLO_BYTES_UP_TO(clo_job_timing, response_ns), "clo_job_timing");
}

clo_status clo_sim_check_flight(const clo_sim_config *config)
{
    bool is_series = config->releases > 0 || config->period_ns != 0 || config->timing != NULL;

    if (config->releases_in_flight == 0)
        return is_series ? clo_fail(CLO_ERR_ARGUMENT, "clo_sim_config.releases, period_ns or timing without "
                                                      "releases_in_flight; set both")
                         : CLO_OK;
    if (config->releases_in_flight > CLO_IN_FLIGHT_MAX)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_sim_config.releases_in_flight is %u; use 0 to %u",
                        config->releases_in_flight, CLO_IN_FLIGHT_MAX);
    if (config->plan == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_sim_config.releases_in_flight without a plan; make one with "
                                          "clo_plan_pipeline");
    if (config->recorded != NULL)
        return clo_fail(CLO_ERR_UNSUPPORTED, "clo_sim_config.releases_in_flight does not go together with a recorded "
                                             "run; leave one of them out");
    return check_period(config);
}

static clo_status take_room_for_times(journey *j)
{
    if (j->config->period_ns == 0)
        return CLO_OK;
    j->deadline_ns = j->config->deadline_ns > 0 ? j->config->deadline_ns : j->config->period_ns;
    j->first_ns = clo_arena_take(&j->arena, j->flight->slots, sizeof *j->first_ns);
    j->start_ns = clo_arena_take(&j->arena, 1, sizeof *j->start_ns);
    j->response_ns = clo_arena_take(&j->arena, 1, sizeof *j->response_ns);
    return j->first_ns != NULL && j->start_ns != NULL && j->response_ns != NULL ? CLO_OK
                                                                                : clo_fail_memory("a simulation");
}

static clo_status take_room(journey *j, bool wants_trace)
{
    size_t executions = j->flight->executions, inputs = clo_flight_inputs_max(j->program), slots = j->flight->slots;

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

static clo_status build(journey *j, const clo_cost *cost, bool wants_trace)
{
    size_t count;
    const clo_placement *placements = clo_plan_placements(j->config->plan, &count);
    const clo_flight_use use = {.plan = j->config->plan,
                                .cost = cost,
                                .slots = j->config->releases_in_flight,
                                .period_ns = j->config->period_ns,
                                .has_data = j->config->execute != 0,
                                .copies = true,
                                .is_timed = true};
    clo_status status = clo_program_create(cost, placements, count, NULL, &j->arena, &j->program);

    if (status == CLO_OK)
        status = clo_flight_of_plan(j->program, &use, &j->arena, &j->flight);
    return status == CLO_OK ? take_room(j, wants_trace) : status;
}

static bool is_empty(const journey *j, uint32_t item)
{
    return j->flight->number[clo_flight_slot(j->flight, item)] >= j->releases;
}

static void make_ready(journey *j, uint32_t item)
{
    clo_heap_push(&j->heap, clo_flight_time(j->flight, item, is_empty(j, item)).start_ns, item);
}

/* Those that may be opened; and behind the last one as many empty ones as there are stages but one. */
static void open_releases(journey *j)
{
    uint64_t tail = j->flight->stages - 1;

    while (j->opened - j->ended < j->flight->slots && (j->opened < j->releases || j->opened - j->releases < tail)) {
        uint32_t cursor = 0, item;
        uint64_t release = j->opened++;

        clo_flight_open(j->flight, release);
        if (j->first_ns != NULL)
            j->first_ns[release % j->flight->slots] = INT64_MAX;
        while ((item = clo_flight_opened(j->flight, release, &cursor)) != CLO_NONE)
            make_ready(j, item);
    }
}

/* The item has begun: the next ones ask for capacities. */
static void let_ask(journey *j, uint32_t item)
{
    uint32_t cursor = 0, next;

    while ((next = clo_flight_let_ask(j->flight, item, &cursor)) != CLO_NONE)
        make_ready(j, next);
}

static void note(journey *j, uint32_t item, int64_t start_ns)
{
    const clo_graph *graph = j->program->graph;
    uint32_t execution = clo_flight_execution(j->flight, item), task = graph->task_of[execution];
    int64_t finish_ns = j->flight->finish_ns[item];

    j->stats.busy = clo_time_add(j->stats.busy, clo_time_sub(finish_ns, start_ns));
    if (j->first_ns != NULL && start_ns < j->first_ns[clo_flight_slot(j->flight, item)])
        j->first_ns[clo_flight_slot(j->flight, item)] = start_ns;
    if (j->events == NULL)
        return;
    j->events[j->events_count] = (clo_trace_event){.task = task,
                                                   .instance = execution - graph->first_instance[task],
                                                   .executor = j->program->executor[execution],
                                                   .start_ns = start_ns,
                                                   .finish_ns = finish_ns,
                                                   .sequence = j->events_count,
                                                   .release = j->flight->number[clo_flight_slot(j->flight, item)]};
    j->events_count++;
}

/* The body, or what is counted of it. Returns what the body returned. */
static int execute(journey *j, uint32_t item)
{
    if (j->config->execute != 0) {
        uint32_t executor = j->program->executor[clo_flight_execution(j->flight, item)];
        clo_body_enter();
        int code = clo_flight_call(j->flight, item, executor, &j->scratch, &j->stats);
        clo_body_leave();
        return code;
    }
    clo_flight_data_count(&j->flight->data, clo_flight_execution(j->flight, item), &j->stats);
    clo_counter_add(&j->stats.executed, 1);
    return 0;
}

/* All of the release in the slot has ended. */
static void account(journey *j, uint32_t slot)
{
    int64_t due_ns = clo_flight_due_ns(j->flight, j->flight->number[slot]);
    int64_t response_ns = clo_time_sub(clo_flight_end_ns(j->flight, slot), due_ns);

    clo_histogram_record(j->start_ns, clo_time_sub(j->first_ns[slot], due_ns));
    clo_histogram_record(j->response_ns, response_ns);
    j->missed += response_ns > j->deadline_ns;
}

static void see_end(journey *j, uint32_t slot)
{
    if (j->first_ns != NULL)
        account(j, slot);
    j->ended_in[slot] = j->flight->number[slot] + 1;
    while (j->ended < j->opened && j->ended_in[j->ended % j->flight->slots] == j->ended + 1)
        j->ended++;
    open_releases(j);
}

static clo_status fly(journey *j, clo_job_result *result)
{
    clo_flight_begin(j->flight);
    open_releases(j);
    while (j->heap.count > 0) { /* each item of each release is pushed once */
        clo_heap_item next = clo_heap_pop(&j->heap);
        uint32_t item = (uint32_t)next.id, slot = clo_flight_slot(j->flight, item), released;
        bool counts = !is_empty(j, item);

        let_ask(j, item);
        if (counts) {
            int code = execute(j, item);
            note(j, item, next.key);
            if (code != 0) {
                result->failed_task = clo_program_task(j->program, clo_flight_execution(j->flight, item));
                result->failed_code = code;
                return clo_modes_fail_task(j->program->graph, result->failed_task, code);
            }
        }
        clo_flight_release release = clo_flight_releases(j->flight, item);
        while ((released = clo_flight_released(j->flight, &release)) != CLO_NONE)
            make_ready(j, released);
        if (counts && clo_flight_ended(j->flight, slot))
            see_end(j, slot);
    }
    return j->ended == j->releases
               ? CLO_OK
               : clo_fail(CLO_ERR_STATE, "the releases wait for one another in a circle after %llu of %llu",
                          (unsigned long long)j->ended, (unsigned long long)j->releases);
}

static void read_result(const journey *j, clo_job_result *result)
{
    int64_t last_ns = 0;

    for (uint32_t e = 0; e < j->program->platform->executors_count; e++)
        last_ns = j->flight->free_ns[e] > last_ns ? j->flight->free_ns[e] : last_ns;
    result->executed = clo_counter_read(&j->stats.executed);
    result->transfers = j->stats.transfers;
    result->transferred_bytes = j->stats.transferred_bytes;
    result->copied_bytes = j->stats.copied_bytes;
    result->busy_ns = j->stats.busy;
    result->makespan_ns = last_ns;
    result->missed_deadline =
        j->config->period_ns > 0 ? j->missed > 0 : j->config->deadline_ns > 0 && last_ns > j->config->deadline_ns;
}

static void write_timing(const journey *j)
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

clo_status clo_sim_fly(const clo_cost *cost, const clo_sim_config *config, clo_job_result *result, clo_trace **trace,
                       uint64_t *output_hash)
{
    journey j = {.config = config, .releases = config->releases > 0 ? config->releases : 1};

    clo_arena_limit(&j.arena, config->memory_limit_bytes);
    clo_status status = clo_arena_explain(&j.arena, build(&j, cost, trace != NULL));
    if (status == CLO_OK) {
        status = fly(&j, result);
        read_result(&j, result);
        write_timing(&j);
    }
    if (status == CLO_OK && output_hash != NULL)
        *output_hash = clo_flight_output_hash(&j.flight->data, j.releases - 1);
    if (status == CLO_OK && trace != NULL)
        status = clo_trace_create(cost, true, j.events, j.events_count, trace);
    clo_arena_close(&j.arena);
    return status;
}
