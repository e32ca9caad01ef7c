/* watch.h - what a worker tells the watchdog of the bodies it runs: which one, until when it may take, and afterwards
 * which were too long.
 *
 * The word is (number of the body << 2 | state). The watchdog, while the body runs, or the worker, when it ends, finds
 * an overrun first; the exchange of the word decides who counts it: exactly one. What the worker finds it leaves as a
 * note.
 *
 * A note outlives its body, and must not outlive its job. So notes are left only for jobs with a handler, whose end
 * counts as settled (is_settled) only after the watchdog has seen it and has read all notes; a body's note is left
 * before its job can end. A job may be taken away once it is settled and the watchdog's lock was had.
 *
 *               begin   end   note   see   claim   read
 *      begin      X      X      X     -      -      -    (the worker)
 *      end        X      X      X     -      -      -    (the worker)
 *      note       X      X      X     -      -      -    (the worker)
 *      see        -      -      -     X      X      X    (under the watchdog's lock)
 *      claim      -      -      -     X      X      X    (under the watchdog's lock)
 *      read       -      -      -     X      X      X    (under the watchdog's lock)
 *
 * Progress: wait-free. A note that finds no room is dropped; the overrun is counted all the same.
 * Ordering: item and time travel with the word ([A] release, [B] acquire) and are believed only if the claim succeeds;
 * a note travels with `noted` ([D], [E]), its emptied slot back with `read` ([F], [G]).
 * Mutation list: [D] relaxed; [E] relaxed; an end that asks for the time alone. [A] and [B] relaxed are left out: the
 * checker's search then takes minutes. */
#ifndef CLO_SYNC_SLEEP_WATCH_H
#define CLO_SYNC_SLEEP_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { CLO_WATCH_IDLE, CLO_WATCH_RUNNING, CLO_WATCH_REPORTED };
#define CLO_WATCH_NOTES 256u

typedef struct clo_watch_note {
    uint64_t item, release;
    /* When the body was over its limit. */
    int64_t over_ns;
} clo_watch_note;

typedef struct clo_watch {
    _Atomic uint64_t word;
    _Atomic uint64_t item, release;
    _Atomic int64_t over_ns;
    _Atomic uint32_t noted, read;
    clo_watch_note notes[CLO_WATCH_NOTES];
} clo_watch;

static inline uint64_t clo_watch_word(uint64_t number, uint64_t state)
{
    return number << 2 | state;
}

/* over_ns: INT64_MAX for a body without a limit. */
static inline void clo_watch_begin(clo_watch *watch, const clo_watch_note *body)
{
    uint64_t number = (atomic_load_explicit(&watch->word, memory_order_relaxed) >> 2) + 1;

    atomic_store_explicit(&watch->item, body->item, memory_order_relaxed);
    atomic_store_explicit(&watch->release, body->release, memory_order_relaxed);
    atomic_store_explicit(&watch->over_ns, body->over_ns, memory_order_relaxed);
    atomic_store_explicit(&watch->word, /* [A] */
                          clo_watch_word(number, body->over_ns < INT64_MAX ? CLO_WATCH_RUNNING : CLO_WATCH_IDLE),
                          memory_order_release);
}

/* True: the body was over its limit at now_ns and nobody has reported it; *body is what begin was told. */
static inline bool clo_watch_end(clo_watch *watch, int64_t now_ns, clo_watch_note *body)
{
    uint64_t word = atomic_load_explicit(&watch->word, memory_order_relaxed);

    body->item = atomic_load_explicit(&watch->item, memory_order_relaxed);
    body->release = atomic_load_explicit(&watch->release, memory_order_relaxed);
    body->over_ns = atomic_load_explicit(&watch->over_ns, memory_order_relaxed);
    /* [C] acq_rel: the watchdog may not see the next body's words under this body's number. */
    word = atomic_exchange_explicit(&watch->word, clo_watch_word(word >> 2, CLO_WATCH_IDLE), memory_order_acq_rel);
    return (word & 3) == CLO_WATCH_RUNNING && now_ns > body->over_ns;
}

static inline void clo_watch_leave_note(clo_watch *watch, const clo_watch_note *note)
{
    uint32_t noted = atomic_load_explicit(&watch->noted, memory_order_relaxed);

    if (noted - atomic_load_explicit(&watch->read, memory_order_acquire) == CLO_WATCH_NOTES) /* [G] */
        return;
    watch->notes[noted % CLO_WATCH_NOTES] = *note;
    atomic_store_explicit(&watch->noted, noted + 1, memory_order_release); /* [D] */
}

/* The watchdog: the body with a limit that runs now, for clo_watch_claim. False: none, or it is reported. */
static inline bool clo_watch_see(const clo_watch *watch, uint64_t *word, clo_watch_note *body)
{
    *word = atomic_load_explicit(&watch->word, memory_order_acquire); /* [B] */
    if ((*word & 3) != CLO_WATCH_RUNNING)
        return false;
    body->item = atomic_load_explicit(&watch->item, memory_order_relaxed);
    body->release = atomic_load_explicit(&watch->release, memory_order_relaxed);
    body->over_ns = atomic_load_explicit(&watch->over_ns, memory_order_relaxed);
    return true;
}

/* True if it is still the same body: it is the watchdog's to report, and its job cannot be taken away meanwhile. */
static inline bool clo_watch_claim(clo_watch *watch, uint64_t word)
{
    return atomic_compare_exchange_strong_explicit(&watch->word, &word, clo_watch_word(word >> 2, CLO_WATCH_REPORTED),
                                                   memory_order_acq_rel, memory_order_relaxed);
}

/* The watchdog: the oldest note. False: there is none. */
static inline bool clo_watch_read_note(clo_watch *watch, clo_watch_note *note)
{
    uint32_t read = atomic_load_explicit(&watch->read, memory_order_relaxed);

    if (read == atomic_load_explicit(&watch->noted, memory_order_acquire)) /* [E] */
        return false;
    *note = watch->notes[read % CLO_WATCH_NOTES];
    atomic_store_explicit(&watch->read, read + 1, memory_order_release); /* [F] */
    return true;
}

#endif
