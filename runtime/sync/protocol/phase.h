/* phase.h - where a job stands between its submits, and who reads what the last one left.
 *
 * One word: the phase, and the number of threads that read the results. A submit takes the word from idle or done to
 * running, which fails while somebody reads; readers are let in only when it is done. So of two submits at once one
 * is refused, and no result is overwritten while it is read.
 *
 *               start  end   read
 *      start      -     -     -
 *      end        X     X     -   (whoever ends the last run; it may go on as a reader)
 *      read       -     -     -
 *
 * Progress: start and end are wait-free; read is lock-free (it fails only because others read too).
 * Ordering: what was written before end is visible to readers ([A] release, [B] acquire) and to the next start; what
 * readers did happens before the next start ([C] release, [D] acquire).
 * Mutation list: [A] relaxed; [B] relaxed; [C] relaxed; [D] relaxed; [E] release, and acquire; start that looks at the
 * phase alone. */
#ifndef CLO_SYNC_PROTOCOL_PHASE_H
#define CLO_SYNC_PROTOCOL_PHASE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { CLO_PHASE_IDLE, CLO_PHASE_RUNNING, CLO_PHASE_DONE, CLO_PHASE_READER = 4 };

typedef struct clo_phase {
    _Atomic uint32_t word; /* readers * CLO_PHASE_READER + phase */
} clo_phase;

/* Acquire, as [B]. */
static inline uint32_t clo_phase_get(const clo_phase *phase)
{
    return atomic_load_explicit(&phase->word, memory_order_acquire) % CLO_PHASE_READER;
}

/* False: it runs, or somebody reads; the caller asks clo_phase_get which. */
static inline bool clo_phase_start(clo_phase *phase)
{
    uint32_t word = atomic_load_explicit(&phase->word, memory_order_relaxed);

    return (word == CLO_PHASE_IDLE || word == CLO_PHASE_DONE) &&
           atomic_compare_exchange_strong_explicit(&phase->word, &word, CLO_PHASE_RUNNING,
                                                   memory_order_acquire, /* [D] */
                                                   memory_order_relaxed);
}

/* A start that came to nothing; nobody has seen it but those who were refused meanwhile. */
static inline void clo_phase_revert(clo_phase *phase, uint32_t before)
{
    atomic_store_explicit(&phase->word, before, memory_order_release);
}

static inline void clo_phase_end(clo_phase *phase)
{
    atomic_store_explicit(&phase->word, CLO_PHASE_DONE, memory_order_release); /* [A]; while it runs nobody reads */
}

/* The same by a thread that reads next, as after clo_phase_read_begin. seq_cst ([E]): it races with those who wait, on
 * two locations (run/job/done.c). */
static inline void clo_phase_end_reading(clo_phase *phase)
{
    atomic_store_explicit(&phase->word, CLO_PHASE_DONE + CLO_PHASE_READER, memory_order_seq_cst); /* [A] [E] */
}

/* As clo_phase_get == CLO_PHASE_DONE, by who waits and has said so. */
static inline bool clo_phase_is_done(const clo_phase *phase)
{
    return atomic_load_explicit(&phase->word, memory_order_seq_cst) % CLO_PHASE_READER == CLO_PHASE_DONE; /* [B] [E] */
}

static inline bool clo_phase_read_begin(clo_phase *phase)
{
    uint32_t word = atomic_load_explicit(&phase->word, memory_order_relaxed);

    while (word % CLO_PHASE_READER == CLO_PHASE_DONE) /* fails only when another reader comes or goes */
        if (atomic_compare_exchange_weak_explicit(&phase->word, &word, word + CLO_PHASE_READER,
                                                  memory_order_acquire, /* [B] */
                                                  memory_order_relaxed))
            return true;
    return false;
}

static inline void clo_phase_read_end(clo_phase *phase)
{
    atomic_fetch_sub_explicit(&phase->word, CLO_PHASE_READER, memory_order_release); /* [C] */
}

#endif
