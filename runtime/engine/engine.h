/* engine/engine.h - the state of one run: counters, placements, finish times, data. Knows neither threads nor clocks.
 *
 * The two drivers do the same three calls for each execution: clo_engine_arrival_ns (when its inputs can be there),
 * clo_engine_call (move the inputs, run the body) and clo_engine_released in a loop (whom it made
 * ready). run/ calls them from many threads: different executions never touch the same words except the counters and
 * the copies (sync/countdown.h, sync/once.h). */
#ifndef CLO_ENGINE_ENGINE_H
#define CLO_ENGINE_ENGINE_H

#include "engine/program.h"
#include "sync/countdown.h"
#include "sync/once.h"

/* What one driver thread did. Padded, so that workers do not share lines. */
typedef struct clo_engine_stats {
    uint64_t executed, duplicates, transfers, transferred_bytes, copied_bytes, steals;
    int64_t busy_ns, wanted_ns, missed_ns; /* emulation: what was wanted, and the sum of |lasted - wanted| */
    uint64_t pad[7];
} clo_engine_stats;

/* Room for one call's inputs; one for each driver thread. */
typedef struct clo_engine_scratch {
    const void **inputs; /* [inputs_max] */
    size_t *bytes;       /* [inputs_max] */
} clo_engine_scratch;

typedef struct clo_engine {
    const clo_program *program;
    bool copies;            /* data really move between memories      */
    bool is_timed;          /* finish_ns is kept                      */
    clo_countdown *pending; /* [executions]                             */
    uint32_t *ran_on;       /* [executions] executor; replay: planned    */
    int64_t *finish_ns;     /* [executions], if is_timed                 */

    /* Buffers: own output of execution e at home + output_at[e]; its copy in memory m is at remote + slot_of[m] *
     * home_bytes + output_at[e]. Only memories where something may run have a slot. */
    uint64_t *output_at; /* [executions + 1] offsets; NULL: no task has outputs */
    unsigned char *home;
    uint64_t home_bytes;   /* also the distance between two memories' copies */
    unsigned char *remote; /* [slots] * home_bytes, pages appear when used */
    clo_once *copied;      /* [executions * slots]                      */
    uint32_t *slot_of;     /* [memories]; CLO_NONE: nothing runs there; NULL: nothing is copied */
    uint32_t slots;
    uint64_t run; /* number of the run, from 1              */
} clo_engine;

/* Everything lies in `arena`. copies: see clo_runtime_config.copy_always; is_timed: padded, virtual and simulated
 * runs. */
clo_status clo_engine_create(const clo_program *program, bool copies, bool is_timed, clo_arena *arena,
                             clo_engine **out);

/* Before each run but the first: what the last one left behind does not count any more. O(1), but O(executions) if that
 * run did not come to its end, because a policy failed. */
void clo_engine_begin(clo_engine *engine, bool was_cut);

/* Earliest time that all inputs of `execution` are in the memory of `executor`, not before `now_ns`. Under replay data
 * set out when their source finishes; otherwise the destination is known only now. Needs is_timed under replay. */
int64_t clo_engine_arrival_ns(const clo_engine *engine, uint32_t execution, uint32_t executor, int64_t now_ns);

/* Moves what must move and runs the body; returns what the body returned. */
int clo_engine_call(clo_engine *engine, uint32_t execution, uint32_t executor, int64_t expected_ns,
                    const clo_engine_scratch *scratch, clo_engine_stats *stats);

/* Output buffer of an execution, NULL if it has none. */
void *clo_engine_output(const clo_engine *engine, uint32_t execution);

/* FNV-1a over the originals' outputs in order. */
uint64_t clo_engine_output_hash(const clo_engine *engine);

/* After `execution` has finished: returns the next execution that this made ready, CLO_NONE when there are no more.
 * *cursor starts at 0; `execution` may be finished by one thread only. Once the last has been returned the
 * job may be over and gone, so nothing is read after the last counter was hit. */
static inline uint32_t clo_engine_released(clo_engine *engine, const uint32_t *row, uint32_t count, uint32_t *cursor)
{
    while (*cursor < count) {
        uint32_t successor = row[(*cursor)++];
        if (clo_countdown_hit(&engine->pending[successor]))
            return successor;
    }
    return CLO_NONE;
}

#endif
