/* outcome.h - how a run of a job ends: decided once, by whoever comes first.
 *
 * A body fails, or one is left out because the job was cancelled or aborted: the first of these decides, and nothing
 * that comes later changes it. A run of which neither is true when its last body has ended has ended well; nobody has
 * to say so. So a request to stop decides nothing by itself: it may come when no body is left to be left out, and then
 * the run ends as if nobody had asked. Everybody who tells how the run has ended (the status, the log, the counters)
 * reads this word, and after its own last body: they all tell the same.
 *
 *               open   fail   cut   read
 *      open      X      X      X     X    (nothing of the job runs)
 *      fail      X      -      -     -    (a worker, within the run)
 *      cut       X      -      -     -    (whoever leaves a body out, within the run)
 *      read      X      -      -     -    (what was read is final after the last body, or once it is not open)
 *
 * Progress: wait-free.
 * Ordering: what a body has written before it failed happens before what a reader of the failure does: [A] release,
 * [B] acquire.
 * Mutation list: [A] relaxed; [B] relaxed; a fail, and a cut, that write without a comparison. */
#ifndef CLO_SYNC_PROTOCOL_OUTCOME_H
#define CLO_SYNC_PROTOCOL_OUTCOME_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Smaller than every failure. */
#define CLO_OUTCOME_OPEN 0ull
#define CLO_OUTCOME_CANCELLED 1ull
#define CLO_OUTCOME_ABORTED 2ull

typedef struct clo_outcome {
    /* CLO_OUTCOME_...; or of a failure (task + 1) << 32 | code. */
    _Atomic uint64_t word;
} clo_outcome;

static inline void clo_outcome_open(clo_outcome *outcome)
{
    atomic_store_explicit(&outcome->word, CLO_OUTCOME_OPEN, memory_order_relaxed);
}

/* The body of that task has returned the code, not 0. */
static inline void clo_outcome_fail(clo_outcome *outcome, uint32_t task, int code)
{
    uint64_t open = CLO_OUTCOME_OPEN, failure = ((uint64_t)task + 1) << 32 | (uint32_t)code;

    (void)atomic_compare_exchange_strong_explicit(&outcome->word, &open, failure, memory_order_release, /* [A] */
                                                  memory_order_relaxed);
}

/* A body was left out. */
static inline void clo_outcome_cut(clo_outcome *outcome, bool is_cancelled)
{
    uint64_t open = CLO_OUTCOME_OPEN, cut = is_cancelled ? CLO_OUTCOME_CANCELLED : CLO_OUTCOME_ABORTED;

    (void)atomic_compare_exchange_strong_explicit(&outcome->word, &open, cut, memory_order_relaxed,
                                                  memory_order_relaxed);
}

static inline uint64_t clo_outcome_read(const clo_outcome *outcome)
{
    return atomic_load_explicit(&outcome->word, memory_order_acquire); /* [B] */
}

static inline bool clo_outcome_is_open(const clo_outcome *outcome)
{
    return atomic_load_explicit(&outcome->word, memory_order_relaxed) == CLO_OUTCOME_OPEN;
}

/* Of what was read. */
static inline bool clo_outcome_is_failure(uint64_t word)
{
    return word > CLO_OUTCOME_ABORTED;
}

static inline uint32_t clo_outcome_task(uint64_t failure)
{
    return (uint32_t)((failure >> 32) - 1);
}

static inline int clo_outcome_code(uint64_t failure)
{
    return (int)(uint32_t)failure;
}

#endif
