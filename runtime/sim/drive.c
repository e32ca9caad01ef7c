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

void clo_sim_note(clo_sim *sim, uint32_t execution)
{
    int64_t length_ns = clo_time_sub(sim->events[execution].finish_ns, sim->events[execution].start_ns);

    sim->engine->finish_ns[execution] = sim->now_ns;
    sim->stats.busy = clo_time_add(sim->stats.busy, length_ns);
    sim->events[execution].sequence = sim->finished++;
    sim->replicas_finished += execution >= sim->program->instances;
}

void clo_sim_finish(clo_sim *sim, uint32_t execution)
{
    clo_engine_complete(sim->engine, execution);
    clo_replicas_note(&sim->engine->replicas, execution);
    clo_scheduler_finish(sim->scheduler, sim->engine->ran_on[execution], sim->events[execution].start_ns, sim->now_ns);
    hand_out(sim);
}

clo_status clo_sim_begin(clo_sim *sim)
{
    if (sim->scheduler == NULL)
        return clo_timeline_begin(&sim->timeline), CLO_OK;
    clo_status status = clo_scheduler_arrive(sim->scheduler, sim->job, 0);

    clo_scheduler_go_on_to_end(sim->scheduler);
    hand_out(sim);
    return status;
}
