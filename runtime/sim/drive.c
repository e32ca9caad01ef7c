/* drive.c - see drive.h. The same engine and dispatcher as in run/ decide everything; when, says the caller. */
#include "sim/drive.h"

#include "base/clock.h"
#include "base/saturate.h"

/* Asks the policy until it has nothing to give; assigns. */
static void hand_out(clo_sim *sim)
{
    uint32_t entry, executor;

    for (int64_t before_ns = clo_clock_ns(); clo_dispatch_next(sim->dispatch, &entry, &executor);
         before_ns = clo_clock_ns()) {
        clo_histogram_record(sim->decision_ns, clo_clock_ns() - before_ns);
        sim->assign(sim, entry, executor);
    }
}

int clo_sim_execute(clo_sim *sim, uint32_t entry)
{
    uint32_t executor = sim->engine->ran_on[entry];

    if (sim->executes)
        return clo_engine_call(sim->engine, entry, executor, 0, &sim->scratch, &sim->stats);
    sim->stats.executed++;
    sim->stats.duplicates += entry >= sim->program->instances;
    for (uint32_t k = sim->program->input_first[entry]; k < sim->program->input_first[entry + 1]; k++) {
        const clo_executor *executors = sim->program->platform->executors;
        uint32_t source = sim->engine->ran_on[sim->program->input_source[k]];
        if (executors[source].memory == executors[executor].memory)
            continue;
        sim->stats.transfers++;
        sim->stats.transferred_bytes += clo_program_input_bytes(sim->program, entry, k);
    }
    return 0;
}

void clo_sim_finish(clo_sim *sim, uint32_t entry)
{
    const clo_program *program = sim->program;
    uint32_t executor = sim->engine->ran_on[entry], cursor = 0, released;

    sim->engine->finish_ns[entry] = sim->now_ns;
    int64_t length_ns = clo_time_sub(sim->events[entry].finish_ns, sim->events[entry].start_ns);
    sim->stats.busy_ns = clo_time_add(sim->stats.busy_ns, length_ns);
    sim->events[entry].sequence = sim->finished++;
    if (sim->dispatch != NULL) {
        clo_dispatch_finish(sim->dispatch, entry, executor, sim->now_ns);
        hand_out(sim);
        return;
    }
    while ((released = clo_engine_released(sim->engine, &program->succ[program->succ_first[entry]],
                                           program->succ_first[entry + 1] - program->succ_first[entry], &cursor)) !=
           CLO_NONE)
        sim->assign(sim, released, program->is_replay ? program->executor[released] : CLO_NONE);
}

void clo_sim_begin(clo_sim *sim)
{
    if (sim->dispatch != NULL) {
        if (clo_dispatch_begin(sim->dispatch) == CLO_OK)
            hand_out(sim);
        return;
    }
    for (uint32_t entry = 0; entry < sim->program->entries; entry++)
        if (clo_program_needs(sim->program, entry) == 0)
            sim->assign(sim, entry, sim->program->is_replay ? sim->program->executor[entry] : CLO_NONE);
}
