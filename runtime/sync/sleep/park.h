/* park.h - sleeping, waking and lending: a parker for each worker, and the fence that makes "nothing to do" safe.
 *
 * A producer publishes work, then asks whether somebody sleeps; a worker announces that it sleeps, then looks for
 * work once more. Each side writes one word and reads the other's (Dekker), so one of them must see the other. The
 * fence is put where it is rare: the sleeper calls clo_fence_heavy (membarrier(2): every thread of the process
 * executes a full fence), so the producer's clo_fence_light is a compiler fence. Where the kernel refuses
 * membarrier, both sides use a read-modify-write of one shared word instead, whose modification order decides.
 *
 * While its owner sleeps, or looks for work and finds none, what belongs to the parker (a worker with its deque) may be
 * borrowed by another thread. Who borrows it is awake in the owner's place: a wake only marks that it was called for,
 * and the borrower cannot give it back before it has looked at what the caller made visible. Then it gives it back, or
 * rouses the owner. An owner that finds itself lent may go to sleep; it marks a call, since its last look was before.
 * One word decides all of that, so the borrower needs no fence: each change is a read-modify-write, and whoever comes
 * later in the word's order sees what the earlier one wrote before.
 *
 * The same word holds a note: a number that somebody leaves with a parker whose owner sleeps or is idle. Whoever takes
 * the note gets what it stands for: with the parker, borrowed in the same step (claim), without it (lift), or its owner
 * (take; what it finds when it was woken). Who leaves one sees to it that somebody will look: it then reads whether a
 * worker looks (sync/sleep/searching.h), and one that ends its look reads the notes after that. Both sides do so with a
 * read-modify-write of their own word first, seq_cst ([I], and [B] there): one of them sees the other. An owner that
 * was woken will look, too: it takes that mark away before ([K], seq_cst).
 *
 *      owner:     prepare, cancel, sleep; idle, resume, retire, take      (X among each other)
 *      borrower:  look, give_back, rouse, call                            (X among each other; call: the owner, idle)
 *      anybody:   wake, borrow, leave, claim, lift, note
 *
 * Progress: wait-free, but for sleep and retire; wake, look, give_back, take and lift try again only if the word was
 * changed meanwhile.
 * Ordering: what the owner left behind is the borrower's ([A] release, [B] acquire), and what that left, the owner's or
 * the next borrower's ([C] and [E] release; [B], [F], and the acquire in sleep). What a caller made visible is seen by
 * the look that takes its mark away ([D] acquire; [G] and [H]). What was written before a note was left is seen by who
 * has it ([I] release; [J] acquire, and the one in sleep).
 * Mutation list: clo_fence_heavy doing nothing; [A], [B], [C], [E], [J] relaxed; [I] release; [K] acq_rel, and left
 * out; wake that leaves a lent one alone, or drops a note; retire without a call; claim of whatever lies there. */
#ifndef CLO_SYNC_SLEEP_PARK_H
#define CLO_SYNC_SLEEP_PARK_H

#include "base/memory.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* One for each runtime. */
typedef struct clo_fence {
    bool has_membarrier;
    alignas(CLO_CACHE_LINE_BYTES) _Atomic uint32_t order; /* used only without membarrier */
} clo_fence;

void clo_fence_init(clo_fence *fence);
void clo_fence_heavy(clo_fence *fence);

static inline void clo_fence_light(clo_fence *fence)
{
    if (fence->has_membarrier)
        atomic_signal_fence(memory_order_seq_cst);
    else
        atomic_fetch_add_explicit(&fence->order, 1, memory_order_acq_rel);
}

enum {
    /* The owner: */
    CLO_PARK_AWAKE = 0,
    CLO_PARK_ANNOUNCED = 1, /* about to sleep */
    CLO_PARK_ASLEEP = 2,
    CLO_PARK_IDLE = 3, /* looks for work, and has none */
    CLO_PARK_OWNER = 3,
    /* Somebody has borrowed it, while the owner was asleep or idle. */
    CLO_PARK_LENT = 4,
    /* And it was called for since. With an owner that is awake: it was woken, and has looked at nothing yet. */
    CLO_PARK_CALLED = 8,
    /* Times this: the note, not 0. Never together with LENT. */
    CLO_PARK_NOTE = 16
};

typedef struct clo_parker {
    /* Futex word: the owner sleeps until it is CLO_PARK_AWAKE. */
    _Atomic uint32_t state;
    /* When the last waker called, for statistics: relaxed. */
    _Atomic int64_t woken_ns;
} clo_parker;

/* Owner: announces sleep. Call clo_fence_heavy and look for work before clo_parker_sleep. */
static inline void clo_parker_prepare(clo_parker *parker)
{
    atomic_store_explicit(&parker->state, CLO_PARK_ANNOUNCED, memory_order_seq_cst);
}

