/* sim.c - the engine driven by events: of a plan as in time/timeline.h, under a policy as in time/stream_time.h.
 *
 * So a simulation is a function of its arguments. The same program, engine and dispatcher as in run/ decide everything;
 * only the clock is different. recorded.c drives them by a recorded run instead. */
#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "engine/execution/body.h"
#include "engine/program/compile.h"
#include "plan/facts.h"
#include "plan/ports/ports.h"
#include "sim/drive.h"
#include "sim/recorded.h"
#include "sim/releases.h"
#include "trace/trace.h"

#include <stdio.h>
#include <string.h>

static clo_status allocate_sim(clo_sim *sim)
{
    const clo_program *program = sim->program;
    size_t inputs = sim->executes && program->graph->has_outputs ? program->inputs_max : 0;
    clo_block block = {0};

    clo_carve(&block, &sim->events, program->executions);
    clo_carve(&block, &sim->states, program->executions);
    clo_carve(&block, &sim->decided, program->executions);
    clo_carve(&block, &sim->decision_ns, 1);
    clo_carve(&block, &sim->scratch.inputs, inputs);
    clo_carve(&block, &sim->scratch.bytes, inputs);
    clo_carve(&block, &sim->running, program->platform->executors_count);
    clo_stream_time_carve(&sim->time, program->platform->executors_count, &block);
    if (sim->scheduler == NULL)
        clo_timeline_carve(&sim->timeline, program, sim->engine, &block);
    sim->block = clo_block_allocate(&block);
    if (sim->block == NULL)
        return clo_fail_memory("a simulation");
    clo_stream_time_begin(&sim->time);
    for (uint32_t execution = 0; execution < program->executions; execution++)
        sim->events[execution].executor = CLO_NONE;
    return CLO_OK;
}

static bool is_slowed(const clo_sim *sim, uint32_t execution, uint32_t executor, int64_t length_ns)
{
    return sim->slowing != NULL && length_ns > 0 &&
           clo_slowing_has(sim->slowing, clo_program_task(sim->program, execution), executor);
}

/* Of a plan: clo_slowing_config.move. */
static void move_in_heap(void *driver, uint32_t execution, int64_t finish_ns)
{
    clo_sim *sim = driver;
    clo_heap *heap = &sim->timeline.heap;

    sim->engine->finish_ns[execution] = finish_ns;
    for (size_t i = 0; i < heap->count; i++)
        if (heap->items[i].id == execution) { /* its end */
            clo_heap_move(heap, i, finish_ns);
            break;
        }
}

/* The same, under a policy. */
static void move_on_executor(void *driver, uint32_t execution, int64_t finish_ns)
{
    clo_sim *sim = driver;
    uint32_t executor = sim->engine->ran_on[execution];

    sim->engine->finish_ns[execution] = finish_ns;
    if (sim->time.ends.ids[executor] != CLO_TOURNAMENT_EMPTY)
        clo_tournament_clear(&sim->time.ends, executor);
    clo_tournament_put(&sim->time.ends, executor, finish_ns, executor);
}

/* The execution starts now; it could do so since since_ns. The rest is filled in at its end. */
static void start(void *driver, uint32_t execution, int64_t since_ns)
{
    clo_sim *sim = driver;

    uint32_t executor = sim->program->executor[execution];
    int64_t now_ns = sim->timeline.now_ns, length_ns = clo_time_sub(sim->engine->finish_ns[execution], now_ns);

    sim->events[execution].start_ns = now_ns;
    sim->events[execution].transfer_ns = now_ns - since_ns;
    if (is_slowed(sim, execution, executor, length_ns))
        clo_slowing_begin(sim->slowing, execution, clo_program_task(sim->program, execution), executor, now_ns,
                          length_ns);
}

/* Of a policy, which keeps the executor, and what is demanded, for it. */
static void assign(clo_sim *sim, uint32_t execution, uint32_t executor, int64_t arrival_ns)
{
    uint32_t task = clo_program_task(sim->program, execution);
    int64_t start_ns = arrival_ns > sim->now_ns ? arrival_ns : sim->now_ns;
    bool is_skipped = clo_control_flow_skips(&sim->engine->control_flow, task);
    int64_t length_ns = is_skipped ? 0 : clo_cost_execution_ns(sim->program->cost, task, executor);

    sim->engine->ran_on[execution] = executor;
    sim->engine->finish_ns[execution] = clo_time_add(start_ns, length_ns);
    sim->events[execution].start_ns = start_ns;
    sim->events[execution].transfer_ns = start_ns - sim->now_ns;
    sim->running[executor] = execution;
    bool is_later = is_slowed(sim, execution, executor, length_ns); /* first comes its start: begin_slowed */
    clo_tournament_put(&sim->time.ends, executor, is_later ? start_ns : sim->engine->finish_ns[execution], executor);
}

