/* engine/releases/releases.h - several releases of one compiled plan in flight: who may run next, where data lie, and when.
 *
 * Release k has slot k % slots. An executor goes through its executions in one fixed order, that of the plan modulo its
 * interval: in *turn* c it runs, of each of them, release c - stage, where stage is the interval in which the plan
 * starts it. An execution waits for
 *   - its inputs of the same release that come from other executors;
 *   - the execution before it on its executor, of whatever release that is;
 *   - the consumers of its output `depth` releases ago, whose buffer it is about to write;
 *   - what it demands of its machine, in the plan's order of starts (flight_room.h);
 *   - the end of the whole release that had its slot before (the *gate*), if it has no inputs from elsewhere.
 * All of these lead forward in the times of a valid plan, so nothing waits in a circle, as long as there are as many
 * slots as stages.
 *
 * Without a plan an execution may run on any executor, and waits for itself in the release before in place of the one
 * before it there; outputs are kept for all slots, and capacities are taken as they are free. Each execution then has a
 * row of turns to itself.
 *
 * Releases before the first do not exist and are passed over. Behind the last one, as many empty releases as there are
 * stages but one take the places of those that would follow, so that the last ones get through; the driver opens them
 * and calls no bodies for them.
 *
 * An *item* is slot * executions + execution. Different items never touch the same words but the counters
 * (sync/protocol/countdown.h) and the copies (sync/protocol/once.h). Knows neither threads nor clocks. */
#ifndef CLO_ENGINE_RELEASES_RELEASES_H
#define CLO_ENGINE_RELEASES_RELEASES_H

#include "base/arena.h"
#include "base/numbers/saturate.h"
#include "engine/releases/buffers.h"
#include "engine/releases/capacity.h"

#include <clotho/plan.h>

typedef struct clo_flight {
    const clo_program *program;
    /* Entries of a slot: executions, then barriers. */
    uint32_t slots, executions, entries;
    /* Most stages of an execution, plus one: so many releases are in flight at least. */
    uint32_t stages;

    /* [entries + 1], [] whom an entry releases in its release, as in clo_program, but on other executors only. */
    uint32_t *succ_first, *succ;
    /* [executions + 1], [] producers that may write again depth releases later. */
    uint32_t *back_first, *back;
    /* No plan: anybody may run an execution. */
    bool is_free;
    /* Executors (executions, if free), then the queues of `room`: [rows + 1], [] the executions of each in their
     * order; and of an execution the place on its executor and the stage. */
    uint32_t *turn_first, *turn, *place, *stage;
    /* [gated_count] executions that wait for the gate. */
    uint32_t *gated;
    uint32_t gated_count;
    /* [entries], and how much of that comes from consumers. */
    uint32_t *needs, *back_needs;

    /* [slots * entries] */
    clo_countdown *pending;
    /* [slots] executions that have not ended. */
    clo_countdown *left;
    /* [slots] the release. */
    uint64_t *number;
    /* [slots] when the gate opened; [slots * executions] finish. NULL: nothing is timed. */
    int64_t *gate_ns, *finish_ns;
    /* As in the config. */
    int64_t period_ns;
    /* [executors] when each one is free. */
    int64_t *free_ns;
    clo_flight_room room;
    clo_flight_data data;
} clo_flight;

typedef struct clo_flight_config {
    /* A valid plan with an interval: one execution of each instance. NULL: no plan; then nothing is timed, and what
     * follows up to `slots` is not read. */
    const clo_placement *placements;
    size_t count;
    int64_t interval_ns;
    /* Timed: release k is due at k * period_ns; 0: as soon as it may begin. */
    int64_t period_ns;
    /* [instances] clo_plan_buffer_depths. */
    const uint32_t *depths;
    uint32_t slots;
    /* Outputs are kept, for bodies; data really move; times are kept. */
    bool has_data, copies, is_timed;
} clo_flight_config;

