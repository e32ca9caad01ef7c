/* ledgers.h - scenarios of the ledger of capacities, with one resource and one overtake allowed. Part of
 * test_model_sync.c. */
#ifndef CLO_MODEL_LEDGERS_H
#define CLO_MODEL_LEDGERS_H

#define CLO_LEDGER_RESOURCES 1
#define CLO_OVERTAKES_MAX 1u
#include "sync/structure/semaphore.h"

static clo_ledger ledger;
static clo_ledger_page ledger_pages[4];
static _Atomic uint32_t ledger_line[3], ledger_called[3];
static uint32_t is_inside;
static int64_t ledger_capacity;
static uint64_t ledger_big;

static void ledger_open(int64_t capacity)
{
    ledger_capacity = capacity;
    clo_ledger_init(&ledger, &capacity, 1, ledger_pages, 3);
    for (uint32_t t = 0; t < 3; t++) {
        atomic_init(&ledger_line[t], 0);
        atomic_init(&ledger_called[t], 0);
    }
    is_inside = 0;
    ledger_big = CLO_LEDGER_NEW;
}

static void ledger_set_up(void)
{
    ledger_open(1);
}

static bool ledger_take(int64_t demand)
{
    return clo_ledger_take(&ledger, &demand, 0);
}

static bool ledger_ask(int64_t demand, uint64_t *ticket)
{
    return clo_ledger_take_or_watch(&ledger, &demand, ticket, 0);
}

static bool ledger_give(int64_t demand)
{
    return clo_ledger_give(&ledger, &demand, 0);
}

static void ledger_whole(void)
{
    clo_ledger_state state;

    (void)clo_ledger_read(&ledger, &state);
    model_check(state.available[0] == ledger_capacity && state.oldest == CLO_LEDGER_NEW,
                "the capacity is not whole again, or somebody was forgotten");
}

/* One thread; a capacity of 4 for its length, which is given back in the end. */
static void ledger_rules(uint32_t me)
{
    uint64_t first = CLO_LEDGER_NEW, second = CLO_LEDGER_NEW, third = CLO_LEDGER_NEW;

    (void)me;
    ledger_open(4);
    model_check(ledger_take(3), "what fits is refused");
    model_check(!ledger_ask(2, &first) && !ledger_ask(4, &second) && first < second, "what does not fit is let in");
    model_check(ledger_take(1), "what fits beside a waiter is refused");
    model_check(!ledger_give(1), "a give reports, though nobody may fit");
    model_check(!ledger_take(1), "the oldest is overtaken too often");
    model_check(ledger_give(3), "a give does not report, though the oldest fits");
    model_check(!ledger_ask(4, &second) && ledger_ask(2, &first), "the oldest does not get what was kept for it");
    model_check(ledger_take(1) && ledger_take(1), "something is kept for who has started");
    model_check(ledger_give(1), "after a start of the oldest, nobody is asked who is the oldest now");
    model_check(!ledger_ask(4, &second) && ledger_take(1) && !ledger_give(1) && !ledger_take(1),
                "nothing is kept for the second oldest");
    model_check(!ledger_ask(1, &third), "the third passes the second");
    model_check(clo_ledger_forget(&ledger, second, 0) && ledger_ask(1, &third), "what was kept for the second is lost");
    model_check(!clo_ledger_forget(&ledger, second, 0), "the second is forgotten twice");
    (void)ledger_give(1);
    (void)ledger_give(1);
    (void)ledger_give(2);
}

/* One that changes the state twice, so that a page is written while another thread reads it. */
static void ledger_change(uint32_t me)
{
    clo_ledger_state state;
    uint64_t head;

    for (uint32_t i = 0; i < 2 && me == 0; i++)
        do {
            head = clo_ledger_read(&ledger, &state);
            state.available[0]++;
            state.kept[0]++;
        } while (!clo_ledger_swing(&ledger, head, &state, me));
    if (me == 1) {
        (void)clo_ledger_read(&ledger, &state);
        model_check(state.available[0] == state.kept[0] + 1, "a copy of two states");
    }
}

static void ledger_changed(void)
{
    clo_ledger_state state;

    (void)clo_ledger_read(&ledger, &state);
    model_check(state.available[0] == 3 && state.kept[0] == 2, "a change was lost");
}

/* As in run/extras/capacity.c: who is refused has said before that it has a line, and comes again when it is called. */
static void ledger_run(uint32_t me)
{
    static const int64_t demand[CLO_LEDGER_RESOURCES] = {1};
    uint64_t ticket = CLO_LEDGER_NEW;

    atomic_store_explicit(&ledger_line[me], 1, memory_order_relaxed);
    while (!clo_ledger_take_or_watch(&ledger, demand, &ticket, me)) {
        while (atomic_load_explicit(&ledger_called[me], memory_order_relaxed) == 0)
            model_relax();
        (void)atomic_exchange_explicit(&ledger_called[me], 0, memory_order_acquire);
    }
    model_write(&is_inside); /* only one may be here */
    is_inside++;
    if (!clo_ledger_give(&ledger, demand, me))
        return;
    for (uint32_t t = 0; t < 3; t++)
        if (atomic_load_explicit(&ledger_line[t], memory_order_relaxed) != 0)
            atomic_store_explicit(&ledger_called[t], 1, memory_order_release);
}

/* One that wants all of two waits; the first that pass it are counted. */
static void ledger_set_up_kept(void)
{
    static const int64_t small = 1, big = 2;

    ledger_open(2);
    (void)clo_ledger_take(&ledger, &small, 2);
    (void)clo_ledger_take_or_watch(&ledger, &big, &ledger_big, 2);
}

static void ledger_pass(uint32_t me)
{
    static const int64_t small = 1;

    for (uint32_t i = 0; i < 2; i++) {
        if (!clo_ledger_take(&ledger, &small, me))
            continue;
        model_write(&is_inside);
        is_inside++;
        (void)clo_ledger_give(&ledger, &small, me);
    }
}

static void ledger_kept(void)
{
    static const int64_t small = 1, big = 2;

    model_check(is_inside == 1, "the oldest was overtaken more than once, or nobody got in");
    model_check(clo_ledger_give(&ledger, &small, 2), "the oldest is not called");
    model_check(clo_ledger_take_or_watch(&ledger, &big, &ledger_big, 2), "the oldest is refused");
    (void)clo_ledger_give(&ledger, &big, 2);
    ledger_whole();
}

#endif
