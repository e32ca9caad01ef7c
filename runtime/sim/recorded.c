/* recorded.c - a recorded run, decided again.
 *
 * The completions are fed to the engine in the recorded order and at the recorded times; before each one, the entry
 * must have been assigned by the same engine and policy code, to the executor that really ran it. So every decision
 * of the run is taken again and compared: which entry, where, and after which completions. Under work stealing, where
 * chance decides the executor, what is compared is that the entry was ready. */
#include "sim/recorded.h"

#include "base/memory.h"
#include "base/status.h"

#include <string.h>

/* States of an entry, kept in sim->waiting, which only the event heap's way needs otherwise. */
enum { UNDECIDED, DECIDED, COMPLETED };

/* Remembers the assignment in place of scheduling an event. */
static void assign(clo_sim *sim, uint32_t entry, uint32_t executor)
{
    sim->events[entry].executor = executor;
    sim->waiting[entry] = DECIDED;
}

/* Recorded events in order of completion; entries of replicas are found by (instance, executor). */
static clo_status order_events(const clo_sim *sim, const clo_trace *recorded, const clo_trace_event **ordered)
{
    size_t count;
    const clo_trace_event *events = clo_trace_events(recorded, &count);

    if (count != sim->program->entries)
        return clo_fail(CLO_ERR_STATE, "the recorded run has %zu executions, this one has %u", count,
                        sim->program->entries);
    for (size_t i = 0; i < count; i++) {
        if (events[i].sequence >= count || ordered[events[i].sequence] != NULL)
            return clo_fail(CLO_ERR_STATE, "the recorded run's sequence numbers are not 0 .. %zu", count - 1);
        ordered[events[i].sequence] = &events[i];
    }
    return CLO_OK;
}

static uint32_t entry_of(const clo_sim *sim, const clo_trace_event *event)
{
    const clo_graph *graph = sim->program->graph;
    if (event->task >= graph->tasks || event->instance >= graph->rows[event->task].instances)
        return CLO_NONE;
    uint32_t instance = graph->first_instance[event->task] + event->instance;
    if (!event->is_replica)
        return instance;
    for (uint32_t entry = sim->program->instances; entry < sim->program->entries; entry++)
        if (clo_program_instance(sim->program, entry) == instance && sim->program->executor[entry] == event->executor)
            return entry;
    return CLO_NONE;
}

static clo_status replay_one(clo_sim *sim, const clo_trace_event *event)
{
    uint32_t entry = entry_of(sim, event), decided;
    char scratch[16];

    if (entry == CLO_NONE || event->executor >= sim->program->platform->executors_count)
        return clo_fail(CLO_ERR_STATE, "the recorded run is of another graph or platform");
    if (sim->waiting[entry] != DECIDED)
        return clo_fail(CLO_ERR_STATE, "completion %llu: task '%s' ran in the record, but is not decided at this point",
                        (unsigned long long)event->sequence,
                        clo_graph_task_name(sim->program->graph, event->task, scratch));
    decided = sim->events[entry].executor;
    if (decided != CLO_NONE && decided != event->executor)
        return clo_fail(CLO_ERR_STATE, "completion %llu: task '%s' ran on executor %u in the record, is decided for %u",
                        (unsigned long long)event->sequence,
                        clo_graph_task_name(sim->program->graph, event->task, scratch), event->executor, decided);
    sim->events[entry] = *event;
    sim->waiting[entry] = COMPLETED;
    sim->engine->ran_on[entry] = event->executor;
    sim->now_ns = event->finish_ns;
    int code = clo_sim_execute(sim, entry);
    if (code != 0)
        return clo_fail(CLO_ERR_TASK, "task '%s' failed with %d",
                        clo_graph_task_name(sim->program->graph, event->task, scratch), code);
    clo_sim_finish(sim, entry);
    return sim->dispatch != NULL ? sim->dispatch->status : CLO_OK;
}

clo_status clo_sim_replay(clo_sim *sim, const clo_trace *recorded)
{
    const clo_trace_event **ordered = clo_allocate(sim->program->entries, sizeof *ordered);
    if (ordered == NULL)
        return clo_fail_memory("a recorded run");

    clo_status status = order_events(sim, recorded, ordered);
    sim->assign = assign;
    if (status == CLO_OK) {
        clo_sim_begin(sim);
        status = sim->dispatch != NULL ? sim->dispatch->status : CLO_OK;
    }
    int64_t last_ns = 0;
    for (uint32_t i = 0; status == CLO_OK && i < sim->program->entries; i++) {
        status = replay_one(sim, ordered[i]);
        if (status == CLO_OK && ordered[i]->finish_ns > last_ns)
            last_ns = ordered[i]->finish_ns;
    }
    sim->now_ns = last_ns;
    clo_free(ordered);
    return status;
}
