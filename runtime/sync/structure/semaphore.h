/* semaphore.h - the capacities of one machine: what is left of each, and what is kept for the task that has waited
 * longest.
 *
 * A task takes all that it demands or nothing. What was refused waits with its driver (a worker's line, the line of a
 * scheduler, the event loop of the simulator), never here, so a semaphore needs no memory per waiter and follows no
 * pointer into a job that may be gone. The semaphore knows three things about all who wait: that somebody does, the
 * least that any of them demands, and ticket and demand of the oldest. So a give reports exactly when a waiter may fit,
 * and the refusal and its registration are one step: no give can fall between them.
 *
 * Starvation: starts that pass the oldest waiter are counted. After CLO_OVERTAKES_MAX of them others get only what is
 * left beside its demand, until it starts or is forgotten. When it has started, the next give reports whatever it
 * gives, so that those who wait register again and the next oldest is known.
 *
 * Algorithm: Herlihy's universal construction with copies of the state (A methodology for implementing highly
 * concurrent data objects, TOPLAS 1993, section 4): a thread copies the state, changes the copy on a page of its own,
 * and swings the head to that page by compare-and-swap; the page it has replaced is its own from then on. Deviation:
 * the head carries a version beside the page, which takes the place of load-linked, and a copy counts only if the head
 * has not moved meanwhile, so nobody waits for readers of an old page. A version comes back after 2^48 changes.
 * Rejected: a counter for each resource (two tasks that take several can refuse each other for ever), a lock (a worker
 * that is preempted inside would block the machine).
 *
 *               take   take_or_watch   watch   listen   give   forget
 *      any        -          -           -        -       -       -
 *      (but two threads never use one `thread` number at a time)
 *
 * Progress: lock-free. A compare-and-swap fails, and a copy is thrown away, only if another thread has changed the
 * semaphore. Ordering: [A] acquire pairs with [B] release: whoever reads a head sees its page. [C] acquire and [D]
 * release: whoever has read a word of a page that was written again sees, at [E], that the head has moved on. Heads are
 * changed by read-modify-writes only, so what a thread wrote before it registered happens before what the giver does
 * that reports. Mutation list: [A] relaxed; [B] relaxed; [C] relaxed; [D] relaxed; [E] left out; a give that does not
 * report; a start of the oldest after which the next give does not report; overtakes that are not counted. */
#ifndef CLO_SYNC_STRUCTURE_SEMAPHORE_H
#define CLO_SYNC_STRUCTURE_SEMAPHORE_H

#include "base/memory.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#ifndef CLO_SEMAPHORE_RESOURCES
#define CLO_SEMAPHORE_RESOURCES 8
#endif

/* Starts that may pass the oldest waiter of a machine. */
#ifndef CLO_OVERTAKES_MAX
#define CLO_OVERTAKES_MAX 64u
#endif

/* Ticket of who has not waited; younger than all others. */
#define CLO_SEMAPHORE_NEW UINT64_MAX

/* What there is to know, copied from a page or on its way to one. */
typedef struct clo_semaphore_state {
    /* INT64_MAX: unlimited, never counted. */
    int64_t available[CLO_SEMAPHORE_RESOURCES];
    /* Demand of the oldest waiter. */
    int64_t kept[CLO_SEMAPHORE_RESOURCES];
    /* If somebody watches: of each resource, the least that any of them demands. */
    int64_t least[CLO_SEMAPHORE_RESOURCES];
    /* Ticket of the oldest waiter; CLO_SEMAPHORE_NEW: nobody is known to wait. */
    uint64_t oldest;
    /* Starts since it has registered that came later than it, up to CLO_OVERTAKES_MAX. */
    uint64_t overtakes;
    /* 1: somebody wants to be told when it may fit. */
    uint64_t watched;
} clo_semaphore_state;

typedef struct clo_semaphore_page {
    alignas(CLO_CACHE_LINE_BYTES) _Atomic int64_t available[CLO_SEMAPHORE_RESOURCES];
    _Atomic int64_t kept[CLO_SEMAPHORE_RESOURCES];
    _Atomic int64_t least[CLO_SEMAPHORE_RESOURCES];
    _Atomic uint64_t oldest;
    _Atomic uint64_t overtakes;
    _Atomic uint64_t watched;
    /* Of the thread with this page's number, and its alone: the page that it may write. */
    uint32_t spare;
} clo_semaphore_page;