/* Owner: there was work after all. False: a wake came in between (it has been consumed). */
static inline bool clo_parker_cancel(clo_parker *parker)
{
    return atomic_exchange_explicit(&parker->state, CLO_PARK_AWAKE, memory_order_seq_cst) == /* [K] */
           CLO_PARK_ANNOUNCED;
}

/* Owner: sleeps until woken. Meanwhile others may borrow what is its own. Returns the note that was left with it and
 * that nobody has taken; 0: none. Look at all notes next. */
uint32_t clo_parker_sleep(clo_parker *parker);

/* Owner, awake: others may borrow what is its own, until clo_parker_resume has said true. */
static inline void clo_parker_idle(clo_parker *parker)
{
    atomic_store_explicit(&parker->state, CLO_PARK_IDLE, memory_order_release); /* [A] */
}

/* Owner, idle. False: it is lent, or a note was left with it; it is still idle. */
static inline bool clo_parker_resume(clo_parker *parker)
{
    uint32_t state = atomic_load_explicit(&parker->state, memory_order_acquire);

    if (state != CLO_PARK_IDLE) /* do not take the line from its borrower */
        return state == CLO_PARK_AWAKE;
    return atomic_compare_exchange_strong_explicit(&parker->state, &state, CLO_PARK_AWAKE,
                                                   memory_order_acquire, /* [F] */
                                                   memory_order_acquire) ||
           state == CLO_PARK_AWAKE; /* its borrower has roused it */
}

/* Owner, idle, as clo_parker_prepare; call clo_fence_heavy before. True: it is lent, and clo_parker_sleep follows;
 * the borrower looks. False: it is not, and the owner goes on, with the note that was left with it (0: none). */
bool clo_parker_retire(clo_parker *parker, uint32_t *note);

/* Hint for producers, after clo_fence_light: clo_parker_wake has something to do. */
static inline bool clo_parker_is_away(const clo_parker *parker)
{
    uint32_t state = atomic_load_explicit(&parker->state, memory_order_relaxed) % CLO_PARK_NOTE;

    return (state & CLO_PARK_OWNER) != CLO_PARK_AWAKE && state != CLO_PARK_IDLE;
}

/* After a note was left: the owner was woken and will look at all notes. */
static inline bool clo_parker_is_woken(const clo_parker *parker)
{
    uint32_t state = atomic_load_explicit(&parker->state, memory_order_seq_cst) % CLO_PARK_NOTE;

    return state == (CLO_PARK_AWAKE | CLO_PARK_CALLED);
}

/* Hint: its owner sleeps, or is about to, and nobody has borrowed it. */
static inline bool clo_parker_is_asleep(const clo_parker *parker)
{
    uint32_t state = atomic_load_explicit(&parker->state, memory_order_relaxed) % CLO_PARK_NOTE;

    return state == CLO_PARK_ANNOUNCED || state == CLO_PARK_ASLEEP;
}

/* Hint: it may be borrowed, or given a note. */
static inline bool clo_parker_may_lend(const clo_parker *parker)
{
    uint32_t state = atomic_load_explicit(&parker->state, memory_order_relaxed);

    return state == CLO_PARK_ASLEEP || state == CLO_PARK_IDLE;
}

/* Hint: the same, and its owner sleeps. */
static inline bool clo_parker_sleeps_free(const clo_parker *parker)
{
    return atomic_load_explicit(&parker->state, memory_order_relaxed) == CLO_PARK_ASLEEP;
}

/* Any thread: true if this call woke the owner (one system call); false if it was awake, or is lent, and called for. */
bool clo_parker_wake(clo_parker *parker);

/* Any thread but the owner. True: what is the owner's is the caller's, until clo_parker_return or
 * clo_parker_rouse. */
static inline bool clo_parker_borrow(clo_parker *parker)
{
    uint32_t state = atomic_load_explicit(&parker->state, memory_order_relaxed);

    return (state == CLO_PARK_ASLEEP || state == CLO_PARK_IDLE) &&
           atomic_compare_exchange_strong_explicit(&parker->state, &state, state | CLO_PARK_LENT,
                                                   memory_order_acquire, /* [B] */
                                                   memory_order_relaxed);
}

/* Anybody: leaves a note, 1 .. 2^28-1. False: the owner is awake or about to sleep, it is lent, or has another note. */
static inline bool clo_parker_leave(clo_parker *parker, uint32_t note)
{
    uint32_t state = atomic_load_explicit(&parker->state, memory_order_relaxed);

    return (state == CLO_PARK_ASLEEP || state == CLO_PARK_IDLE) &&
           atomic_compare_exchange_strong_explicit(&parker->state, &state, state + note * CLO_PARK_NOTE,
                                                   memory_order_seq_cst, /* [I] */
                                                   memory_order_relaxed);
}

/* Anybody: the note that lies there; 0: none. */
static inline uint32_t clo_parker_note(const clo_parker *parker)
{
    return atomic_load_explicit(&parker->state, memory_order_seq_cst) / CLO_PARK_NOTE;
}