/* An execution of a policy whose inputs are there now starts beside the others of its memory. False: it is none, or runs. */
static bool begin_slowed(clo_sim *sim, uint32_t execution)
{
    uint32_t task = clo_program_task(sim->program, execution), executor = sim->engine->ran_on[execution];
    int64_t start_ns = sim->events[execution].start_ns;
    int64_t length_ns = clo_time_sub(sim->engine->finish_ns[execution], start_ns);

    if (!is_slowed(sim, execution, executor, length_ns) || clo_slowing_runs(sim->slowing, execution))
        return false;
    clo_slowing_begin(sim->slowing, execution, task, executor, start_ns, length_ns);
    return true;
}

/* The execution ends; from settle_slowed on the others of its memory go on faster. */
static void end_slowed(clo_sim *sim, uint32_t execution)
{
    if (sim->slowing != NULL)
        clo_slowing_end(sim->slowing, execution, sim->now_ns);
}

static void settle_slowed(clo_sim *sim)
{
    if (sim->slowing != NULL)
        clo_slowing_settle(sim->slowing);
}

static clo_status fail_task(const clo_sim *sim, uint32_t execution, int code, clo_job_result *result)
{
    result->failed_task = clo_program_task(sim->program, execution);
    result->failed_code = code;
    return clo_control_flow_fail_task(sim->program->graph, result->failed_task, code);
}

/* Runs the body; what it returned ends the simulation, if it is not 0. */
static clo_status execute(clo_sim *sim, uint32_t execution, clo_job_result *result)
{
    int64_t start_ns = sim->events[execution].start_ns, transfer_ns = sim->events[execution].transfer_ns;

    sim->now_ns = sim->engine->finish_ns[execution];
    int code = clo_sim_execute(sim, execution, CLO_NONE);
    if (code != 0)
        return fail_task(sim, execution, code, result);
    sim->events[execution] = clo_engine_event(sim->engine, execution, start_ns, sim->now_ns);
    sim->events[execution].transfer_ns = transfer_ns;
    clo_sim_note(sim, execution);
    return CLO_OK;
}

static clo_status run_plan(clo_sim *sim, clo_job_result *result)
{
    clo_status status = clo_sim_begin(sim);

    for (uint32_t execution; status == CLO_OK && (execution = clo_timeline_next(&sim->timeline)) != CLO_NONE;) {
        status = execute(sim, execution, result);
        if (status != CLO_OK)
            break;
        end_slowed(sim, execution);
        clo_timeline_end(&sim->timeline); /* takes the first event: before others move */
        settle_slowed(sim);
    }
    return status;
}

static clo_status run_policy(clo_sim *sim, clo_job_result *result)
{
    clo_status status = clo_sim_begin(sim);

    while (status == CLO_OK) { /* each execution ends once, and a timer is the job's */
        bool is_live = clo_view_jobs(sim->scheduler) > 0;
        int64_t wake_ns = is_live ? clo_scheduler_wake_ns(sim->scheduler) : CLO_TIME_NEVER, at_ns;
        if (sim->time.ends.count == 0 && wake_ns == CLO_TIME_NEVER)
            break;
        if (clo_stream_time_next(&sim->time, CLO_TIME_NEVER, wake_ns, false, &at_ns) == CLO_STREAM_TIMER) {
            clo_sim_timer(sim);
            continue;
        }
        uint32_t execution = sim->running[clo_stream_time_take(&sim->time)];
        if (begin_slowed(sim, execution))
            continue;
        status = execute(sim, execution, result);
        if (status != CLO_OK)
            break;
        end_slowed(sim, execution);
        settle_slowed(sim);
        clo_sim_finish(sim, execution);
    }
    return status;
}

static clo_status run_events(clo_sim *sim, clo_job_result *result)
{
    sim->assign = assign;
    sim->timeline.driver = sim;
    sim->timeline.start = start;
    bool has_policy = sim->scheduler != NULL; /* which runs the replicas that it wants */
    clo_status status = has_policy ? run_policy(sim, result) : run_plan(sim, result);
    uint32_t wanted = has_policy ? sim->program->instances : sim->program->executions;
    uint32_t ran = (uint32_t)(sim->finished - (has_policy ? sim->replicas_finished : 0));

    if (status == CLO_OK && ran < wanted)
        return clo_fail(CLO_ERR_STATE, "%u executions can never run: the machines lack the capacity", wanted - ran);
    return status;
}

