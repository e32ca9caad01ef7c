/* engine/execution/engine.h - the state of one run: counters, placements, finish times, data. Knows neither threads nor
 * clocks.
 *
 * The two drivers do the same three calls for each execution: clo_engine_arrival_ns (when its inputs can be there),
 * clo_engine_call (move the inputs, run the body) and clo_engine_released in a loop (whom it made ready). run/ calls
 * them from many threads: different executions never touch the same words except the counters, the copies and the
 * shared lists of inputs (sync/protocol/countdown.h, sync/protocol/once.h). What clo_engine_pass writes of a stage is
 * read by the consumers of the stage, whose counters are hit after that. */
#ifndef CLO_ENGINE_EXECUTION_ENGINE_H
#define CLO_ENGINE_EXECUTION_ENGINE_H

#include "engine/execution/data.h"
#include "engine/program/control_flow.h"
#include "engine/program/program.h"
#include "engine/program/replicas.h"
#include "engine/state/order.h"
#include "engine/state/stage.h"
#include "library.h"
#include "sync/protocol/countdown.h"
#include "sync/protocol/counter.h"

#include <clotho/trace.h>

/* What one driver thread did. Padded, so that workers do not share lines. */
typedef struct clo_engine_stats {
    /* Bodies that have returned; others may read it meanwhile. */
    clo_counter executed;
    uint64_t duplicates, transfers, transferred_bytes, copied_bytes, steals;
    /* Sum of the lengths: in ticks where the job counts them (clo_job_busy_ns), else in ns. */
    int64_t busy;
    /* Emulation: what was wanted, and the sum of |lasted - wanted|. */
    int64_t wanted_ns, missed_ns;
    /* As in clo_job_result. */
    uint64_t hedged, hedges_skipped, hedges_won, hedges_cancelled;
    uint64_t skipped;
    uint64_t pad[2];
} clo_engine_stats;

/* Before a submit; others may read `executed` meanwhile. */
static inline void clo_engine_stats_clear(clo_engine_stats *stats)
{
    clo_counter_clear(&stats->executed);
    stats->duplicates = stats->transfers = stats->transferred_bytes = stats->copied_bytes = stats->steals = 0;
    stats->busy = stats->wanted_ns = stats->missed_ns = 0;
    stats->hedged = stats->hedges_skipped = stats->hedges_won = stats->hedges_cancelled = 0;
    stats->skipped = 0;
}

typedef struct clo_engine {
    const clo_program *program;
    /* finish_ns is kept. */
    bool is_timed;
    /* [executions + barriers] */
    clo_countdown *pending;
    /* [executions] executor; replay: planned. */
    uint32_t *ran_on;
    /* [executions], if is_timed. */
    int64_t *finish_ns;
    /* Where arrivals and transfers ask for them. */
    clo_stages stages;
    /* Policy: of the thread that drives the scheduler. */
    clo_replicas replicas;
    clo_data data;
    /* Branches and who is skipped. */
    clo_control_flow control_flow;
    /* Number of the run, from 1. */
    uint64_t run;
} clo_engine;

/* Everything lies in `arena`. copies: see clo_runtime_config.copy_always; is_timed: padded, virtual and simulated
 * runs. The first run draws arms with engine->control_flow.seed, 0 unless the caller sets it. */
CLO_INTERNAL clo_status clo_engine_create(const clo_program *program, bool copies, bool is_timed, clo_arena *arena,
                                          clo_engine **out);

/* Before each run but the first: what the last one left behind does not count any more. O(1), but O(executions) if that
 * run did not come to its end, because a policy failed; and O(hedges). */
void clo_engine_begin(clo_engine *engine, bool was_cut);

/* Earliest time that all inputs of `execution` are in the memory of `executor`, not before `now_ns`. Under replay data
 * set out when their source finishes; otherwise the destination is known only now. Needs is_timed under replay. Of an
 * execution that is ready and settled (control_flow.h): what it gets over a dead edge, or if it is skipped, takes no
 * time. O(edges * places) (stage.h), and one step for each source that is not behind a barrier. */
int64_t clo_engine_arrival_ns(const clo_engine *engine, uint32_t execution, uint32_t executor, int64_t now_ns);

/* After `execution` has finished, where somebody else counts who is ready (a scheduler): the stages that it completes
 * are looked over, see stage.h. Before anything that reads them is started. A replica completes nothing: its original
 * will. */