typedef struct clo_semaphore {
    /* Version << 16 | page. */
    alignas(CLO_CACHE_LINE_BYTES) _Atomic uint64_t head;
    /* The next one; all are even. */
    _Atomic uint64_t tickets;
    /* [threads + 1] */
    clo_semaphore_page *pages;
    /* The first so many are counted; 0: everything is unlimited. */
    uint32_t resources;
} clo_semaphore;

/* Pages of a semaphore for so many threads: one each, and the one that the head names. Fewer than 65536 threads. */
static inline uint32_t clo_semaphore_pages(uint32_t threads)
{
    return threads + 1;
}

static inline void clo_semaphore_write(const clo_semaphore *semaphore, clo_semaphore_page *page,
                                       const clo_semaphore_state *state)
{
    for (uint32_t r = 0; r < semaphore->resources; r++) { /* [D], here and below */
        atomic_store_explicit(&page->available[r], state->available[r], memory_order_release);
        atomic_store_explicit(&page->kept[r], state->kept[r], memory_order_release);
        atomic_store_explicit(&page->least[r], state->least[r], memory_order_release);
    }
    atomic_store_explicit(&page->oldest, state->oldest, memory_order_release);
    atomic_store_explicit(&page->overtakes, state->overtakes, memory_order_release);
    atomic_store_explicit(&page->watched, state->watched, memory_order_release);
}

/* capacities: [resources], negative: unlimited. pages: clo_semaphore_pages(threads) of them; not needed if all are
 * unlimited. */
static inline void clo_semaphore_init(clo_semaphore *semaphore, const int64_t *capacities, uint32_t resources,
                                      clo_semaphore_page *pages, uint32_t threads)
{
    clo_semaphore_state state = {.oldest = CLO_SEMAPHORE_NEW};

    semaphore->resources = 0;
    for (uint32_t r = 0; r < resources; r++) {
        state.available[r] = capacities[r] < 0 ? INT64_MAX : capacities[r];
        if (capacities[r] >= 0)
            semaphore->resources = r + 1;
    }
    semaphore->pages = pages;
    for (uint32_t t = 0; t < threads; t++)
        pages[t].spare = t + 1;
    for (uint32_t p = 0; p < clo_semaphore_pages(threads) && semaphore->resources > 0; p++) {
        for (uint32_t r = 0; r < semaphore->resources; r++) {
            atomic_init(&pages[p].available[r], state.available[r]);
            atomic_init(&pages[p].kept[r], 0);
            atomic_init(&pages[p].least[r], 0);
        }
        atomic_init(&pages[p].oldest, CLO_SEMAPHORE_NEW);
        atomic_init(&pages[p].overtakes, 0);
        atomic_init(&pages[p].watched, 0);
    }
    atomic_init(&semaphore->head, 0);
    atomic_init(&semaphore->tickets, 2);
}

/* Copies the state; returns the head that it belongs to. */
static inline uint64_t clo_semaphore_read(clo_semaphore *semaphore, clo_semaphore_state *state)
{
    *state = (clo_semaphore_state){.oldest = CLO_SEMAPHORE_NEW}; /* what is not counted is copied too */
    for (;;) { /* another turn only if another thread has changed the semaphore */
        uint64_t head = atomic_load_explicit(&semaphore->head, memory_order_acquire); /* [A] */
        clo_semaphore_page *page = &semaphore->pages[head & 0xffff];
        for (uint32_t r = 0; r < semaphore->resources; r++) { /* [C], here and below */
            state->available[r] = atomic_load_explicit(&page->available[r], memory_order_acquire);
            state->kept[r] = atomic_load_explicit(&page->kept[r], memory_order_acquire);
            state->least[r] = atomic_load_explicit(&page->least[r], memory_order_acquire);
        }
        state->oldest = atomic_load_explicit(&page->oldest, memory_order_acquire);
        state->overtakes = atomic_load_explicit(&page->overtakes, memory_order_acquire);
        state->watched = atomic_load_explicit(&page->watched, memory_order_acquire);
        if (atomic_load_explicit(&semaphore->head, memory_order_relaxed) == head) /* [E] */
            return head;
    }
}

