/* park.h - sleeping and waking: a parker for each worker, and the fence that makes "nothing to do" safe.
 *
 * A producer publishes work, then asks whether somebody sleeps; a worker announces that it sleeps, then looks for
 * work once more. Each side writes one word and reads the other's (Dekker), so one of them must see the other. The
 * fence is put where it is rare: the sleeper calls clo_fence_heavy (membarrier(2): every thread of the process
 * executes a full fence), so the producer's clo_fence_light is a compiler fence. Where the kernel refuses
 * membarrier, both sides use a read-modify-write of one shared word instead, whose modification order decides.
 *
 *               prepare  cancel  sleep   wake
 *      prepare     X       X       X      -     (owner only)
 *      cancel      X       X       X      -     (owner only)
 *      sleep       X       X       X      -     (owner only)
 *      wake        -       -       -      -
 *
 * Mutation, by hand: clo_fence_heavy doing nothing; most stress runs then hang. */
#ifndef CLO_SYNC_PARK_H
#define CLO_SYNC_PARK_H

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

typedef struct clo_parker {
    _Atomic uint32_t asleep;  /* futex word: 1 from prepare until woken or cancelled      */
    _Atomic int64_t woken_ns; /* when the last waker called, for statistics: relaxed      */
} clo_parker;

/* Owner: announces sleep. Call clo_fence_heavy and look for work before clo_parker_sleep. */
static inline void clo_parker_prepare(clo_parker *parker)
{
    atomic_store_explicit(&parker->asleep, 1, memory_order_seq_cst);
}

/* Owner: there was work after all. False: a wake came in between (it has been consumed). */
static inline bool clo_parker_cancel(clo_parker *parker)
{
    return atomic_exchange_explicit(&parker->asleep, 0, memory_order_acq_rel) == 1;
}

/* Owner: sleeps until woken. */
void clo_parker_sleep(clo_parker *parker);

/* Hint for producers, after clo_fence_light. */
static inline bool clo_parker_is_asleep(const clo_parker *parker)
{
    return atomic_load_explicit(&parker->asleep, memory_order_relaxed) == 1;
}

/* Any thread: true if this call woke the owner (one system call), false if it was awake. */
bool clo_parker_wake(clo_parker *parker);

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