CLO_INTERNAL void clo_engine_complete(clo_engine *engine, uint32_t execution);

/* The execution that a scheduler's order starts; chooses its sources (replicas.h). origin_ns: the job's time 0 on the
 * scheduler's clock. By the thread that takes the orders; ends are told to clo_replicas_note before. */
CLO_INTERNAL uint32_t clo_engine_ordered(clo_engine *engine, const clo_order *order, int64_t origin_ns);

/* Moves what must move and runs the body; returns what the body returned. CLO_PENDING: the driver counts it as executed
 * when it has ended. */
CLO_INTERNAL int clo_engine_call(clo_engine *engine, uint32_t execution, uint32_t executor, int64_t expected_ns,
                                 const clo_engine_scratch *scratch, clo_engine_stats *stats);

/* Counts what `execution` on `executor` gets from other memories. As cheap as clo_engine_arrival_ns. */
CLO_INTERNAL void clo_engine_count_transfers(const clo_engine *engine, uint32_t execution, uint32_t executor,
                                             clo_engine_stats *stats);

/* The trace of an execution that has run or was skipped, where the engine says; without transfer and sequence. */
CLO_INTERNAL clo_trace_event clo_engine_event(const clo_engine *engine, uint32_t execution, int64_t start_ns,
                                              int64_t finish_ns);

/* Content of a handle after a run, see clo_handles_content. */
const void *clo_engine_content(const clo_engine *engine, uint32_t handle);

/* FNV-1a over the handles' content and the originals' outputs, in order. */
CLO_INTERNAL uint64_t clo_engine_output_hash(const clo_engine *engine);

/* All instances of a stage have finished, and its barrier is about to release the consumers: whoever hit its counter
 * last calls this. O(instances of the stage) where data move or times are replayed, else O(1). */
static inline void clo_engine_pass(clo_engine *engine, uint32_t barrier)
{
    if (engine->stages.parts != NULL)
        clo_stages_pass(&engine->stages, barrier, engine->ran_on, engine->data.winner, engine->finish_ns);
}

/* What an execution that has finished releases, one after another. */
typedef struct clo_release {
    const uint32_t *row;
    uint32_t left;
    /* The rest of the execution's own row, while a barrier's row is gone through. */
    uint32_t own_left;
    const uint32_t *own_row;
} clo_release;

/* Of an execution, or of executions + b for barrier b. */
static inline clo_release clo_engine_release(const clo_engine *engine, uint32_t execution)
{
    const clo_program *program = engine->program;
    uint32_t first = program->succ_first[execution];

    return (clo_release){.row = program->succ + first, .left = program->succ_first[execution + 1] - first};
}

/* Returns the next execution that was made ready, CLO_NONE when there are no more. One thread goes through the release
 * of an execution, once. After the last has been returned the job may be over and gone, so nothing is read after the
 * last counter was hit. */
static inline uint32_t clo_engine_released(clo_engine *engine, clo_release *release)
{
    for (;;) { /* each turn takes an entry off, or ends a barrier's row */
        if (release->left == 0) {
            if (release->own_left == 0)
                return CLO_NONE;
            release->row = release->own_row;
            release->left = release->own_left;
            release->own_left = 0;
            continue;
        }
        uint32_t successor = *release->row++;
        release->left--;
        if (!clo_countdown_hit(&engine->pending[successor]))
            continue;
        if (successor < engine->program->executions)
            return successor;
        clo_engine_pass(engine, successor - engine->program->executions);
        clo_release behind = clo_engine_release(engine, successor);
        behind.own_row = release->row;
        behind.own_left = release->left;
        *release = behind;
    }
}

/* The execution holds what it demands, or needs nothing because its job is stopped: whom that lets ask in turn, one
 * after another; CLO_NONE: no more. Gone through once, before the execution ends. *cursor starts at 0. */
static inline uint32_t clo_engine_let_ask(clo_engine *engine, uint32_t execution, uint32_t *cursor)
{
    const clo_program *program = engine->program;

    if (program->taken_first == NULL)
        return CLO_NONE;
    const uint32_t *row = program->taken + program->taken_first[execution];
    uint32_t count = program->taken_first[execution + 1] - program->taken_first[execution];
    while (*cursor < count) {
        uint32_t next = row[(*cursor)++];
        if (clo_countdown_hit(&engine->pending[next]))
            return next;
    }
    return CLO_NONE;
}

#endif