static void read_result(const clo_sim *sim, const clo_sim_config *config, clo_job_result *result)
{
    result->executed = clo_counter_read(&sim->stats.executed);
    result->skipped = sim->stats.skipped;
    result->duplicates_run = sim->stats.duplicates;
    result->transfers = sim->stats.transfers;
    result->transferred_bytes = sim->stats.transferred_bytes;
    result->copied_bytes = sim->stats.copied_bytes;
    result->busy_ns = sim->stats.busy;
    result->makespan_ns = sim->now_ns;
    result->missed_deadline = config->deadline_ns > 0 && sim->now_ns > config->deadline_ns;
    if (sim->scheduler == NULL)
        return;
    const clo_scheduler_counts *counts = clo_scheduler_counts_of(sim->scheduler);
    result->decisions = counts->decisions;
    result->fallbacks = counts->fallbacks;
    result->refused = counts->refused;
    snprintf(result->refusal, sizeof result->refusal, "%s", clo_scheduler_refusal(sim->scheduler));
    result->decision_steps = counts->most_steps;
    result->turn_steps = counts->most_turn_steps;
    result->partial = counts->partial;
    result->decision_p50_ns = clo_histogram_quantile(sim->decision_ns, 0.5);
    result->decision_p99_ns = clo_histogram_quantile(sim->decision_ns, 0.99);
    result->decision_p999_ns = clo_histogram_quantile(sim->decision_ns, 0.999);
    result->decision_max_ns = atomic_load_explicit(&sim->decision_ns->max_ns, memory_order_relaxed);
}

/* Of what was executed, in the order of executions. */
static clo_status make_trace(const clo_sim *sim, const clo_cost *cost, const clo_trace *recorded, clo_trace **trace)
{
    size_t count = 0;

    for (uint32_t execution = 0; execution < sim->program->executions; execution++)
        if (sim->events[execution].executor != CLO_NONE)
            sim->events[count++] = sim->events[execution];
    return clo_trace_create(cost, recorded == NULL || recorded->is_emulated, sim->events, count, trace);
}

/* A scheduler with one job. */
static clo_status build_scheduler(clo_sim *sim, const clo_cost *cost, const clo_sim_config *config,
                                  const clo_policy *policy)
{
    clo_scheduler_config of_scheduler = {.platform = sim->program->platform,
                                         .policy = policy,
                                         .argument = config->argument,
                                         .jobs_max = 1,
                                         .steps_max = config->steps_max};
    clo_scheduler_job_config of_job = {.deadline_ns = CLO_TIME_NEVER, .weight = 1, .limit = CLO_NONE};
    clo_policy_use use = {.policy = policy, .argument = config->argument};

    clo_status status = clo_scheduler_create(&of_scheduler, &sim->arena, &sim->scheduler);
    if (status == CLO_OK)
        status = clo_scheduler_job_create(cost, &of_job, &use, &sim->arena, &sim->job);
    return status;
}

/* On the real clock what a deep slot began first need not end first: the order of the plan that a recorded run followed
 * is that of job_body.c. */
static clo_status compile(clo_sim *sim, const clo_cost *cost, const clo_sim_config *config, const clo_policy *policy)
{
    size_t count = 0;
    const clo_placement *placements = config->plan != NULL ? clo_plan_placements(config->plan, &count) : NULL;

    if (policy != NULL)
        return clo_program_create_policy(cost, &sim->arena, &sim->program);
    if (config->recorded != NULL && !config->recorded->is_emulated)
        return clo_program_create_real(cost, placements, count, NULL, &sim->arena, &sim->program);
    return clo_program_create(cost, placements, count, NULL, &sim->arena, &sim->program);
}

static clo_status build(clo_sim *sim, const clo_cost *cost, const clo_sim_config *config)
{
    size_t count = 0;
    const clo_placement *placements = config->plan != NULL ? clo_plan_placements(config->plan, &count) : NULL;
    const clo_policy *policy = config->policy;

    if (config->plan == NULL && policy == NULL && config->recorded == NULL)
        policy = clo_policy_find("steal");
    clo_status status = compile(sim, cost, config, policy);
    if (status == CLO_OK)
        status = clo_engine_create(sim->program, sim->executes, true, &sim->arena, &sim->engine);
    if (status == CLO_OK && policy != NULL)
        status = build_scheduler(sim, cost, config, policy);
    if (status == CLO_OK)
        sim->engine->control_flow.seed = config->seed;
    if (status == CLO_OK && sim->job != NULL && sim->engine->control_flow.graph != NULL)
        sim->job->control_flow = &sim->engine->control_flow;
    if (status == CLO_OK)
        status = allocate_sim(sim);
    bool has_ports = config->recorded == NULL && clo_ports_are_finite(clo_cost_platform(cost));
    if (status == CLO_OK && has_ports)
        status = clo_sim_ports_open(sim->program, placements, count, &sim->timeline.ports);
    const clo_slowing_config slowing = {.cost = cost,
                                        .parts = config->memory_parts,
                                        .executions = sim->program != NULL ? sim->program->executions : 0,
                                        .driver = sim,
                                        .move = policy != NULL ? move_on_executor : move_in_heap};
    if (status == CLO_OK && config->memory_parts != NULL)
        status = clo_slowing_open(&slowing, &sim->slowing);
    return status;
}