/* Puts the state in the place of that of `head`; false: somebody was quicker. */
static inline bool clo_semaphore_swing(clo_semaphore *semaphore, uint64_t head, const clo_semaphore_state *state,
                                       uint32_t thread)
{
    uint32_t spare = semaphore->pages[thread].spare;

    clo_semaphore_write(semaphore, &semaphore->pages[spare], state);
    if (!atomic_compare_exchange_strong_explicit(&semaphore->head, &head, ((head >> 16) + 1) << 16 | spare,
                                                 memory_order_acq_rel, memory_order_relaxed)) /* [B] */
        return false;
    semaphore->pages[thread].spare = (uint32_t)(head & 0xffff);
    return true;
}

static inline bool clo_semaphore_fits(const clo_semaphore *semaphore, const clo_semaphore_state *state,
                                      const int64_t *demand, uint64_t ticket)
{
    bool keeps = state->overtakes >= CLO_OVERTAKES_MAX && ticket > state->oldest;

    for (uint32_t r = 0; r < semaphore->resources; r++)
        if (demand[r] > 0 &&
            demand[r] > state->available[r] - (keeps && state->available[r] != INT64_MAX ? state->kept[r] : 0))
            return false;
    return true;
}

/* `sign` 1: gives back, -1: takes. */
static inline void clo_semaphore_count(const clo_semaphore *semaphore, clo_semaphore_state *state,
                                       const int64_t *demand, int sign)
{
    for (uint32_t r = 0; r < semaphore->resources; r++)
        if (state->available[r] != INT64_MAX)
            state->available[r] += sign * demand[r];
}

/* What is in the state after a start with that ticket. */
static inline void clo_semaphore_start(const clo_semaphore *semaphore, clo_semaphore_state *state,
                                       const int64_t *demand, uint64_t ticket)
{
    clo_semaphore_count(semaphore, state, demand, -1);
    if (ticket == state->oldest) {
        state->oldest = CLO_SEMAPHORE_NEW;
        state->overtakes = 0;
    } else if (ticket > state->oldest && state->overtakes < CLO_OVERTAKES_MAX) {
        state->overtakes++;
    }
}

/* Puts who was refused into the state. */
static inline void clo_semaphore_register(const clo_semaphore *semaphore, clo_semaphore_state *state,
                                          const int64_t *demand, uint64_t ticket)
{
    bool is_oldest = ticket < state->oldest;

    for (uint32_t r = 0; r < semaphore->resources; r++) {
        if (state->watched == 0 || demand[r] < state->least[r])
            state->least[r] = demand[r];
        if (is_oldest)
            state->kept[r] = demand[r];
    }
    state->watched = 1;
    if (is_oldest) {
        state->oldest = ticket;
        state->overtakes = 0;
    }
}

/* After capacity has become free: true if somebody who watches may fit now, or if the oldest is not known. Then all of
 * them are to try again, and to register again if they are refused. */
static inline bool clo_semaphore_report(const clo_semaphore *semaphore, clo_semaphore_state *state)
{
    bool may_fit = true;

    for (uint32_t r = 0; r < semaphore->resources; r++)
        may_fit = may_fit && state->least[r] <= state->available[r];
    if (state->watched == 0 || (!may_fit && state->oldest != CLO_SEMAPHORE_NEW))
        return false;
    state->watched = 0;
    return true;
}

/* A ticket just older than that one, and nobody's: what is kept for that one is not kept from it. */
static inline uint64_t clo_semaphore_before(uint64_t ticket)
{
    return ticket - 1;
}

/* All of the demand, or nothing: then nobody registers either. */
static inline bool clo_semaphore_acquire_as(clo_semaphore *semaphore, const int64_t *demand, uint64_t ticket,
                                            uint32_t thread)
{
    clo_semaphore_state state;
    uint64_t head;

    if (semaphore->resources == 0)
        return true;
    do { /* another turn only if another thread has changed the semaphore */
        head = clo_semaphore_read(semaphore, &state);
        if (!clo_semaphore_fits(semaphore, &state, demand, ticket))
            return false;
        clo_semaphore_start(semaphore, &state, demand, ticket);
    } while (!clo_semaphore_swing(semaphore, head, &state, thread));
    return true;
}

