/* recorded.c - a recorded run, decided again.
 *
 * The completions are fed to the engine in the recorded order and at the recorded times; before each one, the execution
 * must have been assigned by the same engine and policy code, to the executor that really ran it. So every decision
 * of the run is taken again and compared: which execution, where, and after which completions. Under work stealing,
 * where chance decides the executor, what is compared is that the execution was ready. */
#include "sim/recorded.h"

#include "base/memory.h"
#include "base/status.h"

#include <string.h>

/* States of an execution. */
enum { UNDECIDED, DECIDED, COMPLETED };

/* Remembers the assignment in place of an event. executor CLO_NONE: whichever the record says. */
static void assign(clo_sim *sim, uint32_t execution, uint32_t executor, int64_t arrival_ns)
{
    (void)arrival_ns;
    sim->events[execution].executor = executor;
    sim->states[execution] = DECIDED;
    sim->decided[sim->decided_count++] = execution;
}

/* The same of a plan, or of work stealing. */
static void decide(void *driver, uint32_t execution)
{
    clo_sim *sim = driver;

    assign(sim, execution, sim->program->is_replay ? sim->program->executor[execution] : CLO_NONE, 0);
}

/* The record does not say who took capacities when. Whoever ran had its turn, so turns are given as early as may be. */
static void let_ask(clo_sim *sim)
{
    while (sim->scheduler == NULL && sim->decided_count > 0) /* each execution comes here once */
        clo_timeline_let_ask(&sim->timeline, sim->decided[--sim->decided_count]);
}

/* Recorded events in order of completion; executions of replicas are found by (instance, executor). A policy runs the
 * replicas that it wants. */
static clo_status order_events(const clo_sim *sim, const clo_trace *recorded, const clo_trace_event **ordered)
{
    size_t count;
    const clo_trace_event *events = clo_trace_events(recorded, &count);
    uint32_t least = sim->scheduler != NULL ? sim->program->instances : sim->program->executions;

    if (count < least || count > sim->program->executions)
        return clo_fail(CLO_ERR_STATE, "the recorded run has %zu executions, this one has %u", count, least);
    for (size_t i = 0; i < count; i++) {
        if (events[i].sequence >= count || ordered[events[i].sequence] != NULL)
            return clo_fail(CLO_ERR_STATE, "the recorded run's sequence numbers are not 0 .. %zu", count - 1);
        ordered[events[i].sequence] = &events[i];
    }
    return CLO_OK;
}

static uint32_t execution_of(const clo_sim *sim, const clo_trace_event *event)
{
    const clo_graph *graph = sim->program->graph;
    if (event->task >= graph->tasks || event->instance >= graph->rows[event->task].instances)
        return CLO_NONE;
    uint32_t instance = graph->first_instance[event->task] + event->instance;
    if (!event->is_replica)
        return instance;
    if (event->executor >= sim->program->platform->executors_count)
        return CLO_NONE;
    if (sim->program->replica_first != NULL)
        return sim->program->has_replica[event->task] ? clo_program_replica(sim->program, event->task, event->executor)
                                                      : CLO_NONE;
    for (uint32_t execution = sim->program->instances; execution < sim->program->executions; execution++)
        if (clo_program_instance(sim->program, execution) == instance &&
            sim->program->executor[execution] == event->executor)
            return execution;
    return CLO_NONE;
}

/* Who was skipped, and what branches chose. */
static clo_status check_control_flow(const clo_sim *sim, const clo_trace_event *event)
{
    const clo_control_flow *control_flow = &sim->engine->control_flow;
    bool is_skipped = clo_control_flow_skips(control_flow, event->task);
    char scratch[16];

    if (is_skipped != (event->is_skipped != 0))
        return clo_fail(CLO_ERR_STATE, "completion %llu: task '%s' %s in the record, and %s here",
                        (unsigned long long)event->sequence,
                        clo_graph_task_name(sim->program->graph, event->task, scratch),
                        event->is_skipped ? "was skipped" : "ran", is_skipped ? "is skipped" : "runs");
    if (!is_skipped && clo_control_flow_has_branch(control_flow, event->task) &&
        control_flow->arm[event->task] != event->arm)
        return clo_fail(CLO_ERR_STATE, "completion %llu: task '%s' chose arm %u in the record, and %u here",
                        (unsigned long long)event->sequence,
                        clo_graph_task_name(sim->program->graph, event->task, scratch), event->arm,
                        control_flow->arm[event->task]);
    return CLO_OK;
}

static clo_status replay_one(clo_sim *sim, const clo_trace_event *event)
{
    uint32_t execution = execution_of(sim, event), decided;
    char scratch[16];

    if (execution == CLO_NONE || event->executor >= sim->program->platform->executors_count)
        return clo_fail(CLO_ERR_STATE, "the recorded run is of another graph or platform");
    if (sim->states[execution] != DECIDED)
        return clo_fail(CLO_ERR_STATE, "completion %llu: task '%s' ran in the record, but is not decided at this point",
                        (unsigned long long)event->sequence,
                        clo_graph_task_name(sim->program->graph, event->task, scratch));
    decided = sim->events[execution].executor;
    if (decided != CLO_NONE && decided != event->executor)
        return clo_fail(CLO_ERR_STATE, "completion %llu: task '%s' ran on executor %u in the record, is decided for %u",
                        (unsigned long long)event->sequence,
                        clo_graph_task_name(sim->program->graph, event->task, scratch), event->executor, decided);
    sim->events[execution] = *event;
    sim->states[execution] = COMPLETED;
    sim->engine->ran_on[execution] = event->executor;
    sim->now_ns = event->finish_ns;
    int code = clo_sim_execute(sim, execution, event->arm);
    if (code != 0)
        return clo_control_flow_fail_task(sim->program->graph, event->task, code);
    clo_status status = check_control_flow(sim, event);
    if (status != CLO_OK)
        return status;
    clo_sim_note(sim, execution);
    if (sim->scheduler != NULL)
        clo_sim_finish(sim, execution);
    else
        clo_timeline_release(&sim->timeline, execution);
    let_ask(sim);
    return CLO_OK;
}

/* All that was decided has run. */
static clo_status check_rest(const clo_sim *sim)
{
    char scratch[16];

    for (uint32_t execution = 0; execution < sim->program->executions; execution++)
        if (sim->states[execution] == DECIDED)
            return clo_fail(
                CLO_ERR_STATE, "task '%s' is decided for executor %u, but did not run in the record",
                clo_graph_task_name(sim->program->graph, clo_program_task(sim->program, execution), scratch),
                sim->events[execution].executor);
    return CLO_OK;
}

clo_status clo_sim_replay(clo_sim *sim, const clo_trace *recorded)
{
    const clo_trace_event **ordered = clo_allocate(sim->program->executions, sizeof *ordered);
    if (ordered == NULL)
        return clo_fail_memory("a recorded run");

    clo_status status = order_events(sim, recorded, ordered);
    sim->assign = assign;
    sim->timeline.driver = sim;
    sim->timeline.decide = decide;
    if (status == CLO_OK)
        status = clo_sim_begin(sim);
    let_ask(sim);
    int64_t last_ns = 0;
    for (uint32_t i = 0; status == CLO_OK && i < sim->program->executions && ordered[i] != NULL; i++) {
        status = replay_one(sim, ordered[i]);
        if (status == CLO_OK && ordered[i]->finish_ns > last_ns)
            last_ns = ordered[i]->finish_ns;
    }
    sim->now_ns = last_ns;
    if (status == CLO_OK)
        status = check_rest(sim);
    clo_free(ordered);
    return status;
}
