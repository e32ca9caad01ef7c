/* The lock-free parts under several threads. mutations.py builds this program from weakened copies of runtime/sync/ and
 * expects it to fail. */
#include "support.h"

#include "sync/combining.h"
#include "sync/countdown.h"
#include "sync/gate.h"
#include "sync/once.h"
#include "sync/park.h"
#include "sync/stack.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4
#define ITEMS 40000u

static uint64_t payload[ITEMS]; /* plain memory that must travel with each item */
static uint64_t links[ITEMS];
static _Atomic uint32_t taken[ITEMS];
static _Atomic uint32_t taken_count;

static void reset(void)
{
    memset(payload, 0, sizeof payload);
    for (uint32_t i = 0; i < ITEMS; i++)
        atomic_store(&taken[i], 0);
    atomic_store(&taken_count, 0);
}

static void take(uint64_t item)
{
    if (payload[item] != item * 3 + 1)
        fail_msg("item %llu came without its data", (unsigned long long)item);
    atomic_fetch_add_explicit(&taken[item], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&taken_count, 1, memory_order_relaxed);
}

static void each_item_was_taken_once(void)
{
    for (uint32_t i = 0; i < ITEMS; i++)
        assert_int_equal(atomic_load(&taken[i]), 1);
}

static void run_threads(void *(*main_of)(void *), size_t count)
{
    pthread_t threads[THREADS];

    for (size_t i = 0; i < count; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, main_of, (void *)i), 0);
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static clo_stack stack;

static void *stack_main(void *argument)
{
    size_t me = (size_t)argument;

    for (uint64_t i = me; i < ITEMS; i += THREADS) {
        payload[i] = i * 3 + 1;
        clo_stack_push(&stack, i, &links[i]);
        if (i % 7 == 0)
            for (uint64_t item = clo_stack_take(&stack), next; item != CLO_ITEM_NONE; item = next) {
                next = links[item];
                take(item);
            }
    }
    return NULL;
}

static void every_item_of_a_stack_is_taken_exactly_once(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++) {
        reset();
        clo_stack_init(&stack);
        run_threads(stack_main, THREADS);
        for (uint64_t item = clo_stack_take(&stack), next; item != CLO_ITEM_NONE; item = next) {
            next = links[item];
            take(item);
        }
        each_item_was_taken_once();
    }
}

static clo_countdown countdowns[ITEMS];
static uint64_t parts[THREADS][ITEMS];

static void *countdown_main(void *argument)
{
    size_t me = (size_t)argument;

    for (uint64_t i = 0; i < ITEMS; i++) {
        parts[me][i] = i + me;
        if (!clo_countdown_hit(&countdowns[i]))
            continue;
        for (size_t other = 0; other < THREADS; other++)
            if (parts[other][i] != i + other)
                fail_msg("the last hitter does not see what thread %zu wrote", other);
        atomic_fetch_add_explicit(&taken[i], 1, memory_order_relaxed);
    }
    return NULL;
}

static void exactly_the_last_hit_of_a_countdown_gets_true_and_sees_all_that_came_before(void **state)
{
    (void)state;
    reset();
    for (uint32_t i = 0; i < ITEMS; i++)
        clo_countdown_arm(&countdowns[i], THREADS);
    run_threads(countdown_main, THREADS);
    each_item_was_taken_once();
    for (uint32_t i = 0; i < ITEMS; i++) /* ready for the next run */
        assert_int_equal(atomic_load(&countdowns[i].left), THREADS);
}

static clo_combining combining;
static clo_combining_slot combining_slots[THREADS];
static _Atomic uint32_t holders;
static uint32_t state_of_holders; /* plain: travels from holder to holder */
static _Atomic uint32_t answered[THREADS];

static void combine(void)
{
    uint32_t handled = 0;
    bool has_left = false;

    while (!has_left) {
        if (atomic_fetch_add_explicit(&holders, 1, memory_order_relaxed) != 0)
            fail_msg("two hold the turn");
        for (uint32_t s = 0; s < THREADS; s++) {
            uint32_t news = clo_combining_read(&combining, s);
            if (news == CLO_COMBINING_EMPTY)
                continue;
            if (payload[news] != (uint64_t)news * 3 + 1)
                fail_msg("news %u came without its data", news);
            handled++;
            state_of_holders++;
            atomic_store_explicit(&answered[s], news + 1, memory_order_release);
        }
        atomic_fetch_sub_explicit(&holders, 1, memory_order_relaxed);
        has_left = clo_combining_leave(&combining, handled);
    }
}

static void *combining_main(void *argument)
{
    uint32_t me = (uint32_t)(size_t)argument;

    for (uint32_t i = me; i < ITEMS; i += THREADS) {
        payload[i] = (uint64_t)i * 3 + 1;
        if (clo_combining_post(&combining, me, i))
            combine();
        while (atomic_load_explicit(&answered[me], memory_order_acquire) != i + 1)
            sched_yield();
    }
    return NULL;
}

static void news_are_read_once_by_one_combiner_at_a_time(void **state)
{
    (void)state;
    reset();
    clo_combining_init(&combining, combining_slots, THREADS);
    run_threads(combining_main, THREADS);
    assert_int_equal(state_of_holders, ITEMS);
    assert_int_equal(atomic_load(&combining.posts), 0);
}

static clo_once onces[ITEMS];

