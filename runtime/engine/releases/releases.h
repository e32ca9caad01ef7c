/* engine/releases/releases.h - several releases of one compiled plan in flight: who may run next, where data lie, and
 * when.
 *
 * Release k has slot k % slots. An executor goes through its executions in one fixed order, that of the plan modulo its
 * interval: in *turn* c it runs, of each of them, release c - stage, where stage is the interval in which the plan
 * starts it. An execution waits for
 *   - its inputs of the same release that come from other executors;
 *   - the execution before it on its executor, of whatever release that is;
 *   - the consumers of its output `depth` releases ago, whose buffer it is about to write;
 *   - what it demands of its machine, in the plan's order of starts (capacity.h);
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
#include "library.h"

#include <clotho/plan.h>

typedef struct clo_releases {
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
    clo_releases_capacity room;
    clo_releases_data data;
} clo_releases;

typedef struct clo_releases_config {
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
} clo_releases_config;

/* Everything lies in `arena`, scratch too. Returns CLO_OK, CLO_ERR_ARGUMENT (fewer slots than stages, or a graph or
 * plan that is not for releases in flight), CLO_ERR_LIMIT or CLO_ERR_MEMORY. */
clo_status clo_releases_create(const clo_program *program, const clo_releases_config *config, clo_arena *arena,
                               clo_releases **out);

/* Before the first release; nobody runs. */
CLO_INTERNAL void clo_releases_begin(clo_releases *releases);

/* Opens the gate of the next release: those before it down to release - slots + 1 may be in flight, and
 * release - slots has ended. Hands out what is ready, one after another; CLO_NONE: no more. *cursor starts at 0. Before
 * the last item is given away the cursor is done with: then nothing more is read. */
CLO_INTERNAL void clo_releases_open(clo_releases *releases, uint64_t release);
CLO_INTERNAL uint32_t clo_releases_opened(clo_releases *releases, uint64_t release, uint32_t *cursor);

static inline uint32_t clo_releases_execution(const clo_releases *releases, uint32_t item)
{
    return item % releases->executions;
}

static inline uint32_t clo_releases_slot(const clo_releases *releases, uint32_t item)
{
    return item / releases->executions;
}

/* Emulated times of an item that is ready, from those it waits for; keeps the finish. is_empty: it takes no time. By
 * whoever drives its executor. */
typedef struct clo_releases_span {
    int64_t start_ns, finish_ns;
} clo_releases_span;
CLO_INTERNAL clo_releases_span clo_releases_time(clo_releases *releases, uint32_t item, bool is_empty);

/* The item has begun: whom that lets ask for capacities in turn, one after another; CLO_NONE: no more. *cursor starts
 * at 0. One thread goes through them, once, in an item without a body too. */
CLO_INTERNAL uint32_t clo_releases_let_ask(clo_releases *releases, uint32_t item, uint32_t *cursor);

/* Moves inputs and runs the body of an item on `executor`, that of the plan if there is one; returns what the body
 * returned. expected_ns: clo_call's. scratch: of clo_releases_inputs_max. */
static inline int clo_releases_call(clo_releases *releases, uint32_t item, uint32_t executor, int64_t expected_ns,
                                    const clo_engine_scratch *scratch, clo_engine_stats *stats)
{
    return clo_releases_data_call(&releases->data, clo_releases_execution(releases, item),
                                  releases->number[clo_releases_slot(releases, item)], executor, expected_ns, scratch,
                                  stats);
}

/* Emulated time at which all of the release in that slot has ended. O(executions). */
CLO_INTERNAL int64_t clo_releases_end_ns(const clo_releases *releases, uint32_t slot);

/* Emulated time at which a release is due; 0 without a period. */
static inline int64_t clo_releases_due_ns(const clo_releases *releases, uint64_t release)
{
    return releases->period_ns == 0 ? 0
           : release > INT64_MAX    ? INT64_MAX
                                    : clo_time_mul((int64_t)release, releases->period_ns);
}

/* What an item that has ended releases. */
typedef struct clo_releases_release {
    const uint32_t *row;
    uint32_t left;
    /* As in clo_release. */
    uint32_t own_left;
    const uint32_t *own_row;
    uint32_t slot, execution;
    uint32_t back, back_end;
    bool has_turned;
    uint64_t number;
} clo_releases_release;

static inline clo_releases_release clo_releases_releases(const clo_releases *releases, uint32_t item)
{
    uint32_t slot = clo_releases_slot(releases, item), execution = clo_releases_execution(releases, item);
    uint32_t first = releases->succ_first[execution];

    return (clo_releases_release){.row = releases->succ + first,
                                  .left = releases->succ_first[execution + 1] - first,
                                  .slot = slot,
                                  .execution = execution,
                                  .back = releases->back_first[execution],
                                  .back_end = releases->back_first[execution + 1],
                                  .number = releases->number[slot]};
}

/* The next item that was made ready; CLO_NONE: no more. One thread goes through the release of an item, once. */
CLO_INTERNAL uint32_t clo_releases_released(clo_releases *releases, clo_releases_release *release);

/* The item has released all; its driver's last touch of it. True: the whole release has ended. */
static inline bool clo_releases_ended(clo_releases *releases, uint32_t slot)
{
    return clo_countdown_hit(&releases->left[slot]);
}

#endif
