/* stop.h - whether the bodies of a job may still start: cancel, abort and failure beside the submits and runs of the
 * job.
 *
 * Submits and runs are numbered for the life of the job, and every wish to stop names the one it means. So a cancel
 * either belongs to the submit that it met, as a whole, or to an earlier one, which it no longer disturbs; an abort
 * never hits the run after the one it was meant for.
 *
 *               submit  begin  cancel  abort  fail
 *      submit     X       X       -      X      X    (nothing of the job runs)
 *      begin      X       X       -      X      X    (whoever starts a run; nothing of the job runs)
 *      cancel     -       -       -      -      -
 *      abort      X       X       -      -      -
 *      fail       X       X       -      -      -    (a worker, within the run)
 *
 * Progress: wait-free, but for cancel, which tries again only if a run has begun or has been stopped meanwhile.
 * Ordering: bodies may start until a stop is seen, and but for [F] no other data travel. begin and cancel race on two
 * locations (`run` and `cancelled`): each writes one and then reads the other, seq_cst ([A] [B], [C] [D]), so one of
 * them sees the other. Who finds a run stopped by a cancel also sees that it was cancelled, and by a failure what was
 * written before it: [F]. Mutation list: [B] left out; [D] left out; [F] relaxed in fail, and left out; the check of
 * `submit` in cancel left out; cancel writing `cancelled` without a comparison. */
#ifndef CLO_SYNC_PROTOCOL_STOP_H
#define CLO_SYNC_PROTOCOL_STOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct clo_stop {
    /* Number of the run << 1 | 1 if no more bodies may start. */
    _Atomic uint64_t run;
    /* Number of the current submit, or of the last; 0: none yet. */
    _Atomic uint64_t submit;
    /* The newest submit that was cancelled; 0: none. */
    _Atomic uint64_t cancelled;
} clo_stop;

/* Returns the number for the first run of the submit. */
static inline uint64_t clo_stop_submit(clo_stop *stop)
{
    /* Release, pairs with [E]: nothing travels but the number itself. Nobody else writes it. */
    atomic_store_explicit(&stop->submit, atomic_load_explicit(&stop->submit, memory_order_relaxed) + 1,
                          memory_order_release);
    return (atomic_load_explicit(&stop->run, memory_order_relaxed) >> 1) + 1;
}

static inline bool clo_stop_is_cancelled(const clo_stop *stop)
{
    uint64_t submit = atomic_load_explicit(&stop->submit, memory_order_relaxed);

    return submit != 0 && atomic_load_explicit(&stop->cancelled, memory_order_seq_cst) == submit; /* [B] */
}

/* `number` is larger than that of every earlier run. */
static inline void clo_stop_begin(clo_stop *stop, uint64_t number)
{
    atomic_store_explicit(&stop->run, number << 1, memory_order_seq_cst); /* [A] */
    if (clo_stop_is_cancelled(stop))
        atomic_fetch_or_explicit(&stop->run, 1, memory_order_relaxed);
}

/* Of who has seen clo_stop_is_set: a cancel has set it, or came soon after an abort or a failure that has. */
static inline bool clo_stop_was_cancelled(const clo_stop *stop)
{
    /* [F] acquire, pairs with the release in cancel and fail: the cancel that has set the bit is seen below, and a
     * failure that has set it stands before whatever the caller decides now. */
    (void)atomic_load_explicit(&stop->run, memory_order_acquire);
    return clo_stop_is_cancelled(stop);
}

/* Hot: one relaxed load. */
static inline bool clo_stop_is_set(const clo_stop *stop)
{
    return (atomic_load_explicit(&stop->run, memory_order_relaxed) & 1) != 0;
}

/* What the caller did before, who asks clo_stop_was_cancelled finds done: the failure is known. */
static inline void clo_stop_fail(clo_stop *stop)
{
    atomic_fetch_or_explicit(&stop->run, 1, memory_order_release); /* [F] */
}

/* Only if that is the run. */
static inline void clo_stop_abort(clo_stop *stop, uint64_t number)
{
    uint64_t run = number << 1;

    (void)atomic_compare_exchange_strong_explicit(&stop->run, &run, run | 1, memory_order_relaxed,
                                                  memory_order_relaxed);
}

/* The current submit, from now on; nothing if there was none yet. */
static inline void clo_stop_cancel(clo_stop *stop)
{
    uint64_t submit = atomic_load_explicit(&stop->submit, memory_order_acquire);
    uint64_t newest = atomic_load_explicit(&stop->cancelled, memory_order_relaxed);

    while (newest < submit && /* a cancel of a later submit stands */
           !atomic_compare_exchange_weak_explicit(&stop->cancelled, &newest, submit, memory_order_seq_cst, /* [C] */
                                                  memory_order_relaxed))
        ;
    uint64_t run = atomic_load_explicit(&stop->run, memory_order_seq_cst); /* [D] */
    while ((run & 1) == 0) {
        /* [E] acquire. The run may be one of a later submit: `submit` was counted before that run began, which [D] or
         *     the failed exchange has seen. */
        if (atomic_load_explicit(&stop->submit, memory_order_acquire) != submit)
            return;
        if (atomic_compare_exchange_weak_explicit(&stop->run, &run, run | 1, memory_order_acq_rel, /* [F] */
                                                  memory_order_acquire))
            return;
    }
}

#endif