static void *once_main(void *argument)
{
    (void)argument;
    for (uint64_t i = 0; i < ITEMS; i++) {
        if (clo_once_begin(&onces[i], 1)) {
            payload[i] = i * 3 + 1;
            atomic_fetch_add_explicit(&taken[i], 1, memory_order_relaxed);
            clo_once_end(&onces[i], 1);
        }
        if (payload[i] != i * 3 + 1)
            fail_msg("once %llu is not done", (unsigned long long)i);
    }
    return NULL;
}

static void work_that_several_need_is_done_once_and_seen_by_all(void **state)
{
    (void)state;
    reset();
    for (uint32_t i = 0; i < ITEMS; i++)
        atomic_store(&onces[i].state, 0);
    run_threads(once_main, THREADS);
    each_item_was_taken_once();
}

/* The protocol of worker.c in small: the sleeper must never sleep with an item waiting. A lost wake hangs (ctest's
 * time-out catches it). */
static clo_barrier barrier;
static clo_parker parker;
static _Atomic uint32_t produced, consumed;
#define WAKES 20000u

static void *park_main(void *argument)
{
    uint32_t seen = 0;

    if ((size_t)argument != 0) {
        for (uint32_t i = 1; i <= WAKES; i++) {
            while (atomic_load_explicit(&consumed, memory_order_relaxed) != i - 1)
                clo_relax();
            for (uint32_t k = 0; k < i % 24; k++) /* hit the sleeper at every step of its way to bed */
                clo_relax();
            atomic_store_explicit(&produced, i,
                                  memory_order_release); /* no locked instruction: only the barrier helps */
            clo_barrier_light(&barrier);
            if (clo_parker_is_asleep(&parker))
                (void)clo_parker_wake(&parker);
        }
        return NULL;
    }
    while (seen < WAKES) {
        uint32_t now = atomic_load_explicit(&produced, memory_order_acquire);
        if (now != seen) {
            seen = now;
            atomic_store_explicit(&consumed, now, memory_order_relaxed);
            continue;
        }
        clo_parker_prepare(&parker);
        clo_barrier_heavy(&barrier);
        if (atomic_load_explicit(&produced, memory_order_acquire) == seen)
            clo_parker_sleep(&parker);
        else
            (void)clo_parker_cancel(&parker);
    }
    return NULL;
}

static void no_wake_is_lost_between_the_last_look_and_the_sleep(void **state)
{
    (void)state;
    for (int with = 1; with >= 0; with--) {
        clo_barrier_init(&barrier);
        if (with == 0)
            barrier.has_membarrier = false; /* the way of kernels that refuse membarrier */
        atomic_store(&produced, 0);
        atomic_store(&consumed, 0);
        run_threads(park_main, 2);
        assert_int_equal(atomic_load(&produced), WAKES);
    }
}

static clo_gate gate;
static int64_t in_use[2];

static void *gate_main(void *argument)
{
    size_t me = (size_t)argument;
    const int64_t demand[CLO_GATE_RESOURCES] = {(int64_t)me + 1, 2};
    uint32_t done = 0;

    while (done < 20000) {
        uint64_t link;
        if (!clo_gate_enter(&gate, demand, me, &links[me])) {
            /* Our item is in the chain: whoever leaves takes it out; wait for that. */
            while (atomic_load_explicit(&taken[me], memory_order_acquire) == 0)
                sched_yield();
            atomic_store_explicit(&taken[me], 0, memory_order_relaxed);
            continue;
        }
        __atomic_fetch_add(&in_use[0], demand[0], __ATOMIC_RELAXED);
        int64_t used = __atomic_add_fetch(&in_use[1], demand[1], __ATOMIC_RELAXED);
        if (used > 5 || __atomic_load_n(&in_use[0], __ATOMIC_RELAXED) > 6)
            fail_msg("the gate let in too much");
        if (done % 16 == 0)
            sched_yield();
        __atomic_fetch_sub(&in_use[0], demand[0], __ATOMIC_RELAXED);
        __atomic_fetch_sub(&in_use[1], demand[1], __ATOMIC_RELAXED);
        done++;
        for (uint64_t item = clo_gate_leave(&gate, demand); item != CLO_ITEM_NONE; item = link) {
            link = links[item];
            atomic_store_explicit(&taken[item], 1, memory_order_release);
        }
    }
    return NULL;
}

static void a_gate_never_exceeds_its_capacity_and_forgets_nobody(void **state)
{
    (void)state;
    reset();
    memset(&gate, 0, sizeof gate);
    for (int r = 0; r < CLO_GATE_RESOURCES; r++)
        gate.available[r] = INT64_MAX;
    gate.available[0] = 6;
    gate.available[1] = 5;
    gate.waiting = CLO_ITEM_NONE;
    run_threads(gate_main, THREADS);
    assert_int_equal(gate.available[0], 6);
    assert_int_equal(gate.available[1], 5);
    assert_true(gate.waiting == CLO_ITEM_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_of_a_stack_is_taken_exactly_once),
        cmocka_unit_test(exactly_the_last_hit_of_a_countdown_gets_true_and_sees_all_that_came_before),
        cmocka_unit_test(news_are_read_once_by_one_combiner_at_a_time),
        cmocka_unit_test(work_that_several_need_is_done_once_and_seen_by_all),
        cmocka_unit_test(no_wake_is_lost_between_the_last_look_and_the_sleep),
        cmocka_unit_test(a_gate_never_exceeds_its_capacity_and_forgets_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
