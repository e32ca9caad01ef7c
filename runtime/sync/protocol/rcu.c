/* rcu.c - see rcu.h. The only file that includes liburcu. Its functions are called, not inlined (no _LGPL_SOURCE): the
 * readers are monitors, whose 30 ns do not matter. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, for headers of liburcu on other machines than x86 */
#include "sync/protocol/rcu.h"

#include <pthread.h>
#include <urcu/urcu-bp.h>

/* What the thread sanitizer is told of liburcu's barriers; it does not see those of a library that it did not build.
 * Told is exactly what a grace period promises: the sections that have ended happen before the wait returns. If the
 * wait itself is left out, sections that are still open race with what follows, and it says so. */
#if defined __SANITIZE_THREAD__
#define CLO_RCU_TELLS 1
#elif defined __has_feature
#if __has_feature(thread_sanitizer)
#define CLO_RCU_TELLS 1
#endif
#endif

#ifdef CLO_RCU_TELLS
static _Atomic unsigned sections_left;
#endif

static void tell_leave(void)
{
#ifdef CLO_RCU_TELLS
    atomic_fetch_add_explicit(&sections_left, 1, memory_order_release); /* [C] */
#endif
}

static void tell_wait(void)
{
#ifdef CLO_RCU_TELLS
    (void)atomic_load_explicit(&sections_left, memory_order_acquire); /* [D] */
#endif
}

void clo_rcu_enter(void)
{
    urcu_bp_read_lock();
}

void clo_rcu_leave(void)
{
    tell_leave();
    urcu_bp_read_unlock();
}

void clo_rcu_wait(void)
{
    urcu_bp_synchronize_rcu();
    tell_wait();
}

void clo_rcu_handle_forks(void)
{
    /* Fails without memory: then a fork in the middle of a wait goes unseen. */
    (void)pthread_atfork(urcu_bp_before_fork, urcu_bp_after_fork_parent, urcu_bp_after_fork_child);
}
