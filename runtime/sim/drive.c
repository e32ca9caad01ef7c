/* drive.c - see drive.h. The same engine and scheduler as in run/ decide everything; when, says the caller. */
#include "sim/drive.h"

#include "base/clock.h"
#include "base/numbers/saturate.h"
#include "engine/execution/body.h"

/* Takes all orders of the scheduler; assigns. */
static void hand_out(clo_sim *sim)
{
    clo_order order;

    for (int64_t before_ns = clo_clock_ns(); clo_scheduler_next(sim->scheduler, &order); before_ns = clo_clock_ns()) {
        clo_histogram_record(sim->decision_ns, clo_clock_ns() - before_ns);
        sim->assign(sim, clo_engine_ordered(sim->engine, &order, 0), order.executor, order.arrival_ns);
    }
}

void clo_sim_timer(clo_sim *sim)
{
    sim->now_ns = clo_scheduler_wake_ns(sim->scheduler);
    clo_scheduler_timer(sim->scheduler, sim->now_ns);
    hand_out(sim);
}

/* Under replay data set out when their source finishes. */
static void assign_planned(clo_sim *sim, uint32_t execution)
{
    uint32_t executor = sim->program->is_replay ? sim->program->executor[execution] : CLO_NONE;
    (void)clo_control_flow_settle(&sim->engine->control_flow, clo_program_task(sim->program, execution));
    int64_t arrival_ns =
        executor != CLO_NONE ? clo_engine_arrival_ns(sim->engine, execution, executor, sim->now_ns) : sim->now_ns;

    sim->assign(sim, execution, executor, arrival_ns);
}

void clo_sim_let_ask(clo_sim *sim, uint32_t execution)
{
    uint32_t cursor = 0, next;

    while ((next = clo_engine_let_ask(sim->engine, execution, &cursor)) != CLO_NONE)
        assign_planned(sim, next);
}

int clo_sim_execute(clo_sim *sim, uint32_t execution, uint32_t arm_of_record)
{
    uint32_t executor = sim->engine->ran_on[execution], task = clo_program_task(sim->program, execution);

    if (clo_control_flow_skips(&sim->engine->control_flow, task))
        return sim->stats.skipped++, 0;
    if (sim->executes) {
        clo_body_enter();
        int code = clo_engine_call(sim->engine, execution, executor, 0, &sim->scratch, &sim->stats);
        clo_body_leave();
        return code;
    }
    clo_counter_add(&sim->stats.executed, 1);
    sim->stats.duplicates += execution >= sim->program->instances;
    clo_engine_count_transfers(sim->engine, execution, executor, &sim->stats);
    if (clo_control_flow_has_branch(&sim->engine->control_flow, task))
        return clo_control_flow_choose(&sim->engine->control_flow, task, arm_of_record);
    return 0;
}

static void note_arm(clo_sim *sim, uint32_t execution)
{
    const clo_control_flow *control_flow = &sim->engine->control_flow;
    uint32_t task = clo_program_task(sim->program, execution);

    if (clo_control_flow_has_branch(control_flow, task) && !clo_control_flow_skips(control_flow, task))
        sim->events[execution].arm = control_flow->arm[task];
}

void clo_sim_finish(clo_sim *sim, uint32_t execution)
{
    uint32_t executor = sim->engine->ran_on[execution], released;

    sim->engine->finish_ns[execution] = sim->now_ns;
    int64_t length_ns = clo_time_sub(sim->events[execution].finish_ns, sim->events[execution].start_ns);
    sim->stats.busy = clo_time_add(sim->stats.busy, length_ns);
    sim->events[execution].sequence = sim->finished++;
    sim->replicas_finished += execution >= sim->program->instances;
    note_arm(sim, execution);
    if (sim->scheduler != NULL) {
        clo_engine_complete(sim->engine, execution);
        clo_replicas_note(&sim->engine->replicas, execution);
        clo_scheduler_finish(sim->scheduler, executor, sim->events[execution].start_ns, sim->now_ns);
        hand_out(sim);
        return;
    }
    clo_release release = clo_engine_release(sim->engine, execution);
    while ((released = clo_engine_released(sim->engine, &release)) != CLO_NONE)
        assign_planned(sim, released);
}

clo_status clo_sim_begin(clo_sim *sim)
{
    if (sim->scheduler != NULL) {
        clo_status status = clo_scheduler_arrive(sim->scheduler, sim->job, 0);
        clo_scheduler_go_on_to_end(sim->scheduler);
        hand_out(sim);
        return status;
    }
    for (uint32_t execution = 0; execution < sim->program->executions; execution++)
        if (clo_program_needs(sim->program, execution) == 0)
            assign_planned(sim, execution);
    return CLO_OK;
}
