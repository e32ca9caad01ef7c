/* drive.c - see drive.h. The same engine and dispatcher as in run/ decide everything; when, says the caller. */
#include "sim/drive.h"

#include "base/clock.h"
#include "base/saturate.h"

/* Asks the policy until it has nothing to give; assigns. */
static void hand_out(clo_sim *sim)
{
    uint32_t execution, executor;

    for (int64_t before_ns = clo_clock_ns(); clo_dispatch_next(sim->dispatch, &execution, &executor);
         before_ns = clo_clock_ns()) {
        clo_histogram_record(sim->decision_ns, clo_clock_ns() - before_ns);
        sim->assign(sim, execution, executor);
    }
}

int clo_sim_execute(clo_sim *sim, uint32_t execution)
{
    uint32_t executor = sim->engine->ran_on[execution];

    if (sim->executes)
        return clo_engine_call(sim->engine, execution, executor, 0, &sim->scratch, &sim->stats);
    sim->stats.executed++;
    sim->stats.duplicates += execution >= sim->program->instances;
    clo_engine_count_transfers(sim->engine, execution, executor, &sim->stats);
    return 0;
}

void clo_sim_finish(clo_sim *sim, uint32_t execution)
{
    const clo_program *program = sim->program;
    uint32_t executor = sim->engine->ran_on[execution], released;

    sim->engine->finish_ns[execution] = sim->now_ns;
    int64_t length_ns = clo_time_sub(sim->events[execution].finish_ns, sim->events[execution].start_ns);
    sim->stats.busy_ns = clo_time_add(sim->stats.busy_ns, length_ns);
    sim->events[execution].sequence = sim->finished++;
    if (sim->dispatch != NULL) {
        clo_dispatch_finish(sim->dispatch, execution, executor, sim->now_ns);
        hand_out(sim);
        return;
    }
    clo_release release = clo_engine_release(sim->engine, execution);
    while ((released = clo_engine_released(sim->engine, &release)) != CLO_NONE)
        sim->assign(sim, released, program->is_replay ? program->executor[released] : CLO_NONE);
}

void clo_sim_begin(clo_sim *sim)
{
    if (sim->dispatch != NULL) {
        if (clo_dispatch_begin(sim->dispatch) == CLO_OK)
            hand_out(sim);
        return;
    }
    for (uint32_t execution = 0; execution < sim->program->executions; execution++)
        if (clo_program_needs(sim->program, execution) == 0)
            sim->assign(sim, execution, sim->program->is_replay ? sim->program->executor[execution] : CLO_NONE);
}
