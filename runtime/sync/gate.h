/* gate.h - the capacities of one machine at run time, and who waits for them.
 *
 * Only executions with a demand come here, so a spin lock of a few instructions is accepted: taking several resources
 * at once with plain counters can make two tasks refuse each other for ever. A refused item is kept in the waiting
 * chain (through its own link word) and handed to whoever releases next.
 *
 * Progress: blocking for the length of the critical section (at most CLO_RESOURCES_MAX additions).
 * Ordering: the lock's acquire/release pair carries `available` and `waiting`. */
#ifndef CLO_SYNC_GATE_H
#define CLO_SYNC_GATE_H

#include "sync/park.h"
#include "sync/stack.h"

#define CLO_GATE_RESOURCES 8

typedef struct clo_gate {
    alignas(CLO_CACHE_LINE_BYTES) _Atomic uint32_t locked;
    int64_t available[CLO_GATE_RESOURCES]; /* INT64_MAX: unlimited, never counted */
    uint64_t waiting;                      /* chain of items; CLO_ITEM_NONE: nobody */
} clo_gate;

static inline void clo_gate_lock(clo_gate *gate)
{
    while (atomic_exchange_explicit(&gate->locked, 1, memory_order_acquire) != 0)
        clo_relax();
}

static inline void clo_gate_unlock(clo_gate *gate)
{
    atomic_store_explicit(&gate->locked, 0, memory_order_release);
}

/* True: the demand is held. False: `item` waits; clo_gate_leave will return it. */
static inline bool clo_gate_enter(clo_gate *gate, const int64_t *demand, uint64_t item, uint64_t *link)
{
    bool fits = true;

    clo_gate_lock(gate);
    for (int r = 0; r < CLO_GATE_RESOURCES; r++)
        fits = fits && demand[r] <= gate->available[r];
    for (int r = 0; fits && r < CLO_GATE_RESOURCES; r++)
        if (gate->available[r] != INT64_MAX)
            gate->available[r] -= demand[r];
    if (!fits) {
        *link = gate->waiting;
        gate->waiting = item;
    }
    clo_gate_unlock(gate);
    return fits;
}

/* Gives the demand back; returns the chain of all that waited, to be tried again. */
static inline uint64_t clo_gate_leave(clo_gate *gate, const int64_t *demand)
{
    clo_gate_lock(gate);
    for (int r = 0; r < CLO_GATE_RESOURCES; r++)
        if (gate->available[r] != INT64_MAX)
            gate->available[r] += demand[r];
    uint64_t chain = gate->waiting;
    gate->waiting = CLO_ITEM_NONE;
    clo_gate_unlock(gate);
    return chain;
}

#endif