/* Any thread but the owner: takes this note and borrows the parker, both or neither. Not a note that its owner has been
 * woken with. */
static inline bool clo_parker_claim(clo_parker *parker, uint32_t note)
{
    uint32_t state = atomic_load_explicit(&parker->state, memory_order_relaxed), owner = state % CLO_PARK_NOTE;

    return state / CLO_PARK_NOTE == note && (owner & CLO_PARK_OWNER) != CLO_PARK_AWAKE &&
           atomic_compare_exchange_strong_explicit(&parker->state, &state, owner | CLO_PARK_LENT,
                                                   memory_order_acquire, /* [J], and [B] */
                                                   memory_order_relaxed);
}

/* Any thread but the owner: takes the note alone; 0: there is none, or its owner has been woken with it. */
static inline uint32_t clo_parker_lift(clo_parker *parker)
{
    uint32_t state = atomic_load_explicit(&parker->state, memory_order_seq_cst);

    while (state / CLO_PARK_NOTE != 0 && (state & CLO_PARK_OWNER) != CLO_PARK_AWAKE) /* another turn: it was changed */
        if (atomic_compare_exchange_strong_explicit(&parker->state, &state, state % CLO_PARK_NOTE,
                                                    memory_order_acquire, /* [J] */
                                                    memory_order_relaxed))
            return state / CLO_PARK_NOTE;
    return 0;
}

/* Owner, idle: takes the note and is awake; 0: there is none, and it is idle still. */
static inline uint32_t clo_parker_take(clo_parker *parker)
{
    uint32_t state = atomic_load_explicit(&parker->state, memory_order_relaxed);

    while (state / CLO_PARK_NOTE != 0) /* another turn only if somebody else has taken it */
        if (atomic_compare_exchange_strong_explicit(&parker->state, &state, CLO_PARK_AWAKE,
                                                    memory_order_acquire, /* [J] */
                                                    memory_order_relaxed))
            return state / CLO_PARK_NOTE;
    return 0;
}

/* Owner, idle: if it is lent, its borrower shall look. */
static inline void clo_parker_call(clo_parker *parker)
{
    uint32_t state = CLO_PARK_IDLE | CLO_PARK_LENT;

    (void)atomic_compare_exchange_strong_explicit(&parker->state, &state, state | CLO_PARK_CALLED,
                                                  memory_order_acq_rel, /* [G] */
                                                  memory_order_relaxed);
}

/* Borrower, hint: somebody has called. */
static inline bool clo_parker_is_called(const clo_parker *parker)
{
    return (atomic_load_explicit(&parker->state, memory_order_relaxed) & CLO_PARK_CALLED) != 0;
}

/* Borrower. True: somebody has called; look at what there is, then go on. */
static inline bool clo_parker_look(clo_parker *parker)
{
    uint32_t state = atomic_load_explicit(&parker->state, memory_order_relaxed);

    while ((state & CLO_PARK_CALLED) != 0) /* another turn only if the owner retires */
        if (atomic_compare_exchange_strong_explicit(&parker->state, &state, state & ~(uint32_t)CLO_PARK_CALLED,
                                                    memory_order_acquire, /* [D] */
                                                    memory_order_relaxed))
            return true;
    return false;
}

/* Borrower: the owner sleeps on, or looks on. False: somebody has called; clo_parker_look first. */
static inline bool clo_parker_return(clo_parker *parker)
{
    uint32_t state = atomic_load_explicit(&parker->state, memory_order_relaxed);

    while ((state & CLO_PARK_CALLED) == 0) /* another turn only if the owner retires */
        if (atomic_compare_exchange_strong_explicit(&parker->state, &state, state & CLO_PARK_OWNER,
                                                    memory_order_release, /* [C] */
                                                    memory_order_relaxed))
            return true;
    return false;
}

/* Borrower: the owner goes on, and looks for work itself. */
void clo_parker_rouse(clo_parker *parker);

/* Plain futex calls for other waiting words. wait returns when *word may differ from `value`. */
void clo_futex_wait(_Atomic uint32_t *word, uint32_t value);
/* As wait, but returns also when the clock (CLOCK_MONOTONIC) is past until_ns; INT64_MAX: no limit. */
void clo_futex_wait_until(_Atomic uint32_t *word, uint32_t value, int64_t until_ns);
void clo_futex_wake_all(_Atomic uint32_t *word);

/* Sleeps for 50 us, or less if the word has another value: for control, which looks again and again until another
 * thread is done. A yield would not do: under SCHED_FIFO it gives nothing to a thread of lower priority, which may be
 * the one. */
void clo_futex_doze(_Atomic uint32_t *word, uint32_t value);

static inline void clo_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory"); /* longer than yield, which is a no-op on most cores */
#else
    atomic_signal_fence(memory_order_seq_cst);
#endif
}

#endif