static void unbuild(clo_sim *sim)
{
    clo_slowing_close(sim->slowing);
    clo_sim_ports_close(sim->timeline.ports);
    clo_free(sim->block);
    clo_arena_close(&sim->arena);
}

static clo_status check_memory_parts(const clo_cost *cost, const clo_sim_config *config)
{
    if (config->memory_parts == NULL)
        return CLO_OK;
    if (config->recorded != NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_sim_config.memory_parts does not go together with a recorded run, which "
                                          "has its times; leave one of them out");
    if (config->releases_in_flight > 0)
        return clo_fail(CLO_ERR_UNSUPPORTED,
                        "clo_sim_config.memory_parts does not go together with releases in flight; "
                        "leave one of them out");
    clo_status status = clo_ports_refuse(clo_cost_platform(cost), "memory_parts do");
    return status == CLO_OK ? clo_slowing_check(cost, config->memory_parts) : status;
}

static clo_status read_config(const clo_cost *cost, const clo_sim_config *theirs, clo_sim_config *config)
{
    *config = (clo_sim_config)CLO_SIM_CONFIG_INIT;
    clo_status status = clo_config_read(config, sizeof *config, theirs, "clo_sim_config");
    if (status != CLO_OK)
        return status;
    if (cost == NULL)
        return clo_fail_null("clo_simulate", "cost");
    if (config->plan != NULL && clo_plan_matches(config->plan, cost) != CLO_OK)
        return CLO_ERR_ARGUMENT;
    if (config->recorded != NULL && clo_trace_matches(config->recorded, cost) != CLO_OK)
        return CLO_ERR_ARGUMENT;
    if (config->deadline_ns < 0)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_sim_config.deadline_ns is negative; use 0 for none");
    if (config->plan != NULL && config->policy != NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_sim_config has both a plan and a policy; give one");
    status = clo_sim_check_releases(config);
    if (status == CLO_OK && config->plan == NULL && config->recorded == NULL)
        status = clo_ports_refuse(clo_cost_platform(cost), "a simulation without a plan does");
    if (status == CLO_OK && config->releases_in_flight > 0)
        status = clo_ports_refuse(clo_cost_platform(cost), "releases in flight do");
    if (status == CLO_OK)
        status = check_memory_parts(cost, config);
    if (status != CLO_OK)
        return status;
    if (config->policy != NULL && (config->policy->decide == NULL))
        return clo_fail(CLO_ERR_ARGUMENT, "the policy has no decide function");
    return CLO_OK;
}

clo_status clo_simulate(const clo_cost *cost, const clo_sim_config *theirs, clo_job_result *result, clo_trace **trace,
                        uint64_t *output_hash)
{
    clo_sim_config config;
    clo_status status = clo_result_check(result, CLO_BYTES_UP_TO(clo_job_result, decision_max_ns), "clo_job_result");

    if (status == CLO_OK)
        status = read_config(cost, theirs, &config);
    if (status != CLO_OK)
        return status;
    if (config.execute != 0)
        clo_body_watch_forks();

    clo_sim sim = {.executes = config.execute != 0};
    clo_job_result mine = {.size = sizeof mine, .failed_task = CLO_NONE};
    clo_trace *made = NULL;
    if (config.releases_in_flight > 0) {
        status = clo_sim_run_releases(cost, &config, &mine, trace, output_hash);
        mine.status = status;
        if (status == CLO_OK || status == CLO_ERR_TASK)
            clo_result_write(result, &mine, sizeof mine);
        return status;
    }
    clo_arena_limit(&sim.arena, config.memory_limit_bytes);
    status = clo_arena_explain(&sim.arena, build(&sim, cost, &config));
    if (status == CLO_OK)
        status = config.recorded != NULL ? clo_sim_replay(&sim, config.recorded) : run_events(&sim, &mine);
    if (status == CLO_OK && trace != NULL)
        status = make_trace(&sim, cost, config.recorded, &made);
    if (status == CLO_OK || status == CLO_ERR_TASK) {
        mine.status = status;
        read_result(&sim, &config, &mine);
        clo_result_write(result, &mine, sizeof mine);
    }
    if (status == CLO_OK && output_hash != NULL)
        *output_hash = clo_engine_output_hash(sim.engine);
    if (status == CLO_OK && trace != NULL)
        *trace = made;
    unbuild(&sim);
    return status;
}
