/* semaphores.h - scenarios of the semaphore of capacities, with one resource and one overtake allowed. Part of
 * test_model_sync.c. */
#ifndef CLO_MODEL_SEMAPHORES_H
#define CLO_MODEL_SEMAPHORES_H

#define CLO_SEMAPHORE_RESOURCES 1
#define CLO_OVERTAKES_MAX 1u
#include "sync/structure/semaphore.h"

static clo_semaphore semaphore;
static clo_semaphore_page semaphore_pages[4];
static _Atomic uint32_t semaphore_line[3], semaphore_called[3];
static uint32_t is_inside;
static int64_t semaphore_capacity;
static uint64_t semaphore_big;

static void semaphore_open(int64_t capacity)
{
    semaphore_capacity = capacity;
    clo_semaphore_init(&semaphore, &capacity, 1, semaphore_pages, 3);
    for (uint32_t t = 0; t < 3; t++) {
        atomic_init(&semaphore_line[t], 0);
        atomic_init(&semaphore_called[t], 0);
    }
    is_inside = 0;
    semaphore_big = CLO_SEMAPHORE_NEW;
}

static void semaphore_set_up(void)
{
    semaphore_open(1);
}

static bool semaphore_take(int64_t demand)
{
    return clo_semaphore_acquire(&semaphore, &demand, 0);
}

static bool semaphore_ask(int64_t demand, uint64_t *ticket)
{
    return clo_semaphore_acquire_or_watch(&semaphore, &demand, ticket, 0);
}

static bool semaphore_release(int64_t demand)
{
    return clo_semaphore_release(&semaphore, &demand, 0);
}

static void semaphore_whole(void)
{
    clo_semaphore_state state;

    (void)clo_semaphore_read(&semaphore, &state);
    model_check(state.available[0] == semaphore_capacity && state.oldest == CLO_SEMAPHORE_NEW,
                "the capacity is not whole again, or somebody was forgotten");
}

/* One thread; a capacity of 4 for its length, which is given back in the end. */
static void semaphore_rules(uint32_t me)
{
    uint64_t first = CLO_SEMAPHORE_NEW, second = CLO_SEMAPHORE_NEW, third = CLO_SEMAPHORE_NEW;

    (void)me;
    semaphore_open(4);
    model_check(semaphore_take(3), "what fits is refused");
    model_check(!semaphore_ask(2, &first) && !semaphore_ask(4, &second) && first < second,
                "what does not fit is let in");
    model_check(semaphore_take(1), "what fits beside a waiter is refused");
    model_check(!semaphore_release(1), "a give reports, though nobody may fit");
    model_check(!semaphore_take(1), "the oldest is overtaken too often");
    model_check(semaphore_release(3), "a give does not report, though the oldest fits");
    model_check(!semaphore_ask(4, &second) && semaphore_ask(2, &first), "the oldest does not get what was kept for it");
    model_check(semaphore_take(1) && semaphore_take(1), "something is kept for who has started");
    model_check(semaphore_release(1), "after a start of the oldest, nobody is asked who is the oldest now");
    model_check(!semaphore_ask(4, &second) && semaphore_take(1) && !semaphore_release(1) && !semaphore_take(1),
                "nothing is kept for the second oldest");
    model_check(!semaphore_ask(1, &third), "the third passes the second");
    model_check(clo_semaphore_forget(&semaphore, second, 0) && semaphore_ask(1, &third),
                "what was kept for the second is lost");
    model_check(!clo_semaphore_forget(&semaphore, second, 0), "the second is forgotten twice");
    (void)semaphore_release(1);
    (void)semaphore_release(1);
    (void)semaphore_release(2);
}

/* One that changes the state twice, so that a page is written while another thread reads it. */
static void semaphore_change(uint32_t me)
{
    clo_semaphore_state state;
    uint64_t head;

    for (uint32_t i = 0; i < 2 && me == 0; i++)
        do {
            head = clo_semaphore_read(&semaphore, &state);
            state.available[0]++;
            state.kept[0]++;
        } while (!clo_semaphore_swing(&semaphore, head, &state, me));
    if (me == 1) {
        (void)clo_semaphore_read(&semaphore, &state);
        model_check(state.available[0] == state.kept[0] + 1, "a copy of two states");
    }
}

static void semaphore_changed(void)
{
    clo_semaphore_state state;

    (void)clo_semaphore_read(&semaphore, &state);
    model_check(state.available[0] == 3 && state.kept[0] == 2, "a change was lost");
}

/* As in run/extras/capacity.c: who is refused has said before that it has a line, and comes again when it is called. */
static void semaphore_run(uint32_t me)
{
    static const int64_t demand[CLO_SEMAPHORE_RESOURCES] = {1};
    uint64_t ticket = CLO_SEMAPHORE_NEW;

    atomic_store_explicit(&semaphore_line[me], 1, memory_order_relaxed);
    while (!clo_semaphore_acquire_or_watch(&semaphore, demand, &ticket, me)) {
        while (atomic_load_explicit(&semaphore_called[me], memory_order_relaxed) == 0)
            model_relax();
        (void)atomic_exchange_explicit(&semaphore_called[me], 0, memory_order_acquire);
    }
    model_write(&is_inside); /* only one may be here */
    is_inside++;
    if (!clo_semaphore_release(&semaphore, demand, me))
        return;
    for (uint32_t t = 0; t < 3; t++)
        if (atomic_load_explicit(&semaphore_line[t], memory_order_relaxed) != 0)
            atomic_store_explicit(&semaphore_called[t], 1, memory_order_release);
}

/* One that wants all of two waits; the first that pass it are counted. */
static void semaphore_set_up_kept(void)
{
    static const int64_t small = 1, big = 2;

    semaphore_open(2);
    (void)clo_semaphore_acquire(&semaphore, &small, 2);
    (void)clo_semaphore_acquire_or_watch(&semaphore, &big, &semaphore_big, 2);
}

static void semaphore_pass(uint32_t me)
{
    static const int64_t small = 1;

    for (uint32_t i = 0; i < 2; i++) {
        if (!clo_semaphore_acquire(&semaphore, &small, me))
            continue;
        model_write(&is_inside);
        is_inside++;
        (void)clo_semaphore_release(&semaphore, &small, me);
    }
}

static void semaphore_kept(void)
{
    static const int64_t small = 1, big = 2;

    model_check(is_inside == 1, "the oldest was overtaken more than once, or nobody got in");
    model_check(clo_semaphore_release(&semaphore, &small, 2), "the oldest is not called");
    model_check(clo_semaphore_acquire_or_watch(&semaphore, &big, &semaphore_big, 2), "the oldest is refused");
    (void)clo_semaphore_release(&semaphore, &big, 2);
    semaphore_whole();
}

#endif
