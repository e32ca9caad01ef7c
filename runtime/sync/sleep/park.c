/* park.c - see park.h. */
#define _GNU_SOURCE /* syscall(2) */
#include "sync/sleep/park.h"

#include "base/clock.h"

#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define DOZE_NS 50000

void clo_fence_init(clo_fence *fence)
{
    atomic_init(&fence->order, 0);
    fence->has_membarrier = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

void clo_fence_heavy(clo_fence *fence)
{
    if (fence->has_membarrier)
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    else
        atomic_fetch_add_explicit(&fence->order, 1, memory_order_acq_rel);
}

void clo_futex_wait(_Atomic uint32_t *word, uint32_t value)
{
    /* Errors (EAGAIN, EINTR) mean "look again", which every caller does in its loop. */
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

void clo_futex_wait_until(_Atomic uint32_t *word, uint32_t value, int64_t until_ns)
{
    struct timespec until = {(time_t)(until_ns / 1000000000), (long)(until_ns % 1000000000)};

    /* BITSET: the only form whose timeout is absolute. */
    syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, value, until_ns == INT64_MAX ? NULL : &until, NULL,
            FUTEX_BITSET_MATCH_ANY);
}

void clo_futex_doze(_Atomic uint32_t *word, uint32_t value)
{
    clo_futex_wait_until(word, value, clo_clock_ns() + DOZE_NS);
}

void clo_futex_wake_all(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

uint32_t clo_parker_sleep(clo_parker *parker)
{
    uint32_t state = CLO_PARK_ANNOUNCED;

    /* Fails if it was woken already, or has retired. */
    (void)atomic_compare_exchange_strong_explicit(&parker->state, &state, CLO_PARK_ASLEEP,
                                                  memory_order_release, /* [A] */
                                                  memory_order_relaxed);
    /* Acquire pairs with the exchange in wake: the waker's writes before the wake are visible; and with [E] and [I]. */
    while (((state = atomic_load_explicit(&parker->state, memory_order_acquire)) & CLO_PARK_OWNER) != CLO_PARK_AWAKE)
        clo_futex_wait(&parker->state, state);
    return atomic_exchange_explicit(&parker->state, CLO_PARK_AWAKE, memory_order_seq_cst) / CLO_PARK_NOTE; /* [K] */
}

bool clo_parker_retire(clo_parker *parker, uint32_t *note)
{
    uint32_t state = CLO_PARK_IDLE, next;

    do { /* each turn the borrower has given it back, or somebody has called or left a note */
        next = (state & CLO_PARK_LENT) != 0 ? CLO_PARK_ASLEEP | CLO_PARK_LENT | CLO_PARK_CALLED : CLO_PARK_AWAKE;
    } while (!atomic_compare_exchange_strong_explicit(&parker->state, &state, next,
                                                      memory_order_acq_rel, /* [F] [H] [J] */
                                                      memory_order_relaxed));
    *note = state / CLO_PARK_NOTE;
    return next != CLO_PARK_AWAKE;
}

bool clo_parker_wake(clo_parker *parker)
{
    uint32_t state = atomic_load_explicit(&parker->state, memory_order_relaxed), next;

    atomic_store_explicit(&parker->woken_ns, clo_clock_ns(), memory_order_relaxed);
    do { /* each turn somebody else has changed it */
        if ((state & CLO_PARK_OWNER) == CLO_PARK_AWAKE || state % CLO_PARK_NOTE == CLO_PARK_IDLE)
            return false;
        next = state | CLO_PARK_CALLED;
        if ((state & CLO_PARK_LENT) == 0)
            next -= state & CLO_PARK_OWNER;
    } while (!atomic_compare_exchange_strong_explicit(&parker->state, &state, next, memory_order_acq_rel, /* [G] */
                                                      memory_order_relaxed));
    if ((next & CLO_PARK_LENT) != 0)
        return false;
    clo_futex_wake_all(&parker->state);
    return true;
}

void clo_parker_rouse(clo_parker *parker)
{
    atomic_store_explicit(&parker->woken_ns, clo_clock_ns(), memory_order_relaxed);
    uint32_t before = atomic_exchange_explicit(&parker->state, CLO_PARK_AWAKE, memory_order_release); /* [E] */
    if ((before & CLO_PARK_OWNER) == CLO_PARK_ASLEEP)
        clo_futex_wake_all(&parker->state);
}