/* Everything lies in `arena`, scratch too. Returns CLO_OK, CLO_ERR_ARGUMENT (fewer slots than stages), CLO_ERR_LIMIT,
 * CLO_ERR_UNSUPPORTED or CLO_ERR_MEMORY. */
clo_status clo_flight_create(const clo_program *program, const clo_flight_config *config, clo_arena *arena,
                             clo_flight **out);

/* Before the first release; nobody runs. */
void clo_flight_begin(clo_flight *flight);

/* Opens the gate of the next release: those before it down to release - slots + 1 may be in flight, and
 * release - slots has ended. Hands out what is ready, one after another; CLO_NONE: no more. *cursor starts at 0. Before
 * the last item is given away the cursor is done with: then nothing more is read. */
void clo_flight_open(clo_flight *flight, uint64_t release);
uint32_t clo_flight_opened(clo_flight *flight, uint64_t release, uint32_t *cursor);

static inline uint32_t clo_flight_execution(const clo_flight *flight, uint32_t item)
{
    return item % flight->executions;
}

static inline uint32_t clo_flight_slot(const clo_flight *flight, uint32_t item)
{
    return item / flight->executions;
}

/* Emulated times of an item that is ready, from those it waits for; keeps the finish. is_empty: it takes no time. By
 * whoever drives its executor. */
typedef struct clo_flight_span {
    int64_t start_ns, finish_ns;
} clo_flight_span;
clo_flight_span clo_flight_time(clo_flight *flight, uint32_t item, bool is_empty);

/* The item has begun: whom that lets ask for capacities in turn, one after another; CLO_NONE: no more. *cursor starts
 * at 0. One thread goes through them, once, in an item without a body too. */
uint32_t clo_flight_let_ask(clo_flight *flight, uint32_t item, uint32_t *cursor);

/* Moves inputs and runs the body of an item on `executor`, that of the plan if there is one; returns what the body
 * returned. scratch: of clo_flight_inputs_max. */
static inline int clo_flight_call(clo_flight *flight, uint32_t item, uint32_t executor,
                                  const clo_engine_scratch *scratch, clo_engine_stats *stats)
{
    return clo_flight_data_call(&flight->data, clo_flight_execution(flight, item),
                                flight->number[clo_flight_slot(flight, item)], executor, scratch, stats);
}

/* Emulated time at which all of the release in that slot has ended. O(executions). */
int64_t clo_flight_end_ns(const clo_flight *flight, uint32_t slot);

/* Emulated time at which a release is due; 0 without a period. */
static inline int64_t clo_flight_due_ns(const clo_flight *flight, uint64_t release)
{
    return flight->period_ns == 0 ? 0
           : release > INT64_MAX  ? INT64_MAX
                                  : clo_time_mul((int64_t)release, flight->period_ns);
}

/* What an item that has ended releases. */
typedef struct clo_flight_release {
    const uint32_t *row;
    uint32_t left;
    /* As in clo_release. */
    uint32_t own_left;
    const uint32_t *own_row;
    uint32_t slot, execution;
    uint32_t back, back_end;
    bool has_turned;
    uint64_t number;
} clo_flight_release;

static inline clo_flight_release clo_flight_releases(const clo_flight *flight, uint32_t item)
{
    uint32_t slot = clo_flight_slot(flight, item), execution = clo_flight_execution(flight, item);
    uint32_t first = flight->succ_first[execution];

    return (clo_flight_release){.row = flight->succ + first,
                                .left = flight->succ_first[execution + 1] - first,
                                .slot = slot,
                                .execution = execution,
                                .back = flight->back_first[execution],
                                .back_end = flight->back_first[execution + 1],
                                .number = flight->number[slot]};
}

/* The next item that was made ready; CLO_NONE: no more. One thread goes through the release of an item, once. */
uint32_t clo_flight_released(clo_flight *flight, clo_flight_release *release);

/* The item has released all; its driver's last touch of it. True: the whole release has ended. */
static inline bool clo_flight_ended(clo_flight *flight, uint32_t slot)
{
    return clo_countdown_hit(&flight->left[slot]);
}

#endif