/* The same for who has not waited. */
static inline bool clo_semaphore_acquire(clo_semaphore *semaphore, const int64_t *demand, uint32_t thread)
{
    return clo_semaphore_acquire_as(semaphore, demand, CLO_SEMAPHORE_NEW, thread);
}

/* True: the demand fits; if `takes`, it is held. False: *ticket, CLO_SEMAPHORE_NEW at the first time, says since when
 * the caller waits, and a give will report as soon as it may fit; it is to come again then, with the same ticket, or to
 * say clo_semaphore_forget. */
static inline bool clo_semaphore_ask(clo_semaphore *semaphore, const int64_t *demand, uint64_t *ticket, uint32_t thread,
                                     bool takes)
{
    clo_semaphore_state state;
    uint64_t head;
    bool fits;

    if (semaphore->resources == 0)
        return true;
    do { /* another turn only if another thread has changed the semaphore */
        head = clo_semaphore_read(semaphore, &state);
        fits = clo_semaphore_fits(semaphore, &state, demand, *ticket);
        if (fits && !takes)
            return true;
        if (!fits && *ticket == CLO_SEMAPHORE_NEW)
            *ticket = atomic_fetch_add_explicit(&semaphore->tickets, 2, memory_order_relaxed);
        if (fits)
            clo_semaphore_start(semaphore, &state, demand, *ticket);
        else /* also if that changes nothing: the swing says that what we wrote before it is there */
            clo_semaphore_register(semaphore, &state, demand, *ticket);
    } while (!clo_semaphore_swing(semaphore, head, &state, thread));
    return fits;
}

static inline bool clo_semaphore_acquire_or_watch(clo_semaphore *semaphore, const int64_t *demand, uint64_t *ticket,
                                                  uint32_t thread)
{
    return clo_semaphore_ask(semaphore, demand, ticket, thread, true);
}

/* The same, but nothing is taken where it fits. */
static inline bool clo_semaphore_watch(clo_semaphore *semaphore, const int64_t *demand, uint64_t *ticket,
                                       uint32_t thread)
{
    return clo_semaphore_ask(semaphore, demand, ticket, thread, false);
}

/* The same for who never is the oldest, and has no ticket: nothing is kept for it. */
static inline bool clo_semaphore_listen(clo_semaphore *semaphore, const int64_t *demand, uint32_t thread)
{
    clo_semaphore_state state;
    uint64_t head;

    if (semaphore->resources == 0)
        return true;
    do { /* another turn only if another thread has changed the semaphore */
        head = clo_semaphore_read(semaphore, &state);
        if (clo_semaphore_fits(semaphore, &state, demand, CLO_SEMAPHORE_NEW))
            return true;
        clo_semaphore_register(semaphore, &state, demand, CLO_SEMAPHORE_NEW);
    } while (!clo_semaphore_swing(semaphore, head, &state, thread));
    return false;
}

/* Gives back what was taken. True: all who were refused are to try again, oldest first. */
static inline bool clo_semaphore_release(clo_semaphore *semaphore, const int64_t *demand, uint32_t thread)
{
    clo_semaphore_state state;
    uint64_t head;
    bool reports;

    if (semaphore->resources == 0)
        return false;
    do { /* another turn only if another thread has changed the semaphore */
        head = clo_semaphore_read(semaphore, &state);
        clo_semaphore_count(semaphore, &state, demand, 1);
        reports = clo_semaphore_report(semaphore, &state);
    } while (!clo_semaphore_swing(semaphore, head, &state, thread));
    return reports;
}

/* Who has that ticket waits no more, and has not started. True: as clo_semaphore_release, since something was kept for
 * it. */
static inline bool clo_semaphore_forget(clo_semaphore *semaphore, uint64_t ticket, uint32_t thread)
{
    clo_semaphore_state state;
    uint64_t head;
    bool reports;

    if (semaphore->resources == 0 || ticket == CLO_SEMAPHORE_NEW)
        return false;
    do { /* another turn only if another thread has changed the semaphore */
        head = clo_semaphore_read(semaphore, &state);
        if (state.oldest != ticket)
            return false;
        state.oldest = CLO_SEMAPHORE_NEW;
        state.overtakes = 0;
        reports = clo_semaphore_report(semaphore, &state);
    } while (!clo_semaphore_swing(semaphore, head, &state, thread));
    return reports;
}

#endif
