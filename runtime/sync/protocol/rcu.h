/* rcu.h - what is published while other threads read it: read-copy-update (McKenney and Slingwine 1998), by liburcu.
 *
 * A pointer is published with clo_rcu_publish. Readers load it with clo_rcu_read between clo_rcu_enter and
 * clo_rcu_leave, and may use what it points to until they leave. Who takes something out publishes another pointer or
 * NULL first, then calls clo_rcu_wait, then frees it: every reader that may have seen it has left by then.
 *
 *                  publish   enter .. leave   wait
 *      publish        X            -            -     (of one pointer)
 *      enter .. leave -            -            X     (on the same thread: it would wait for itself)
 *      wait           -            X            -
 *
 * Flavour: liburcu-bp. Readers are monitors, threads that we do not know; it registers them by itself. QSBR would make
 * each of them register and announce quiescent states, and a program that uses QSBR itself could not call us; workers
 * are no readers, so they would gain nothing by it. The grace period is one for the whole process: sections are short
 * (a copy of one row), and no code of the application runs in them.
 *
 * Progress: enter and leave are wait-free, but for the first enter of a thread, which takes memory and a lock. wait
 * blocks until all sections that have begun have ended.
 * Ordering: what was written before publish happens before whatever is done with the pointer that read returns ([A]
 * release, [B] acquire). Whatever a reader did before leave happens before wait returns, if its enter came before the
 * wait: by liburcu's barriers, which the thread sanitizer does not see; so under that [C] and [D] say the same.
 * Mutation list: [A] relaxed; the grace period left out. */
#ifndef CLO_SYNC_PROTOCOL_RCU_H
#define CLO_SYNC_PROTOCOL_RCU_H

#include "library.h"

#include <stdatomic.h>

/* A pointer that is read while it changes. */
typedef struct clo_rcu_pointer {
    const void *_Atomic target;
} clo_rcu_pointer;

static inline void clo_rcu_publish(clo_rcu_pointer *pointer, const void *target)
{
    atomic_store_explicit(&pointer->target, target, memory_order_release); /* [A] */
}

/* Between enter and leave. */
static inline const void *clo_rcu_read(const clo_rcu_pointer *pointer)
{
    return atomic_load_explicit(&pointer->target, memory_order_acquire); /* [B] */
}

/* The section of a reader; sections may nest. */
CLO_INTERNAL void clo_rcu_enter(void);
CLO_INTERNAL void clo_rcu_leave(void);

/* Until all sections have ended that are open now. Not in a section. */
CLO_INTERNAL void clo_rcu_wait(void);

/* A forked process has none of the other threads, so it must forget their sections, and fork must not come while
 * liburcu's locks are held. Once in a process. */
void clo_rcu_handle_forks(void);

#endif
